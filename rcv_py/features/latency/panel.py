"""Latency of instructions: hidden by waves, of memory, of unit accesses, and waits for code."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from msgspec import field
from msgspec.structs import replace
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter

from rcv_py.analysis.latency.access_holds import AccessHolds
from rcv_py.analysis.latency.address_access import AddressAccesses, has_addresses
from rcv_py.analysis.latency.code_fetches import CodeFetches
from rcv_py.analysis.latency.hidden_latency import HiddenLatency, HiddenTable, hidden_table, why_not_hidden
from rcv_py.analysis.latency.memory_latency import MemoryLatency
from rcv_py.analysis.waits.wait_latency import WaitLatency
from rcv_py.base.record import Record
from rcv_py.base.text import DASH, Message, byte_size, percent, plural, short_count
from rcv_py.features.latency import address_result as addresses
from rcv_py.features.latency import result as results
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.core.layout import BAR_ABOVE, BAR_BELOW, bar, column, row
from rcv_py.ui.core.panel import NO_COST, Sheet, UiContext
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.cost_bars import draw_bar, draw_whisker
from rcv_py.ui.table.result_columns import result_columns, with_bar
from rcv_py.ui.table.table_model import Column, grouped
from rcv_py.ui.table.table_panel import NO_LINES, TablePanel
from rcv_py.ui.widgets.choice import ChoiceBox
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.legend import Legend

KINDS = {
    "hidden": "Hidden latency",
    "memory": "Memory latency",
    "access": "LDS and memory accesses",
    "fetch": "Instruction fetches",
    "address": "Addresses of lanes",
}
_KIND_TIP = (
    "Hidden latency, latency of memory operations, how long LDS and vector memory are held (bank conflicts, "
    "lanes apart), code that was not in the instruction cache, or what the recorded addresses of lanes touch."
)
CHOSEN = "hidden_chosen"  # the result of hidden latency where not all waves count
WAITS = "waits"
BY_WAITS = (
    "Latencies by waits: from the issue of an operation to the end of the wait that had to wait for it."
)
_NARROW = ("instruction", "hidden_share_of_total")  # numbers that hold no cycles
DIGIT_PX = 9  # room for a digit at the usual size of code
_MEAN_TIP = "Mean latency; the whisker reaches one standard deviation to both sides."
_MEDIAN_TIP = "Median latency by waits."
_REFUSED_TIP = "Stall while another access held the unit, summed over all executions."
_FETCH_TIP = "Cycles that waves waited for the code line."
_BEYOND_TIP = "Cache lines, or passes of LDS, of all executions: those that are needed, then those beyond."
_COST_TIP = "Cycles summed over all waves: not hidden stall, issue and idle, then what is hidden."
ROLE_TEXT = {
    "stall": "stall that nothing hides",
    "issue": "issue that nothing hides",
    "idle": "idle time that nothing hides",
    "hidden": "hidden by other waves of the SIMD",
}


class LatencyRows(Record):
    """The rows of the panel."""

    line: np.ndarray  # int64 [n], row of the code table
    columns: tuple[Column, ...]
    roles: Mapping[str, str]  # colours of a bar's parts with their meaning; none if kinds colour it
    bars: np.ndarray  # float64 or int64 [parts, n], cycles
    spread: np.ndarray | None = None  # float64 [n], half the length of a bar's whisker
    kinds: np.ndarray | None = None  # int64 [n], TokenKind that colours a bar of one part
    note: str = ""  # a total over all rows
    names: Mapping[str, str] = field(default_factory=dict)  # of colours in the legend, if not their own

    def __len__(self) -> int:
        return len(self.line)

    @cached_property
    def longest(self) -> float:
        """Return the end of the longest bar, or of its whisker."""
        ends = self.bars.sum(axis=0) + (0 if self.spread is None else self.spread)
        return float(ends.max(initial=0))


def hidden_rows(trace: Trace, latency: HiddenTable) -> LatencyRows:
    """Return the rows of hidden latency, the largest remainder first."""
    largest = int(latency.total.max(initial=0))
    room = len(grouped(largest)) * DIGIT_PX + 2 * PAD  # for any total, so that no column grows
    columns = tuple(
        replace(one, width=max(one.width, room if one.is_number and one.id not in _NARROW else 0))
        for one in result_columns(results.hidden_rows(trace, latency), trace)
    )
    total, hidden = int(latency.total.sum()), int(latency.hidden.sum())
    share = percent(hidden, total) or DASH
    note = Message("{0} of {1} cycles hidden ({2})", short_count(hidden), short_count(total), share)
    return LatencyRows(
        line=latency.line,
        columns=with_bar(columns, "source", "total", tip=_COST_TIP),
        roles=ROLE_TEXT,
        bars=np.concatenate([latency.seen_parts, latency.hidden[None]]),
        note=note,
    )


def memory_rows(trace: Trace, latency: MemoryLatency, waits: WaitLatency | None = None) -> LatencyRows:
    """Return the rows of memory latency: by counters, and also by waits.

    Instructions for which waits give only upper bounds are left out; `waits` is None until they are known.
    """
    table = results.memory_and_wait_rows(trace, latency, waits)
    line = np.asarray(table.columns["instruction"])
    has_waits = waits is not None and len(waits.line) > 0
    left_out = (() if has_waits else results.BY_WAITS) if len(latency) else results.BY_COUNTERS
    columns = tuple(column for column in result_columns(table, trace) if column.id not in left_out)
    after, of, tip = ("counter", "mean", _MEAN_TIP) if len(latency) else ("source", "median", _MEDIAN_TIP)
    length = np.nan_to_num(np.asarray(table.columns[of]))
    spread = np.nan_to_num(np.asarray(table.columns["standard_deviation"])) if len(latency) else None
    columns = with_bar(columns, after, of, title="latency", tip=tip)
    kinds = trace.code.kind[line].astype(np.int64)
    return LatencyRows(line=line, columns=columns, roles={}, bars=length[None], spread=spread, kinds=kinds)


def access_rows(trace: Trace, found: AccessHolds, known: AddressAccesses | None = None) -> LatencyRows:
    """Return the rows of accesses, sorted by the time they held their unit longer than needed."""
    table = results.access_rows(trace, found, known)
    longer = int(np.count_nonzero(found.is_longer))
    return LatencyRows(
        line=found.line.astype(np.int64),
        columns=with_bar(result_columns(table, trace), "source", "stall", title="stall", tip=_REFUSED_TIP),
        roles={"stall": "stall while another access held the unit"},
        bars=found.stall[None],
        note=Message("{0} held the unit longer than their width needs", plural(longer, "instruction")),
    )


def fetch_rows(trace: Trace, found: CodeFetches) -> LatencyRows:
    """Return the rows of instructions that waves waited for, most cycles first."""
    table = results.fetch_rows(trace, found)
    slow = plural(int(found.slow.sum()), "slow fetch", "slow fetches")
    cache = Message("; the instruction cache has {0}", byte_size(found.capacity)) if found.capacity else ""
    return LatencyRows(
        line=found.first.astype(np.int64),
        columns=with_bar(result_columns(table, trace), "source", "cycles", tip=_FETCH_TIP),
        roles={"idle": "time that waves waited for code"},
        bars=found.cycles[None],
        note=Message("{0}, {1} cycles of waves{2}", slow, short_count(int(found.cycles.sum())), cache),
    )


def address_rows(trace: Trace, found: AddressAccesses) -> LatencyRows:
    """Return the rows of recorded addresses, most lines and passes beyond the needed ones first."""
    whole = np.nan_to_num(np.where(np.isnan(found.passes), found.requests, found.passes))
    least = np.where(np.isnan(found.passes), found.least_requests, found.least_passes)
    needed = np.where(np.isnan(least), whole, least)
    columns = result_columns(addresses.address_rows(trace, found), trace)
    return LatencyRows(
        line=found.line.astype(np.int64),
        columns=with_bar(columns, "source", "requests", title="lines or passes", tip=_BEYOND_TIP),
        roles={"issue": "needed cache lines, or passes of LDS", "stall": "beyond the needed ones"},
        bars=np.stack([needed, whole - needed]),
        note=addresses.address_text(addresses.address_totals(found)),
        names={"issue": "needed", "stall": "beyond need"},
    )


class LatencyPanel(TablePanel[LatencyRows]):
    """What other waves hide of the latency, how long memory takes, and waits for units and code."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.view = self.rows_view("Latency of code lines", bar=self._paint_bar)
        self.kind = ChoiceBox("What is shown", KINDS, tip=_KIND_TIP)
        self.remembered |= {"kind": self.kind}
        self.legend, self.note = Legend(), PlainLabel(role="muted")
        self.assumption = PlainLabel(role="muted", wordWrap=True)
        choices = bar(self.kind, (self.legend, 1), self.note, margins=BAR_ABOVE)
        self.empty = WithEmptyState(self.view)
        column(choices, row(self.assumption, margins=BAR_BELOW), (self.empty, 1), of=self)
        for cell in (self.session.waves, self.session.populations):
            cell.watch(self._open)
        for name in (*KINDS, CHOSEN, WAITS):
            ui.results.cell(name).watch(self._arrived)
        ui.settings.cell("isa.show_idle").watch(self._refresh)
        self.kind.currentIndexChanged.connect(self._open)
        ui.theme.changed.connect(self._show_legend)
        self._start()

    @property
    def is_memory(self) -> bool:
        """Return whether memory latency is shown."""
        return self.kind.value == "memory"

    def _open(self) -> None:
        self._refresh()
        trace = self.session.trace.value
        if trace is None or self._why_not():
            return
        self.want_result(self._name())
        if self.is_memory:
            self.want_result(WAITS)
        elif self.kind.value == "access" and has_addresses(trace):
            self.want_result("address")

    def _name(self) -> str:
        kind, choice = self.kind.value, self.session.choice
        return CHOSEN if kind == "hidden" and choice is not None and choice.rows is not None else kind

    def _why_not(self) -> str:
        """Return why this capture can never have such data, "" if it can."""
        trace = self.session.trace.value
        return why_not_hidden(trace) if trace is not None and self.kind.value != "address" else ""

    def _waits(self) -> WaitLatency | None:
        summary = self.ui.results.cell(WAITS).value
        return None if summary is None else summary.latency

    def _refresh(self) -> None:
        trace = self.session.trace.value
        self.result = None
        self.computing.stop()
        self.note.clear()
        self.assumption.clear()
        if trace is None or self._why_not():
            self._say(self.reason(self._why_not()))
            return
        answer = self.ui.results.cell(self._name()).value
        if answer is None or (self.kind.value == "hidden" and not answer.waves):
            self._say(self.why_unread() or self.computing.begin("latency", self._name()))
            return
        if isinstance(answer, HiddenLatency):
            table = hidden_table(answer.code or trace.code, answer, self.ui.settings["isa.show_idle"])
            self._show(hidden_rows(trace, table), self._of_waves(answer.assumption), NO_COST)
        elif isinstance(answer, MemoryLatency):
            waits = self._waits()
            by_waits = f" {BY_WAITS}" if waits is not None and len(waits.line) else ""
            text = answer.assumption if len(answer) else answer.reason
            self._show(memory_rows(trace, answer, waits), text + by_waits, answer.reason)
        elif isinstance(answer, AccessHolds):
            text = self._of_waves(results.access_assumption(answer))
            known = self.ui.results.cell("address").value
            self._show(access_rows(trace, answer, known), text, results.ACCESSES.nothing)
        elif isinstance(answer, AddressAccesses):
            self._show(address_rows(trace, answer), addresses.address_note(answer), addresses.NO_ADDRESSES)
        else:
            text = self._of_waves(results.FETCH_NOTE)
            self._show(fetch_rows(trace, answer), text, results.FETCHES.nothing)

    def _of_waves(self, assumption: str) -> str:
        """Return an assumption, preceded by the waves that count if not all do."""
        note = waves_note(self.session)
        return Message("Of {0}. {1}", note, assumption) if note else assumption

    def _show(self, rows: LatencyRows, assumption: str, otherwise: str) -> None:
        if not len(rows):
            self._say(self.reason(otherwise))
            return
        self._say("")
        self.result = rows
        self.assumption.setText(assumption)
        self.note.setText(rows.note)
        self._show_legend()
        self.view.widths.elastic = Elastic("text", rows.columns[-1].id, 160, 560)
        self.view.show_columns(rows.columns)
        self._follow()

    def _say(self, sentence: str) -> None:
        self.empty.say(sentence)
        self.assumption.setVisible(not sentence)
        self._show_legend()

    def _show_legend(self) -> None:
        theme, rows = self.ui.theme, self.result
        if rows is None:
            self.legend.set_items([])
        elif rows.kinds is None:
            items = rows.roles.items()
            self.legend.set_items([(theme.role(id), rows.names.get(id, id), text) for id, text in items])
        else:
            kinds = [kind for kind in TokenKind if kind in rows.kinds]
            self.legend.set_items([(theme.kind(kind), KIND_NAME[kind], KIND_TEXT[kind]) for kind in kinds])

    @property
    def lines(self) -> np.ndarray:
        return NO_LINES if self.result is None else self.result.line

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        theme, rows = self.ui.theme, self.result
        if rows is None or row >= len(rows):
            return
        box = QRectF(cell).adjusted(PAD, 5, -PAD, -5)
        by_kind = [] if rows.kinds is None else [theme.kind(int(rows.kinds[row]))]
        colors = by_kind or [theme.role(role) for role in rows.roles]
        draw_bar(painter, box, list(zip(rows.bars[:, row].tolist(), colors, strict=True)), rows.longest)
        if rows.spread is not None and rows.spread[row] > 0:
            mean, spread = float(rows.bars[0, row]), float(rows.spread[row])
            painter.setPen(theme.role("text"))
            draw_whisker(painter, box, (mean - spread, mean + spread), rows.longest)

    def caption(self) -> str:
        return self.kind.currentText()

    def command_line(self) -> command_text.CommandWords | None:
        kind, waits = self.kind.value, self._waits() if self.is_memory else None
        what = (f"--by={kind}", *(("--waits",) if waits is not None else ()))
        idle = command_text.idle(self.ui) if kind == "hidden" else ()
        order = command_text.sorting(self.view.table)
        return command_text.rcv(self.session, "latency", *what, *idle, *order, "--top=0")

    def sheet(self) -> Sheet | None:
        if self.result is None:
            return None
        lines = (
            tuple("" if isinstance(value, float) and np.isnan(value) else value for value in line)
            for line in self.view.table.table()
        )
        return Sheet(self.kind.currentText(), self.view.table.headers, lines)
