"""Read source files that a capture has no copy of from this machine, by rules for their paths.

Paths come from debug information, which is untrusted.  So only plain files with names of sources are read,
and only below $RCV_ROOT if that is set.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from rcv_py.base.errors import TraceError, UsageError
from rcv_py.base.problems import Affects, Problem, Problems, Severity
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.files import read_bytes
from rcv_py.formats.input.run_places import may_look
from rcv_py.formats.uiout import side_files
from rcv_py.formats.uiout.folder import listing
from rcv_py.model.code import SourceFile
from rcv_py.model.trace import Trace

SUFFIXES = frozenset((
    ".c", ".cc", ".cpp", ".cxx", ".c++", ".cl", ".cu", ".cuh", ".f", ".f90", ".f95", ".h", ".hh", ".hip",
    ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".jl", ".ll", ".mlir", ".py", ".rs", ".s", ".td", ".tpp",
    ".ttir", ".ttgir", ".zig",
))  # fmt: skip


def sources_of(
    folder: Path, names: frozenset[str], paths: Sequence[str], rules: Sequence[Rule], problems: Problems
) -> tuple[SourceFile, ...]:
    """Return a SourceFile for each path of a raw capture, in order: its copy, or the file of this machine.

    Relative paths, as builds that can be repeated have them, lead on from the folder.  Missing files become
    a Problem.  Never raises.
    """
    if side_files.SNAPSHOTS in names:
        copies = side_files.read_sources(listing(folder), tuple(paths), Problems())
    else:
        copies = tuple(SourceFile(path, None) for path in paths)
    found = tuple(one if one.lines is not None else on_disk(one.path, rules, folder) for one in copies)
    problems += missing_files(found)
    return found


def located(trace: Trace, rules: Sequence[Rule]) -> Trace:
    """Return the trace with the texts of missing sources, as far as rules locate them."""
    fitting = [one.lines is None and mapped(one.path, rules) != one.path for one in trace.sources]
    if not any(fitting):
        return trace
    both = zip(trace.sources, fitting, strict=True)
    sources = tuple(on_disk(one.path, rules) if fits else one for one, fits in both)
    problems: list[Problem] = list(trace.problems)
    for missing in (missing_files, side_files.missing_copies):
        said = missing(trace.sources)
        if said and said[0] in problems:
            at = problems.index(said[0])
            problems[at : at + 1] = missing(sources)
    return replace(trace, sources=sources, problems=tuple(problems))


def missing_files(sources: Sequence[SourceFile]) -> list[Problem]:
    """Return a Problem if sources are missing on this machine."""
    lost = [source for source in sources if source.lines is None]
    if not lost:
        return []
    return [
        Problem(
            Severity.INFO,
            side_files.SNAPSHOTS,
            Message(
                "{0:,} of {1} are not on this machine, such as {2}.",
                len(lost),
                plural(len(sources), "source file"),
                lost[0].path,
            ),
            "Say where they are: Locate … above the source, or --source-map FROM=TO; costs by line are"
            " still shown.",
            (Affects.SOURCE_TEXT,) if len(lost) == len(sources) else (),
        )
    ]


def local_file(path: str, rules: Sequence[Rule]) -> Path | None:
    """Return the plain file of this machine that a source path names, None if there is none.  Never raises.

    Only names of source files are searched, and never on another machine (`//host/share`).
    """
    here = Path(mapped(path, rules))
    is_remote = str(here).replace("\\", "/").startswith("//")
    if is_remote or here.suffix.lower() not in SUFFIXES or not here.is_absolute():
        return None
    try:
        return here if here.is_file() and may_look(Path(os.path.realpath(here))) else None
    except (OSError, ValueError):
        return None


def on_disk(path: str, rules: Sequence[Rule], folder: Path = Path()) -> SourceFile:
    """Return the source file that a path names here, or the reason why it has no lines.  Never raises.

    A relative path leads on from a folder, if that is given.
    """
    here = Path(mapped(path, rules))
    if folder.name:
        here = folder.absolute() / here
    try:
        if here.suffix.lower() not in SUFFIXES:
            why = Message("{0} is not named as a source file is, so it is not read.", here)
        elif not here.is_absolute() or not here.is_file():
            why = Message("There is no {0} on this machine.", here)
        elif not may_look(real := Path(os.path.realpath(here))) or real.suffix.lower() not in SUFFIXES:
            why = Message("{0} lies outside of what may be read.", here)
        else:
            data = read_bytes(real.parent, real.name, side_files.SOURCE_BYTES)
            return SourceFile(path, side_files.source_lines(data))
    except (TraceError, OSError, ValueError) as error:
        return SourceFile(path, None, str(error))
    return SourceFile(path, None, why)


Rule = tuple[str, str]  # path prefix, and its replacement here
SEPARATOR = ";"  # between rules in one text


def rule_of(text: str) -> Rule:
    """Read `FROM=TO`; raise UsageError for anything else."""
    begin, equals, here = text.partition("=")
    if not equals or not begin.strip():
        raise UsageError(
            Message("--source-map takes FROM=TO, not {0!r}.", text),
            hint="FROM is how paths begin in the debug information, TO the folder that stands for it here.",
        )
    return begin.strip(), here.strip()


def rules_of(text: str) -> tuple[Rule, ...]:
    """Read rules separated by `;`; leave out invalid ones."""
    parts = (one.partition("=") for one in text.split(SEPARATOR))
    return tuple((begin.strip(), here.strip()) for begin, equals, here in parts if equals and begin.strip())


def text_of(rules: Sequence[Rule]) -> str:
    """Return rules as text for `rules_of`."""
    return f"{SEPARATOR} ".join("=".join(rule) for rule in rules)


def mapped(path: str, rules: Sequence[Rule]) -> str:
    """Return the path here of a path of the debug information: a rule matches whole folder names."""
    for begin, here in rules:
        stem = begin.rstrip("/\\")
        rest = path[len(stem) :]
        if path.startswith(stem) and (not rest or rest[0] in "/\\" or not stem):
            return here.rstrip("/\\") + rest
    return path


def rule_for(path: str, chosen: Path) -> Rule | None:
    """Return the rule that maps a path of the debug information to a chosen file, or into a chosen folder.

    It drops the common end of both, so that it matches as many other files as possible.  None if no part of
    the path is in the folder.
    """
    parts = PurePosixPath(path.replace("\\", "/")).parts
    if chosen.is_dir():
        for count in range(len(parts) - (parts[:1] == ("/",)), 0, -1):
            if chosen.joinpath(*parts[-count:]).is_file():
                return _rule(path, count, chosen)
        return None
    here = chosen.parts
    same = 0
    while same < min(len(parts), len(here)) - 1 and parts[-1 - same] == here[-1 - same]:
        same += 1
    return _rule(path, same, Path(*here[: len(here) - same]))


def _rule(path: str, dropped: int, here: Path) -> Rule:
    """The rule of a path without its last `count` names."""
    begin = path
    for _ in range(dropped):
        begin = begin[: max(begin.rfind("/"), begin.rfind("\\"), 0)]
    return begin or "/", str(here)
