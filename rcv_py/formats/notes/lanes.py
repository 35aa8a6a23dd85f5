"""Waves and times in WaveScope's terms: a slot of a SIMD, and cycles of its shader engine's clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex
from rcv_py.model.window import TimeWindow

Lane = tuple[int, int, int]  # shader engine, SIMD, slot


@dataclass(frozen=True, slots=True, eq=False)
class SlotClocks:
    """The slots and clocks of a capture; empty without a capture."""

    waves: WaveIndex | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, trace: Trace) -> SlotClocks:
        """Return the lanes of a capture."""
        return cls(waves=trace.waves, offsets=trace.clock.offsets)

    def offset(self, se: int) -> int:
        """Return the cycles that were added to a shader engine's times to align it."""
        return self.offsets.get(se, 0)

    def wave(self, lane: Lane, span: TimeWindow | None) -> WaveId | None:
        """Return the wave of a slot with the longest overlap with a time, the first of equals.

        Without a time it is the only wave of the slot; None if there are several, or none.
        """
        if self.waves is None:
            return None
        index = self.waves
        se, simd, slot = lane
        rows = np.flatnonzero((index.se == se) & (index.simd == simd) & (index.slot == slot))
        if span is not None:
            common = np.minimum(index.end[rows], span.end) - np.maximum(index.begin[rows], span.begin)
            rows = rows[common == common.max(initial=1)][:1]
        return index.id(int(rows[0])) if len(rows) == 1 else None


NO_LANES = SlotClocks()
