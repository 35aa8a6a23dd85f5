"""The launch that a capture is of: how long it ran, with how many waves on the device, for how much work.

Traced are the waves of one compute unit, but `occupancy.json` has the start and the end of every wave of the
traced shader engines.  So two builds with other tiles can be compared although their waves cannot.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies
from rcv_py.model.trace import Trace

DRAWN = 4_000_000  # lives, over all draws
SIDES = 1.96  # standard deviations that a 95 % interval reaches to either side
# A launch ends with its last wave, and drawing from 16 to 256 lives makes the last vary too little by this.
OF_A_MAXIMUM = 1.6


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch as the trace saw it, on all compute units of the traced shader engines."""

    duration: int  # cycles from the first start of a wave to the last end
    waves: int
    wave_cycles: int  # cycles that these waves lived, summed
    engines: tuple[int, ...]  # shader engines that had a wave
    is_cut: bool  # a wave was there before the trace began, or nobody saw it end
    begin: np.ndarray = field(compare=False, repr=False)  # int64 [waves], cycles since the first start
    life: np.ndarray = field(compare=False, repr=False)  # int64 [waves], cycles

    @property
    def per_wave(self) -> float:
        """Mean life of a wave, cycles."""
        return self.wave_cycles / self.waves

    @property
    def waves_per_engine(self) -> float:
        """Waves on one of the shader engines that the trace saw: captures may have traced other numbers."""
        return self.waves / max(1, len(self.engines))


def launch_of(trace: Trace) -> Launch | None:
    """Return the launch of the capture's kernel; None if no file says when waves began and ended.

    Where several kernels ran, only waves of those with the name of the capture's kernel count.
    """
    lives = residencies(trace.occupancy)
    own = _own(trace, lives)
    if not len(own):
        return None
    begin, end = lives.begin[own], lives.end[own]
    duration, life = int(end.max() - begin.min()), end - begin
    if duration <= 0:
        return None
    return Launch(
        duration,
        len(own),
        int(life.sum()),
        tuple(np.unique(lives.se[own]).tolist()),
        bool((lives.is_open_start[own] | lives.is_open_end[own]).any()),
        begin - begin.min(),
        life,
    )


def chance(launch: Launch, rng: np.random.Generator) -> float:
    """Return by which share of its duration a launch could differ by chance alone: a 95 % interval.

    Waves start when they did and live as long as another wave of the launch, drawn with replacement.  Lives
    that differ because their work does, not by chance, make that more than it is, never less.
    """
    # However lives are drawn, one of these is the last: all others end before some wave can at the earliest.
    may_be_last = launch.begin + launch.life.max() >= (launch.begin + launch.life.min()).max()
    begin = launch.begin[may_be_last]
    draws = int(np.clip(DRAWN // len(begin), 32, 400))
    ends = [int((begin + launch.life[rng.integers(0, launch.waves, len(begin))]).max()) for _ in range(draws)]
    return SIDES * OF_A_MAXIMUM * float(np.std(ends)) / launch.duration


def _own(trace: Trace, lives: Residencies) -> np.ndarray:
    """Rows of the residencies that are waves of the capture's kernel; all of them if no name fits."""
    same = [one for one in trace.code.kernels if one.demangled == trace.kernel_name]
    said = {name for one in same for name in (one.name, one.demangled)}
    ids = [number for number, name in trace.occupancy.names.items() if name and name in said]
    own = np.flatnonzero(np.isin(lives.kernel, ids))
    return own if len(own) else np.arange(len(lives))
