"""How the launch filled the device over time: what shares of SIMDs are turned into shares of the kernel by.

```
SIMD 0   ██████████████      duration: first start of a wave to last end, on all SIMDs that the trace saw
SIMD 1   ███████
SIMD 2                       never held a wave: the grid under-fills the device
         ├── working ──┤     cycles in which any traced wave was resident
```
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.occupancy import residencies
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace

SIMDS = 4  # of a compute unit, and of a work-group processor


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """A launch in cycles and SIMDs."""

    duration: int  # cycles from the first start of a wave to the last end, on all SIMDs that the trace saw
    working: int  # of them, cycles in which at least one traced wave that counts was resident
    used: int  # SIMDs that held a wave at any time
    simds: int  # SIMDs of the shader engines that were seen; `used` where no table tells their number
    occupied: int  # cycles in which a SIMD held a wave, summed over SIMDs

    @property
    def working_share(self) -> float:
        """Part of the duration in which traced waves were resident, 0 to 1."""
        return min(1.0, self.working / self.duration) if self.duration else 0.0

    @property
    def empty_share(self) -> float:
        """Part of the SIMD cycles of the launch in which the SIMD held no wave, 0 to 1."""
        whole = self.duration * self.simds
        return max(0.0, 1.0 - self.occupied / whole) if whole else 0.0

    @property
    def unused_share(self) -> float:
        """Part of the SIMDs that never held a wave, 0 to 1."""
        return 1.0 - self.used / self.simds if self.simds else 0.0


def launch_shape(trace: Trace, facts: RunFacts | None = None, rows: np.ndarray | None = None) -> LaunchShape:
    """Return the shape of the launch, by the occupancy record, else by the lives of the traced waves.

    `rows` are the rows of the wave index that count as traced, None for all.
    """
    index = trace.waves
    lives = residencies(trace.occupancy)
    source = lives if len(lives) else index
    begin, end = source.begin.astype(np.int64), np.maximum(source.begin, source.end).astype(np.int64)
    if not len(begin):
        return LaunchShape(0, 0, 0, 0, 0)
    engine, unit, simd = (getattr(source, name).astype(np.int64) for name in ("se", "cu", "simd"))
    array = np.maximum(0, source.sa).astype(np.int64)
    place = ((engine * 16 + array) * 1024 + np.maximum(0, unit)) * 16 + simd
    low, high = int(begin.min()), int(end.max())
    distinct, of = np.unique(place, return_inverse=True)
    shift = of.reshape(-1) * (high - low + 1) - low
    occupied = IntervalSet.of(begin + shift, end + shift).total
    working = 0
    counted = np.arange(len(index)) if rows is None else rows
    if len(counted):
        first, last = index.begin[counted], index.end[counted]
        working = IntervalSet.of(first, np.maximum(first, last)).total
    return LaunchShape(high - low, working, len(distinct), _simds(engine, len(distinct), facts), occupied)


def _simds(engine: np.ndarray, used: int, facts: RunFacts | None) -> int:
    """SIMDs of the shader engines that waves were seen on."""
    agent = None if facts is None else facts.agent
    if agent is None or not agent.engines or not agent.cus:
        return used
    return max(used, agent.cus // agent.engines * len(np.unique(engine)) * (agent.simds_per_cu or SIMDS))
