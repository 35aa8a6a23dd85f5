"""Number of waves in each state over the whole capture, in a few thousand steps of time.

```
wave 0   E E E W W W E .      step 0: EXEC 5, WAIT 0, STALL 1
wave 1   . E E S S W . .      step 1: EXEC 1, WAIT 3, STALL 1
step     └──0──┴──1──┘        of 4 cycles, cycles of all waves together
```
The steps depend on the capture alone, so that results of different waves can be summed.
"""

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added
from rcv_py.analysis.core.saturated import Sums, dense, nonzero, sums
from rcv_py.analysis.core.token_columns import states_of
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow

MAX_STEPS = 4096  # steps
STATES = (WaveState.IDLE, WaveState.EXEC, WaveState.WAIT, WaveState.STALL)  # a column each


@dataclass(frozen=True, eq=False)
class StateStrip:
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
    """Return the number of steps, and log2 of the cycles of a step."""
    width = trace.span.width
    shift = max(0, (width - 1).bit_length() - (MAX_STEPS - 1).bit_length())
    return (width - 1 >> shift) + 1, shift


def _map(trace: Trace, parcel: Parcel) -> Sums:
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


def _finish(trace: Trace, part: Sums) -> StateStrip:
    steps, shift = _steps(trace)
    cycles = dense(part, len(STATES) * steps)[0].reshape(len(STATES), steps)
    return StateStrip(trace.span.begin, shift, cycles.T)


STRIP = Reduction(_map, added(1), _finish)
