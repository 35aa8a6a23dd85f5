"""Tooltips of the instruction table: of a row, of a folded block, of a label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.program.blocks import Blocks
from rcv_py.base.text import percent, plural
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.core.costs import unit_of
from rcv_py.ui.core.plain_text import Rich, joined, rich
from rcv_py.ui.panels.isa.columns import IsaRows
from rcv_py.ui.table.table_model import grouped

UNFOLD = "Click the triangle to unfold it."


def isa_tip(rows: IsaRows, row: int, bar: Sequence[str] = (), hits: str = "") -> Rich:
    """Return the tooltip of a code row as rich text.

    Instruction, kind, cost split, `hits` (of the selected wave), `bar` (what its bar shows), block, branch
    counts and the chain of source places.
    """
    code = rows.trace.code
    if code.is_label[row]:
        share = percent(int(rows.cost[row]), rows.total)
        cost = f"{grouped(rows.cost[row])} {unit_of(rows.trace)}, {share}"
        return rich("<b>{}</b><br>{}", rows.text[row], cost)
    kind = int(code.kind[row])
    where = f"{int(code.address[row]):#x} in object {int(code.codeobj[row])}"
    about = KIND_TEXT[TokenKind(kind)] if kind < KIND_COUNT else f"kind {kind}"
    lines: list[str] = [rich("<tt>{}</tt>", rows.text[row]), f"row {grouped(row)}, {about}, {where}"]
    lines += _cost_lines(rows, row)
    if hits:
        lines.append(hits)
    lines += bar
    note = rows.program.branch_notes.get(row)
    lines += [rows.program.block_text(row), *([note] if note else [])]
    lines += _chain_lines(rows.trace, row)
    return joined("<br>", lines)


def fold_tip(rows: IsaRows, parts: Blocks, section: int) -> Rich:
    """Return the tooltip of a folded section: its sums, its costliest line, how to unfold it."""
    costs = rows.section_costs(parts)
    first, stop = int(parts.first[section]), int(parts.stop[section])
    name = rich("<b>{}</b>", parts.name[section])
    if not costs.executed[section]:
        what = "never executed" if rows.trace.has_thread_trace else "without samples"
        return joined("<br>", [name, f"{plural(stop - first, 'row')}, {what}", UNFOLD])
    cost = np.where(rows.trace.code.is_label, 0, rows.cost)[first:stop]
    top = first + int(np.argmax(cost))
    lines = [
        name,
        f"rows {grouped(first)} to {grouped(stop - 1)}, {plural(int(costs.lines[section]), 'instruction')}",
        f"{grouped(costs.hits[section])} hits · latency {grouped(costs.latency[section])}"
        f" · stall {grouped(costs.stall[section])} · idle {grouped(costs.idle[section])}",
        f"{percent(float(cost.sum()), rows.total)} of all {unit_of(rows.trace)}",
        rich("most of it: {} <tt>{}</tt>", grouped(top), rows.text[top]),
        UNFOLD,
    ]
    return joined("<br>", lines)


def _cost_lines(rows: IsaRows, row: int) -> list[str]:
    lines, costs = [], rows.costs
    if rows.trace.has_thread_trace:
        hits, latency, stall, idle = (
            int(column[row]) for column in (costs.hits, costs.latency, costs.stall, costs.idle)
        )
        lines.append(
            f"{grouped(hits)} hits · latency {grouped(latency)} = stall {grouped(stall)}"
            f" + issue {grouped(latency - stall)} · idle before {grouped(idle)}"
        )
    if rows.total and rows.cost[row]:
        lines.append(f"{percent(int(rows.cost[row]), rows.total)} of all {unit_of(rows.trace)}")
    return lines


def _chain_lines(trace: Trace, row: int) -> list[Rich]:
    lines = []
    for file, line in trace.code.chain(row):
        source = trace.sources[file].lines if 0 <= file < len(trace.sources) else None
        text = source[line - 1].strip() if source is not None and 1 <= line <= len(source) else ""
        place = place_text(trace.sources, file, line)
        lines.append(rich("{} <tt>{}</tt>", place, text[:120]))
    return lines
