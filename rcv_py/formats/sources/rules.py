"""Rules for paths of sources: `FROM=TO` maps paths below FROM to paths below TO on this machine.

The first match counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message

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
