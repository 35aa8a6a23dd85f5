"""The data of each row of the instruction table: columns, and tooltips of rows, blocks and labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.cost.annotations import Annotation, Ingredients, LineBars, annotation
from rcv_py.analysis.cost.pc_samples import reason_name
from rcv_py.analysis.cost.place_text import known_place, line_text, place_text
from rcv_py.analysis.program.blocks import BlockCosts, Blocks, block_costs, labels
from rcv_py.base.record import Record
from rcv_py.base.text import Message, join_texts, percent, plural
from rcv_py.features.isa.arrows import LEGEND, MIN_PX
from rcv_py.features.isa.program import ProgramStructure
from rcv_py.features.isa.result import LABELS, LINES
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import memoized
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.results.common import SUMS
from rcv_py.ui.core.costs import charged, unit_of
from rcv_py.ui.core.panel import Sheet
from rcv_py.ui.core.plain_text import Rich, joined, rich
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.times import Times
from rcv_py.ui.table.code_panel import blank_zero, share_text
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.result_columns import field_column
from rcv_py.ui.table.table_model import Column, TableModel, grouped

if TYPE_CHECKING:  # only needed for a column hidden by default
    from rcv_py.analysis.program.live_registers import LiveRegisters

UNFOLD = "Click the triangle to unfold it."
FLOOR_PX = 270  # px of instructions, while columns next to them shrink
HITS_PX = 340  # px of instructions beside hits
LEAST_PX = 200  # px of instructions: below that the table is wider than its view
USUAL = 66  # characters of the longest instructions that must fit before numbers get room
LONG = 96  # characters that may take the room of stall and idle time
TIGHTEST = 0.82  # share of a character's width, in an instruction that would not fit otherwise
YIELDS = ("idle", "stall", "issued", "stalled", "reason")  # columns that give way first
BAR_PX = 46
_count = partial(Column, text=blank_zero, is_number=True)
HELD, HELD_PX = "registers", 58  # id and width of the column of registers
LATENCY_TIP = " Click the triangle to choose another mode."
TRIANGLE_PX = 14  # px for a triangle at the left
BRACKET_PX = 5  # px for each nested loop
MAX_BRACKETS = 4
HEADINGS = {  # of the latency in each mode, the longest wording first
    LatencyMode.SUM_ALL: ("latency · sum", "Σ latency", "Σ lat."),
    LatencyMode.MEAN_ALL: ("latency · mean", "mean"),
    LatencyMode.ITERATION: ("latency · this hit", "this hit"),
    LatencyMode.SUM_WAVE: ("latency · wave sum", "wave Σ"),
    LatencyMode.MEAN_WAVE: ("latency · wave mean", "wave mean"),
    LatencyMode.MAX_WAVE: ("latency · wave max", "wave max"),
}


class IsaRows(Record):
    """The data of the table: one entry per code row."""

    trace: Trace
    costs: CostColumns
    text: tuple[str, ...]  # instructions; names for labels
    place: tuple[str, ...]  # full innermost source place
    cost: np.ndarray  # int64, the value of the bar; for a label the cost of its block
    reason: np.ndarray  # int64, most frequent stall reason of the samples, -1 if there is none
    total: int  # without labels
    has_idle: bool  # whether costs hold idle time
    bars: LineBars  # content of the bars
    program: ProgramStructure
    live: LiveRegisters | None = None  # if the column of registers is shown

    @cached_property
    def code_cost(self) -> np.ndarray:
        """Return the costs without those of labels, int64."""
        return np.where(self.trace.code.is_label, 0, self.cost)

    @cached_property
    def held(self) -> np.ndarray:
        """Return the vector registers (VGPR and AGPR) that must be held at each row, int64; needs `live`."""
        assert self.live is not None
        return self.live.pressure[:, :2].sum(axis=1).astype(np.int64)

    def section_costs(self, parts: Blocks) -> BlockCosts:
        """Return the costs of blocks or sections."""
        return block_costs(parts, self.trace.code, self.costs)


def isa_rows(
    trace: Trace,
    has: Ingredients,
    structure: ProgramStructure,
    mode: Annotation = Annotation.TOTAL,
    live: LiveRegisters | None = None,
) -> IsaRows:
    """Return the table's data for the costs in `has`, with bars of a mode, and registers if known."""
    code, costs = trace.code, has.costs
    cost = np.where(code.is_label, 0, charged(costs, has.show_idle))
    text, total, sampled = list(code.text), int(cost.sum()), code.stall_reasons
    for label in labels(code, cost):
        text[label.row] = label.name
        cost[label.row] = label.cost
    reason = np.full(len(code), -1, dtype=np.int64)
    if sampled is not None and sampled.shape[1]:
        reason = np.where(sampled.sum(axis=1) > 0, np.argmax(sampled, axis=1), -1)
    return IsaRows(
        trace=trace,
        costs=costs,
        text=tuple(text),
        place=_places(trace),
        cost=cost,
        reason=reason,
        total=total,
        has_idle=has.show_idle,
        bars=annotation(mode, has),
        program=structure,
        live=live,
    )


