"""What a command answers, and how that is printed: as text, CSV, JSON or in another form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

from rcv_py.analysis.core.search import find
from rcv_py.base.csv_text import csv_text
from rcv_py.base.text import visible
from rcv_py.base.whole_files import whole_file
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import all_captures
from rcv_py.cli.options.option import Options, form_of, values_of, written
from rcv_py.cli.options.shared import ALL, Matched, OfCaptures, Rows
from rcv_py.cli.report import Column, json_head, json_text, plain, print_facts, print_table
from rcv_py.cli.wave_choice import ChosenWaves
from rcv_py.model.trace import Trace
from rcv_py.results.field import At
from rcv_py.results.places import with_short_sources
from rcv_py.results.table import Table

_FORMS = frozenset(("json", "csv", "markdown", "html", "yaml", "folded", "junit", "out", "more"))
_FILTERS = (
    "match", "line", "wave", "clock", "within", "se", "cu", "simd", "unit_of", "without_kernel", "without_se",
    "loop", "rounds_of", "outliers", "kind", "only", "file", "beyond_noise", "kernel",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, printed as two columns."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells that are no table of a result, printed below their headings."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Shown:
    """A table for people; what is not known reads as `unknown`, sources of the trace are short."""

    table: Table
    trace: Trace | None = None
    unknown: str = ""


CapturesOptions = TypeVar("CapturesOptions", bound=OfCaptures)
Part = str | Facts | Grid | Shown
Csv = tuple[Sequence[str], Iterable[Sequence[Any]]]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command says; a form is made when it is printed, the others never."""

    schema: str  # of the document, such as `rcv.info/1`
    document: Callable[[], Mapping[str, Any]]
    csv: Callable[[], Csv]
    text: Callable[[], Iterable[Part]]  # lines and tables, one below the other
    forms: Mapping[str, Callable[[], str]] = field(
        default_factory=dict
    )  # any others, by the name of the option
    about: Mapping[str, Any] = field(default_factory=dict)  # what `about` takes
    code: int = ExitCode.DONE
    is_written: bool = False  # whether `--out` is where the command wrote

    def show(self, options: Options) -> int:
        """Print it in the form that the options name, or write it into `--out`; return its exit code."""
        out: Path | None = vars(options).get("out")
        if out is None or self.is_written:
            self._print(options)
            return self.code
        text = StringIO()
        with redirect_stdout(text):
            self._print(options)
        with whole_file(out, makes_folders=False) as target:
            target.write(visible(text.getvalue(), "\n\t").encode())
        return self.code

    def full(self, options: Options) -> dict[str, Any]:
        """Return the document with what it says of itself."""
        return {"about": about(options, **self.about), **self.document()}

    def _print(self, options: Options) -> None:
        form = form_of(options)
        if form == "json":
            print(json_text(self.schema, self.full(options)))
        elif form == "csv":
            sys.stdout.write(csv_text(*self.csv()))
        elif form:
            sys.stdout.write(self.forms[form]())
        else:
            for part in self.text():
                put(part)


def each(options: CapturesOptions, make: Callable[[CapturesOptions], Answer]) -> Answer:
    """Return the answer of a command about its capture; of several all of theirs, one after the other."""
    if not options.more:
        return make(options)
    alone = [replace(options, folder=path, more=[]) for path in all_captures([options.folder, *options.more])]
    answers = [make(one) for one in alone]

    def document() -> dict[str, Any]:
        pairs = zip(answers, alone, strict=True)
        return {"documents": [json_head(answer.schema) | answer.full(one) for answer, one in pairs]}

    def csv() -> Csv:
        tables = [answer.csv() for answer in answers]
        rows = [(one.folder.name, *row) for one, (_, rows) in zip(alone, tables, strict=True) for row in rows]
        return ("capture", *tables[0][0]), rows

    def text() -> Iterator[Part]:
        for at, answer in enumerate(answers):
            yield from ["", ""] if at else []
            yield from answer.text()

    return Answer(
        schema="rcv.documents/2",
        document=document,
        csv=csv,
        text=text,
        forms={name: partial(_joined, answers, name) for name in answers[0].forms},
        about={"names": [one.folder.name for one in alone]},
        code=max(answer.code for answer in answers),
    )


def _joined(answers: Sequence[Answer], form: str) -> str:
    return "\n".join(answer.forms[form]() for answer in answers)


def put(part: Part) -> None:
    """Print a part of a text; a string is one line, below an empty one if it begins with a line feed."""
    if isinstance(part, str):
        print(("\n" if part.startswith("\n") else "") + plain(part.removeprefix("\n")))
    elif isinstance(part, Facts):
        print_facts(part.rows)
    elif isinstance(part, Grid):
        print_table(part.columns, part.rows)
    else:
        table = part.table if part.trace is None else with_short_sources(part.table, part.trace)
        columns = [Column(one.title, one.is_number, one.kind.elastic) for one in table.fields(At.TEXT)]
        print_table(columns, table.cells(At.TEXT, part.unknown))


