"""Cost over the program by place and kind of instruction."""

import math
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent, QWheelEvent

from rcv_py.analysis.cost.hotspot import KINDS, HotspotBins, binned, hotspot_bins, static_bins
from rcv_py.base.text import Message, percent
from rcv_py.features.hotspot.result import bins_table
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, TokenKind
from rcv_py.state.executions import CountedExecutions
from rcv_py.ui.core.costs import rows_in, unit_of
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import NO_COST, Panel, Sheet, UiContext
from rcv_py.ui.core.plain_text import PlainLabel, draw_text
from rcv_py.ui.core.shared_results import unread_note
from rcv_py.ui.core.spoken import SelectionVoice
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.plot.bar_chart import BarChart
from rcv_py.ui.table import command_text
from rcv_py.ui.table.cost_bars import kind_lines
from rcv_py.ui.table.table_model import grouped
from rcv_py.ui.timeline.time_plot import KEY_ZOOM, NOTCH, PER_NOTCH
from rcv_py.ui.widgets.empty_state import page
from rcv_py.ui.widgets.legend import Legend

STREAM_MS = 500
LOW_PX = 170  # below this height, as beside a time view, bars take the room of the legend
OF_THE_CODE = "totals of all waves; their kinds follow when waves are read"


class BinsChart(BarChart):
    """One bar per range of code rows, stacked by kind; the wheel, W, S and 0 ask for other rows."""

    zoomed = Signal(float, float)  # times as many rows, around a code row

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Histogram of cycles over the program", top=20)
        self.bins: HotspotBins | None = None
        self.unit, self.note = "cycles", ""
        self.kinds: list[TokenKind] = []  # kinds that have a bar

    def show_bins(self, bins: HotspotBins, rows: int, unit: str) -> None:
        """Show other bars of a program with this number of rows."""
        self.bins, self.unit = bins, unit
        self.kinds = [TokenKind(kind) for kind in np.flatnonzero(bins.cycles.any(axis=0)).tolist()]
        parts = bins.cycles[bins.first < rows][:, self.kinds]
        self.show_parts(parts, [partial(Theme.kind, kind=kind) for kind in self.kinds])

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the cursor."""
        bar = (event.position().x() - self.x_of(0)) / self.bar_px
        self._zoom(PER_NOTCH ** (event.angleDelta().y() / NOTCH), bar)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        factors = {Qt.Key.Key_W: KEY_ZOOM, Qt.Key.Key_S: 1 / KEY_ZOOM, Qt.Key.Key_0: math.inf}
        if (key := Qt.Key(event.key())) in factors:
            self._zoom(factors[key], len(self) / 2 if self.selected is None else sum(self.selected) / 2)
        else:
            super().keyPressEvent(event)

    def _zoom(self, factor: float, bar: float) -> None:
        if self.bins is not None:
            self.zoomed.emit(factor, float(self.bins.first[0]) + bar * self.bins.step)

    def clear(self) -> None:
        """Remove all bars."""
        self.bins, self.kinds = None, []
        self.show_parts(np.zeros((0, 0), dtype=np.int64), ())

    def bin_of(self, row: int) -> int:
        """Return the bar that holds a code row, -1 if none does."""
        if self.bins is None:
            return -1
        at = int(np.searchsorted(self.bins.first, row, side="right")) - 1
        return at if 0 <= at < len(self) and row < self.bins.stop[at] else -1

    def tip(self, bar: int) -> str:
        bins = self.bins
        if bins is None or bar < 0:
            return self.note
        total, of = int(bins.totals[bar]), "{0} samples, {1} of all samples"
        if self.unit == "cycles":
            of = "{0} cycles of latency, {1} of the latency of all bars"
        where = Message("instructions {0} to {1}", bins.first[bar], bins.stop[bar] - 1)
        cost = Message(of, grouped(total), percent(total, int(bins.totals.sum())))
        return "\n".join(filter(None, (where, cost, *kind_lines(bins.cycles[bar]), self.note)))

    def paint_over(self, painter: QPainter) -> None:
        assert self.bins is not None
        first, step = int(self.bins.first[0]), self.bins.step
        rows = self.round_numbers(first, first + len(self) * step)
        ticks = ((self.x_of((row - first) / step), f"{row:,}") for row in rows)
        self.paint_axis(painter, ticks, Message("instruction, {0} a bar", step))
        draw_text(painter, QPointF(4, self.fontMetrics().ascent()), self.unit)


class HotspotPanel(Panel):
    """Cycles by place in the program."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.plot = BinsChart(ui.theme)
        self._voice = SelectionVoice(self.plot, self.session)
        self.legend, self.note = Legend(), PlainLabel(role="muted")
        self.captioned = self.note
        self._by_row: HotspotBins | None = None  # data of the bars
        self._rows: tuple[int, int] | None = None  # code rows in view, None: all that have cycles
        self._request = self.request(self._compute, STREAM_MS)
        self._without_waves = self.request(self._compute)
        self.empty = page(self, bar((self.legend, 1), self.note), (self.plot, 1))
        self.plot.chosen.connect(self._choose)
        self.plot.zoomed.connect(self._zoom)
        ui.theme.changed.connect(self._show_legend)
        self.session.trace.watch(self._open)
        self.session.selection.watch(self._follow)
        self.session.loaded.watch(self._request.update)
        for cell in (self.session.clock_range, ui.settings.cell("hotspot.bins")):
            cell.watch(self._request.ask)
        self._open()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the height to the bars where it is low; their tooltips name the kinds, too."""
        super().resizeEvent(event)
        self.legend.setVisible(self.height() >= LOW_PX)

    def _open(self) -> None:
        self.plot.select(-1)
        self.plot.clear()
        self._rows, missing = None, self.why_missing("code")
        self.empty.say(missing)
        if not missing:
            self._request.now()

    def _compute(self) -> bool:
        trace, store = self.session.trace.value, self.session.store
        if trace is None or store is None or not len(trace.code):
            return False
        window = self.session.clock_range.value
        self._say()
        rows = rows_in(trace, window)
        by_row = KINDS if window is None else hotspot_bins(window)
        ask = self.incremental("hotspot", by_row, window, rows)
        if not store.batches:
            self._without_waves.run(lambda: static_bins(trace.code), self._take)
            return False
        self._request.run(lambda: ask(rows), self._take)
        return True

    def _say(self) -> None:
        store = self.session.store
        note = ""
        if store is not None and len(store.trace.waves):
            note = unread_note(store.read + len(store.missing), store) if store.read else OF_THE_CODE
        self.note.setText(note)
        self.plot.note = note

    def _take(self, by_row: HotspotBins) -> None:
        self._say()
        self._by_row = by_row
        if by_row.cycles.any():
            self.empty.say("")
            self._show_bins()
        else:
            self.plot.clear()
            self.empty.say(self.reason(NO_COST))

    def _show_bins(self) -> None:
        trace, by_row = self.session.trace.value, self._by_row
        if trace is not None and by_row is not None:
            bins = binned(by_row, self.ui.settings["hotspot.bins"], self._rows)
            self.plot.show_bins(bins, len(trace.code), unit_of(trace))
            self._show_legend()
            self._follow()

    def _zoom(self, factor: float, row: float) -> None:
        """Show `factor` times as many rows; a row stays where it is."""
        by_row = self._by_row
        if by_row is None:
            return
        every = binned(by_row, 1)
        low, high = int(every.first[0]), int(every.stop[0])
        begin, stop = self._rows or (low, high)
        rounded = math.floor if factor < 1 else math.ceil  # so that each step changes something
        width = rounded(min(max(1, (stop - begin) * factor), high - low))
        first = round(row - (row - begin) / (stop - begin) * width)
        first = min(max(first, low), high - width)
        self._rows = (first, first + width) if width < high - low else None
        self._show_bins()

    def _show_legend(self) -> None:
        kinds = ((self.ui.theme.kind(kind), KIND_NAME[kind], KIND_TEXT[kind]) for kind in self.plot.kinds)
        self.legend.set_items([*kinds])

    def _choose(self, at: int) -> None:
        bins, by_row = self.plot.bins, self._by_row
        if bins is not None and by_row is not None:
            first, stop = int(bins.first[at]), min(int(bins.stop[at]), len(by_row.first))
            counted = CountedExecutions(None, self.session.clock_range.value)
            self.session.select_lines(first, stop, by_row.totals[first:stop], counted)

    def _follow(self) -> None:
        selection = self.session.selection.value
        line = -1 if selection.line is None else selection.line
        first, stop = selection.lines or (line, line + 1)
        ends = (self.plot.bin_of(first), self.plot.bin_of(stop - 1))
        self.plot.select(ends[0] if min(ends) >= 0 else -1, ends[1] + 1)

    def command_line(self) -> command_text.CommandWords | None:
        bins = f"--bins={self.ui.settings['hotspot.bins']}"
        return command_text.rcv(self.session, "hotspot", bins, *command_text.clock(self.session))

    def sheet(self) -> Sheet | None:
        return None if self.plot.bins is None else Sheet.of("Hotspot", bins_table(self.plot.bins))
