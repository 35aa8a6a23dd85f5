"""Findings of a trace with what the tables near it tell of its run."""

from collections.abc import Sequence

from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.finding import Findings
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


def findings_near(trace: Trace, batches: Sequence[WaveBatch]) -> Findings:
    """Return the findings; the tables are those near the capture."""
    return findings(trace, batches, facts=run_facts(trace.path, trace.kernel_name, trace.target))