@memoized
def _places(trace: Trace) -> tuple[str, ...]:
    """The source place of each row; costs change often while waves arrive, and places never do."""
    return tuple(known_place(trace, row, full=True) for row in range(len(trace.code)))


def rows_at_leaf(code: CodeTable, place: tuple[int, int] | None) -> np.ndarray:
    """Return which code rows have this innermost place; bool, all False for None."""
    if place is None or not len(code.chain_file):
        return np.zeros(len(code), dtype=bool)
    return (code.leaf >= 0) & ((code.chain_file == place[0]) & (code.chain_line == place[1]))[code.leaf]


def rows_of_place(code: CodeTable, place: tuple[int, int] | None) -> np.ndarray:
    """Return which code rows have this place in their chain; bool, all False for None."""
    is_here = np.zeros(len(code), dtype=bool)
    if place is not None:
        at = np.flatnonzero((code.chain_file == place[0]) & (code.chain_line == place[1]))
        is_here[np.searchsorted(code.chain_first, at, side="right") - 1] = True
    return is_here


def text_column(rows: IsaRows, char_px: float, *, is_whole: bool) -> Elastic:
    """Return how wide instructions are, and which columns give them their room, in this order.

    Long instructions are matrix and image forms, set tighter.  Stall and idle time give way until those fit;
    hits and latency only until nine of ten instructions fit.  Addresses and source places are shown where
    everything fits.
    """
    ran = np.flatnonzero((rows.cost > 0) | (rows.costs.hits > 0) | rows.trace.is_static).tolist()
    length = np.sort([len(rows.text[row]) for row in ran] or [0])
    most, longest = int(length[len(length) * 9 // 10]), int(length[-1])

    def px(characters: int, share: float = TIGHTEST) -> int:
        return max(FLOOR_PX, round(characters * char_px * share) + 2 * PAD)

    whole = px(max(map(len, rows.text), default=0) if is_whole else longest, 1)
    usual, most_px, tight = px(min(longest, USUAL)), px(min(most, USUAL)), px(min(longest, LONG))
    late = (("hits", max(most_px, min(HITS_PX, usual))), ("latency", most_px))
    early = () if is_whole else (*((name, tight) for name in YIELDS), *late)
    yields = (("source", whole), ("address", whole), *early)
    return Elastic("text", "code_object", whole if is_whole else usual, whole, yields, upto_max_px=300)


def isa_columns(rows: IsaRows, settings: Settings, arrows: str, mode: LatencyMode) -> tuple[Column, ...]:
    """Return the columns of the table, for a thread trace or for PC samples.

    `settings` has the unit of times; `arrows` names the arrows in the gutter.
    """
    trace, code, costs, bars = rows.trace, rows.trace.code, rows.costs, rows.bars
    has_waits = trace.has_thread_trace or trace.is_static
    unit, order = unit_of(trace), "share_of_total" if bars.mode is Annotation.TOTAL else "bar"
    lengths = np.rint(np.where(code.is_label, rows.cost * bars.is_sum, bars.total)).astype(np.int64)
    whole = "cycles of latency and idle time" if rows.has_idle else "cycles of latency"
    whole = whole if unit == "cycles" else unit
    text = "Share of all {0} {1} in this table; for a label, of its block."
    share_tip = Message(text, grouped(rows.total), whole)
    bar_tip = Message("{0} in {1}: {2}. Click to choose others.", bars.mode.value, bars.unit, bars.of)
    parts = join_texts("; ", (Message("{0}: {1}", part.name, part.meaning) for part in bars.parts))
    bar_tip = Message("{0}\n{1}", bar_tip, parts)
    cost = bars.mode.heading
    folds_px = TRIANGLE_PX + 2 + BRACKET_PX * min(int(rows.program.loops.depth.max(initial=0)), MAX_BRACKETS)
    drawn = partial(Column, title="", values=(), has_values=False)
    times = Times.of(trace, settings)
    measured = {
        name: field_column(
            LINES[name],
            getattr(costs, name),
            text=grouped if name == "hits" else lambda cycles: times.number(cycles) if cycles else "",
            width=NS_PX if times.ns_per_cycle and name != "hits" else 0,
            tip=Message("{0} {1}.", LINES[name].sentence, costs.label) + LATENCY_TIP * (name == "latency"),
            headings=HEADINGS[mode] if name == "latency" else (),
        )
        for name in SUMS
        if trace.has_thread_trace
    }
    idle = measured.pop("idle", None)  # after the bar, which must be visible in a narrow window
    shares = 100.0 * rows.cost / max(1, rows.total)
    share = field_column(LINES["share_of_total"], shares, title="%", text=share_text, width=0, tip=share_tip)
    return (
        drawn("gutter", width=MIN_PX, headings=(arrows,) if has_waits else (arrows, ""),
              tip=Message("What waits for what; branch targets. Click to choose.\n{0}", LEGEND)),
        drawn("fold", width=folds_px, tip="Blocks to fold; loops. Click to fold several."),
        field_column(LINES["instruction"], np.arange(len(code)), text=str, width=0),
        field_column(LINES["text"], rows.text, width=FLOOR_PX),
        *(_sample_columns(rows) if trace.has_pc_samples else ()),
        *measured.values(),
        *(() if trace.is_static else (share,)),
        _count("cost", f"{cost}, {bars.unit}", lengths, is_left=True, width=BAR_PX, tip=bar_tip, sort=order,
               headings=(cost,), is_shown=not trace.is_static),
        *(() if idle is None else (idle,)),
        *(() if rows.live is None else (_held_column(rows),)),
        *((field_column(LINES["source"], rows.place, is_elided_left=True, width=190),)
          if any(rows.place) else ()),
        field_column(LABELS["address"], code.address, width=0),
        field_column(LABELS["code_object"], code.codeobj, title="object", width=0, is_shown=False),
    )  # fmt: skip


NS_PX = 72  # of a column of durations with their units
OF_COST = SUMS[1:]  # ids of columns whose titles omit the unit; columns of samples count samples


def csv_sheet(rows: IsaRows, table: TableModel, data_rows: Sequence[int] | None) -> Sheet:
    """Return the listing for spreadsheets: every header says the unit, addresses are in hex."""
    columns = [column for column in table.columns if column.has_values]
    unit = unit_of(rows.trace)
    heads = {one.id: f"{one.title} ({unit})" for one in columns if one.id in OF_COST}
    heads["share_of_total"] = "share (%)"
    places = {at for at, column in enumerate(columns) if column.id == "address"}
    lines = (
        tuple(f"{value:#x}" if at in places else value for at, value in enumerate(line))
        for line in table.table(data_rows)
    )
    return Sheet("ISA", tuple(heads.get(column.id, column.title) for column in columns), lines)


def _sample_columns(rows: IsaRows) -> tuple[Column, ...]:
    code, table = rows.trace.code, rows.trace.code.stall_reasons

    def reason_text(row: int, reason: int) -> str:
        if reason < 0 or table is None:
            return ""
        return Message("{0} {1:.0f} %", reason_name(reason), 100.0 * table[row, reason] / table[row].sum())

    reasons = tuple(reason_text(row, reason) for row, reason in enumerate(rows.reason))
    counts = (
        ("samples", code.samples, 68, "Samples at this instruction.", "latency"),
        ("issued", code.samples_issued, 60, "Samples that issued.", ""),
        ("stalled", code.samples_stalled, 62, "Samples that did not issue.", "stall"),
    )
    means = (
        ("lanes", code.sample_lanes, "Active lanes of its samples, on average."),
        ("waves", code.sample_waves, "Waves on the sampled unit, on average."),
    )
    return (
        *(_count(id, id, column, width=width, tip=tip, sort=sort)
          for id, column, width, tip, sort in counts if column is not None),
        *((Column("reason", "main stall reason", reasons, width=190,
                  tip="Why most of its samples did not issue."),) if table is not None else ()),
        *(Column(id, id, column, text=lambda value: "" if np.isnan(value) else f"{value:,.1f}",
                 is_number=True, width=52, tip=tip) for id, column, tip in means if column is not None),
    )  # fmt: skip


def _held_column(rows: IsaRows) -> Column:
    """Return the column of registers: a number, and a bar of its share of the peak."""
    tip = Message(
        "Vector registers (VGPR and AGPR) that hold a value which is still needed: no "
        "allocation can do with fewer there. The peak is {0}.",
        grouped(int(rows.held.max(initial=0))),
    )
    return _count(HELD, "regs", rows.held, width=HELD_PX, tip=tip, headings=("registers", "regs"))


def held_tip(rows: IsaRows, row: int) -> str:
    """Return how many registers of each file are held at a row, and where the maximum is."""
    if rows.live is None or rows.trace.code.is_label[row]:
        return ""
    files = zip(("VGPR", "AGPR", "SGPR"), rows.live.pressure[row].tolist(), strict=True)
    counts = join_texts(", ", (plural(count, name) for name, count in files if count)) or "No register"
    peak = int(rows.held.argmax())
    most = grouped(int(rows.held[peak]))
    return Message("{0} must be held here.\nMost are at instruction {1}: {2}.", counts, peak, most)


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
    where = Message("{0:#x} in object {1}", int(code.address[row]), int(code.codeobj[row]))
    about = KIND_TEXT[TokenKind(kind)] if kind < KIND_COUNT else Message("kind {0}", kind)
    lines = [rich("<tt>{}</tt>", rows.text[row]), Message("instruction {0}, {1}, {2}", row, about, where)]
    costs = rows.costs
    if rows.trace.has_thread_trace:
        columns = (costs.hits, costs.latency, costs.stall, costs.latency - costs.stall, costs.idle)
        numbers = [grouped(column[row]) for column in columns]
        lines.append(Message("{} hits · latency {} = stall {} + issue {} · idle before {}", *numbers))
    if rows.total and rows.cost[row]:
        lines.append(Message("{0} of all {1}", percent(int(rows.cost[row]), rows.total), unit_of(rows.trace)))
    note = rows.program.branch_notes.get(row, "")
    lines += [line for line in (hits, *bar, rows.program.block_text(row), note) if line]
    for file, number in code.chain(row):
        text = line_text(rows.trace.sources, file, number)
        lines.append(rich("{} <tt>{}</tt>", place_text(rows.trace.sources, file, number), text[:120]))
    return joined("<br>", lines)


def fold_tip(rows: IsaRows, parts: Blocks, section: int) -> Rich:
    """Return the tooltip of a folded section: its sums, its costliest instruction, how to unfold it."""
    costs = rows.section_costs(parts)
    first, stop = int(parts.first[section]), int(parts.stop[section])
    name, length = rich("<b>{}</b>", parts.name[section]), plural(int(costs.lines[section]), "instruction")
    if not costs.executed[section]:
        what = "never executed" if rows.trace.has_thread_trace else "without samples"
        what = "not run" if rows.trace.is_static else what
        return joined("<br>", [name, Message("{0}, {1}", length, what), UNFOLD])
    cost = rows.code_cost[first:stop]
    top = first + int(np.argmax(cost))
    sums = (grouped(getattr(costs, name)[section]) for name in SUMS)
    lines = [
        name,
        Message("#{0} to #{1}, {2}", first, stop - 1, length),
        Message("{0} hits · latency {1} · stall {2} · idle {3}", *sums),
        Message("{0} of all {1}", percent(float(cost.sum()), rows.total), unit_of(rows.trace)),
        rich("most of it: {} <tt>{}</tt>", top, rows.text[top]),
        UNFOLD,
    ]
    return joined("<br>", lines)
