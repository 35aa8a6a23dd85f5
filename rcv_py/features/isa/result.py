"""The program: its instructions with costs, its basic blocks, its branches and its labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import CostColumns, cost_columns
from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.analysis.program.blocks import BlockCosts, Blocks, block_costs, blocks
from rcv_py.analysis.program.branches import Branches, Flow, branch_table, branches, flow
from rcv_py.analysis.program.loops import loops
from rcv_py.base.record import Record
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.field import PEOPLE, unknown
from rcv_py.results.places import instructions, sources
from rcv_py.results.table import Columns, DictionaryColumn, ResultTable, Spec

_ROW = common.INSTRUCTION_INDEX
_COSTS = (common.COSTS[0], *unknown(*common.COSTS[1:], replace(common.COST_SHARE, kind=kinds.PART)))
_INSTRUCTION = common.INSTRUCTION_TEXT
_SOURCE = kinds.SOURCE("source", "Innermost source place as file:line; empty if there is none")
_BAR = "Length of the bar of --bars, in cycles; for reasons, in samples"
LINES = Spec(
    "isa lines",
    "Instructions in the order of the program; with --top by latency and idle.",
    "instruction",
    _ROW,
    *_COSTS,
    kinds.TEXT("block", "Name of the basic block"),
    kinds.NUMBER.maybe("bar", _BAR, digits=3, is_optional=True),
    _INSTRUCTION,
    _SOURCE,
)
BLOCKS = Spec(
    "isa blocks",
    "Basic blocks in the order of the program; with --top by latency and idle.",
    "block",
    kinds.INDEX("block", "Number of the block, counted from 0"),
    kinds.ROW("first_instruction", "First instruction, counted from 0", "first"),
    kinds.ROW("last_instruction", "Last instruction, counted from 0", "last"),
    kinds.COUNT("instructions", "Instructions in it", key="lines"),
    kinds.COUNT("hits", "Executions of its first instruction"),
    *_COSTS[1:],
    kinds.COUNT("loops", "Loops that contain it"),
    kinds.NOTE("name", "Name of the block"),
    kinds.SOURCE("source", "Source place of its first instruction as file:line; empty if none"),
)
BRANCHES = Spec(
    "isa branches",
    "Branches in the order of the program; with --top by executions.",
    "branch",
    _ROW,
    kinds.ROW_OR_NONE("target_instruction", "Target instruction; -1 if unknown", "target"),
    kinds.COUNT.maybe("taken", "Executions that jumped; null if no wave was traced"),
    kinds.COUNT.maybe("not_taken", "Executions that fell through; null if no wave was traced"),
    kinds.SHARE.maybe("taken_share_of_hits", "Part of the executions that jumped; null if there was none"),
    _INSTRUCTION,
    _SOURCE,
)
LABELS = Spec(
    "isa labels",
    "Labels in the order of the program.",
    "label",
    replace(_ROW, key="row"),
    kinds.CYCLES("latency", "Latency from here to the next label", key="cost"),
    kinds.SHARE("share_of_labels", "Part of what all labels cost", "share", key="share"),
    kinds.SIGNED_INDEX("code_object", "Number of the code object", key="codeobj"),
    kinds.ADDRESS("address", "Address in the code object"),
    kinds.CODE("name", "Name of the label"),
)
FACTS = (common.CAPTURE, common.MEASURE, common.SHARE_BASE, common.TOTAL_ROWS)
VARIANTS = {  # kind of a row → its table and its option
    "instructions": (LINES, "Instructions."),
    "blocks": (BLOCKS, "Basic blocks: --blocks."),
    "branches": (BRANCHES, "Branches: --branches."),
    "labels": (LABELS, "Labels: --labels."),
}
LISTED = ("instructions", "blocks", "branches")
MODES = {  # of `--mode`
    "sum": LatencyMode.SUM_ALL,
    "mean": LatencyMode.MEAN_ALL,
    "hit": LatencyMode.ITERATION,
    "wave-sum": LatencyMode.SUM_WAVE,
    "wave-mean": LatencyMode.MEAN_WAVE,
    "wave-max": LatencyMode.MAX_WAVE,
}


class IsaListing(Record):
    """One of the tables, and the rank of its rows."""

    table: ResultTable
    weight: np.ndarray  # int64 [n]
    measure: str  # what latency and stall are counted in

    def at(self, rows: np.ndarray) -> IsaListing:
        """Return the listing of some rows."""
        return replace(self, table=self.table[rows], weight=self.weight[rows])

    def top(self, count: int) -> ResultTable:
        """Return all rows in program order (0), or the costliest ones, the largest first."""
        return self.table[np.argsort(-self.weight, kind="stable")[:count]] if count else self.table


def listing(
    trace: Trace,
    kind: str,
    jumps: Callable[[], Branches],
    costs: CostColumns | None = None,
    *,
    show_idle: bool = True,
) -> IsaListing:
    """Return instructions, `blocks` or `branches` of the program; `jumps` is called only if needed.

    `costs` default to all waves; shares are of latency, and of idle if it is shown.
    """
    costs, how, found = costs or cost_columns(trace.code), flow(trace.code), None
    # Waves are read if their jumps are requested, or if the target of an executed branch is unknown.
    is_unknown = how.is_branch & (how.target < 0) & (trace.code.hits > 0)
    if trace.has_thread_trace and (kind == "branches" or is_unknown.any()):
        found = jumps()
    if kind == "branches":
        return _branches(trace, how, found, costs)
    if kind == "blocks":
        return _blocks(trace, blocks(trace.code, found), costs)
    return _lines(trace, blocks(trace.code, found), costs, show_idle)


def _lines(trace: Trace, table: Blocks, costs: CostColumns, show_idle: bool) -> IsaListing:
    code = trace.code
    cost = np.where(code.is_label, 0, costs.cost if show_idle else costs.latency)
    columns: Columns = {
        "instruction": np.arange(len(code)),
        **_known(costs.hits >= costs.least, costs, cost / max(1, int(cost.sum()))),
        "block": DictionaryColumn(table.name, table.of_row),
        "text": code.text,
        "source": leaf_texts(code, trace.sources),
    }
    spec = common.measured_in(LINES, costs.label)
    if code.is_sampled and code.samples_issued is None:
        spec = spec.hide(PEOPLE, "stall")  # host traps do not record it
    return IsaListing(ResultTable.of(spec, costs, columns), cost, costs.label)


def _known(is_known: np.ndarray, of: CostColumns | BlockCosts, share: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of costs, with nan where they are not known."""
    columns = {"latency": of.latency, "stall": of.stall, "idle": of.idle, "share_of_total": share}
    return {name: np.where(is_known, column, np.nan) for name, column in columns.items()}


