"""Findings with predicted gains: each trial is replayed, and the list is ranked by the prediction."""

from __future__ import annotations

from dataclasses import replace

from rcv_py.analysis.findings.detect import CALM, place_of
from rcv_py.analysis.findings.finding import RANKED, Finding, Findings, Predicted
from rcv_py.analysis.whatif.changes import Change
from rcv_py.analysis.whatif.predict import Player, Prediction
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, capitalized

NOTHING_HELPS = (
    "Nothing that findings suggest would gain 2 % of the kernel's duration: by playing the recording again, "
    "or, of what cannot be played, by its bound."
)


def predicted(found: Findings, player: Player) -> Findings:
    """Return findings with predictions, the largest predicted gain first.

    A change of the span of the traced compute units counts for the part of the kernel's duration in which
    traced waves were resident.  A prediction is capped at its bound, because a trial also removes what its
    instructions waited for other reasons.
    """
    played: dict[tuple[Change, ...], Prediction] = {}

    def tried(finding: Finding) -> Finding:
        if finding.rank != RANKED or finding.trial is None:
            return finding
        changes = finding.trial.changes
        if changes not in played:
            try:
                played[changes] = player.predict(changes)
            except UsageError:  # waves would never end: nothing is predicted
                return finding
        answer, most = played[changes], finding.gain if finding.is_upper_bound else 1.0
        shares = (answer.share, answer.high, answer.low)
        gain = Predicted(*(min(most, -one * found.working_share) for one in shares))
        return replace(finding, predicted=gain)

    findings = tuple(sorted(map(tried, found.findings), key=place_of))
    if not played:
        return found
    is_calm = not any(one.rank == RANKED and not one.is_small for one in findings)
    why = NOTHING_HELPS if is_calm else "" if found.why == CALM else found.why
    guesses = (Message("{0}.", capitalized(text)) for text in next(iter(played.values())).guesses)
    return replace(found, findings=findings, why=why, guesses=tuple(guesses))
