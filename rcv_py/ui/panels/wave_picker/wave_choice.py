"""Choosing a wave by shader engine, SIMD, slot and number, keeping the rest as near as there is one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.median import nearest_to_median
from rcv_py.model.ids import WaveId
from rcv_py.model.waves import WaveIndex

LEVELS = ("se", "simd", "slot", "wid")
TITLES = ("SE", "SIMD", "Slot", "Wave")


@dataclass(frozen=True, slots=True)
class Rank:
    """The waves of a kernel by duration."""

    fastest: int  # index rows
    median: int
    slowest: int


def choices(index: WaveIndex, wave: WaveId) -> tuple[list[int], ...]:
    """Return what each level can be, given the levels before it."""
    rows = np.ones(len(index), dtype=bool)
    found = []
    for level in LEVELS:
        column = getattr(index, level)
        found.append(np.unique(column[rows]).tolist())
        rows &= column == getattr(wave, level)
    return tuple(found)


def changed(index: WaveIndex, wave: WaveId, level: str, value: int) -> WaveId | None:
    """Return the wave after one level was set: the levels before it stay, those behind it stay near."""
    at = LEVELS.index(level)
    rows = np.flatnonzero(getattr(index, level) == value)
    for name in LEVELS[:at]:
        rows = rows[getattr(index, name)[rows] == getattr(wave, name)]
    if not len(rows):
        return None
    distance = [
        np.abs(getattr(index, name)[rows].astype(np.int64) - getattr(wave, name)) for name in LEVELS[at + 1 :]
    ]
    best = rows[np.lexsort(distance[::-1])[0]] if distance else rows[0]
    return index.id(int(best))


def rank(index: WaveIndex, row: int) -> Rank:
    """Return the fastest wave, that of median life and the slowest of the kernel of the wave at `row`.

    Of median life is the wave nearest to the median: of an even number there need not be one that has it.
    """
    rows = np.flatnonzero(index.kernel == index.kernel[row])
    duration = index.end[rows] - index.begin[rows]
    order = rows[np.argsort(duration, kind="stable")]
    return Rank(int(order[0]), int(rows[nearest_to_median(duration)]), int(order[-1]))
