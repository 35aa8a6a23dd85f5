"""Sections about loops: prologue, steady state and epilogue, iterations, and the blocks that cost most."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.iterations.loop_summary import PHASES, LoopSummary
from rcv_py.analysis.program.blocks import block_costs, blocks
from rcv_py.analysis.program.loops import loops
from rcv_py.base.text import plural
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import (
    Bar,
    Bars,
    Cell,
    Heading,
    Note,
    Part,
    Section,
    Share,
    Table,
    code,
    number,
    share,
)
from rcv_py.export.report.places import line_anchor
from rcv_py.export.report.result_tables import report_table
from rcv_py.results.loops import loop_table

TOP = 12
HOTTEST = 3  # lines that are named in each phase


def loop_phases(inputs: ReportInputs) -> Section | None:
    """Cycles before, in and behind the main loop, the hottest lines of each, and iterations of every loop."""
    if not inputs.waves:
        return None
    found = inputs.loops
    if not len(found.found.table):
        return None
    parts: list[Part] = []
    if found.phases.loop >= 0 and len(found.phases.wave):
        parts += _phases(inputs, found)
    table = loop_table(inputs.trace, found.found.table).head(TOP)
    parts.append(report_table(table, inputs.trace, "Loops; cycles of one iteration at the right"))
    intro = (
        "The main loop is the one with most cycles. An iteration ends where its jump led to the head again."
    )
    return Section("loops", "Prologue, loop and epilogue", tuple(parts), intro)


def _phases(inputs: ReportInputs, found: LoopSummary) -> list[Part]:
    table, loop = found.phases, found.found.table
    cycles, stall = table.cycles.sum(axis=0).astype(np.int64), table.stall.sum(axis=0)
    whole = int(cycles.sum())
    head, branch = int(loop.head[table.loop]), int(loop.branch[table.loop])
    regions = ((0, head), (head, branch + 1), (branch + 1, len(inputs.trace.code)))
    bars = tuple(
        Bar(
            name,
            (Share("stall", int(stall[at]), "stall"), Share("other", int(cycles[at] - stall[at]), "idle")),
        )
        for at, name in enumerate(PHASES)
    )
    rows = tuple(
        (
            Cell(name),
            number(int(cycles[at])),
            share(int(cycles[at]), whole),
            number(int(stall[at])),
            *_hottest(inputs, *regions[at]),
        )
        for at, name in enumerate(PHASES)
    )
    heads = (
        Heading("phase"),
        Heading("cycles", True),
        Heading("share", True),
        Heading("stall", True),
        *(Heading(f"line {i + 1}") for i in range(HOTTEST)),
    )
    text = f"Around the loop of lines {head:,} to {branch:,}, over {plural(len(table.wave), 'wave')}"
    if table.without:
        text += f"; {plural(table.without, 'wave')} did not run it twice"
    return [
        Bars(text, bars),
        Table(heads, rows, "Cycles of each phase, and the lines between its borders that cost most"),
    ]


def _hottest(inputs: ReportInputs, first: int, stop: int) -> list[Cell]:
    cost = inputs.costs.cost[first:stop]
    rows = [first + int(row) for row in np.argsort(-cost, kind="stable")[:HOTTEST] if cost[row] > 0]
    cells = [
        code(f"{row} {inputs.trace.code.text[row]}{beside(inputs.trace, row)}", line_anchor(row))
        for row in rows
    ]
    return cells + [Cell("")] * (HOTTEST - len(cells))


def blocks_of(inputs: ReportInputs) -> Section | None:
    """Basic blocks by cost, with how deep in loops they are."""
    trace = inputs.trace
    table = blocks(trace.code)
    sums = block_costs(table, trace.code, inputs.costs)
    if not len(table) or not sums.cost.any():
        return None
    depth, whole = loops(table).depth_of_block, int(sums.cost.sum())
    order = np.argsort(-sums.cost, kind="stable")[:TOP].tolist()
    rows = tuple(
        (
            code(table.name[row], line_anchor(int(table.first[row]))),
            Cell(f"{int(table.first[row]):,} to {int(table.stop[row]) - 1:,}"),
            number(int(depth[row])),
            *(number(int(getattr(sums, name)[row])) for name in ("hits", "latency", "stall", "idle")),
            share(int(sums.cost[row]), whole),
        )
        for row in order
        if sums.cost[row] > 0
    )
    names = ("hits", "latency", "stall", "idle", "share")
    heads = (
        Heading("block"),
        Heading("lines"),
        Heading("loops around", True),
        *(Heading(name, True) for name in names),
    )
    parts: tuple[Part, ...] = (Table(heads, rows),)
    if inputs.is_sampled:
        parts += (Note("Numbers are PC samples."),)
    return Section("blocks", "Basic blocks", parts)
