"""How many waves are in each state over time: the aligned timelines of all waves, added up.

```
wave 0   E E E W W W E      EXEC  1 1 2 1 1 1 1
wave 1       E S S W W      WAIT  0 0 0 1 1 2 1 …
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.base.runs import ends_run
from rcv_py.model.kinds import WaveState
from rcv_py.model.waves import WaveBatch

STATES = len(WaveState)
LIVING = (WaveState.EXEC, WaveState.WAIT, WaveState.STALL, WaveState.IDLE)  # as they are stacked


@dataclass(frozen=True, eq=False)
class StateCurves:
    """Step functions on one time axis: `count[s][i]` waves are in state s from `time[i]` to `time[i + 1]`.

    `time` int64 [n] grows strictly and holds every boundary of a timeline, `count` int32 [5, n] is 0 at the
    end; the row of EMPTY is 0 throughout.  States of no duration leave a time but no height.
    """

    time: np.ndarray
    count: np.ndarray
    waves: int  # how many timelines were added up

    def __len__(self) -> int:
        return len(self.time)

    @property
    def cycles(self) -> np.ndarray:
        """Wave-cycles in each state, int64 [5]: the areas under the curves."""
        return (self.count[:, :-1] * np.diff(self.time)).sum(axis=1)

    @property
    def shares(self) -> np.ndarray:
        """Share of the waves' time in each state, float64 [5]; zeros if there was none."""
        cycles = self.cycles
        return cycles / max(1, int(cycles.sum()))


def wave_states(batches: Sequence[WaveBatch], se: int | None = None) -> StateCurves:
    """Add up the timelines of all waves of the batches, or of one shader engine.

    A number of a state that we do not know counts as EMPTY, in which no wave is.
    """
    parts = [wave.states for batch in batches for wave in batch.waves if se is None or wave.id.se == se]
    parts = [states for states in parts if len(states)]
    if not parts:
        return StateCurves(np.zeros(0, np.int64), np.zeros((STATES, 0), np.int32), 0)
    length = np.array([len(states) for states in parts])
    stop = np.cumsum(length)
    base = np.array([states.base for states in parts], np.int64)
    ends = base + np.array([states.length for states in parts], np.int64)
    begins = np.concatenate([states.offset for states in parts]) + np.repeat(base, length)
    codes = np.concatenate([states.state for states in parts])
    codes = np.where(codes < STATES, codes, WaveState.EMPTY).astype(np.uint8)
    # Behind each wave an end, after which it is EMPTY: so every boundary leads from one state to another.
    time, entered = np.insert(begins, stop, ends), np.insert(codes, stop, WaveState.EMPTY)
    left = np.append(np.uint8(WaveState.EMPTY), entered[:-1])
    order = np.argsort(time, kind="stable")
    time, entered, left = time[order], entered[order], left[order]
    last = ends_run(time)
    count = np.zeros((STATES, int(np.count_nonzero(last))), np.int32)
    for state in LIVING:
        change = (entered == state).view(np.int8) - (left == state).view(np.int8)
        count[state] = np.cumsum(change, dtype=np.int32)[last]
    return StateCurves(time[last], count, len(parts))
