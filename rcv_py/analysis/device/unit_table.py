"""A table with one row a compute unit: its waves, and its counters if the capture has any."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies, resident
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.counters.counter_shares import CounterShares
from rcv_py.base.runs import ascending
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex


@dataclass(frozen=True, slots=True, eq=False)
class UnitColumn:
    """A column: `values` has one entry a row, NaN if unknown."""

    id: str
    title: str
    values: np.ndarray  # int64 or float64
    meaning: str
    is_percent: bool = False


@dataclass(frozen=True, eq=False)
class UnitTable:
    """Rows sorted by (se, sa, cu); the first columns identify the unit of a row."""

    columns: tuple[UnitColumn, ...]

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def column(self, name: str) -> np.ndarray:
        """The values of a column; KeyError if there is none."""
        return {column.id: column.values for column in self.columns}[name]


def unit_table(trace: Trace, counted: CounterShares | None = None) -> UnitTable | None:
    """Return the table of all compute units with waves or counts, None if there are none."""
    lives = residencies(trace.occupancy)
    parts = [_waves(trace.waves, lives)] if len(lives) else []
    if counted is not None and len(counted):
        parts.append((_key(counted.se, np.zeros_like(counted.se), counted.cu), _counters(counted)))
    if not parts:
        return None
    keys = ascending(np.concatenate([key for key, _ in parts]))

    def spread(key: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Expand values of some units to a column of all units, NaN where missing."""
        column = np.full(len(keys), np.nan) if len(key) < len(keys) else np.empty_like(values)
        column[np.searchsorted(keys, key)] = values
        return column

    array = keys >> 24 & 0xFF
    arrays = [UnitColumn("sa", "SA", array, "Shader array.")] if array.any() else []
    return UnitTable(
        (
            UnitColumn("se", "SE", keys >> 32, "Shader engine."),
            *arrays,
            UnitColumn("cu", "CU", keys & 0xFFFFFF, "Compute unit."),
            *(replace(one, values=spread(key, one.values)) for key, columns in parts for one in columns),
        )
    )


def _waves(index: WaveIndex, lives: Residencies) -> tuple[np.ndarray, list[UnitColumn]]:
    """The key of each unit with waves, and the columns about these waves."""
    units, group = np.unique(_key(lives.se, lives.sa, lives.cu), return_inverse=True)
    n, origin = len(units), int(lives.begin.min())
    begin, end = np.full(n, lives.begin.max()), np.full(n, lives.end.min())
    np.minimum.at(begin, group, lives.begin)
    np.maximum.at(end, group, lives.end)
    cycles = sums(group, lives.end - lives.begin, n)
    mean, after = cycles / max(1, int(lives.end.max()) - origin), "Cycles after the first start on any unit."
    curves = resident(lives, group)
    peak = np.array([int(curves[unit].value.max()) for unit in range(n)])
    own = _key(index.se, index.sa, index.cu)[index.cu >= 0]
    at = np.minimum(np.searchsorted(units, own), n - 1)
    traced = np.bincount(at[units[at] == own], minlength=n)
    columns = [
        ("waves", "waves", np.bincount(group), "Waves that lived on the unit while the trace ran."),
        ("traced", "traced", traced, "Of them, waves whose instructions were recorded."),
        ("mean", "mean waves", mean, "Resident waves weighted by time, over the duration of all."),
        ("peak", "peak", peak, "Most waves resident on the unit at a time."),
        ("cycles", "wave-cycles", cycles, "Sum of the lives of the unit's waves."),
        ("begin", "first start", begin - origin, after),
        ("end", "last end", end - origin, after),
    ]
    return units, [UnitColumn(*column) for column in columns]


def _counters(counted: CounterShares) -> list[UnitColumn]:
    columns = []
    for pipe in counted.utilized:
        meaning = f"Busy share of {pipe}, of the unit's busy time."
        columns.append(UnitColumn(f"share_{pipe}", f"{pipe} %", counted.share(pipe), meaning, True))
    for name, total in zip(counted.names, counted.total.T, strict=True):
        columns.append(UnitColumn(f"sum_{name}", name, total, f"Sum of {name} over all samples."))
    return columns


def _key(se: np.ndarray, sa: np.ndarray, cu: np.ndarray) -> np.ndarray:
    """A key for each compute unit, int64, ordered like (se, sa, cu).  Counters have no `sa`: 0."""
    se, sa, cu = (column.astype(np.int64) for column in (se, sa, cu))
    return (se << 32) + (sa << 24) + cu
