"""Number of waves in each state over time: exact curves, and a strip of a few thousand steps.

```
curves   wave 0   E E E W W W E      EXEC  1 1 2 1 1 1 1
         wave 1       E S S W W      WAIT  0 0 0 1 1 2 1 …

strip    wave 0   E E E W W W E .    step 0: EXEC 5, WAIT 0, STALL 1
         wave 1   . E E S S W . .    step 1: EXEC 1, WAIT 3, STALL 1
         step     └──0──┴──1──┘      of 4 cycles, cycles of all waves together
```
The steps depend on the capture alone, so that results of different waves can be summed.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added
from rcv_py.analysis.core.saturated import Sums, dense, nonzero, sums
from rcv_py.analysis.core.token_columns import states_of
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import run_starts
from rcv_py.model.columns import ColumnTable
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow

_STATES = len(WaveState)
AT_ONCE = 1 << 14  # times that are summed in a block: some milliseconds
LIVING = (WaveState.EXEC, WaveState.WAIT, WaveState.STALL, WaveState.IDLE)  # as they are stacked


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


class _Changes(Value):
    """Changes of the number of waves in each state at each time; times grow strictly."""

    time: np.ndarray  # int64 [n]
    more: np.ndarray  # int32 [n, _STATES], less if negative
    waves: int


def _map_changes(_trace: Trace, parcel: Parcel, *, se: int | None) -> _Changes:
    tables = [wave.states for wave in parcel.own.waves if se is None or wave.id.se == se]
    length = np.array([len(states) for states in tables], np.int64)
    parts, length = [tables[at] for at in np.flatnonzero(length).tolist()], length[length > 0]
    if not parts:
        return _merge_changes(())
    stop = np.cumsum(length)
    base = np.array([states.base for states in parts], np.int64)
    ends = base + np.array([states.length for states in parts], np.int64)
    begins = np.concatenate([states.offset for states in parts]) + np.repeat(base, length)
    codes = np.concatenate([states.state for states in parts])
    codes = np.where(codes < _STATES, codes, WaveState.EMPTY).astype(np.uint8)
    # Append an end to each wave, after which it is EMPTY, so that every boundary connects two states.
    time, entered = np.insert(begins, stop, ends), np.insert(codes, stop, WaveState.EMPTY)
    left = np.append(np.uint8(WaveState.EMPTY), entered[:-1])
    more = np.zeros((len(time), _STATES), np.int32)
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
    added = np.empty((len(first), _STATES), np.int32)
    stops = np.append(first[AT_ONCE::AT_ONCE], len(time))
    for part, stop in enumerate(stops.tolist()):  # a numpy call blocks other threads, so calls stay short
        runs = slice(part * AT_ONCE, (part + 1) * AT_ONCE)
        begin = first[runs.start]
        np.add.reduceat(more[begin:stop], first[runs] - begin, axis=0, out=added[runs])
    return _Changes(time[first], added, waves)


def _merge_changes(parts: Sequence[_Changes]) -> _Changes:
    times = [np.zeros(0, np.int64), *(part.time for part in parts)]
    more = [np.zeros((0, _STATES), np.int32), *(part.more for part in parts)]
    return _at_once(np.concatenate(times), np.concatenate(more), sum(part.waves for part in parts))


def _finish_curves(_trace: Trace, part: _Changes) -> StateCurves:
    count = np.empty((_STATES, len(part.time)), np.int32)
    for state in range(_STATES):  # state by state, for the same reason
        np.cumsum(part.more[:, state], dtype=np.int32, out=count[state])
    return StateCurves(part.time, count, part.waves)


def state_curves(se: int | None = None) -> Reduction[_Changes, StateCurves]:
    """Return the sum of the timelines of all waves, or of one shader engine, as a reduction.

    Unknown state numbers count as EMPTY, which is not a state of a wave.
    """
    return Reduction(partial(_map_changes, se=se), _merge_changes, _finish_curves)


MAX_STEPS = 4096  # steps
STATES = (WaveState.IDLE, WaveState.EXEC, WaveState.WAIT, WaveState.STALL)  # a column each


class StateStrip(Record):
    """One row a step of `1 << shift` cycles; the first one begins at `begin`."""

    begin: int  # cycles, aligned
    shift: int
    cycles: np.ndarray  # int64 [steps, STATES], wave-cycles

    def __len__(self) -> int:
        return len(self.cycles)

    def waves(self, window: TimeWindow, width_px: int) -> np.ndarray:
        """Return the mean number of waves in each state in each pixel, float64 [width, STATES].

        A pixel narrower than a step gets its part of the step.
        """
        pixel = window.width / width_px
        edges = window.begin - self.begin + np.arange(width_px + 1) * pixel
        step = np.arange(len(self) + 1) << self.shift
        before = np.pad(np.cumsum(self.cycles, axis=0), ((1, 0), (0, 0)))
        spent = np.stack([np.diff(np.interp(edges, step, column)) for column in before.T], axis=1)
        return spent / pixel


def _steps(trace: Trace) -> tuple[int, int]:
    width = trace.span.width
    shift = max(0, (width - 1).bit_length() - (MAX_STEPS - 1).bit_length())
    return (width - 1 >> shift) + 1, shift


def _map_strip(trace: Trace, parcel: Parcel) -> Sums:
    """Return the nonzero wave-cycles by state and step, as a single key."""
    steps, shift = _steps(trace)
    _, state, *times = states_of(parcel.own.waves)
    begin, end = (np.clip(time - trace.span.begin, 0, steps << shift) for time in times)
    end = np.maximum(begin, end, out=end)  # in a damaged file it may come before
    known = (state >= STATES[0]) & (state <= STATES[-1])
    begin, end, state = begin[known], end[known], state[known]
    row = (state.astype(np.int64) - STATES[0]) * (steps + 1)
    cycles = _spent(begin, end, row, shift, len(STATES) * (steps + 1)).reshape(len(STATES), -1)
    return nonzero(cycles[:, :-1].reshape(-1))


def _spent(begin: np.ndarray, end: np.ndarray, row: np.ndarray, shift: int, places: int) -> np.ndarray:
    """Return the cycles between times in each step, int64 [places]; the first step of each is at `row`."""
    first, last = row + (begin >> shift), row + (end >> shift)
    cycles, step = end - begin, 1 << shift
    far = np.flatnonzero(first != last)  # few where states are short
    cycles[far] = step - (begin[far] & step - 1)
    first_far, last = first[far], last[far]
    whole = np.bincount(first_far + 1, minlength=places) - np.bincount(last, minlength=places)
    spent = sums(first, cycles, places) + sums(last, end[far] & step - 1, places)
    return spent + (np.cumsum(whole) << shift)


def _finish_strip(trace: Trace, part: Sums) -> StateStrip:
    steps, shift = _steps(trace)
    cycles = dense(part, len(STATES) * steps)[0].reshape(len(STATES), steps)
    return StateStrip(trace.span.begin, shift, cycles.T)


STRIP = Reduction(_map_strip, added(1), _finish_strip)
