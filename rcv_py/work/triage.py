"""Findings of an open trace with what the tables beside it tell."""

from __future__ import annotations

from collections.abc import Sequence

from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.engine_choice import chosen_rows, only
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.formats.run_files import run_facts
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


def triage(
    trace: Trace,
    batches: Sequence[WaveBatch],
    *,
    is_whole: bool = False,
    facts: RunFacts | None = None,
    waves: str = WORKING,
) -> Findings:
    """Return the findings; of a large capture those of some shader engines, unless `is_whole`.

    `facts` are what the tables of the run tell; None: those near the capture.  Ranked is what the waves of a
    population cost: `working`, `all`, or its id.
    """
    rows = frozenset(chosen_rows(trace.waves))
    if not is_whole and len(rows) < len(trace.waves):
        batches = only(batches, rows)
    facts = facts or run_facts(trace.path, trace.kernel_name, trace.target)
    return findings(trace, batches, facts=facts, waves=waves)
