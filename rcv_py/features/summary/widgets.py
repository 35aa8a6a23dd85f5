"""Widgets of the summary: key numbers, meters and shares, in cards that wrap like words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QSizePolicy,
    QWidget,
)

from rcv_py.analysis.overview.device_summary import Fact
from rcv_py.base.text import Message, capitalized, count, percent, translated
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.plain_text import ElidedLabel, PlainLabel, copy_text, draw_text, show_tip, tooltip
from rcv_py.ui.core.theme import Theme

METER_PX = 9  # height of a bar in a row
LOW = 0.05  # percent; smaller values are shown as less than a tenth
BAR = 14
SWATCH = 10
RING = 76  # px, diameter of the ring
RING_WIDTH = 13
FULL_CIRCLE = 360 * 16  # Qt counts sixteenths of a degree
GAP = 8
PERCENT_TEXT = "100.0 %"
LEFT, RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight

Color = Callable[[Theme], QColor]  # called at every painting, so that it follows the theme


class FactList(QWidget):
    """A grid of three columns; values can be selected with the mouse and copied."""

    def __init__(self, name: str = "Key numbers") -> None:
        super().__init__()
        self.facts: tuple[Fact, ...] = ()
        self._labels: list[QLabel] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(2, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName(translated(name))

    def set_facts(self, facts: Sequence[Fact]) -> None:
        """Show these numbers; labels are kept while the facts are the same."""
        facts = tuple(facts)
        if _shape(facts) != _shape(self.facts):
            self._rebuild(facts)
        self.facts = facts
        for row, fact in enumerate(facts):
            name, text, of = map(translated, (fact.name, fact.text, fact.of))
            said = f"{name}: {text} {of}"
            for place, text in enumerate((fact.name, fact.text, fact.of)):
                label = self._labels[3 * row + place]
                label.setText(text)
                label.setToolTip(tooltip(f"{said}\n{translated(fact.meaning)}"))
            self._labels[3 * row + 1].setAccessibleName(said)

    def text(self) -> str:
        """Return all numbers, one per line."""
        return "\n".join(f"{fact.name}\t{fact.text}\t{fact.of}".rstrip() for fact in self.facts)

    def _rebuild(self, facts: tuple[Fact, ...]) -> None:
        for label in self._labels:
            self._grid.removeWidget(label)
            label.deleteLater()
        self._labels = []
        for row in range(len(facts)):
            for place in range(3):
                is_wide = place == 1 and not facts[row].of  # a name, which may be long
                role = "" if place == 1 else "muted"
                label = ElidedLabel(role=role) if is_wide else PlainLabel(role=role, wordWrap=place == 2)
                if place == 1:
                    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                self._grid.addWidget(label, row, place, 1, 2 if is_wide else 1)
                self._labels.append(label)
        self._grid.setRowStretch(len(facts), 1)


def _shape(facts: tuple[Fact, ...]) -> list[tuple[str, bool]]:
    return [(fact.id, bool(fact.of)) for fact in facts]


class PartRows(QWidget):
    """Painted rows of parts, each with a tooltip."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme, self._name = theme, name
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName(translated(name))
        theme.changed.connect(self.update)

    def _shows(self, texts: Iterable[str]) -> None:
        self.setAccessibleName(f"{translated(self._name)}: " + ", ".join(map(translated, texts)))
        self.updateGeometry()
        self.update()

    def row_at(self, x: float, y: float) -> int:
        """Return the row at a point, -1 if there is none."""
        return int(y) // self._row

    def tip(self, row: int) -> str:
        """Return the tooltip of a row, "" for none."""
        raise NotImplementedError

    def text(self) -> str:
        """Return all rows, one per line."""
        raise NotImplementedError

    @property
    def _row(self) -> int:
        return self.fontMetrics().height() + 4

    def minimumSizeHint(self) -> QSize:
        return QSize(170, self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        """Show the tooltip of the row under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self.tip(self.row_at(event.x(), event.y())), self)
            return True
        return super().event(event)


class Meter(NamedTuple):
    """A bar: `value` in percent may exceed 100, the bar does not; `marks` are the summarized values."""

    name: str
    value: float  # percent
    color: Color
    meaning: str
    marks: tuple[float, ...] = ()  # percent
    is_heading: bool = False  # a row of text without a bar


class Meters(PartRows):
    """Rows of bars with a common scale."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__(theme, name)
        self.meters: tuple[Meter, ...] = ()

    def set_meters(self, meters: Sequence[Meter]) -> None:
        """Show these bars."""
        self.meters = tuple(meters)
        self._shows(f"{meter.name} {number(meter)}" for meter in self.meters if not meter.is_heading)

    def text(self) -> str:
        return "\n".join(f"{meter.name}\t{number(meter)}".rstrip() for meter in self.meters)

    def tip(self, row: int) -> str:
        if not 0 <= row < len(self.meters):
            return ""
        meter = self.meters[row]
        return meter.meaning if meter.is_heading else f"{meter.name}: {number(meter)}\n{meter.meaning}"

    def sizeHint(self) -> QSize:
        return QSize(260, len(self.meters) * self._row)

    def paintEvent(self, event: QPaintEvent) -> None:
        metrics = self.fontMetrics()
        names = [
            metrics.horizontalAdvance(translated(meter.name)) for meter in self.meters if not meter.is_heading
        ]
        left = min(max(names, default=0) + 8, self.width() // 3)
        right = metrics.horizontalAdvance(PERCENT_TEXT) + 8
        with QPainter(self) as painter:
            for row, meter in enumerate(self.meters):
                box = QRect(0, row * self._row, self.width(), self._row)
                self._paint_row(painter, meter, box, left, right)

    def _paint_row(self, painter: QPainter, meter: Meter, box: QRect, left: int, right: int) -> None:
        theme, middle = self._theme, Qt.AlignmentFlag.AlignVCenter
        painter.setPen(theme.role("muted"))
        if meter.is_heading:
            draw_text(painter, box, Qt.AlignmentFlag.AlignLeft | middle, meter.name)
            return
        name = self.fontMetrics().elidedText(translated(meter.name), Qt.TextElideMode.ElideRight, left - 4)
        draw_text(painter, box, Qt.AlignmentFlag.AlignLeft | middle, name)
        painter.setPen(theme.role("text"))
        draw_text(painter, box, Qt.AlignmentFlag.AlignRight | middle, number(meter))
        room = max(0, box.width() - left - right)
        top = box.top() + (box.height() - METER_PX) / 2
        painter.fillRect(QRectF(left, top, room, METER_PX), theme.role("raised"))
        length = min(meter.value, 100.0) / 100 * room
        if meter.value > 0:
            painter.fillRect(QRectF(left, top, max(2.0, length), METER_PX), meter.color(theme))
        for mark in meter.marks:
            at = left + min(max(mark, 0.0), 100.0) / 100 * room
            painter.fillRect(QRectF(round(at), top - 2, 1, METER_PX + 4), theme.role("text"))


def number(meter: Meter) -> str:
    """Return the value of a bar as text, "" for a heading."""
    if meter.is_heading:
        return ""
    return f"{meter.value:.1f} %" if meter.value >= LOW or not meter.value else "<0.1 %"


class Share(NamedTuple):
    """A part of a whole."""

    name: str
    value: int
    color: Color
    meaning: str = ""


class ShareBar(PartRows):
    """Shares of a total in the given order; `is_ring` draws a ring with the list next to it."""

    def __init__(self, theme: Theme, name: str, unit: str, *, is_ring: bool = False) -> None:
        super().__init__(theme, name)
        self._unit, self._is_ring = unit, is_ring
        self.shares: tuple[Share, ...] = ()

    def set_shares(self, shares: Sequence[Share]) -> None:
        """Show these parts."""
        self.shares = tuple(shares)
        self._shows(map(self._line, self.shares))

    @property
    def total(self) -> int:
        """Return the sum of all parts."""
        return sum(share.value for share in self.shares)

    def text(self) -> str:
        return "\n".join(
            f"{share.name}\t{share.value}\t{percent(share.value, self.total)}" for share in self.shares
        )

    def tip(self, row: int) -> str:
        if not 0 <= row < len(self.shares):
            return ""
        share = self.shares[row]
        meaning = Message("\n{0}.", capitalized(share.meaning)) if share.meaning else ""
        return Message("{0} of {1}{2}", self._line(share), count(self.total), meaning)

    def _line(self, share: Share) -> str:
        return f"{share.name} {percent(share.value, self.total)}, {count(share.value)} {self._unit}"

    # -- geometry -----------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        rows = len(self.shares) * self._row
        height = max(RING, rows) if self._is_ring else BAR + 6 + rows
        return QSize(220, height)

    def _rows_area(self) -> QRect:
        if not self._is_ring:
            return QRect(0, BAR + 6, self.width(), self.height() - BAR - 6)
        rows = len(self.shares) * self._row
        return QRect(RING + GAP, max(0, (RING - rows) // 2), self.width() - RING - GAP, rows)

    def row_at(self, x: float, y: float) -> int:
        """Return the part at a point of the list or of the bar, -1 if there is none."""
        area = self._rows_area()
        if area.left() <= x <= area.right() and y >= area.top():
            row = int(y - area.top()) // self._row
            return row if row < len(self.shares) else -1
        if self._is_ring or y >= BAR or not self.total:
            return -1
        passed, at = 0, x / max(1, self.width()) * self.total
        for row, share in enumerate(self.shares):
            passed += share.value
            if at < passed:
                return row
        return -1

    # -- painting -----------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._is_ring)
            (self._paint_ring if self._is_ring else self._paint_bar)(painter)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            self._paint_rows(painter)

    def _paint_bar(self, painter: QPainter) -> None:
        painter.fillRect(QRectF(0, 0, self.width(), BAR), self._theme.role("raised"))
        left, total = 0.0, max(self.total, 1)
        for share in self.shares:
            width = share.value / total * self.width()
            gap = 1.0 if width > 3 else 0.0
            painter.fillRect(QRectF(left, 0, max(0.0, width - gap), BAR), share.color(self._theme))
            left += width

    def _paint_ring(self, painter: QPainter) -> None:
        half = RING_WIDTH / 2
        box = QRectF(half, half, RING - RING_WIDTH, RING - RING_WIDTH)
        total, begin = max(self.total, 1), 0
        for share in self.shares:
            end = begin + share.value
            first, last = (round(FULL_CIRCLE * part / total) for part in (begin, end))
            pen = QPen(share.color(self._theme), RING_WIDTH, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            if last > first:
                painter.drawArc(box, 90 * 16 - last, last - first)  # from the top, clockwise
            begin = end
        if self.shares:
            largest = max(self.shares, key=lambda share: share.value)
            painter.setPen(self._theme.role("text"))
            text = f"{100 * largest.value / total:.0f} %\n{largest.name}"
            draw_text(painter, QRectF(0, 0, RING, RING), Qt.AlignmentFlag.AlignCenter, text)

    def _paint_rows(self, painter: QPainter) -> None:
        area, metrics = self._rows_area(), self.fontMetrics()
        numbers = metrics.horizontalAdvance(PERCENT_TEXT) + 8
        left, right = (side | Qt.AlignmentFlag.AlignVCenter for side in (LEFT, RIGHT))
        for row, share in enumerate(self.shares):
            top = area.top() + row * self._row
            swatch = top + (self._row - SWATCH) // 2
            painter.fillRect(area.left(), swatch, SWATCH, SWATCH, share.color(self._theme))
            box = QRect(area.left() + SWATCH + 6, top, area.width() - SWATCH - 6, self._row)
            painter.setPen(self._theme.role("text"))
            draw_text(painter, box, right, percent(share.value, self.total))
            painter.setPen(self._theme.role("muted"))
            room, amount = box.width() - numbers, count(share.value)
            if room > metrics.horizontalAdvance(translated(share.name) + amount) + 16:
                draw_text(painter, box.adjusted(0, 0, -numbers, 0), right, amount)
            draw_text(
                painter,
                box,
                left,
                metrics.elidedText(translated(share.name), Qt.TextElideMode.ElideRight, room),
            )


class Card(QFrame):
    """A heading over widgets, each with an optional small heading.  Ctrl+C copies their text."""

    def __init__(self, title: str, *parts: tuple[str, QWidget], width: int, grows: int = 0) -> None:
        super().__init__()
        self.grows = grows  # its part of the remaining width of its row
        self._width = width
        self.setObjectName("card")
        self.title = PlainLabel(title, role="heading")
        self._parts = [(PlainLabel(name, role="muted"), part) for name, part in parts]
        end = () if len(parts) == 1 and isinstance(parts[0][1], FactList | QAbstractItemView) else (None,)
        inside = column(*(item for pair in self._parts for item in pair), *end, spacing=4)
        column(self.title, (inside, 1), margins=(10, 8, 10, 8), spacing=6, of=self)
        for label, _ in self._parts:
            label.setHidden(not label.text())
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(translated(title))

    def show_part(self, widget: QWidget, shown: bool) -> None:
        """Show or hide a widget and its heading."""
        for label, part in self._parts:
            if part is widget:
                label.setVisible(shown and bool(label.text()))
                part.setVisible(shown)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._width, super().minimumSizeHint().height())

    def text(self) -> str:
        """Return its text, one line per number, for the clipboard."""
        parts = [part for _, part in self._parts if isinstance(part, FactList | PartRows | QLabel)]
        return "\n".join([self.title.text(), *(part.text() for part in parts if not part.isHidden())])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            copy_text(self.text())
        else:
            event.ignore()


class CardFlow(QLayout):
    """Lays out the cards of a widget in rows; a hidden card leaves no gap."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(GAP, GAP, GAP, GAP)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        policy.setHeightForWidth(True)
        parent.setSizePolicy(policy)

    def cards(self) -> list[Card]:
        """Return the visible cards."""
        cards = [card for item in self._items if isinstance(card := item.widget(), Card)]
        return [card for card in cards if not card.isHidden()]

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        """Return the number of cards, including hidden cards."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        """Return True: rows depend on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        rows = self._rows(width)
        return sum(_height(row) for row in rows) + GAP * (len(rows) + 1)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        shown = [card.minimumSizeHint() for card in self.cards()]
        return QSize(
            max((size.width() for size in shown), default=0) + 2 * GAP,
            max((size.height() for size in shown), default=0) + 2 * GAP,
        )

    def setGeometry(self, rect: QRect) -> None:
        """Place the cards; the last row takes the remaining height."""
        super().setGeometry(rect)
        top = rect.top() + GAP
        rows = self._rows(rect.width())
        for number, row in enumerate(rows):
            is_last = number == len(rows) - 1
            height = max(_height(row), rect.bottom() + 1 - GAP - top) if is_last else _height(row)
            left = rect.left() + GAP
            for card, width in zip(row, _widths(row, rect.width() - 2 * GAP), strict=True):
                card.setGeometry(QRect(QPoint(left, top), QSize(width, height)))
                left += width + GAP
            top += height + GAP

    def _rows(self, width: int) -> list[list[Card]]:
        rows: list[list[Card]] = []
        used = 0
        for card in self.cards():
            wanted = card.minimumSizeHint().width()
            if not rows or used + GAP + wanted > width - 2 * GAP:
                rows.append([])
                used = -GAP
            rows[-1].append(card)
            used += GAP + wanted
        return rows


def _height(row: list[Card]) -> int:
    return max(card.minimumSizeHint().height() for card in row)


def _widths(row: list[Card], room: int) -> list[int]:
    """Return minimum widths plus the remaining width, shared by the cards that grow (by all if none does)."""
    widths = [card.minimumSizeHint().width() for card in row]
    left = max(0, room - sum(widths) - GAP * (len(row) - 1))
    parts = [card.grows for card in row]
    parts = parts if any(parts) else [1] * len(row)
    total = sum(parts)
    return [width + left * part // total for width, part in zip(widths, parts, strict=True)]
