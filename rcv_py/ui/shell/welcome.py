"""The pages without panels: welcome, with the five main keys, and the captures below a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLayout,
    QPushButton,
    QScrollArea,
    QTableView,
    QWidget,
)

from rcv_py.base import resources
from rcv_py.base.text import Message, byte_size, elide_left, plural, translated
from rcv_py.model.trace import CaptureEntry, capture_title
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import boxed, column, grid, row
from rcv_py.ui.core.plain_text import PlainLabel, button_text, tooltip
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.shell.opener import Opener
from rcv_py.ui.table.table_model import Column, TableModel, grouped

if TYPE_CHECKING:  # it imports modules for whole libraries
    from rcv_py.analysis.overview.library import LibraryRow

NOT_DECODED = "Raw files: opening decodes them."
RECENT_SHOWN = 6
PATH_LETTERS = 64
CARD_PX = 620
KEYS = (
    ("Ctrl+K", "find any command, instruction, wave or source file"),
    ("W A S D", "zoom and move in time; the wheel zooms about the mouse"),
    ("F  ·  0", "fit the selection; fit everything"),
    (",  .  ·  [  ]", "previous and next instruction; previous and next time a line ran"),
    ("?", "all keys"),
)


class EnterButton(QPushButton):
    """A button that Return presses too: outside of dialogs Qt only uses Space."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


