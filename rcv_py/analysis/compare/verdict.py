"""The verdict on two captures as a whole, and its wording.

The launch counts: its duration, from the first start of a wave to the last end.  The cost of waves is
reported next to it, at equal executions if the instructions are the same, else per wave; it decides only if
the launches do not differ beyond noise, and never against them.  If the number of waves or the work of a
wave differs, as with other tiles, nothing is reported per wave.
"""

from __future__ import annotations

from enum import Enum

from msgspec.structs import replace

from rcv_py.analysis.compare.costs import TracedLaunch
from rcv_py.base.record import Value
from rcv_py.base.text import Message, count, plural, uncapitalized

ASSUMED = 0.10  # assumed difference of a single workgroup between runs, which no capture shows
# Two runs of a build differ by more than the waves within a run: by some 5 % as measured.
MIN_ALONE = 0.06  # so no smaller difference of a kernel is reported without a replicate
MIN_REPLICATE = 0.02  # nor a smaller one than this with a replicate
MIN_COVERED = 0.5  # minimum share of the cycles in instructions that both captures executed
WORK_ALIKE = 0.05  # waves of two builds do the same work if their executions differ by less
WAVES_ALIKE = 0.02  # launches have the same number of waves if they differ by less


class Verdict(Enum):
    """The verdict; its value is for programs."""

    SAME = "no difference beyond noise"
    FEWER = "takes fewer cycles"
    MORE = "takes more cycles"
    NOT_COMPARABLE = "not comparable"


_DIRECTION = {-1: Verdict.FEWER, 1: Verdict.MORE}
_NO_DIFFERENCE = "No difference beyond noise"


class Ratio(Value):
    """Ratio of B to A and its uncertainty by chance; shares, 1 is equal."""

    value: float
    noise: float

    def beyond(self, replicate: Ratio) -> Ratio:
        """The ratio with noise at least as large as the replicate's difference from A."""
        return Ratio(self.value, max(self.noise, abs(replicate.value - 1)))

    @property
    def direction(self) -> int:
        """-1 fewer, 1 more, 0 within the noise."""
        change = self.value - 1
        return 0 if abs(change) <= self.noise else 1 if change > 0 else -1


class WorkPerWave(Value):
    """Work of a wave: the smallest and the largest value over groups of traced waves.

    Few waves of a launch are traced, and if their work varies (ragged batches, causal masks), their mean does
    not represent the launch.  So work differs only if the ranges do not touch.
    """

    low: float
    high: float
    unit: str  # "FLOP of MFMA or WMMA instructions" or "executed instructions"

    def times(self, waves: float) -> WorkPerWave:
        """The work of `waves` waves."""
        return WorkPerWave(self.low * waves, self.high * waves, self.unit)

    def is_like(self, other: WorkPerWave) -> bool:
        """Whether two ranges overlap or are less than 5 % apart."""
        near = 1 + WORK_ALIKE
        return self.low <= near * other.high and other.low <= near * self.high

    @property
    def middle(self) -> float:
        """The middle of the range."""
        return (self.low + self.high) / 2


class LaunchDelta(Value):
    """Both launches, and the ratio of B to A."""

    a: TracedLaunch
    b: TracedLaunch
    duration: Ratio
    wave_work: tuple[WorkPerWave, WorkPerWave] | None  # None if both have no unit of work in common

    @property
    def work(self) -> tuple[WorkPerWave, WorkPerWave] | None:
        """The work of both launches per shader engine."""
        if self.wave_work is None:
            return None
        a, b = self.wave_work
        return a.times(self.a.waves_per_engine), b.times(self.b.waves_per_engine)


