"""The captures below a folder as a table; a double-click opens one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QPushButton, QTableView, QWidget

from rcv_py.analysis.overview.library import LibraryRow
from rcv_py.base.text import plural
from rcv_py.model.trace import CaptureEntry
from rcv_py.ui.core.layout import column, row
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.table.table_model import Column, TableModel, grouped


class Chooser(QWidget):
    """Name, kernel and health of every capture found; placeholders say why they are."""

    chosen = Signal(object)  # path

    def __init__(self, back: Callable[[], None]) -> None:
        super().__init__()
        self.setObjectName("chooser")
        self.setAccessibleName("Captures in a folder")
        self.entries: tuple[CaptureEntry, ...] = ()
        self.health: dict[Path, str] = {}
        self.title = PlainLabel(role="heading")
        self.model = TableModel(self)
        self.table = QTableView(sortingEnabled=True, showGrid=False)
        self.table.setModel(self.model)
        self.table.setAccessibleName("Captures")
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setAlternatingRowColors(True)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(22)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.table.activated.connect(self._open)
        self.table.doubleClicked.connect(self._open)
        self.open_button = QPushButton("Open")
        self.open_button.setToolTip("Open the chosen capture; so does a double-click.")
        self.open_button.clicked.connect(lambda: self._open(self.table.currentIndex()))
        back_button = QPushButton("Back")
        back_button.clicked.connect(back)
        buttons = row(self.open_button, back_button, None, spacing=6)
        column(self.title, self.table, buttons, margins=(24, 16, 24, 16), spacing=8, of=self)

    def show_entries(self, folder: Path, entries: tuple[CaptureEntry, ...]) -> None:
        """Show what was found below a folder."""
        self.entries, self.health = entries, {}
        self.title.setText(f"{plural(len(entries), 'capture')} in {folder}")
        self.model.set_columns(columns(entries))
        for place, shown in enumerate(self.model.columns):
            self.table.setColumnWidth(place, shown.width)
        good = [at for at, entry in enumerate(entries) if not entry.note]
        self.table.setCurrentIndex(self.model.index(self.model.view_row(good[0]) if good else 0, 0))
        self.table.setFocus()

    def show_health(self, rows: Sequence[LibraryRow]) -> None:
        """Say of each capture how far it can be trusted, as soon as that is known."""
        self.health = {row.path: row.health for row in rows if not row.error}
        self.model.set_columns(columns(self.entries, self.health))

    def _open(self, index: QModelIndex) -> None:
        at = self.model.data_row(index.row())
        if at >= 0:
            self.chosen.emit(self.entries[at].path)


def columns(
    entries: tuple[CaptureEntry, ...], health: Mapping[Path, str] | None = None
) -> tuple[Column, ...]:
    """Return the table of captures; `health` has headlines by path, as far as they are known."""
    known = health or {}
    said = [entry.note or known.get(entry.path, "") for entry in entries]

    def numbers(name: str, title: str, values: Iterable[int], tip: str) -> Column:
        cells = np.array(list(values), dtype=np.int64)
        return Column(name, title, cells, grouped, is_number=True, width=100, tip=tip)

    names, kernels = ([entry.name for entry in entries], [entry.kernel for entry in entries])
    return (
        Column("name", "Capture", names, width=300, tip="Name of the folder."),
        Column("kernel", "Kernel", kernels, width=240, tip="The kernel with most traced cycles."),
        numbers("waves", "Waves", (e.waves for e in entries), "Waves with instructions."),
        numbers("instructions", "Instructions", (e.instructions for e in entries),
                "Instructions of the code, labels apart."),
        numbers("executed", "Executed", (e.executed for e in entries),
                "Instructions that ran at least once."),
        numbers("mapped", "With source", (e.mapped for e in entries),
                "Instructions that have a source line."),
        numbers("latency", "Latency, cycles", (e.latency for e in entries),
                "Stall plus issue, all traced waves."),
        Column("note", "Health", said, width=200, tip="Why it cannot be opened, or what to know of it."),
    )  # fmt: skip
