"""A colour legend as a row of named squares, and shares of wave states as a thin bar."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.base.text import Message, join_texts, percent, translated
from rcv_py.model.activity import STATE_ORDER
from rcv_py.model.kinds import STATE_NAME
from rcv_py.ui.core.plain_text import draw_text, tooltip
from rcv_py.ui.core.swatches import (
    AFTER_NAME,
    AFTER_SQUARE,
    SQUARE,
    Spot,
    Swatch,
    paint_swatch,
    spots,
    width_of,
)
from rcv_py.ui.core.theme import Theme


class Legend(QWidget):
    """Squares with names on a line, from the left, as many as fit; the tooltip lists all of them.

    A click on a name with a key selects it; another click or Escape deselects it. Left and Right move between
    names; Space or Enter acts as a click.
    """

    picked_changed = Signal(str)  # selected key, "" for nothing

    def __init__(self) -> None:
        super().__init__()
        self.swatches: tuple[Swatch, ...] = ()
        self.picked = ""  # key
        self.is_blank = False  # in a picture with all names below it
        self._at = -1  # index of the focused name
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_items(self, items: Sequence[tuple[QColor, str, str] | Swatch]) -> None:
        """Show these colours and short names; the third item is the meaning."""
        swatches = tuple(item if isinstance(item, Swatch) else Swatch(*item) for item in items)
        if swatches == self.swatches:
            return
        self.swatches = swatches
        self._at = min(self._at, len(swatches) - 1)
        click = translated("Click: highlight it.") if any(one.key for one in swatches) else ""
        lines = [f"{translated(one.name)}: {translated(one.meaning)}" for one in swatches]
        self.setToolTip(tooltip("\n".join(filter(None, [*lines, click]))))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if click else Qt.FocusPolicy.NoFocus)
        self._say()
        self.updateGeometry()
        self.update()

    def pick(self, key: str) -> None:
        """Select a key, or deselect it if it is selected."""
        self.picked = "" if key == self.picked else key
        self._say()
        self.picked_changed.emit(self.picked)
        self.update()

    @property
    def is_whole(self) -> bool:
        """Return whether all names fit."""
        return all(spot.line == 0 for spot in self._spots()) and self._needed() <= self.width()

    def sizeHint(self) -> QSize:
        return QSize(self._needed(), max(SQUARE + 6, self.fontMetrics().height() + 2))

    def minimumSizeHint(self) -> QSize:
        """Return an empty size: the legend may be hidden."""
        return QSize(0, self.sizeHint().height())

    def _needed(self) -> int:
        return sum(width_of(self.fontMetrics(), one) + AFTER_NAME for one in self.swatches)

    def _spots(self) -> list[Spot]:
        metrics, width = self.fontMetrics(), self.width()
        found = list(spots(metrics, self.swatches, width))
        if found and found[-1].line:  # the ellipsis needs room, too
            found = list(spots(metrics, self.swatches, width - AFTER_NAME - metrics.horizontalAdvance("…")))
        return found

    def _say(self) -> None:
        meanings = ", ".join(translated(one.meaning or one.name) for one in self.swatches)
        chosen = next((one.name for one in self.swatches if one.key and one.key == self.picked), "")
        at = self.swatches[self._at].name if 0 <= self._at < len(self.swatches) else ""
        more = chosen and Message("highlighted: {0}", chosen), at and Message("at {0}", at)
        parts = (Message("Colours: {0}", meanings), *more)
        self.setAccessibleName("; ".join(translated(part) for part in parts if part))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        here = (spot for spot in self._spots() if spot.line == 0 and 0 <= x - spot.left <= spot.width)
        spot = next(here, None)
        if spot is not None and spot.swatch.key:
            self.pick(spot.swatch.key)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if step and self.swatches:
            self._at = min(max(self._at + step, 0), len(self.swatches) - 1)
            self._say()
            self.update()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._at >= 0:
            self.pick(self.swatches[self._at].key)
        elif event.key() == Qt.Key.Key_Escape and self.picked:
            self.pick("")
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._at = max(self._at, 0)
        super().focusInEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.is_blank:
            with QPainter(self) as painter:
                self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        text, muted = self.palette().text().color(), self.palette().placeholderText().color()
        middle = self.height() // 2
        base = middle + (self.fontMetrics().ascent() - self.fontMetrics().descent()) // 2
        for at, (left, line, width, swatch) in enumerate(self._spots()):
            if line or left + width > self.width():
                painter.setPen(text)
                draw_text(painter, QPoint(0 if line == 0 else self._end(), base), "…")
                return
            is_faint = bool(self.picked) and swatch.key != self.picked
            paint_swatch(painter, QRectF(left, middle - SQUARE // 2, SQUARE, SQUARE), swatch, text)
            painter.setPen(muted if is_faint else text)
            draw_text(painter, QPoint(left + SQUARE + AFTER_SQUARE, base), swatch.name)
            if self.hasFocus() and at == self._at:
                painter.setPen(self.palette().link().color())
                painter.drawRect(QRectF(left - 2, 0.5, width + 4, self.height() - 1))

    def _end(self) -> int:
        """Return the end of the names on the first line."""
        first = (spot for spot in self._spots() if spot.line == 0)
        return max((spot.left + spot.width + AFTER_NAME for spot in first), default=0)


HEIGHT_PX = 8


def state_text(cycles: Sequence[int]) -> str:
    """Return the shares as text, largest first; "" if there are no states."""
    total = sum(cycles[state] for state in STATE_ORDER) if cycles else 0
    present = [state for state in STATE_ORDER if total and cycles[state]]
    present.sort(key=lambda state: -cycles[state])
    shares = ((STATE_NAME[state], percent(cycles[state], total)) for state in present)
    return join_texts(", ", (Message("{0} {1}", *share) for share in shares))


class StateBar(QWidget):
    """Cycles by WaveState as coloured pieces; the tooltip lists them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._cycles: Sequence[int] = ()
        self.setAccessibleName(translated("Wave states"))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(120, HEIGHT_PX)

    def show_cycles(self, cycles: Sequence[int]) -> None:
        """Show the cycles in each WaveState."""
        self._cycles = tuple(cycles)
        self.setToolTip(tooltip(state_text(self._cycles) or "The trace has no wave states."))
        self.setAccessibleDescription(self.toolTip())
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        total = sum(self._cycles[state] for state in STATE_ORDER) if self._cycles else 0
        box = QRectF(0, (self.height() - HEIGHT_PX) / 2, self.width(), HEIGHT_PX)
        painter.fillRect(box, self._theme.role("raised"))
        left = 0.0
        for state in STATE_ORDER if total else ():
            width = self.width() * self._cycles[state] / total
            painter.fillRect(QRectF(left, box.top(), width, HEIGHT_PX), self._theme.state(state))
            left += width
