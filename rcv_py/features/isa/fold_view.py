"""An instruction table with foldable blocks: row mapping, keys, clicks, sums.

```
 code row   sections   folded   shown
    0          0                  0
    1          0                  1
    2          1         yes      2    stands for 2, 3 and 4
    3          1         yes
    4          1         yes
    5          2                  3
```
A folded section is shown as its first row.
"""

import numpy as np
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent

from rcv_py.analysis.program.blocks import BlockCosts, Blocks
from rcv_py.base.text import Message, join_texts, plural
from rcv_py.features.isa.rows import TRIANGLE_PX, IsaRows
from rcv_py.results.common import SUMS
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.rows_view import RowsView

_SUMS = (*SUMS[1:], "share_of_total", "cost", "samples", "issued", "stalled")


class IsaFolds:
    """Sections of the code [first, stop), in program order without gaps; any of them may be folded."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Clear the sections, for another program."""
        self.first, self.stop, self._of_row = np.zeros((3, 0), dtype=np.int64)
        self.folded = np.zeros(0, dtype=bool)  # of each section
        self.shown_as = np.zeros(0, dtype=np.int64)  # the code row that stands for each code row

    def __len__(self) -> int:
        return len(self.first)

    def set_sections(self, first: np.ndarray, stop: np.ndarray) -> None:
        """Divide the code anew; a folded section stays folded if a section still begins at its first row."""
        if np.array_equal(first, self.first) and np.array_equal(stop, self.stop):
            return
        before = self.first[self.folded]
        self.first, self.stop = first.astype(np.int64), stop.astype(np.int64)
        self._of_row = np.repeat(np.arange(len(first)), self.stop - self.first)
        self.folded = np.isin(self.first, before) & self.foldable
        self._changed()

    def fold(self, section: int, is_folded: bool = True) -> None:
        """Fold or unfold one section; a section of one row cannot be folded."""
        self.folded[section] = is_folded and bool(self.foldable[section])
        self._changed()

    def fold_where(self, sections: np.ndarray) -> None:
        """Fold exactly the sections for which `sections` (bool) is true."""
        self.folded = sections & self.foldable
        self._changed()

    def reveal(self, row: int) -> bool:
        """Unfold the section of a code row; return whether it was folded."""
        section = self.section(row)
        was_folded = section >= 0 and bool(self.folded[section])
        if was_folded:
            self.fold(section, False)
        return was_folded

    @property
    def foldable(self) -> np.ndarray:
        """Return which sections have more than one row, bool."""
        return self.stop - self.first > 1

    def section(self, row: int) -> int:
        """Return the section of a code row, -1 if there is no such row."""
        return int(self._of_row[row]) if 0 <= row < len(self._of_row) else -1

    def begins(self, row: int) -> int:
        """Return the section that begins at a code row, -1 if none does."""
        section = self.section(row)
        return section if section >= 0 and int(self.first[section]) == row else -1

    def is_fold(self, row: int) -> bool:
        """Return whether a code row stands for its folded section."""
        section = self.begins(row)
        return section >= 0 and bool(self.folded[section])

    def rows_of(self, row: int) -> range:
        """Return the code rows that a shown row stands for."""
        if not self.is_fold(row):
            return range(row, row + 1)
        section = self.section(row)
        return range(int(self.first[section]), int(self.stop[section]))

    def visible(self) -> np.ndarray | None:
        """Return the visible code rows, ascending; None if all are visible."""
        if not self.folded.any():
            return None
        return np.flatnonzero(self.shown_as == np.arange(len(self.shown_as)))

    def _changed(self) -> None:
        rows = np.arange(len(self._of_row))
        self.shown_as = np.where(self.folded[self._of_row], self.first[self._of_row], rows)


