"""Barriers: how far apart the waves of a workgroup arrive, and which wave is last.

```
wave 0  ──b░░░░░░░░──    arrives first, and stalls until the last one arrives
wave 1  ───────b░░░──
wave 2  ──────────b──    the last: the skew is the distance of these two arrivals
```
`analysis/waves/workgroups.py` determines the waves of a workgroup.  The n-th barriers that the waves of a
group ran are one instance, whichever `s_barrier` each of them executed.
"""

import numpy as np

from rcv_py.analysis.core.median import median
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, by_field, stacked
from rcv_py.analysis.waves.barriers import meetings
from rcv_py.analysis.waves.workgroups import Barriers, KnownBy, barriers_of, grouped, joined_barriers
from rcv_py.base.record import Value
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace

MAX_SPREAD = 64  # cycles within which waves leave the same barrier; beyond it the recorded group is wrong


class BarrierSkew(ColumnTable):
    """One row per instance with at least two waves, by group and time."""

    line: np.ndarray  # int32, code row of the barrier at which the last wave arrived
    waves: np.ndarray  # int32, recorded waves of the group
    arrived: np.ndarray  # int64, cycles, aligned: the first arrival
    skew: np.ndarray  # int64, cycles from the first to the last arrival; a wave that ends counts as arrived
    spread: np.ndarray  # int64, cycles from the first to the last release
    last: np.ndarray  # int32, row of the wave index of the last wave to arrive
    stall: np.ndarray  # int64, cycles of stall of all counted waves
    group: np.ndarray  # int32, number of the workgroup among the waves that were read
    dropped: int  # instances whose waves were released too far apart for one group
    known_by: KnownBy  # the source of the groups, the weakest of them

    @property
    def is_guess(self) -> bool:
        """Whether any group is inferred only from the starts of its waves."""
        return self.known_by == KnownBy.STARTS

    @property
    def median(self) -> float | None:
        """The median skew, cycles, an int if it is whole; None without instances."""
        return median(self.skew) if len(self) else None


class _Arrivals(Value):
    """Barriers of some waves, and the index rows of the waves that count."""

    barriers: Barriers
    counted: np.ndarray  # int64


def _map(trace: Trace, parcel: Parcel) -> _Arrivals:
    return _Arrivals(barriers_of(trace, parcel), parcel.own.rows)


def _skew(trace: Trace, part: _Arrivals) -> BarrierSkew:
    waves, at = part.barriers.waves, part.barriers.at
    group, known_by = grouped(waves, at)
    met = meetings(at, group, waves.last_end)
    counts = np.isin(waves.row, part.counted)[at.wave]
    n = len(met)
    is_asked = np.bincount(met.of[counts], minlength=n) > 0
    stall = np.bincount(met.of[counts], weights=(at.released - at.waited)[counts], minlength=n)
    several, near = is_asked & (met.waves > 1), met.spread <= MAX_SPREAD
    keep = np.flatnonzero(several & near)
    last = np.where(met.left >= 0, met.left, at.wave[met.last])
    return BarrierSkew(
        line=at.line[met.last[keep]].astype(np.int32),
        waves=met.waves[keep].astype(np.int32),
        arrived=met.first_arrived[keep],
        skew=(met.last_arrived - met.first_arrived)[keep],
        spread=met.spread[keep],
        last=waves.row[last[keep]].astype(np.int32),
        stall=stall[keep].astype(np.int64),
        group=group[at.wave[met.last[keep]]].astype(np.int32),
        dropped=int(np.count_nonzero(several & ~near)),
        known_by=KnownBy(int(known_by[at.wave].max(initial=0))),
    )


# Waves that do not count still arrive, first or last, but their stall is left out, and so are instances with
# none that counts.
BARRIER_SKEW = Reduction(_map, by_field(_Arrivals, barriers=joined_barriers, counted=stacked()), _skew)
