"""The listing with costs, its basic blocks and its branches, as rows of plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rcv_py.analysis.core.cost_columns import CostColumns, cost_columns
from rcv_py.analysis.cost.places import source_of
from rcv_py.analysis.program.blocks import Blocks, block_costs, blocks
from rcv_py.analysis.program.branches import Branches, branch_table, branches
from rcv_py.analysis.program.flow import Flow, flow
from rcv_py.analysis.program.loops import loops
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

NAMES = {
    "lines": ("row", "hits", "latency", "stall", "idle", "share", "block", "instruction", "source"),
    "blocks": (
        "block", "first", "last", "lines", "hits", "latency", "stall", "idle", "share", "loops", "name",
        "source",
    ),
    "branches": ("row", "target", "taken", "not_taken", "taken_share", "instruction", "source"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Listing:
    """One of the three: values by row, in the order of `NAMES`; a target of a branch is -1 if unknown."""

    kind: str
    rows: list[tuple[Any, ...]]
    weight: list[int]  # what rows are ranked by
    measure: str  # what latency and stall are counted in
    more: tuple[str, ...] = ()  # columns in front of the text that were added

    @property
    def names(self) -> tuple[str, ...]:
        """The columns; the last two are the text of a row (a block's name) and its source place."""
        *names, text, source = NAMES[self.kind]
        return (*names, *self.more, text, source)

    def texts(self) -> list[str]:
        """Return the instruction of each row, of blocks their names."""
        return [str(row[-2]) for row in self.rows]

    def with_column(self, name: str, values: Sequence[Any]) -> Listing:
        """Return the listing with one more column in front of the text."""
        rows = [(*row[:-2], value, *row[-2:]) for row, value in zip(self.rows, values, strict=True)]
        return replace(self, rows=rows, more=(*self.more, name))

    def top(self, count: int) -> list[tuple[Any, ...]]:
        """Return all rows in program order (0), or the costliest ones, the largest first."""
        if not count:
            return self.rows
        order = sorted(range(len(self.rows)), key=lambda row: -self.weight[row])[:count]
        return [self.rows[row] for row in order]


def listing(
    trace: Trace,
    kind: str,
    read: Callable[[], Iterable[WaveBatch]],
    costs: CostColumns | None = None,
    *,
    show_idle: bool = True,
) -> Listing:
    """Return the `lines`, `blocks` or `branches` of the program; `read` is called if jumps are not known.

    `costs` are by default those of all waves; shares of lines are of latency, and of idle if it is shown.
    """
    costs = costs or cost_columns(trace.code, LatencyMode.SUM_ALL, None, None)
    how = flow(trace.code)
    found = _jumps(trace, how, kind == "branches", read)
    if kind == "branches":
        return _branches(trace, how, found, costs)
    if kind == "blocks":
        return _blocks(trace, blocks(trace.code, found), costs)
    return _lines(trace, blocks(trace.code, found), costs, show_idle)


def _jumps(
    trace: Trace, how: Flow, is_needed: bool, read: Callable[[], Iterable[WaveBatch]]
) -> Branches | None:
    """Read the waves if their jumps are asked for, or if a branch that ran does not say where it goes."""
    unknown = how.is_branch & (how.target < 0) & (trace.code.hits > 0)
    if not trace.has_thread_trace or not (is_needed or unknown.any()):
        return None
    return branches(read(), trace.code)


def _lines(trace: Trace, table: Blocks, costs: CostColumns, show_idle: bool) -> Listing:
    code = trace.code
    cost = np.where(code.is_label, 0, costs.cost if show_idle else costs.latency)
    whole = max(1, int(cost.sum()))
    numbers = (costs.hits, costs.latency, costs.stall, costs.idle)
    rows = [
        (
            row,
            *values,
            round(int(cost[row]) / whole, 6),
            table.name[block],
            code.text[row],
            source_of(trace, row),
        )
        for row, (block, *values) in enumerate(
            zip(table.of_row.tolist(), *(column.tolist() for column in numbers), strict=True)
        )
    ]
    return Listing("lines", rows, cost.tolist(), costs.label)


def _blocks(trace: Trace, table: Blocks, costs: CostColumns) -> Listing:
    sums, depth = block_costs(table, trace.code, costs), loops(table).depth_of_block
    whole = max(1, costs.total)
    values = (table.first, table.stop - 1, sums.lines, sums.hits, sums.latency, sums.stall, sums.idle)
    rows = [
        (
            block,
            *row,
            round(int(sums.cost[block]) / whole, 6),
            int(depth[block]),
            table.name[block],
            source_of(trace, int(table.first[block])),
        )
        for block, row in enumerate(zip(*(column.tolist() for column in values), strict=True))
    ]
    return Listing("blocks", rows, sums.cost.tolist(), costs.label)


def _branches(trace: Trace, how: Flow, found: Branches | None, costs: CostColumns) -> Listing:
    empty = np.zeros(0, dtype=np.int64)
    # Not `found or …`: what was seen is as long as there were jumps, and so false where none was taken.
    seen = Branches(empty, empty, empty, empty) if found is None else found
    table = branch_table(seen, how.is_branch, how.target)
    values = zip(
        table.row.tolist(), table.target.tolist(), table.taken.tolist(), table.not_taken.tolist(), strict=True
    )
    # What ran in waves that could not be read went nobody knows where.
    ran = seen.ran if len(seen.ran) == len(trace.code) else np.zeros(len(trace.code), dtype=np.int64)
    is_known = (ran > 0) | ((trace.code.hits == 0) & (found is not None))
    rows = [
        (
            row,
            target,
            yes if is_known[row] else None,
            no if is_known[row] else None,
            round(yes / (yes + no), 6) if yes + no else None,
            trace.code.text[row],
            source_of(trace, row),
        )
        for row, target, yes, no in values
    ]
    return Listing("branches", rows, (table.taken + table.not_taken).tolist(), costs.label)
