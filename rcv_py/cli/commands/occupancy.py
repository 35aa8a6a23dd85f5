"""`rcv occupancy`: how many waves were resident, by shader engine, kernel or state."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rcv_py.analysis.dispatch_curves import dispatch_curves
from rcv_py.analysis.occupancy import Steps
from rcv_py.analysis.occupancy_curves import OccupancyNumbers, occupancy_curves, occupancy_numbers
from rcv_py.analysis.wave_states import LIVING, wave_states
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, nanoseconds, percent, plural
from rcv_py.cli.limits import show_limits
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.names import demangled
from rcv_py.model.trace import Trace

ALL = "all"
AT_ONCE = 64  # waves read in one go
_TITLES = {
    "se": "shader engine",
    "all": "group",
    "cu": "compute unit",
    "simd": "SIMD",
    "kernel": "kernel",
    "state": "state",
}
_NO_TIMES = "The capture does not say when waves began and ended."
_NUMBERS = tuple(Column(name, True) for name in ("mean", "peak", "tail", "ramp", "begin", "end", "share"))
_HEAD = ("begin", "end", "area", "mean", "peak", "tail", "ramp", "drain")
_NOTHING = {
    **dict.fromkeys(("se", "all", "cu", "simd", "kernel"), _NO_TIMES),
    "state": "The capture holds no waves with instructions, so their states are not known.",
}


@dataclass(frozen=True, eq=False)
class _Row:
    name: str
    steps: Steps
    numbers: OccupancyNumbers
    ids: tuple[int, ...] = ()


def run(arguments: Namespace) -> int:
    """Print mean, peak, tail and ramp as text or JSON, or the curves as CSV."""
    trace = open_trace(arguments.folder)
    if arguments.limits:
        return show_limits(trace, arguments)
    rows = _only(_READERS[arguments.by](trace, arguments), arguments.only)
    if arguments.csv:
        sys.stdout.write(csv_text((arguments.by, "cycle", "waves"), _changes(rows)))
    elif arguments.json:
        print(json_text("rcv.occupancy/1", _document(trace, arguments.by, rows)))
    elif not rows:
        print(_NOTHING[arguments.by])
    else:
        whole = _whole(rows)
        print_table(
            (Column(_TITLES[arguments.by], elastic="right"), *_NUMBERS), [_cells(row, whole) for row in rows]
        )
        print(_footer(trace, arguments.by, rows))
    return 0


def _only(rows: list[_Row], names: list[str] | None) -> list[_Row]:
    """The row of all, and those that are asked for."""
    missing = [name for name in names or () if name not in [row.name for row in rows]]
    if missing:
        there = ", ".join(row.name for row in rows) or "none"
        raise UsageError(f"There is no row {missing[0]!r}.", hint=f"Rows: {there}.")
    return [row for at, row in enumerate(rows) if not names or not at or row.name in names]


def _of_places(trace: Trace, arguments: Namespace) -> list[_Row]:
    by = arguments.by
    found = [*occupancy_curves(trace, "all"), *(occupancy_curves(trace, by) if by != "all" else ())]
    names = [ALL, *(one.name for one in found[1:])]
    return [_row(name, one.steps) for name, one in zip(names, found, strict=False)]


def _of_kernels(trace: Trace, arguments: Namespace) -> list[_Row]:
    every = [_row(ALL, one.steps) for one in occupancy_curves(trace, "all")]
    return every + [
        _row(demangled(one.name) or f"kernel {one.ids[0]} (no name)", one.steps, one.ids)
        for one in dispatch_curves(trace.occupancy, trace.dispatches)
    ]


def _of_states(trace: Trace, arguments: Namespace) -> list[_Row]:
    index = list(range(len(trace.waves)))
    batches = [trace.reader.read(index[i : i + AT_ONCE]) for i in range(0, len(index), AT_ONCE)]
    made = wave_states(batches, arguments.se)
    if not made.waves:
        return []
    every = _row(ALL, Steps(made.time, made.count.sum(axis=0)))
    return [every, *(_row(state.name, Steps(made.time, made.count[state])) for state in LIVING)]


_READERS = {
    **dict.fromkeys(("se", "all", "cu", "simd"), _of_places),
    "kernel": _of_kernels,
    "state": _of_states,
}


def _row(name: str, steps: Steps, ids: tuple[int, ...] = ()) -> _Row:
    return _Row(name, steps, occupancy_numbers(steps), ids)


def _whole(rows: Sequence[_Row]) -> int:
    """Wave-cycles of the row of all."""
    return rows[0].numbers.area if rows else 0


def _cells(row: _Row, whole: int) -> list[str]:
    one = row.numbers
    return [
        row.name,
        f"{one.mean:,.1f}",
        count(one.peak),
        percent(one.tail, 1),
        count(one.ramp),
        count(one.begin),
        count(one.end),
        percent(one.area, whole),
    ]


def _changes(rows: Sequence[_Row]) -> list[tuple[Any, ...]]:
    """A row for every change of a curve, without the sum of all."""
    return [
        (row.name, time, waves)
        for row in rows[1:]
        for time, waves in zip(row.steps.time.tolist(), row.steps.waves.tolist(), strict=True)
    ]


def _document(trace: Trace, by: str, rows: Sequence[_Row]) -> dict[str, Any]:
    whole = _whole(rows)
    return {
        "capture": trace.name,
        "by": by,
        "ns_per_cycle": trace.clock.ns(1.0),
        "rows": [
            {
                by: row.name,
                **({"ids": list(row.ids)} if row.ids else {}),
                **{name: getattr(row.numbers, name) for name in _HEAD},
                "share": row.numbers.area / whole if whole else 0.0,
            }
            for row in rows
        ],
    }


def _footer(trace: Trace, by: str, rows: Sequence[_Row]) -> str:
    """What the columns are, and how long it took."""
    cycles = rows[0].numbers.end - rows[0].numbers.begin
    length = trace.clock.ns(cycles)
    lasted = f"{count(cycles)} cycles" + ("" if length is None else f", {nanoseconds(length)}")
    what = "Traced" if by == "state" else "Resident"
    return (
        f"\n{what} waves of {plural(len(rows) - 1, _TITLES[by])} in {lasted}. Mean and peak are waves;\n"
        "the tail is the share of the time behind the last moment with more than half of the peak;\n"
        "the ramp is cycles until nine tenths of it."
    )
