"""The page that lists the captures below a folder, to choose one to open or two to compare."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from rcv_py.base.text import Message, byte_size, count, plural, translated
from rcv_py.formats.locate import MAX_DEPTH
from rcv_py.model.trace import CaptureEntry, capture_title
from rcv_py.ui.core.layout import column, row
from rcv_py.ui.core.plain_text import PlainLabel, allow, filter_field, tooltip
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.shell.welcome import EnterButton
from rcv_py.ui.table.column_widths import ColumnWidths, Elastic, TableHeader
from rcv_py.ui.table.table_model import Column, TableModel, grouped

if TYPE_CHECKING:  # it imports modules for whole libraries
    from rcv_py.analysis.overview.library import LibraryRow

NOT_DECODED = "Raw files: opening decodes them."
TWO = "Select two captures that can be opened, with Ctrl and a click."
LONG_NAME, LEAST_COMMON = 32, 8  # letters of a name, and letters of all names, that are worth an ellipsis
NAME_PX, KERNEL_PX, FINDING_PX, HEALTH_PX = 420, 260, 360, 400  # at most
ELASTIC = Elastic("finding", "name", FINDING_PX, FINDING_PX, upto_max_px=HEALTH_PX)


class Chooser(QWidget):
    """What is known of every capture found; a placeholder gives its reason."""

    chosen = Signal(object)  # path
    compared = Signal(object, object)  # paths of a capture and its baseline
    deeper = Signal(object, int)  # folder, and how many levels below it to look

    def __init__(self, back: Callable[[], None], theme: Theme) -> None:
        super().__init__()
        self.setObjectName("chooser")
        self.setAccessibleName(translated("Captures in a folder"))
        self.folder, self.levels = Path(), MAX_DEPTH
        self.entries: tuple[CaptureEntry, ...] = ()
        self.known: dict[Path, LibraryRow] = {}
        self.title = PlainLabel(role="heading")
        self.model = TableModel(self)
        self.filter = filter_field("Filter captures")
        self.filter.textChanged.connect(self._filter)
        self.filter.returnPressed.connect(self._open_current)
        self.table = QTableView(showGrid=False, wordWrap=False)
        self.table.setModel(self.model)
        header = TableHeader(self.table, self.model, theme)
        header.fixed = frozenset({"title"})
        self.table.setHorizontalHeader(header)
        self.table.setSortingEnabled(True)
        self.widths = ColumnWidths(self.table, header, self.model)
        self.widths.floor_px, self.widths.grows = FINDING_PX // 2, "note"
        self.table.setAccessibleName(translated("Captures"))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setAlternatingRowColors(True)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(grown(22))
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.table.activated.connect(self._open)
        self.table.doubleClicked.connect(self._open)
        self.table.selectionModel().selectionChanged.connect(self._allow)
        tip = "Open the chosen capture; so does a double-click."
        self.open_button = EnterButton("Open", self._open_current, tip)
        self.compare_button = EnterButton("Compare these two", self._compare)
        deeper = self.deeper.emit
        self.deeper_button = EnterButton("Look deeper", lambda: deeper(self.folder, 2 * self.levels))
        buttons = (self.open_button, self.compare_button, self.deeper_button, EnterButton("Back", back))
        below = row(*buttons, None, spacing=6)
        column(self.title, self.filter, self.table, below, margins=(24, 16, 24, 16), spacing=8, of=self)

    def show_entries(self, folder: Path, entries: tuple[CaptureEntry, ...], depth: int = MAX_DEPTH) -> None:
        """Show the captures found in a folder and up to `depth` levels below it."""
        self.folder, self.levels = folder, depth
        self.entries, self.known = entries, {}
        title = Message("{0} in {1}", plural(len(entries), "kernel"), folder)  # of a compiled file
        if folder.is_dir():
            found = plural(len(entries), "capture")
            title = Message("{0} in {1} and up to {2} below it", found, folder, plural(depth, "folder"))
        self.title.setText(title)
        self.deeper_button.setVisible(folder.is_dir())
        tip = Message("Look up to {0} folders below {1}.", count(2 * depth), folder)
        self.deeper_button.setToolTip(tooltip(tip))
        self.filter.clear()
        self._show()
        good = [at for at, entry in enumerate(entries) if not entry.note]
        self.table.setCurrentIndex(self.model.index(self.model.view_row(good[0]) if good else 0, 0))
        self.table.setFocus()
        self._allow()

    def show_known(self, rows: Sequence[LibraryRow]) -> None:
        """Show what opening these captures found: numbers, health, class and first finding."""
        self.known |= {row.path: row for row in rows if not row.error}
        self._show()

    def _show(self) -> None:
        shown = columns(self.entries, self.known, self.folder)
        names = [one.id for one in shown]
        details = names[names.index("note") + 1 :]  # they give way, the last first
        self.widths.elastic = replace(ELASTIC, yields=tuple(reversed(details)))
        self.model.set_columns(shown)
        self.widths.apply(self.table.fontMetrics().horizontalAdvance("0"))
        for place, one in enumerate(shown[:2]):  # names: as wide as they need
            needed = self.table.sizeHintForColumn(place) + 12
            self.widths.give(one.id, min(max(120, needed), grown(one.width)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.widths.stretch()

    def _filter(self) -> None:
        words = self.filter.text().casefold().split()
        places, rows = range(len(self.model.columns)), []
        for at in range(len(self.entries)):
            text = " ".join(self.model.text(at, place) for place in places).casefold()
            if all(word in text for word in words):
                rows.append(at)
        self.model.set_filter(np.array(rows, dtype=np.int64) if words else None)
        if rows and self.table.currentIndex().row() < 0:
            self.table.selectRow(0)

    def _selected(self) -> list[CaptureEntry]:
        rows = {self.model.data_row(index.row()) for index in self.table.selectionModel().selectedRows()}
        return [self.entries[at] for at in sorted(rows) if 0 <= at < len(self.entries)]

    def _allow(self) -> None:
        pair = _pair(self._selected())
        titles = [entry.title for entry in pair or ()]
        tip = Message("Open {0}, with {1} as its baseline.", *titles) if pair else ""
        self.compare_button.setToolTip(tooltip(tip))
        allow(self.compare_button, "" if pair is not None else TWO)

    def _compare(self) -> None:
        if (pair := _pair(self._selected())) is not None:
            self.compared.emit(pair[0].path, pair[1].path)

    def _open_current(self) -> None:
        self._open(self.table.currentIndex())

    def _open(self, index: QModelIndex) -> None:
        at = self.model.data_row(index.row())
        if at >= 0:
            self.chosen.emit(self.entries[at].path)


def _pair(entries: Sequence[CaptureEntry]) -> tuple[CaptureEntry, CaptureEntry] | None:
    """Return two captures, the one recorded later first; None unless there are two that can be opened."""
    if len(entries) != 2 or any(entry.note for entry in entries):
        return None
    before, after = sorted(entries, key=lambda entry: entry.recorded)
    return after, before


def distinct_names(entries: Sequence[CaptureEntry], folder: Path) -> list[str]:
    """Return a different name for each capture: its path below a folder without what all paths share."""
    has_one_gpu = len({entry.agent for entry in entries}) == 1
    parts = [_parts(entry, folder, has_one_gpu) for entry in entries]
    while len(parts) > 1 and all(len(one) > 1 for one in parts) and len({one[0] for one in parts}) == 1:
        parts = [one[1:] for one in parts]
    while len(parts) > 1 and all(len(one) > 1 for one in parts) and len({one[-1] for one in parts}) == 1:
        parts = [one[:-1] for one in parts]
    if len(parts) < 2:
        return [capture_title(entry.path, entry.kernel) for entry in entries]
    short = [
        one[:-1] if entry.dispatch >= 0 and len(one) > 1 else one
        for entry, one in zip(entries, parts, strict=True)
    ]
    parts = short if len({tuple(one) for one in short}) == len(parts) else parts  # the launch has a column
    names = [" · ".join(reversed(one)) for one in parts]
    if max(map(len, names)) <= LONG_NAME:
        return names
    first = len(re.sub(r"[^\W_]*$", "", _common(names)))
    backwards = _common([name[first:][::-1] for name in names])
    last = len(re.sub(r"[^\W_]*$", "", backwards))
    first, last = (length if length >= LEAST_COMMON else 0 for length in (first, last))
    return [("…" if first else "") + name[first : len(name) - last] + ("…" if last else "") for name in names]


def _common(texts: Sequence[str]) -> str:
    """Return the letters with which all texts begin."""
    pairs = zip(min(texts), max(texts), strict=False)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _parts(entry: CaptureEntry, folder: Path, has_one_gpu: bool) -> list[str]:
    """Return the folders between a folder and a capture, the capture's own by its dispatch if named so."""
    try:
        parts = list(entry.path.relative_to(folder).parts)
    except ValueError:
        parts = list(entry.path.parts)
    if entry.dispatch >= 0 and has_one_gpu and not entry.is_part:
        parts[-1] = translated(Message("dispatch {0}", entry.dispatch))
    return parts or [entry.name]


