"""How wide the columns of a table are: what they need, one of them elastic, the user's wish above all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QTableView

from rcv_py.ui.table.table_model import Column, TableModel

PAD = 6  # px left and right of a cell's text


@dataclass(frozen=True, slots=True)
class Elastic:
    """The column that takes the room left by the others up to the column `upto`.

    While there is less room than `least`, the columns `yields` are hidden, the first one first.  Room beyond
    `most` goes to `upto` itself, until that is `upto_most` wide (0: it does not grow).
    """

    column: str
    upto: str
    least: int  # px
    most: int  # px
    yields: tuple[str, ...] = ()
    upto_most: int = 0  # px


class ColumnWidths:
    """Gives columns their widths and remembers which ones the user changed."""

    def __init__(self, view: QTableView, model: TableModel) -> None:
        self.elastic: Elastic | None = None
        self._view, self._model = view, model
        self._is_ours = False  # a change that is not the user's
        self._by_hand: set[str] = set()
        self._yielded: set[str] = set()  # hidden by us for want of room
        view.horizontalHeader().sectionResized.connect(self._resized)

    def remember(self) -> dict[str, tuple[int, bool]]:
        """Return width and whether it is hidden of each column that exists."""
        view = self._view
        return {
            column.id: (view.columnWidth(at), view.isColumnHidden(at) and column.id not in self._yielded)
            for at, column in enumerate(self._model.columns)
        }

    def apply(self, columns: Sequence[Column], before: dict[str, tuple[int, bool]], char_px: float) -> None:
        """Give new columns what they need, and those the user changed what they had in `before`."""
        self._is_ours = True
        for at, column in enumerate(columns):
            width, is_hidden = before.get(column.id, (0, False))
            width = width if column.id in self._by_hand else 0
            self._view.setColumnHidden(at, is_hidden)
            self._view.setColumnWidth(at, width or self._needed(column, char_px))
        self._is_ours = False
        self.stretch()

    def grow(self, columns: Sequence[Column], char_px: float) -> None:
        """Widen columns whose numbers have become longer; none gets narrower under the reader's eyes."""
        self._is_ours = True
        for at, column in enumerate(columns):
            if column.id not in self._by_hand and not self._view.isColumnHidden(at):
                self._view.setColumnWidth(at, max(self._view.columnWidth(at), self._needed(column, char_px)))
        self._is_ours = False
        self.stretch()

    def save(self) -> dict[str, list[str]]:
        """Return which columns have the user's width, and which are hidden only for want of room."""
        return {"by_hand": sorted(self._by_hand), "yielded": sorted(self._yielded)}

    def load(self, state: object, load_header: Callable[[], None], char_px: float) -> None:
        """Take back what `save` returned, around the header that takes back its own.

        Widths that came from another size of the window are not the user's: they are found anew.
        """
        kept = state if isinstance(state, dict) else {}
        self._is_ours = True
        load_header()
        self._by_hand = _names(kept.get("by_hand"))
        self._yielded = _names(kept.get("yielded"))
        for at, column in enumerate(self._model.columns):
            if column.id not in self._by_hand and not self._view.isColumnHidden(at):
                self._view.setColumnWidth(at, self._needed(column, char_px))
        self._show_yielded()
        self._is_ours = False
        self.stretch()

    def stretch(self) -> None:
        """Give the elastic column the room that the others leave, unless the user gave it a width."""
        if self.elastic is None or self.elastic.column in self._by_hand:
            return
        if not all(map(self._model.has_column, (self.elastic.column, self.elastic.upto))):
            return
        at, last = self._model.column_of(self.elastic.column), self._model.column_of(self.elastic.upto)
        self._is_ours = True
        self._show_yielded()
        grows = self.elastic.upto_most > 0 and self.elastic.upto not in self._by_hand
        if grows:
            self._view.setColumnWidth(last, self._model.columns[last].width)
        room = self._room(at, last)
        for name in filter(self._model.has_column, self.elastic.yields):
            place = self._model.column_of(name)
            if room >= self.elastic.least or self._view.isColumnHidden(place):
                continue
            self._view.setColumnHidden(place, True)
            self._yielded.add(name)
            room = self._room(at, last)
        width = min(max(room, self.elastic.least), self.elastic.most)
        self._view.setColumnWidth(at, width)
        if grows and room > width:
            own = self._model.columns[last].width
            self._view.setColumnWidth(last, min(own + room - width, max(own, self.elastic.upto_most)))
        self._is_ours = False

    def _room(self, at: int, last: int) -> int:
        others = sum(self._view.columnWidth(i) for i in range(last + 1) if i != at)
        return self._view.viewport().width() - others

    def _show_yielded(self) -> None:
        for name in filter(self._model.has_column, self._yielded):
            self._view.setColumnHidden(self._model.column_of(name), False)
        self._yielded.clear()

    def _needed(self, column: Column, char_px: float) -> int:
        metrics = QFontMetrics(self._view.horizontalHeader().font())
        title = metrics.horizontalAdvance(column.title) + 2 * PAD + 4
        if column.is_left or not (
            column.is_number and isinstance(column.values, np.ndarray) and len(column.values)
        ):
            return max(column.width, title)
        widest = max(len(column.text(value)) for value in (column.values.max(), column.values.min()))
        return max(column.width, title, round(widest * char_px) + 2 * PAD + 2)

    def _resized(self, at: int, old: int, new: int) -> None:
        if not self._is_ours and 0 <= at < len(self._model.columns) and old and new:
            self._by_hand.add(self._model.columns[at].id)


def _names(saved: object) -> set[str]:
    return {name for name in saved if isinstance(name, str)} if isinstance(saved, list) else set()
