"""What the instruction table says about each code row, as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.cost.annotations import Annotation, Bars, Ingredients, annotation
from rcv_py.analysis.program.blocks import BlockCosts, Blocks, block_costs, labels
from rcv_py.model.kinds import REASON_TEXT, StallReason
from rcv_py.model.trace import Trace
from rcv_py.ui.core.costs import charged, unit_of
from rcv_py.ui.core.places import leaf_texts
from rcv_py.ui.panels.isa.margin import width_of
from rcv_py.ui.panels.isa.program import Program
from rcv_py.ui.table.table_model import Column, grouped


@dataclass(frozen=True, eq=False)
class IsaRows:
    """Everything the table draws: one entry a code row."""

    trace: Trace
    costs: CostColumns
    text: tuple[str, ...]  # instructions; names for labels
    place: tuple[str, ...]  # innermost source place in full
    cost: np.ndarray  # int64, what the bar shows; for a label what its block costs
    reason: np.ndarray  # int64, most frequent stall reason of the samples, -1 if there is none
    largest: int  # of the rows that are no labels
    total: int  # of the rows that are no labels
    bars: Bars  # what the bars show
    program: Program

    def section_costs(self, parts: Blocks) -> BlockCosts:
        """What blocks or sections cost."""
        return block_costs(parts, self.trace.code, self.costs)


def isa_rows(
    trace: Trace, has: Ingredients, structure: Program, mode: Annotation = Annotation.TOTAL
) -> IsaRows:
    """Return what the table draws for the costs in `has`, with bars of a mode."""
    code, costs = trace.code, has.costs
    cost = np.where(code.is_label, 0, charged(costs, has.show_idle))
    bars = annotation(mode, has)
    largest, total = int(cost.max(initial=0)), int(cost.sum())
    text = list(code.text)
    for label in labels(code, cost):
        text[label.row] = label.name
        cost[label.row] = label.cost
    return IsaRows(
        trace,
        costs,
        tuple(text),
        leaf_texts(code, trace.sources),
        cost,
        _reasons(trace),
        largest,
        total,
        bars,
        structure,
    )


def _reasons(trace: Trace) -> np.ndarray:
    table = trace.code.stall_reasons
    if table is None or not table.shape[1]:
        return np.full(len(trace.code), -1, dtype=np.int64)
    return np.where(table.sum(axis=1) > 0, np.argmax(table, axis=1), -1)


def _blank_zero(value: int) -> str:
    return grouped(value) if value else ""


def _share(value: float) -> str:
    return "" if value <= 0 else "<0.1" if value < 0.05 else f"{value:.1f}"


def _hex(value: int) -> str:
    return f"{int(value):#x}"


def isa_columns(rows: IsaRows, bar_scale: str) -> tuple[Column, ...]:
    """Return the columns of the table, for a thread trace or for PC samples; `bar_scale` names the scale."""
    code, unit = rows.trace.code, unit_of(rows.trace)
    lengths = np.rint(np.where(code.is_label, rows.cost * rows.bars.is_sum, rows.bars.total)).astype(np.int64)
    mode = rows.bars.mode.value
    share = 100.0 * rows.cost / max(1, rows.total)
    share_tip = f"Share of all {grouped(rows.total)} {unit} in this table; for a label, of its block."
    return (
        Column("gutter", "", (), has_values=False, width=42, tip="What waits for what; branch targets."),
        Column("fold", "", (), has_values=False, width=width_of(rows.program), tip="Blocks to fold; loops."),
        Column("row", "#", np.arange(len(code)), str, True, width=44, tip="Row of the program."),
        Column("instruction", "instruction", rows.text, width=330, tip="The instruction."),
        *(_sample_columns(rows) if rows.trace.has_pc_samples else ()),
        *(_trace_columns(rows) if rows.trace.has_thread_trace else ()),
        Column("share", "%", share, _share, True, width=46, tip=share_tip),
        Column(
            "cost",
            f"{rows.bars.mode.heading} · {bar_scale}",
            lengths,
            _blank_zero,
            True,
            width=88,
            is_left=True,
            tip=f"{mode} in {rows.bars.unit}: {rows.bars.of}. {bar_scale} scale; choose above the listing.",
        ),
        *(_idle_columns(rows) if rows.trace.has_thread_trace else ()),
        *(_place_columns(rows) if any(rows.place) else ()),
        Column("address", "address", code.address, _hex, True, width=84, tip="Byte in the code object."),
        Column("codeobj", "object", code.codeobj, str, True, width=56, tip="Code object."),
    )


def _trace_columns(rows: IsaRows) -> tuple[Column, ...]:
    costs, label = rows.costs, rows.costs.label
    return (
        Column("hits", "hits", costs.hits, grouped, True, width=46, tip=f"Executions. {label}."),
        Column(
            "latency",
            "latency",
            costs.latency,
            _blank_zero,
            True,
            width=84,
            tip=f"Cycles: stall + issue. {label}.",
        ),
        Column("stall", "stall", costs.stall, _blank_zero, True, width=52, tip="Cycles it waited to issue."),
    )


def _place_columns(rows: IsaRows) -> tuple[Column, ...]:
    tip = "Innermost source place."
    return (Column("place", "source", rows.place, is_elided_left=True, width=190, tip=tip),)


def _idle_columns(rows: IsaRows) -> tuple[Column, ...]:
    # Behind the bar, which shows it too: the bar must be in sight in a narrow window.
    tip = "Idle cycles in front of it."
    return (Column("idle", "idle", rows.costs.idle, _blank_zero, True, width=52, tip=tip),)


def _sample_columns(rows: IsaRows) -> tuple[Column, ...]:
    code = rows.trace.code
    nothing = np.zeros(len(code), dtype=np.int64)
    issued = nothing if code.samples_issued is None else code.samples_issued
    stalled = nothing if code.samples_stalled is None else code.samples_stalled
    reasons = tuple(_reason_text(code.stall_reasons, row, reason) for row, reason in enumerate(rows.reason))
    return (
        Column(
            "samples", "samples", issued + stalled, _blank_zero, True, width=68, tip="Samples at this row."
        ),
        Column("issued", "issued", issued, _blank_zero, True, width=60, tip="Samples that issued."),
        Column("stalled", "stalled", stalled, _blank_zero, True, width=62, tip="Samples that did not issue."),
        Column(
            "reason", "main stall reason", reasons, width=190, tip="Why most of its samples did not issue."
        ),
    )


def _reason_text(table: np.ndarray | None, row: int, reason: int) -> str:
    if reason < 0 or table is None:
        return ""
    name = REASON_TEXT.get(StallReason(reason), "") if reason < len(StallReason) else f"reason {reason}"
    return f"{name} {100.0 * table[row, reason] / table[row].sum():.0f} %"
