"""The command palette: one field that finds commands, instructions, labels, waves and source files."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from rcv_py.base.text import visible
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.plain_text import draw_text, tooltip
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.shell.palette_items import Item

ROW_PX = 26
WIDTH_PX = 640
SHOWN = 12


class Items(QAbstractListModel):
    """The items found for the present text."""

    def __init__(self) -> None:
        super().__init__()
        self.items: tuple[Item, ...] = ()

    def show(self, items: tuple[Item, ...]) -> None:
        """Replace all items."""
        self.beginResetModel()
        self.items = items
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        """How many items there are."""
        return 0 if parent.isValid() else len(self.items)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Title, or tooltip, of an item."""
        item = self.items[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return visible(item.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(item.why_not or item.tip or item.title)
        return None


class Row(QStyledItemDelegate):
    """Paints an item: icon, title, and at the right its keys or place."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """A row of fixed height."""
        return QSize(WIDTH_PX, ROW_PX)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw one item."""
        model = index.model()
        if not isinstance(model, Items):
            return
        item, box, theme = model.items[index.row()], QRect(option.rect), self._theme
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.role("accent_soft"))
        icon(theme, item.icon, "muted").paint(painter, box.left() + 10, box.top(), 16, ROW_PX)
        box.adjust(36, 0, -10, 0)
        metrics = painter.fontMetrics()
        note = item.why_not or item.note
        note = metrics.elidedText(note, Qt.TextElideMode.ElideLeft, box.width() // 2)
        painter.setPen(theme.role("muted"))
        draw_text(painter, box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, note)
        box.setRight(box.right() - metrics.horizontalAdvance(note) - 16)
        painter.setPen(theme.role("muted" if item.why_not else "text"))
        if item.is_code:
            painter.setFont(theme.mono)
            metrics = painter.fontMetrics()
        title = metrics.elidedText(item.title, Qt.TextElideMode.ElideRight, box.width())
        draw_text(painter, box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)
        painter.setFont(option.font)


class Palette(QFrame):
    """A field and a list over the middle of the window; Esc or a click elsewhere closes it."""

    def __init__(self, theme: Theme, find: Callable[[str], tuple[Item, ...]], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("palette")
        self.setAccessibleName("Command palette")
        self._find, self._parent = find, parent
        self.field = QLineEdit()
        self.field.setAccessibleName("Search or run a command")
        self.field.setPlaceholderText(
            "Command, instruction, label, wave, source file, or a place such as line 118"
        )
        self.model = Items()
        self.list = QListView()
        self.list.setAccessibleName("What was found")
        self.list.setModel(self.model)
        self.list.setItemDelegate(Row(theme, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column(self.field, self.list, margins=(1, 1, 1, 1), of=self)
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.list.entered.connect(self.list.setCurrentIndex)
        self.list.clicked.connect(self.choose)

    def open(self, text: str = "") -> None:
        """Show the palette over its window."""
        window = self._parent.window()
        width = min(WIDTH_PX, window.width() - 32)
        corner = window.mapToGlobal(window.rect().topLeft())
        self.setFixedWidth(width)
        self.move(corner.x() + (window.width() - width) // 2, corner.y() + 64)
        self.field.setText(text)
        self._search(text)
        self.show()
        self.field.setFocus()
        self.field.selectAll()

    def choose(self) -> None:
        """Do what the chosen item says."""
        row = self.list.currentIndex().row()
        if not 0 <= row < len(self.model.items):
            return
        item = self.model.items[row]
        if not item.why_not:
            self.close()
            item.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Send the keys that belong to the list from the field to the list."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.choose()
            return True
        steps = {
            Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -SHOWN, Qt.Key.Key_PageDown: SHOWN,
        }  # fmt: skip
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            return False
        last = len(self.model.items) - 1
        row = self.list.currentIndex().row() + step
        row = row % (last + 1) if abs(step) == 1 and last >= 0 else min(max(row, 0), last)
        self.list.setCurrentIndex(self.model.index(row, 0))
        return True

    def _search(self, text: str) -> None:
        self.model.show(self._find(text))
        self.list.setCurrentIndex(self.model.index(0, 0))
        rows = min(max(len(self.model.items), 1), SHOWN)
        self.list.setFixedHeight(rows * ROW_PX + 2)
        self.adjustSize()
