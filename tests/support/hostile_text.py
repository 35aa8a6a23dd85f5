"""Captures whose every text is hostile: markup, links, control characters, formulas; and who opens a file."""

from __future__ import annotations

import ctypes
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rcv_py.base.text import visible
from tests.support.samples import write_sample

CONTROLS = "\x1b[31m\x07\x9b2J\x7f\x85\u202e\u2066\u200b\u2028\ufeff\r\nFORGED\tx"
LINKS = "[l](http://evil.example) ![i](http://evil.example/i.png) www.evil.example a@evil.example `c` | {0}"
FOLDER = "=1+<img src=p.png><b>&\x1b[31m\u202e\udcff\nFORGED"  # a name that a file system takes


def markup(probe: Path) -> str:
    """Markup that asks Qt, or a browser, to load a file."""
    return f'<img src="{probe}"><a href="{probe}">x</a><b>b</b><s>s</s>&lt;u>'


def hostile(root: Path, sample: str, probe: Path) -> Path:
    """Write a sample and put hostile text into all its texts, names of files and folders included."""
    folder = root / FOLDER
    write_sample(sample, folder)
    evil = markup(probe) + LINKS + CONTROLS
    code = _load(folder / "code.json")
    sources: dict[str, str] = {}
    for row in code["code"]:
        row[0] += evil if row[0].startswith(";") else f" // {evil}"
        if isinstance(row[3], str) and row[3]:
            row[3] = " -> ".join(_place(place, evil, sources) for place in row[3].split(" -> "))
    for name in set(code) - {"code", "header", "version"}:
        code[name] = _spoiled(code[name], evil)
    _dump(folder / "code.json", code)
    _spoil_file(folder / "occupancy.json", ("dispatches",), evil)
    _spoil_file(folder / "filenames.json", ("counter_names",), evil)
    _spoil_sources(folder, sources, evil)
    return folder


def _place(place: str, evil: str, sources: dict[str, str]) -> str:
    path, _, line = place.rpartition(":")
    sources[path] = f"{path}{evil}"
    return f"{sources[path]}:{line}"


def _spoil_sources(folder: Path, sources: dict[str, str], evil: str) -> None:
    if not (folder / "snapshots.json").exists():
        return
    tree: dict[str, Any] = {}
    for path, name in _files(_load(folder / "snapshots.json"), ""):
        spoiled = "source_<img src=p.png>\x1b\u202e_" + name.removeprefix("source_")
        (folder / name).rename(folder / spoiled)
        text = (folder / spoiled).read_text()
        (folder / spoiled).write_text(
            "".join(f"=1+ {line} {evil.splitlines()[0]}\n" for line in text.splitlines())
        )
        *folders, last = sources.get(path, path + evil).removeprefix("/").split("/")
        branch = tree.setdefault("/", {})
        for part in folders:
            branch = branch.setdefault(part, {})
        branch[last] = spoiled
    _dump(folder / "snapshots.json", tree)


def _files(tree: Any, path: str) -> Iterator[tuple[str, str]]:
    for name, below in tree.items():
        here = f"{path.rstrip('/')}/{name.lstrip('/')}"
        yield from [(here, below)] if isinstance(below, str) else _files(below, here)


def _spoil_file(path: Path, names: tuple[str, ...], evil: str) -> None:
    if not path.exists():
        return
    table = _load(path)
    for name in names:
        if name in table:
            table[name] = _spoiled(table[name], evil)
    _dump(path, table)


def _spoiled(value: Any, evil: str) -> Any:
    if isinstance(value, dict):
        return {key: _spoiled(item, evil) for key, item in value.items()}
    if isinstance(value, list):
        return [_spoiled(item, evil) for item in value]
    return f"=2+{value}{evil}" if isinstance(value, str) else value


def _load(path: Path) -> Any:
    return json.loads(path.read_text())


def _dump(path: Path, table: Any) -> None:
    path.write_text(json.dumps(table))


# -- what is wrong with a text ----------------------------------------------------------------------


def unseen(text: str) -> list[str]:
    """Letters of an output that steer a terminal or the eye; lines and tabs are none."""
    return sorted(repr(letter) for letter in set(text) - set("\n\t") if letter != visible(letter))


_NUMBER = re.compile(r"[-+][\d,.]*(e[-+]?\d+)?( ?%)?|[-+=@]")


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet computes a cell; numbers with a sign, and a sign alone, are none."""
    return cell[:1] in tuple("=+-@\t\r") and not _NUMBER.fullmatch(cell)


# -- who opens a file -------------------------------------------------------------------------------


@contextmanager
def watched(path: Path) -> Iterator[Watch]:
    """Tell whether somebody opens a file while the block runs, by what the system says."""
    watch = Watch(path)
    try:
        yield watch
    finally:
        watch.close()


class Watch:
    """`was_opened` since the last time it was asked."""

    def __init__(self, path: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._handle = libc.inotify_init1(os.O_NONBLOCK)
        assert self._handle >= 0, os.strerror(ctypes.get_errno())
        opened_or_read = 0x20 | 0x01
        assert libc.inotify_add_watch(self._handle, os.fsencode(path), opened_or_read) >= 0

    def was_opened(self) -> bool:
        """Whether the file was opened or read."""
        try:
            return bool(os.read(self._handle, 4096))
        except BlockingIOError:
            return False

    def close(self) -> None:
        """Look no more."""
        os.close(self._handle)
