"""`rcv isa`: the listing with costs, its basic blocks, or its branches."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rcv_py.analysis.blocks import Blocks, block_costs, blocks
from rcv_py.analysis.branches import Branches, branch_table, branches
from rcv_py.analysis.cost_columns import CostColumns
from rcv_py.analysis.flow import Flow, flow
from rcv_py.analysis.labels import labels
from rcv_py.analysis.loops import loops
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.chosen import MODES, asked_costs, charged, matched, tuples_in_order
from rcv_py.cli.isa_bars import bar_lengths
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.work.load import load_all


@dataclass(frozen=True, slots=True)
class _Table:
    """What one of the three listings prints: columns, values by row, what is ranked by `--top`."""

    kind: str
    unit: tuple[str, str]  # one, several
    columns: tuple[Column, ...]
    rows: list[tuple[Any, ...]]
    weight: list[int]


def run(arguments: Namespace) -> int:
    """Print the listing, the blocks or the branches of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    costs = asked_costs(trace, arguments.clock, MODES[arguments.mode], arguments.wave, arguments.hit)
    how = flow(trace.code)
    found = _jumps(trace, how, arguments.branches)
    if arguments.branches:
        table = _branches(trace, how, found)
    elif arguments.labels:
        table = _labels(trace, costs)
    elif arguments.blocks:
        table = _blocks(trace, blocks(trace.code, found), costs)
    else:
        table = _lines(trace, blocks(trace.code, found), costs, arguments)
    head = [column.title for column in table.columns]
    table = _matching(trace, table, arguments)
    shown = tuples_in_order(head, _top(table, arguments.top), arguments)
    if arguments.csv:
        sys.stdout.write(csv_text(head, shown))
    elif arguments.json:
        document = {
            "capture": trace.name,
            "kind": table.kind,
            "measure": costs.label,
            "of": len(table.rows),
            "rows": [dict(zip(head, row, strict=True)) for row in shown],
        }
        print(json_text("rcv.isa/1", document))
    else:
        print_table(table.columns, [_cells(table.columns, row) for row in shown])
        print(f"\n{count(len(shown))} of {plural(len(table.rows), *table.unit)}.")
    return 0


def _jumps(trace: Trace, how: Flow, is_needed: bool) -> Branches | None:
    """Read the waves if their jumps are asked for, or if a branch that ran does not say where it goes."""
    unknown = how.is_branch & (how.target < 0) & (trace.code.hits > 0)
    if not trace.has_thread_trace or not (is_needed or unknown.any()):
        return None
    return branches(load_all(trace), trace.code)


def _matching(trace: Trace, table: _Table, arguments: Namespace) -> _Table:
    """Keep the rows whose instruction matches; in the other tables the last column is looked at."""
    texts = [str(row[-1]) for row in table.rows]
    kept = matched(texts, arguments)
    if kept is None:
        return table
    rows = [row for at, row in enumerate(table.rows) if at in kept]
    return replace(table, rows=rows, weight=[one for at, one in enumerate(table.weight) if at in kept])


def _labels(trace: Trace, costs: CostColumns) -> _Table:
    names = ("row", "latency", "share", "codeobj", "address")
    columns = (*(Column(name, True) for name in names), Column("name", elastic="right"))
    found = labels(trace.code, costs.latency)
    rows = [(one.row, one.cost, round(one.share, 6), one.codeobj, one.address, one.name) for one in found]
    return _Table("labels", ("label", "labels"), columns, rows, [one.cost for one in found])


def _lines(trace: Trace, table: Blocks, costs: CostColumns, arguments: Namespace) -> _Table:
    code = trace.code
    cost = np.where(code.is_label, 0, charged(costs, arguments))
    whole = max(1, int(cost.sum()))
    bars = () if arguments.bars is None else (bar_lengths(trace, costs, arguments),)
    names = ("row", "hits", "latency", "stall", "idle", "share", *("bar" for _ in bars))
    columns = (
        *(Column(name, True) for name in names),
        Column("block"),
        Column("instruction", elastic="right"),
    )
    numbers = (costs.hits, costs.latency, costs.stall, costs.idle)
    rows = [
        (
            row,
            *values,
            round(int(cost[row]) / whole, 6),
            *(bar[row] for bar in bars),
            table.name[block],
            code.text[row],
        )
        for row, (block, *values) in enumerate(
            zip(table.of_row.tolist(), *(column.tolist() for column in numbers), strict=True)
        )
    ]
    return _Table("lines", ("row", "rows"), columns, rows, cost.tolist())


def _blocks(trace: Trace, table: Blocks, costs: CostColumns) -> _Table:
    sums, depth, whole = (
        block_costs(table, trace.code, costs),
        loops(table).depth_of_block,
        max(1, costs.total),
    )
    names = ("block", "first", "last", "lines", "hits", "latency", "stall", "idle", "share", "loops")
    columns = (*(Column(name, True) for name in names), Column("name", elastic="right"))
    values = (table.first, table.stop - 1, sums.lines, sums.hits, sums.latency, sums.stall, sums.idle)
    rows = [
        (block, *row, round(int(sums.cost[block]) / whole, 6), int(depth[block]), table.name[block])
        for block, row in enumerate(zip(*(column.tolist() for column in values), strict=True))
    ]
    return _Table("blocks", ("block", "blocks"), columns, rows, sums.cost.tolist())


def _branches(trace: Trace, how: Flow, found: Branches | None) -> _Table:
    empty = np.zeros(0, dtype=np.int64)
    table = branch_table(found or Branches(empty, empty, empty, empty), how.is_branch, how.target)
    names = ("row", "target", "taken", "not_taken", "taken_share")
    columns = (*(Column(name, True) for name in names), Column("instruction", elastic="right"))
    values = zip(
        table.row.tolist(), table.target.tolist(), table.taken.tolist(), table.not_taken.tolist(), strict=True
    )
    rows = [
        (row, target, yes, no, round(yes / max(1, yes + no), 6), trace.code.text[row])
        for row, target, yes, no in values
    ]
    return _Table("branches", ("branch", "branches"), columns, rows, (table.taken + table.not_taken).tolist())


def _top(table: _Table, top: int) -> list[tuple[Any, ...]]:
    """Return all rows in program order, or the costliest ones, the largest first."""
    if not top:
        return table.rows
    order = sorted(range(len(table.rows)), key=lambda row: -table.weight[row])[:top]
    return [table.rows[row] for row in order]


def _cells(columns: tuple[Column, ...], row: tuple[Any, ...]) -> list[str]:
    cells = []
    for column, value in zip(columns, row, strict=True):
        if isinstance(value, float):
            cells.append(percent(value, 1) if value else "")
        elif column.title == "target" and value < 0:
            cells.append("unknown")
        else:
            cells.append(count(value) if isinstance(value, int) else value)
    return cells
