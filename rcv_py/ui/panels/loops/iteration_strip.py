"""Iterations side by side: a column each, as high as it took, stacked by kind of instruction."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.analysis.iterations.loop_iterations import LoopIterations
from rcv_py.base.text import count, plural
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.ui.core.plain_text import draw_text, show_tip
from rcv_py.ui.core.theme import Theme

LEFT, RIGHT, TOP, BOTTOM = 52, 8, 8, 18  # px around the columns
WIDEST = 28  # px of a column
GAP_FROM = 4  # px of a column from which there is a gap to the next one
GRID = 3  # lines


def color_of(theme: Theme, kind: int) -> QColor:
    """The colour of a kind; idle time (NONE) is paler than the greys of waits."""
    return theme.role("line") if kind == TokenKind.NONE else theme.kind(kind)


def stack_of(found: LoopIterations, rows: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return cycles by kind of iterations, idle as NONE, int64 [n, kinds], and kinds, the largest first."""
    one = found.iterations.at(rows)
    cycles = one.kinds.copy().reshape(-1, KIND_COUNT)
    cycles[:, TokenKind.NONE] += one.idle
    whole = cycles.sum(axis=0)
    order = [int(kind) for kind in np.argsort(-whole, kind="stable") if whole[kind]]
    return cycles, tuple(order)