class KernelDelta(Value):
    """The whole kernel: numbers of both captures, and ratios."""

    waves: tuple[int, int]
    hits_per_wave: tuple[float, float]
    per_wave: tuple[float, float]  # cycles
    per_hit: tuple[float, float]  # cycles, at equal executions of every instruction
    covered: tuple[float, float]  # share of the cycles in rows that could be compared
    work: float  # executions a wave, B over A, of instructions that both have; 1 is equal
    at_equal_hits: Ratio
    a_wave: Ratio
    equal: tuple[float, float]  # cycles a wave, both at the executions of A
    launch: LaunchDelta | None = None  # None if a capture has no launch that began and ended in it

    def beyond(self, replicate: KernelDelta) -> KernelDelta:
        """The numbers with noise at least as large as the replicate's difference from A."""
        launch = self.launch
        if launch is not None and replicate.launch is not None:
            launch = replace(launch, duration=launch.duration.beyond(replicate.launch.duration))
        equal, wave = self.at_equal_hits.beyond(replicate.at_equal_hits), self.a_wave.beyond(replicate.a_wave)
        return replace(self, at_equal_hits=equal, a_wave=wave, launch=launch)


class Judgement(Value):
    """The verdict, its basis (`launch`, `hit` or `wave`, "" if none), and a sentence."""

    verdict: Verdict
    basis: str
    sentence: str
    beside: str = ""  # a sentence on the other of launch and waves, or why it gives no result
    ratio: Ratio | None = None  # the ratio that decided; None if nothing can be compared


def judge(kernel: KernelDelta, is_same_isa: bool) -> Judgement:
    """Return the verdict on two comparable captures."""
    launch = kernel.launch
    if launch is None:
        return _by_wave(kernel, is_same_isa)
    works = launch.work
    if works is not None and not works[0].is_like(works[1]):
        return _of_other_work(kernel, launch, works, is_same_isa)
    why = why_not_per_wave(launch)
    if why:
        judged = _of_launch(launch)
        return replace(judged, beside=Message("Not comparable per wave: {0}.", why))
    return _together(launch, _by_wave(kernel, is_same_isa))


def why_not_per_wave(launch: LaunchDelta) -> str:
    """Return why cycles of a wave of A and of B cannot be compared, "" if they can."""
    if abs(launch.b.waves_per_engine / launch.a.waves_per_engine - 1) > WAVES_ALIKE:
        text = "the launch of A has {0}, the launch of B {1:,}"
        return Message(text, plural(launch.a.waves, "wave"), launch.b.waves)
    if launch.wave_work is not None and not launch.wave_work[0].is_like(launch.wave_work[1]):
        return Message("the work of a wave differs ({0})", _works(launch.wave_work))
    return ""


def _of_other_work(
    kernel: KernelDelta, launch: LaunchDelta, works: tuple[WorkPerWave, WorkPerWave], is_same_isa: bool
) -> Judgement:
    """The verdict on launches with different work: only executions of the same instructions compare."""
    text = "the launches do not do the same work ({0} a shader engine; {1} cycles)"
    why = Message(text, _works(works), _durations(launch))
    if not is_same_isa:
        return refuse(why)
    judged = _by_wave(kernel, is_same_isa)
    against = Verdict.MORE if launch.duration.value < 1 else Verdict.FEWER
    if judged.verdict in (Verdict.NOT_COMPARABLE, against):
        return refuse(why)
    return replace(judged, beside=Message("Launches are not compared: {0}.", why))


def _together(launch: LaunchDelta, waves: Judgement) -> Judgement:
    """The verdict of the launch; if it is within noise, waves may decide, but not against it."""
    judged = _of_launch(launch)
    if judged.verdict is Verdict.SAME and waves.verdict in (Verdict.MORE, Verdict.FEWER):
        is_fewer = waves.verdict is Verdict.FEWER
        if launch.duration.value == 1 or is_fewer == (launch.duration.value < 1):
            template = "The launch takes {0}, within noise ({1})."
            beside = Message(template, change(launch.duration), _durations(launch))
            return replace(waves, beside=beside)
    text = waves.sentence
    text = uncapitalized(text) if text.startswith(("No ", "Not ")) else text  # keep "B"
    return replace(judged, beside=Message("Traced waves: {0}", text))