def columns(
    entries: tuple[CaptureEntry, ...], known: Mapping[Path, LibraryRow], folder: Path
) -> tuple[Column, ...]:
    """Return the table of captures, without empty columns; `known` is what opening them found, by path."""
    rows = [known.get(entry.path) for entry in entries]

    def texts(name: str, title: str, values: Iterable[str], tip: str, width: int = 150) -> Column:
        cells = list(values)
        return Column(name, title, cells, width=width, tip=tip, tips=cells)

    def numbers(
        name: str, title: str, values: Iterable[int], tip: str, text: Callable[[Any], str] = grouped
    ) -> Column:
        def known_text(value: Any) -> str:
            return text(value) if value >= 0 else ""

        cells, width = np.array(list(values), dtype=np.int64), max(76, 8 * len(title) + 12)
        return Column(name, title, cells, text=known_text, is_number=True, width=width, tip=tip)

    health = [
        entry.note or (NOT_DECODED if entry.is_part else "" if known is None else known.health)
        for entry, known in zip(entries, rows, strict=True)
    ]
    found = (
        Column(
            "title", "Capture", distinct_names(entries, folder), width=NAME_PX,
            tip="What differs between the captures: folders, dispatch.",
            tips=[f"{entry.title}\n{entry.path}" for entry in entries],
        ),
        texts("kernel", "Kernel", (entry.kernel for entry in entries), "The kernel with most traced cycles.",
              KERNEL_PX),
        texts("class", "Class", ("" if row is None else row.bound for row in rows),
              "What limits the kernel.", 110),
        texts("finding", "First finding", ("" if row is None else row.finding for row in rows),
              "The finding with most to gain.", FINDING_PX),
        numbers("duration", "Duration (cycles)", (-1 if row is None else row.span for row in rows),
                "Cycles from the first start of a wave to the last end."),
        numbers("waves", "Waves", (-1 if e.is_part else e.waves for e in entries),
                "Waves with instructions."),
        texts("note", "Health", health, "Why it cannot be opened, or what to know of it.", 200),
        numbers("agent", "Agent", (e.agent for e in entries), "Number of the GPU.", str),
        numbers("dispatch", "Dispatch", (e.dispatch for e in entries), "Number of the launch.", str),
        numbers("size", "Size", (e.size for e in entries), "Files of waves, or the only file.", byte_size),
        texts("recorded", "Recorded", (e.recorded for e in entries), "When its files were written.", 140),
        numbers("instructions", "Instructions", (e.instructions for e in entries),
                "Instructions of the code, labels apart."),
        numbers("executed", "Executed", (e.executed for e in entries),
                "Instructions that ran at least once."),
        numbers("mapped", "With source", (-1 if e.is_part else e.mapped for e in entries),
                "Instructions that have a source line."),
        numbers("latency", "Latency (wave cycles)", (e.latency for e in entries),
                "Cycles of stall plus issue, summed over all traced waves."),
        texts("name", "Folder", (entry.name for entry in entries), "Name of the folder.", 260),
    )  # fmt: skip
    late = {"class", "finding", "duration", "note"}  # known later: they keep their place
    unknown = ("", -1)
    return tuple(one for one in found if one.id in late or any(value not in unknown for value in one.values))
