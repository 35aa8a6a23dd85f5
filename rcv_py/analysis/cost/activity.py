"""Where the time of all traced waves went: idle, stalled or issuing.  Needs no counters and no wave file.

```
wave   ..cccCC...iiiiII      a small letter is a cycle of stall, a large one of issue, a dot is idle
```
"""

from __future__ import annotations

from dataclasses import dataclass

from rcv_py.model.code import CodeTable

MEANING = {
    "idle": "cycles between two instructions of a wave",
    "stall": "cycles an instruction waited to issue, waits included",
    "issue": "cycles of issuing (later than gfx9: of executing); of s_endpgm until its wave is gone",
}


@dataclass(frozen=True, slots=True)
class Activity:
    """Cycles of all traced waves; they add up to idle + latency over all code lines."""

    idle: int
    stall: int
    issue: int  # latency without stall

    @property
    def whole(self) -> int:
        """What the shares are taken of: latency + idle."""
        return self.idle + self.stall + self.issue

    @property
    def percent(self) -> tuple[float, float, float]:
        """Shares of idle, stall and issue in percent; all zero if nothing ran."""
        whole = max(self.whole, 1)
        return 100 * self.idle / whole, 100 * self.stall / whole, 100 * self.issue / whole


def activity(code: CodeTable) -> Activity:
    """Return the distribution over all code lines, as the code table counts them."""
    idle, stall, latency = (int(column.sum()) for column in (code.idle, code.stall, code.latency))
    return Activity(idle, stall, latency - stall)
