"""The list of findings: rank, title, gain as a bar; keys choose, Enter goes to evidence."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from rcv_py.analysis.findings.finding import RANKED, SAMPLES, Finding
from rcv_py.ui.core.plain_text import draw_text, tooltip
from rcv_py.ui.core.theme import Theme

ROW = 24  # px
BAR, NUMBER, SHARE, PAD = 44, 22, 62, 6
_ROLE = Qt.ItemDataRole.UserRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class FindingList(QListWidget):
    """One row a finding; `chosen` tells its number, `asked` a number of its evidence."""

    chosen = Signal(int)
    asked = Signal(int)
    copied = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setItemDelegate(_Rows(theme, self))
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName("Findings, the one with most to gain first")
        self.currentRowChanged.connect(self._tell)
        self.itemDoubleClicked.connect(lambda _: self.asked.emit(0))
        theme.changed.connect(lambda: self.viewport().update())

    def show_findings(self, findings: Sequence[Finding], rest: str = "") -> None:
        """Show these, and behind them a row for the rest, told in one line.

        The finding that is current stays so, if it is still there.
        """
        current = self.currentItem()
        is_kept = current is not None and self.currentRow() > 0  # the first one gives way to a new first one
        kept = current.data(_ROLE) if current is not None and is_kept else None
        name = "" if kept is None else kept.name
        self.blockSignals(True)
        self.clear()
        for number, one in enumerate(findings, 1):
            told = one.gain_text or one.stake
            item = QListWidgetItem(f"{number}. {one.title} {told}".strip())
            item.setData(_ROLE, one)
            item.setToolTip(tooltip(f"{one.title}\n{told}".strip()))
            self.addItem(item)
        if rest:
            last = QListWidgetItem(rest)
            last.setToolTip(tooltip(rest))
            self.addItem(last)
        names = [one.name for one in findings]
        self.setCurrentRow(names.index(name) if name in names else 0 if self.count() else -1)
        self.blockSignals(False)
        self._tell(self.currentRow())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter: the first evidence; 1 to 9: that one; Ctrl+C: copy."""
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copied.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.asked.emit(0)
        elif Qt.Key.Key_1 <= key <= Qt.Key.Key_9 and event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        ):
            self.asked.emit(int(key) - int(Qt.Key.Key_1))
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        """A third of a window."""
        return QSize(330, 160)

    def _tell(self, row: int) -> None:
        self.chosen.emit(row)


class _Rows(QStyledItemDelegate):
    """Paints a row: number, title, bar, share."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are equally high."""
        return QSize(120, ROW)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one finding; those that are no part of the ranking are muted and have no bar."""
        one: Finding | None = index.data(_ROLE)
        theme, box = self._theme, QRect(option.rect)
        role = theme.role
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, role("accent_soft"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, role("hover"))
        is_ranked = one is not None and one.rank == RANKED
        painter.setPen(role("muted"))
        right, left = box.right() - PAD, box.x() + NUMBER + PAD
        room = QRect(left, box.y(), right - left, box.height())
        if one is not None:
            draw_text(painter, QRect(box.x(), box.y(), NUMBER, box.height()), _RIGHT, f"{index.row() + 1}")
        if one is not None and is_ranked and one.cycles:
            share = one.gain if one.unit != SAMPLES else one.share
            draw_text(painter, QRect(right - SHARE, box.y(), SHARE, box.height()), _RIGHT, _share(one, share))
            bar = QRectF(right - SHARE - PAD - BAR, box.y() + 8, BAR, box.height() - 16)
            self._bar(painter, bar, share)
            room.setWidth(right - SHARE - 2 * PAD - BAR - left)
        painter.setPen(role("text" if is_ranked else "muted"))
        text = index.data(Qt.ItemDataRole.DisplayRole) if one is None else one.title
        title = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        draw_text(painter, room, _LEFT, title)
        painter.restore()

    def _bar(self, painter: QPainter, box: QRectF, share: float) -> None:
        role = self._theme.role
        painter.fillRect(box, role("raised"))
        part = QRectF(box.x(), box.y(), max(2.0, box.width() * min(1.0, share)), box.height())
        painter.fillRect(part, role("stall"))


def _share(one: Finding, share: float) -> str:
    sign = "≤ " if one.is_upper_bound else "~ "
    return f"{sign}{100 * share:.1f} %"
