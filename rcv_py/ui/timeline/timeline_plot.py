"""The widget under every timeline: ruler, names, rows, overlay and scroll bar, tied to the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QScrollBar, QWidget

from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import row
from rcv_py.ui.core.plain_text import button_text, hide_tip, show_tip
from rcv_py.ui.timeline.overlay import Marks, Overlay
from rcv_py.ui.timeline.row_labels import RowLabels
from rcv_py.ui.timeline.rows_item import RowsItem, RowSource
from rcv_py.ui.timeline.time_plot import TimePlot


class Guide(Protocol):
    """What a panel says about its rows: exact answers, from tables and never from pixels."""

    def marks(self) -> Marks:
        """What to mark over the rows."""

    def tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        """Rich text about what is there, "" for nothing."""

    def hovered(self, row: int, time: int) -> None:
        """Tell the session what the mouse is over; row -1: nothing."""

    def clicked(self, row: int, time: int, is_double: bool) -> None:
        """Select what is there."""

    def measured(self, window: TimeWindow, row: int) -> str:
        """Add to the numbers of a measure, e.g. how many tokens it holds in a row."""


class TimelinePlot(TimePlot):
    """Rows over time."""

    scrolled = Signal()

    def __init__(self, ui: UiContext, source: RowSource, guide: Guide) -> None:
        self._labels = RowLabels(ui.theme)
        super().__init__(ui, self._labels)
        self.guide = guide
        self._measure_row = -1
        self.band_y = -1.0  # how many pixels below the top of its row's band the mouse is; -1: elsewhere
        self.menu: Callable[[int, int], Sequence[tuple[str, Callable[[], None]]]] | None = None
        self.depth = -1.0  # where in its row the mouse is, from 0 at the top of the spans to 1; -1: nowhere
        self.rows = RowsItem(self.box, ui.theme, source)
        self.rows.grid = self.axis.grid_px
        self._labels.rows = self.rows
        self.overlay = Overlay(self.box, self.rows, ui.session, ui.theme)
        self.overlay.marks = guide.marks
        self.start()

    # -- geometry ---------------------------------------------------------------------------------------

    def row_at(self, y: float) -> tuple[int, bool]:
        """The row at a position, -1 if there is none, and whether it is the row's strip of states."""
        source = self.rows.source
        inside = y - self.box.scenePos().y() + self.rows.scroll_px
        if source is None or y < self.box.scenePos().y():
            return -1, False
        row, rest = divmod(inside, source.shape.pitch)
        shape = source.shape
        if not 0 <= row < len(source) or rest >= shape.pitch - shape.gap:
            return -1, False
        return int(row), shape.spans <= rest < shape.spans + shape.strip

    def y_of(self, row: int) -> float:
        """The middle of a row's spans in the widget."""
        shape = self.rows.source.shape
        return self.box.scenePos().y() + row * shape.pitch - self.rows.scroll_px + shape.spans / 2

    def _look_at(self, y: float) -> None:
        """Remember where in its row a position is."""
        self.depth = self.band_y = -1.0
        source = self.rows.source
        if source is None:
            return
        shape = source.shape
        inside = (y - self.box.scenePos().y() + self.rows.scroll_px) % shape.pitch
        if 0 <= inside < shape.spans:
            self.depth = inside / shape.spans
        elif 0 <= inside - shape.spans - shape.strip < shape.band:
            self.band_y = inside - shape.spans - shape.strip

    def content_height(self) -> int:
        """Pixels that all rows need."""
        source = self.rows.source
        return 0 if source is None else len(source) * source.shape.pitch

    # -- rows -------------------------------------------------------------------------------------------

    def scroll_rows(self, by_px: float) -> None:
        """Move the rows up by so many pixels."""
        self.set_scroll(self.rows.scroll_px + by_px)

    def set_scroll(self, to_px: float) -> None:
        """Put the given pixel of the content at the top, as far as there is content."""
        most = max(0.0, self.content_height() - self.box.height())
        scroll = min(max(0.0, to_px), most)
        if scroll != self.rows.scroll_px:
            self.rows.scroll_px = scroll
            self._repaint()
            self.scrolled.emit()

    def reveal_row(self, row: int) -> None:
        """Scroll only as far as needed to see a row."""
        source = self.rows.source
        if source is None or row < 0:
            return
        top, height = row * source.shape.pitch, self.box.height()
        if top < self.rows.scroll_px:
            self.set_scroll(top)
        elif top + source.shape.pitch > self.rows.scroll_px + height:
            self.set_scroll(top + source.shape.pitch - height)

    def rows_changed(self) -> None:
        """Paint again: the source has other rows."""
        self.set_scroll(self.rows.scroll_px)
        self._repaint()
        self.scrolled.emit()

    def set_measure_row(self, y: float) -> None:
        """Remember whose tokens a measure counts."""
        self._measure_row = self.row_at(y)[0]

    def clicked(self, at: QPointF, is_double: bool) -> None:
        """Hand a click to the panel."""
        row, _ = self.row_at(at.y())
        self._look_at(at.y())
        self.guide.clicked(row, self.time_at(at.x()), is_double)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what the panel can do with what is there."""
        at = event.pos()
        if self.menu is None or not self.plot_rect().contains(at):
            return
        self._look_at(at.y())
        actions = self.menu(self.row_at(at.y())[0], self.time_at(at.x()))
        if actions:
            menu = QMenu(self)
            for title, call in actions:
                menu.addAction(button_text(title)).triggered.connect(call)
            menu.popup(event.globalPos())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the scroll position within what there is."""
        super().resizeEvent(event)
        if getattr(self, "plotItem", None) is not None and hasattr(self, "rows"):  # not while made or closed
            self.rows_changed()

    def hover_ended(self) -> None:
        """Hover nothing."""
        self.guide.hovered(-1, 0)

    def hover_at(self, at: QPointF, on_screen: QPointF) -> None:
        """Tell the panel what the mouse is over, and show what it says."""
        row, is_strip = self.row_at(at.y())
        self._look_at(at.y())
        time = self.time_at(at.x())
        self.guide.hovered(row, time)
        text = self.guide.tip(row, time, self.pixel_at(time), is_strip) if row >= 0 else ""
        spot = on_screen.toPoint()
        show_tip(spot, text, self.viewport()) if text else hide_tip()

    # -- looks ------------------------------------------------------------------------------------------

    def show_window(self, window: TimeWindow) -> None:
        """Hand the window to the rows."""
        self.rows.shown = window

    def forget_colors(self) -> None:
        """Make the rows' picture anew."""
        self.rows.forget()

    def repaint_all(self) -> None:
        """Paint the rows, too."""
        self.rows.update()

    def measured(self, window: TimeWindow) -> str:
        """What the panel adds for the row the measure began in."""
        return self.guide.measured(window, self._measure_row)


