"""Find the raw captures in a folder by the names of its files.

```
1234_0_shader_engine_2_17.att            process 1234, agent 0, shader engine 2, dispatch 17
se2.att, 2.att                           shader engine 2, of the only capture
1234_gfx950_code_object_id_3.out         code object 3, and so codeobj_3.out, anything_3.hsaco
code.json, snapshots.json                texts, sources and names that the code objects lack
```
Every `.att` file is one shader engine of one dispatch.  Clocks restart in each dispatch, so each dispatch is
a separate capture.  The folder names its only capture, if it holds nothing decoded; any `.att` file names its
own capture.
"""

import os
import re
from collections import defaultdict
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from rcv_py.base.problems import Affects, Problems
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message, byte_size, plural
from rcv_py.formats.input.run_places import SPLIT
from rcv_py.formats.raw import STREAM
from rcv_py.formats.uiout.folder import INDEX

CODE_SUFFIXES = (".out", ".hsaco")
CODE_TABLE = "code.json"
SNAPSHOTS = "snapshots.json"
TABLES = (CODE_TABLE, SNAPSHOTS)
MAX_FILES = 20_000  # files of a folder that are examined: a folder of downloads must not take long
MAX_CODE = 1 << 31  # numbers of code objects
MAX_ENGINES = 1 << 15  # numbers of shader engines that the index of waves can hold

_DECODED = re.compile(r"ui_output_agent_\d+_dispatch_(\d{1,18})", re.ASCII)  # a folder that a decoder writes
_ENGINE = "_shader_engine_"
_WHO = re.compile(r"(?:(?P<run>.*)_)?(?P<agent>\d{1,18})", re.DOTALL)
_PLAIN = re.compile(r"(?:se)?(\d{1,4})")
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)


class StreamFile(Value):
    """One `.att` file; -1: its name does not state the number."""

    name: str
    size: int  # bytes
    run: str  # before the agent: most often the process
    agent: int
    se: int
    dispatch: int

    @property
    def key(self) -> tuple[str, int, int]:
        """The numbers that all files of one capture share."""
        return self.run, self.agent, self.dispatch


class CodeFile(NamedTuple):
    """A code object as a file."""

    name: str
    size: int  # bytes
    id: int


class RawCapture(Record):
    """A dispatch with `.att` files."""

    folder: Path
    path: Path  # the path that users give: the folder, or the first of its `.att` files
    streams: tuple[StreamFile, ...]  # one per shader engine, in that order
    codes: tuple[CodeFile, ...]  # of the folder, by name
    sidecars: frozenset[str]  # CODE_TABLE, SNAPSHOTS and split debug information, as far as they exist
    is_decoded: bool = False  # a decoder's folder of the same dispatch is next to its files
    left_out: tuple[str, ...] = ()  # further `.att` files of a shader engine that already has one

    @property
    def agent(self) -> int:
        """The number of the GPU, -1 if no name states it."""
        return self.streams[0].agent

    @property
    def dispatch(self) -> int:
        """The number of the launch, -1 if no name states it."""
        return self.streams[0].dispatch

    @property
    def size(self) -> int:
        """Bytes of its `.att` files."""
        return sum(stream.size for stream in self.streams)

    @cached_property
    def text(self) -> str:
        """A label that distinguishes it, such as `Agent 0 · Dispatch 17 · SE0-3 · 1.2 MB · 4 files`."""
        stream = self.streams[0]
        parts = (
            Message("Process {0}", stream.run) if stream.run else "",
            Message("Agent {0}", self.agent) if self.agent >= 0 else "",
            Message("Dispatch {0}", self.dispatch) if self.dispatch >= 0 else "",
            f"SE{spans([one.se for one in self.streams])}",
            byte_size(self.size),
            plural(len(self.streams), "file"),
        )
        return " · ".join(filter(None, parts))

    def report_problems(self, problems: Problems) -> None:
        """Add Problems about files of the folder that are left out."""
        if self.left_out:
            problems.warn(
                self.left_out[0],
                Message("{0} is left out: another file is of the same shader engine.", self.left_out[0])
                if len(self.left_out) == 1
                else Message(
                    "{0}, such as {1}, are left out: other files are of the same shader engines.",
                    plural(len(self.left_out), ".att file"),
                    self.left_out[0],
                ),
                "Give each recording a folder of its own.",
                Affects.WAVES,
            )
        seen: dict[int, str] = {}
        for name, _, id in self.codes:
            first = seen.setdefault(id, name)
            if first != name:
                problems.warn(
                    name,
                    Message("{0} and {1} are both code object {2}; {0} is left out.", name, first, id),
                    "Instructions may belong to another program: keep the files of a run in a folder of "
                    "their own.",
                    Affects.CODE,
                )


