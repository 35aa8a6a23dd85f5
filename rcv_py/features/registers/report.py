"""The section about registers, and how many waves fit."""

from rcv_py.analysis.program.live_registers import live_registers
from rcv_py.base.text import Message, count, join_texts
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import ReportNote, ReportSection
from rcv_py.features.occupancy.result import limit_table
from rcv_py.features.registers.result import file_table

HELD = "Registers that must be held at a time, by live ranges over the control-flow graph"
INTRO = (
    "How many waves could be resident; the actual number is shown below. More waves "
    "only help to hide latency."
)


def room_text(inputs: ReportInputs) -> str:
    """Return how many waves a SIMD can hold and what limits them; "" if the capture does not say."""
    if not len(inputs.trace.code) or not (inputs.trace.has_thread_trace or inputs.trace.is_static):
        return ""
    found, binding = inputs.limits, inputs.limits.binding
    text = Message("A SIMD can hold {0} of {1} waves", count(found.waves), count(found.cap))
    if binding is None:
        return Message("{0}.", text)
    return join_texts(" ", filter(None, (Message("{0}; {1} bind.", text, binding.name), found.next_step)))


def registers(inputs: ReportInputs) -> ReportSection | None:
    """Resources a wave takes, how many waves fit, and what the next step requires."""
    if not len(inputs.trace.code) or not (inputs.trace.has_thread_trace or inputs.trace.is_static):
        return None
    found = inputs.limits
    held = file_table(inputs.trace, live_registers(inputs.trace.code), found)
    tables = [cells.report_table(limit_table(found), inputs.trace)]
    tables += [cells.report_table(held, inputs.trace, HELD)] if len(held) else []
    notes = (ReportNote(room_text(inputs)), *(ReportNote(note, "warning") for note in found.notes))
    return ReportSection("registers", "Register pressure and room for waves", (*tables, *notes), INTRO)
