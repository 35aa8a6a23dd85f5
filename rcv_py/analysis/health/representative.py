"""Whether the traced compute unit is like the others, for which only lifetimes of waves are known.

The lifetimes of waves on the traced SIMDs are compared with all others of the same kernel.
Waves that took an early exit show the cost of the exit, not of the kernel.
"""

from collections.abc import Collection

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies
from rcv_py.analysis.health.note import HealthNote, Measured, Setting, number, part, share
from rcv_py.analysis.health.traced_units import CU_BITS, MAX_TARGET, main_kernel, traced_lives
from rcv_py.analysis.waves.populations import Populations, ran_text
from rcv_py.base.problems import Severity
from rcv_py.base.record import Value
from rcv_py.base.text import Message, count, percent, plural
from rcv_py.model.trace import Trace

MOSTLY_UNEXECUTED = 0.1  # of the instructions ran: an early exit, not the kernel
MANY_LINES = 50  # with fewer instructions a share is not reliable
LONGER = 2.0  # times the life of the traced waves: longer waves elsewhere had work


def hardly_ran(trace: Trace) -> HealthNote | None:
    """Return a note if the traced waves left the kernel early; without costs that is not known."""
    code = trace.code
    rows, ran = int(np.count_nonzero(~code.is_label)), int(np.count_nonzero(code.hits > 0))
    if not len(trace.waves) or not ran or rows < MANY_LINES or ran > MOSTLY_UNEXECUTED * rows:
        return None
    hits = int(code.hits.sum())
    evidence = [
        part("instructions that ran", ran, rows),
        Measured("executions by wave", hits / len(trace.waves), f"{hits / len(trace.waves):,.1f}"),
    ]
    own, others, busiest, longest = _lives_elsewhere(trace)
    if others:
        text = Message("{0:,.0f} cycles on average, {1:,.0f} here", others, own)
        evidence.append(Measured("waves elsewhere live", others, text))
    settings: dict[str, Setting] = {"kernel_iteration_range": "[2]"}
    remedy = "Trace another launch, one in which the traced compute unit gets work."
    if longest > LONGER * own > 0:
        settings = {"att_target_cu": busiest}
        template = "Trace compute unit {0}, whose waves live {1:,.0f} cycles, or another launch."
        remedy = Message(template, busiest, longest)
    template = "The traced waves took an early exit: {0} of {1} instructions ran"
    return HealthNote(
        name="hardly_ran",
        title=Message(template, count(ran), count(rows)),
        evidence=tuple(evidence),
        consequence="Costs are of the early exit, not of the work of the kernel.",
        remedy=remedy,
        settings=settings,
    )


def _lives_elsewhere(trace: Trace) -> tuple[float, float, int, float]:
    """Mean life on traced places and elsewhere; the target with the longest mean life, and this life."""
    lives = residencies(trace.occupancy)
    here, life = traced_lives(trace, lives), (lives.end - lives.begin).astype(np.float64)
    if here.all() or not here.any():
        return 0.0, 0.0, -1, 0.0
    number = lives.cu.astype(np.int64) & CU_BITS
    allowed = ~here & (number <= MAX_TARGET)
    mean = np.bincount(number[allowed], life[allowed]) / np.maximum(np.bincount(number[allowed]), 1)
    best = int(np.argmax(mean)) if len(mean) else -1
    return float(life[here].mean()), float(life[~here].mean()), best, float(mean[best]) if len(mean) else 0.0


def left_early(ways: Populations) -> HealthNote | None:
    """Return a note if no traced wave works, or how many of them left early or are empty."""
    idle = int(ways.waves[~ways.is_working].sum())
    if not idle:
        return None
    rows = zip(ways.name, ways.waves.tolist(), ways.instructions, ways.is_working, strict=True)
    evidence = [
        Measured(name, waves, Message("{0} with {1:,.0f} executions each", plural(waves, "wave"), executions))
        for name, waves, executions, is_working in rows
        if not is_working
    ]
    if not ways.has_working:
        return HealthNote(
            name="no_working_waves",
            title="No traced wave did the work of the kernel",
            evidence=(Measured("instructions that ran", ways.ran, ran_text(ways)), *evidence),
            consequence="Costs are of an early exit: nothing is ranked.",
            remedy="Trace another dispatch, another compute unit or other shader engines.",
            settings={"kernel_iteration_range": "[2]"},
        )
    idle_share = float(ways.share[~ways.is_working].sum())
    text = "{0} of {1} did not do the work of the kernel"
    return HealthNote(
        name="early_waves",
        severity=Severity.INFO,
        title=Message(text, count(idle), plural(ways.read, "traced wave")),
        evidence=(*evidence, share("their part of the cycles", idle_share)),
        consequence="Tables and findings that explain leave them out; totals of code.json count them.",
        remedy="`--waves all` takes them in; rcv waves --populations lists the paths of waves.",
    )


# Two captures of the same binary differ by about 6 % per execution; a smaller gap may be noise.
GAP = 0.05
MIN_LIVES = 2  # lives on either side
WIDE = 2.0  # ratio of the longest tenth to the shortest: from here on no single wave is typical


