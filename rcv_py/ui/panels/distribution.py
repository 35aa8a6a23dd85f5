"""All hits of the selected instruction: how long they took, which were the slowest, and where those are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QToolButton

from rcv_py.analysis.cost.distribution import (
    LISTED,
    MEASURE_TEXT,
    MEASURES,
    DistributionView,
    LineHits,
    Wanted,
    distribution_view,
    hits_of,
)
from rcv_py.analysis.cost.place_text import beside
from rcv_py.base.text import count, percent, plural
from rcv_py.model.trace import Trace
from rcv_py.results.line import hit_table
from rcv_py.results.table import Table
from rcv_py.state.commands import Command, commands
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import bar, boxed, column, split
from rcv_py.ui.core.panel import READING, Late, Panel, Sheet, panel
from rcv_py.ui.core.plain_text import ElidedLabel, draw_text, tooltip
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.plot.bar_chart import LABEL_GAP, LEFT, RIGHT, BarChart
from rcv_py.ui.table import command_text
from rcv_py.ui.table.result_columns import result_columns
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import Column
from rcv_py.ui.widgets.choice import Choice
from rcv_py.ui.widgets.empty_state import page

NO_LINE = "Select an instruction to see how long each of its hits took, and which were the slowest."
NO_HIT = "No wave that has been read ran this instruction."
ONLY_ONCE = "No wave ran this instruction twice, so there is no time since the hit before."
STREAM_MS = 800
MEASURE_NAMES = dict(zip(MEASURES, ("Latency", "Stall", "Idle before", "Since the hit before"), strict=True))
GROUP_NAMES = {"none": "All hits", "engine": "By shader engine", "wave": "Selected wave"}
BAR_PX = 9  # width that a bar should have
MIN_BARS, MAX_BARS = 8, 160


class DistributionChart(BarChart):
    """A histogram of times with marks for minimum, median, p95 and maximum, and for the selected hit."""

    bars_changed = Signal(int)  # how many bars there is room for

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Histogram of the hits of the selected instruction", top=34)
        self.view: DistributionView | None = None
        self.token: int | None = None  # value of the selected hit
        self._room = 0

    def show_view(self, view: DistributionView | None) -> None:
        """Show other bars: engines have the colours of kernels, what is not of the wave that of idle."""
        self.view = view
        if view is None or view.spread is None:
            self.show_parts(np.zeros((0, 0), dtype=np.int64), ())
            return
        if view.wanted.group == "engine":
            colors = [partial(Theme.kernel, number=number) for number in range(len(view.groups))]
        else:
            colors = [partial(Theme.role, name=name) for name in ("accent", "idle")[: len(view.groups)]]
        self.show_parts(view.histogram.counts, colors)
        spread = view.spread
        self.setAccessibleDescription(
            f"{plural(spread.hits, 'hit')}: minimum {spread.min}, median {spread.median}, "
            f"p95 {spread.p95}, maximum {spread.max} cycles"
        )

    def mark_token(self, value: int | None) -> None:
        """Point at the value of the selected hit."""
        if value != self.token:
            self.token = value
            self.update()

    @property
    def bars_wanted(self) -> int:
        """How many bars there is room for."""
        return max(MIN_BARS, min(MAX_BARS, (self.width() - LEFT - RIGHT) // BAR_PX))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for as many bars as fit."""
        super().resizeEvent(event)
        if self.bars_wanted != self._room:
            self._room = self.bars_wanted
            self.bars_changed.emit(self._room)

    def tip(self, bar: int) -> str:
        """Range and number of hits of a bar, by group if there are several."""
        if self.view is None or not 0 <= bar < len(self):
            return ""
        hits, total = int(self.totals[bar]), int(self.totals.sum())
        lines = [self.range_text(bar), f"{plural(hits, 'hit')}, {percent(hits, total)} of {count(total)}"]
        if len(self.view.groups) > 1:
            groups = zip(self.view.groups, self.parts[bar].tolist(), strict=True)
            lines += [f"{name}: {count(hits)}" for name, hits in groups if hits]
        return "\n".join(lines)

    def range_text(self, bar: int) -> str:
        """The cycles of a bar in words."""
        assert self.view is not None
        low, high = (int(self.view.histogram.edges[at]) for at in (bar, bar + 1))
        return f"{count(low)} cycles" if high == low + 1 else f"{count(low)} to {count(high - 1)} cycles"

    def x_of_value(self, value: float) -> float:
        """Where a number of cycles is."""
        assert self.view is not None
        return self.x_of(self.view.histogram.place(value))

    def paint_over(self, painter: QPainter) -> None:
        """Draw the axis, the marks of the distribution, and that of the selected hit."""
        assert self.view is not None
        assert self.view.spread is not None
        is_log = self.view.wanted.is_log
        ticks = ((self.x_of_value(value), value) for value in self._ticks())
        self.paint_axis(painter, ticks, "cycles, logarithmic" if is_log else "cycles")
        area, found, metrics, free = self.area, self.view.spread, self.fontMetrics(), [-1.0, -1.0]
        painter.setPen(self._theme.role("text"))
        marks = (("min", found.min), ("median", found.median), ("p95", found.p95), ("max", found.max))
        for name, value in marks:
            x = self.x_of_value(value)
            painter.drawLine(QPointF(x, area.top() - 2), QPointF(x, area.bottom()))
            text = f"{name} {count(value)}"
            width = metrics.horizontalAdvance(text)
            left = min(max(x - width / 2, 2.0), self.width() - width - 2.0)
            line = next((at for at, end in enumerate(free) if left > end), None)
            if line is not None:
                draw_text(painter, QPointF(left, area.top() - 20 - 14 * line + metrics.ascent()), text)
                free[line] = left + width + LABEL_GAP
        if self.token is not None:
            x, y = self.x_of_value(self.token), area.bottom() + 1
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.role("accent"))
            painter.drawPolygon(QPolygonF([QPointF(x, y - 7), QPointF(x - 5, y + 2), QPointF(x + 5, y + 2)]))

    def _ticks(self) -> list[int]:
        assert self.view is not None
        low, high = (int(edge) for edge in self.view.histogram.edges[[0, -1]])
        if not self.view.wanted.is_log:
            return list(self.round_numbers(low, high))
        steps = (factor * 10**power for power in range(19) for factor in (1, 2, 5))
        return [value for value in (0, *steps) if low <= value <= high]


