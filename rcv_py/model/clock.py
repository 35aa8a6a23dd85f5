"""Shader clocks: how they were put on one axis, and what a cycle is in nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class ClockSamples:
    """Moments at which one shader engine wrote both clocks, sorted by shader clock."""

    shader: np.ndarray  # int64 [n], cycles of that shader engine, not aligned
    realtime: np.ndarray  # int64 [n], ticks of the constant clock


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """What is known of time.

    `offsets` holds the cycles that were added to every time of a shader engine to align it (absent
    means 0); `ticks_per_cycle` is realtime ticks a shader cycle, 0.0 if unknown; `frequency` is the
    realtime clock in Hz.
    """

    frequency: int = 100_000_000
    samples: Mapping[int, ClockSamples] = field(default_factory=dict)
    offsets: Mapping[int, int] = field(default_factory=dict)
    ticks_per_cycle: float = 0.0
    is_aligned: bool = False

    @property
    def shader_hz(self) -> float:
        """Shader clock in Hz, 0.0 if unknown."""
        return self.frequency / self.ticks_per_cycle if self.ticks_per_cycle > 0 else 0.0

    def ns(self, cycles: float) -> float | None:
        """Return a duration in nanoseconds, or None if the rate is unknown."""
        return cycles * 1e9 / self.shader_hz if self.shader_hz else None
