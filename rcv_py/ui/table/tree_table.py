"""A tree of nodes with columns that sorts, keeps open branches, and gives names the free room."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from math import isnan
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from PySide6 import QtGui
from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QKeySequence, QPainter
from PySide6.QtWidgets import QHeaderView, QMenu, QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from rcv_py.analysis.cost.place_text import beside
from rcv_py.base.record import Record
from rcv_py.base.text import percent, translated, visible
from rcv_py.base.tree import TreeNode
from rcv_py.model.trace import Trace
from rcv_py.results.field import Field
from rcv_py.state.cell import Cell
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import MIDDLE_LEFT, MIDDLE_RIGHT, button_text, copy_text, tooltip
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.table.cost_bars import draw_bar
from rcv_py.ui.table.table_model import Index

ROW_PX, BAR_INSET_PX = 22, 6
SCALE = 1000  # px whose growth measures the growth of text
MAX_PX = 2000  # of a column, in a saved state

N = TypeVar("N", bound=TreeNode)
Parts = Sequence[tuple[float, QColor]]  # cycles and colours of a bar
_DESCENDING, _ASCENDING = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder


class TreeColumn(Record, Generic[N]):
    """A column: a text of each node, or a bar of `parts`."""

    id: str
    title: str
    text: Callable[[N], str] = lambda node: ""
    key: Callable[[N], Any] | None = None  # its sort value
    parts: Callable[[N], Parts] | None = None
    is_number: bool = False
    is_elided_left: bool = False  # cut at the left: of a place the line number matters most
    font: Callable[[N], QFont | None] = lambda node: None  # None: the font of the window
    width: int = 0  # px; 0: it takes the free room
    tip: str = ""
    sort: str = ""  # its name for `--sort`, "" if commands cannot sort by it
    is_there: bool = True  # trees shown in turn share columns: those without data are hidden

    @property
    def side(self) -> Qt.AlignmentFlag:
        """Return where in a cell its texts stand."""
        return MIDDLE_RIGHT if self.is_number else MIDDLE_LEFT


def number_column(
    field: Field,
    value: Callable[[N], float],
    width: int,
    *,
    text: Callable[[N], str] | None = None,
    title: str = "",
    tip: str = "",
    sort: str | None = None,
) -> TreeColumn[N]:
    """Return the number column of a result's field; 0 and unknown values are empty, and come last."""

    def known(node: N) -> str:
        return field.text(number) if (number := value(node)) > 0 else ""

    def key(node: N) -> float:
        return -1.0 if isnan(number := value(node)) else number

    own_sort = field.name if field.is_sortable else ""
    return TreeColumn(
        id=field.name, title=title or field.title, text=text or known, key=key, is_number=True, width=width,
        tip=tip or field.sentence, sort=own_sort if sort is None else sort,
    )  # fmt: skip


def source_column(field: Field, trace: Cell[Trace | None], width: int, *, sort: str = "") -> TreeColumn[Any]:
    """Return the column of the innermost source places of the nodes' instructions, in the open trace."""

    def text(node: Any) -> str:
        return "" if trace.value is None else beside(trace.value, node.line)

    title, tip = f"  {field.title}", field.sentence
    return TreeColumn(
        id=field.name, title=title, text=text, key=text, is_elided_left=True, width=width, tip=tip, sort=sort
    )


def share_text(part: float, total: float) -> str:
    """Return a share in percent without its sign, "" for zero."""
    return percent(part, total).removesuffix(" %") if part else ""


class Tree(Record, Generic[N]):
    """The content of a tree: the children of a root, by columns, and further texts of a node."""

    root: N
    columns: tuple[TreeColumn[N], ...]
    tip: Callable[[N], str]
    spoken: Callable[[N], str]  # a row for a screen reader
    key: Callable[[N], Hashable]  # the key that identifies a node in a newer tree
    starts_open: Callable[[N], bool] = lambda node: False

    @cached_property
    def largest(self) -> float:
        """Return the longest bar of the first level: the others are drawn relative to it."""
        bars = [column.parts for column in self.columns if column.parts is not None]
        lengths = (sum(part for part, _ in bar(node)) for bar in bars for node in self.root.children)
        return max(lengths, default=0)

    def branches(self) -> Iterator[N]:
        """Yield the nodes that have children, parents first."""
        return (node for node in self.root.walk() if node.children and node is not self.root)


