"""A prediction as a change of the kernel's duration, cut at the bound of the finding that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, nan
from typing import TYPE_CHECKING, NamedTuple

from rcv_py.analysis.findings.finding import RANKED, Finding, Findings, RemedyExperiment
from rcv_py.analysis.whatif.changes import Change, Free, Latency, NoBarrier

if TYPE_CHECKING:  # it imports a compiler
    from rcv_py.analysis.whatif.predict import Player, Prediction

LEAST = 0.0005  # of the kernel's duration: less is shown as 0.0 %
BARRIERS = "barrier-skew"
BASE = (
    "Changes and bounds are parts of the kernel's duration: a change of the span of the traced units counts "
    "for the part in which their waves were resident. A range covers guesses and units."
)


class KernelChange(NamedTuple):
    """A predicted change of the kernel's duration, 1 being all of it; below 0 it takes less."""

    share: float
    low: float  # the least and the greatest under all guesses
    high: float
    bound: float = nan  # the most that the finding of the change can gain; nan: it belongs to none
    finding: str = ""  # the title of that finding
    replayed: float = nan  # the change by the replay alone, where it is cut at the bound; else nan


def kernel_change(found: Findings, prediction: Prediction, finding: Finding | None) -> KernelChange:
    """Return a prediction as a change of the kernel's duration, with the bound of a finding, if there is one.

    A change of the span of the traced compute units counts for the part of the kernel's duration in which
    traced waves were resident.  It is cut at the bound, as an experiment also removes what its instructions
    waited for other reasons; of a finding without a bound at idle cycles.
    """
    part = found.working_share
    shares = (prediction.share, prediction.low, prediction.high)
    idle = found.no_issue / found.resident * part if found.resident else 1.0
    most = inf if finding is None else finding.gain if finding.is_upper_bound else max(idle, finding.gain)
    share, low, high = (max(-most, part * one) for one in shares)
    replayed = part * prediction.share
    return KernelChange(
        share,
        low,
        high,
        bound=nan if finding is None or not finding.is_upper_bound else finding.gain,
        finding="" if finding is None else finding.title,
        replayed=replayed if replayed < -most - LEAST else nan,
    )


def finding_of_changes(found: Findings, changes: Sequence[Change]) -> Finding | None:
    """Return the finding whose cycles these changes are about; None if that is no single finding."""
    wanted = tuple(changes)
    ranked = [(one, one.trial) for one in found.findings if one.rank == RANKED and one.trial is not None]
    for one, trial in ranked:
        if wanted in (trial.changes, *trial.limits):
            return one
    if wanted and all(isinstance(change, NoBarrier) for change in wanted):
        return next((one for one, _ in ranked if one.name == BARRIERS), None)
    is_about = (one for one, trial in ranked if wanted and all(_is_within(trial, each) for each in wanted))
    return next(is_about, None)


def _is_within(trial: RemedyExperiment, change: Change) -> bool:
    """Whether a change spares no more than a limit of the trial: some of its instructions."""
    if not isinstance(change, Free | Latency) or not change.lines:
        return False
    if isinstance(change, Latency) and change.cycles is None and change.factor > 1:
        return False
    return any(
        isinstance(limit, type(change)) and set(change.lines) <= set(limit.lines)
        for changes in trial.limits
        for limit in changes
        if isinstance(limit, Free | Latency)
    )


def of_kernel(
    found: Findings, player: Player, experiments: Iterable[Sequence[Change]]
) -> tuple[list[Prediction], list[KernelChange]]:
    """Return experiments and their changes of the kernel's duration, the largest gain first."""
    played = [(player.predict(changes), finding_of_changes(found, changes)) for changes in experiments]
    made = [(one, kernel_change(found, one, finding)) for one, finding in played]
    made.sort(key=lambda pair: pair[1].share)
    return [one for one, _ in made], [one for _, one in made]
