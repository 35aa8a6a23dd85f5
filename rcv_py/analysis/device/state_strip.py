"""How many waves were in each state over the whole capture, in a few thousand steps of time.

```
wave 0   E E E W W W E .      step 0: EXEC 5, WAIT 0, STALL 1
wave 1   . E E S S W . .      step 1: EXEC 1, WAIT 3, STALL 1
step     └──0──┴──1──┘        of 4 cycles, cycles of all waves together
```
The steps depend on the capture alone, so that what some of its waves say adds up with what others do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.core.saturated import Sums, dense, joined_sums, no_sums, nonzero, sums
from rcv_py.base.records import dataclass
from rcv_py.base.runs import repeated
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow

MOST = 4096  # steps
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

        A pixel narrower than a step takes its part of it.
        """
        pixel = window.width / width_px
        edges = window.begin - self.begin + np.arange(width_px + 1) * pixel
        step = np.arange(len(self) + 1) << self.shift
        before = np.pad(np.cumsum(self.cycles, axis=0), ((1, 0), (0, 0)))
        spent = np.stack([np.diff(np.interp(edges, step, column)) for column in before.T], axis=1)
        return spent / pixel


def _steps(trace: Trace) -> tuple[int, int]:
    """Return how many steps there are, and how many bits of a time are inside of one."""
    width = trace.span.width
    shift = max(0, (width - 1).bit_length() - (MOST - 1).bit_length())
    return (width - 1 >> shift) + 1, shift


def _map(trace: Trace, parcel: Parcel) -> Sums:
    """Return the wave-cycles by state and step, as one number, where there are any."""
    steps, shift = _steps(trace)
    tables = [wave.states for wave in parcel.own.waves if len(wave.states)]
    if not tables:
        return no_sums(1)
    length = np.array([len(table) for table in tables], dtype=np.int64)
    base = np.array([table.base for table in tables], dtype=np.int64)
    begin = np.concatenate([table.offset for table in tables]) + repeated(base, length)
    end = np.append(begin[1:], 0)
    end[np.cumsum(length) - 1] = base + np.array([table.length for table in tables], dtype=np.int64)
    end = np.maximum(begin, end)  # in a damaged file it may come before
    state = np.concatenate([table.state for table in tables])
    known = np.flatnonzero((state >= STATES[0]) & (state <= STATES[-1]))
    row = (state[known].astype(np.int64) - STATES[0]) * (steps + 1)
    cycles = _after(begin[known], row, trace, steps, shift) - _after(end[known], row, trace, steps, shift)
    return nonzero(cycles[:, :-1].reshape(-1))


def _after(time: np.ndarray, row: np.ndarray, trace: Trace, steps: int, shift: int) -> np.ndarray:
    """Return how many cycles of each step lie behind these times, added up; int64 [STATES, steps + 1]."""
    inside = np.clip(time, trace.span.begin, trace.span.begin + (steps << shift)) - trace.span.begin
    place, count = row + (inside >> shift), len(STATES) * (steps + 1)
    rest = sums(place, (1 << shift) - (inside & (1 << shift) - 1), count).reshape(len(STATES), -1)
    begun = np.bincount(place, minlength=count).reshape(len(STATES), -1)
    return rest + ((np.cumsum(begun, axis=1) - begun) << shift)


def _merge(parts: Sequence[Sums]) -> Sums:
    return joined_sums([no_sums(1), *parts])


def _finish(trace: Trace, part: Sums) -> StateStrip:
    steps, shift = _steps(trace)
    cycles = dense(part, len(STATES) * steps)[0].reshape(len(STATES), steps)
    return StateStrip(trace.span.begin, shift, cycles.T)


STRIP = Reduction(_map, _merge, _finish)
