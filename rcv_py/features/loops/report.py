"""Sections about loops: their phases and iterations, and what waves do between barriers."""

from itertools import pairwise

import numpy as np

from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.iterations.loop_summary import PHASES, LoopSummary
from rcv_py.analysis.iterations.segments import OUTSIDE
from rcv_py.base.text import Message, plural
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Part, ReportBars, ReportCell, ReportSection, Series
from rcv_py.features.loops.result import SEGMENTS, loop_table, segment_table

TOP_LOOPS = 12
_ITERATION = (
    "The main loop is the loop with most cycles. An iteration ends where its jump leads to the head again."
)
HOTTEST = ("most expensive", "second", "third")  # instructions that are named in each phase
TOP = 10  # segments


def loop_phases(inputs: ReportInputs) -> ReportSection | None:
    """Cycles before, in and after the main loop, its hottest instructions, and iterations of every loop."""
    if not inputs.waves or not len(inputs.loops.loops.table):
        return None
    parts: list[Part] = []
    if inputs.loops.phases.loop >= 0 and len(inputs.loops.phases.wave):
        parts += _phases(inputs, inputs.loops)
    loops = loop_table(inputs.trace, inputs.loops.loops.table).head(TOP_LOOPS)
    parts.append(cells.report_table(loops, inputs.trace, "Loops; cycles of one iteration at the right"))
    return ReportSection("loops", "Prologue, loop and epilogue", parts, _ITERATION)


def _phases(inputs: ReportInputs, found: LoopSummary) -> list[Part]:
    phases, loops = found.phases, found.loops.table
    cycles, stall = phases.cycles.sum(axis=0), phases.stall.sum(axis=0)
    head, branch = int(loops.head[phases.loop]), int(loops.branch[phases.loop])
    borders = (0, head, branch + 1, len(inputs.trace.code))
    hottest = [_hottest(inputs, *region) for region in pairwise(borders)]
    waves = plural(len(phases.wave), "wave")
    title = Message("Around the loop of instructions {0:,} to {1:,}, over {2}", head, branch, waves)
    if phases.without:
        title += Message("; {0} did not run it twice", plural(phases.without, "wave"))
    is_known = (phases.stall <= phases.cycles).all(axis=0)  # else times of a wave are damaged
    series = [Series("stall", stall.tolist()), Series("other", (cycles - stall).tolist(), "idle")]
    if not is_known.all():
        series = [Series("cycles", cycles.tolist(), "idle")]
    shown = cells.table(
        cells.texts("phase", PHASES),
        cells.numbers("cycles", cycles),
        cells.shares("share", cycles, int(cycles.sum())),
        cells.numbers("stall", np.where(is_known, stall, np.array(None)).tolist()),
        *map(cells.column, HOTTEST, zip(*hottest, strict=True)),
        caption="Cycles of each phase, and the instructions between its borders that cost most",
    )
    return [ReportBars(title, PHASES, series), shown]


def _hottest(inputs: ReportInputs, first: int, stop: int) -> list[ReportCell]:
    cost, trace = inputs.costs.cost[first:stop], inputs.trace
    rows = [first + int(row) for row in np.argsort(-cost, kind="stable")[: len(HOTTEST)] if cost[row] > 0]
    texts = {row: f"{row} {trace.code.text[row]}{beside(trace, row)}" for row in rows}
    named = [cells.code(text, cells.line_anchor(row)) for row, text in texts.items()]
    return named + [cells.NOTHING] * (len(HOTTEST) - len(rows))


def segments(inputs: ReportInputs) -> ReportSection | None:
    """What waves do from one barrier to the next, where there are barriers."""
    if not inputs.waves or not len(found := inputs.segments):
        return None
    table = segment_table(inputs.trace, found).head(TOP)
    cycles, waiting = found.cycles[:TOP], found.waiting[:TOP]
    ends = zip(found.first[:TOP].tolist(), found.last[:TOP].tolist(), strict=True)
    names = [
        Message("{0} → {1}", "begin" if first == OUTSIDE else first, "end" if last == OUTSIDE else last)
        for first, last in ends
    ]
    before = Series("before the barrier", (cycles - waiting).tolist(), "accent")
    series = (before, Series("in the barrier", waiting.tolist(), "stall"))
    parts = (ReportBars("Cycles of all executions", names, series), cells.report_table(table, inputs.trace))
    return ReportSection("segments", "Between barriers", parts, SEGMENTS.note)
