"""The section about resident waves over time."""

from rcv_py.analysis.device.occupancy_curves import occupancy_curves, occupancy_numbers
from rcv_py.base.text import percent
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import ReportCell, ReportCurve, ReportSection


def occupancy(inputs: ReportInputs) -> ReportSection | None:
    """Resident waves over time, in all and by shader engine."""
    curves = [curve for by in ("all", "se") for curve in occupancy_curves(inputs.trace, by)]
    if not curves or not len(curves[0].steps):
        return None
    found = [occupancy_numbers(curve.steps) for curve in curves]
    of_slots = [
        ReportCell(percent(one.mean, curve.slots), value=one.mean / max(1, curve.slots))
        for one, curve in zip(found, curves, strict=True)
    ]
    means = (ReportCell(f"{one.mean:,.1f}", value=one.mean) for one in found)
    total = curves[0].steps
    title = "Waves resident on all compute units that the trace covers, by cycle"
    shown = cells.table(
        cells.texts("waves", (curve.name for curve in curves)),
        cells.numbers("units", (curve.units for curve in curves)),
        cells.numbers("peak", (one.peak for one in found)),
        cells.column("mean", means, is_number=True),
        cells.column("mean of slots", of_slots, is_number=True),
        cells.column("tail", (ReportCell(percent(one.tail, 1)) for one in found), is_number=True),
        cells.numbers("begin", (one.begin for one in found)),
        cells.numbers("cycles", (one.end - one.begin for one in found)),
    )
    intro = "Tail: the share of time after the last moment with more than half of the peak."
    plot = ReportCurve(title, total.time.tolist(), total.value.tolist())
    return ReportSection("occupancy", "Resident waves over time", (plot, shown), intro)
