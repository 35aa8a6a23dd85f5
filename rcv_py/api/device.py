"""Tables of the device: how many waves were there, what limits them, and what was counted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict

import numpy as np

from rcv_py.analysis.counters.counter_help import how_to_record
from rcv_py.analysis.counters.counter_summary import CounterRow, derived_rows, raw_rows
from rcv_py.analysis.counters.counters import counters
from rcv_py.analysis.counters.derived_counters import derived_counters
from rcv_py.analysis.counters.formula.evaluate import read_definitions
from rcv_py.analysis.device.occupancy_limits import OccupancyLimits
from rcv_py.api.answer import Answer
from rcv_py.api.errors import noted
from rcv_py.api.table import Table
from rcv_py.base.errors import UsageError
from rcv_py.model.trace import Trace
from rcv_py.results.counters import counter_table
from rcv_py.results.occupancy import curve_table, limit_table
from rcv_py.results.table import Words
from rcv_py.work.occupancy_rows import OccupancyRow

OCCUPANCY_BY = ("se", "kernel", "state")


def occupancy_numbers(trace: Trace, found: list[OccupancyRow]) -> Answer[list[OccupancyRow]]:
    """Return one row a curve of resident waves."""
    table = curve_table("name", [row.name for row in found], [row.numbers for row in found])
    return Answer.of(table, found, {"ns_per_cycle": trace.clock.ns(1.0)})


def occupancy_curves(found: list[OccupancyRow]) -> Answer[list[OccupancyRow]]:
    """Return one row a step of a curve of resident waves."""
    steps = [row.steps for row in found]
    none = np.zeros(0, dtype=np.int64)
    names = [row.name for row in found]
    columns = {
        "name": Words(names, np.repeat(np.arange(len(found)), [len(one.time) for one in steps])),
        "cycle": np.concatenate([one.time for one in steps]) if steps else none,
        "waves": np.concatenate([one.waves for one in steps]) if steps else none,
    }
    return Answer("occupancy_curves", columns, found)


def occupancy_limits(found: OccupancyLimits) -> Answer[OccupancyLimits]:
    """Return one row a resource that limits waves."""
    facts = {
        "waves_per_simd": found.waves,
        "most_waves_per_simd": found.cap,
        "binding": None if found.binding is None else found.binding.name,
        "next_step": found.next_step,
        "resident": asdict(found.resident),
        "notes": list(found.notes),
    }
    return Answer.of(limit_table(found), found, facts)


def counter_numbers(
    trace: Trace, formulas: str | Sequence[str], se: Collection[int] | None, cu: Collection[int] | None
) -> Answer[tuple[CounterRow, ...]]:
    """Return one row a counter and formula; raise UsageError for a formula with a mistake."""
    text = formulas if isinstance(formulas, str) else "\n".join(formulas)
    found = counters(trace)
    rows: tuple[CounterRow, ...] = ()
    if found.raw:
        files = (read_definitions(text, "formulas"),) if text else ()
        more = derived_counters(found, trace.clock, files, trace.gfxip, engines=se, units=cu)
        for _, mistake in more.mistakes:
            raise noted(UsageError(f"A formula has a mistake: {mistake}", hint=mistake.picture(text)))
        rows = raw_rows(found, se, cu) + derived_rows(more)
    facts = {
        "notes": list(found.notes),
        "engines": list(found.engines()),
        "units": list(found.units()),
        "reason": "" if found.raw else how_to_record(trace.gfxip),
    }
    return Answer.of(counter_table(rows), rows, facts)


def counter_curve(rows: Sequence[CounterRow], name: str) -> Table:
    """Return the curve of one of the counters; raise UsageError if there is none of that name."""
    found = next((row for row in rows if row.name == name), None)
    if found is None:
        raise noted(
            UsageError(f"Nothing is counted by the name {name}.", hint="counter_numbers lists what there is.")
        )
    return Table({"time": found.curve.time, "value": found.curve.value}, "counter_curve")