class Representation(Value):
    """Comparison of the lives of traced waves with the others, in cycles."""

    traced: int  # lives on the traced SIMDs
    others: int
    mean: float
    mean_others: float
    shortest: int  # of all
    longest: int
    p10: float  # of all
    p90: float
    error: float  # standard error of the difference of means, as if waves were independent
    typical: int  # row of the traced wave whose life is nearest to the median of all, -1 without

    @property
    def gap(self) -> float:
        """By how much of the others' mean the traced mean is longer; negative if shorter."""
        return self.mean / self.mean_others - 1 if self.mean_others else 0.0

    @property
    def sigmas(self) -> float:
        """The difference in standard errors; 0 if there is no spread to measure it by."""
        return abs(self.mean - self.mean_others) / self.error if self.error else 0.0

    @property
    def spread(self) -> float:
        """Ratio of the 90th to the 10th percentile of all lives."""
        return self.p90 / self.p10 if self.p10 else 0.0


def representation(trace: Trace, working: Collection[int] | None = None) -> Representation | None:
    """Return the comparison; None if either side has fewer than two whole lives.

    The typical wave is chosen among `working`, rows of the wave index (None: all).
    """
    lives = residencies(trace.occupancy)
    if not len(lives) or not len(trace.waves):
        return None
    complete, here = _whole(trace, lives), traced_lives(trace, lives)
    life = (lives.end - lives.begin).astype(np.float64)
    own, others, both = life[complete & here], life[complete & ~here], life[complete]
    if len(own) < MIN_LIVES or len(others) < MIN_LIVES:
        return None
    variance = own.var(ddof=1) / len(own) + others.var(ddof=1) / len(others)
    # Not by `np.quantile`, which imports `numpy.ma`.
    ranks = np.array((0.1, 0.5, 0.9)) * (len(both) - 1)
    low, middle, high = np.interp(ranks, np.arange(len(both)), np.sort(both)).tolist()
    spans = trace.waves.end - trace.waves.begin
    rows = np.arange(len(spans)) if working is None else np.array(sorted(working), dtype=np.int64)
    return Representation(
        traced=len(own),
        others=len(others),
        mean=float(own.mean()),
        mean_others=float(others.mean()),
        shortest=int(both.min()),
        longest=int(both.max()),
        p10=low,
        p90=high,
        error=float(np.sqrt(variance)),
        typical=int(rows[np.argmin(np.abs(spans[rows] - middle))]) if len(rows) else -1,
    )


def representative(trace: Trace, working: Collection[int] | None = None) -> HealthNote | None:
    """Return a note if waves of the traced compute unit live longer or shorter than the others."""
    lives = representation(trace, working)
    if lives is None or abs(lives.gap) <= GAP:
        return None
    best, wave = _better_target(trace, lives.traced), str(trace.waves.id(lives.typical))
    remedy = Message("Compare several launches, and read one wave of median life, such as {0}.", wave)
    if best is not None:
        template = (
            "Trace compute unit {0}, whose waves were {1:.1f} % {3} than the others in this launch "
            "(the next may place them otherwise), or read one wave of median life, such as {2}."
        )
        remedy = Message(template, best[0], 100 * abs(best[1]), wave, "longer" if best[1] > 0 else "shorter")
    why = ", although all waves live about equally long."
    if lives.spread >= WIDE:
        why = Message(
            ": the work differs between waves, for a tenth of them live beyond {0} and a tenth "
            "below {1} cycles.",
            count(round(lives.p90)),
            count(round(lives.p10)),
        )
    text = "{0:.1f}, {1} what chance explains if waves were independent"
    chance = Message(text, lives.sigmas, "within" if lives.sigmas < 2 else "beyond")
    word = "longer" if lives.gap > 0 else "shorter"
    template = "The traced waves live {0} {1} than the others on average"
    return HealthNote(
        name="representative",
        title=Message(template, percent(abs(lives.gap), 1), word),
        evidence=(
            part("traced", lives.traced, lives.traced + lives.others, " waves"),
            number("their mean life", lives.mean, "{0} cycles"),
            number("mean of the others", lives.mean_others, "{0} cycles"),
            Measured("difference", lives.gap, f"{100 * lives.gap:+.1f} %"),
            Measured("in standard errors", round(lives.sigmas, 2), chance),
            number("shortest", lives.shortest, "{0} cycles"),
            number("longest", lives.longest, "{0} cycles"),
            Measured("wave of median life", wave, wave),
        ),
        consequence=Message("Costs of the traced waves may differ from the whole grid{0}", why),
        remedy=remedy,
        settings={} if best is None else {"att_target_cu": best[0]},
    )


def _better_target(trace: Trace, traced: int) -> tuple[int, float] | None:
    """The unit number, with at least as many waves, whose mean life is nearest to the mean of all others."""
    lives = residencies(trace.occupancy)
    complete = _whole(trace, lives)
    number, life = lives.cu[complete].astype(np.int64) & CU_BITS, (lives.end - lives.begin)[complete]
    waves, area = np.bincount(number), np.bincount(number, life)
    others = np.maximum(len(life) - waves, 1)
    gap = (area / np.maximum(waves, 1)) / np.maximum((area.sum() - area) / others, 1) - 1
    allowed = np.flatnonzero((waves >= traced) & (np.arange(len(waves)) <= MAX_TARGET))
    if not len(allowed):
        return None
    best = int(allowed[np.argmin(np.abs(gap[allowed]))])
    return (best, float(gap[best])) if abs(gap[best]) <= GAP else None


def _whole(trace: Trace, lives: Residencies) -> np.ndarray:
    return ~lives.is_open_start & ~lives.is_open_end & (lives.kernel == main_kernel(trace, lives))
