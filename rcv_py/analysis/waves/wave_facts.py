"""What each wave that was read did, in a row: when it lived, and how much of that it ran and stalled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.model.columns import joined, of_rows
from rcv_py.model.trace import Trace


@dataclass(frozen=True, eq=False)
class WaveFacts:
    """One row a wave that was read, by its place in the index."""

    row: np.ndarray  # int64, of the wave index
    cu: np.ndarray  # int64
    begin: np.ndarray  # int64, cycles, aligned, by its file
    end: np.ndarray  # int64, cycles, aligned
    tokens: np.ndarray  # int64
    stall: np.ndarray  # int64, cycles

    def __len__(self) -> int:
        return len(self.row)

    @property
    def life(self) -> np.ndarray:
        """Cycles from begin to end, int64."""
        return self.end - self.begin


def _map(_trace: Trace, parcel: Parcel) -> WaveFacts:
    waves = parcel.own.waves
    facts = [
        (
            wave.row,
            wave.cu,
            wave.begin,
            wave.end,
            len(wave.tokens),
            int(wave.tokens.stall.sum(dtype=np.int64)),
        )
        for wave in waves
    ]
    return WaveFacts(*np.array(facts, dtype=np.int64).reshape(-1, 6).T)


def _merge(parts: Sequence[WaveFacts]) -> WaveFacts:
    every = joined([WaveFacts(*np.zeros((6, 0), dtype=np.int64)), *parts])
    return of_rows(every, np.argsort(every.row, kind="stable"))


def _finish(_trace: Trace, part: WaveFacts) -> WaveFacts:
    return part


WAVE_FACTS = Reduction(_map, _merge, _finish)
