"""Do the instruction texts belong to the trace?"""

from __future__ import annotations

from collections.abc import Sequence

from rcv_py.analysis.health.note import HealthNote, Measured
from rcv_py.analysis.program.code_match import CONSEQUENCE, REMEDY, TITLE, code_match
from rcv_py.base.problems import Severity
from rcv_py.base.text import count, percent
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


def wrong_code(trace: Trace, batches: Sequence[WaveBatch] | None = None) -> HealthNote | None:
    """Say so if executions went to other units than their instructions name."""
    found = code_match(trace, batches or ())
    if not found.is_wrong:
        return None
    share = percent(found.mismatched, found.judged)
    return HealthNote(
        "wrong_code",
        Severity.ERROR,
        TITLE,
        (
            Measured(
                "executions on another unit",
                found.mismatched,
                f"{count(found.mismatched)} of {count(found.judged)} ({share})",
            ),
            Measured("examples", len(found.examples), found.examples_text(trace.code).rstrip(".")),
        ),
        CONSEQUENCE,
        REMEDY,
    )
