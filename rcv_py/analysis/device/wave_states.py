"""Number of waves in each state over time: the sum of the aligned timelines of all waves.

```
wave 0   E E E W W W E      EXEC  1 1 2 1 1 1 1
wave 1       E S S W W      WAIT  0 0 0 1 1 2 1 …
```
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.base.runs import repeated, run_starts
from rcv_py.model.columns import ColumnTable
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace

STATES = len(WaveState)
AT_ONCE = 1 << 14  # times that are summed in a block: some milliseconds
LIVING = (WaveState.EXEC, WaveState.WAIT, WaveState.STALL, WaveState.IDLE)  # as they are stacked


@dataclass(frozen=True, eq=False)
class StateCurves(ColumnTable):
    """Step functions on one time axis: `count[s][i]` waves are in state s from `time[i]` to `time[i + 1]`.

    `time` int64 [n] grows strictly and holds every boundary of a timeline, `count` int32 [5, n] is 0 at the
    end; the row of EMPTY is 0 throughout.  States of no duration leave a time but no height.
    """

    time: np.ndarray
    count: np.ndarray
    waves: int  # number of timelines summed

    @property
    def cycles(self) -> np.ndarray:
        """Wave-cycles in each state, int64 [5]: the areas under the curves."""
        return (self.count[:, :-1] * np.diff(self.time)).sum(axis=1)

    @property
    def shares(self) -> np.ndarray:
        """Share of the waves' time in each state, float64 [5]; zeros if there was none."""
        cycles = self.cycles
        return cycles / max(1, int(cycles.sum()))


class _Changes(NamedTuple):
    """Changes of the number of waves in each state at each time; times grow strictly."""

    time: np.ndarray  # int64 [n]
    more: np.ndarray  # int32 [n, STATES], less if negative
    waves: int


def _map(_trace: Trace, parcel: Parcel, *, se: int | None) -> _Changes:
    tables = [wave.states for wave in parcel.own.waves if se is None or wave.id.se == se]
    length = np.array([len(states) for states in tables], np.int64)
    parts, length = [tables[at] for at in np.flatnonzero(length).tolist()], length[length > 0]
    if not parts:
        return _merge(())
    stop = np.cumsum(length)
    base = np.array([states.base for states in parts], np.int64)
    ends = base + np.array([states.length for states in parts], np.int64)
    begins = np.concatenate([states.offset for states in parts]) + repeated(base, length)
    codes = np.concatenate([states.state for states in parts])
    codes = np.where(codes < STATES, codes, WaveState.EMPTY).astype(np.uint8)
    # Append an end to each wave, after which it is EMPTY, so that every boundary connects two states.
    time, entered = np.insert(begins, stop, ends), np.insert(codes, stop, WaveState.EMPTY)
    left = np.append(np.uint8(WaveState.EMPTY), entered[:-1])
    more = np.zeros((len(time), STATES), np.int32)
    for state in LIVING:
        more[:, state] = (entered == state).view(np.int8) - (left == state).view(np.int8)
    return _at_once(time, more, len(parts))


def _at_once(time: np.ndarray, more: np.ndarray, waves: int) -> _Changes:
    """Return the changes in order of time, with changes of the same time summed."""
    order = np.argsort(time, kind="stable")  # the parts are sorted: hardly more than reading them
    time, more = time[order], more[order]
    first = run_starts(time)
    if not len(first):
        return _Changes(time, more, waves)
    added = np.empty((len(first), STATES), np.int32)
    stops = np.append(first[AT_ONCE::AT_ONCE], len(time))
    for part, stop in enumerate(stops.tolist()):  # a numpy call blocks other threads, so calls stay short
        runs = slice(part * AT_ONCE, (part + 1) * AT_ONCE)
        begin = first[runs.start]
        np.add.reduceat(more[begin:stop], first[runs] - begin, axis=0, out=added[runs])
    return _Changes(time[first], added, waves)


def _merge(parts: Sequence[_Changes]) -> _Changes:
    times = [np.zeros(0, np.int64), *(part.time for part in parts)]
    more = [np.zeros((0, STATES), np.int32), *(part.more for part in parts)]
    return _at_once(np.concatenate(times), np.concatenate(more), sum(part.waves for part in parts))


def _finish(_trace: Trace, part: _Changes) -> StateCurves:
    count = np.empty((STATES, len(part.time)), np.int32)
    for state in range(STATES):  # state by state, for the same reason
        np.cumsum(part.more[:, state], dtype=np.int32, out=count[state])
    return StateCurves(part.time, count, part.waves)


def state_curves(se: int | None = None) -> Reduction[_Changes, StateCurves]:
    """Return the sum of the timelines of all waves, or of one shader engine, as a reduction.

    Unknown state numbers count as EMPTY, which is not a state of a wave.
    """
    return Reduction(partial(_map, se=se), _merge, _finish)
