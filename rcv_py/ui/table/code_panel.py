"""The base of the code panels: instructions or source lines, each with its cost."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.base.text import translated
from rcv_py.ui.core.costs import CostUpdates
from rcv_py.ui.core.layout import Margins, bar, boxed
from rcv_py.ui.core.panel import Panel, UiContext
from rcv_py.ui.core.plain_text import PlainLabel, tooltip
from rcv_py.ui.table.cost_bars import heat
from rcv_py.ui.table.find_bar import FindBar
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import grouped

WIDTH = 14
MARK_PX = 5  # px of a search mark, at the left edge


class HeatStrip(QWidget):
    """Costs of rows as shown; a click scrolls there.  `places` gives the view row of each data row."""

    clicked = Signal(int)  # data row

    def __init__(self, view: RowsView, places: Callable[[], np.ndarray] | None = None) -> None:
        super().__init__()
        self._places = places or (lambda: view.table.view_rows)
        self._view, self._theme = view, view.theme
        self._cost = self._marks = np.empty(0, dtype=np.int64)
        self._image = QImage()  # null: to be remade
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(translated("Map of hot rows"))
        self.setToolTip(tooltip("Where the expensive rows are. Click to go there."))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        view.verticalScrollBar().valueChanged.connect(self.update)
        view.table.layoutChanged.connect(self._rebuild)
        view.table.modelReset.connect(self._rebuild)
        view.theme.changed.connect(self._rebuild)

    def set_cost(self, cost: np.ndarray) -> None:
        """Show these costs, one per data row."""
        self._cost = cost
        self._rebuild()

    def set_marks(self, rows: np.ndarray) -> None:
        """Mark data rows that a search found."""
        self._marks = rows
        self._rebuild()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 60)

    def _area(self) -> QRect:
        header = 0 if self._view.header.isHidden() else self._view.header.height()
        used = len(self._view.table.data_rows) * self._view.row_height
        page = self._view.viewport().height()
        # With fewer rows than fit, a pixel of the strip is level with its row.
        return QRect(1, header, self.width() - 2, max(0, min(page, used)))

    def row_at(self, y: int) -> int:
        """Return the data row at a height, -1 if there is none."""
        area, rows = self._area(), self._view.table.data_rows
        if not len(rows) or area.height() <= 0:
            return -1
        at = (y - area.top()) * len(rows) // area.height()
        return int(rows[min(max(at, 0), len(rows) - 1)])

    def y_of(self, view_row: int) -> int:
        """Return the height of a view row in the strip."""
        area, count = self._area(), max(1, len(self._view.table.data_rows))
        return area.top() + view_row * area.height() // count

    def paintEvent(self, event: QPaintEvent) -> None:
        area = self._area()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.role("base"))
            if not area.height():
                return
            if self._image.height() != area.height():
                self._image = self._heat_image(area.height())
            painter.drawImage(area, self._image)
            total = len(self._view.table.data_rows) * self._view.row_height
            page = self._view.viewport().height()
            if total > page:
                top = area.top() + self._view.verticalScrollBar().value() * area.height() // total
                painter.setPen(self._theme.role("muted"))
                painter.drawRect(0, top, self.width() - 1, max(6, page * area.height() // total))
            self._paint_marks(painter)

    def _heat_image(self, height: int) -> QImage:
        rows = self._view.table.data_rows
        cost = self._cost[rows] if len(self._cost) >= self._view.table.view_rows.shape[0] else rows * 0
        share = np.sqrt(heat(cost, height))[:, None]
        cold, hot = self._theme.role("base"), self._theme.role("stall")
        ends = [np.array([c.blue(), c.green(), c.red(), 255], dtype=np.float64) for c in (cold, hot)]
        pixels = np.ascontiguousarray(np.rint(ends[0] + (ends[1] - ends[0]) * share).astype(np.uint8))
        return QImage(pixels.data, 1, height, 4, QImage.Format.Format_RGB32).copy()

    def _paint_marks(self, painter: QPainter) -> None:
        shown = self._places()
        marks = self._marks[self._marks < len(shown)]
        for y in sorted({self.y_of(int(row)) for row in shown[marks] if row >= 0}):
            painter.fillRect(0, y - 1, MARK_PX, 2, self._theme.role("search"))
        row = self._view.current
        if 0 <= row < len(shown) and (current := int(shown[row])) >= 0:
            painter.fillRect(0, self.y_of(current) - 1, self.width(), 3, self._theme.role("accent"))

    def _rebuild(self) -> None:
        self._image = QImage()
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the hottest row near the mouse, so that a click next to a thin line still hits it."""
        y = event.position().toPoint().y()
        if near := [row for step in (0, -1, 1, -2, 2) if (row := self.row_at(y + step)) >= 0]:
            self.clicked.emit(max(near, key=lambda row: self._cost[row] if row < len(self._cost) else 0))