_SAYS: dict[int, Callable[[Tree[Any], TreeColumn[Any], Any], object]] = {  # the data of a cell, by role
    int(Qt.ItemDataRole.DisplayRole): lambda tree, column, node: visible(translated(column.text(node))),
    int(Qt.ItemDataRole.AccessibleTextRole): lambda tree, column, node: translated(tree.spoken(node)),
    int(Qt.ItemDataRole.TextAlignmentRole): lambda tree, column, node: column.side,
    int(Qt.ItemDataRole.FontRole): lambda tree, column, node: column.font(node),
}


class TreeModel(QAbstractItemModel, Generic[N]):
    """A tree for a view.  Sorting orders every level in the nodes themselves."""

    def __init__(self, tree: Tree[N], sort: str = "", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tree, self._first_sort = tree, sort
        self.sorting: tuple[str, Qt.SortOrder] | None = (sort, _DESCENDING) if sort else None

    @property
    def sort_name(self) -> str:
        """Return the name for `--sort` of the sorted column, "" for none."""
        return "" if self.sorting is None else self.tree.columns[self.column_of(self.sorting[0])].sort

    def show(self, tree: Tree[N]) -> None:
        """Show another tree with the same columns, in the present order."""
        self.beginResetModel()
        self.tree = tree
        if self.sorting is not None and not tree.columns[self.column_of(self.sorting[0])].is_there:
            self.sorting = (self._first_sort, _DESCENDING)
        self._order()
        self.endResetModel()

    def column_of(self, name: str) -> int:
        """Return the number of a column; ValueError if there is none with that name."""
        return [column.id for column in self.tree.columns].index(name)

    def node(self, index: Index) -> N:
        """Return the node of an index; the root for an invalid index."""
        return index.internalPointer() if index.isValid() else self.tree.root

    def index_of(self, node: N, column: int = 0) -> QModelIndex:
        """Return the index of a node; an invalid index for the root."""
        return QModelIndex() if node is self.tree.root else self.createIndex(node.row, column, node)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a child, as Qt requires."""
        children = self.node(parent).children
        inside = 0 <= row < len(children) and 0 <= column < len(self.tree.columns) and parent.column() <= 0
        return self.createIndex(row, column, children[row]) if inside else QModelIndex()

    def parent(self, index: Index | None = None) -> Any:
        """Return the index of the parent."""
        if index is None:
            return super().parent()
        above = self.node(index).parent if index.isValid() else None
        return QModelIndex() if above is None else self.index_of(above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.column() > 0 else len(self.node(parent).children)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return len(self.tree.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.tree.columns):
            return None
        column = self.tree.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            is_sorted = self.sorting is not None and self.sorting[0] == column.id
            return translated(column.title) + ("    " if is_sorted and column.is_number else "")  # an arrow
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return column.side
        if role == Qt.ItemDataRole.InitialSortOrderRole:
            return _DESCENDING if column.is_number or column.parts is not None else _ASCENDING
        return tooltip(column.tip) if role == Qt.ItemDataRole.ToolTipRole and column.tip else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        node, column = self.node(index), self.tree.columns[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(self.tree.tip(node))
        say = _SAYS.get(int(role))
        return None if say is None else say(self.tree, column, node)

    def sort(self, column: int, order: Qt.SortOrder = _ASCENDING) -> None:
        """Order every level by a column."""
        columns = self.tree.columns
        is_known = 0 <= column < len(columns) and columns[column].key is not None
        self.sorting = (columns[column].id if is_known else self._first_sort, order)
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        nodes = [(self.node(index), index.column()) for index in old]
        self._order()
        self.changePersistentIndexList(old, [self.index_of(node, at) for node, at in nodes])
        self.layoutChanged.emit()

    def _order(self) -> None:
        key = None if self.sorting is None else self.tree.columns[self.column_of(self.sorting[0])].key
        if key is not None and self.sorting is not None:
            self.tree.root.sort(key, is_descending=self.sorting[1] == _DESCENDING)


class _BarDelegate(QStyledItemDelegate):
    def __init__(self, model: TreeModel[Any], row_px: Callable[[], int]) -> None:
        super().__init__(model)
        self._model, self._row_px = model, row_px

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the usual background with the bar on it."""
        super().paint(painter, option, index)
        tree = self._model.tree
        parts = tree.columns[index.column()].parts
        if parts is not None:
            inset = BAR_INSET_PX if self._row_px() >= ROW_PX else BAR_INSET_PX - 2
            box = QRectF(option.rect).adjusted(4, inset, -4, -inset)
            draw_bar(painter, box, parts(self._model.node(index)), tree.largest)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(60, self._row_px())


class _EndDelegate(QStyledItemDelegate):
    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Cut the beginning of a long text."""
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideLeft


class TreeTable(QTreeView, Generic[N]):
    """A tree with columns.  The user's open and closed branches stay when a newer tree is shown.

    `yields` names columns that give way, least important first, with the px of room that names must have
    before the column is hidden.  An unknown name is an error, since Qt writes to any column number that it is
    given. `empty` is shown until there is data. With `sort` the tree is sorted, at first by that column. With
    `opens_by_key` arrows move over rows, and Return or Space chooses a row.
    """

    chosen = Signal(object)  # node that was clicked, or reached by keyboard
    hovered = Signal(object)  # node under the mouse, None: it left
    menu_asked = Signal(QModelIndex, QPoint)  # node, position on the screen

    def __init__(
        self,
        empty: Tree[N],
        ui: UiContext,
        *,
        sort: str = "",
        yields: Mapping[str, int] = MappingProxyType({}),
        opens_by_key: bool = False,
        row_px: Callable[[], int] = lambda: grown(ROW_PX),  # as plain text needs
    ) -> None:
        super().__init__()
        self._opens_by_key = opens_by_key
        self.rows: TreeModel[N] = TreeModel(empty, sort, self)
        self._empty, self._yields = empty, yields
        self._widths = {column.id: column.width for column in empty.columns if column.width}
        if unknown := yields.keys() - self._widths.keys():
            raise ValueError(f"no column of a fixed width is called {', '.join(sorted(unknown))}")
        self._opened: set[Hashable] = set()  # by the user
        self._closed: set[Hashable] = set()
        self._is_quiet = False
        self._bars, self._ends = _BarDelegate(self.rows, row_px), _EndDelegate(self)
        self._set_up(sort)
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)
        self.doubleClicked.connect(lambda index: self.toggle(index.siblingAtColumn(0)))
        self.entered.connect(lambda index: self.hovered.emit(self.rows.node(index)))
        self.expanded.connect(lambda index: self._turned(index, self._opened, self._closed))
        self.collapsed.connect(lambda index: self._turned(index, self._closed, self._opened))
        self._size = grown(SCALE)
        ui.theme.changed.connect(self._restyle)

    def _set_up(self, sort: str) -> None:
        self.setModel(self.rows)
        self.setUniformRowHeights(True)
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setIndentation(16)
        self.setExpandsOnDoubleClick(False)
        self.setAllColumnsShowFocus(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(36)
        for at, column in enumerate(self._empty.columns):
            if column.parts is not None:
                self.setItemDelegateForColumn(at, self._bars)
            elif column.is_elided_left:
                self.setItemDelegateForColumn(at, self._ends)
            mode = QHeaderView.ResizeMode.Interactive if column.width else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(at, mode)
            if column.width:
                header.resizeSection(at, grown(column.width))
        header.sectionResized.connect(self._resized)
        if sort:
            header.setSortIndicator(self.rows.column_of(sort), _DESCENDING)
            self.setSortingEnabled(True)

    def show_tree(self, tree: Tree[N], *, is_all_open: bool = False) -> None:
        """Show another tree; keep branches as the user left them, others as they start."""
        self._is_quiet = True
        self.rows.show(tree)
        if self.isSortingEnabled() and self.rows.sorting is not None:
            name, order = self.rows.sorting
            self.header().setSortIndicator(self.rows.column_of(name), order)
        self._fit()
        for node in tree.branches():
            key = tree.key(node)
            starts_open = tree.starts_open(node) and key not in self._closed
            if is_all_open or starts_open or key in self._opened:
                self.expand(self.rows.index_of(node))
        self._is_quiet = False

    def forget(self) -> None:
        """Show nothing, and drop the open and closed branches."""
        self._opened.clear()
        self._closed.clear()
        self.rows.show(self._empty)

    def mark(self, node: N | None) -> None:
        """Make a node the current row, or its nearest visible ancestor."""
        index = QModelIndex() if node is None else self.rows.index_of(node)
        above = index.parent()
        while above.isValid():
            index = index if self.isExpanded(above) else above
            above = above.parent()
        if index == self.currentIndex().siblingAtColumn(0):
            return
        self._is_quiet = True
        self.setCurrentIndex(index)
        self._is_quiet = False

    def menu(self, *actions: tuple[str, Callable[[], object]]) -> QMenu:
        """Return a menu of actions, and of commands that open and close all branches."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for text, call in actions:
            menu.addAction(button_text(text), call)
        menu.addSeparator()
        menu.addAction(translated("Expand all"), self.expandAll)
        menu.addAction(translated("Collapse all"), self.collapseAll)
        return menu

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        """Request a menu at the node under the mouse; elsewhere the panel has a menu."""
        index = self.indexAt(event.pos())
        if index.isValid():
            self.menu_asked.emit(index, event.globalPos())
        else:
            event.ignore()

    def set_width(self, name: str, px: int) -> None:
        """Set the width of a column automatically, not as the user's width."""
        self._widths[name] = px
        self.setColumnWidth(self.rows.column_of(name), px)

    def _restyle(self) -> None:
        before, self._size = self._size, grown(SCALE)
        for at, column in enumerate(self._empty.columns if self._size != before else ()):
            if column.width:
                self.header().resizeSection(at, round(self.header().sectionSize(at) * self._size / before))
        self.scheduleDelayedItemsLayout()
        self.refresh()

    def refresh(self) -> None:
        """Paint again."""
        self.viewport().update()

    def toggle(self, index: QModelIndex) -> None:
        """Open a closed branch, or close an open one."""
        self.setExpanded(index, not self.isExpanded(index))

    def currentChanged(self, index: Index, previous: Index) -> None:
        """Report the row that the keyboard reached; a click arrives by `clicked`."""
        super().currentChanged(index, previous)
        is_key = self.hasFocus() and not QGuiApplication.mouseButtons() and not self._is_quiet
        if is_key and not self._opens_by_key:
            self._choose(index)

    def focusInEvent(self, event: QtGui.QFocusEvent) -> None:
        """Choose nothing: without a current row, Qt makes the first row current."""
        was_quiet, self._is_quiet = self._is_quiet, True
        super().focusInEvent(event)
        self._is_quiet = was_quiet

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        here = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy) and here.isValid():
            shown = (at for at in range(self.rows.columnCount()) if not self.isColumnHidden(at))
            copy_text("\t".join(str(here.siblingAtColumn(at).data() or "") for at in shown))
        elif self._opens_by_key and event.key() == Qt.Key.Key_Space and here.isValid():
            self.activated.emit(here)
        else:
            super().keyPressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit(None)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        columns = {column.id: column for column in self.rows.tree.columns}
        there = {name: px for name, px in self._widths.items() if columns[name].is_there}
        room = self.viewport().width() - sum(there.values())
        for name in self._widths.keys() - self._yields.keys():
            self.setColumnHidden(self.rows.column_of(name), name not in there)
        for name, wanted in self._yields.items():
            self.setColumnHidden(self.rows.column_of(name), name not in there or room < wanted)
            room += there.get(name, 0) if room < wanted else 0

    def _choose(self, index: Index) -> None:
        if index.isValid():
            self.chosen.emit(self.rows.node(index))

    def _turned(self, index: QModelIndex, into: set[Hashable], out_of: set[Hashable]) -> None:
        if not self._is_quiet:
            key = self.rows.tree.key(self.rows.node(index))
            into.add(key)
            out_of.discard(key)

    def _resized(self, column: int, before: int, width: int) -> None:
        name = self._empty.columns[column].id
        if name in self._widths and width > 0:
            self._widths[name] = width

    def reset_columns(self) -> None:
        """Give all columns the widths that they have at first."""
        for column in self._empty.columns:
            if column.id in self._widths:
                self._widths[column.id] = grown(column.width)
                self.setColumnWidth(self.rows.column_of(column.id), grown(column.width))
        self._fit()

    def save_state(self) -> dict[str, Any]:
        """Return widths, including hidden columns, and order, as plain JSON values."""
        state: dict[str, Any] = {"widths": list(self._widths.values())}
        if self.rows.sorting is not None:
            name, order = self.rows.sorting
            state["sort"] = [self.rows.column_of(name), order == _DESCENDING]
        return state

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `save_state` returned; ignore what does not fit."""
        if not isinstance(state, dict):  # of a file that anyone can edit
            return
        widths, sort = state.get("widths"), state.get("sort")
        if isinstance(widths, list) and len(widths) == len(self._widths):
            for name, width in zip(list(self._widths), widths, strict=True):
                if isinstance(width, int) and 0 < width < MAX_PX:
                    self._widths[name] = width
                    self.setColumnWidth(self.rows.column_of(name), width)
        columns = range(len(self._empty.columns))
        if self.isSortingEnabled() and isinstance(sort, list) and len(sort) == 2 and sort[0] in columns:
            self.sortByColumn(int(sort[0]), _DESCENDING if sort[1] else _ASCENDING)
