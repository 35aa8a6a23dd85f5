"""The tree of counters by origin, with check boxes and a filter."""

from collections.abc import Container, Mapping, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPixmap, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from rcv_py.analysis.counters.derived_counters import CounterRow
from rcv_py.base.text import Message, join_texts, translated
from rcv_py.features.counters.result import number_text
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.plain_text import MIDDLE_RIGHT, filter_field, named, tooltip
from rcv_py.ui.core.theme import Theme

TITLES = ("Counter", "Mean", "Max")
SWATCH = 10
WIDE_PX = 310  # minimum width that has room for means
SHORT = 7  # maximum letters of a unit shown after the number; longer units are in the tooltip


class CounterTree(QWidget):
    """Ticked counters are drawn; Space ticks, typing in the field leaves only names that hold the text."""

    ticked = Signal(str, bool)  # name, whether it is drawn

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.items: dict[str, QTreeWidgetItem] = {}
        self._colors: dict[str, int] = {}
        self.field = filter_field("Filter counters")
        self.tree = named(QTreeWidget(), "Counters")
        self.tree.setHeaderLabels(list(map(translated, TITLES)))
        self.tree.setUniformRowHeights(True)
        self.tree.setIconSize(QSize(SWATCH, SWATCH))
        self.tree.setIndentation(10)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names differ in their last part
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(40)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for at in (1, 2):
            header.setSectionResizeMode(at, QHeaderView.ResizeMode.ResizeToContents)
        column(self.field, (self.tree, 1), margins=(8, 2, 0, 0), spacing=2, of=self)
        self.tree.itemChanged.connect(self._on_changed)
        self.field.textChanged.connect(self._filter)
        theme.changed.connect(self._recolor)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the means where names would be cut otherwise."""
        super().resizeEvent(event)
        self.tree.setColumnHidden(1, self.width() < WIDE_PX)

    def show_rows(self, rows: Sequence[CounterRow], drawn: Container[str], colors: Mapping[str, int]) -> None:
        """Show other counters; `colors` are numbers of the palette."""
        closed = {item.text(0) for item in self._groups() if not item.isExpanded()}
        self.tree.blockSignals(True)
        self.tree.clear()
        self.items, self._colors = {}, dict(colors)
        groups: dict[str, QTreeWidgetItem] = {}
        for row in rows:
            if row.group not in groups:
                groups[row.group] = self._group(row)
            self.items[row.name] = _item(groups[row.group], row, row.name in drawn)
        for item in self._groups():
            item.setExpanded(item.text(0) not in closed)
        self.tree.blockSignals(False)
        self._recolor()
        self._filter()

    def _group(self, row: CounterRow) -> QTreeWidgetItem:
        title = Message("Counters: {0}", row.group) if row.is_raw else Message("Formulas: {0}", row.group)
        item = QTreeWidgetItem(self.tree, [title])
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsAutoTristate | Qt.ItemFlag.ItemIsUserCheckable)
        item.setFirstColumnSpanned(True)
        return item

    def _groups(self) -> list[QTreeWidgetItem]:
        items = (self.tree.topLevelItem(at) for at in range(self.tree.topLevelItemCount()))
        return [item for item in items if item is not None]

    def _on_changed(self, item: QTreeWidgetItem, at: int) -> None:
        name = item.data(0, Qt.ItemDataRole.UserRole)
        if at == 0 and name is not None:
            self.ticked.emit(name, item.checkState(0) == Qt.CheckState.Checked)

    def _filter(self) -> None:
        text = self.field.text().strip().lower()
        for name, item in self.items.items():
            item.setHidden(text not in name.lower())
        for group in self._groups():
            children = (group.child(at) for at in range(group.childCount()))
            group.setHidden(all(child is None or child.isHidden() for child in children))

    def _recolor(self) -> None:
        self.tree.blockSignals(True)
        for name, item in self.items.items():
            picture = QPixmap(SWATCH, SWATCH)
            picture.fill(self._theme.kernel(self._colors.get(name, 0)))
            item.setIcon(0, QIcon(picture))
        self.tree.blockSignals(False)


def _item(group: QTreeWidgetItem, row: CounterRow, is_drawn: bool) -> QTreeWidgetItem:
    unit = f" {row.unit}" if 0 < len(row.unit) <= SHORT else ""
    _, mean, largest = row.extent
    item = QTreeWidgetItem(group, [row.name, number_text(mean), number_text(largest) + unit])
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
    item.setCheckState(0, Qt.CheckState.Checked if is_drawn else Qt.CheckState.Unchecked)
    item.setData(0, Qt.ItemDataRole.UserRole, row.name)
    for at in (1, 2):
        item.setTextAlignment(at, MIDDLE_RIGHT)
    about = f"{row.name} ({row.unit or 'no unit'}): {row.tip}"
    tip = tooltip(join_texts("\n", filter(None, (about, row.why_unknown))))
    for at in range(len(TITLES)):
        item.setToolTip(at, tip)
    return item
