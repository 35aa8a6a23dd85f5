"""Findings with predicted gains: each trial is replayed, and the list is ranked by the prediction."""

from dataclasses import replace
from functools import partial

from rcv_py.analysis.findings.detect import CALM, place_of
from rcv_py.analysis.findings.finding import (
    RANKED,
    SMALL,
    Finding,
    Findings,
    Predicted,
    RemedyAdvice,
    RemedyExperiment,
    signed_percent,
)
from rcv_py.analysis.findings.kernel_change import LEAST, kernel_change
from rcv_py.analysis.whatif.changes import Change
from rcv_py.analysis.whatif.predict import Player, Prediction
from rcv_py.base.errors import UsageError
from rcv_py.base.progress import Report, Stage, silent
from rcv_py.base.text import Message, capitalized, join_texts

NOTHING_HELPS = (
    "No remedy of a finding would gain 2 % of the kernel's duration: by replaying the "
    "recording, or by its bound where it cannot be replayed."
)
RANKING = "Ranking by prediction"
NONE_ADVISED = "No remedy is advised."
MOVES = {"hoist-batch", "hoist"}  # of these the one that gains more
SLOWER = "In a replay, the kernel takes {0} longer with this change: {1}."


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
        return found
    is_calm = not any(one.rank == RANKED and one.expected >= SMALL for one in findings)
    why = NOTHING_HELPS if is_calm else "" if found.why == CALM else found.why
    assumed = (*next(iter(trials.played.values())).guesses, *trials.cuts)
    guesses: list[str] = [Message("{0}.", capitalized(text)) for text in assumed]
    return replace(found, findings=findings, why=why, guesses=tuple(guesses))


class _Trials:
    """The trials of findings, each played once."""

    def __init__(self, found: Findings, player: Player) -> None:
        self._player, self._found = player, found
        self.played: dict[tuple[Change, ...], Prediction] = {}

    def tried(self, finding: Finding) -> Finding:
        """Return a finding with the predictions of its remedy and its limit.

        A remedy that would slow the kernel down is not advised, but the next that fits and does not.
        """
        trial = finding.trial
        if finding.rank != RANKED or trial is None:
            return finding
        advice, own, slower = self._chosen(finding, trial)
        limit, of_limit = self._limit(trial, finding)
        if advice is None:
            none = join_texts(" ", (NONE_ADVISED, *slower))
            advice, own = RemedyAdvice(none, "", "", of_limit), None
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

    def _chosen(
        self, finding: Finding, trial: RemedyExperiment
    ) -> tuple[RemedyAdvice | None, Predicted | None, list[str]]:
        """Return what to advise and its own gain, and sentences on remedies that would take longer."""
        first = RemedyAdvice(finding.remedy, finding.remedy_id, finding.effort, trial)
        advices, slower = (first, *finding.others), list[str]()
        for place, one in enumerate(advices):
            own = self._own_gain(one, finding)
            if own is None or own.gain >= -LEAST:
                best, gain = one, own
                for other in advices[place + 1 :] if one.id in MOVES and own is not None else ():
                    more = self._own_gain(other, finding) if other.id in MOVES else None
                    if gain is not None and more is not None and more.gain > gain.gain:
                        best, gain = other, more
                return best, gain, slower
            slower.append(Message(SLOWER, signed_percent(-own.gain), one.trial.text if one.trial else ""))
        return None, None, slower

    def _own_gain(self, advice: RemedyAdvice, finding: Finding) -> Predicted | None:
        trial = advice.trial
        return None if trial is None or trial.is_limit else self._gain(trial.changes, finding)

    def _limit(
        self, trial: RemedyExperiment, finding: Finding
    ) -> tuple[Predicted | None, RemedyExperiment | None]:
        """Return the best way to the limit of a finding and its gain; None if none can be played."""
        played = [(self._gain(changes, finding), changes) for changes in trial.limits]
        known = [(gain, changes) for gain, changes in played if gain is not None]
        if not known:
            return None, None
        best, changes = max(known, key=lambda one: one[0].gain)
        return best, trial._replace(changes=changes, is_limit=True)

    @property
    def cuts(self) -> tuple[str, ...]:
        """What of the device cuts predictions, in words."""
        return tuple(dict.fromkeys(note for one in self.played.values() for note in one.notes))

    def _gain(self, changes: tuple[Change, ...], finding: Finding) -> Predicted | None:
        """Return the gain of changes, None if they cannot be played."""
        if changes not in self.played:
            try:
                self.played[changes] = self._player.predict(changes)
            except UsageError:  # waves would never end: nothing is predicted
                return None
        change = kernel_change(self._found, self.played[changes], finding)
        return Predicted(-change.share, -change.high, -change.low, -change.replayed)


def _most(*found: Predicted | None) -> Predicted | None:
    """Return the best of some predictions, and at least that of no change at all."""
    known = [one for one in found if one is not None]
    if not known:
        return None
    best = max(known, key=lambda one: one.gain)
    return best._replace(gain=max(0.0, best.gain), low=max(0.0, best.low), high=max(0.0, best.high))
