"""What every JSON document says about itself: the command, its arguments, captures and their problems."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from rcv_py.model.trace import Trace

_FORMS = frozenset(("command", "given", "cache", "json", "csv", "markdown", "html", "yaml", "folded", "out"))


def about(
    arguments: Namespace,
    *traces: Trace,
    names: Iterable[str] = (),
    problems: Iterable[str] = (),
    waves: dict[str, Any] | None = None,
    files: Iterable[str] | None = None,
    alarm: str | None = None,
) -> dict[str, Any]:
    """Return the description of a run.

    The names and problems of open captures are taken from them; `names` and `problems` are those of captures
    that are only listed.  Of several captures a problem begins with the name of its own.  `files` are
    the tables of the run that were used, None for a command that uses none.  `waves` says whose costs are
    summed, where that can be chosen.  `alarm` says that the instruction texts are of other code, "" that they
    fit; None for a command that does not look.
    """
    captures = [trace.name for trace in traces]
    said = [
        f"{trace.name}: {problem}" if len(traces) > 1 else str(problem)
        for trace in traces
        for problem in trace.problems
    ]
    return ({} if waves is None else {"waves": waves}) | {
        "command": arguments.command,
        "arguments": {name: _plain(value) for name, value in vars(arguments).items() if name not in _FORMS},
        "captures": [*captures, *names],
        "problems": list(dict.fromkeys([*said, *problems])),
        **({} if files is None else {"run_files": list(files)}),
        **({} if alarm is None else {"alarm": alarm}),
    }


def _plain(value: object) -> Any:
    """Paths become texts; numbers, texts, flags and lists stay what they are."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
