"""The numbers of two kernels as a whole.

The instruction that ends a wave is left out: its latency is how long the record of the wave went on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.analysis.compare.align import Alignment
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.deltas import Rates
from rcv_py.analysis.compare.launch import chance
from rcv_py.analysis.compare.noise import drawn
from rcv_py.analysis.compare.verdict import ASSUMED, KernelDelta, LaunchDelta, Ratio, Work
from rcv_py.analysis.program.matrix_flops import flops_of

END = "s_endpgm"
MATRIX, EXECUTED = "FLOP of MFMA or WMMA instructions", "executed instructions"


@dataclass(frozen=True, eq=False)
class _Side:
    """One capture over the listing."""

    costs: CaptureCosts
    rates: Rates
    row: np.ndarray  # code row of each row of the listing, -1 for none

    @cached_property
    def works(self) -> np.ndarray:
        """Whether a row is an instruction of this side that does not end the wave, bool."""
        is_end = np.array([text.startswith(END) for text in self.costs.code.text], dtype=bool)
        return (self.row >= 0) & ~np.append(is_end, False)[self.row]

    @cached_property
    def used(self) -> np.ndarray:
        """The rows that count at equal executions."""
        return np.flatnonzero(self.works & (self.rates.weight > 0))

    @property
    def value(self) -> float:
        """Cycles a wave at the executions of A."""
        return float(self.rates.value[self.used].sum())

    @property
    def cycles(self) -> np.ndarray:
        """Cycles of each group of waves, float64 [g]."""
        return self.rates.cycles[:, self.works].sum(axis=1)

    @property
    def per_wave(self) -> float:
        """Cycles a wave, of all instructions."""
        return float(self.cycles.sum()) / self.costs.wave_count

    @property
    def covered(self) -> float:
        """Share of the cycles in rows that count at equal executions."""
        return float(self.rates.cycles[:, self.used].sum()) / max(float(self.cycles.sum()), 1.0)

    @property
    def at_hits(self) -> tuple[np.ndarray, np.ndarray]:
        """Counts, such that all of them are the executions of A, and cycles of each group; [g, rows]."""
        count = self.rates.count[:, self.used]
        scale = self.rates.weight[self.used] / np.maximum(count.sum(axis=0), 1)
        return count * scale, self.rates.cycles[:, self.used]

    @property
    def at_waves(self) -> tuple[np.ndarray, np.ndarray]:
        """Waves and cycles of each group; [g, 1]."""
        return self.costs.waves[:, None].astype(float), self.cycles[:, None]


def whole(
    sides: tuple[CaptureCosts, CaptureCosts],
    both: tuple[Rates, Rates],
    found: Alignment,
    rng: np.random.Generator,
    least: float,
    *,
    twin: KernelDelta | None = None,
) -> KernelDelta:
    """Return the kernel's numbers; noise is the largest of interval, `least` and what the twin differs by."""
    a, b = (_Side(*parts) for parts in zip(sides, both, found.listing, strict=True))
    floor = max(least, ASSUMED if any(side.is_by_wave for side in sides) and twin is None else 0.0)
    paired = (a.row >= 0) & (b.row >= 0)
    work = [float(side.rates.count[:, paired].sum()) / side.costs.wave_count for side in (a, b)]
    hits = [float(side.costs.hits.sum()) for side in (a, b)]
    equal = _ratio((a.value, b.value), drawn(sides, (a.at_hits, b.at_hits), rng), floor)
    wave = _ratio((a.per_wave, b.per_wave), drawn(sides, (a.at_waves, b.at_waves), rng), floor)
    return KernelDelta(
        (a.costs.wave_count, b.costs.wave_count),
        (hits[0] / a.costs.wave_count, hits[1] / b.costs.wave_count),
        (a.per_wave, b.per_wave),
        (float(a.cycles.sum()) / hits[0], float(b.cycles.sum()) / hits[1]),
        (a.covered, b.covered),
        work[1] / work[0] if work[0] else 1.0,
        equal if twin is None else _beyond(equal, twin.at_equal_hits),
        wave if twin is None else _beyond(wave, twin.a_wave),
        (a.value, b.value),
        _launches(sides, found.is_same, rng, least, None if twin is None else twin.launch),
    )


def _launches(
    sides: tuple[CaptureCosts, CaptureCosts],
    is_same_isa: bool,
    rng: np.random.Generator,
    least: float,
    twin: LaunchDelta | None,
) -> LaunchDelta | None:
    """Both launches, None unless both began and ended in their traces."""
    a, b = (side.launch for side in sides)
    if a is None or b is None or a.is_cut or b.is_cut:
        return None
    value = b.duration / a.duration
    ratio = Ratio(value, max(least, value * float(np.hypot(chance(a, rng), chance(b, rng)))))
    return LaunchDelta(
        a, b, ratio if twin is None else _beyond(ratio, twin.duration), work_of(sides, is_same_isa)
    )


def work_of(sides: tuple[CaptureCosts, CaptureCosts], is_same_isa: bool) -> tuple[Work, Work] | None:
    """Return what a wave of each side does, in the best unit that both have.

    Matrix operations are the same for any tiling; executed instructions only where the program is the same.
    """
    flops = [side.hits @ flops_of(side.code) / np.maximum(side.waves, 1) for side in sides]
    if all(one.any() for one in flops):
        return _work(flops[0], MATRIX), _work(flops[1], MATRIX)
    if any(one.any() for one in flops) or not is_same_isa:
        return None
    hits = [side.hits.sum(axis=1) / np.maximum(side.waves, 1) for side in sides]
    return _work(hits[0], EXECUTED), _work(hits[1], EXECUTED)


def _work(each: np.ndarray, unit: str) -> Work:
    return Work(float(each.min()), float(each.max()), unit)


def _ratio(value: tuple[float, float], spread: float, floor: float) -> Ratio:
    ratio = value[1] / value[0] if value[0] else 1.0
    return Ratio(ratio, max(floor, ratio * spread))


def _beyond(ratio: Ratio, twin: Ratio) -> Ratio:
    return Ratio(ratio.value, max(ratio.noise, abs(twin.value - 1)))
