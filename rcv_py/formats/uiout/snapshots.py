"""snapshots.json and the copies of source files made when recording."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Affects, Problems
from rcv_py.base.text import plural
from rcv_py.formats.input.files import read_bytes, try_json
from rcv_py.formats.uiout.folder import Listing
from rcv_py.model.code import SourceFile

FILE = "snapshots.json"
TAB = 4
LIMIT = 32 << 20  # bytes of one source copy
_MAX_DEPTH = 200


def read_sources(files: Listing, paths: tuple[str, ...], problems: Problems) -> tuple[SourceFile, ...]:
    """Return a SourceFile for each path that code lines refer to, in the order of `paths`.

    A path finds its copy by the exact spelling, else by the normalised one.  Never raises.
    """
    copies = _copies(files, problems)
    by_normal = {_normal(path): name for path, name in reversed(copies.items())}
    found = []
    for path in paths:
        name = copies.get(path) or by_normal.get(_normal(path))
        found.append(_source(files.path, path, name))
    lost = [source for source in found if source.lines is None]
    if lost:
        some = f"{len(lost):,} of {plural(len(found), 'source file')}"
        problems.warn(
            FILE,
            f"{FILE} has no copy of {some}, such as {lost[0].path}.",
            "Costs by line are there all the same; record on the machine that has the sources to get their"
            " text.",
            *((Affects.SOURCE_TEXT,) if len(lost) == len(found) else ()),
        )
    return tuple(found)


def _source(folder: Path, path: str, name: str | None) -> SourceFile:
    if name is None:
        return SourceFile(path, None, f"The capture has no copy of {path}.")
    try:
        text = read_bytes(folder, name, LIMIT).decode("utf-8", "replace")
    except TraceError as error:
        return SourceFile(path, None, str(error))
    # Lines as compilers count them: `str.splitlines` would also cut at form feeds and the like.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    return SourceFile(path, tuple(line.expandtabs(TAB) for line in (lines if text else ())))


def _copies(files: Listing, problems: Problems) -> dict[str, str]:
    """File name inside the folder by original path, as snapshots.json spells it."""
    if FILE not in files:
        return {}
    tree = try_json(files.path, FILE, problems, (Affects.SOURCE_TEXT,))
    copies: dict[str, str] = {}
    if isinstance(tree, dict):
        _walk(tree, "", copies, 0)
    elif tree is not None:
        problems.warn(
            FILE,
            f"{FILE} is damaged: it is no tree of names.",
            "Sources are not shown.",
        )
    return copies


def _walk(tree: dict[str, Any], prefix: str, copies: dict[str, str], depth: int) -> None:
    if depth > _MAX_DEPTH:
        return
    for name, child in tree.items():
        path = name if not prefix else prefix + name if prefix.endswith("/") else f"{prefix}/{name}"
        if isinstance(child, str):
            copies[path] = child
        elif isinstance(child, dict):
            _walk(child, path, copies, depth + 1)


def _normal(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/"))