class IterationStrip(QWidget):
    """Columns of iterations; a click or the arrow keys choose one."""

    chosen = Signal(int)  # which, in the order they are shown

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._cycles = np.zeros((0, 0), dtype=np.int64)
        self._order: tuple[int, ...] = ()
        self._marked = np.zeros(0, dtype=bool)
        self._names: tuple[str, ...] = ()
        self.current = -1
        self.hover = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Iterations of the loop, a column each")
        theme.changed.connect(self.update)

    def show_stacks(
        self, cycles: np.ndarray, order: tuple[int, ...], marked: np.ndarray, names: tuple[str, ...]
    ) -> None:
        """Show iterations: cycles by kind [n, kinds], kinds from the bottom up, outliers, names for tips."""
        self._cycles, self._order, self._marked, self._names = cycles, order, marked, names
        self.current = self.hover = -1
        whole = cycles.sum(axis=1)
        self.setAccessibleDescription(
            f"{plural(len(cycles), 'iteration')}, up to {count(int(whole.max()))} cycles"
            if len(cycles)
            else ""
        )
        self.update()

    def set_current(self, row: int) -> None:
        """Mark an iteration, -1 for none."""
        if row != self.current:
            self.current = row
            self.update()

    def __len__(self) -> int:
        return len(self._cycles)

    def sizeHint(self) -> QSize:
        """A strip."""
        return QSize(420, 120)

    def minimumSizeHint(self) -> QSize:
        """Room to tell columns apart."""
        return QSize(120, 60)

    # -- geometry -----------------------------------------------------------------------------------

    def _area(self) -> QRectF:
        return QRectF(LEFT, TOP, max(1, self.width() - LEFT - RIGHT), max(1, self.height() - TOP - BOTTOM))

    def _step(self) -> float:
        return min(WIDEST, self._area().width() / max(1, len(self)))

    def at(self, x: float) -> int:
        """The iteration at a place; of several behind one pixel the longest, -1 for none."""
        step, left = self._step(), x - LEFT
        if not len(self) or not 0 <= left < step * len(self):
            return -1
        first = int(left / step)
        stop = max(first + 1, int((left + 1) / step)) if step < 1 else first + 1
        return first + int(np.argmax(self._cycles[first : min(stop, len(self))].sum(axis=1)))

    def column_rect(self, row: int) -> QRectF:
        """Where an iteration is."""
        area, step = self._area(), self._step()
        most = max(1, int(self._cycles.sum(axis=1).max())) if len(self) else 1
        height = area.height() * int(self._cycles[row].sum()) / most
        gap = 1 if step >= GAP_FROM else 0
        return QRectF(area.left() + row * step, area.bottom() - height, max(1.0, step - gap), height)

    # -- painting -----------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint grid, columns, and the marks of outliers and of the current one."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.role("base"))
            if len(self):
                self._paint_grid(painter)
                self._paint_columns(painter)
                self._paint_current(painter)

    def _paint_grid(self, painter: QPainter) -> None:
        area, most = self._area(), int(self._cycles.sum(axis=1).max())
        fine = self.fontMetrics()
        for line in range(GRID + 1):
            y = area.bottom() - area.height() * line / GRID
            painter.setPen(self._theme.role("grid"))
            painter.drawLine(int(area.left()), int(y), int(area.right()), int(y))
            painter.setPen(self._theme.role("muted"))
            box = QRectF(0, y - fine.height() / 2, LEFT - 6, fine.height())
            draw_text(
                painter,
                box,
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                count(most * line // GRID),
            )
        text = f"{plural(len(self), 'iteration')}, cycles each"
        draw_text(
            painter,
            QRectF(area.left(), area.bottom() + 2, area.width(), BOTTOM - 2),
            Qt.AlignmentFlag.AlignLeft,
            text,
        )

    def _paint_columns(self, painter: QPainter) -> None:
        area, step = self._area(), self._step()
        whole = self._cycles.sum(axis=1)
        scale = area.height() / max(1, int(whole.max()))
        width = max(1.0, step - (1 if step >= GAP_FROM else 0))
        colors = [color_of(self._theme, kind) for kind in self._order]
        top = np.cumsum(self._cycles[:, list(self._order)], axis=1) * scale
        for row in self._shown(step):
            left, below = area.left() + row * step, 0.0
            for color, height in zip(colors, top[row].tolist(), strict=True):
                if height > below:
                    painter.fillRect(QRectF(left, area.bottom() - height, width, height - below), color)
                below = height
            if self._marked[row]:
                painter.fillRect(
                    QRectF(left, area.bottom() - below - 3, max(2.0, width), 2), self._theme.role("stall")
                )

    def _shown(self, step: float) -> list[int]:
        """The iterations that are painted: of those behind one pixel the longest."""
        if step >= 1:
            return list(range(len(self)))
        pixel = (np.arange(len(self)) * step).astype(np.int64)
        whole = self._cycles.sum(axis=1)
        order = np.lexsort((whole, pixel))
        last = np.append(pixel[order][1:] != pixel[order][:-1], True)
        return order[last].tolist()

    def _paint_current(self, painter: QPainter) -> None:
        for row, role in ((self.hover, "muted"), (self.current, "accent")):
            if 0 <= row < len(self):
                painter.setPen(self._theme.role(role))
                painter.drawRect(self.column_rect(row).adjusted(-1, -1, 0, 0))
                if role == "accent":
                    box, area = self.column_rect(row), self._area()
                    painter.fillRect(
                        QRectF(box.left() - 1, area.bottom() + 1, box.width() + 2, 3), self._theme.role(role)
                    )

    # -- events -------------------------------------------------------------------------------------

    def tip(self, row: int) -> str:
        """Name, cycles and kinds of an iteration."""
        if not 0 <= row < len(self):
            return ""
        whole = int(self._cycles[row].sum())
        lines = [f"{self._names[row]}: {count(whole)} cycles"]
        for kind in self._order:
            cycles = int(self._cycles[row, kind])
            if cycles:
                name = "idle or unknown" if kind == TokenKind.NONE else TokenKind(kind).name
                lines.append(f"{name}: {count(cycles)}  ({100 * cycles / whole:.0f} %)")
        return "\n".join(lines)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the column that was clicked."""
        self._choose(self.at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the mouse."""
        self._set_hover(self.at(event.position().x()))

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the mouse."""
        self._set_hover(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left, right, first and last."""
        last = len(self) - 1
        target = {
            Qt.Key.Key_Left: max(0, self.current - 1),
            Qt.Key.Key_Right: min(last, self.current + 1),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }.get(Qt.Key(event.key()))
        if target is None or last < 0:
            event.ignore()
        else:
            self._choose(target)

    def event(self, event: QEvent) -> bool:
        """Explain the column under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self.tip(self.at(event.x())), self)
            return True
        return super().event(event)

    def _choose(self, row: int) -> None:
        if row >= 0:
            self.set_current(row)
            self.chosen.emit(row)

    def _set_hover(self, row: int) -> None:
        if row != self.hover:
            self.hover = row
            self.update()
