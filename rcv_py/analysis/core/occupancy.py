"""Residency of waves in slots over time, the number of resident waves, and which of them were traced.

```
slot 0   start──────────end       start────end
slot 1        start──────────────────────────────── (no end: open at the end)
```
"""

from collections.abc import Collection

import numpy as np

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.base.runs import ascending, ends_run, starts_run
from rcv_py.model.columns import ColumnTable
from rcv_py.model.device import WaveEvents
from rcv_py.model.ids import SlotId
from rcv_py.model.trace import Trace

_PLACE_BITS = {"se": 16, "sa": 8, "cu": 16, "simd": 8, "slot": 12}


class Residencies(ColumnTable):
    """One row a life of a wave in a slot, sorted by (se, sa, cu, simd, slot, begin)."""

    se: np.ndarray  # int16
    sa: np.ndarray  # int16
    cu: np.ndarray  # int16
    simd: np.ndarray  # int16
    slot: np.ndarray  # int16
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned
    kernel: np.ndarray  # int32, kernel id
    workgroup: np.ndarray  # int64, -1 if unknown
    me: np.ndarray  # int16, -1 if unknown
    pipe: np.ndarray  # int16, -1 if unknown
    is_open_start: np.ndarray  # bool: it began before the trace
    is_open_end: np.ndarray  # bool: its end was not recorded


def residencies(events: WaveEvents) -> Residencies:
    """Pair the starts and ends of each slot.

    A start on an occupied slot ends the previous wave; a wave without a recorded end lasts until the last
    time of the events and of the traced waves; an end that is the first event of its slot belongs to a wave
    that began before the trace, which the reference viewer leaves out: at the first of these times.
    """
    key = place(events)
    order = np.lexsort((events.is_start, events.time, key))
    key, is_start, time = key[order], events.is_start[order], events.time[order]
    chosen = np.flatnonzero(is_start | starts_run(key))
    starts, lasts = is_start[chosen], is_start[chosen] & ends_run(key)[chosen]
    own = chosen + (starts & ~lasts)
    stop = int(time.max(initial=events.stop))
    event = events.at(order[chosen])
    return Residencies(
        **{name: getattr(event, name) for name in (*_PLACE_BITS, "kernel", "workgroup", "me", "pipe")},
        begin=np.where(starts, time[chosen], time.min(initial=min(stop, events.start))),
        end=np.where(lasts, np.maximum(stop, time[chosen]), time[own]),
        is_open_start=~starts,
        is_open_end=starts & (lasts | is_start[own]),
    )


def all_resident(events: WaveEvents) -> StepCurve | None:
    """Return the number of resident waves on the whole device, None without events."""
    lives = residencies(events)
    return resident(lives, np.zeros(len(lives), dtype=np.int64)).get(0)


def resident(lives: Residencies, group: np.ndarray) -> dict[int, StepCurve]:
    """Return the number of resident waves in each group; `group` is the group of each wave, int64.

    A curve has one point a time, where the reference viewer has one an event.
    """
    curves = {}
    for name in ascending(group).tolist():
        own = np.flatnonzero(group == name)
        time, change = np.concatenate([lives.begin[own], lives.end[own]]), np.repeat([1, -1], len(own))
        order = np.argsort(time, kind="stable")
        last = ends_run(time[order])
        curves[name] = StepCurve(time[order][last], np.cumsum(change[order])[last].astype(np.int32))
    return curves


def place(table: object) -> np.ndarray:
    """Return the `slot_key` of each row of a table with columns se, sa, cu, simd and slot."""
    return slot_key(*(getattr(table, name) for name in _PLACE_BITS))


def slot_key(*columns: np.ndarray) -> np.ndarray:
    """Return a key of the slot of each row, int64, ordered by the columns se, sa, cu, simd and slot."""
    key = np.zeros(1, dtype=np.int64)
    for column, bits in zip(columns, _PLACE_BITS.values(), strict=True):
        key = key << bits | (column.astype(np.int64) & ((1 << bits) - 1))
    return key


def latest(place: np.ndarray, begin: np.ndarray, wanted: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return, for each wanted place and time, the row that began there last by that time; int64, -1: none.

    Rows need no order; of rows that began at the same time the later row is returned.
    """
    rows, where = len(place), np.concatenate([place, wanted])
    is_wanted = np.arange(len(where)) >= rows
    order = np.lexsort((is_wanted, np.concatenate([begin, time]), where))
    at = np.maximum.accumulate(np.where(is_wanted[order], -1, np.arange(len(order))))
    row = np.where(at >= 0, order[np.maximum(at, 0)], -1)
    row[where[row] != where[order]] = -1
    latest_row = np.empty(len(where), dtype=np.int64)
    latest_row[order] = row
    return latest_row[rows:]


def waves_of_unit(trace: Trace, row: int | None) -> np.ndarray:
    """Index rows of the waves on the compute unit of the wave at `row`; all waves for None."""
    index = trace.waves
    if row is None:
        return np.arange(len(index))
    same = (index.se == index.se[row]) & (index.cu == index.cu[row]) & (index.sa == index.sa[row])
    return np.flatnonzero(same)


def waves_of_kernels(trace: Trace, rows: np.ndarray, hidden: Collection[str]) -> np.ndarray:
    """Index rows without the waves of hidden kernels, given by symbol."""
    if not hidden:
        return rows
    ids = [number for number, name in trace.occupancy.names.items() if name in hidden]
    return rows[~np.isin(trace.waves.kernel[rows], ids)]


def traced_waves(trace: Trace, lives: Residencies) -> np.ndarray:
    """Return the index row of each life, int64; -1 if its instructions were not traced."""
    index = trace.waves
    columns = (index.se, index.simd, index.slot, index.begin, index.end)
    row_of = {key: row for row, key in enumerate(zip(*(column.tolist() for column in columns), strict=True))}
    places = (lives.se, lives.simd, lives.slot, lives.begin, lives.end)
    rows = [row_of.get(key, -1) for key in zip(*(column.tolist() for column in places), strict=True)]
    wave = np.array(rows, np.int64)
    if not len(index):
        return wave
    known = (wave >= 0) & (index.cu[wave] >= 0)
    wave[known & (index.cu[wave] != lives.cu)] = -1
    return wave


def global_rows(residencies: Residencies) -> tuple[tuple[SlotId, ...], np.ndarray]:
    """Return the slots, sorted, and for each residency the row of its slot, int32."""
    _, first, row = np.unique(place(residencies), return_index=True, return_inverse=True)
    columns = (residencies.se, residencies.sa, residencies.cu, residencies.simd, residencies.slot)
    names = zip(*(column[first].tolist() for column in columns), strict=True)
    return tuple(SlotId(*name) for name in names), row.reshape(-1).astype(np.int32)