def _of_launch(launch: LaunchDelta) -> Judgement:
    ratio = launch.duration
    numbers = Message("{0} ({1})", change(ratio), _durations(launch))
    noise = f"{100 * ratio.noise:.1f} %"
    if ratio.direction:
        sentence = Message("The launch of B takes {0}; up to {1} may be noise.", numbers, noise)
        return Judgement(_DIRECTION[ratio.direction], "launch", sentence, ratio=ratio)
    text = Message("{0}: the launch of B takes {1}, and ±{2} may be noise.", _NO_DIFFERENCE, numbers, noise)
    return Judgement(Verdict.SAME, "launch", text, ratio=ratio)


def _durations(launch: LaunchDelta) -> str:
    return Message("{0} in A, {1} in B", count(launch.a.duration), count(launch.b.duration))


def _works(works: tuple[WorkPerWave, WorkPerWave]) -> str:
    a, b = works
    return Message("{0:,.0f} in A, {1:,.0f} in B, {2}", a.middle, b.middle, a.unit)


def _by_wave(kernel: KernelDelta, is_same_isa: bool) -> Judgement:
    """The verdict of the traced waves alone."""
    equal, wave = kernel.at_equal_hits, kernel.a_wave
    if min(kernel.covered) < MIN_COVERED:
        text = "the waves of A and B execute mostly different instructions ({0})"
        return refuse(Message(text, _amounts(kernel)))
    if is_same_isa:
        return _of(equal, "hit", kernel)
    if abs(kernel.work - 1) <= WORK_ALIKE:  # equal work: both are cycles a wave, one of them more certain
        return _of(min(wave, equal, key=lambda ratio: ratio.noise), "wave", kernel)
    if equal.direction == wave.direction:  # claim what both agree on: the smaller change
        is_wave = abs(wave.value - 1) <= abs(equal.value - 1)
        return _of(wave, "wave", kernel) if is_wave else _of(equal, "hit", kernel)
    text = (
        "the builds differ, and so do the amounts their waves execute ({0}): B takes {1} "
        "per wave but {2} at equal executions"
    )
    return refuse(Message(text, _amounts(kernel), change(wave), change(equal)))


def refuse(why: str) -> Judgement:
    """Return the judgement that two captures cannot be compared."""
    return Judgement(Verdict.NOT_COMPARABLE, "", Message("Not comparable: {0}.", why))


def change(ratio: Ratio) -> str:
    """Return `3.1 % fewer cycles`."""
    if ratio.value == 1:
        return "as many cycles"
    return Message("{0:.1f} % {1} cycles", 100 * abs(ratio.value - 1), "fewer" if ratio.value < 1 else "more")


def _of(ratio: Ratio, basis: str, kernel: KernelDelta) -> Judgement:
    per = "per hit, at equal executions" if basis == "hit" else "per wave"
    a, b = kernel.per_wave if ratio is kernel.a_wave else kernel.equal
    numbers = Message("{0} in A, {1} in B, cycles per wave", count(round(a)), count(round(b)))
    noise = f"±{100 * ratio.noise:.1f} %"
    if ratio.direction:
        text = Message("B takes {0} {1} ({2}; {3}).", change(ratio), per, numbers, noise)
        return Judgement(_DIRECTION[ratio.direction], basis, text, ratio=ratio)
    template = "{0}: {1} {2} ({3}), and {4} may be noise."
    text = Message(template, _NO_DIFFERENCE, change(ratio), per, numbers, noise)
    return Judgement(Verdict.SAME, basis, text, ratio=ratio)


def _amounts(kernel: KernelDelta) -> str:
    a, b = (count(round(hits)) for hits in kernel.hits_per_wave)
    return Message("{0} and {1} instructions per wave", a, b)


def work_notes(kernel: KernelDelta) -> tuple[str, ...]:
    """Return notes on different numbers of waves, or of executions a wave."""
    a, b = kernel.waves
    notes = []
    if a != b:
        text = "A has {0}, B {1:,}: totals differ by that alone, so none is compared."
        notes.append(Message(text, plural(a, "traced wave"), b))
    if abs(kernel.hits_per_wave[1] / max(kernel.hits_per_wave[0], 1) - 1) > WORK_ALIKE:
        notes.append(Message("The waves execute different amounts: {0}.", _amounts(kernel)))
    return tuple(notes)
