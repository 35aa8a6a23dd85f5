"""What the instruction table says about each code row, as columns and as a tooltip."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from rcv_py.analysis.cost_columns import CostColumns
from rcv_py.analysis.labels import labels
from rcv_py.base.text import percent
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, REASON_TEXT, StallReason, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.kit.costs import charged, unit_of
from rcv_py.ui.kit.places import leaf_texts, place_text
from rcv_py.ui.kit.table_model import Column, grouped


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

    @property
    def samples_only(self) -> bool:
        """Whether the capture holds PC samples and no traced waves."""
        return not self.trace.has_thread_trace


def isa_rows(trace: Trace, costs: CostColumns, show_idle: bool) -> IsaRows:
    """Return what the table draws for the given costs."""
    code = trace.code
    cost = np.where(code.is_label, 0, charged(costs, show_idle))
    largest, total = int(cost.max(initial=0)), int(cost.sum())
    text = list(code.text)
    for label in labels(code, cost):
        text[label.row] = label.name
        cost[label.row] = label.cost
    return IsaRows(
        trace, costs, tuple(text), leaf_texts(code, trace.sources), cost, _reasons(trace), largest, total
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
    """Return the columns of the table, for a thread trace or for PC samples."""
    code, unit = rows.trace.code, unit_of(rows.trace)
    share = 100.0 * rows.cost / max(1, rows.total)
    share_tip = f"Share of all {grouped(rows.total)} {unit} in this table; for a label, of its block."
    return (
        Column("gutter", "", (), has_values=False, width=42, tip="What waits for what; branch targets."),
        Column("row", "#", np.arange(len(code)), str, True, width=44, tip="Row of the program."),
        Column("instruction", "instruction", rows.text, width=330, tip="The instruction."),
        *(_sample_columns(rows) if rows.trace.has_pc_samples else ()),
        *(_trace_columns(rows) if rows.trace.has_thread_trace else ()),
        Column("share", "%", share, _share, True, width=46, tip=share_tip),
        Column(
            "cost",
            f"cost · {bar_scale}",
            rows.cost,
            _blank_zero,
            True,
            width=84,
            is_left=True,
            tip=f"Bar of {unit}, {bar_scale} scale; choose the scale in this header's menu.",
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


def isa_tip(rows: IsaRows, row: int) -> str:
    """Return the tooltip of a code row as rich text: instruction, kind, cost split, inline chain."""
    code, costs = rows.trace.code, rows.costs
    if code.is_label[row]:
        share = percent(int(rows.cost[row]), rows.total)
        return f"<b>{escape(rows.text[row])}</b><br>{grouped(rows.cost[row])} {unit_of(rows.trace)}, {share}"
    kind = int(code.kind[row])
    about = KIND_TEXT[TokenKind(kind)] if kind < KIND_COUNT else f"kind {kind}"
    lines = [f"<tt>{escape(rows.text[row])}</tt>", f"row {row}, {about}"]
    if rows.trace.has_thread_trace:
        hits, latency, stall, idle = (
            int(c[row]) for c in (costs.hits, costs.latency, costs.stall, costs.idle)
        )
        lines.append(
            f"{grouped(hits)} hits · latency {grouped(latency)} = stall {grouped(stall)}"
            f" + issue {grouped(latency - stall)} · idle before {grouped(idle)}"
        )
    if rows.total and rows.cost[row]:
        lines.append(f"{percent(int(rows.cost[row]), rows.total)} of all {unit_of(rows.trace)}")
    lines += _chain_lines(rows.trace, row)
    return "<br>".join(lines)


def _chain_lines(trace: Trace, row: int) -> list[str]:
    lines = []
    for file, line in trace.code.chain(row):
        source = trace.sources[file].lines if 0 <= file < len(trace.sources) else None
        text = source[line - 1].strip() if source is not None and 1 <= line <= len(source) else ""
        place = escape(place_text(trace.sources, file, line))
        lines.append(f"{place} <tt>{escape(text[:120])}</tt>")
    return lines
