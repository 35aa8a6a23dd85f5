"""The widget of every timeline: ruler, names, rows, overlay and scroll bar, connected to the session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from PySide6.QtCore import QPointF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QScrollBar, QWidget

from rcv_py.base.manifest import panel_for
from rcv_py.base.text import Message, translated
from rcv_py.model.activity import ACTIVITIES, ACTIVITY_COUNT, STATE_ORDER
from rcv_py.model.ids import WaveId
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, STATE_NAME, STATE_TEXT, TokenKind
from rcv_py.model.notes import Anchor
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Hover
from rcv_py.ui.core.layout import row
from rcv_py.ui.core.panel import Panel, UiContext
from rcv_py.ui.core.plain_text import add_action, joined, named, show_tip
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.core.times import Times
from rcv_py.ui.table.filter_menu import FilterButton
from rcv_py.ui.table.note_marks import note_actions, note_tip, time_actions
from rcv_py.ui.timeline.rows_item import STRIP, Overlay, RowLabels, RowsItem, RowSource
from rcv_py.ui.timeline.time_overlay import Line, Marks, RowPart
from rcv_py.ui.timeline.time_plot import TimePlot
from rcv_py.ui.widgets.legend import Legend

NEAR_PX = 3  # px: maximum distance of the mouse from a line
MAX_LINES = 4  # maximum lines in a tooltip
LEGEND_MS = 120  # ms after the last picture
STALL, KIND, STATE = "stall", "kind:", "state:"  # keys, the latter two followed by a number
BRANCH = "branch", "branch taken or not taken"  # both have a colour here


class TimelinePlot(TimePlot):
    """Rows over time."""

    scrolled = Signal()
    overlay: Overlay

    def __init__(
        self, ui: UiContext, source: RowSource, guide: TimelinePanel, *, is_overview: bool = False
    ) -> None:
        self._labels = RowLabels(ui.theme)
        super().__init__(ui, self._labels, is_overview=is_overview)
        self.guide = guide
        self._measure_row = -1
        self.band_y = -1.0  # px of the mouse below the top of its row's band; -1: elsewhere
        self.row_depth = -1.0  # of the mouse in its row, from 0 at the top of the spans to 1; -1: outside
        self.content = self.rows = RowsItem(self.box, ui.theme, source)
        self.rows.grid = self.axis.grid_px
        self._labels.rows = self.rows
        self.overlay = Overlay(self.box, self.rows, ui.session, ui.theme)
        self.overlay.marks = guide.marks
        self._room_px = 0.0  # height of the rows before the last change
        self.start()

    def row_at(self, y: float) -> tuple[int, bool]:
        """Return the row at a position, -1 if there is none, and whether it is the row's strip of states."""
        source, shape, top = self.rows.source, self.rows.source.shape, self.box.scenePos().y()
        row, rest = divmod(y - top + self.rows.scroll_px, shape.pitch)
        if y < top or not 0 <= row < len(source) or rest >= shape.pitch - shape.gap:
            return -1, False
        return int(row), shape.spans <= rest < shape.spans + shape.strip

    def y_of(self, row: int) -> float:
        """Return the middle of a row's spans in the widget."""
        shape = self.rows.source.shape
        return self.box.scenePos().y() + row * shape.pitch - self.rows.scroll_px + shape.spans / 2

    def _look_at(self, y: float) -> None:
        """Store the relative position in its row."""
        self.row_depth = self.band_y = -1.0
        shape = self.rows.source.shape
        inside = (y - self.box.scenePos().y() + self.rows.scroll_px) % shape.pitch
        if 0 <= inside < shape.spans:
            self.row_depth = inside / shape.spans
        elif 0 <= inside - shape.spans - shape.strip < shape.band:
            self.band_y = inside - shape.spans - shape.strip

    def settle(self) -> None:
        """Lay out the parts now, without waiting for Qt."""
        self.places.activate()

    def content_height(self) -> int:
        """Return the pixels that all rows need."""
        return len(self.rows.source) * self.rows.source.shape.pitch

    def scroll_rows(self, by_px: float) -> None:
        self.set_scroll(self.rows.scroll_px + by_px)

    def set_scroll(self, to_px: float) -> None:
        """Put the given pixel of the content at the top, as far as the content allows."""
        scroll = min(max(0.0, to_px), max(0.0, self.content_height() - self.box.height()))
        if scroll != self.rows.scroll_px:
            self.rows.scroll_px = scroll
            self._repaint()
            self.scrolled.emit()

    def reveal_row(self, row: int) -> None:
        """Scroll only as far as needed to show a row; a row that is out of sight gets to the middle."""
        pitch, height = self.rows.source.shape.pitch, self.box.height()
        if row >= 0:
            top, scroll = row * pitch, self.rows.scroll_px
            if not -pitch < top - scroll < height:
                scroll = top - (height - pitch) / 2
            self.set_scroll(min(max(scroll, top + pitch - height), top))

    def rows_changed(self) -> None:
        """Paint again: the source has other rows."""
        self.set_scroll(self.rows.scroll_px)
        self._repaint()
        self.scrolled.emit()

    def set_measure_row(self, y: float) -> None:
        self._measure_row = self.row_at(y)[0]

    def clicked(self, at: QPointF, is_double: bool) -> None:
        row, _ = self.row_at(at.y())
        self._look_at(at.y())
        self.guide.clicked(row, self.time_at(at.x()), is_double)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        at = event.pos()
        if not self.plot_rect().contains(at):
            return
        self._look_at(at.y())
        row, time, session = self.row_at(at.y())[0], self.time_at(at.x()), self.session
        notes = note_actions(session, self.overlay.notes_near(time, self.pixel_at(time)))
        write = time_actions(session, self.guide.anchor_at(row, time))
        menu = QMenu(self)
        for title, call in (*self.guide.actions_at(row, time), *write, *notes):
            add_action(menu, title, call)
        menu.popup(event.globalPos())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the selected row in view, if it was."""
        super().resizeEvent(event)
        if self.is_started:  # not during construction
            row, top, pitch = self.rows.source.selected_row, self.rows.scroll_px, self.rows.source.shape.pitch
            was_seen = top <= row * pitch < top + self._room_px
            self.rows_changed()
            self._room_px = self.box.height()
            if was_seen:
                self.reveal_row(row)

    def hover_ended(self) -> None:
        self.guide.hovered(-1, 0)

    def hover_at(self, at: QPointF, on_screen: QPointF) -> None:
        row, is_strip = self.row_at(at.y())
        self._look_at(at.y())
        time = self.time_at(at.x())
        self.guide.hovered(row, time)
        text = self.guide.tip(row, time, self.pixel_at(time), is_strip) if row >= 0 else ""
        if notes := self.overlay.notes_near(time, self.pixel_at(time)):
            text = joined("<br>", filter(None, (note_tip(notes), text)))
        show_tip(on_screen.toPoint(), text, self.viewport())

    def measured(self, window: TimeWindow) -> str:
        return self.guide.measured(window, self._measure_row)


def steady_bar() -> QScrollBar:
    """Return a vertical scroll bar that keeps its room while hidden: plots keep the same scale."""
    bar = QScrollBar(Qt.Orientation.Vertical)
    policy = bar.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    bar.setSizePolicy(policy)
    return bar


class ScrolledTimeline(QWidget):
    """A timeline plot with its scroll bar."""

    def __init__(self, ui: UiContext, source: RowSource, guide: TimelinePanel) -> None:
        super().__init__()
        self.plot = TimelinePlot(ui, source, guide, is_overview=guide.is_overview)
        self.bar = named(steady_bar(), "Rows of the timeline")
        row(self.plot, self.bar, of=self)
        self.setFocusProxy(self.plot)
        self.bar.valueChanged.connect(self.plot.set_scroll)
        self.plot.scrolled.connect(self._follow)

    def sizeHint(self) -> QSize:
        return QSize(640, 220)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 72)

    def _follow(self) -> None:
        plot, height = self.plot, self.plot.box.height()
        limit = max(0, round(plot.content_height() - height))
        with QSignalBlocker(self.bar):
            self.bar.setRange(0, limit)
            self.bar.setPageStep(max(1, round(height)))
            self.bar.setSingleStep(plot.rows.source.shape.pitch)
            self.bar.setValue(round(plot.rows.scroll_px))
        self.bar.setVisible(limit > 0)


class TimelinePanel(Panel):
    """A panel around a timeline.  It answers about rows exactly: from tables, never from pixels."""

    is_overview = False  # whether it shows the whole capture, with the visible time as a brush

    def __init__(
        self, ui: UiContext, source: RowSource, name: str, shown: str = "", saved: tuple[str, ...] = ()
    ) -> None:
        """`name` is for screen readers; `shown` and `saved` belong to the filter, if there is one."""
        super().__init__(ui)
        self.timeline = ScrolledTimeline(ui, source, self)
        self.timeline.plot.setAccessibleName(translated(name))
        self.filter = self.remembered["filter"] = FilterButton(shown, saved)
        self.selected: RowPart | None = None
        self.hovered_place: RowPart | None = None
        self.legend = Legend()
        self.legend.picked_changed.connect(self._pick)
        self._legend_due = self.request(self.show_legend)
        self.timeline.plot.rows.drawn = self._show_legend_soon
        self.timeline.plot.range_measured.connect(lambda: self.wants.emit(panel_for("range")))
        ui.theme.changed.connect(self._show_legend_soon)

    def _show_legend_soon(self) -> None:
        self._legend_due.ask(LEGEND_MS)

    def swatches_of(self, seen: np.ndarray) -> Iterable[Swatch]:
        """Return the meaning of the pixel codes that are `seen` (bool [256])."""
        return activity_swatches(self.ui.theme, seen)

    def not_picked(self, key: str) -> frozenset[int]:
        """Return the codes of pixels that are dimmed while a key of the legend is selected."""
        return not_picked(key)

    def show_legend(self) -> None:
        """Name the visible colours; a selected colour stays named."""
        swatches = tuple(self.swatches_of(self.timeline.plot.rows.codes_in_sight()))
        if self.legend.picked and all(one.key != self.legend.picked for one in swatches):
            swatches += tuple(one for one in self.legend.swatches if one.key == self.legend.picked)
        self.legend.set_items(swatches)

    def _pick(self, key: str) -> None:
        rows = self.timeline.plot.rows
        rows.source.dimmed = self.not_picked(key)
        rows.forget()

    @contextmanager
    def for_picture(self) -> Iterator[None]:
        """Show only whole rows during the block: the visible rows, none of them cut."""
        plot = self.timeline.plot
        size, scroll = plot.size(), plot.rows.scroll_px
        room, pitch = round(plot.box.height()), plot.rows.source.shape.pitch
        first, stop = plot.rows.rows_in_view(room)
        if stop <= first or not room:
            yield
            return
        if stop - first > 1 and (stop - 1) * pitch >= scroll + room - 1:
            stop -= 1  # none of its pixels is visible
        try:
            plot.resize(size.width(), size.height() - room + (stop - first) * pitch)
            plot.settle()
            plot.rows.scroll_px = float(first * pitch)
            self.show_legend()
            yield
        finally:
            plot.resize(size)
            plot.settle()
            plot.rows.scroll_px = scroll
            plot.rows_changed()

    def hidden(self, prefix: str) -> list[str]:
        """Return the hidden choices whose ids begin with a prefix, without the prefix."""
        return sorted(id.removeprefix(prefix) for id in self.filter.hidden if id.startswith(prefix))

    def canvas(self) -> QWidget:
        return self.timeline.plot

    def marks(self) -> Marks:
        """Return the marks of selection and hover."""
        return Marks(self.selected, self.hovered_place)

    def tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        """Return rich text about what is at a point, "" for nothing."""
        raise NotImplementedError

    def hovered(self, row: int, time: int) -> None:
        """Outline what is under the mouse, and pass it to the session; row -1: nothing."""
        raise NotImplementedError

    def clicked(self, row: int, time: int, is_double: bool) -> None:
        """Select what is at the point; a double click fits it."""
        raise NotImplementedError

    def measured(self, window: TimeWindow, row: int) -> str:
        """Return text for a measured range, e.g. how many tokens of a row it holds."""
        raise NotImplementedError

    def actions_at(self, row: int, time: int) -> list[tuple[str, Callable[[], None]]]:
        """Return the menu entries at a point: title, call."""
        return [self.copy_action]

    def anchor_at(self, row: int, time: int) -> Anchor:
        """Return the anchor of a note written at a point."""
        return Anchor(span=TimeWindow(time, time + 1))

    def point_at(
        self,
        row: int,
        time: int,
        span: TimeWindow | None = None,
        wave: TracedWave | WaveId | None = None,
        line: int = -1,
    ) -> None:
        """Outline a span of a row and pass its wave and instruction to the other views; row -1: nothing."""
        self.hovered_place = None if span is None else RowPart(row, span)
        name = wave.id if isinstance(wave, TracedWave) else wave
        self.session.hover.set(Hover(name, line if line >= 0 else None, time) if row >= 0 else None)


def activity_swatches(theme: Theme, seen: np.ndarray) -> Iterator[Swatch]:
    """Yield kinds, stall and states of waves whose codes are `seen` (bool [256]), in the stacking order."""
    for kind in dict.fromkeys(kind for kind, _ in ACTIVITIES):
        codes = [code for code, activity in enumerate(ACTIVITIES) if activity[0] is kind]
        if seen[codes].any():
            is_wait = kind is TokenKind.IMMED
            color = theme.stalled(kind) if is_wait else theme.kind(kind)
            name, meaning = BRANCH if kind is TokenKind.JUMP else (KIND_NAME[kind], KIND_TEXT[kind])
            yield Swatch(color, name, meaning, is_wait, f"{KIND}{int(kind)}")
    stalls = (code for code, (_, is_stall) in enumerate(ACTIVITIES) if is_stall and seen[code])
    kinds = [kind for code in stalls if (kind := ACTIVITIES[code][0]) is not TokenKind.IMMED]
    if kinds:
        meaning = "the paler part of an instruction, in which it could not issue"
        yield Swatch(theme.stalled(kinds[-1]), "stall: paler", meaning, key=STALL)
    for place, state in enumerate(STATE_ORDER):
        if seen[STRIP + place]:
            name = Message("wave: {0}", STATE_NAME[state])
            yield Swatch(theme.state(state), name, STATE_TEXT[state], key=f"{STATE}{place}")


def not_picked(key: str) -> frozenset[int]:
    """Return the codes that are dimmed while a key is selected; none for an unknown key."""
    number = int(key.rpartition(":")[2] or -1) if ":" in key else -1
    if key == STALL:
        return frozenset(code for code, (_, is_stall) in enumerate(ACTIVITIES) if not is_stall)
    if key.startswith(KIND):
        return frozenset(code for code in range(ACTIVITY_COUNT) if ACTIVITIES[code][0] != number)
    if key.startswith(STATE):
        return frozenset(STRIP + place for place in range(len(STATE_ORDER)) if place != number)
    return frozenset()


def near_lines(lines: Sequence[Line], time: int, pixel: TimeWindow, times: Times) -> list[str]:
    """Return the texts of a few lines near a time."""
    near = pixel.width * NEAR_PX
    return [line.text(times) for line in lines if abs(line.time - time) <= near][:MAX_LINES]


def unit_of(trace: Trace | None, row: int | None) -> tuple[int, ...]:
    """Return shader engine, array and compute unit of a row of the wave index; () for none."""
    if trace is None or row is None:
        return ()
    return tuple(int(column[row]) for column in (trace.waves.se, trace.waves.sa, trace.waves.cu))
