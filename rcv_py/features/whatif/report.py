"""Sections about what could be gained: experiments, and the critical path."""

from rcv_py.analysis.findings.predicted import BASE, of_kernel
from rcv_py.analysis.whatif.experiments import usual_experiments
from rcv_py.base.text import Message, count
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import ReportBars, ReportNote, ReportSection, Series
from rcv_py.features.whatif.result import path_causes, path_rows, prediction_table, said_of

TOP = 15


def experiments(inputs: ReportInputs) -> ReportSection | None:
    """The standard experiments, each alone; only in a report with predictions."""
    player = inputs.player
    if player is None or not player.recordings():
        return None
    found, kernel = of_kernel(inputs.findings, player, usual_experiments(player, inputs.trace))
    if not found:
        return None
    shown = cells.report_table(prediction_table(found, kernel), inputs.trace)
    notes = [ReportNote(sentence) for sentence in said_of(found, kernel)]
    text = "Predicted by replaying {0} instructions with each change alone: not a promise. {1}"
    return ReportSection("whatif", "What if", (shown, *notes), Message(text, count(found[0].tokens), BASE))


def critical_path(inputs: ReportInputs) -> ReportSection | None:
    """The makeup of the span; only in a report with predictions."""
    player = inputs.player
    if player is None or not player.recordings():
        return None
    found = player.path()
    causes = path_causes(found)
    series = (Series("cycles", causes.plain("cycles"), "accent"),)
    bars = ReportBars("The critical path by cause", causes.plain("cause"), series)
    intro = Message(
        "The span consists of this chain of events, each waiting for the previous event: {0} cycles over the "
        "replayed compute units. Events off the chain have slack: making them faster saves nothing.",
        count(found.length),
    )
    rows = cells.report_table(path_rows(inputs.trace, found).head(TOP), inputs.trace)
    return ReportSection("critical-path", "The critical path", (bars, rows), intro)
