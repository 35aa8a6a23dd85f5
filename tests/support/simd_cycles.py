"""What each SIMD did in every cycle, told by a simple and slow method: one cell a cycle."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch

# Cycles by ANALYSIS 10.4; the scaled forms of the captures have operands of 4 bits (cbsz:4 blgp:4) or of 8.
PASSES = {
    "v_mfma_f32_32x32x16_bf16": 32,
    "v_mfma_f32_32x32x8_f16": 32,
    "v_mfma_f32_16x16x16_f16": 16,
    "v_wmma_f32_16x16x16_f16": 32,  # gfx11: 4096 multiply-adds, 128 a cycle
}
END = 4  # cycles in which s_endpgm issues
GFX12 = {"v_wmma_f32_16x16x16_f16": 16}  # twice as many multiply-adds a cycle


def passes_of(text: str, gfxip: int = 9) -> int:
    """Cycles of a matrix instruction of the captures."""
    if gfxip == 12:
        return GFX12[text.split(" ", 1)[0]]
    if text.startswith("v_mfma_scale_f32_16x16x128_f8f6f4"):
        return 16 if "cbsz:4" in text and "blgp:4" in text else 32
    return PASSES[text.split(" ", 1)[0]]


def worked(issued: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """When a matrix pipe works on instructions of (issue, cycles): in order of issue, one after another."""
    spans, free = [], 0
    for issue, cycles in sorted(issued, key=lambda one: one[0]):
        free = max(free, issue) + cycles
        spans.append((free - cycles, free))
    return spans


class Cells:
    """Which cycles some spans cover: `low` is the first cycle."""

    def __init__(self, low: int, high: int) -> None:
        self._low, self._steps = low, np.zeros(high - low + 2, dtype=np.int32)

    def add(self, begin: np.ndarray, end: np.ndarray) -> None:
        """Cover the cycles of these spans; those that end before they begin cover nothing."""
        size = len(self._steps) - 1
        begin, end = (
            np.clip(np.asarray(time) - self._low, 0, size) for time in (begin, np.maximum(begin, end))
        )
        np.add.at(self._steps, begin, 1)
        np.add.at(self._steps, end, -1)

    @property
    def covered(self) -> np.ndarray:
        """Whether each cycle is covered, bool."""
        return np.cumsum(self._steps)[:-1] > 0


@dataclass(frozen=True)
class Simd:
    """One SIMD of a capture, with the waves that were traced on it."""

    trace: Trace
    waves: list[TracedWave]

    @cached_property
    def low(self) -> int:
        """The first cycle."""
        return min(min(wave.begin, int(wave.tokens.start.min(initial=wave.begin))) for wave in self.waves)

    @cached_property
    def high(self) -> int:
        """The last cycle."""
        return max(max(wave.end, int(wave.tokens.end.max(initial=wave.end))) for wave in self.waves)

    def cells(self) -> Cells:
        """No cycle of it."""
        return Cells(self.low, self.high)

    @cached_property
    def resident(self) -> np.ndarray:
        """Cycles with a wave."""
        found = self.cells()
        found.add(*(np.array([getattr(wave, name) for wave in self.waves]) for name in ("begin", "end")))
        return found.covered

    @cached_property
    def issue(self) -> np.ndarray:
        """Cycles in which a wave issues."""
        found = self.cells()
        for wave in self.waves:
            tokens, text = wave.tokens, self.trace.code.text
            busy = tokens.end - tokens.start - tokens.stall
            is_end = np.array(
                [line >= 0 and text[line].startswith("s_endpgm") for line in tokens.line.tolist()]
            )
            if len(busy):
                busy = np.where(is_end, np.minimum(busy, END), busy)
            found.add(tokens.start + tokens.stall, tokens.start + tokens.stall + busy)
        return found.covered

    @cached_property
    def matrix(self) -> np.ndarray:
        """Cycles in which the matrix unit works: each instruction behind the one before."""
        issued = []
        for wave in self.waves:
            tokens = wave.tokens
            at = np.flatnonzero(tokens.kind == TokenKind.MATRIX)
            issued += zip((tokens.start + tokens.stall)[at].tolist(), tokens.line[at].tolist(), strict=True)
        begins, ends, free = [], [], self.low
        for issue, line in sorted(issued):
            begins.append(max(issue, free))
            free = begins[-1] + passes_of(self.trace.code.text[line], self.trace.gfxip)
            ends.append(free)
        found = self.cells()
        found.add(np.array(begins, dtype=np.int64), np.array(ends, dtype=np.int64))
        return found.covered

    @cached_property
    def nothing(self) -> np.ndarray:
        """Cycles with a wave in which none issues and the matrix unit does not work."""
        return self.resident & ~self.issue & ~self.matrix

    def waiting(self, rows: Iterable[int]) -> np.ndarray:
        """Cycles in which a wave stalls in one of these instructions or is idle in front of it."""
        wanted, found = np.zeros(len(self.trace.code) + 1, dtype=bool), self.cells()
        wanted[list(rows)] = True
        line, before, start, issue = self._waits
        at = np.flatnonzero(wanted[line])
        found.add(start[at], issue[at])
        found.add(before[at], start[at])
        return found.covered

    @cached_property
    def _waits(self) -> list[np.ndarray]:
        """Instruction, end of what ran before, start and issue of all executions."""
        parts = [
            (
                wave.tokens.line,
                np.maximum.accumulate(np.append(wave.begin, wave.tokens.end))[:-1],
                wave.tokens.start,
                wave.tokens.start + wave.tokens.stall,
            )
            for wave in self.waves
        ]
        return [np.concatenate([part[i] for part in parts]) for i in range(4)]


def simds(trace: Trace, batches: Iterable[WaveBatch]) -> list[Simd]:
    """The SIMDs of some waves."""
    found: dict[tuple[int, int], list[TracedWave]] = {}
    for batch in batches:
        for wave in batch.waves:
            found.setdefault((wave.id.se, wave.id.simd), []).append(wave)
    return [Simd(trace, found[place]) for place in sorted(found)]
