"""A source file: coloured text with the cost of each line."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QScrollBar

from rcv_py.analysis.cost.source_costs import SourceCosts
from rcv_py.base.record import Record
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, percent, translated
from rcv_py.features.source.highlight import Span
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.trace import Trace
from rcv_py.ui.core.costs import unit_of
from rcv_py.ui.core.plain_text import draw_data, joined, rich
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.theme import Theme, mix
from rcv_py.ui.table.code_panel import blank_zero, share_text
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.cost_bars import draw_bar, kind_lines, kind_parts
from rcv_py.ui.table.rows_view import RowStyle, RowsView
from rcv_py.ui.table.table_model import Column, grouped

BAR_INSET = 4
NO_TEXT = "(no copy of this line)"
MAX_TIP = 2000  # letters of a line in its tooltip
STEPS = {
    Qt.Key.Key_Left: QScrollBar.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Right: QScrollBar.SliderAction.SliderSingleStepAdd,
}
NO_HEADINGS = np.zeros(0, dtype=np.int64)


class SourceRows(Record):
    """The data of the view: one entry per shown line, either all lines of the file or lines with costs."""

    number: np.ndarray  # int64, 1-based line numbers, ascending
    text: tuple[str, ...]
    cost: np.ndarray  # int64, cycles or samples
    by_kind: np.ndarray  # int64 [n, KIND_COUNT]
    has_code: np.ndarray  # bool, whether the line has instructions
    total: int  # of the whole program
    unit: str
    is_copy: bool  # whether the text is the file's; otherwise only places are known

    def row_of(self, line: int) -> int:
        """Return the row that shows a line, -1 if none does."""
        at = int(np.searchsorted(self.number, line))
        return at if at < len(self.number) and self.number[at] == line else -1


def source_rows(trace: Trace, costs: SourceCosts, file: int, text: tuple[str, ...] | None) -> SourceRows:
    """Return the lines of a file: all, or, without a copy (`text` None), the lines that have code.

    A line beyond the end of the copy, if code names it, gets an extra row at the end.
    """
    words, part = text or (), costs.lines_of(file)
    own = part.start + np.flatnonzero(costs.line[part] > 0)
    line = costs.line[own].astype(np.int64)
    number = ascending(np.concatenate([np.arange(1, len(words) + 1), line]))
    at = np.searchsorted(number, line)
    cost = np.zeros(len(number), dtype=np.int64)
    kinds = np.zeros((len(number), KIND_COUNT), dtype=np.int64)
    has_code = np.zeros(len(number), dtype=bool)
    cost[at], kinds[at], has_code[at] = costs.cost[own], costs.by_kind[own], True
    return SourceRows(
        number=number,
        text=tuple(words[n - 1] if n <= len(words) else NO_TEXT for n in number.tolist()),
        cost=cost,
        by_kind=kinds,
        has_code=has_code,
        total=costs.total,
        unit=unit_of(trace),
        is_copy=text is not None,
    )


def source_columns(rows: SourceRows) -> tuple[Column, ...]:
    """Return the columns of the view."""
    number, share = partial(Column, is_number=True), 100.0 * rows.cost / max(1, rows.total)
    bar = Message("Bar of {0} by kind of instruction.", rows.unit)
    of_all = Message("Share of all {0} {1}.", grouped(rows.total), rows.unit)
    total = Message("Sum of {0}.", rows.unit)
    return (
        number("line", "line", rows.number, width=36, tip="Line number."),
        number("share", "%", share, share_text, width=46, tip=of_all),
        number("bar", "cost", rows.cost, blank_zero, is_left=True, width=44, tip=bar),
        number("cost", rows.unit, rows.cost, blank_zero, width=58, tip=total),
        Column("text", "source", rows.text, width=600, tip="The line.", is_data=True),
    )


TEXT_CHARS = 80  # of lines that are visible before numbers beside the bar take room
TEXT_PX = 180  # px of text below which the bar is hidden
MIN_DEDENT = 4  # letters: a smaller indentation stays, so that lines do not move sideways
BLANK = 1 << 30  # indentation of a line without text


def indent_of(text: str) -> int:
    """Return how many spaces a line begins with, BLANK if it holds nothing else."""
    return len(text) - len(text.lstrip(" ")) if text.strip() else BLANK


class SourceView(RowsView):
    """The view of a file's lines.  Data rows are indices into `SourceRows`, not line numbers."""

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, settings)
        self.lines: SourceRows | None = None
        self._seen: object = None  # the last file whose hottest line was brought into view
        self.spans: Sequence[tuple[Span, ...]] = ()
        self._indents = np.empty(0, dtype=np.int64)  # by row, BLANK of a line without text
        self.dedent = 0  # leading spaces common to all visible lines, which are not shown
        self.tinted: frozenset[int] = frozenset()  # rows of the inline chain under the mouse
        self.chain: frozenset[int] = frozenset()  # rows of the selected instruction's chain
        self._found: frozenset[int] = frozenset()
        self.headings = NO_HEADINGS  # by line of the file, the first line of the function around it
        self.cell_painters = {"text": self._paint_text, "bar": self._paint_bar}
        # Moves the text of the lines, while numbers and bars stay.
        self.across = QScrollBar(Qt.Orientation.Horizontal)
        self.across.valueChanged.connect(self.refresh)
        self._longest = 0  # letters
        self.header.fixed, self.header.natural = frozenset({"text", "line"}), "line"
        self.setAccessibleName(translated("Source lines"))
        self.setSelectionMode(self.SelectionMode.ContiguousSelection)
        self.verticalScrollBar().valueChanged.connect(self._find_dedent)
        self.header.sectionResized.connect(self._fit_across)

    def show_lines(self, rows: SourceRows) -> None:
        """Show a file, or the same file with other costs."""
        if self.lines is None or rows.text is not self.lines.text:
            self._indents = np.array([indent_of(text) for text in rows.text], dtype=np.int64)
            self._longest = max(map(len, rows.text), default=0)
            self.across.setValue(0)
        self.lines = rows
        numbers_px = round(TEXT_CHARS * self.char_px) + 2 * PAD
        yields = (("cost", numbers_px), ("share", numbers_px), "bar")
        self.widths.elastic = Elastic("text", "text", TEXT_PX, 4000, yields)
        self.show_columns(source_columns(rows))
        self.widths.stretch()
        self._find_dedent()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._find_dedent()

    def _find_dedent(self) -> None:
        """Hide the spaces that all visible lines begin with: deeply nested code would show little else."""
        top = self.verticalScrollBar().value()
        first, last = top // self.row_height, (top + self.viewport().height()) // self.row_height + 1
        least = int(self._indents[self.table.data_rows[first:last]].min(initial=BLANK))
        dedent = least if MIN_DEDENT <= least < BLANK else 0
        if dedent != self.dedent:
            self.dedent = dedent
            self.viewport().update()
        self._fit_across()

    def _fit_across(self) -> None:
        """Let the text move sideways as far as its longest line is wider than its column."""
        if self.lines is None or not self.table.columns:
            return
        room = self.columnWidth(self.table.column_of("text")) - 2 * PAD
        excess = round(self._longest * self.char_px) - room
        self.across.setRange(0, max(0, excess - round(self.dedent * self.char_px)))
        self.across.setPageStep(room)
        self.across.setSingleStep(round(4 * self.char_px))
        # Whatever the dedent: it changes with the height of the view, and so with this.
        self.across.setVisible(excess > 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Move sideways with a sideways wheel, or while Shift is held."""
        is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if is_shifted or abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            QApplication.sendEvent(self.across, event)
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move sideways with the arrows."""
        if (key := Qt.Key(event.key())) in STEPS:
            self.across.triggerAction(STEPS[key])
        else:
            super().keyPressEvent(event)

    def show_hottest(self, file: object) -> None:
        """Bring the hottest line into view, once per file, unless a line of the file is selected."""
        if self.lines is not None and file != self._seen and self.lines.cost.any():
            self._seen = file
            if self.current < 0:
                self.reveal(int(self.lines.cost.argmax()))

    def set_matches(self, rows: np.ndarray) -> None:
        """Mark the lines that a search found."""
        self._found = frozenset(rows.tolist())
        self.viewport().update()

    def row_style(self, row: int) -> RowStyle:
        """Mute lines without code; tint lines of a chain."""
        role, band = self.theme.role, None
        if row in self.tinted:
            band = role("hover")
        elif row in self._found:
            band = mix(role("base"), role("search"), 0.22)
        elif row in self.chain:
            band = mix(role("base"), role("accent"), 0.09)
        return RowStyle(role("text"), band)

    def tip(self, row: int, column: str) -> str:
        rows = self.lines
        if rows is None or not (rows.cost[row] or (column == "text" and self._is_cut(row))):
            return ""
        head = rich("<tt>{}</tt>", rows.text[row].strip()[:MAX_TIP])
        if not rows.cost[row]:
            return head
        share = percent(int(rows.cost[row]), rows.total)
        cost = Message("{0} {1}, {2} of all", grouped(rows.cost[row]), rows.unit, share)
        return joined("<br>", [head, cost, *kind_lines(rows.by_kind[row])])

    def _is_cut(self, row: int) -> bool:
        room = self.chars_in(self.columnWidth(self.table.column_of("text")) - 2 * PAD) + self.dedent
        return self.lines is not None and len(self.lines.text[row]) > room

    @property
    def heading(self) -> int:
        """Return the row of the visible function whose first line is above the view; -1 if none."""
        rows, first = self.lines, self.row_at(1)
        if rows is None or self.table.sorting is not None or self.table.is_filtered or first < 0:
            return -1
        number = int(rows.number[first])
        heading = int(self.headings[number]) if number < len(self.headings) else 0
        row = rows.row_of(heading) if heading else -1
        return row if 0 <= row < first else -1

    @property
    def covered_px(self) -> int:
        """Return the height that a heading may cover: one row, or 0."""
        has_heading = self.headings.any() and self.table.sorting is None and not self.table.is_filtered
        return self.row_height if has_heading else 0

    def paint_over(self, painter: QPainter, first: int, last: int) -> None:
        """Keep the first line of the function visible."""
        row = self.heading
        if row < 0 or self.lines is None:
            return
        height, width = self.row_height, self.viewport().width()
        painter.fillRect(0, 0, width, height, self.theme.role("raised"))
        painter.setFont(self._mono)
        for name in ("line", "text"):
            at = self.table.column_of(name)
            cell = QRect(self.columnViewportPosition(at), 0, self.columnWidth(at), height)
            if name == "line":
                painter.setPen(self.theme.role("muted"))
                self.draw_text(painter, cell, self.table.shown_text(row, at), self.table.columns[at])
            else:
                painter.setClipRect(cell)
                self._paint_line(painter, cell, row, indent_of(self.lines.text[row]) * self.char_px)
                painter.setClipping(False)
        painter.fillRect(0, height - 1, width, 1, self.theme.role("muted"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the line of the heading on a click."""
        if self.heading >= 0 and event.position().y() < self.row_height:
            self.reveal(self.table.view_row(self.heading))
        else:
            super().mousePressEvent(event)

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        rows = self.lines
        if rows is not None and rows.cost[row]:
            box = QRectF(cell).adjusted(PAD, BAR_INSET, -PAD, -BAR_INSET)
            draw_bar(painter, box, kind_parts(self.theme, rows.by_kind[row]), int(rows.cost.max()))

    def _paint_text(self, painter: QPainter, cell: QRect, row: int) -> None:
        self._paint_line(painter, cell, row, self.dedent * self.char_px + self.across.value())

    def _paint_line(self, painter: QPainter, cell: QRect, row: int, hidden_px: float) -> None:
        """Draw the part of a line that its cell shows, `hidden_px` of the line being left of the cell."""
        assert self.lines is not None
        text, base = self.lines.text[row], cell.top() + self.baseline
        left = cell.left() + PAD - hidden_px
        first, room = int(hidden_px / self.char_px), int((hidden_px + cell.width()) / self.char_px) + 1

        def paint(start: int, stop: int, name: str) -> None:
            start = max(start, first)
            piece = text[start : min(stop, room)]
            if piece and not piece.isspace():
                painter.setPen(self.theme.syntax(name))
                draw_data(painter, QPointF(left + start * self.char_px, base), piece)

        at = 0
        for start, stop, name in self.spans[row] if row < len(self.spans) else ():
            paint(at, start, "name")
            paint(start, stop, name)
            at = stop
        paint(at, room, "name")
