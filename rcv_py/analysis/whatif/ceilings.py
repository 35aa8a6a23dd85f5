"""What no change can exceed: the rate of memory, and the waves that fit on a SIMD."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rcv_py.analysis.attribution.lines import VMEM
from rcv_py.analysis.whatif.changes import Change, Free, MoreWaves
from rcv_py.analysis.whatif.wave_slots import residents
from rcv_py.base.record import Value
from rcv_py.base.text import Message, plural

if TYPE_CHECKING:  # their imports take a while
    from rcv_py.analysis.attribution.stream import TokenStream
    from rcv_py.analysis.whatif.recording import Recording

CACHED = 1.5  # of the rate of memory: a compute unit that requests more is served by caches
WAITS = 0.5  # of the stall waits for vector memory: memory is what a compute unit waits for


class Ceilings(Value):
    """Limits of the device and the launch."""

    roof: float | None = None  # bytes that memory delivers a compute unit and cycle; None: unknown
    fit: int = 0  # waves that fit on a SIMD: slots, registers and LDS; 0: unknown

    def fitted(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Return changes that add no more waves than fit."""
        return tuple(
            replace(one, most=self.fit) if isinstance(one, MoreWaves) and not one.most else one
            for one in changes
        )

    def least(self, stream: TokenStream, recording: Recording, span: int, changes: Sequence[Change]) -> int:
        """Return the cycles that memory needs at least for a compute unit that took `span`; 0 if unknown.

        All requested bytes count.  A unit that requests more than memory delivers is served by caches, unless
        it requests little more and waits for memory most: then it is at the roof, and gains nothing.
        """
        if not self.roof or not span:
            return 0
        left_out = {line for one in changes if isinstance(one, Free) for line in one.lines}
        requested = int(recording.requested.sum())
        rate = requested / span / self.roof
        kept = requested - sum(
            int(recording.requested[line]) for line in left_out if 0 <= line < recording.rows
        )
        if rate > 1 and not (rate <= CACHED and _memory_waits(stream) >= WAITS):
            return 0
        return min(span, -int(-kept // self.roof))

    def sentences(self, recordings: Sequence[Recording], changes: Sequence[Change]) -> Iterator[str]:
        """Yield what keeps waves from being added as requested."""
        for one in changes:
            if not isinstance(one, MoreWaves) or not recordings:
                continue
            every = [residents(each, one.more, one.most) for each in recordings]
            found = max(every, key=lambda each: each.room)
            if not found.added:
                yield Message("no more waves fit: {0} fit on a SIMD, {1} were resident", one.most, found.room)
            elif found.added != one.more:
                yield Message(
                    "{0} per SIMD were added: whole workgroups, {1} of each on a SIMD, as far as they fit",
                    plural(found.added, "wave"),
                    plural(found.group, "wave"),
                )


def _memory_waits(stream: TokenStream) -> float:
    """Return the part of the stall that waits for vector memory, 0 to 1."""
    stall = stream.issue - stream.start
    is_memory = stream.unit == VMEM
    waits = stream.links.token[stream.links.row_of][is_memory[stream.links.producers]]
    is_meant = is_memory.copy()
    is_meant[waits] = True
    return float(stall[is_meant].sum() / max(1, stall.sum()))