class Timeline(QWidget):
    """A timeline plot with its scroll bar."""

    def __init__(self, ui: UiContext, source: RowSource, guide: Guide) -> None:
        super().__init__()
        self.plot = TimelinePlot(ui, source, guide)
        self.bar = QScrollBar(Qt.Orientation.Vertical)
        self.bar.setAccessibleName("Rows of the timeline")
        policy = self.bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # timelines below each other keep the same scale
        self.bar.setSizePolicy(policy)
        row(self.plot, self.bar, of=self)
        self.setFocusProxy(self.plot)
        self.bar.valueChanged.connect(self.plot.set_scroll)
        self.plot.scrolled.connect(self._follow)

    def sizeHint(self) -> QSize:
        """A few rows and the ruler."""
        return QSize(640, 220)

    def minimumSizeHint(self) -> QSize:
        """Two rows."""
        return QSize(160, 72)

    def _follow(self) -> None:
        plot = self.plot
        height = plot.box.height()
        most = max(0, round(plot.content_height() - height))
        self.bar.blockSignals(True)
        self.bar.setRange(0, most)
        self.bar.setPageStep(max(1, round(height)))
        self.bar.setSingleStep(plot.rows.source.shape.pitch)
        self.bar.setValue(round(plot.rows.scroll_px))
        self.bar.blockSignals(False)
        self.bar.setVisible(most > 0)
