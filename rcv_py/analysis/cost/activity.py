"""Time of all traced waves by activity: idle, stall, issue.  Needs neither counters nor wave files.

```
wave   ..cccCC...iiiiII      lower case: a cycle of stall, upper case: a cycle of issue, dot: idle
```
"""

from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, by_field, totals, unchanged
from rcv_py.analysis.core.token_columns import states_of
from rcv_py.base.record import Value
from rcv_py.base.runs import run_starts
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import STATE_TEXT, WaveState
from rcv_py.model.trace import Trace

MEANING = {
    "idle": "cycles between two instructions of a wave",
    "stall": "stall cycles of an instruction, waits included",
    "issue": "cycles of issuing (later than gfx9: of executing); of s_endpgm until its wave is gone",
}


class Activity(NamedTuple):
    """Cycles of all traced waves; they add up to idle + latency over all code lines."""

    idle: int
    stall: int
    issue: int  # latency without stall

    @property
    def total(self) -> int:
        """The whole of the shares: latency + idle."""
        return self.idle + self.stall + self.issue

    @property
    def percent(self) -> tuple[float, float, float]:
        """Shares of idle, stall and issue in percent; all zero if nothing ran."""
        total = max(self.total, 1)
        return 100 * self.idle / total, 100 * self.stall / total, 100 * self.issue / total


def activity(code: CodeTable) -> Activity:
    """Return the distribution over all code lines, as the code table counts them."""
    idle, stall, latency = (int(column.sum()) for column in (code.idle, code.stall, code.latency))
    return Activity(idle, stall, latency - stall)


SHOWN = tuple(STATE_TEXT)  # the states that count


class StateShares(Value):
    """Cycles in each WaveState over some waves."""

    cycles: np.ndarray  # int64 [WaveState]
    waves: int  # number of waves counted: the waves with a timeline

    @property
    def total(self) -> int:
        """Cycles in any state but EMPTY: the whole of the shares."""
        return int(self.cycles[list(SHOWN)].sum())

    def percent(self, state: WaveState) -> float:
        """Share of a state in percent, 0 if there is no state at all."""
        return 100 * int(self.cycles[state]) / max(self.total, 1)


def _shares(_trace: Trace, parcel: Parcel) -> StateShares:
    """Return the cycles of all waves in each state; numbers beyond the known states do not count."""
    found = states_of(parcel.own.waves)
    cycles = np.bincount(found.state, found.end - found.begin, len(WaveState))[: len(WaveState)]
    return StateShares(cycles.astype(np.int64), len(run_starts(found.owner)))


_merge = by_field(StateShares, cycles=totals(len(WaveState)), waves=sum)
STATE_SHARES = Reduction(_shares, _merge, unchanged)
