"""Columns as a Qt table: sorting and filtering work on row numbers; rows are not objects."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from rcv_py.base.record import Value
from rcv_py.base.text import translated, visible
from rcv_py.ui.core.plain_text import MIDDLE_LEFT, MIDDLE_RIGHT, tooltip

VALUE_ROLE = int(Qt.ItemDataRole.UserRole)  # the plain value: used by sorting and export

Index = QModelIndex | QPersistentModelIndex


def grouped(value: Any) -> str:
    """Return an integer grouped by thousands."""
    return f"{int(value):,}"


class Column(Value):
    """A column: `values` has an entry per row, `text` formats an entry.

    Numbers are right-aligned and sort from the largest first.  A column without values (a gutter) is drawn by
    its view, and can be neither sorted nor copied.
    """

    id: str
    title: str
    values: np.ndarray | Sequence[Any]
    text: Callable[[Any], str] = str
    is_number: bool = False
    has_values: bool = True
    is_left: bool = False  # left-aligned although it is a number, like a bar
    is_elided_left: bool = False
    width: int = 80  # px, before the user or the contents change it
    tip: str = ""
    headings: tuple[str, ...] = ()  # texts of the header, the longest wording first; none: the title
    is_shown: bool = True  # before the user changes it
    sort: str = ""  # its name for `--sort`, "" if commands cannot sort by it
    is_data: bool = False  # data of the capture, the same in every language
    tips: Sequence[str] = ()  # tooltips of its cells

    @property
    def heading(self) -> str:
        """Return the text of its header where there is room."""
        return self.headings[0] if self.headings else self.title

    @property
    def side(self) -> Qt.AlignmentFlag:
        """Return where in a cell its texts stand."""
        return MIDDLE_RIGHT if self.is_number and not self.is_left else MIDDLE_LEFT


# Header data by role: Qt requests each role singly, and some at every step of a resize.
_OF_HEADER: dict[int, Callable[[Column], Any]] = {
    int(Qt.ItemDataRole.DisplayRole): lambda column: translated(column.heading),
    int(Qt.ItemDataRole.AccessibleTextRole): lambda column: translated(
        column.heading or column.title or column.id
    ),
    int(Qt.ItemDataRole.ToolTipRole): lambda column: tooltip(column.tip or column.title),
    int(Qt.ItemDataRole.TextAlignmentRole): lambda column: column.side,
    int(Qt.ItemDataRole.InitialSortOrderRole): lambda column: (
        Qt.SortOrder.DescendingOrder if column.is_number else Qt.SortOrder.AscendingOrder
    ),
}


class TableModel(QAbstractTableModel):
    """A table of columns in program order, in sorted order, or filtered.

    A *data row* is a row of the columns; a *view row* is where it is shown.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = ()
        self._places: dict[str, int] = {}  # of the columns, by their ids
        self._count = 0
        self.data_rows = np.empty(0, dtype=np.int64)  # data row of each view row
        self._filter: np.ndarray | None = None
        self.sorting: tuple[str, Qt.SortOrder] | None = None  # column id and direction, None in program order
        self.view_rows = np.empty(0, dtype=np.int64)  # view row of each data row, -1 if it is filtered out
        # A cell's text instead of its value, None for the value: (data row, column id).
        self.instead: Callable[[int, str], str | None] | None = None

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other values.  Keep selection and order if the shape is the same."""
        columns = tuple(columns)
        self._places = {column.id: at for at, column in enumerate(columns)}
        count = min((len(column.values) for column in columns if column.has_values), default=0)
        if count != self._count or [c.id for c in columns] != [c.id for c in self.columns]:
            self.beginResetModel()
            self.columns, self._count, self._filter = columns, count, None
            self._set_rows(self._ordered())
            self.endResetModel()
            return
        self.columns = columns
        self._reorder()
        if self.rowCount():
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, len(columns) - 1))
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(columns) - 1)

    def set_filter(self, rows: np.ndarray | None) -> None:
        """Show only these data rows (ascending); None for all rows."""
        if rows is None and self._filter is None:
            return
        if rows is not None and self._filter is not None and np.array_equal(rows, self._filter):
            return
        self.beginResetModel()
        self._filter = rows
        self._set_rows(self._ordered())
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 restores program order."""
        usable = 0 <= column < len(self.columns) and self.columns[column].has_values
        self.sorting = (self.columns[column].id, order) if usable else None
        self._reorder()

    @property
    def sort_name(self) -> str:
        """Return the name for `--sort` of the sorted column, "" for none."""
        name = "" if self.sorting is None else self.sorting[0]
        return self.columns[self.column_of(name)].sort if self.has_column(name) else ""

    @property
    def is_filtered(self) -> bool:
        """Return whether some rows may be hidden."""
        return self._filter is not None

    def data_row(self, view_row: int) -> int:
        """Return the data row shown at a view row, -1 outside."""
        return int(self.data_rows[view_row]) if 0 <= view_row < len(self.data_rows) else -1

    def view_row(self, data_row: int) -> int:
        """Return the view row of a data row, -1 if it is hidden."""
        return int(self.view_rows[data_row]) if 0 <= data_row < self._count else -1

    def column_of(self, name: str) -> int:
        """Return the number of the column with that id; KeyError if there is none."""
        return self._places[name]

    def has_column(self, name: str) -> bool:
        """Return whether there is a column with that id."""
        return name in self._places

    def text(self, data_row: int, column: int) -> str:
        """Return the text of a cell."""
        shown = self.columns[column]
        if self.instead is not None and (other := self.instead(data_row, shown.id)) is not None:
            return other
        return shown.text(shown.values[data_row]) if shown.has_values else ""

    def shown_text(self, data_row: int, column: int) -> str:
        """Return the text of a cell in the language of the window."""
        text = self.text(data_row, column)
        return text if self.columns[column].is_data else translated(text)

    def table(self, data_rows: Sequence[int] | None = None) -> Iterator[tuple[Any, ...]]:
        """Return plain values of rows, in the default format, for copying and export."""
        rows = self.data_rows.tolist() if data_rows is None else data_rows
        shown = [column.values for column in self.columns if column.has_values]
        for row in rows:
            yield tuple(_plain(values[row]) for values in shown)

    @property
    def headers(self) -> tuple[str, ...]:
        """Return titles of the columns that have values."""
        return tuple(column.title for column in self.columns if column.has_values)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.data_rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of a cell for a role."""
        row, at = self.data_row(index.row()), index.column()
        if row < 0 or not 0 <= at < len(self.columns):
            return None
        column = self.columns[at]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return visible(self.shown_text(row, at))
        if role == Qt.ItemDataRole.ToolTipRole and column.tips:
            return tooltip(column.tips[row])
        if role == VALUE_ROLE and column.has_values:
            return _plain(column.values[row])
        return column.side if role == Qt.ItemDataRole.TextAlignmentRole else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        said = _OF_HEADER.get(int(role))
        return None if said is None else said(self.columns[section])

    def _reorder(self) -> None:
        rows = self._ordered()
        if np.array_equal(rows, self.data_rows):
            return
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        cells = [(self.data_row(index.row()), index.column()) for index in old]
        self._set_rows(rows)
        self.changePersistentIndexList(old, [self.index(self.view_row(row), at) for row, at in cells])
        self.layoutChanged.emit()

    def _ordered(self) -> np.ndarray:
        rows = np.arange(self._count) if self._filter is None else self._filter
        rows = rows[rows < self._count].astype(np.int64)
        if self.sorting is None or not self.has_column(self.sorting[0]) or not len(rows):
            return rows
        values = self.columns[self.column_of(self.sorting[0])].values
        column = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
        rank = np.unique(column, return_inverse=True)[1].astype(np.int64).ravel()[rows]  # equal if equal
        down = self.sorting[1] == Qt.SortOrder.DescendingOrder
        return rows[np.argsort(-rank if down else rank, kind="stable")]

    def _set_rows(self, rows: np.ndarray) -> None:
        self.data_rows = rows
        self.view_rows = np.full(self._count, -1, dtype=np.int64)
        self.view_rows[rows] = np.arange(len(rows))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
