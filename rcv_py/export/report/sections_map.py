"""From addresses to instructions and sources: a line a block, and folded below it every instruction."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.program.blocks import Blocks, block_costs, blocks
from rcv_py.base.text import count
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Cell, Heading, Part, Section, Table, code, number, share
from rcv_py.export.report.places import line_anchor

MOST_LINES = 4000  # that are told one by one
MOST_BLOCKS = 4000  # that have a row
MOST_NAMED = 3  # source places of a block
_HEADS = (
    Heading("line", True),
    Heading("address"),
    Heading("instruction"),
    Heading("hits", True),
    Heading("source"),
)


def pc_map(inputs: ReportInputs) -> Section | None:
    """Address, instruction and source, by blocks; of a very long program the costliest blocks in full."""
    code_ = inputs.trace.code
    table = blocks(code_)
    if not len(code_) or not len(table) or not (~code_.is_label).any():
        return None
    told = _told(inputs, table)
    parts: list[Part] = [_overview(inputs, table)]
    parts += [_block(inputs, table, row) for row in np.flatnonzero(told).tolist()]
    left = int(np.count_nonzero(~told))
    intro = "Addresses are those inside of the code object. Open a block to see its instructions."
    if left:
        rest = f"the instructions of {count(left)} cheap ones are left out; rcv isa lists them."
        intro += f" Of {count(len(table))} blocks, {rest}"
    return Section("map", "From addresses to sources", tuple(parts), intro)


def _told(inputs: ReportInputs, table: Blocks) -> np.ndarray:
    """Which blocks are told in full: as many of the costliest as fit."""
    cost = block_costs(table, inputs.trace.code, inputs.costs).cost
    order = np.argsort(-cost, kind="stable")
    fits = np.cumsum((table.stop - table.first)[order]) <= MOST_LINES
    told = np.zeros(len(table), dtype=bool)
    told[order[fits]] = True
    return told


def _overview(inputs: ReportInputs, table: Blocks) -> Table:
    code_, costs = inputs.trace.code, block_costs(table, inputs.trace.code, inputs.costs)
    whole, rows = int(costs.cost.sum()), []
    listed = np.flatnonzero(costs.lines)
    chosen = np.sort(listed[np.argsort(-costs.cost[listed], kind="stable")[:MOST_BLOCKS]])
    for row in chosen.tolist():
        first, stop = int(table.first[row]), int(table.stop[row])
        low, high = int(code_.address[first]), int(code_.address[stop - 1])
        rows.append(
            (
                code(table.name[row], block_anchor(first)),
                number(first, line_anchor(first)),
                number(stop - 1, line_anchor(stop - 1)),
                code(f"{low:#x}–{high:#x}"),
                number(int(costs.hits[row])),
                share(int(costs.cost[row]), whole),
                code(_sources(inputs, first, stop)),
            )
        )
    heads = (
        Heading("block"),
        Heading("first line", True),
        Heading("last line", True),
        Heading("addresses"),
        Heading("hits", True, "Executions of its first instruction."),
        Heading("share", True, "Of latency and idle of all lines."),
        Heading("sources, most instructions first"),
    )
    of_all = f"the costliest {count(len(rows))} of {count(len(listed))} blocks"
    title = f"{count(len(rows))} blocks" if len(rows) == len(listed) else of_all
    return Table(heads, tuple(rows), title, is_folded=len(rows) > 40)


def block_anchor(first: int) -> str:
    """The name of the block that begins with a line."""
    return f"block-{first}"


def _sources(inputs: ReportInputs, first: int, stop: int) -> str:
    """The source places that most instructions of a block came from."""
    found: dict[str, int] = {}
    for place in inputs.short_sources[first:stop]:
        if place:
            found[place] = found.get(place, 0) + 1
    named = sorted(found, key=lambda place: -found[place])
    more = f" and {count(len(named) - MOST_NAMED)} more" if len(named) > MOST_NAMED else ""
    return ", ".join(named[:MOST_NAMED]) + more


def _block(inputs: ReportInputs, table: Blocks, row: int) -> Table:
    code_, hits = inputs.trace.code, inputs.costs.hits
    first, stop = int(table.first[row]), int(table.stop[row])
    rows = tuple(
        (
            number(line, anchor=line_anchor(line)),
            code(f"{int(code_.address[line]):#x}", anchor=block_anchor(first) if line == first else ""),
            code(code_.text[line]),
            number(int(hits[line])) if not code_.is_label[line] else Cell(""),
            code(inputs.short_sources[line]),
        )
        for line in range(first, stop)
    )
    return Table(_HEADS, rows, f"{table.name[row]}: lines {first} to {stop - 1}", is_folded=True)