class Welcome(QScrollArea):
    """Open, recent captures, samples, keys.  A folder can be dropped anywhere on it."""

    def __init__(self, ui: UiContext, opener: Opener, browse: Callable[[], None]) -> None:
        super().__init__()
        self._ui = ui
        self._opener = opener
        self.setObjectName("welcome")
        self.setAccessibleName(translated("Welcome"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        title = PlainLabel("rcv")
        font = title.font()
        font.setPointSize(font.pointSize() * 2)
        font.setBold(True)
        title.setFont(font)
        about = "Instruction-level thread traces of AMD GPUs: where the cycles went, and why."
        self._lists = column(spacing=2)
        around = column(title, PlainLabel(about, role="muted", wordWrap=True), spacing=8)
        around.insertStretch(0, 2)
        around.addSpacing(8)
        around.addWidget(self._drop_target(browse))
        around.addSpacing(8)
        around.addLayout(self._lists)
        around.addSpacing(16)
        around.addWidget(PlainLabel("Keys worth knowing", role="heading"))
        keys = [(PlainLabel(keys), PlainLabel(text, role="muted", wordWrap=True)) for keys, text in KEYS]
        around.addLayout(grid(keys, across=16, down=4))
        around.addStretch(3)
        card = boxed(around)
        card.setMaximumWidth(CARD_PX)
        page = boxed(row(None, (card, 8), None, margins=(9, 9, 9, 9), spacing=6))
        page.setObjectName("welcome")
        self.setWidget(page)
        opener.recent_changed.connect(self.refresh)
        ui.theme.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the current recent captures and samples."""
        _clear(self._lists)
        self.links: list[QPushButton] = []
        self._section("Recent", self._opener.recent[:RECENT_SHOWN])
        self._section("Samples", list(resources.samples()))

    def _drop_target(self, browse: Callable[[], None]) -> QWidget:
        target = QFrame()
        target.setObjectName("drop_target")
        self.open = EnterButton(translated("Open a folder …"))
        self.open.setDefault(True)
        self.open.setToolTip(tooltip("Open a ui_output folder, or a folder that holds several  (Ctrl+O)"))
        self.open.clicked.connect(browse)
        text = (
            "or drop one here: a ui_output_agent_…_dispatch_… folder, a folder with .att files, the folder"
            " above several, or a file: .att, .rcvz or the database of a run."
        )
        hint = PlainLabel(text, role="muted", wordWrap=True)
        row(self.open, (hint, 1), margins=(16, 16, 16, 16), spacing=16, of=target)
        return target

    def _section(self, title: str, paths: list[Path]) -> None:
        if not paths:
            return
        self._lists.addSpacing(8)
        self._lists.addWidget(PlainLabel(title, role="heading"))
        for path in paths:
            link = EnterButton(button_text(self._opener.title(path)))
            link.setProperty("link", "true")
            link.setCursor(Qt.CursorShape.PointingHandCursor)
            link.setIcon(icon(self._ui.theme, "folder", "accent"))
            link.setToolTip(tooltip(str(path)))
            link.clicked.connect(partial(self._opener.open, path))
            parent = PlainLabel(elide_left(str(path.parent), PATH_LETTERS), role="muted")
            self._lists.addLayout(row(link, (parent, 1), spacing=12))
            self.links.append(link)


def _clear(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            _clear(inner)


class Chooser(QWidget):
    """Name, kernel and health of every capture found; a placeholder gives its reason."""

    chosen = Signal(object)  # path

    def __init__(self, back: Callable[[], None]) -> None:
        super().__init__()
        self.setObjectName("chooser")
        self.setAccessibleName(translated("Captures in a folder"))
        self.entries: tuple[CaptureEntry, ...] = ()
        self.health: dict[Path, str] = {}
        self.title = PlainLabel(role="heading")
        self.model = TableModel(self)
        self.table = QTableView(sortingEnabled=True, showGrid=False)
        self.table.setModel(self.model)
        self.table.setAccessibleName(translated("Captures"))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setAlternatingRowColors(True)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(grown(22))
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.table.activated.connect(self._open)
        self.table.doubleClicked.connect(self._open)
        self.open_button = EnterButton("Open")
        self.open_button.setToolTip(tooltip("Open the chosen capture; so does a double-click."))
        self.open_button.clicked.connect(lambda: self._open(self.table.currentIndex()))
        back_button = EnterButton("Back")
        back_button.clicked.connect(back)
        buttons = row(self.open_button, back_button, None, spacing=6)
        column(self.title, self.table, buttons, margins=(24, 16, 24, 16), spacing=8, of=self)

    def show_entries(self, folder: Path, entries: tuple[CaptureEntry, ...]) -> None:
        """Show the captures found below a folder."""
        self.entries, self.health = entries, {}
        self.title.setText(Message("{0} in {1}", plural(len(entries), "capture"), folder))
        self.model.set_columns(columns(entries))
        for place, shown in enumerate(self.model.columns):
            self.table.setColumnWidth(place, shown.width)
        good = [at for at, entry in enumerate(entries) if not entry.note]
        self.table.setCurrentIndex(self.model.index(self.model.view_row(good[0]) if good else 0, 0))
        self.table.setFocus()

    def show_health(self, rows: Sequence[LibraryRow]) -> None:
        """Show how far each capture can be trusted, as soon as that is known."""
        self.health = {row.path: row.health for row in rows if not row.error}
        self.model.set_columns(columns(self.entries, self.health))

    def _open(self, index: QModelIndex) -> None:
        at = self.model.data_row(index.row())
        if at >= 0:
            self.chosen.emit(self.entries[at].path)


def columns(
    entries: tuple[CaptureEntry, ...], health: Mapping[Path, str] | None = None
) -> tuple[Column, ...]:
    """Return the table of captures; `health` holds the known headlines by path."""
    known = health or {}
    said = [entry.note or known.get(entry.path, NOT_DECODED if entry.is_part else "") for entry in entries]

    def numbers(
        name: str, title: str, values: Iterable[int], tip: str, text: Callable[[Any], str] = grouped
    ) -> Column:
        cells = np.array(list(values), dtype=np.int64)
        return Column(
            id=name,
            title=title,
            values=cells,
            text=lambda value: text(value) if value >= 0 else "",
            is_number=True,
            width=max(76, 9 * len(title)),
            tip=tip,
        )

    names, kernels = ([entry.name for entry in entries], [entry.kernel for entry in entries])
    titles = [capture_title(entry.path, entry.kernel) for entry in entries]
    return (
        Column("title", "Capture", titles, width=260, tip="Kernel, dispatch and the folders above."),
        Column("kernel", "Kernel", kernels, width=150, tip="The kernel with most traced cycles."),
        numbers("agent", "Agent", (e.agent for e in entries), "Number of the GPU.", str),
        numbers("dispatch", "Dispatch", (e.dispatch for e in entries), "Number of the launch.", str),
        numbers("cycles", "Duration", (e.cycles for e in entries),
                "Cycles from the first to the last time that anything is known of."),
        numbers("size", "Size", (e.size for e in entries), "Files of waves, or the only file.", byte_size),
        Column("recorded", "Recorded", [e.recorded for e in entries], width=140,
               tip="When its files were written."),
        Column("note", "Health", said, width=250, tip="Why it cannot be opened, or what to know of it."),
        numbers("waves", "Waves", (-1 if e.is_part else e.waves for e in entries),
                "Waves with instructions."),
        numbers("instructions", "Instructions", (e.instructions for e in entries),
                "Instructions of the code, labels apart."),
        numbers("executed", "Executed", (e.executed for e in entries),
                "Instructions that ran at least once."),
        numbers("mapped", "With source", (-1 if e.is_part else e.mapped for e in entries),
                "Instructions that have a source line."),
        numbers("latency", "Latency", (e.latency for e in entries),
                "Cycles of stall plus issue, all traced waves."),
        Column("name", "Folder", names, width=260, tip="Name of the folder."),
    )  # fmt: skip