class CodePanel(Panel):
    """A code table next to a map of its hot rows; costs are recomputed when what counts changes.

    A subclass calls `follow_session` when it is constructed, and implements opening, computing and following.
    It lays out `search`, which holds the search field and is hidden until a search.
    """

    view: RowsView

    def __init__(self, ui: UiContext, view: RowsView, strip: HeatStrip, around_search: Margins) -> None:
        super().__init__(ui)
        self.view, self.strip = view, strip
        self._in_search = bar(margins=around_search)
        self.search = boxed(self._in_search)
        self.search.hide()
        self.remembered["table"] = view
        self.note = PlainLabel(visible=False, wordWrap=True)
        self.note.setContentsMargins(8, 0, 8, 4)
        self.note.setMinimumWidth(1)
        self._updates = CostUpdates(self, self._compute, self.stream_ms)
        view.opened.connect(lambda row: self.session.fit_selection())

    stream_ms = 300  # minimum interval between computations of costs while waves arrive

    def follow_session(self) -> None:
        """Begin to follow the session, and show the open capture."""
        session = self.session
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.hover.watch(self._show_hover)
        self._open()

    @cached_property
    def find_bar(self) -> FindBar:
        """Return the search field, made when something is first searched."""
        made = self._make_find_bar()
        self._in_search.addWidget(made)
        return made

    def _make_find_bar(self) -> FindBar:
        """Make the search field, with what it does."""
        raise NotImplementedError

    @property
    def has_searched(self) -> bool:
        """Return whether there is the search field."""
        return "find_bar" in self.__dict__

    def _open(self) -> None:
        """React to another trace, or none."""

    def _compute(self) -> None:
        """Compute the costs in a thread."""

    def _follow(self) -> None:
        """Show the selection."""

    def _show_hover(self) -> None:
        """Tint the row hovered in another panel."""

    def show_note(self, note: str) -> None:
        """Show a sentence above the table, "" for none."""
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def focus_search(self) -> bool:
        """Show the search field with the cursor in it."""
        bar = self.find_bar  # before its place is shown: Qt shows what is added later in a turn of its own
        self.search.show()
        bar.focus()
        return True


def next_hottest(cost: np.ndarray, current: int | None, direction: int) -> int:
    """Return the row with the next lower (+1) or next higher (-1) cost than the current row, wrapping around.

    The costliest row if the current row costs nothing; -1 if no row has a cost.
    """
    ranked = np.argsort(-cost, kind="stable")[: int(np.count_nonzero(cost))]
    at = np.flatnonzero(ranked == current)
    return int(ranked[(int(at[0]) + direction) % len(ranked) if len(at) else 0]) if len(ranked) else -1


def blank_zero(value: int) -> str:
    """Return a number grouped by thousands, "" for 0."""
    return grouped(value) if value else ""


def share_text(value: float) -> str:
    """Return a percentage as shown in a column, "" for 0."""
    return "" if value <= 0 else "<0.1" if value < 0.05 else f"{value:.1f}"