class FoldView(RowsView):
    """Leaves hidden rows out of the model; the first row of a folded section stands for it.

    While rows are sorted or a search filters them, nothing is folded.
    """

    refolded = Signal()  # the set of shown rows changed

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, settings)
        self.rows: IsaRows | None = None
        self.folds = IsaFolds()
        self.fold_by = "block"
        self.parts: Blocks | None = None  # what can be folded
        self._costs: BlockCosts | None = None
        self._found_only: np.ndarray | None = None  # rows that a search shows
        self.table.instead = self._folded_text
        self.widths.chars_instead = self._longest_sum
        self.header.sortIndicatorChanged.connect(lambda *_: self._apply())

    def divide(self) -> None:
        """Set the sections of the shown rows."""
        assert self.rows is not None
        self.parts = self.rows.program.parts(self.fold_by)
        self._costs = self.rows.section_costs(self.parts)
        self.folds.set_sections(self.parts.first, self.parts.stop)
        self._apply()

    def set_fold_by(self, by: str) -> None:
        """Fold by `block` or by `label`; unfold everything."""
        if by != self.fold_by:
            self.fold_by = by
            self.folds.forget()
            if self.rows is not None:
                self.divide()

    def set_only(self, rows: np.ndarray | None) -> None:
        """Show only the rows that a search found; None for all rows."""
        self._found_only = rows
        self._apply()

    def fold_all(self, is_folded: bool = True) -> None:
        """Fold or unfold every section."""
        self.folds.fold_where(np.full(len(self.folds), is_folded))
        self._apply(reveal=True)

    def fold_cold(self, share: float) -> None:
        """Fold the sections that never ran or cost less than a share of the total; unfold the others."""
        if self._costs is None or self.rows is None:
            return
        cost = self._costs.latency + self._costs.idle * bool(self.settings["isa.show_idle"])
        self.folds.fold_where(~self._costs.executed | (cost < share * max(1, self.rows.total)))
        self._apply(reveal=True)

    def toggle(self, section: int) -> None:
        """Fold or unfold a section; the rows above it do not move."""
        self.folds.fold(section, not self.folds.folded[section])
        self._apply()

    def unfold_row(self, row: int) -> None:
        """Unfold the section of a code row."""
        is_label = self.rows is not None and bool(self.rows.trace.code.is_label[row])
        if self.is_folding and not (is_label and self.folds.is_fold(row)) and self.folds.reveal(row):
            self._apply()

    def _apply(self, reveal: bool = False) -> None:
        """Give the model the visible rows."""
        rows = self._found_only
        if rows is None and self.table.sorting is None:
            rows = self.folds.visible()
        scroll = self.verticalScrollBar().value()
        before = self.table.data_rows
        self.table.set_filter(rows)
        if before is not self.table.data_rows:
            self.widths.grow(self.char_px)
            self.verticalScrollBar().setValue(scroll)
            at = self.stands_for(self.current)
            self.set_current(at if self.is_folding and at >= 0 else self.current, reveal=reveal)
            self.refolded.emit()
        self.viewport().update()

    @property
    def is_folding(self) -> bool:
        """Return whether folds are in effect: program order, no filter."""
        return self._found_only is None and self.table.sorting is None and len(self.folds) > 0

    def stands_for(self, row: int) -> int:
        """Return the row that shows a code row."""
        shown = self.folds.shown_as
        return int(shown[row]) if self.is_folding and 0 <= row < len(shown) else row

    def places(self) -> np.ndarray:
        """Return the view row of each code row; a folded row has its section's view row."""
        rows = self.table.view_rows
        folds = self.is_folding and len(rows) == len(self.folds.shown_as)
        return rows[self.folds.shown_as] if folds else rows

    def is_fold(self, row: int) -> bool:
        """Return whether a shown row is a folded section."""
        return self.is_folding and self.folds.is_fold(row)

    def shown_cost(self, cost: np.ndarray) -> np.ndarray:
        """Return costs with the costs of folded rows added to the shown row, int64."""
        if not self.is_folding or len(cost) != len(self.folds.shown_as):
            return cost
        shown = np.zeros_like(cost)
        np.maximum.at(shown, self.folds.shown_as, cost)
        return shown

    def fold_title(self, row: int) -> tuple[str, str]:
        """Return the name of the folded section at a row, and how much it hides."""
        assert self.parts is not None
        assert self._costs is not None
        section = self.folds.section(row)
        is_traced = self.rows is not None and self.rows.trace.has_thread_trace
        never = ", never executed" if is_traced and not self._costs.executed[section] else ""
        length = plural(int(self._costs.lines[section]), "instruction")
        return self.parts.name[section], Message("{0}{1}", length, never)

    def _folded_text(self, row: int, column: str) -> str | None:
        """Return the text of a cell of a folded row or of a label; None for the usual text."""
        if self.rows is None or self._costs is None:
            return None
        if self.is_fold(row):
            return self.sum_text(row, column)
        return "" if column == "hits" and self.rows.trace.code.is_label[row] else None

    def _longest_sum(self, column: str) -> int:
        """Return the maximum number of characters of a sum of a folded section."""
        if self.rows is None or self._costs is None or not self.is_folding:
            return 0
        first = self.folds.first[self.folds.folded].tolist()
        return max((len(self.sum_text(row, column) or "") for row in first), default=0)

    def sum_text(self, row: int, column: str) -> str | None:
        """Return the text of a cell of the folded section at a row; None for the usual text."""
        assert self.rows is not None
        assert self._costs is not None
        section = self.folds.section(row)
        if column == "text":
            return join_texts(" · ", self.fold_title(row))
        if column == "hits":
            return f"{int(self._costs.hits[section]):,}"
        if column in ("source", "reason") or (column == "cost" and not self.rows.bars.is_sum):
            return ""
        if column not in _SUMS:
            return None
        shown = self.table.columns[self.table.column_of(column)]
        part = slice(int(self.folds.first[section]), int(self.folds.stop[section]))
        real = ~self.rows.trace.code.is_label[part]
        return shown.text(np.asarray(shown.values[part])[real].sum())

    def selected_rows(self) -> list[int]:
        """Return the selected code rows; a folded section counts with all its rows."""
        rows = super().selected_rows()
        return [code for row in rows for code in self.folds.rows_of(row)] if self.is_folding else rows

    def section_at(self, position: QPoint) -> int:
        """Return the section whose triangle is at a point of the viewport, -1 if there is none."""
        if not self.is_folding or not self.table.has_column("fold"):
            return -1
        at = self.table.column_of("fold")
        inside = position.x() - self.columnViewportPosition(at)
        section = self.folds.begins(self.row_at(position.y()))
        is_there = not self.isColumnHidden(at) and 0 <= inside < TRIANGLE_PX + 2
        return section if is_there and section >= 0 and self.folds.foldable[section] else -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Handle a click on a triangle before its row does."""
        section = self.section_at(event.position().toPoint())
        if section >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.toggle(section)
            return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        position = event.position().toPoint()
        row = self.row_at(position.y())
        section = self.folds.section(row) if self.is_fold(row) else self.section_at(position)
        if section >= 0:
            self.toggle(section)
        else:
            super().mouseDoubleClickEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Fold on Left, unfold on Right the section of the current row; unfold a folded section on Return."""
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        section = self.folds.section(self.current) if self.is_folding and plain else -1
        if section < 0 or not self.folds.foldable[section]:
            super().keyPressEvent(event)
            return
        is_folded, key = bool(self.folds.folded[section]), event.key()
        if key == Qt.Key.Key_Left and not is_folded:
            self.toggle(section)
            self.chosen.emit(int(self.folds.first[section]))
        elif is_folded and key in (Qt.Key.Key_Right, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.toggle(section)
        else:
            super().keyPressEvent(event)
