"""Findings of a trace with what the tables of its run tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rcv_py.analysis.findings.detect import triage
from rcv_py.analysis.findings.finding import Findings
from rcv_py.formats.run_files import run_facts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


def triage_of(trace: Trace, batches: Sequence[WaveBatch], **more: Any) -> Findings:
    """Return the findings; the tables are those near the capture."""
    return triage(trace, batches, run_facts(trace.path, trace.kernel_name, trace.target), **more)
