"""Texts of source files for a raw capture: a copy beside it, else the file on this machine.

Paths come from debug information, which strangers may have written.  So of the disk only plain files are read
that are named as sources are, and where $RCV_ROOT is set only those below it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Affects, Problems
from rcv_py.base.text import plural
from rcv_py.formats.input.files import read_bytes
from rcv_py.formats.input.run_places import may_look
from rcv_py.formats.raw.files import SNAPSHOTS
from rcv_py.formats.uiout.folder import listing
from rcv_py.formats.uiout.side_files import SOURCE_BYTES, read_sources, source_lines
from rcv_py.model.code import SourceFile

SUFFIXES = frozenset(
    [
        ".c",
        ".cc",
        ".cpp",
        ".cxx",
        ".c++",
        ".cl",
        ".cu",
        ".cuh",
        ".f",
        ".f90",
        ".f95",
        ".h",
        ".hh",
        ".hip",
        ".hpp",
        ".hxx",
        ".inc",
        ".inl",
        ".ipp",
        ".jl",
        ".ll",
        ".mlir",
        ".py",
        ".rs",
        ".s",
        ".td",
        ".tpp",
        ".ttir",
        ".ttgir",
        ".zig",
    ]
)


def sources_of(
    folder: Path,
    names: frozenset[str],
    paths: Sequence[str],
    rules: Sequence[tuple[str, str]],
    problems: Problems,
) -> tuple[SourceFile, ...]:
    """Return a SourceFile for each path, in that order; what is missing becomes a Problem.  Never raises.

    `rules` say what stands here for beginnings of paths; the first that fits counts.
    """
    if SNAPSHOTS in names:
        copies = read_sources(listing(folder), tuple(paths), Problems())
    else:
        copies = tuple(SourceFile(path, None) for path in paths)
    found = tuple(one if one.lines is not None else _on_disk(one.path, rules) for one in copies)
    lost = [source for source in found if source.lines is None]
    if lost:
        problems.inform(
            SNAPSHOTS,
            f"{len(lost):,} of {plural(len(found), 'source file')} are not on this machine, such as"
            f" {lost[0].path}.",
            "Say where they are with --source-map FROM=TO; costs by line are there all the same.",
            *((Affects.SOURCE_TEXT,) if len(lost) == len(found) else ()),
        )
    return found


def mapped(path: str, rules: Sequence[tuple[str, str]]) -> str:
    """Return where a path of the debug information lies here: a rule fits whole names of folders."""
    for begin, here in rules:
        stem = begin.rstrip("/\\")
        rest = path[len(stem) :]
        if path.startswith(stem) and (not rest or rest[0] in "/\\" or not stem):
            return here.rstrip("/\\") + rest
    return path


def _on_disk(path: str, rules: Sequence[tuple[str, str]]) -> SourceFile:
    here = Path(mapped(path, rules))
    why = f"There is no {here} on this machine; say where it is with --source-map FROM=TO."
    if here.suffix.lower() not in SUFFIXES:
        return SourceFile(path, None, f"{here} is not named as a source file is, so it is not read.")
    try:
        if not here.is_absolute() or not here.is_file():
            return SourceFile(path, None, why)
        real = Path(os.path.realpath(here))
        if not may_look(real) or real.suffix.lower() not in SUFFIXES:
            return SourceFile(path, None, f"{here} lies outside of what may be read.")
        return SourceFile(path, source_lines(read_bytes(real.parent, real.name, SOURCE_BYTES)))
    except (TraceError, OSError, ValueError) as error:
        return SourceFile(path, None, str(error))
