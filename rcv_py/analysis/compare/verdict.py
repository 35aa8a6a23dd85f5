"""What may be said of two captures as a whole, and in which words.

Cycles are compared at equal executions where the instructions are the same, and a wave where they are not.
Neither says that a kernel runs for a shorter time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rcv_py.base.text import count, plural

ASSUMED = 0.10  # what one workgroup may differ by from another run: nothing in a capture tells
# Two runs of one build differ by more than the waves of either tell: by some 5 % in what was measured.
LEAST_ALONE = 0.06  # so no smaller difference of a kernel is told without a twin
LEAST_TWIN = 0.02  # nor this with one
LEAST_COVERED = 0.5  # share of the cycles that both captures must have executed the instructions of
WORK_ALIKE = 0.05  # waves of two builds do the same work if their executions differ by less


class Verdict(Enum):
    """The value is what a program reads."""

    SAME = "no difference beyond noise"
    FEWER = "takes fewer cycles"
    MORE = "takes more cycles"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class Ratio:
    """What B takes over what A takes, and how far it may be off by chance; all shares, 1 is equal."""

    value: float
    noise: float

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return max(0.0, self.value - self.noise)

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.value + self.noise

    @property
    def direction(self) -> int:
        """-1 fewer, 1 more, 0 within the noise."""
        change = self.value - 1
        return 0 if abs(change) <= self.noise else 1 if change > 0 else -1


@dataclass(frozen=True, slots=True)
class KernelDelta:
    """The whole kernel: plain numbers of both captures, and both ratios."""

    waves: tuple[int, int]
    hits_per_wave: tuple[float, float]
    per_wave: tuple[float, float]  # cycles
    per_hit: tuple[float, float]  # cycles, executions of every instruction alike
    covered: tuple[float, float]  # share of the cycles in rows that could be compared
    work: float  # executions a wave of B over those of A, of instructions that both have; 1 is equal
    at_equal_hits: Ratio
    a_wave: Ratio


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict, what it is about (`hit` or `wave`, "" if nothing), and one sentence."""

    verdict: Verdict
    basis: str
    sentence: str


def judge(kernel: KernelDelta, is_same_isa: bool) -> Judgement:
    """Return the verdict on two captures that can be compared."""
    equal, wave = kernel.at_equal_hits, kernel.a_wave
    if min(kernel.covered) < LEAST_COVERED:
        return refuse(f"the waves of A and B execute mostly different instructions ({_amounts(kernel)})")
    if is_same_isa:
        return _of(equal, "hit")
    if abs(kernel.work - 1) <= WORK_ALIKE:  # the same work: both tell cycles a wave, one more surely
        return _of(min(wave, equal, key=lambda ratio: ratio.noise), "wave")
    if equal.direction == wave.direction:  # what both say is claimed, and no more than the smaller one
        is_wave = abs(wave.value - 1) <= abs(equal.value - 1)
        return _of(wave, "wave") if is_wave else _of(equal, "hit")
    return refuse(
        f"the builds differ, and so do the amounts their waves execute ({_amounts(kernel)}): "
        f"B takes {change(wave)} per wave but {change(equal)} at equal executions"
    )


def refuse(why: str) -> Judgement:
    """Return that two captures cannot be compared."""
    return Judgement(Verdict.NOT_COMPARABLE, "", f"Not comparable: {why}.")


def change(ratio: Ratio) -> str:
    """Return `3.1 % fewer cycles`."""
    return f"{100 * abs(ratio.value - 1):.1f} % {'fewer' if ratio.value < 1 else 'more'} cycles"


def _of(ratio: Ratio, basis: str) -> Judgement:
    per = "per hit, at equal executions" if basis == "hit" else "per wave"
    if not ratio.direction:
        text = (
            f"No difference beyond noise: {change(ratio)} {per}, and ±{100 * ratio.noise:.1f} % may be noise."
        )
        return Judgement(Verdict.SAME, basis, text)
    verdict = Verdict.MORE if ratio.direction > 0 else Verdict.FEWER
    text = f"B takes {change(ratio)} {per} (±{100 * ratio.noise:.1f} %)."
    return Judgement(verdict, basis, text)


def _amounts(kernel: KernelDelta) -> str:
    a, b = (count(round(hits)) for hits in kernel.hits_per_wave)
    return f"{a} and {b} instructions a wave"


def work_notes(kernel: KernelDelta) -> tuple[str, ...]:
    """Return what different numbers of waves, or of executions a wave, mean for the numbers."""
    a, b = kernel.waves
    notes = []
    if a != b:
        notes.append(f"A has {plural(a, 'wave')}, B {b:,}: totals differ by that alone, so none is compared.")
    if abs(kernel.hits_per_wave[1] / max(kernel.hits_per_wave[0], 1) - 1) > WORK_ALIKE:
        notes.append(f"The waves execute different amounts: {_amounts(kernel)}.")
    return tuple(notes)
