"""Where each traced wave ran: its begin and end equal those of one wave of the occupancy record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rcv_py.formats.input.columns import frozen
from rcv_py.model.device import WaveEvents
from rcv_py.model.waves import WaveIndex


def aligned(index: WaveIndex, offsets: dict[int, int]) -> WaveIndex:
    """Return the index with every time moved by the offset of its shader engine."""
    if not offsets or not len(index):
        return index
    table = np.zeros(int(index.se.max()) + 1, dtype=np.int64)
    for se, offset in offsets.items():
        if 0 <= se < len(table):
            table[se] = offset
    shift = table[index.se]
    return replace(index, begin=frozen(index.begin + shift), end=frozen(index.end + shift))


def placed(index: WaveIndex, events: WaveEvents) -> WaveIndex:
    """Return the index with compute unit, shader array and kernel of the matching occupancy pairs.

    A wave matches a pair of the same shader engine, SIMD, slot, begin and end; without a match it keeps -1.
    If waves of several compute units fit, the one that fits most waves of the shader engine is taken.
    """
    if not len(index) or not len(events):
        return index
    start, end = _pairs(events, index.begin)
    columns = (events.se[start], events.simd[start], events.slot[start], events.time[start], events.time[end])
    wanted = set(_keys((index.se, index.simd, index.slot, index.begin, index.end)))
    fits = np.array([key in wanted for key in _keys(columns)], dtype=bool)
    start, columns = start[fits], tuple(column[fits] for column in columns)
    rank = _rank(events.se[start].astype(np.int64) << 32 | events.sa[start] << 16 | events.cu[start])
    order = np.argsort(rank, kind="stable")  # what is put into the dictionary last wins
    place_of = dict(zip(_keys(tuple(column[order] for column in columns)), order.tolist(), strict=True))
    keys = _keys((index.se, index.simd, index.slot, index.begin, index.end))
    found = np.array([place_of.get(key, -1) for key in keys], dtype=np.int64)
    return replace(
        index,
        cu=_taken(found, events.cu[start], index.cu),
        sa=_taken(found, events.sa[start], index.sa),
        kernel=_taken(found, events.kernel[start], index.kernel),
    )


def _rank(unit: np.ndarray) -> np.ndarray:
    """How often each row's compute unit occurs."""
    _, which, count = np.unique(unit, return_inverse=True, return_counts=True)
    return count[which]


def _pairs(events: WaveEvents, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of starts and of the ends that follow them in the same slot; starts at `begins` only."""
    order = np.lexsort(
        (events.is_start, events.time, events.slot, events.simd, events.cu, events.sa, events.se)
    )
    first, second = order[:-1], order[1:]
    fits = events.is_start[first] & ~events.is_start[second]
    fits &= np.isin(events.time[first], begins)
    for column in (events.se, events.sa, events.cu, events.simd, events.slot):
        fits &= column[first] == column[second]
    return first[fits], second[fits]


def _keys(columns: tuple[np.ndarray, ...]) -> Iterator[tuple[int, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)


def _taken(found: np.ndarray, values: np.ndarray, default: np.ndarray) -> np.ndarray:
    if not len(values):
        return default
    return frozen(np.where(found >= 0, values[found], default).astype(default.dtype))
