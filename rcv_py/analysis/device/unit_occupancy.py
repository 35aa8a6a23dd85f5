"""How many waves each compute unit had: the table behind the curve of resident waves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies
from rcv_py.model.device import WaveEvents


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
    return UnitOccupancy(
        se=places >> 32,
        sa=places >> 24 & 0xFF,
        cu=places & 0xFFFFFF,
        waves=np.bincount(group, minlength=n).astype(np.int64),
        cycles=np.bincount(group, weights=lives.end - lives.begin, minlength=n).astype(np.int64),
        peak=_peaks(lives, group, n),
        begin=begin,
        end=end,
        span=int(lives.end.max() - lives.begin.min()) if len(lives) else 0,
    )


def _peaks(lives: Residencies, group: np.ndarray, n: int) -> np.ndarray:
    """Most lives of each group at a time: one running sum over all groups, each of which ends at zero."""
    time = np.concatenate([lives.begin, lives.end])
    change = np.repeat(np.array([1, -1]), len(lives))
    owner = np.concatenate([group, group])
    order = np.lexsort((change, time, owner))
    level = np.cumsum(change[order])
    peak = np.zeros(n, dtype=np.int64)
    np.maximum.at(peak, owner[order], level)
    return peak
