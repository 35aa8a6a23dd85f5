"""What every JSON document says about itself: the command, its arguments, captures and their problems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rcv_py.cli.options.option import Options, values_of
from rcv_py.cli.options.shared import ALL
from rcv_py.model.trace import Trace

_FORMS = frozenset(("json", "csv", "markdown", "html", "yaml", "folded", "out"))


def about(
    arguments: Options,
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
        "arguments": _arguments(arguments, waves),
        "captures": [*captures, *names],
        "problems": list(dict.fromkeys([*said, *problems])),
        **({} if files is None else {"run_files": list(files)}),
        **({} if alarm is None else {"alarm": alarm}),
    }


def _arguments(options: Options, waves: dict[str, Any] | None) -> dict[str, Any]:
    """The options by name; `waves` is never silent where a population was summed."""
    values = {name: _plain(value) for name, value in values_of(options).items() if name not in _FORMS}
    usual = options.usual_waves
    if usual is not None and values["waves"] is None:
        # Without a choice no wave was read: the totals are those of the capture.
        values["waves"] = waves["chosen"] if waves is not None else ALL if usual == ALL else None
    return values


def _plain(value: object) -> Any:
    """Paths become texts; numbers, texts, flags and lists stay what they are."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