def hit_columns(trace: Trace, hits: LineHits, rows: np.ndarray, measure: str) -> tuple[Column, ...]:
    """Return the columns of these hits; the measure that they are sorted by comes first."""
    table = hit_table(trace, hits, rows)
    order = dict.fromkeys((measure, "wave", "hit", "start", *MEASURE_NAMES))
    spec = replace(table.spec, window=tuple(order))
    return result_columns(Table(spec, table.columns), trace)


@panel(id="distribution", title="Distribution", area="bottom", order=45, needs=("waves", "code"))
class DistributionPanel(Panel):
    """The times of all hits of the selected instruction."""

    commands_wait = True

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.view: DistributionView | None = None
        self._shown: int | None = None  # code row of what is shown
        self._bin = -1  # whose hits are listed, -1: the slowest
        self.shown = np.zeros(0, dtype=np.int64)  # rows of the hits in the table
        self.plot = DistributionChart(ui.theme)
        self.table = RowsView(ui.theme, ui.settings)
        self.table.setAccessibleName("Hits of the selected instruction, the slowest first")
        self.title, self.note, self.listed = (ElidedLabel(role=role) for role in ("", "muted", "muted"))
        self.measure = Choice("What is measured of every hit", MEASURE_NAMES)
        self.scale = Choice("Scale of the times", {"linear": "Linear", "log": "Logarithmic"})
        self.group = Choice("What splits the bars", GROUP_NAMES)
        self.faster, self.slower = QToolButton(), QToolButton()
        self._wanted = self.coalesced(self._compute)
        self._stream = self.coalesced(self._compute, STREAM_MS)
        boxes = {"measure": self.measure, "scale": self.scale, "group": self.group}
        self.remembered = {**boxes, "table": self.table}
        for box in boxes.values():
            box.currentIndexChanged.connect(self._choices_changed)
        self._lay_out()
        self.plot.chosen.connect(self._list_bin)
        self.plot.bars_changed.connect(lambda _: self._wanted.ask())
        self.table.chosen.connect(self._go)
        self.session.trace.watch(self._open)
        self.session.selection.watch(self._follow)
        for cell in (self.session.loaded, self.session.waves):
            cell.watch(self._more_waves)
        ui.theme.changed.connect(self._restyle)
        self._restyle()
        self._open()

    def _lay_out(self) -> None:
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        picks = (self.measure, self.scale, self.group, self.faster, self.slower)
        choices = bar((self.title, 1), (self.note, 1), *picks)
        self.listed.setContentsMargins(8, 2, 8, 0)
        right = boxed(column(self.listed, (self.table, 1), spacing=2))
        self.empty = page(self, choices, (split(self.plot, right, sizes=(620, 520)), 1))
        steps = self.commands(self.ui, Late.of(self))
        for button, command in zip((self.faster, self.slower), steps, strict=True):
            button.setToolTip(tooltip(f"{command.title}  ({command.shortcuts[0]})"))
            button.setAccessibleName(command.title)
            button.setIconSize(QSize(14, 14))
            button.clicked.connect(lambda _=False, command=command: command.run())

    @classmethod
    def commands(cls, ui: UiContext, late: Late[Self]) -> tuple[Command, ...]:
        """Steps in the order of times."""

        def why_not() -> str:
            has_hits = late.now is not None and late.now.view is not None
            return "" if has_hits else "Select an instruction that was executed first."

        tip = "Select the hit of this instruction that took next {} time, in any wave."
        return commands("Go", (
            ("go.faster_hit", "Next faster hit of this instruction", "Alt+[",
             late.then(lambda panel: panel.step(-1)),
             tip.format("less"), why_not),
            ("go.slower_hit", "Next slower hit of this instruction", "Alt+]",
             late.then(lambda panel: panel.step(1)),
             tip.format("more"), why_not),
        ))  # fmt: skip

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._shown = None
        self._stream.reset()
        self._show(None)
        self._wanted.ask()

    def _line(self) -> int | None:
        trace, line = self.session.trace.value, self.session.selection.value.line
        return line if trace is not None and line is not None and 0 <= line < len(trace.code) else None

    def _want(self) -> Wanted:
        trace, wave = self.session.trace.value, self.session.selection.value.wave
        row = trace.waves.row(wave) if trace is not None and wave is not None else None
        group = self.group.value
        own = row if row is not None and group == "wave" else -1
        return Wanted(self.measure.value, self.plot.bars_wanted, self.scale.value == "log", group, own)

    def _more_waves(self) -> None:
        store = self.session.store
        if self._line() is not None and store is not None:
            (self._wanted if store.is_complete else self._stream).ask()

    def _compute(self) -> None:
        trace, store = self.session.trace.value, self.session.store
        line, wanted = self._line(), self._want()
        if trace is None or store is None or line is None or not store.batches:
            self._show(None)
            return
        name, ways = self.session.waves.value, self.ui.results.ways.of(self.session.snapshot())
        ask = self.so_far("hits", hits_of(line), line)

        def job() -> tuple[int, DistributionView]:
            hits = ask(ways(name).rows)
            return line, distribution_view(hits, wanted, trace.base_clock)

        self.run_job(job, self._take, stream=self._stream)

    def _take(self, answer: tuple[int, DistributionView]) -> None:
        line, view = answer
        if line != self._line():
            return
        is_same = self._shown == line
        if self.view is None or not is_same or self.view.wanted.shape != view.wanted.shape:
            self._bin = -1
        self._shown = line
        self._show(view)

    # -- showing ------------------------------------------------------------------------------------

    def _show(self, view: DistributionView | None) -> None:
        has = view is not None and view.spread is not None
        self.view = view if has else None
        self.empty.say("" if has else self._why_empty(view))
        self.plot.show_view(self.view)
        self.plot.select(self._bin)
        self._say()
        self._list()
        self._mark()

    def _why_empty(self, view: DistributionView | None) -> str:
        missing = self.why_missing("waves")
        if missing or self._line() is None:
            return missing or NO_LINE
        if view is not None and len(view.hits):
            return ONLY_ONCE
        store = self.session.store
        return READING if store is not None and not store.batches else NO_HIT

    def _say(self) -> None:
        trace, line = self.session.trace.value, self._line()
        name = "" if trace is None or line is None else trace.code.text[line] + beside(trace, line)
        self.title.setText(f"{line}  {name}" if name else "")
        note = ""
        if self.view is not None and self.view.spread is not None:
            spread = self.view.spread
            note = f"{plural(spread.hits, 'hit')}, mean {spread.mean:,.1f}, sum {count(spread.total)} cycles"
            note = " · ".join(filter(None, (waves_note(self.session), note)))
        self.note.setText(note)

    def _list(self) -> None:
        view, trace = self.view, self.session.trace.value
        if view is None or trace is None:
            self.shown = np.zeros(0, dtype=np.int64)
            return
        if self._bin >= 0:
            rows = view.in_bin(self._bin)
            what = f"{plural(len(rows), 'hit')} of {self.plot.range_text(self._bin)}"
        else:
            rows, what = view.slowest(), "The slowest hits"
        self.shown = rows[:LISTED]
        more = f", {LISTED} of them listed" if len(rows) > LISTED else ""
        self.listed.setText(f"{what}{more}, largest {MEASURE_NAMES[view.wanted.measure].lower()} first")
        self.table.show_columns(hit_columns(trace, view.hits, self.shown, view.wanted.measure))

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        known = self._shown
        is_other_wave = self.view is not None and self.view.wanted != self._want()
        is_back = self.view is None and self._line() is not None
        if self._line() != known or is_other_wave or is_back:
            if self._line() != known:
                self._bin = -1
            self._wanted.ask()
        else:
            self._mark()

    def _selected_row(self) -> int:
        token, view = self.session.token(), self.view
        return -1 if token is None or view is None else view.hits.row_of(token[0].row, token[1])

    def _mark(self) -> None:
        row, view = self._selected_row(), self.view
        value = None if row < 0 or view is None else int(view.values[row])
        self.plot.mark_token(value if value is not None and value >= 0 else None)
        at = np.flatnonzero(self.shown == row) if row >= 0 else np.zeros(0, dtype=np.int64)
        self.table.set_current(int(at[0]) if len(at) else -1)

    def _list_bin(self, bar: int) -> None:
        self._bin = bar
        self._list()
        self._mark()

    def _go(self, at: int) -> None:
        if 0 <= at < len(self.shown):
            self._select(int(self.shown[at]))

    def step(self, direction: int) -> None:
        """Select the hit that took next more (+1) or less (-1) time."""
        if self.view is None:
            return
        row = self.view.step(self._selected_row(), direction)
        if row >= 0:
            self._select(row)

    def _select(self, row: int) -> None:
        trace, view = self.session.trace.value, self.view
        if trace is not None and view is not None:
            self.session.select_token(trace.waves.id(int(view.hits.wave[row])), int(view.hits.token[row]))

    def _choices_changed(self) -> None:
        self.measure.setToolTip(tooltip(MEASURE_TEXT[self.measure.value]))
        self._bin = -1
        self._wanted.ask()

    def _restyle(self) -> None:
        self.faster.setIcon(icon(self.ui.theme, "back"))
        self.slower.setIcon(icon(self.ui.theme, "forward"))
        self.title.setFont(self.ui.theme.mono)

    # -- what the shell asks ------------------------------------------------------------------------

    def caption(self) -> str:
        """Line, measure and number of hits."""
        if self.view is None:
            return ""
        measure = MEASURE_NAMES[self.view.wanted.measure].lower()
        return f"instruction {self._line()}, {measure}, {self.note.text()}"

    def command_line(self) -> command_text.Words | None:
        """The bars, and the hits that are listed."""
        line, view = self._line(), self.view
        if line is None or view is None:
            return None
        log = ("--log",) if view.wanted.is_log else ()
        shape = (f"--by={view.wanted.measure}", f"--bars={view.wanted.bins}", *log)
        listed = (f"--bar={self._bin}",) if self._bin >= 0 else ()
        return command_text.rcv(self.session, "line", str(line), *shape, *listed, f"--top={LISTED}")

    def sheet(self) -> Sheet | None:
        """All hits, the slowest first."""
        view, trace = self.view, self.session.trace.value
        if view is None or trace is None:
            return None
        return Sheet.of("Distribution", hit_table(trace, view.hits, view.ranked))
