"""Predictions as changes of the kernel's duration, and findings ranked by what they are predicted to gain.

Each trial is replayed; a prediction is cut at the bound of the finding that it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from math import inf, nan
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rcv_py.analysis.findings.finding import (
    CALM,
    RANKED,
    RANKING,
    SMALL,
    Finding,
    Findings,
    Predicted,
    RemedyAdvice,
    RemedyExperiment,
    place_of,
    signed_percent,
)
from rcv_py.analysis.whatif.changes import Change, Free, Latency, NoBarrier
from rcv_py.base.errors import UsageError
from rcv_py.base.progress import Report, Stage, silent
from rcv_py.base.record import Value
from rcv_py.base.text import Message, capitalized, join_texts

if TYPE_CHECKING:  # it imports a compiler
    from rcv_py.analysis.whatif.predict import Player, Prediction

LEAST = 0.0005  # of the kernel's duration: less is shown as 0.0 %
BARRIERS = "barrier-skew"
BASE = (
    "Changes and bounds are parts of the kernel's duration: a change of the span of the traced units counts "
    "for the part in which their waves were resident. A range covers guesses and units."
)
NOTHING_HELPS = (
    "No remedy of a finding would gain 2 % of the kernel's duration: by replaying the "
    "recording, or by its bound."
)
NONE_ADVISED = "No remedy is advised."
MOVES = {"hoist-batch", "hoist"}  # of these the one that gains more
SLOWER = "In a replay, the kernel takes {0} longer with this change: {1}."


class KernelChange(Value):
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
    cut = replayed if replayed < -most - LEAST else nan
    if finding is None:
        return KernelChange(share, low, high, replayed=cut)
    bound = finding.gain if finding.is_upper_bound else nan
    return KernelChange(share, low, high, bound=bound, finding=finding.title, replayed=cut)


def finding_of_changes(found: Findings, changes: Sequence[Change]) -> Finding | None:
    """Return the finding whose cycles these changes are about; None if that is not a single finding."""
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


def predicted(found: Findings, player: Player, report: Report = silent) -> Findings:
    """Return findings with predictions, the largest predicted gain first.

    A change of the span of the traced compute units counts for the part of the kernel's duration in which
    traced waves were resident.
    """
    trials, tried = _Trials(found, player), list[Finding]()
    for done, finding in enumerate(found.findings):
        report(Stage(RANKING, done, len(found.findings)))
        tried.append(trials.tried(finding))
    findings = tuple(sorted(tried, key=partial(place_of, found.bound_class)))
    if not trials.played:
        return replace(found, findings=findings)
    is_calm = not any(one.rank == RANKED and one.expected >= SMALL for one in findings)
    why = NOTHING_HELPS if is_calm else "" if found.why == CALM else found.why
    cuts = dict.fromkeys(note for one in trials.played.values() for note in one.notes)
    assumed = (*next(iter(trials.played.values())).guesses, *cuts)
    guesses: list[str] = [Message("{0}.", capitalized(text)) for text in assumed]
    return replace(found, findings=findings, why=why, guesses=tuple(guesses))


class _Trials:
    """The trials of findings, each played once.

    What competes is first played under the usual guess, which alone decides the gain, and only the best under
    all of them, which decide the range.
    """

    def __init__(self, found: Findings, player: Player) -> None:
        self._player, self._found = player, found
        self.played: dict[tuple[Change, ...], Prediction] = {}

    def tried(self, finding: Finding) -> Finding:
        """Return a finding with the predictions of its remedy and its limit.

        A remedy that would slow the kernel down is not advised, but the next that fits and does not.  Of a
        finding that its bound makes small, no more is predicted than that.
        """
        trial = finding.trial
        if finding.rank != RANKED or trial is None:
            return finding
        advice, slower = self._chosen(finding, trial)
        own, limit, of_limit = None, None, None if advice is None else advice.trial
        if not finding.is_small_by_bound:
            own = None if advice is None else self._own_gain(advice, finding)
            limit, of_limit = self._limit(trial, finding)
        if advice is None:
            none = join_texts(" ", (NONE_ADVISED, *slower))
            advice = RemedyAdvice(none, "", "", of_limit)
        elif slower:
            advice = advice._replace(text=join_texts(" ", (advice.text, *slower)))
        is_replayed = own is not None
        return replace(
            finding,
            remedy=advice.text,
            remedy_id=advice.id,
            effort=advice.effort,
            trial=advice.trial if is_replayed else of_limit,
            predicted=own if is_replayed else _most(limit),
            limit=_most(own, limit) if is_replayed and limit is not None else None,
        )

    def _chosen(self, finding: Finding, trial: RemedyExperiment) -> tuple[RemedyAdvice | None, list[str]]:
        """Return what to advise, and sentences on remedies that would take longer."""
        first = RemedyAdvice(finding.remedy, finding.remedy_id, finding.effort, trial)
        advices, slower = (first, *finding.others), list[str]()
        for place, one in enumerate(advices):
            own = self._own_gain(one, finding, is_quick=True)
            if own is None:
                return one, slower
            if own.gain >= -LEAST:
                others = [other for other in advices[place + 1 :] if {one.id, other.id} <= MOVES]
                tried = [(self._own_gain(other, finding, is_quick=True), other) for other in others]
                moves = [(own, one), *((more, other) for more, other in tried if more is not None)]
                return max(moves, key=lambda move: move[0].gain)[1], slower
            slower.append(Message(SLOWER, signed_percent(-own.gain), one.trial.text if one.trial else ""))
        return None, slower

    def _own_gain(
        self, advice: RemedyAdvice, finding: Finding, *, is_quick: bool = False
    ) -> Predicted | None:
        if advice.trial is None or advice.trial.is_limit:
            return None
        return self._gain(advice.trial.changes, finding, is_quick=is_quick)

    def _limit(
        self, trial: RemedyExperiment, finding: Finding
    ) -> tuple[Predicted | None, RemedyExperiment | None]:
        """Return the best way to the limit of a finding and its gain; None if none can be played."""
        ways = list(trial.limits)
        if len(ways) > 1:
            gains = {changes: self._gain(changes, finding, is_quick=True) for changes in ways}
            known = [(gain, changes) for changes, gain in gains.items() if gain is not None]
            ways = [changes for _, changes in sorted(known, key=lambda one: -one[0].gain)]
        for changes in ways:
            if (gain := self._gain(changes, finding)) is not None:
                return gain, trial._replace(changes=changes, is_limit=True)
        return None, None

    def _gain(
        self, changes: tuple[Change, ...], finding: Finding, *, is_quick: bool = False
    ) -> Predicted | None:
        """Return the gain of changes, None if they cannot be played; `is_quick`: without its range."""
        found = self.played.get(changes)
        try:
            if found is None:
                found = self._player.predict(changes, is_quick=is_quick)
        except UsageError:  # waves would never end: nothing is predicted
            return None
        if not is_quick:
            self.played[changes] = found
        change = kernel_change(self._found, found, finding)
        return Predicted(-change.share, -change.high, -change.low, -change.replayed)


def _most(*found: Predicted | None) -> Predicted | None:
    """Return the best of some predictions, and at least that of no change at all."""
    known = [one for one in found if one is not None]
    if not known:
        return None
    best = max(known, key=lambda one: one.gain)
    return best._replace(gain=max(0.0, best.gain), low=max(0.0, best.low), high=max(0.0, best.high))
