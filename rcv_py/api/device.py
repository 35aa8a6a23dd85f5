"""Analyses of the device: how many waves were there, what limits them, and what was counted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict

import numpy as np

from rcv_py.analysis.counters.counter_help import how_to_record
from rcv_py.analysis.counters.counter_summary import CounterRow, derived_rows, raw_rows
from rcv_py.analysis.counters.counters import counters
from rcv_py.analysis.counters.derived_counters import derived_counters
from rcv_py.analysis.counters.formula.definitions import read_definitions
from rcv_py.analysis.device.occupancy_limits import OccupancyLimits
from rcv_py.api.answer import Answer, by_row
from rcv_py.api.choice import one_of
from rcv_py.api.errors import noted
from rcv_py.api.stalls import Stalls
from rcv_py.api.table import Table
from rcv_py.base.errors import UsageError
from rcv_py.formats.run_files import run_facts
from rcv_py.model.resources import RunFacts
from rcv_py.results.table import Words
from rcv_py.work.limits import limits_of
from rcv_py.work.occupancy_rows import NUMBERS, OccupancyRow, occupancy_rows, shares

_BY = ("se", "kernel", "state")
_LIMIT = ("name", "used", "given", "of", "unit", "waves", "source", "most", "excess")
_COUNTED = ("name", "kind", "from", "unit", "min", "mean", "max", "total", "points")


class Device(Stalls):
    """What happened around the traced waves."""

    @property
    def facts(self) -> RunFacts:
        """What the profiler's tables beside the capture tell: registers, sizes, the device."""
        return self._once("facts", None, self._run_facts)

    def _run_facts(self) -> RunFacts:
        try:
            return run_facts(self.path, self.trace.kernel_name, self.trace.target, self._run_files)
        except UsageError as error:
            raise noted(error) from None

    def occupancy_numbers(self, by: str = "se") -> Answer[list[OccupancyRow]]:
        """Return mean, peak, tail and ramp of resident waves: of all, then by `se`, `kernel` or `state`."""
        found = self._occupancy(by)
        parts = zip(found, shares(found), strict=True)
        rows = [(row.name, *(getattr(row.numbers, name) for name in NUMBERS), share) for row, share in parts]
        facts = {"ns_per_cycle": self.trace.clock.ns(1.0)}
        return Answer("occupancy_numbers", by_row(("name", *NUMBERS, "share"), rows), found, facts)

    def occupancy_curves(self, by: str = "se") -> Answer[list[OccupancyRow]]:
        """Return how many waves were resident from each cycle on; the curve `all` is the sum."""
        found = self._occupancy(by)
        steps = [row.steps for row in found]
        none = np.zeros(0, dtype=np.int64)
        columns = {
            "name": Words(
                [row.name for row in found], np.repeat(np.arange(len(found)), list(map(_length, found)))
            ),
            "cycle": np.concatenate([one.time for one in steps]) if steps else none,
            "waves": np.concatenate([one.waves for one in steps]) if steps else none,
        }
        return Answer("occupancy_curves", columns, found)

    def _occupancy(self, by: str) -> list[OccupancyRow]:
        one_of("by", by, _BY)
        return self._once(("occupancy", by), None, lambda: occupancy_rows(self.trace, by, self._all))

    def occupancy_limits(self) -> Answer[OccupancyLimits]:
        """Return how many waves of a SIMD each resource allows, and what the next step takes."""
        found = limits_of(self.trace, self.facts)
        binding = found.binding
        facts = {
            "waves_per_simd": found.waves,
            "most_waves_per_simd": found.cap,
            "binding": None if binding is None else binding.name,
            "next_step": found.next_step,
            "resident": asdict(found.resident),
            "notes": list(found.notes),
        }
        rows = [[getattr(one, name) for name in _LIMIT] for one in found.limits]
        return Answer("occupancy_limits", by_row(_LIMIT, rows), found, facts)

    def counter_numbers(
        self,
        formulas: str | Sequence[str] = (),
        *,
        se: Collection[int] | None = None,
        cu: Collection[int] | None = None,
    ) -> Answer[tuple[CounterRow, ...]]:
        """Return smallest, mean, largest value and total of each counter, and of formulas over them.

        `formulas` are lines such as `hit_rate = 100 * TCC_HIT / TCC_REQ`, beside the built-in ones; `se` and
        `cu` choose shader engines and compute units.  Raises UsageError for a formula with a mistake.
        """
        text = formulas if isinstance(formulas, str) else "\n".join(formulas)
        found = counters(self.trace)
        rows: tuple[CounterRow, ...] = ()
        if found.raw:
            files = (read_definitions(text, "formulas"),) if text else ()
            more = derived_counters(found, self.trace.clock, files, self.trace.gfxip, engines=se, units=cu)
            for _, mistake in more.mistakes:
                raise noted(UsageError(f"A formula has a mistake: {mistake}", hint=mistake.picture(text)))
            rows = raw_rows(found, se, cu) + derived_rows(more)
        facts = {
            "notes": list(found.notes),
            "engines": list(found.engines()),
            "units": list(found.units()),
            "reason": "" if found.raw else how_to_record(self.trace.gfxip),
        }
        return Answer("counter_numbers", by_row(_COUNTED, [_counted(row) for row in rows]), rows, facts)

    def counter_curve(self, name: str, formulas: str | Sequence[str] = ()) -> Table:
        """Return the curve of a counter or formula: a value holds until the time of the next row."""
        rows = self.counter_numbers(formulas).result
        found = next((row for row in rows if row.name == name), None)
        if found is None:
            raise noted(
                UsageError(
                    f"Nothing is counted by the name {name}.", hint="counter_numbers lists what there is."
                )
            )
        return Table({"time": found.curve.time, "value": found.curve.value}, "counter_curve")


def _length(row: OccupancyRow) -> int:
    return len(row.steps.time)


def _counted(row: CounterRow) -> tuple[object, ...]:
    kind = "raw" if row.is_raw else "derived"
    numbers = (row.least, row.mean, row.most, row.total)
    return (row.name, kind, row.group, row.unit, *numbers, len(row.curve.time))
