"""Tables that judge: what to look at first, whether to trust the capture, how another one differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rcv_py.analysis.compare.changes import Change, changes
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.health.capture_health import (
    Extras,
    HealthNote,
    capture_health,
)
from rcv_py.analysis.health.replicates import fingerprint
from rcv_py.api.answer import Answer
from rcv_py.api.errors import noted
from rcv_py.base.errors import UsageError
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results.check import NOTE_ROWS, facts, note_table
from rcv_py.results.compare import change_table
from rcv_py.results.triage import finding_table


def triage(trace: Trace, batches: Sequence[WaveBatch], run: RunFacts, waves: str) -> Answer[Findings]:
    """Return one row a finding."""
    found = findings(trace, batches, facts=run, waves=waves)
    said = {
        "alarm": found.alarm,
        "class": None if found.bound_class is None else found.bound_class.as_json(),
        "headline": found.headline,
        "waves": found.waves,
        "counted": found.waves if found.choice is None else found.choice.waves,
        "missing": found.unread,
        "resident": found.resident,
        "silent": found.no_issue,
        "bubbles": found.bubbles,
        "below_threshold": found.hidden,
        "numbers": {one.id: one.text for one in found.numbers},
        "assumption": found.assumption,
        "note": found.why,
    }
    return Answer.of(finding_table(found.findings), found, said)


def check(trace: Trace, batches: Sequence[WaveBatch], twin: Trace | None) -> Answer[tuple[HealthNote, ...]]:
    """Return one row a note about the recording; raise UsageError if the twin's instructions differ."""
    if twin is not None and fingerprint(trace.code) != fingerprint(twin.code):
        raise noted(
            UsageError(
                f"{twin.name} is no twin of {trace.name}: their instructions differ.",
                hint="A twin is another capture of the same binary; library() names those it finds.",
            )
        )
    notes = capture_health(trace, batches, Extras(twin))
    return Answer.of(note_table(notes, NOTE_ROWS), notes, facts(trace, notes))


def compare(found: Comparison, by: str) -> Answer[Comparison]:
    """Return one row an instruction, source line, block or class."""
    rows: Sequence[Change] = changes(found, by) if found.kernel is not None else ()
    return Answer.of(change_table(found, rows, by), found, _verdict(found))


def _verdict(found: Comparison) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "verdict": found.verdict.value,
        "sentence": found.judgement.sentence,
        "per": found.judgement.basis,
        "notes": list(found.notes),
        "same_instructions": found.align.is_same,
    }
    if found.kernel is not None:
        facts |= {
            "cycles_per_wave": found.kernel.per_wave,
            "cycles_per_hit": found.kernel.per_hit,
            "ratio_at_equal_hits": found.kernel.at_equal_hits.value,
            "ratio_per_wave": found.kernel.a_wave.value,
        }
    if found.kernel is not None and found.kernel.launch is not None:
        launch = found.kernel.launch
        facts |= {
            "launch_duration": (launch.a.duration, launch.b.duration),
            "launched_waves": (launch.a.waves, launch.b.waves),
            "ratio_of_launches": launch.duration.value,
        }
    return facts
