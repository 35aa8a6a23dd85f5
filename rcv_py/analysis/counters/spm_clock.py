"""On which clock performance monitors were sampled, and how their times come to the trace's axis.

They are recorded apart from the thread trace.  Their files do not say whether times are shader cycles of the
engine or ticks of the constant clock, so we look which of the two puts them beside the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np

from rcv_py.model.device import SpmSeries
from rcv_py.model.trace import Trace

_ROOM = 4.0  # lengths of the trace that samples may lie outside of it: they start early and end late


class SpmClock(Enum):
    """How the times of performance monitors were placed."""

    NONE = 0  # there are none
    SHADER = 1
    REALTIME = 2
    UNKNOWN = 3

    @property
    def sentence(self) -> str:
        """What a reader should know of it; "" if all is well."""
        return _SENTENCES.get(self, "")


_SENTENCES = {
    SpmClock.REALTIME: "Performance monitors were sampled on the constant clock; "
    "their times were converted to cycles.",
    SpmClock.UNKNOWN: "The clock of the performance monitors is unknown: their first sample is drawn "
    "where the trace begins; do not compare their times with those of instructions.",
}


def spm_clock(trace: Trace) -> tuple[SpmClock, Callable[[SpmSeries], np.ndarray]]:
    """Return which clock it is, and a function that gives the aligned times of a series, int64 cycles.

    Shader cycles get the same offset as everything else of the engine; ticks are converted with the engine's
    two clock samples (the first engine's for a counter of a whole die).
    """
    series = [one for one in trace.spm if len(one.time)]
    if not series:
        return SpmClock.NONE, lambda one: one.time
    offsets, samples = trace.clock.offsets, trace.clock.samples
    ways: tuple[tuple[SpmClock, Callable[[SpmSeries], np.ndarray]], ...] = (
        (SpmClock.SHADER, lambda one: one.time + (0 if one.is_xcc else offsets.get(one.se, 0))),
        (SpmClock.REALTIME, lambda one: _cycles(trace, one)),
    )
    usable = ways if samples and trace.clock.ticks_per_cycle > 0 else ways[:1]
    for clock, place in usable:
        if all(_is_beside(trace, place(one)) for one in series):
            return clock, place
    first = min(int(one.time.min()) for one in series)
    return SpmClock.UNKNOWN, lambda one: one.time - first + trace.span.begin


def _is_beside(trace: Trace, time: np.ndarray) -> bool:
    """Whether samples lie about where the trace does."""
    if not trace.has_times:
        return True
    room = max(_ROOM * trace.span.width, 1e6)
    return trace.span.begin - room <= float(time.min()) and float(time.max()) <= trace.span.end + room


def _cycles(trace: Trace, one: SpmSeries) -> np.ndarray:
    clock = trace.clock
    se = one.se if one.se in clock.samples and not one.is_xcc else min(clock.samples)
    ticks = one.time - clock.samples[se].realtime[0]
    cycles = np.rint(ticks / clock.ticks_per_cycle).astype(np.int64)
    return cycles + clock.samples[se].shader[0] + clock.offsets.get(se, 0)
