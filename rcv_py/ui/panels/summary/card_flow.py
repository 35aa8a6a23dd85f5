"""Cards side by side, wrapped into rows like words; the last row takes the height that is left."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLabel, QLayout, QLayoutItem, QSizePolicy, QWidget

from rcv_py.ui.core.layout import column
from rcv_py.ui.core.plain_text import PlainLabel, copy_text
from rcv_py.ui.panels.summary.widgets import FactList, Rows

GAP = 8


class Card(QFrame):
    """A heading over widgets, each under a small heading or none.  Ctrl+C copies what they say."""

    def __init__(self, title: str, *parts: tuple[str, QWidget], width: int, grows: int = 0) -> None:
        super().__init__()
        self.grows = grows  # its part of the width that is left in its row
        self._width = width
        self.setObjectName("card")
        self.title = PlainLabel(title, role="heading")
        self._parts = [(PlainLabel(name, role="muted", visible=bool(name)), part) for name, part in parts]
        end = () if len(parts) == 1 and isinstance(parts[0][1], FactList | QAbstractItemView) else (None,)
        inside = column(*(item for pair in self._parts for item in pair), *end, spacing=4)
        column(self.title, (inside, 1), margins=(10, 8, 10, 8), spacing=6, of=self)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(title)

    def show_part(self, widget: QWidget, shown: bool) -> None:
        """Show or hide a widget and its heading."""
        for label, part in self._parts:
            if part is widget:
                label.setVisible(shown and bool(label.text()))
                part.setVisible(shown)

    def minimumSizeHint(self) -> QSize:
        """Its width, and the height its content needs."""
        return QSize(self._width, super().minimumSizeHint().height())

    def text(self) -> str:
        """What it says, one line a number, for the clipboard."""
        parts = [part for _, part in self._parts if isinstance(part, FactList | Rows | QLabel)]
        return "\n".join([self.title.text(), *(part.text() for part in parts if not part.isHidden())])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy."""
        if event.matches(QKeySequence.StandardKey.Copy):
            copy_text(self.text())
        else:
            event.ignore()


class CardFlow(QLayout):
    """Lays out the cards of a widget in rows; a card that is hidden leaves no gap."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(GAP, GAP, GAP, GAP)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        policy.setHeightForWidth(True)
        parent.setSizePolicy(policy)

    def cards(self) -> list[Card]:
        """The cards that are shown."""
        cards = [card for item in self._items if isinstance(card := item.widget(), Card)]
        return [card for card in cards if not card.isHidden()]

    def addItem(self, item: QLayoutItem) -> None:
        """Take a card in."""
        self._items.append(item)

    def count(self) -> int:
        """How many cards there are, hidden ones too."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """A card, None outside."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Let a card go."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        """Rows depend on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of all rows at a width."""
        rows = self._rows(width)
        return sum(_height(row) for row in rows) + GAP * (len(rows) + 1)

    def sizeHint(self) -> QSize:
        """The size of the largest card."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Room for the largest card."""
        shown = [card.minimumSizeHint() for card in self.cards()]
        return QSize(
            max((size.width() for size in shown), default=0) + 2 * GAP,
            max((size.height() for size in shown), default=0) + 2 * GAP,
        )

    def setGeometry(self, rect: QRect) -> None:
        """Place the cards; the last row takes the height that is left."""
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
    """Minimum widths, and what is left shared by those that grow (by all, if none does)."""
    widths = [card.minimumSizeHint().width() for card in row]
    left = max(0, room - sum(widths) - GAP * (len(row) - 1))
    parts = [card.grows for card in row]
    parts = parts if any(parts) else [1] * len(row)
    whole = sum(parts)
    return [width + left * part // whole for width, part in zip(widths, parts, strict=True)]
