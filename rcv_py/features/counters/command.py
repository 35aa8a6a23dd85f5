"""`rcv counters`: raw counters and formulas over them."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rcv_py.analysis.counters.counter_help import how_to_record
from rcv_py.analysis.counters.counters import Counters, counters
from rcv_py.analysis.counters.derived_counters import (
    CounterRow,
    DerivedSet,
    derived_counters,
    derived_rows,
    raw_rows,
)
from rcv_py.analysis.counters.formula.evaluate import MAX_TEXT, read_definitions
from rcv_py.analysis.counters.formula.parser import FormulaError
from rcv_py.base.errors import UsageError
from rcv_py.base.problems import Affects
from rcv_py.base.text import DASH, Message, translated
from rcv_py.cli.answer import CommandAnswer, Csv, Part, TextTable
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import opened
from rcv_py.features.counters.options import CountersOptions
from rcv_py.features.counters.result import LIST_SCHEMA, SCHEMA, counter_table, facts, recorded
from rcv_py.model.trace import Trace
from rcv_py.work.beside import of_places, with_streamed

_FORMULA = "--formula"


def run(options: CountersOptions) -> CommandAnswer:
    """List names, a summary, or the curves of the counters of a capture."""
    trace = with_streamed(opened(options))
    found = counters(of_places(trace, array=options.array, wgp=options.wgp, instance=options.instance))
    if not found.raw and (trace.counters or trace.spm):
        raise UsageError("No counter has samples there.", hint="`rcv counters FOLDER --list` lists places.")
    if not found.raw:
        how = how_to_record(trace.architecture)
        lines = [*map(str, trace.problems_about(Affects.COUNTERS)), *translated(how).split("\n")]
        return _answer(trace, found, (), [], lambda: lines)
    if options.list:
        return _names(trace, found)
    _check_places(options, found)
    texts = {str(path): _read(path) for path in options.file}  # later formulas replace
    texts |= {_FORMULA: "\n".join(options.formula)} if options.formula else {}
    rows, derived = raw_rows(found, options.se, options.cu), None
    if not options.raw:
        files = tuple(read_definitions(text, name) for name, text in texts.items())
        places = {"engines": options.se, "units": options.cu}
        derived = derived_counters(found, trace.clock, files, trace.architecture, **places)
        rows += derived_rows(derived)
    errors = [] if derived is None else list(derived.mistakes)
    for name, error in errors:  # its name is missing because the formula could not be read
        text = texts.get(name, "")
        print(f"{name}:\n{error.picture(text)}" if text else f"{name}: {error}", file=sys.stderr)
    rows = _only(rows, options)
    return _answer(
        trace,
        found,
        rows,
        errors,
        lambda: [TextTable(counter_table(rows), trace, DASH), *_notes(found, derived, rows)],
    )


def _answer(
    trace: Trace,
    found: Counters,
    rows: Sequence[CounterRow],
    errors: list[tuple[str, FormulaError]],
    text: Callable[[], Sequence[Part]],
) -> CommandAnswer:
    points = (
        (row.name, time, value, row.unit)
        for row in rows
        for time, value in zip(row.curve.time.tolist(), row.curve.value.tolist(), strict=True)
    )
    return CommandAnswer(
        schema=SCHEMA,
        document=lambda: {
            **facts(found),
            "counters": counter_table(rows).rows(),
            "errors": [{"file": name, "kind": str(error.kind), "text": str(error)} for name, error in errors],
        },
        csv=lambda: (("name", "time", "value", "unit"), points),
        text=text,
        of=trace,
        code=ExitCode.USAGE if errors else ExitCode.DONE,
    )


def _names(trace: Trace, found: Counters) -> CommandAnswer:
    table = recorded(found)

    def csv() -> Csv:
        names, rows = table.csv()
        return [table.spec[name].title for name in names], rows

    return CommandAnswer(
        schema=LIST_SCHEMA,
        document=lambda: {"counters": table.rows()},
        csv=csv,
        text=lambda: [TextTable(table, trace), *_notes(found, None)],
        of=trace,
    )


def _only(rows: tuple[CounterRow, ...], options: CountersOptions) -> tuple[CounterRow, ...]:
    if options.simd is not None:
        rows = tuple(row for row in rows if not row.is_raw or row.simds >> options.simd & 1)
    if options.only is None:
        return rows
    missing = [name for name in options.only if name not in [row.name for row in rows]]
    if missing:
        text = Message("There is no counter {0!r}.", missing[0])
        raise UsageError(text, hint="`rcv counters --list` names them.")
    return tuple(row for row in rows if row.name in options.only)


def _check_places(options: CountersOptions, found: Counters) -> None:
    engines, units = (options.se, found.engines()), (options.cu, found.units())
    for (wanted, there), what in ((engines, "shader engine"), (units, "compute unit")):
        missing = [number for number in wanted or () if number not in there]
        if missing:
            text = Message("No counter was recorded on {0} {1}.", what, missing[0])
            raise UsageError(text, hint=Message("There are: {0}.", ", ".join(map(str, there)) or "none"))


def _read(path: Path) -> str:
    hint = "Name a file of formulas."
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_TEXT + 1)
    except OSError as error:
        raise UsageError(Message("{0} cannot be read: {1}.", path, error.strerror), hint=hint) from error
    except UnicodeDecodeError as error:
        raise UsageError(Message("{0} is not a text in UTF-8.", path), hint=hint) from error


def _notes(found: Counters, derived: DerivedSet | None, rows: Sequence[CounterRow] = ()) -> Iterator[str]:
    notes = [*found.notes, *(row.why_unknown for row in rows if row.why_unknown)]
    if derived is not None and (n := derived.left_out):
        notes.append(Message("{0:,} built-in formulas need counters that were not recorded.", n))
    yield from ["", *notes] if notes else []
