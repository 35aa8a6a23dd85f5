"""Inputs of reports, of waves in memory."""

from collections.abc import Iterable

from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


def report_inputs(
    trace: Trace, batches: Iterable[WaveBatch], facts: RunFacts | None = None, waves: str = WORKING
) -> ReportInputs:
    """Return the inputs for waves in memory.

    `waves` says whose costs are explained: `working`, `all`, or a population; raise UsageError for another
    word.
    """
    inputs = ReportInputs(InMemory(trace, batches), facts=facts, waves=waves)
    assert inputs.choice
    return inputs
