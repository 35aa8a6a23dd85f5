"""Sections about the program: kinds, the most expensive instructions, source lines, loops and blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.cost.ranking import Ranked
from rcv_py.analysis.iterations.loop_summary import PHASES, LoopSummary
from rcv_py.analysis.program.blocks import Blocks, block_costs, blocks
from rcv_py.analysis.program.branches import BRANCHES
from rcv_py.base.text import count, plural
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import (
    Part,
    ReportBars,
    ReportCell,
    ReportNote,
    ReportSection,
    ReportShare,
    ReportTable,
    Series,
    Stacked,
)
from rcv_py.features.hotspot.result import ranking_table
from rcv_py.features.isa.result import listing
from rcv_py.features.loops.result import loop_table
from rcv_py.model.kinds import kind_name
from rcv_py.results.common import COSTS

TOP = 15
TOP_BLOCKS = 12
CONTEXT = 3  # instructions on either side of an expensive one
MAX_UNFOLDED = 2  # listings of context that are open at once
HOTTEST = ("most expensive", "second", "third")  # instructions that are named in each phase
MAX_LINES = 4000  # instructions of the map, one by one
MAX_BLOCKS = 4000  # that have a row
MAX_UNFOLDED_BLOCKS = 40  # in the overview of the map
MAX_NAMED = 3  # source places of a block
_END = (
    "s_endpgm lasts until the last stores of its wave are done: its latency is time at the end of waves, not "
    "a cost of the instruction."
)
_CLASSES = "Classes: finer than kinds, by mnemonic; waits by what they wait for"
_GOTO = "--goto of `rcv view` and Go to place (Ctrl+G) accept it."
_ITERATION = (
    "The main loop is the one with most cycles. An iteration ends where its jump led to the head again."
)


def kinds(inputs: ReportInputs) -> ReportSection | None:
    """Costs by class of instruction, which distinguishes waits, and by the kind that timelines colour."""
    trace, unit = inputs.trace, inputs.unit
    classes, by_class = ranking_table(trace, inputs.costs, "class", "latency")
    kinds, by_kind = ranking_table(trace, inputs.costs, "kind", "latency")
    if not by_kind:
        return None
    names = [kind_name(row.name) for row in by_class]
    parts = tuple(ReportShare(kind_name(row.name), row.latency, f"kind-{row.name}") for row in by_kind)
    shown = (
        Stacked("Latency by kind of instruction", parts, unit),
        cells.report_table(kinds, trace),
        ReportBars("Latency by class of instruction", names, _latency(by_class), unit),
        cells.report_table(classes, trace, _CLASSES),
    )
    return ReportSection("kinds", "Kinds and classes of instruction", shown)


def _latency(rows: Sequence[Ranked]) -> tuple[Series, ...]:
    """Latency of each row in its two parts."""
    issue = [row.latency - row.stall for row in rows]
    return Series("stall", [row.stall for row in rows]), Series("issue", issue)


def top_lines(inputs: ReportInputs) -> ReportSection | None:
    """The most expensive instructions: cost per hit, the slowest hit, and the code around them."""
    trace, causes = inputs.trace, {}
    rows = inputs.top_lines
    if not rows:
        return None
    lines = [row.line for row in rows]
    if inputs.causes is not None:
        by_line = inputs.causes.by_line()
        causes = dict(zip(by_line.line.tolist(), by_line.cause.tolist(), strict=True))
    bars = ReportBars(
        "PC samples" if inputs.is_sampled else "Latency: stall and issue",
        [f"{row.line} {row.text}{beside(trace, row.line)}" for row in rows],
        _latency(rows),
        inputs.unit,
        [*map(cells.line_anchor, lines)],
    )
    main = cells.table(
        cells.links(inputs, lines),
        cells.column("instruction", (cells.code(row.text) for row in rows)),
        *(cells.declared(field, [getattr(row, field.name) for row in rows]) for field in COSTS),
        cells.shares(
            "share",
            (row.latency for row in rows),
            int(inputs.costs.latency.sum()),
            "Of the latency of all instructions.",
        ),
        cells.texts(
            "main cause", (CAUSE_TEXT[Cause(causes[line])].name if line in causes else "" for line in lines)
        ),
        cells.sources(inputs, lines),
    )
    parts: list[Part] = [bars, main]
    if inputs.waves:
        parts.append(_hits(inputs))
    if any(row.text.startswith("s_endpgm") for row in rows):
        parts.append(ReportNote(_END))
    parts += _context(inputs, lines)
    return ReportSection("top", "Most expensive instructions", parts)


def _hits(inputs: ReportInputs) -> ReportTable:
    """Durations of the executions of each of these, and the place of the slowest."""
    starts, places = [], []
    found = inputs.spreads
    for line, one in found.items():
        slowest = one.slowest
        wave = inputs.trace.waves.id(slowest.wave)
        place = cells.place_text(wave, line, slowest.hit, slowest.start)
        starts.append(cells.number(slowest.start, anchor=cells.cycle_anchor(slowest.start, wave)))
        places.append(cells.code(place, cells.wave_anchor(wave)))
    spreads = [one.spread for one in found.values()]
    return cells.table(
        cells.links(inputs, list(found)),
        cells.numbers("min", (one.min for one in spreads)),
        cells.numbers("median", (one.median for one in spreads)),
        cells.numbers("p95", (one.p95 for one in spreads)),
        cells.numbers("max", (one.max for one in spreads)),
        cells.column("slowest hit at cycle", starts, is_number=True),
        cells.column("place of the slowest hit", places, _GOTO),
        caption="Latency of one hit, in cycles; Go to place in the window accepts the texts at the right",
    )


def _context(inputs: ReportInputs, lines: list[int]) -> list[Part]:
    """Listings of the instructions around the expensive ones; adjacent listings are merged."""
    shown = np.zeros(len(inputs.trace.code), dtype=bool)
    for line in lines:
        shown[max(0, line - CONTEXT) : line + CONTEXT + 1] = True
    borders = np.flatnonzero(np.diff(shown, prepend=False, append=False)).reshape(-1, 2).tolist()
    return [
        _listing(inputs, range(first, stop), set(lines), is_folded=ordinal >= MAX_UNFOLDED)
        for ordinal, (first, stop) in enumerate(borders)
    ]


def _listing(inputs: ReportInputs, rows: range, hot: set[int], *, is_folded: bool) -> ReportTable:
    costs, text, own = inputs.costs, inputs.trace.code.text, slice(rows.start, rows.stop)
    named = ", ".join(str(line) for line in rows if line in hot)
    instructions = (ReportCell(text[line], is_code=True, is_strong=line in hot) for line in rows)
    return cells.table(
        cells.places(rows),
        *(cells.numbers(field.title, getattr(costs, field.name)[own]) for field in COSTS),
        cells.shares("share", costs.latency[own], int(costs.latency.sum())),
        cells.column("instruction", instructions),
        cells.sources(inputs, rows),
        caption=f"Instructions {rows[0]} to {rows[-1]}, around {named}",
        is_folded=is_folded,
    )


def source_lines(inputs: ReportInputs) -> ReportSection | None:
    """The most expensive source lines; an instruction is charged to its innermost place."""
    trace = inputs.trace
    if not len(trace.code.chain_file):
        return None
    rows, _ = ranking_table(trace, inputs.costs, "source", "latency")
    caption = f"The first {min(TOP, len(rows))} of {count(len(rows))} source lines that cost anything"
    intro = "An instruction is charged to its innermost source place."
    return ReportSection(
        "sources", "Source lines", (cells.report_table(rows.head(TOP), trace, caption),), intro
    )


def loop_phases(inputs: ReportInputs) -> ReportSection | None:
    """Cycles before, in and after the main loop, its hottest instructions, and iterations of every loop."""
    if not inputs.waves or not len(inputs.loops.found.table):
        return None
    parts: list[Part] = []
    if inputs.loops.phases.loop >= 0 and len(inputs.loops.phases.wave):
        parts += _phases(inputs, inputs.loops)
    loops = loop_table(inputs.trace, inputs.loops.found.table).head(TOP_BLOCKS)
    parts.append(cells.report_table(loops, inputs.trace, "Loops; cycles of one iteration at the right"))
    return ReportSection("loops", "Prologue, loop and epilogue", parts, _ITERATION)


def _phases(inputs: ReportInputs, found: LoopSummary) -> list[Part]:
    phases, loops = found.phases, found.found.table
    cycles, stall = phases.cycles.sum(axis=0), phases.stall.sum(axis=0)
    head, branch = int(loops.head[phases.loop]), int(loops.branch[phases.loop])
    borders = (0, head, branch + 1, len(inputs.trace.code))
    hottest = [_hottest(inputs, *region) for region in pairwise(borders)]
    title = f"Around the loop of instructions {head:,} to {branch:,}, over {plural(len(phases.wave), 'wave')}"
    if phases.without:
        title += f"; {plural(phases.without, 'wave')} did not run it twice"
    series = (Series("stall", stall.tolist()), Series("other", (cycles - stall).tolist(), "idle"))
    shown = cells.table(
        cells.texts("phase", PHASES),
        cells.numbers("cycles", cycles),
        cells.shares("share", cycles, int(cycles.sum())),
        cells.numbers("stall", stall),
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


def blocks_of(inputs: ReportInputs) -> ReportSection | None:
    """Basic blocks by cost, with their loop depth."""
    found = listing(inputs.trace, "blocks", lambda: BRANCHES.of(inputs.trace, ()), inputs.costs)
    if not found.weight.any():
        return None
    top = found.top(min(TOP_BLOCKS, int(np.count_nonzero(found.weight))))
    parts: tuple[Part, ...] = (cells.report_table(top, inputs.trace),)
    if inputs.is_sampled:
        parts += (ReportNote("Numbers are PC samples."),)
    return ReportSection("blocks", "Basic blocks", parts)


def pc_map(inputs: ReportInputs) -> ReportSection | None:
    """Address, instruction and source, by blocks; for very long programs only the costliest in full."""
    program = inputs.trace.code
    found = blocks(program)
    if not len(found) or not (~program.is_label).any():
        return None
    costs = block_costs(found, program, inputs.costs)
    order = np.argsort(-costs.cost, kind="stable")
    fits = np.cumsum((found.stop - found.first)[order]) <= MAX_LINES
    listed = np.flatnonzero(costs.lines)
    chosen = np.sort(listed[np.argsort(-costs.cost[listed], kind="stable")[:MAX_BLOCKS]])
    first, last = found.first[chosen], found.stop[chosen] - 1
    low, high = program.address[first].tolist(), program.address[last].tolist()
    title = f"{count(len(chosen))} blocks"
    if len(chosen) < len(listed):
        title = f"the costliest {count(len(chosen))} of {count(len(listed))} blocks"
    names = (cells.code(found.name[row], _block_anchor(found, row)) for row in chosen.tolist())
    spans = (cells.code(f"{a:#x}–{b:#x}") for a, b in zip(low, high, strict=True))
    sources = (cells.code(_main_sources(inputs, found, row)) for row in chosen.tolist())
    overview = cells.table(
        cells.column("block", names),
        cells.links(inputs, first.tolist(), "first"),
        cells.links(inputs, last.tolist(), "last"),
        cells.column("addresses", spans),
        cells.numbers("hits", costs.hits[chosen], "Executions of its first instruction."),
        cells.shares(
            "share", costs.cost[chosen], int(costs.cost.sum()), "Of latency and idle of all instructions."
        ),
        cells.column("sources, most instructions first", sources),
        caption=title,
        is_folded=len(chosen) > MAX_UNFOLDED_BLOCKS,
    )
    intro = "Addresses are offsets in the code object. Open a block to see its instructions."
    left_out = len(found) - int(fits.sum())
    if left_out:
        rest = f"the instructions of {count(left_out)} cheap ones are left out; rcv isa lists them."
        intro += f" Of {count(len(found))} blocks, {rest}"
    details = (_block(inputs, found, row) for row in sorted(order[fits].tolist()))
    return ReportSection("map", "From addresses to sources", (overview, *details), intro)


def _block_anchor(found: Blocks, row: int) -> str:
    """The name of a block inside a report."""
    return f"block-{found.first[row]}"


def _main_sources(inputs: ReportInputs, found: Blocks, row: int) -> str:
    """The source places that most instructions of a block came from."""
    own = inputs.short_sources[found.first[row] : found.stop[row]]
    places = [place for place, _ in Counter(filter(None, own)).most_common()]
    more = f" and {count(len(places) - MAX_NAMED)} more" if len(places) > MAX_NAMED else ""
    return ", ".join(places[:MAX_NAMED]) + more


def _block(inputs: ReportInputs, found: Blocks, row: int) -> ReportTable:
    program = inputs.trace.code
    lines = range(int(found.first[row]), int(found.stop[row]))
    own = slice(lines.start, lines.stop)
    anchors = [_block_anchor(found, row), *[""] * (len(lines) - 1)]
    addresses = zip(program.address[own].tolist(), anchors, strict=True)
    costs = zip(program.is_label[own].tolist(), inputs.costs.hits[own].tolist(), strict=True)
    return cells.table(
        cells.places(lines),
        cells.column("address", (cells.code(f"{at:#x}", anchor=anchor) for at, anchor in addresses)),
        cells.column("instruction", map(cells.code, program.text[own])),
        cells.numbers("hits", (None if is_label else hits for is_label, hits in costs)),
        cells.column("source", map(cells.code, inputs.short_sources[own])),
        caption=f"{found.name[row]}: instructions {lines[0]} to {lines[-1]}",
        is_folded=True,
    )
