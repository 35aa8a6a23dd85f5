"""The instruction table: coloured text, cost bars, arrows in the gutter, tints that follow the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF

from rcv_py.base.errors import UsageError
from rcv_py.base.patterns import Pattern
from rcv_py.base.text import elide_right, visible
from rcv_py.model.kinds import StallReason
from rcv_py.state.selection import SearchQuery
from rcv_py.ui.core.plain_text import draw_text, show_tip
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.theme import Theme, mix
from rcv_py.ui.panels.isa.arrows import (
    BRANCH_COLOR,
    ArrowRows,
    Emphasis,
    GutterArrows,
    Placed,
    end_at,
    hit_arrow,
    paint_arrows,
    place_arrows,
)
from rcv_py.ui.panels.isa.fold_view import FoldView
from rcv_py.ui.panels.isa.ink import BarInk, TextInk, scale_text
from rcv_py.ui.panels.isa.rows import (
    BRACKET_PX,
    MAX_BRACKETS,
    RENAMED,
    TRIANGLE_PX,
    IsaRows,
    fold_tip,
    isa_columns,
    isa_tip,
)
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.rows_view import Look

NOTE_GAP = 3  # characters between an instruction and the note after it
MIN_NAME = 10  # characters of a block that its number of rows may not take


class IsaView(FoldView):
    """Rows of the code table.  The panel says what is tinted, found, isolated; mouse and keys come out."""

    isolated = Signal(int)  # group of the clicked arrow
    jumped = Signal(int)  # data row at the other end of an arrow
    released = Signal()  # Escape while a wait is isolated

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, settings)
        self.same_source = np.empty(0, dtype=bool)  # rows from the selected source line
        self.hovered_source = np.empty(0, dtype=bool)
        self.marked: tuple[int, int] | None = None  # range of rows [first, stop)
        self.arrows = ArrowRows.none()
        self.arrow_tips: tuple[str, ...] = ()
        self.gutter_note = ""  # why there are no arrows
        self.shows_branches = False  # whether branch counts are written beside the rows
        self.isolated_row: int | None = None
        self.hits_of: Callable[[int], str] = lambda row: ""  # executions of a row in the selected wave
        self.bars = BarInk(theme, settings)
        self._text = TextInk(theme)
        self._hovered_arrow = -1
        self._hovered_loop = -1
        self._found = np.empty(0, dtype=bool)
        self._pattern: Pattern | None = None
        self.setAccessibleName("Instructions")
        self.widths.elastic = Elastic(
            "text", "cost", 220, 440, yields=("stall", "share_of_total", "hits"), upto_max_px=300
        )
        self.header.fixed, self.header.natural = frozenset({"text"}), "instruction"
        self.cell_painters = {
            "text": self._paint_instruction,
            "cost": self._paint_cost,
            "reason": self._paint_reason,
            "fold": self._paint_fold,
        }

    # -- what to show -------------------------------------------------------------------------------

    def show_rows(self, rows: IsaRows) -> None:
        """Show these rows; order, folds, selection and scroll position stay if it is the same program."""
        if self.rows is not None and self.rows.trace is not rows.trace:
            self.folds.forget()
            self._found_only = None
            self.set_arrows(GutterArrows())
        self.rows = rows
        count = len(rows.text)
        if len(self.same_source) != count:
            self.same_source, self.hovered_source, self._found = np.zeros((3, count), dtype=bool)
        self.bars.show(rows.bars, rows.trace.code, rows.program.blocks)
        self.show_columns(isa_columns(rows, scale_text(self.settings)))
        self.divide()

    def set_matches(self, rows: np.ndarray, query: SearchQuery) -> None:
        """Highlight what a search found."""
        self._found = np.zeros(0 if self.rows is None else len(self.rows.text), dtype=bool)
        self._found[rows] = True
        try:
            text = query.text
            self._pattern = Pattern(text, query.is_case_sensitive, query.is_regex) if text else None
        except UsageError:
            self._pattern = None  # the search field says what is wrong with it
        self.viewport().update()

    def set_arrows(self, arrows: GutterArrows) -> None:
        """Show other arrows."""
        self.arrows, self.arrow_tips, self.gutter_note = arrows.rows, arrows.tips, arrows.note
        self._hovered_arrow = -1
        self.viewport().update()

    # -- looks --------------------------------------------------------------------------------------

    def look(self, row: int) -> Look:
        """Labels are headings, rows that never ran are muted, related rows are tinted."""
        assert self.rows is not None
        role = self.theme.role
        if self.rows.trace.code.is_label[row]:
            return Look(role("text"), role("raised"), True)
        if self.is_fold(row):
            return Look(role("text"), role("alternate"))
        return Look(role("text") if self._ran(row) else role("muted"), self._band(row))

    def _ran(self, row: int) -> bool:
        assert self.rows is not None
        return bool(self.rows.cost[row] or self.rows.costs.hits[row])

    def _band(self, row: int) -> QColor | None:
        role = self.theme.role
        if self.hovered_source[row]:
            return role("hover")
        if self.marked is not None and self.marked[0] <= row < self.marked[1]:
            return mix(role("base"), role("accent"), 0.18)
        if self.same_source[row]:
            return mix(role("base"), role("accent"), 0.08)
        return None

    def tip(self, row: int, column: str) -> str:
        """Explain a row, a fold, a loop, or the gutter."""
        if self.rows is None:
            return ""
        if column == "gutter":
            return self._gutter_tip()
        if column == "fold" and self._hovered_loop >= 0:
            return self.rows.program.loop_tip(self._hovered_loop)
        if self.is_fold(row) and self.parts is not None:
            return fold_tip(self.rows, self.parts, self.folds.section(row))
        if column == "source":
            return self.rows.place[row]
        return isa_tip(self.rows, row, self.bars.tip(row), self.hits_of(row))

    def _gutter_tip(self) -> str:
        if 0 <= self._hovered_arrow < len(self.arrow_tips):
            return self.arrow_tips[self._hovered_arrow]
        if self.table.sorting is not None:
            return "Arrows are drawn in program order. Click the sorted header again to go back to it."
        return self.gutter_note

    # -- cells --------------------------------------------------------------------------------------

    def _paint_instruction(self, painter: QPainter, cell: QRect, row: int) -> None:
        assert self.rows is not None
        text, code = visible(self.rows.text[row]), self.rows.trace.code
        at = QPointF(cell.left() + PAD, cell.top() + self.baseline)
        room = self.chars_in(cell.width() - 2 * PAD)
        if self.is_fold(row):
            name, rest = self.fold_title(row)
            left = room - len(rest) - NOTE_GAP
            name = elide_right(name, left if left >= MIN_NAME else room)
            draw_text(painter, at, name)
            self._paint_note(painter, cell, len(name), rest)
            return
        if self._found[row]:
            self._paint_found(painter, cell, text, room)
        plain = bool(code.is_label[row]) or not self._ran(row) or not self.settings["isa.color_text"]
        kind = int(code.kind[row])
        self._text.draw(painter, at, text, kind=kind, room=room, char_px=self.char_px, plain=plain)
        self._paint_note(painter, cell, len(text), *self.notes(row))

    def notes(self, row: int) -> tuple[str, ...]:
        """What is written after an instruction, the longest wording first."""
        assert self.rows is not None
        structure = self.rows.program
        branch = structure.branch_notes.get(row, "") if self.shows_branches else ""
        ring = structure.loop_notes.get(row, "")
        both = (f"{ring} · {branch}",) if ring and branch else ()
        return (*both, *(note for note in (branch, ring) if note))

    def _paint_note(self, painter: QPainter, cell: QRect, used: int, *notes: str) -> None:
        """Write the first note that fits at the right end of the cell, after the text."""
        room = self.chars_in(cell.width() - 2 * PAD)
        note = next((note for note in notes if used + NOTE_GAP + len(note) <= room), "")
        if not note:
            return
        ink = painter.pen().color()
        painter.setPen(self.theme.role("muted"))
        left = cell.right() - PAD - len(note) * self.char_px
        draw_text(painter, QPointF(left, cell.top() + self.baseline), note)
        painter.setPen(ink)

    def _paint_found(self, painter: QPainter, cell: QRect, text: str, room: int) -> None:
        if self._pattern is None:
            return
        color = mix(self.theme.role("base"), self.theme.role("search"), 0.4)
        try:
            spans = self._pattern.spans(text)
        except UsageError:
            self._pattern = None  # the search field says that it takes too long
            return
        for start, end in spans:
            stop = min(end, room)
            if start < stop:
                left = cell.left() + PAD + start * self.char_px
                box = QRectF(left, cell.top() + 2, (stop - start) * self.char_px, cell.height() - 4)
                painter.fillRect(box, color)

    def _paint_cost(self, painter: QPainter, cell: QRect, row: int) -> None:
        if self.is_fold(row) and self.parts is not None:
            self.bars.paint_section(painter, cell, self.parts, self.folds.section(row))
        else:
            self.bars.paint(painter, cell, row)

    def _paint_fold(self, painter: QPainter, cell: QRect, row: int) -> None:
        section = self.folds.begins(row) if self.is_folding else -1
        if section >= 0 and self.folds.foldable[section]:
            _paint_triangle(painter, cell, bool(self.folds.folded[section]), self.theme.role("muted"))

    def _paint_reason(self, painter: QPainter, cell: QRect, row: int) -> None:
        assert self.rows is not None
        reason = int(self.rows.reason[row])
        if reason < 0 or self.is_fold(row):
            return
        mark = QRect(cell.left() + PAD, cell.top() + (cell.height() - 10) // 2, 10, 10)
        painter.fillRect(mark, self.theme.reason(reason if reason < len(StallReason) else 0))
        at = self.table.column_of("reason")
        self.draw_text(painter, cell.adjusted(14, 0, 0, 0), self.table.text(row, at), self.table.columns[at])

    # -- arrows, loops ------------------------------------------------------------------------------

    def column_rect(self, name: str) -> QRect:
        """A column in the viewport, as high as the viewport; empty if it is hidden."""
        if not self.table.has_column(name) or self.isColumnHidden(at := self.table.column_of(name)):
            return QRect()
        return QRect(self.columnViewportPosition(at), 0, self.columnWidth(at), self.viewport().height())

    def placed_arrows(self) -> Placed:
        """The arrows that cross the viewport; none while rows are sorted."""
        arrows = self.arrows if self.table.sorting is None else ArrowRows.none()
        return place_arrows(
            arrows,
            self.places(),
            self.column_rect("gutter"),
            row_height=self.row_height,
            scroll=self.verticalScrollBar().value(),
            isolated=self.isolated_row,
        )

    def placed_loops(self) -> list[tuple[int, float, float, float]]:
        """(loop, x, top, bottom) of the brackets that cross the viewport."""
        box = self.column_rect("fold")
        if self.rows is None or box.isEmpty() or self.table.sorting is not None or not self.is_folding:
            return []
        shown, table = self.places(), self.rows.program.loops
        inside = np.minimum(table.depth, MAX_BRACKETS)  # the inner ones are nearer to the code
        x = box.right() - 4.5 - BRACKET_PX * (int(inside.max(initial=0)) - inside)
        top = shown[table.first] * self.row_height - self.verticalScrollBar().value() + 3.0
        bottom = top + (shown[table.stop - 1] - shown[table.first] + 1) * self.row_height - 7.0
        seen = np.flatnonzero((bottom >= 0) & (top <= box.height()))
        return list(
            zip(*(column[seen].tolist() for column in (np.arange(len(x)), x, top, bottom)), strict=True)
        )

    def paint_over(self, painter: QPainter, first: int, last: int) -> None:
        """Paint lines between blocks, loops, and the arrows."""
        if self.is_folding:
            painter.setPen(self.theme.role("line"))
            for at, row in enumerate(self.table.data_rows[first : last + 1].tolist(), start=first):
                if row and self.folds.begins(row) >= 0:
                    painter.drawLine(0, self.row_top(at), self.viewport().width(), self.row_top(at))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for loop, x, top, bottom in self.placed_loops():
            ran = self.rows is not None and self.rows.program.ran(loop)
            width = 2.2 if loop == self._hovered_loop else 1.3 if ran else 1.0
            painter.setPen(QPen(self.theme.role("measure" if ran else "muted"), width))
            ends = [QPointF(x + 3, top), QPointF(x, top), QPointF(x, bottom), QPointF(x + 3, bottom)]
            painter.drawPolyline(ends)
        box = self.column_rect("gutter")
        if box.isEmpty() or not len(self.arrows):
            return
        painter.setClipRect(box)
        colors = [self.theme.arrow(number) for number in range(BRANCH_COLOR)] + [self.theme.role("text")]
        emphasis = Emphasis(self.isolated_row, self.current, self._hovered_arrow)
        paint_arrows(painter, self.arrows, self.placed_arrows(), colors, emphasis)

    def arrow_at(self, position: QPoint) -> int:
        """The number of the arrow at a place of the viewport, -1 if there is none."""
        if not self.column_rect("gutter").contains(position):
            return -1
        return hit_arrow(self.placed_arrows(), position.x(), position.y())

    def loop_at(self, position: QPoint) -> int:
        """The loop whose bracket is at a place of the viewport, -1 if there is none."""
        if not self.column_rect("fold").contains(position):
            return -1
        near = [
            (abs(x - position.x()), loop)
            for loop, x, top, bottom in self.placed_loops()
            if top <= position.y() <= bottom and abs(x - position.x()) <= 3
        ]
        return min(near)[1] if near else -1

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned, also where columns had other names."""
        columns = state.get("columns")
        if isinstance(columns, dict) and "row" in columns:
            order, widths = state.get("sort"), state.get("widths")
            state = {"columns": {RENAMED.get(name, name): saved for name, saved in columns.items()}}
            if isinstance(order, list) and order:
                state["sort"] = [RENAMED.get(str(order[0]), order[0]), *order[1:]]
            if isinstance(widths, dict):
                state["widths"] = {
                    kind: [RENAMED.get(str(name), name) for name in names]
                    for kind, names in widths.items()
                    if isinstance(names, list)
                }
        super().load_state(state)

    # -- events -------------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow arrows, loops and triangles as well as rows."""
        super().mouseMoveEvent(event)
        position = event.position().toPoint()
        self._point_at(self.arrow_at(position), self.loop_at(position))
        pointing = self._hovered_arrow >= 0 or self.section_at(position) >= 0
        self.viewport().setCursor(
            Qt.CursorShape.PointingHandCursor if pointing else Qt.CursorShape.ArrowCursor
        )

    def event(self, event: QEvent) -> bool:
        """Claim Escape while a wait is isolated, before the window's own shortcut takes it."""
        is_key = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_key and self.isolated_row is not None:
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self.released.emit()
            return True
        return super().event(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Let go of the arrow when the mouse leaves."""
        if event.type() == QEvent.Type.Leave:
            self._point_at(-1, -1)
        return super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """An arrow takes the click before its row: an end leads to the other, the middle isolates."""
        position = event.position().toPoint()
        number = self.arrow_at(position) if event.button() == Qt.MouseButton.LeftButton else -1
        if number < 0:
            super().mousePressEvent(event)
            return
        placed = self.placed_arrows()
        other = end_at(self.arrows, placed, number, position.y(), self.row_height)
        if other >= 0:
            self.jumped.emit(other)
        else:
            self.isolated.emit(int(self.arrows.group[number]))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A second click on an arrow is another click, not an order to open the row."""
        if self.arrow_at(event.position().toPoint()) < 0:
            super().mouseDoubleClickEvent(event)

    def _show_tip(self, event: QHelpEvent) -> None:
        if self.column_rect("gutter").contains(event.pos()):
            show_tip(event.globalPos(), self._gutter_tip(), self.viewport())
        else:
            super()._show_tip(event)

    def _point_at(self, arrow: int, loop: int) -> None:
        if (arrow, loop) != (self._hovered_arrow, self._hovered_loop):
            self._hovered_arrow, self._hovered_loop = arrow, loop
            self.viewport().update()


def _paint_triangle(painter: QPainter, cell: QRect, is_folded: bool, color: QColor) -> None:
    """Paint the triangle that folds or unfolds a section."""
    x, y = cell.left() + TRIANGLE_PX / 2, cell.center().y() + 0.5
    points = [(-2, -4), (3, 0), (-2, 4)] if is_folded else [(-4, -2), (4, -2), (0, 3)]
    painter.setPen(QPen(color, 1))
    painter.setBrush(color)
    painter.drawPolygon(QPolygonF([QPointF(x + dx, y + dy) for dx, dy in points]))
