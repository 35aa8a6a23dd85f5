"""Sections about the program: its basic blocks, and a map of addresses to sources."""

from collections import Counter

import numpy as np

from rcv_py.analysis.program.blocks import Blocks, block_costs, blocks
from rcv_py.analysis.program.branches import BRANCHES
from rcv_py.base.text import Message, count
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import ReportNote, ReportSection, ReportTable
from rcv_py.features.isa.result import listing

TOP_BLOCKS = 12
MAX_LINES = 4000  # instructions of the map, one by one
MAX_BLOCKS = 4000  # that have a row
MAX_UNFOLDED_BLOCKS = 40  # in the overview of the map
MAX_NAMED = 3  # source places of a block
_OF = "Of latency and idle of all instructions."


def blocks_of(inputs: ReportInputs) -> ReportSection | None:
    """Basic blocks by cost, with their loop depth."""
    found = listing(inputs.trace, "blocks", lambda: BRANCHES.of(inputs.trace, ()), inputs.costs)
    if not found.weight.any():
        return None
    top = found.top(min(TOP_BLOCKS, int(np.count_nonzero(found.weight))))
    notes = [ReportNote("Numbers are PC samples.")] if inputs.is_sampled else []
    return ReportSection("blocks", "Basic blocks", (cells.report_table(top, inputs.trace), *notes))


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
    title = Message("{0} blocks", count(len(chosen)))
    if len(chosen) < len(listed):
        title = Message("the costliest {0} of {1} blocks", count(len(chosen)), count(len(listed)))
    names = (cells.code(found.name[row], _block_anchor(found, row)) for row in chosen.tolist())
    spans = (cells.code(f"{a:#x}–{b:#x}") for a, b in zip(low, high, strict=True))
    sources = (cells.code(_main_sources(inputs, found, row)) for row in chosen.tolist())
    overview = cells.table(
        cells.column("block", names),
        cells.links(inputs, first.tolist(), "first"),
        cells.links(inputs, last.tolist(), "last"),
        cells.column("addresses", spans),
        cells.numbers("hits", costs.hits[chosen], "Executions of its first instruction."),
        cells.shares("share", costs.cost[chosen], int(costs.cost.sum()), _OF),
        cells.column("sources, most instructions first", sources),
        caption=title,
        is_folded=len(chosen) > MAX_UNFOLDED_BLOCKS,
    )
    intro = "Addresses are offsets in the code object. Open a block to see its instructions."
    left_out = len(found) - int(fits.sum())
    if left_out:
        rest = "the instructions of {0} cheap blocks are left out; rcv isa lists them."
        intro += Message(" Of {0} blocks, {1}", count(len(found)), Message(rest, count(left_out)))
    details = (_block(inputs, found, row) for row in sorted(order[fits].tolist()))
    return ReportSection("map", "From addresses to sources", (overview, *details), intro)


def _block_anchor(found: Blocks, row: int) -> str:
    """The name of a block inside a report."""
    return f"block-{found.first[row]}"


def _main_sources(inputs: ReportInputs, found: Blocks, row: int) -> str:
    """The source places that most instructions of a block came from."""
    own = inputs.short_sources[found.first[row] : found.stop[row]]
    places = [place for place, _ in Counter(filter(None, own)).most_common()]
    more = Message(" and {0} more", count(len(places) - MAX_NAMED)) if len(places) > MAX_NAMED else ""
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
        caption=Message("{0}: instructions {1} to {2}", found.name[row], lines[0], lines[-1]),
        is_folded=True,
    )
