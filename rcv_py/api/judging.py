"""What to look at first, whether to trust the capture, and how another one differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rcv_py.analysis.compare.changes import BY, Change, changes
from rcv_py.analysis.compare.compare import Comparison, compare
from rcv_py.analysis.compare.costs import MEASURES, CaptureCosts, capture_costs, explained_costs
from rcv_py.analysis.findings.choose import chosen_rows
from rcv_py.analysis.findings.find import triage
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.health import input_yaml
from rcv_py.analysis.health.capture_health import (
    CHECKED,
    Extras,
    HealthNote,
    capture_health,
    command_line,
    input_settings,
    verdict,
)
from rcv_py.analysis.health.twins import fingerprint
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.api.answer import Answer, by_row
from rcv_py.api.choice import one_of
from rcv_py.api.device import Device
from rcv_py.api.errors import noted
from rcv_py.api.reading import Waves
from rcv_py.base.errors import UsageError

if TYPE_CHECKING:
    from rcv_py.api.capture import Capture

_FOUND = (
    "name", "title", "rank", "gain", "cycles", "is_upper_bound", "share", "unit", "exposed", "attributed",
    "sentence", "remedy", "remedy_id", "effort", "evidence", "assumption",
)  # fmt: skip
_NOTE = ("note", "severity", "title", "evidence", "consequence", "remedy")
_CHANGE = {
    "name": "name", "text": "text", "line_a": "line_a", "line_b": "line_b", "status": "fate",
    "hits_a": "hits_a", "hits_b": "hits_b", "cycles_a": "cost_a", "cycles_b": "cost_b",
    "share_a": "share_a", "share_b": "share_b", "delta": "delta", "noise": "noise",
    "beyond_noise": "is_real", "source_a": "source_a", "source_b": "source_b",
}  # fmt: skip


class Judging(Device):
    """Findings, health and comparison."""

    def triage(self, *, every_wave: bool = False, waves: str = WORKING) -> Answer[Findings]:
        """Return the findings, by what the kernel's duration can gain at most.

        `facts["class"]` says what limits the kernel, with the numbers that show it; `facts["alarm"]` is not
        empty if nothing may be concluded from the capture.
        Of more than 48 MB of waves some whole shader engines are looked at, unless `every_wave`.  `waves`
        says whose costs are ranked: `working`, `all`, or the id of a population.
        """
        return self._once(("triage", every_wave, waves), None, lambda: self._triage(every_wave, waves))

    def _triage(self, every_wave: bool, waves: str) -> Answer[Findings]:
        rows = None if every_wave else chosen_rows(self.trace.waves)
        rows = None if rows is not None and len(rows) == len(self.trace.waves) else rows
        found = triage(self.trace, self._all(rows), self.facts, is_whole=True, waves=waves)
        facts = {
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
        rows_of = [
            [*(getattr(one, name) for name in _FOUND[:-2]), "; ".join(map(str, one.evidence)), one.assumption]
            for one in found.findings
        ]
        return Answer("triage", by_row(_FOUND, rows_of), found, facts)

    def check(self, twin: Capture | None = None) -> Answer[tuple[HealthNote, ...]]:
        """Return what speaks against trusting the capture, worst first; no row if nothing does.

        `twin` is another capture of the same instructions; what it differs by is noise.  Raises UsageError if
        its instructions differ.
        """
        other = None if twin is None else twin.trace
        if other is not None and fingerprint(self.trace.code) != fingerprint(other.code):
            raise noted(
                UsageError(
                    f"{other.name} is no twin of {self.name}: their instructions differ.",
                    hint="A twin is another capture of the same binary; library() names those it finds.",
                )
            )
        notes = capture_health(self.trace, self._all(), Extras(other))
        rows = [
            (one.name, str(one.severity), one.title, one.evidence_text, one.consequence, one.remedy)
            for one in notes
        ]
        facts = {
            "verdict": verdict(notes),
            "is_serious": any(note.is_serious for note in notes),
            "checked": list(CHECKED),
            "settings": input_settings(self.trace, notes),
            "input_yaml": input_yaml(self.trace, notes),
            "command": command_line(),
        }
        return Answer("check", by_row(_NOTE, rows), notes, facts)

    def compare(
        self,
        other: Capture,
        by: str = "line",
        *,
        measure: str = "cost",
        least: float | None = None,
        twin: Capture | None = None,
        seed: int = 0,
        waves: Waves = WORKING,
    ) -> Answer[Comparison]:
        """Compare another capture with this one as the baseline, by `line`, `source`, `block` or `class`.

        Columns of this one end in `_a`, of the other in `_b`; cycles are those a wave, at the executions of
        this one.  `least` is the share below which a difference of the kernel is never told, `twin` another
        capture of this build.  `facts["verdict"]` is about the launch where both captures say how long it
        took, else about cycles a wave or a hit (`facts["per"]`).
        """
        one_of("by", by, BY)
        one_of("measure", measure, MEASURES)
        sides = (self.line_costs(waves), other.line_costs(waves))
        third = None if twin is None else twin.line_costs(waves)
        found = compare(*sides, seed, measure=measure, least=least, twin=third)
        rows: Sequence[Change] = changes(found, by) if found.kernel is not None else ()
        values = [[getattr(row, field) for field in _CHANGE.values()] for row in rows]
        return Answer("compare", by_row(_CHANGE, values), found, _verdict(found))

    def line_costs(self, waves: Waves = WORKING) -> CaptureCosts:
        """Return what each instruction costs in each group of waves: what comparisons are made from."""
        return self._once(
            "line costs",
            waves,
            lambda: (
                explained_costs(self.trace, self._all(), waves)
                if isinstance(waves, str) and "/" not in waves
                else capture_costs(self.trace, self._all(), self._rows(waves))
            ),
        )


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
