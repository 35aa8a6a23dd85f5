"""A table with one row a compute unit: its waves, and its counters if the capture has any."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rcv_py.analysis.core.occupancy import residencies, resident
from rcv_py.analysis.counters.counter_shares import CounterShares
from rcv_py.model.device import WaveEvents
from rcv_py.model.trace import Trace


@dataclass(frozen=True, eq=False)
class UnitOccupancy:
    """One row a compute unit that had waves, sorted by (se, sa, cu); time from the device's first start."""

    se: np.ndarray  # int64
    sa: np.ndarray  # int64
    cu: np.ndarray  # int64
    waves: np.ndarray  # int64, waves that lived there
    cycles: np.ndarray  # int64, wave-cycles
    peak: np.ndarray  # int64, most waves at a time
    begin: np.ndarray  # int64, cycles, aligned: first start
    end: np.ndarray  # int64, cycles, aligned: last end
    span: int  # cycles of the device, which `mean` divides by

    def __len__(self) -> int:
        return len(self.se)

    @property
    def mean(self) -> np.ndarray:
        """Resident waves weighted by time, over the time of the whole device; float64."""
        return self.cycles / max(self.span, 1)


def unit_occupancy(events: WaveEvents) -> UnitOccupancy:
    """Return the occupancy of each compute unit that had waves."""
    lives = residencies(events)
    key = (lives.se.astype(np.int64) << 32) + (lives.sa.astype(np.int64) << 24) + lives.cu
    places, group = np.unique(key, return_inverse=True)
    group, n = group.reshape(-1), len(places)
    begin = np.full(n, np.iinfo(np.int64).max)
    end = np.full(n, np.iinfo(np.int64).min)
    np.minimum.at(begin, group, lives.begin)
    np.maximum.at(end, group, lives.end)
    curves = resident(lives, group)
    return UnitOccupancy(
        se=places >> 32,
        sa=places >> 24 & 0xFF,
        cu=places & 0xFFFFFF,
        waves=np.bincount(group, minlength=n).astype(np.int64),
        cycles=np.bincount(group, weights=lives.end - lives.begin, minlength=n).astype(np.int64),
        peak=np.array([int(curves[at].value.max()) for at in range(n)], dtype=np.int64),
        begin=begin,
        end=end,
        span=int(lives.end.max() - lives.begin.min()) if len(lives) else 0,
    )


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


def unit_table(trace: Trace, counted: CounterShares | None = None) -> UnitTable | None:
    """Return the table of all compute units that had waves or counted something, None if none did."""
    waves = _waves(trace)
    counters = None if counted is None or not len(counted) else _counters(counted)
    if waves is None or counters is None:
        return waves or counters
    return _joined(waves, counters)


def _waves(trace: Trace) -> UnitTable | None:
    units = unit_occupancy(trace.occupancy)
    if not len(units):
        return None
    traced = _traced(trace, units.se, units.sa, units.cu)
    origin = int(units.begin.min())
    array = [("sa", "SA", units.sa, "Shader array.")] if units.sa.any() else []
    after = "Cycles after the first start on any unit."
    columns = [
        ("se", "SE", units.se, "Shader engine."),
        *array,
        ("cu", "CU", units.cu, "Compute unit."),
        ("waves", "waves", units.waves, "Waves that lived on the unit while the trace ran."),
        ("traced", "traced", traced, "Of them, waves whose instructions were recorded."),
        ("mean", "mean waves", units.mean, "Resident waves weighted by time, over the duration of all."),
        ("peak", "peak", units.peak, "Most waves resident on the unit at a time."),
        ("cycles", "wave-cycles", units.cycles, "Sum of the lives of the unit's waves."),
        ("begin", "first start", units.begin - origin, after),
        ("end", "last end", units.end - origin, after),
    ]
    return UnitTable(tuple(UnitColumn(*column) for column in columns))


def _counters(counted: CounterShares) -> UnitTable:
    columns = [
        UnitColumn("se", "SE", counted.se, "Shader engine."),
        UnitColumn("cu", "CU", counted.cu, "Compute unit."),
    ]
    for pipe in counted.utilized:
        meaning = f"Busy share of {pipe}, of the unit's busy time."
        columns.append(UnitColumn(f"share_{pipe}", f"{pipe} %", counted.share(pipe), meaning, True))
    for at, name in enumerate(counted.names):
        meaning = f"Sum of {name} over all samples."
        columns.append(UnitColumn(f"sum_{name}", name, counted.total[:, at], meaning))
    return UnitTable(tuple(columns))


def _joined(waves: UnitTable, counters: UnitTable) -> UnitTable:
    """Every unit of either table; what one of them does not know is NaN.

    Counters do not tell shader arrays apart: theirs is the unit of the first array.
    """
    left = _key(*_place(waves))
    right = _key(*_place(counters))
    keys = np.unique(np.concatenate([left, right]))
    places = {"se": keys >> 32, "sa": keys >> 24 & 0xFF, "cu": keys & 0xFFFFFF}
    names = [column.id for column in waves.columns]
    columns = []
    for table, own in ((waves, left), (counters, right)):
        at = np.searchsorted(keys, own)
        for column in table.columns:
            if column.id in places:
                values = places[column.id]
            elif len(own) == len(keys):
                values = column.values[np.argsort(own)]
            else:
                values = np.full(len(keys), np.nan)
                values[at] = column.values
            if table is waves or column.id not in names:
                columns.append(replace(column, values=values))
    return UnitTable(tuple(columns))


def _place(table: UnitTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    names = [column.id for column in table.columns]
    se, cu = (table.column(name).astype(np.int64) for name in ("se", "cu"))
    return se, table.column("sa").astype(np.int64) if "sa" in names else np.zeros(len(se), np.int64), cu


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
