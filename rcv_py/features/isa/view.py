"""The instruction table: coloured text, cost bars, arrows in the gutter, tints that follow the session."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent

from rcv_py.analysis.program.registers import operands
from rcv_py.base.errors import UsageError
from rcv_py.base.patterns import Pattern
from rcv_py.base.text import Message, elide_right, percent, short_count, translated, visible
from rcv_py.features.isa import arrows as gutter
from rcv_py.features.isa import rows as listing
from rcv_py.features.isa.fold_view import FoldView
from rcv_py.features.isa.ink import BarInk, draw_instruction
from rcv_py.features.isa.program import Heading
from rcv_py.features.isa.register_cursor import OperandPosition, operand_at, register_tip
from rcv_py.features.isa.rows import HELD, TRIANGLE_PX, IsaRows, isa_tip
from rcv_py.model.kinds import StallReason
from rcv_py.model.modes import LatencyMode
from rcv_py.model.notes import Note
from rcv_py.results.common import SUMS
from rcv_py.state.selection import SearchQuery
from rcv_py.ui.core.costs import unit_of
from rcv_py.ui.core.plain_text import draw_data, draw_text, joined, show_tip
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.theme import Theme, mix
from rcv_py.ui.table.column_widths import MENU_PX, PAD
from rcv_py.ui.table.rows_view import RowStyle
from rcv_py.ui.table.table_model import grouped
from rcv_py.ui.widgets.legend import Legend

NEAR_PEAK = 0.98  # share of the peak's registers: at the peak no more can be held
NOTE_GAP = 3  # characters between an instruction and its note
MIN_NAME = 10  # minimum characters for the name of a block next to its number of rows
MIN_LEGEND = 40  # px
SAME_LINE_TINT, HOVERED_TINT = 0.05, 0.1  # shares of the accent: the selected row must stand out
MARK_PX, ARM_PX = 2, 9  # px of the bracket around the rows of a bar
SUMMED = frozenset({*SUMS, "share_of_total", "samples", "issued", "stalled"})  # columns of a heading


class IsaView(FoldView):
    """Rows of the code table.  The panel sets tints, matches and isolation; signals report mouse and keys."""

    isolated = Signal(int)  # group of the clicked arrow
    jumped = Signal(int)  # data row at the other end of an arrow
    flag_column = "fold"  # arrows cover the left end of rows, and numbers have no room
    released = Signal()  # Escape while a wait is isolated
    pointed = Signal()  # the mouse or the text cursor is on another register

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, settings)
        self.same_source = np.empty(0, dtype=bool)  # rows from the selected source line
        self.hovered_source = np.empty(0, dtype=bool)
        self.marked: tuple[int, int] | None = None  # range of rows [first, stop)
        self.arrows = gutter.ArrowRows.empty()
        self.arrow_tips: tuple[str, ...] = ()
        self.gutter_note = ""  # reason if there are no arrows
        self.shows_branches = False  # whether branch counts are shown next to the rows
        self.isolated_row: int | None = None
        self.hits_of: Callable[[int], str] = lambda row: ""  # executions of a row in the selected wave
        self.bars = BarInk(theme)
        self._hovered_arrow = -1
        self._found = np.empty(0, dtype=bool)
        self._pattern: Pattern | None = None
        self.hovered_register: OperandPosition | None = None
        self.placed_register: OperandPosition | None = None  # by the text cursor, which keys and clicks move
        self._opened_at = -1, -1  # the row shown at first, and the scroll position then
        self.mode = LatencyMode.SUM_ALL  # which execution the columns show
        self.arrow_mode = "waits"
        self._gutter_px = gutter.MIN_PX  # width that the arrows seen so far need
        self.setAccessibleName(translated("Instructions"))
        self.header.fixed, self.header.natural = frozenset({"text"}), "instruction"
        self.widths.grows = "cost"
        self.legend = Legend()  # in the header of the bars
        self.legend.setParent(self.header.viewport())
        self.legend.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.header.sectionResized.connect(self._place_legend)
        self._fit_soon = QTimer(self, singleShot=True, interval=0)
        self._fit_soon.timeout.connect(self.fit_gutter)
        self.cell_painters = {
            "text": self._paint_instruction,
            "cost": self._paint_cost,
            "reason": self._paint_reason,
            "fold": self._paint_fold,
            HELD: self._paint_held,
        }

    def show_rows(self, rows: IsaRows) -> None:
        """Show these rows; keep order, folds, selection and scroll position for the same program."""
        if self.rows is not None and self.rows.trace is not rows.trace:
            self.folds.forget()
            self.hovered_register = self.placed_register = None
            self._found_only = None
            self._opened_at = -1, -1
            self.set_arrows(gutter.GutterArrows())
        self.rows = rows
        count = len(rows.text)
        if len(self.same_source) != count:
            self.same_source, self.hovered_source, self._found = np.zeros((3, count), dtype=bool)
        self.bars.show(rows.bars, rows.trace.code)
        is_whole = bool(self.settings["isa.whole_text"])
        self.widths.elastic = listing.text_column(rows, self.char_px, is_whole=is_whole)
        self.widths.floor_px = self.widths.elastic.max_px if is_whole else listing.LEAST_PX
        self.widths.give("gutter", self._least_px)
        heading = gutter.HEADINGS[self.arrow_mode]
        self.show_columns(listing.isa_columns(rows, self.settings, heading, self.mode))
        self.legend.set_items(() if rows.trace.is_static else self.bars.legend())
        self.divide()
        self.fit_gutter()

    def set_matches(self, rows: np.ndarray, query: SearchQuery) -> None:
        """Highlight the matches of a search."""
        self._found = np.zeros(0 if self.rows is None else len(self.rows.text), dtype=bool)
        self._found[rows] = True
        self._pattern = None
        if query.text:
            from rcv_py.base.patterns import Pattern  # noqa: PLC0415 - not needed at a start

            with suppress(UsageError):  # the search field says what is wrong with a pattern
                self._pattern = Pattern(query.text, query.is_case_sensitive, query.is_regex)
        self.viewport().update()

    def set_arrows(self, arrows: gutter.GutterArrows) -> None:
        """Show other arrows; repaint only if they differ: most are equal once branches are known."""
        is_known = (arrows.note, arrows.tips) == (self.gutter_note, self.arrow_tips)
        if is_known and len(self.arrows) and arrows.rows.looks_like(self.arrows):
            return
        self.arrows, self.arrow_tips, self.gutter_note = arrows.rows, arrows.tips, arrows.note
        self._hovered_arrow, self._gutter_px = -1, self._least_px
        self._fit_soon.start()
        self.viewport().update()

    @property
    def _least_px(self) -> int:
        """Return the width of a gutter with few arrows; PC samples have no waits, and may have no arrows."""
        trace = None if self.rows is None else self.rows.trace
        has_none = trace is not None and not (trace.has_thread_trace or trace.is_static)
        return gutter.BARE_PX if has_none and not len(self.arrows) else gutter.MIN_PX

    def fit_gutter(self) -> None:
        """Make the gutter wide enough for the visible arrows, while instructions have the room they need."""
        elastic, has = self.widths.elastic, self.table.has_column
        if elastic is None or not has("gutter"):
            return
        self._gutter_px = max(self._gutter_px, self.placed_arrows().needed_px)
        text, bar, px = (self.column_rect(name).width() for name in ("text", "cost", "gutter"))
        own = self.table.columns[self.table.column_of("cost")].width
        spare = max(0, text - elastic.min_px) + max(0, bar - own)
        least = self._least_px
        wanted = least if least < gutter.MIN_PX else self._gutter_px
        self.widths.give("gutter", max(least, min(wanted, px + spare)))
        self._place_legend()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give instructions their room first, then the gutter; keep the first place a third from the top."""
        row, scroll = self._opened_at
        is_first = scroll == self.verticalScrollBar().value() and self.current in (row, -1)
        self.widths.give("gutter", self._least_px)
        super().resizeEvent(event)
        self.fit_gutter()
        if is_first:
            self.show_at_third(row)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Repaint all: headings and numbers of rows out of sight keep their place."""
        super().scrollContentsBy(dx, dy)
        self.viewport().update()
        self._fit_soon.start()

    def _place_legend(self, *_: object) -> None:
        """Put the legend next to the bars, if there is room."""
        box, header = self.column_rect("cost"), self.header
        if box.isEmpty():
            self.legend.hide()
            return
        title = self.table.columns[self.table.column_of("cost")].heading
        left = box.left() + 3 * PAD + header.fontMetrics().horizontalAdvance(translated(title))
        room = box.right() - MENU_PX - PAD - left
        self.legend.setGeometry(left, 0, max(0, room), header.height() - 1)
        self.legend.setVisible(room >= MIN_LEGEND)

    def show_at_third(self, row: int) -> None:
        """Scroll so that a third of the rows in view are above a row."""
        self.unfold_row(row)
        self.updateGeometries()
        page = self.viewport().height() // self.row_height
        self.verticalScrollBar().setValue((self.table.view_row(row) - page // 3) * self.row_height)
        self._opened_at = row, self.verticalScrollBar().value()

    def row_style(self, row: int) -> RowStyle:
        """Draw labels as headings, mute rows that never ran, and tint related rows."""
        assert self.rows is not None
        role = self.theme.role
        if self.rows.trace.code.is_label[row]:
            return RowStyle(role("text"), role("raised"), True)
        if self.is_fold(row):
            return RowStyle(role("text"), role("alternate"))
        share = HOVERED_TINT if self.hovered_source[row] else SAME_LINE_TINT if self.same_source[row] else 0.0
        band = mix(role("base"), role("accent"), share) if share else None
        return RowStyle(role("text" if self._ran(row) else "muted"), band)

    def _ran(self, row: int) -> bool:
        assert self.rows is not None
        return bool(self.rows.cost[row] or self.rows.costs.hits[row] or self.rows.trace.is_static)

    def notes_of(self, row: int) -> tuple[Note, ...]:
        if not self.is_fold(row):
            return super().notes_of(row)
        hidden = self.folds.rows_of(row)
        return tuple(note for one, notes in self.noted.items() if one in hidden for note in notes)

    def tip(self, row: int, column: str) -> str:
        if self.rows is None or column == "gutter":
            return self._gutter_tip() if column == "gutter" else ""
        if self.is_fold(row) and self.parts is not None:
            return listing.fold_tip(self.rows, self.parts, self.folds.section(row))
        if column == HELD:
            return listing.held_tip(self.rows, row)
        if column == "source":
            return self.rows.place[row]
        at, tip = self.hovered_register, isa_tip(self.rows, row, self.bars.tip(row), self.hits_of(row))
        if column == "text" and at is not None and at.row == row:
            return joined("<br>", (register_tip(self.rows.program, at), tip))
        return tip

    def _gutter_tip(self) -> str:
        number = self._hovered_arrow
        if self.rows is not None and 0 <= number < len(self.arrow_tips):
            wait, total = int(self.arrows.group[number]), self.rows.total
            *lines, last = self.arrow_tips[number].split("\n")
            cost = int(self.rows.cost[wait]) if self.arrows.color[number] != gutter.BRANCH_COLOR else 0
            if cost:
                unit, share = unit_of(self.rows.trace), percent(cost, total)
                lines.append(Message("{0} costs {1} {2}, {3} of all", wait, grouped(cost), unit, share))
            return "\n".join((*lines, last))
        if self.table.sorting is not None:
            return "Arrows are drawn in program order. Click the sorted header again to go back to it."
        return self.gutter_note or gutter.LEGEND

    def _paint_instruction(self, painter: QPainter, cell: QRect, row: int) -> None:
        assert self.rows is not None
        text, code = visible(self.rows.text[row]), self.rows.trace.code
        at = QPointF(cell.left() + PAD, cell.top() + self.baseline)
        if self.is_fold(row):
            room = self.chars_in(cell.width() - 2 * PAD)
            name, rest = self.fold_title(row)
            left = room - len(rest) - NOTE_GAP
            name = elide_right(name, left if left >= MIN_NAME else room)
            draw_text(painter, at, name)
            self._paint_note(painter, cell, len(name), rest)
            return
        char_px = self.spacing(text, cell.width())
        room = self.room(text, cell.width())
        if self._found[row]:
            self._paint_found(painter, cell, text, room, char_px)
        self._paint_registers(painter, cell, text, room, char_px)
        plain = bool(code.is_label[row]) or not self._ran(row)
        kind, font = int(code.kind[row]), painter.font()
        if char_px < self.char_px:
            tight = QFont(font)
            tight.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, char_px - self.char_px)
            painter.setFont(tight)
        draw_instruction(painter, self.theme, at, text, kind=kind, room=room, char_px=char_px, plain=plain)
        painter.setFont(font)
        self._paint_note(painter, cell, len(text), *self.notes(row))

    def spacing(self, text: str, width: int) -> float:
        """Return the width of a character of an instruction in a cell: less if it would not fit."""
        return self.char_px * (1 if len(text) <= self.chars_in(width - 2 * PAD) else listing.TIGHTEST)

    def room(self, text: str, width: int) -> int:
        """Return how many characters of an instruction fit into a cell."""
        return max(1, int((width - 2 * PAD) / self.spacing(text, width) + 0.01))

    def _paint_registers(self, painter: QPainter, cell: QRect, text: str, room: int, char_px: float) -> None:
        """Paint where the registers under the cursor are written (in a frame) and read."""
        at, role = self.register, self.theme.role
        wanted = 0 if at is None else at.operand.registers
        for one in operands(text) if wanted else ():
            written, read = one.writes & wanted, one.reads & wanted
            start, stop = one.start, min(one.stop, room)
            if not (written or read) or start >= stop:
                continue
            left, width = cell.left() + PAD + start * char_px, (stop - start) * char_px
            box = QRectF(left - 1, cell.top() + 1, width + 2, cell.height() - 2)
            painter.fillRect(box, mix(role("base"), role("warning" if written else "accent"), 0.34))
            if written:
                pen = painter.pen()
                painter.setPen(QPen(role("warning"), 1))
                painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
                painter.setPen(pen)

    def notes(self, row: int) -> tuple[str, ...]:
        """Return the notes after an instruction, the longest wording first."""
        assert self.rows is not None
        branch = self.rows.program.branch_notes.get(row, "") if self.shows_branches else ""
        ring = self.rows.program.loop_notes.get(row, "")
        return tuple(filter(None, (f"{ring} · {branch}" if ring and branch else "", branch, ring)))

    def _paint_note(self, painter: QPainter, cell: QRect, used: int, *notes: str) -> None:
        """Draw the first note that fits at the right end of the cell, after the text."""
        room = self.chars_in(cell.width() - 2 * PAD)
        if note := next((note for note in notes if used + NOTE_GAP + len(note) <= room), ""):
            ink = painter.pen().color()
            painter.setPen(self.theme.role("muted"))
            left = cell.right() - PAD - len(note) * self.char_px
            draw_text(painter, QPointF(left, cell.top() + self.baseline), note)
            painter.setPen(ink)

    def _paint_found(self, painter: QPainter, cell: QRect, text: str, room: int, char_px: float) -> None:
        if self._pattern is None:
            return
        color = mix(self.theme.role("base"), self.theme.role("search"), 0.4)
        try:
            spans = self._pattern.spans(text)
        except UsageError:
            self._pattern = None  # the search field reports that it takes too long
            return
        for start, stop in ((first, min(last, room)) for first, last in spans):
            if start < stop:
                left = cell.left() + PAD + start * char_px
                box = QRectF(left, cell.top() + 2, (stop - start) * char_px, cell.height() - 4)
                painter.fillRect(box, color)

    def _paint_cost(self, painter: QPainter, cell: QRect, row: int) -> None:
        if self.is_fold(row) and self.parts is not None:
            self.bars.paint_section(painter, cell, self.parts, self.folds.section(row))
        else:
            self.bars.paint(painter, cell, row)

    def _paint_held(self, painter: QPainter, cell: QRect, row: int) -> None:
        """Paint the number of held registers as a strip down the listing; the maximum stands out."""
        assert self.rows is not None
        if self.rows.trace.code.is_label[row]:
            return
        count, most = int(self.rows.held[row]), int(self.rows.held.max(initial=0))
        role = "warning" if count >= NEAR_PEAK * most else "measure"
        strip = QRect(cell)
        strip.setWidth(round((cell.width() - 1) * count / max(1, most)))
        painter.fillRect(strip, mix(self.theme.role("base"), self.theme.role(role), 0.38))
        self._draw_own(painter, cell, row, HELD)

    def _draw_own(self, painter: QPainter, cell: QRect, row: int, column: str) -> None:
        """Draw the text of a cell as if nothing else was painted there."""
        at = self.table.column_of(column)
        self.draw_text(painter, cell, self.table.shown_text(row, at), self.table.columns[at])

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
        self._draw_own(painter, cell.adjusted(14, 0, 0, 0), row, "reason")

    def column_rect(self, name: str) -> QRect:
        """Return the rectangle of a column, as high as the viewport; empty if it is hidden."""
        if not self.table.has_column(name) or self.isColumnHidden(at := self.table.column_of(name)):
            return QRect()
        return QRect(self.columnViewportPosition(at), 0, self.columnWidth(at), self.viewport().height())

    def placed_arrows(self) -> gutter.Placed:
        """Return the arrows that cross the viewport; none while rows are sorted."""
        return gutter.place_arrows(
            self.arrows if self.table.sorting is None else gutter.ArrowRows.empty(),
            self.places(),
            self.column_rect("gutter").adjusted(0, 0 if self.heading() is None else self.row_height, 0, 0),
            row_height=self.row_height,
            scroll=self.verticalScrollBar().value(),
            isolated=self.isolated_row,
            char_px=self.char_px,
        )

    def heading(self) -> Heading | None:
        """Return the topmost row's block, None if it begins there, or while rows are sorted or filtered."""
        scroll = self.verticalScrollBar().value()
        row = self.table.data_row(scroll // self.row_height)
        if self.rows is None or row < 0 or not self.is_folding:
            return None
        if self.folds.begins(row) >= 0 and not scroll % self.row_height:
            return None
        return self.rows.program.heading(self.fold_by, row)

    @property
    def covered_px(self) -> int:
        """Return the height that the heading covers: one row, or 0."""
        return self.row_height if self.is_folding else 0

    def _paint_heading(self, painter: QPainter, shown: Heading) -> None:
        """Paint the block of the topmost row over it, with its sums."""
        role, height = self.theme.role, self.row_height
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.fillRect(0, 0, self.viewport().width(), height, role("raised"))
        painter.setPen(role("line"))
        painter.drawLine(0, height - 1, self.viewport().width(), height - 1)
        painter.setFont(self._bold)
        for at, column in enumerate(self.table.columns):
            cell = QRect(self.columnViewportPosition(at), 0, self.columnWidth(at), height)
            room = self.chars_in(cell.width() - 2 * PAD)
            painter.setPen(role("text"))
            if self.isColumnHidden(at):
                continue
            if column.id == "text":
                draw_data(painter, QPointF(cell.left() + PAD, self.baseline), elide_right(shown.text, room))
                self._paint_note(painter, cell, len(shown.text), shown.note)
            elif column.id == "fold":
                _paint_triangle(painter, cell, bool(self.folds.folded[shown.section]), role("muted"))
            elif column.has_values and column.id in SUMMED:
                text = self.sum_text(shown.row, column.id) or ""
                text = text if len(text) <= room else short_count(int(text.replace(",", "")))
                self.draw_text(painter, cell, text, column)

    def placed_loops(self) -> list[tuple[int, float, float, float]]:
        """Return (loop, x, top, bottom) of the brackets that cross the viewport."""
        box = self.column_rect("fold")
        if self.rows is None or box.isEmpty() or self.table.sorting is not None or not self.is_folding:
            return []
        shown, table = self.places(), self.rows.program.loops
        inside = np.minimum(table.depth, listing.MAX_BRACKETS)  # inner loops are nearer to the code
        x = box.right() - 4.5 - listing.BRACKET_PX * (int(inside.max(initial=0)) - inside)
        top = shown[table.first] * self.row_height - self.verticalScrollBar().value() + 3.0
        bottom = top + (shown[table.stop - 1] - shown[table.first] + 1) * self.row_height - 7.0
        seen = np.flatnonzero((bottom >= 0) & (top <= box.height()))
        columns = (seen, x[seen], top[seen], bottom[seen])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _paint_marked(self, painter: QPainter, first: int, last: int) -> None:
        """Paint a bracket at the left of the marked rows; where they are sorted, only its line."""
        if self.marked is None:
            return
        begin, stop = self.marked
        color, height = self.theme.role("accent"), self.row_height
        arm_px = ARM_PX if self.table.sorting is None else MARK_PX
        for at, row in enumerate(self.table.data_rows[first : last + 1].tolist(), start=first):
            rows, top = self.folds.rows_of(row) if self.is_folding else range(row, row + 1), self.row_top(at)
            if rows.start < stop and rows.stop > begin:
                painter.fillRect(0, top, MARK_PX, height, color)
            if begin in rows:
                painter.fillRect(0, top, arm_px, MARK_PX, color)
            if stop - 1 in rows:
                painter.fillRect(0, top + height - MARK_PX, arm_px, MARK_PX, color)

    def paint_over(self, painter: QPainter, first: int, last: int) -> None:
        if self.is_folding:
            painter.setPen(self.theme.role("line"))
            for at, row in enumerate(self.table.data_rows[first : last + 1].tolist(), start=first):
                if row and self.folds.begins(row) >= 0:
                    painter.drawLine(0, self.row_top(at), self.viewport().width(), self.row_top(at))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for loop, x, top, bottom in self.placed_loops():
            ran = self.rows is not None and self.rows.program.ran(loop)
            painter.setPen(QPen(self.theme.role("measure" if ran else "muted"), 1.3 if ran else 1.0))
            ends = [QPointF(x + 3, top), QPointF(x, top), QPointF(x, bottom), QPointF(x + 3, bottom)]
            painter.drawPolyline(ends)
        box = self.column_rect("gutter")
        if not box.isEmpty() and len(self.arrows):
            painter.save()
            painter.setClipRect(box)
            small = QFont(self._mono)
            small.setPointSizeF(max(1.0, small.pointSizeF() * gutter.LABEL_SCALE))
            painter.setFont(small)
            painter.setBackground(self.theme.role("base"))
            colors = [*map(self.theme.arrow, range(gutter.BRANCH_COLOR)), self.theme.role("text")]
            emphasis = gutter.Emphasis(self.current, self._hovered_arrow, self.hover)
            gutter.paint_arrows(painter, self.arrows, self.placed_arrows(), colors, emphasis)
            painter.restore()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_marked(painter, first, last)
        if (shown := self.heading()) is not None:
            self._paint_heading(painter, shown)

    def arrow_at(self, position: QPoint) -> int:
        """Return the number of the arrow at a point of the viewport, -1 if there is none."""
        if not self.column_rect("gutter").contains(position):
            return -1
        return gutter.hit_arrow(self.placed_arrows(), position.x(), position.y())

    def label_at(self, position: QPoint) -> gutter.EndLabel | None:
        """Return the number of a row out of sight at a point of the viewport, None if there is none."""
        if not self.column_rect("gutter").contains(position):
            return None
        labels = self.placed_arrows().labels
        return next((label for label in labels if label.box.contains(QPointF(position))), None)

    @property
    def register(self) -> OperandPosition | None:
        """Return the operand whose registers are highlighted: under the mouse, else at the text cursor."""
        return self.hovered_register or self.placed_register

    def register_at(self, position: QPoint) -> OperandPosition | None:
        """Return the operand at a point of the viewport, None if there is none."""
        box = self.column_rect("text")
        row = self.row_at(position.y())
        if self.rows is None or row < 0 or not box.contains(position) or self.is_fold(row):
            return None
        text = visible(self.rows.text[row])
        place = int((position.x() - box.left() - PAD) // self.spacing(text, box.width()))
        found = operand_at(text, place)
        return None if found is None or self.rows.trace.code.is_label[row] else OperandPosition(row, found)

    def place_cursor(self, at: OperandPosition | None) -> None:
        """Put the text cursor on an operand, or remove it."""
        self.placed_register = at
        said = "" if at is None or self.rows is None else register_tip(self.rows.program, at)
        self.setAccessibleDescription(translated(said))
        self.pointed.emit()
        self.viewport().update()

    def set_current(self, row: int, reveal: bool = True) -> None:
        """Accent a row; the text cursor stays in it or is removed."""
        if self.placed_register is not None and self.placed_register.row != row:
            self.place_cursor(None)
        super().set_current(row, reveal)

    def heading_at(self, position: QPoint) -> Heading | None:
        """Return the heading at a point of the viewport, None if there is none."""
        return self.heading() if 0 <= position.y() < self.row_height else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Track arrows and triangles as well as rows."""
        super().mouseMoveEvent(event)
        position = event.position().toPoint()
        above = self.heading_at(position) is not None
        label = None if above else self.label_at(position)
        arrow = -1 if above else self.arrow_at(position) if label is None else label.arrow
        self._point_at(arrow, None if above else self.register_at(position))
        pointing = above or arrow >= 0 or self.section_at(position) >= 0
        shape = Qt.CursorShape.PointingHandCursor if pointing else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Start at the first visible row, if none is selected."""
        walks = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
        first = self.row_at(self.covered_px if self.heading() else 0)
        if self.current < 0 <= first and event.key() in walks:
            self.set_current(first)
            self.chosen.emit(first)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Claim Escape while a wait is isolated, before the window's own shortcut does."""
        is_key = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_key and self.isolated_row is not None:
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self.released.emit()
            return True
        return super().event(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Clear the hovered arrow when the mouse leaves."""
        if event.type() == QEvent.Type.Leave:
            self._point_at(-1, None)
        return super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Handle a click on a heading, a number or an arrow before its row does.

        A click at an end of an arrow selects the other end; a click on its middle isolates it.
        """
        position, is_left = event.position().toPoint(), event.button() == Qt.MouseButton.LeftButton
        above = self.heading_at(position)
        if above is not None:
            if is_left and self.column_rect("fold").contains(position):
                self.toggle(above.section)
            elif is_left:
                self.jumped.emit(above.row)
            return
        if is_left and (label := self.label_at(position)) is not None:
            self.jumped.emit(label.row)
        elif is_left and (number := self.arrow_at(position)) >= 0:
            other = gutter.end_at(self.arrows, self.placed_arrows(), number, position.y(), self.row_height)
            if other >= 0:
                self.jumped.emit(other)
            else:
                self.isolated.emit(int(self.arrows.group[number]))
        else:
            at = self.register_at(position)
            super().mousePressEvent(event)
            if is_left:
                self.place_cursor(at)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Treat a second click on an arrow or a heading as another click, not as opening the row."""
        position = event.position().toPoint()
        if self.heading_at(position) is None and self.arrow_at(position) < 0:
            super().mouseDoubleClickEvent(event)

    def _show_tip(self, event: QHelpEvent) -> None:
        if self.column_rect("gutter").contains(event.pos()):
            row = self.row_at(event.pos().y())
            show_tip(event.globalPos(), self.with_notes(row, self._gutter_tip()), self.viewport())
        else:
            super()._show_tip(event)

    def _point_at(self, arrow: int, register: OperandPosition | None) -> None:
        is_other = register != self.hovered_register
        if arrow != self._hovered_arrow or is_other:
            self._hovered_arrow, self.hovered_register = arrow, register
            self.viewport().update()
            if is_other:
                self.pointed.emit()

    def _set_hover(self, row: int) -> None:
        if row != self.hover:
            self.viewport().update(self.column_rect("gutter"))
        super()._set_hover(row)


def _paint_triangle(painter: QPainter, cell: QRect, is_folded: bool, color: QColor) -> None:
    x, y = cell.left() + TRIANGLE_PX / 2, cell.center().y() + 0.5
    points = [(-2, -4), (3, 0), (-2, 4)] if is_folded else [(-4, -2), (4, -2), (0, 3)]
    painter.setPen(QPen(color, 1))
    painter.setBrush(color)
    painter.drawPolygon([QPointF(x + dx, y + dy) for dx, dy in points])