def listing(
    options: Options,
    capture: Trace | ChosenWaves,
    table: Table,
    schema: str,
    document: Callable[[], Mapping[str, Any]] | None = None,
    *,
    footer: Callable[[Table], str | Iterable[Part]],
    above: Iterable[Part] = (),
    why_none: str = "",
    unknown: str = "",
    about: Mapping[str, Any] | None = None,
    is_shown_empty: bool = False,
) -> Answer:
    """Return the answer of a command that lists the rows of a table, as many as wanted and in their order.

    `document` is what the document says beside the capture and the rows; `footer` is given the shown rows;
    `why_none` is why nothing can be known at all; a table that is shown empty has headings and no reason.
    """
    trace = capture if isinstance(capture, Trace) else capture.trace
    rows = limited(table, options)

    def text() -> Iterable[Part]:
        if why_none:
            yield why_none
            return
        yield from heading(capture)
        if not (len(table) or is_shown_empty):
            yield nothing(table.spec.noun, options, table.spec.nothing)
            return
        yield from above
        yield Shown(rows, trace, unknown)
        below = footer(rows)
        yield from [below] if isinstance(below, str) else below

    return Answer(
        schema=schema,
        document=lambda: {"capture": trace.name, **(document() if document else {}), "rows": rows.rows()},
        csv=rows.csv,
        text=text,
        about=about_of(capture) | dict(about or {}),
    )


def limited(table: Table, options: Options) -> Table:
    """Return the rows that `--sort`, `--ascending` and `--top` leave, where a command has them."""
    if not isinstance(options, Rows):
        return table
    return table.sorted(options.sort, descending=not options.ascending).head(options.top)


def heading(capture: Trace | ChosenWaves) -> list[Part]:
    """Return which waves a table is of and an empty line, nothing if it is of all of them."""
    return [capture.heading, ""] if isinstance(capture, ChosenWaves) and capture.heading else []


def filters(options: Options) -> str:
    """Return the filters that were given as they are written, `--match foo --se 1`; "" if there are none."""
    values = values_of(options)
    return " ".join(written(name, values[name]) for name in _FILTERS if name in options.given)


def nothing(what: str, options: Options, without: str) -> str:
    """Return why a table is empty: `No branch matches --match foo.`, or `without` if nothing was filtered."""
    given = filters(options)
    return f"No {what} matches {given}." if given else without


def matched(texts: Sequence[str], options: Matched) -> set[int] | None:
    """Return the rows whose text matches `--match`, None if nothing is looked for."""
    if not options.match:
        return None
    return set(find(texts, options.match, options.case, options.regex).tolist())


def max_nested(options: Rows) -> int | None:
    """Return how many rows a list inside a row of a document has: `--top`, None for all without it."""
    return options.top or None if "top" in options.given else None


# -- what documents say of themselves -------------------------------------------------------------------


def about_of(capture: Trace | ChosenWaves) -> dict[str, Any]:
    """Return what `about` takes of a capture, and of the choice of its waves."""
    if isinstance(capture, Trace):
        return {"traces": (capture,)}
    return {"traces": (capture.trace,), "waves": capture.about, "alarm": capture.alarm}


def about(
    options: Options,
    traces: Sequence[Trace] = (),
    *,
    names: Iterable[str] = (),
    problems: Iterable[str] = (),
    waves: dict[str, Any] | None = None,
    files: Iterable[str] | None = None,
    alarm: str | None = None,
) -> dict[str, Any]:
    """Return the description of a run, which every document has.

    The names and problems of open captures are taken from them; `names` and `problems` are those of captures
    that are only listed.  Of several captures a problem begins with the name of its own.  `files` are
    the tables of the run that were used, None for a command that uses none.  `waves` says whose costs are
    summed, where that can be chosen.  `alarm` says that the instruction texts are of other code, "" that they
    fit; None for a command that does not look.
    """
    texts = [
        f"{trace.name}: {problem}" if len(traces) > 1 else str(problem)
        for trace in traces
        for problem in trace.problems
    ]
    return ({} if waves is None else {"waves": waves}) | {
        "command": options.command,
        "arguments": _arguments(options, waves),
        "captures": [*(trace.name for trace in traces), *names],
        "problems": list(dict.fromkeys([*texts, *problems])),
        **({} if files is None else {"run_files": list(files)}),
        **({} if alarm is None else {"alarm": alarm}),
    }


def _arguments(options: Options, waves: dict[str, Any] | None) -> dict[str, Any]:
    """The options by name; `waves` is never null where a population was summed."""
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
