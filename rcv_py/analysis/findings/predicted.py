"""Findings with predicted gains: each trial is replayed, and the list is ranked by the prediction."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from rcv_py.analysis.findings.detect import CALM, place_of
from rcv_py.analysis.findings.finding import RANKED, SMALL, Finding, Findings, Predicted, signed_percent
from rcv_py.analysis.whatif.changes import Change
from rcv_py.analysis.whatif.predict import Player, Prediction
from rcv_py.base.errors import UsageError
from rcv_py.base.progress import Report, Stage, silent
from rcv_py.base.text import Message, capitalized

NOTHING_HELPS = (
    "No remedy of a finding would gain 2 % of the kernel's duration: by replaying the "
    "recording, or by its bound where it cannot be replayed."
)
RANKING = "Ranking by prediction"
SLOWER = "No remedy is advised: in a replay, the kernel takes {0} longer with this change: {1}."
LEAST = 0.0005  # of the kernel's duration: less is shown as 0.0 %


def predicted(found: Findings, player: Player, report: Report = silent) -> Findings:
    """Return findings with predictions, the largest predicted gain first.

    A change of the span of the traced compute units counts for the part of the kernel's duration in which
    traced waves were resident.
    """
    trials, tried = _Trials(found, player), list[Finding]()
    for done, finding in enumerate(found.findings):
        report(Stage(RANKING, done, len(found.findings)))
        tried.append(trials.tried(finding))
    findings = tuple(sorted(tried, key=place_of))
    if not trials.played:
        return found
    is_calm = not any(one.rank == RANKED and one.expected >= SMALL for one in findings)
    why = NOTHING_HELPS if is_calm else "" if found.why == CALM else found.why
    assumed = (*next(iter(trials.played.values())).guesses, *trials.cuts)
    guesses = (Message("{0}.", capitalized(text)) for text in assumed)
    return replace(found, findings=findings, why=why, guesses=tuple(guesses))


class _Trials:
    """The trials of findings, each played once."""

    def __init__(self, found: Findings, player: Player) -> None:
        self._player, self._share = player, found.working_share
        self._idle = found.no_issue / found.resident * self._share if found.resident else 1.0
        self.played: dict[tuple[Change, ...], Prediction] = {}

    def tried(self, finding: Finding) -> Finding:
        """Return a finding with the predictions of its remedy and its limit.

        A remedy that would slow the kernel down is not advised.
        """
        trial = finding.trial
        if finding.rank != RANKED or trial is None:
            return finding
        own = self._gain(trial.changes, finding)
        limit = _limit(own, self._gain(trial.limit, finding)) if trial.limit else None
        if trial.is_limit:
            return replace(finding, predicted=limit)
        if own is None or own.gain >= -LEAST:
            return replace(finding, predicted=own, limit=limit)
        slower = Message(SLOWER, signed_percent(-own.gain), trial.text)
        only = None if limit is None else replace(trial, changes=trial.limit, is_limit=True)
        return replace(finding, remedy=slower, remedy_id="", effort="", trial=only, predicted=limit)

    @property
    def cuts(self) -> tuple[str, ...]:
        """What of the device cuts predictions, in words."""
        return tuple(dict.fromkeys(note for one in self.played.values() for note in one.notes))

    def _gain(self, changes: tuple[Change, ...], finding: Finding) -> Predicted | None:
        """Return the gain of changes, None if they cannot be played.

        It is cut at the bound, as a trial also removes what its instructions waited for other reasons; at
        idle cycles if there is no bound.
        """
        if changes not in self.played:
            try:
                self.played[changes] = self._player.predict(changes)
            except UsageError:  # waves would never end: nothing is predicted
                return None
        answer = self.played[changes]
        most = finding.gain if finding.is_upper_bound else max(self._idle, finding.gain)
        gain, low, high = (-one * self._share for one in (answer.share, answer.high, answer.low))
        replayed = gain if gain > most + LEAST else nan
        return Predicted(min(most, gain), min(most, low), min(most, high), replayed)


def _limit(*found: Predicted | None) -> Predicted | None:
    """Return the best of some predictions, and at least that of no change at all."""
    known = [one for one in found if one is not None]
    if not known:
        return None
    best = max(known, key=lambda one: one.gain)
    return replace(best, gain=max(0.0, best.gain), low=max(0.0, best.low), high=max(0.0, best.high))
