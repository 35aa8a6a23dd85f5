"""`rcv counters`: what was counted, raw and by formula."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rcv_py.analysis.counters.counter_help import how_to_record
from rcv_py.analysis.counters.counters import Counters, counters
from rcv_py.analysis.counters.derived_counters import (
    CounterRow,
    DerivedSet,
    derived_counters,
    derived_rows,
    raw_rows,
)
from rcv_py.analysis.counters.formula.evaluate import MAX_TEXT, Definitions, read_definitions
from rcv_py.analysis.counters.formula.parser import FormulaError
from rcv_py.base.csv_text import csv_text
from rcv_py.base.errors import UsageError
from rcv_py.base.problems import Affects
from rcv_py.base.text import DASH
from rcv_py.cli.about import about
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.options.device_options import CountersOptions
from rcv_py.cli.report import json_text, print_wrapped
from rcv_py.cli.results import print_result
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.counters import counter_table, recorded

_FORMULA = "--formula"


def run(arguments: CountersOptions) -> int:
    """Print names, a summary, or the curves of the counters of a capture."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    found = counters(trace)
    if not found.raw:
        return _say_none(arguments, trace)
    if arguments.list:
        _print_names(arguments, trace, found)
        return 0
    _check_places(arguments, found)
    texts = _texts(arguments)
    files = tuple(read_definitions(text, name) for name, text in texts.items())
    rows = raw_rows(found, arguments.se, arguments.cu)
    derived = None
    if not arguments.raw:
        derived = _derived(arguments, trace, found, files)
        rows += derived_rows(derived)
    errors = [] if derived is None else list(derived.mistakes)
    try:
        rows = _only(rows, arguments)
    except UsageError:
        _print_errors(errors, texts)  # a formula that cannot be read is why its name is not there
        raise
    if arguments.csv:
        sys.stdout.write(csv_text(("name", "time", "value", "unit"), _points(rows)))
    elif arguments.json:
        print(json_text("rcv.counters/1", _document(trace, found, rows, errors), about(arguments, trace)))
    else:
        print_result(counter_table(rows), trace, unknown=DASH)
        _print_notes(found, derived)
    _print_errors(errors, texts)
    return ExitCode.USAGE if errors else ExitCode.DONE


def _print_errors(errors: Sequence[tuple[str, FormulaError]], texts: Mapping[str, str]) -> None:
    """Print what is wrong with formulas, with the place in their text."""
    for name, error in errors:
        text = texts.get(name, "")
        print(f"{name}:\n{error.picture(text)}" if text else f"{name}: {error}", file=sys.stderr)


def _only(rows: tuple[CounterRow, ...], arguments: CountersOptions) -> tuple[CounterRow, ...]:
    """The rows that a SIMD and names leave; formulas are of no SIMD."""
    if arguments.simd is not None:
        rows = tuple(row for row in rows if not row.is_raw or row.simds >> arguments.simd & 1)
    if arguments.only is None:
        return rows
    missing = [name for name in arguments.only if name not in [row.name for row in rows]]
    if missing:
        raise UsageError(f"There is no counter {missing[0]!r}.", hint="`rcv counters --list` names them.")
    return tuple(row for row in rows if row.name in arguments.only)


def _derived(
    arguments: CountersOptions, trace: Trace, found: Counters, files: tuple[Definitions, ...]
) -> DerivedSet:
    return derived_counters(found, trace.clock, files, trace.gfxip, engines=arguments.se, units=arguments.cu)


def _say_none(arguments: CountersOptions, trace: Trace) -> int:
    if arguments.json:
        print(json_text("rcv.counters/1", _document(trace, Counters(()), (), []), about(arguments, trace)))
    elif arguments.csv:
        sys.stdout.write(csv_text(("name", "time", "value", "unit"), ()))
    else:
        for line in (
            *map(str, trace.problems_about(Affects.COUNTERS)),
            *how_to_record(trace.gfxip).split("\n"),
        ):
            # A command stays on one line: cut in two, it could not be pasted.
            show = print if line.startswith("rocprofv3") else print_wrapped
            show(line)
    return 0


def _check_places(arguments: CountersOptions, found: Counters) -> None:
    for asked, there, what in (
        (arguments.se, found.engines(), "shader engine"),
        (arguments.cu, found.units(), "compute unit"),
    ):
        missing = [number for number in asked or () if number not in there]
        if missing:
            names = ", ".join(map(str, there)) or "none"
            raise UsageError(f"No counter was recorded on {what} {missing[0]}.", hint=f"There are: {names}.")


def _texts(arguments: CountersOptions) -> dict[str, str]:
    """The texts of formulas by where they come from; later ones replace."""
    texts = {str(path): _read(path) for path in arguments.file}
    if arguments.formula:
        texts[_FORMULA] = "\n".join(arguments.formula)
    return texts


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_TEXT + 1)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}.", hint="Name a file of formulas."
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a text in UTF-8.", hint="Name a file of formulas.") from error


def _print_names(arguments: CountersOptions, trace: Trace, found: Counters) -> None:
    table = recorded(found)
    if arguments.json:
        document = {"capture": trace.name, "counters": table.rows()}
        print(json_text("rcv.counters.list/1", document, about(arguments, trace)))
    elif arguments.csv:
        names, rows = table.csv()
        sys.stdout.write(csv_text([table.spec[name].title for name in names], rows))
    else:
        print_result(table, trace)
        _print_notes(found, None)


def _points(rows: Sequence[CounterRow]) -> list[tuple[Any, ...]]:
    return [
        (row.name, time, value, row.unit)
        for row in rows
        for time, value in zip(row.curve.time.tolist(), row.curve.value.tolist(), strict=True)
    ]


def _document(
    trace: Trace, found: Counters, rows: Sequence[CounterRow], errors: list[tuple[str, FormulaError]]
) -> dict[str, Any]:
    return {
        "capture": trace.name,
        "notes": list(found.notes),
        "engines": found.engines(),
        "units": found.units(),
        "counters": counter_table(rows).rows(),
        "errors": [{"file": name, "kind": str(error.kind), "text": str(error)} for name, error in errors],
    }


def _print_notes(found: Counters, derived: DerivedSet | None) -> None:
    notes = list(found.notes)
    if derived is not None and derived.left_out:
        notes.append(f"{derived.left_out:,} built-in formulas need counters that were not recorded.")
    if notes:
        print()
        for note in notes:
            print_wrapped(note)
