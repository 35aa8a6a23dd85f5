"""What to draw of one wave when a pixel stands for many cycles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STALLED = 0x10  # added to a kind: most of the bucket's cycles of that kind were stall
NOTHING = 0xFF  # no token in the bucket


@dataclass(frozen=True, slots=True, eq=False)
class WaveLod:
    """Buckets of 2^(shift + level) cycles, aligned to absolute time, halved in number at every level.

    Bucket i of level k covers the cycles of number `(base >> (shift + k)) + i`, that is
    `number << (shift + k)` up to the next one.  `kind[k]` (uint8) is the token kind with most cycles in the
    bucket, plus STALLED if most of those were stall, or NOTHING; idle never hides a token.  `state[k]`
    (uint8 [n, 4]) is the share of IDLE, EXEC, WAIT and STALL in 1/255; all zero outside the wave.
    """

    base: int  # cycles, aligned
    shift: int
    kind: tuple[np.ndarray, ...]
    state: tuple[np.ndarray, ...]

    @property
    def nbytes(self) -> int:
        """Bytes that are held in memory."""
        return sum(level.nbytes for level in (*self.kind, *self.state))

    def level(self, cycles_per_px: float) -> int:
        """The coarsest level whose bucket is not wider than a pixel; -1: use the tokens themselves."""
        return min(int(cycles_per_px).bit_length() - 1 - self.shift, len(self.kind) - 1)