def spans(numbers: list[int]) -> str:
    """Return sorted numbers as ranges, such as `0-3, 5`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def raw_captures(folder: Path) -> tuple[RawCapture, ...]:
    """Return the raw captures whose `.att` files lie in a folder, by agent and dispatch; never raises."""
    sizes, decoded = _sizes(folder)
    streams = [_stream(name, size) for name, size in sizes.items() if name.endswith(STREAM)]
    groups: defaultdict[tuple[str, int, int], list[StreamFile]] = defaultdict(list)
    for stream in streams:
        groups[stream.key].append(stream)
    codes, sidecars = code_files(folder)
    found = []
    for key in sorted(groups, key=lambda key: (key[1:], key[0])):
        engines = _numbered(groups[key])
        kept = tuple(engines[se] for se in sorted(engines))
        names = {stream.name for stream in kept}
        found.append(
            RawCapture(
                folder=folder,
                path=folder if len(groups) == 1 and not decoded else folder / kept[0].name,
                streams=kept,
                codes=codes,
                sidecars=sidecars,
                is_decoded=any(match and int(match[1]) == key[2] for match in map(_DECODED.match, decoded)),
                left_out=tuple(one.name for one in groups[key] if one.name not in names),
            )
        )
    return tuple(found)


def code_files(folder: Path) -> tuple[tuple[CodeFile, ...], frozenset[str]]:
    """Return the code objects of a folder, and which files that complete them it has; never raises.

    The number after the last underscore of a code object's name is its id, 0 if it is none.
    """
    sizes, _ = _sizes(folder)
    codes = []
    for name in sizes:
        if name.endswith(CODE_SUFFIXES):
            number = _number(name.rpartition(".")[0].rpartition("_")[2], 0)
            codes.append(CodeFile(name, sizes[name], number if number < MAX_CODE else 0))
    return tuple(codes), frozenset(name for name in sizes if name in TABLES or name.endswith(SPLIT))


def raw_capture(path: Path) -> RawCapture | None:
    """Return the capture that a folder or an `.att` file names; None if there is none, or several."""
    if path.name.endswith(STREAM) and not path.is_dir():
        for one in raw_captures(path.parent):
            if path.name in (*one.left_out, *(file.name for file in one.streams)):
                return one
        return None
    found = raw_captures(path)
    return found[0] if len(found) == 1 else None


def _sizes(folder: Path) -> tuple[dict[str, int], list[str]]:
    """Bytes of the files of a folder that may belong to raw captures, by name, and decoded entries."""
    sizes: dict[str, int] = {}
    decoded: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MAX_FILES):
                if entry.name.endswith((STREAM, *CODE_SUFFIXES, *SPLIT)) or entry.name in TABLES:
                    with suppress(OSError):  # a link to nowhere, or a file that vanished
                        if entry.is_file():
                            sizes[entry.name] = entry.stat().st_size
                elif entry.name == INDEX or _DECODED.match(entry.name):
                    decoded.append(entry.name)
    except (OSError, ValueError):
        return {}, []
    return dict(sorted(sizes.items())), decoded


def _stream(name: str, size: int) -> StreamFile:
    stem = name.removesuffix(STREAM)
    who, mark, rest = stem.partition(_ENGINE)
    if not mark:
        plain = _PLAIN.fullmatch(stem)
        return StreamFile(name, size, "", -1, int(plain[1]) if plain else -1, -1)
    owner = _WHO.fullmatch(who)
    run, agent = (who, -1) if owner is None else (owner["run"] or "", int(owner["agent"]))
    se, dispatch, *_ = *rest.split("_"), "", ""
    return StreamFile(name, size, run, agent, _number(se, -1), _number(dispatch, -1))


def _number(text: str, default: int) -> int:
    return int(text) if _NUMBER.fullmatch(text) else default


def _numbered(streams: list[StreamFile]) -> dict[int, StreamFile]:
    """Files by shader engine, the first of duplicates; files without a number get free numbers."""
    engines: dict[int, StreamFile] = {}
    for stream in streams:
        if 0 <= stream.se < MAX_ENGINES:
            engines.setdefault(stream.se, stream)
    free = (number for number in range(len(streams) + len(engines)) if number not in engines)
    nameless = [stream for stream in streams if not 0 <= stream.se < MAX_ENGINES]
    return engines | {se: replace(one, se=se) for se, one in zip(free, nameless, strict=False)}
