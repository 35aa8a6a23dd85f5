"""`rcv occupancy`: how many waves were resident, by shader engine, kernel or state."""

from __future__ import annotations

import sys
from typing import Any

from rcv_py.base.csv_text import csv_text
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, nanoseconds, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import check_engine
from rcv_py.cli.limits import show_limits
from rcv_py.cli.opening import batches
from rcv_py.cli.options.device_options import OccupancyOptions
from rcv_py.cli.report import json_text
from rcv_py.cli.results import print_result
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.occupancy import BY, curve_table
from rcv_py.results.table import Table
from rcv_py.work.occupancy_rows import OccupancyRow, occupancy_rows

_TOLD = 8  # names of rows in an error
_NO_TIMES = "The capture does not say when waves began and ended."
_NOTHING = {
    **dict.fromkeys(("se", "all", "cu", "simd", "kernel"), _NO_TIMES),
    "state": "No wave with a timeline could be read, so states are not known.",
}


def run(arguments: OccupancyOptions) -> int:
    """Print mean, peak, tail and ramp as text or JSON, or the curves as CSV."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    if arguments.limits:
        return show_limits(trace, arguments)
    check_engine(trace, arguments.se, "traced" if arguments.by == "state" else "resident")
    rows = _only(occupancy_rows(trace, arguments.by, lambda: batches(trace), arguments.se), arguments.only)
    table = curve_table(arguments.by, [row.name for row in rows], [row.numbers for row in rows])
    if arguments.csv:
        sys.stdout.write(csv_text((arguments.by, "cycle", "waves"), _changes(rows)))
    elif arguments.json:
        print(
            json_text("rcv.occupancy/1", _document(trace, arguments.by, rows, table), about(arguments, trace))
        )
    elif not rows:
        print(_NOTHING[arguments.by])
    else:
        print_result(table, trace)
        print(_footer(trace, arguments.by, rows))
    return 0


def _only(rows: list[OccupancyRow], names: list[str] | None) -> list[OccupancyRow]:
    """The row of all, and those that are asked for."""
    missing = [name for name in names or () if name not in [row.name for row in rows]]
    if missing:
        there = ", ".join(row.name for row in rows[:_TOLD]) or "none"
        there += f" and {len(rows) - _TOLD:,} others" if len(rows) > _TOLD else ""
        raise UsageError(f"There is no row {missing[0]!r}.", hint=f"Rows: {there}.")
    return [row for at, row in enumerate(rows) if not names or not at or row.name in names]


def _changes(rows: list[OccupancyRow]) -> list[tuple[Any, ...]]:
    """A row for every change of a curve, without the sum of all."""
    return [
        (row.name, time, waves)
        for row in rows[1:]
        for time, waves in zip(row.steps.time.tolist(), row.steps.value.tolist(), strict=True)
    ]


def _document(trace: Trace, by: str, rows: list[OccupancyRow], table: Table) -> dict[str, Any]:
    ids = [{"ids": list(row.ids)} if row.ids else {} for row in rows]
    return {
        "capture": trace.name,
        "by": by,
        "ns_per_cycle": trace.clock.ns(1.0),
        "rows": [{by: row[by], **own, **row} for row, own in zip(table.rows(), ids, strict=True)],
    }


def _footer(trace: Trace, by: str, rows: list[OccupancyRow]) -> str:
    """What the columns are, and how long it took."""
    cycles = rows[0].numbers.end - rows[0].numbers.begin
    length = trace.clock.ns(cycles)
    lasted = f"{count(cycles)} cycles" + ("" if length is None else f", {nanoseconds(length)}")
    what = "Traced" if by == "state" else "Resident"
    return (
        f"\n{what} waves of {plural(len(rows) - 1, BY[by][0])} in {lasted}. Mean and peak are waves;\n"
        "the tail is the share of the time behind the last moment with more than half of the peak;\n"
        "the ramp is cycles until nine tenths of it; shares are of the wave cycles of all."
    )
