"""The section about how near the peaks are."""

from rcv_py.analysis.overview.roofline import roofline
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import ReportNote, ReportSection
from rcv_py.features.roofline.result import computed_texts, roofline_note, roofline_table
from rcv_py.model.resources import RunFacts


def peaks(inputs: ReportInputs) -> ReportSection | None:
    """How near the kernel and its loops are to the peaks of a compute unit and of memory."""
    if not inputs.waves or inputs.is_sampled:
        return None
    found = roofline(inputs.trace, inputs.widths, inputs.iterations, inputs.facts)
    if not any(one.flop() or one.bytes for one in found.scopes):
        return None
    table = cells.report_table(roofline_table(inputs.trace, found), inputs.trace)
    said = [ReportNote(text) for one in found.scopes[:1] for text in computed_texts(one.computed)]
    intro = roofline_note(inputs.trace, found, inputs.facts or RunFacts())
    return ReportSection("roofline", "Roofline", (table, *said), intro)