def _blocks(trace: Trace, table: Blocks, costs: CostColumns) -> IsaListing:
    sums = block_costs(table, trace.code, costs)
    columns: Columns = {
        "block": np.arange(len(table)),
        "first_instruction": table.first,
        "last_instruction": table.stop - 1,
        **_known(sums.hits >= costs.least, sums, sums.cost / max(1, costs.total)),
        "loops": loops(table).depth_of_block,
        "name": table.name,
        "source": sources(trace, table.first),
    }
    spec = common.measured_in(BLOCKS, costs.label)
    return IsaListing(ResultTable.of(spec, sums, columns), sums.cost, costs.label)


def _branches(trace: Trace, how: Flow, found: Branches | None, costs: CostColumns) -> IsaListing:
    # Not `found or …`: what was seen is as long as there were jumps, and so false where none was taken.
    seen = branches((), trace.code) if found is None else found
    table = branch_table(seen, how)
    # Jumps in waves that could not be read have unknown targets.
    is_known = ((seen.ran > 0) | ((trace.code.hits == 0) & (found is not None)))[table.row]
    both = table.taken + table.not_taken
    columns: Columns = {
        "instruction": table.row,
        "target_instruction": table.target,
        "taken": np.where(is_known, table.taken, np.nan),
        "not_taken": np.where(is_known, table.not_taken, np.nan),
        "taken_share_of_hits": np.where(both > 0, table.taken / np.maximum(1, both), np.nan),
        "text": instructions(trace, table.row),
        "source": sources(trace, table.row),
    }
    return IsaListing(ResultTable(BRANCHES, columns), both, costs.label)
