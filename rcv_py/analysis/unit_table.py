"""A table with one row a compute unit: its waves, and its counters if the capture has any."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.unit_occupancy import unit_occupancy
from rcv_py.model.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class UnitColumn:
    """A column: `values` has one entry a row, NaN where it is not known."""

    id: str
    title: str
    values: np.ndarray  # int64 or float64
    meaning: str
    is_percent: bool = False


@dataclass(frozen=True, eq=False)
class UnitTable:
    """Rows sorted by (se, sa, cu); the first columns say which unit a row is."""

    columns: tuple[UnitColumn, ...]

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def column(self, name: str) -> np.ndarray:
        """The values of a column; KeyError if there is none."""
        for column in self.columns:
            if column.id == name:
                return column.values
        raise KeyError(name)


def unit_table(trace: Trace) -> UnitTable | None:
    """Return the table of all compute units that had waves, None if none is known."""
    units = unit_occupancy(trace.occupancy)
    if not len(units):
        return None
    traced = _traced(trace, units.se, units.sa, units.cu)
    origin = int(units.begin.min())
    arrays = (UnitColumn("sa", "SA", units.sa, "Shader array."),) if units.sa.any() else ()
    return UnitTable(
        (
            UnitColumn("se", "SE", units.se, "Shader engine."),
            *arrays,
            UnitColumn("cu", "CU", units.cu, "Compute unit."),
            UnitColumn("waves", "waves", units.waves, "Waves that lived on the unit while the trace ran."),
            UnitColumn("traced", "traced", traced, "Of them, waves whose instructions were recorded."),
            UnitColumn(
                "mean", "mean waves", units.mean, "Resident waves weighted by time, over the duration of all."
            ),
            UnitColumn("peak", "peak", units.peak, "Most waves resident on the unit at a time."),
            UnitColumn("cycles", "wave-cycles", units.cycles, "Sum of the lives of the unit's waves."),
            UnitColumn(
                "begin", "first start", units.begin - origin, "Cycles after the first start on any unit."
            ),
            UnitColumn("end", "last end", units.end - origin, "Cycles after the first start on any unit."),
        )
    )


def _traced(trace: Trace, se: np.ndarray, sa: np.ndarray, cu: np.ndarray) -> np.ndarray:
    """How many traced waves lived on each unit; those whose unit is unknown count nowhere."""
    index = trace.waves
    names = [column.astype(np.int64) for column in (index.se, index.sa, index.cu)]
    known = names[2] >= 0
    own = _key(*(column[known] for column in names))
    units = _key(se, sa, cu)
    order = np.argsort(units)
    at = np.searchsorted(units[order], own)
    at = np.minimum(at, len(units) - 1)
    hit = units[order][at] == own
    return np.bincount(order[at[hit]], minlength=len(units)).astype(np.int64)


def _key(se: np.ndarray, sa: np.ndarray, cu: np.ndarray) -> np.ndarray:
    return (se << 32) + (sa << 24) + cu
