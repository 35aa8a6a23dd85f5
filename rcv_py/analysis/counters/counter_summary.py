"""Every counter and formula of a capture as a curve with its smallest, mean and largest value."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.counters.counter_tensor import simd_names
from rcv_py.analysis.counters.counters import ALL_SIMDS, Counters, Family, raw_curve, silences
from rcv_py.analysis.counters.derived_counters import DerivedSet, curves
from rcv_py.analysis.counters.formula.evaluate import shape_text
from rcv_py.base.text import plural


@dataclass(frozen=True, slots=True, eq=False)
class CounterRow:
    """A curve, and what is said of it.  `least`, `mean` and `most` are of the curve, by time."""

    name: str
    group: str  # "thread trace", "performance monitors", or the file of the formula
    curve: StepCurve
    unit: str
    tip: str
    least: float
    mean: float
    most: float
    total: float | None  # of all samples; None for levels and formulas
    is_raw: bool
    simds: int = ALL_SIMDS
    uses: frozenset[str] = frozenset()  # raw counters that a formula needs


def raw_rows(
    counters: Counters, engines: Collection[int] | None = None, units: Collection[int] | None = None
) -> tuple[CounterRow, ...]:
    """Return a row for each raw counter, of the chosen places; only the thread trace has units."""
    rows = []
    for counter in counters.raw:
        is_sq = counter.family is Family.SQ
        curve = raw_curve(counter, engines, units if is_sq else None)
        gaps = silences(counter)
        silence = f" Without sample {plural(gaps, 'time')}: drawn as 0." if gaps else ""
        how = f"Recorded by {counter.family.value} every {counter.interval:,} cycles"
        tip = f"{how}, {simd_names(counter.simds)}.{silence}"
        total = None if counter.is_level else _area(curve) / counter.interval
        rows.append(
            CounterRow(
                counter.name,
                counter.family.value,
                curve,
                counter.unit,
                tip,
                *_extent(curve),
                total,
                True,
                counter.simds,
            )
        )
    return tuple(rows)


def derived_rows(derived: DerivedSet) -> tuple[CounterRow, ...]:
    """Return a row for each curve of each formula that has a value."""
    rows = []
    for one in derived.rows:
        grid = derived.grid(one.family)
        if one.value is None or grid is None:
            continue
        for suffix, curve in curves(one.value, grid):
            tip = " ".join(part for part in (one.tip, f"{shape_text(one.value)}.") if part)
            rows.append(
                CounterRow(
                    f"{one.name}{suffix}",
                    one.file,
                    curve,
                    one.unit,
                    tip,
                    *_extent(curve),
                    None,
                    False,
                    uses=one.uses,
                )
            )
    return tuple(rows)


def _area(curve: StepCurve) -> float:
    return float((curve.value[:-1] * np.diff(curve.time)).sum())


def _extent(curve: StepCurve) -> tuple[float, float, float]:
    """Smallest, mean by time, and largest value; nan if nothing is finite."""
    value, length = curve.value[:-1], np.diff(curve.time)
    finite = np.isfinite(value)
    value, length = value[finite], length[finite]
    if not len(value) or not length.sum():
        return (float("nan"),) * 3
    return float(value.min()), float((value * length).sum() / length.sum()), float(value.max())
