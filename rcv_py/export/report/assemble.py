"""A report of a capture: every section that has something to say, in the order of this table."""

from __future__ import annotations

from collections.abc import Callable

from rcv_py import __version__
from rcv_py.base.progress import CancelFlag, Stage, silent
from rcv_py.base.progress import Report as Tell
from rcv_py.base.text import short_kernel
from rcv_py.export.report.html import html
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.markdown import markdown
from rcv_py.export.report.model import Report, Section
from rcv_py.export.report.sections_causes import causes, hidden, idle_simds, waits
from rcv_py.export.report.sections_code import source_lines, top_lines
from rcv_py.export.report.sections_configuration import configuration
from rcv_py.export.report.sections_health import health
from rcv_py.export.report.sections_how import how_to
from rcv_py.export.report.sections_loops import blocks_of, loop_phases
from rcv_py.export.report.sections_map import pc_map
from rcv_py.export.report.sections_overview import activity, kinds
from rcv_py.export.report.sections_verdict import ranked, the_verdict
from rcv_py.export.report.sections_waves import occupancy, registers, waves

MakeSection = Callable[[ReportInputs], Section | None]

SECTIONS: tuple[MakeSection, ...] = (
    the_verdict,
    ranked,
    health,
    configuration,
    activity,
    kinds,
    causes,
    waits,
    top_lines,
    loop_phases,
    blocks_of,
    source_lines,
    idle_simds,
    hidden,
    registers,
    occupancy,
    waves,
    pc_map,
    how_to,
)
FORMS: dict[str, Callable[[Report], str]] = {".html": html, ".htm": html, ".md": markdown}


def make_report(inputs: ReportInputs, *, report: Tell = silent, cancel: CancelFlag | None = None) -> Report:
    """Return the report; raises Cancelled once `cancel` is set."""
    trace, found = inputs.trace, []
    for at, make in enumerate(SECTIONS):
        if cancel is not None:
            cancel.check()
        report(Stage("Writing sections", at, len(SECTIONS)))
        section = make(inputs)
        if section is not None:
            found.append(section)
    kernel = short_kernel(trace.kernel_name) if trace.kernel_name else "no kernel"
    return Report(kernel, f"{trace.name} · {trace.target}", tuple(found), f"Written by rcv {__version__}.")
