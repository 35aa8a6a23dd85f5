"""The command palette: one field for commands, settings, instructions, labels, waves, files and paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice, takewhile
from pathlib import Path, PurePosixPath
from typing import TypeVar
from urllib.parse import unquote

import numpy as np
from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFrame, QLineEdit, QListView, QStyledItemDelegate, QWidget

from rcv_py.analysis.cost.place_text import beside
from rcv_py.base.record import Record, Value
from rcv_py.base.settings import OPTIONS
from rcv_py.base.text import MAX_DIGITS, Message, translated
from rcv_py.model.code import SourceFile
from rcv_py.model.trace import Trace
from rcv_py.state.commands import Command, Commands
from rcv_py.state.selection import SelectedPlace
from rcv_py.state.session import Session
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.place_go import go_to_place
from rcv_py.ui.core.plain_text import MIDDLE_LEFT, MIDDLE_RIGHT, draw_text, named, shown, tooltip
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.shell.menus import shown_keys
from rcv_py.ui.shell.opener import Opener
from rcv_py.ui.table.table_model import Index

Thing = TypeVar("Thing")

LIMIT_EACH = 12
LOOSEST_FIT = 240  # letters further apart than this are in the text by accident
WORDS_FIT = 400  # all words in the menu, the title or the tip of a command
WAVE_QUERY = re.compile(r"(se|simd|slot|wave|wv)\s*(\d{0,9})(?:[\s/·,:]+|$)", re.ASCII | re.IGNORECASE)
SOURCE_LINE = re.compile(
    r'(?:File\s")?(?P<path>[^:"]*?)"?(?:(?::|,\sline\s|\()(?P<line>\d{1,9})\)?)?', re.ASCII
)
CODE_ROWS = 60_000  # further items are not searched: a key press must be answered at once


class Item(Value):
    """A selectable entry."""

    title: str
    icon: str
    run: Callable[[], None]
    note: str = ""
    tip: str = ""
    why_not: str = ""
    is_code: bool = False


def fit(text: str, wanted: str) -> int:
    """Return how well `wanted` fits a text: 0 not at all; a substring beats letters in order."""
    if not wanted:
        return 1
    low, wanted = text.casefold(), wanted.casefold()
    at = low.find(wanted)
    if at >= 0:
        starts_word = at == 0 or not low[at - 1].isalnum()
        return 1000 + 500 * starts_word + 200 * (at == 0) - min(len(low), 190)
    score, place = 300, -1
    for letter in wanted.replace(" ", ""):
        here = low.find(letter, place + 1)
        if here < 0:
            return 0
        starts_word = here == 0 or not low[here - 1].isalnum()
        score -= min(here - place - 1, 20) * (1 if starts_word else 4)
        place = here
    return score if score >= LOOSEST_FIT else 0


def has_words(text: str, wanted: str) -> bool:
    """Return whether a text has every word of `wanted`, in any order."""
    low = text.casefold()
    return all(word in low for word in wanted.casefold().split())


class Finder(Record):
    """Finds entries of all sorts for a text."""

    session: Session
    commands: Commands
    opener: Opener
    change_setting: Callable[[str], None]  # shows the option of that name

    def find(self, text: str) -> tuple[Item, ...]:
        """Return the best entries: places, paths, commands and settings, then what is in the capture.

        Labels and source files come best fit first, waves and instructions by falling cost.  If nothing fits,
        the only entry says so.
        """
        text = text.strip()
        trace = self.session.trace.value
        results = [*self._places(text), *self._paths(text), *self._command_items(text), *self._settings(text)]
        if trace is not None and text:
            for items in (self._labels, self._sources, self._waves, self._code):
                results += islice(items(trace, text), LIMIT_EACH)
        if not results and text:
            results = [Item(Message("Nothing fits “{0}”", text), "search", lambda: None, why_not=SEARCHED)]
        return tuple(results)

    def _paths(self, text: str) -> Iterator[Item]:
        """Yield the file or folder that a pasted path names."""
        name = unquote(text.removeprefix("file://")) if text.startswith("file://") else text.strip("\"'")
        path = Path(name)
        if name.startswith("~/"):
            path = path.expanduser()
        if path.is_absolute() and path.exists():
            run = partial(self.opener.open, path)
            yield Item(Message("Open {0}", str(path)), "folder", run, tip=str(path))

    def _settings(self, text: str) -> Iterator[Item]:
        if not text:
            return
        for option in OPTIONS:
            words = " ".join((translated(option.text), option.name, option.text, *option.choices))
            if has_words(words, text):
                run = partial(self.change_setting, option.name)
                yield Item(option.text, "settings", run, note=Message("Settings › {0}", option.name))

    def _places(self, text: str) -> Iterator[Item]:
        trace = self.session.trace.value
        if trace is None or not text:
            return
        number = re.sub(r"^:?(line|instruction)\b|^#", "", text).strip()
        is_number = re.fullmatch(rf"\d{{1,{MAX_DIGITS}}}", number, re.ASCII)
        if is_number and (row := int(number)) < len(trace.code):
            title = Message("Go to instruction {0}: {1}{2}", row, trace.code.text[row], beside(trace, row))
            yield Item(title, "place", partial(self.session.select_line, row))
        elif (place := place_in(trace, text)) is not None:
            yield Item(Message("Go to {0}", place), "place", partial(go_to_place, self.session, place))

    def _command_items(self, text: str) -> Iterator[Item]:
        for command in best(self.commands, _fit_command, text, 40):
            run = partial(self.commands.run, command.id)
            note = "  ".join(filter(None, (command.menu.replace("/", " › "), shown_keys(command))))
            tip, why_not = command.tip, command.why_not()
            yield Item(command.title, "command", run, note=note, tip=tip, why_not=why_not)
        named = [(Message("Open {0}", self.opener.title(path)), path) for path in self.opener.recent]
        for title, path in best(named, lambda pair, text: fit(f"{pair[0]} {pair[1].name}", text), text, 5):
            run = partial(self.opener.open, path)
            yield Item(title=title, icon="folder", run=run, tip=str(path))

    def _labels(self, trace: Trace, text: str) -> Iterator[Item]:
        kernels = [(kernel.demangled, kernel.first) for kernel in trace.code.kernels]
        labels = [(trace.code.text[row], row) for row in trace.code.is_label.nonzero()[0].tolist()]
        for name, row in best(kernels or labels, lambda pair, text: fit(pair[0], text), text, LIMIT_EACH):
            run = partial(self.session.select_line, row)
            yield Item(name, "label", run, note=Message("instruction {0}", row))

    def _sources(self, trace: Trace, text: str) -> Iterator[Item]:
        """Yield source files by name, or by a pasted path of any machine, with the line after it."""
        named = SOURCE_LINE.fullmatch(text)
        wanted = PurePosixPath(named["path"].replace("\\", "/")) if named else PurePosixPath(text)
        at = int(named["line"]) if named and named["line"] else None

        def fit_file(pair: tuple[int, SourceFile], name: str) -> int:
            path = PurePosixPath(pair[1].path)
            ends = zip(path.parts[::-1], wanted.parts[::-1], strict=False)
            same = takewhile(lambda both: both[0] == both[1], ends)
            return 2000 * len(list(same)) or fit(path.name, name)

        for number, file in best(list(enumerate(trace.sources)), fit_file, wanted.name, LIMIT_EACH):
            name = PurePosixPath(file.path).name
            run = partial(self.session.select_source, number, first_line(trace, number) if at is None else at)
            yield Item(f"{name}:{at}" if at is not None else name, "file", run, note=file.path)

    def _waves(self, trace: Trace, text: str) -> Iterator[Item]:
        """Yield the waves of an engine, SIMD, slot or ordinal such as "se1 simd2", the longest first."""
        if not WAVE_QUERY.match(text) or WAVE_QUERY.sub("", text):
            return
        waves = trace.waves
        columns = {"se": waves.se, "simd": waves.simd, "slot": waves.slot, "wave": waves.wid, "wv": waves.wid}
        found = np.ones(len(waves), dtype=bool)
        for part, number in WAVE_QUERY.findall(text):
            if number:
                found &= columns[part.lower()] == int(number)
        rows = np.flatnonzero(found)
        for row in rows[np.argsort((waves.begin - waves.end)[rows], kind="stable")].tolist():
            wave = waves.id(row)
            length = Message("{0:,} cycles", waves.span(row).width)
            yield Item(str(wave), "wave", partial(self.session.select_wave, wave), note=length)

    def _code(self, trace: Trace, text: str) -> Iterator[Item]:
        """Yield the instructions with a text, the most expensive first."""
        wanted, code = text.casefold(), trace.code
        rows = [row for row, line in enumerate(code.text[:CODE_ROWS]) if wanted in line.casefold()]
        for row in sorted(rows, key=lambda row: -code.latency[row]):
            place = Message("instruction {0}", row)
            cost = int(code.latency[row])
            note = Message("{0:,} cycles · {1}", cost, place) if cost > 0 else place
            run = partial(self.session.select_line, row)
            yield Item(code.text[row], "line", run, note=note, is_code=True)


SEARCHED = "Commands, settings, instructions, labels, waves, source files and paths were searched."
Fit = Callable[[Thing, str], int]  # how well a text fits an object; 0: not at all


def best(things: Iterable[Thing], fits: Fit[Thing], wanted: str, limit: int) -> list[Thing]:
    """Return the objects that a text fits, best first, equal fits in their original order."""
    scored = [(score, thing) for thing in things if (score := fits(thing, wanted)) > 0]
    return [thing for _, thing in sorted(scored, key=lambda pair: -pair[0])[:limit]]


def _fit_command(command: Command, wanted: str) -> int:
    """Return how well a text fits the title of a command, else its menu and tip, in both languages."""
    own, tip = translated(command.title), translated(command.tip)
    titles = command.title if own == command.title else f"{own} {command.title}"
    in_words = WORDS_FIT if has_words(f"{titles} {command.menu} {tip} {command.tip}", wanted) else 0
    return max(fit(titles, wanted), in_words)


def place_in(trace: Trace, text: str) -> SelectedPlace | None:
    """Return the place that a text, or an anchor of a report, names in this trace; None if it names none."""
    try:
        place = SelectedPlace.parse(text)
    except ValueError:
        return None
    return None if place.why_not(trace) else place


def first_line(trace: Trace, file: int) -> int:
    """Return the most expensive line of a source file with code, 1 if it has no code."""
    code = trace.code
    places = (code.chain_file == file).nonzero()[0]
    if not len(places):
        return 1
    rows = code.chain_first.searchsorted(places, side="right") - 1
    return max(1, int(code.chain_line[places[int(code.latency[rows].argmax())]]))


ROW_PX = 26
WIDTH_PX = 640
SHOWN = 12
MARGIN_PX = 16


class PaletteDelegate(QStyledItemDelegate):
    """Paints an entry: icon, title, and at the right its keys or place."""

    def __init__(self, palette: Palette, theme: Theme) -> None:
        super().__init__(palette)
        self._palette, self._theme = palette, theme

    def sizeHint(self, option: QtWidgets.QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(grown(WIDTH_PX), grown(ROW_PX))

    def paint(self, painter: QPainter, option: QtWidgets.QStyleOptionViewItem, index: Index) -> None:
        item, box, theme = self._palette.items[index.row()], QRect(option.rect), self._theme
        if option.state & QtWidgets.QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.role("accent_soft"))
        icon(theme, item.icon, "muted").paint(painter, box.left() + 10, box.top(), 16, box.height())
        box.adjust(36, 0, -10, 0)
        metrics = painter.fontMetrics()
        note = translated(item.why_not or item.note)
        note = metrics.elidedText(note, Qt.TextElideMode.ElideLeft, box.width() // 2)
        painter.setPen(theme.role("muted"))
        draw_text(painter, box, MIDDLE_RIGHT, note)
        box.setRight(box.right() - metrics.horizontalAdvance(note) - 16)
        painter.setPen(theme.role("muted" if item.why_not else "text"))
        if item.is_code:
            painter.setFont(theme.mono)
            metrics = painter.fontMetrics()
        words = item.title if item.is_code else translated(item.title)
        title = metrics.elidedText(words, Qt.TextElideMode.ElideRight, box.width())
        draw_text(painter, box, MIDDLE_LEFT, title)
        painter.setFont(option.font)


class Palette(QFrame):
    """A field and a list below a widget of the window; Esc or a click elsewhere closes them."""

    def __init__(self, theme: Theme, find: Callable[[str], tuple[Item, ...]], under: QWidget) -> None:
        super().__init__(under.window(), Qt.WindowType.Popup)
        self.setObjectName("palette")
        self.setAccessibleName(translated("Command palette"))
        self._find, self._under = find, under
        self.field = named(QLineEdit(), "Search or run a command")
        hint = "Command, setting, instruction, label, wave, file, path, or a place such as line 118"
        self.field.setPlaceholderText(translated(hint))
        self.items: tuple[Item, ...] = ()  # matches of the present text
        self._model = QStandardItemModel(self)
        self.list = named(QListView(), "What was found")
        self.list.setModel(self._model)
        self.list.setItemDelegate(PaletteDelegate(self, theme))
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
        """Show the palette where its widget is, within the window."""
        window = self._under.window()
        width = min(grown(WIDTH_PX), window.width() - 2 * MARGIN_PX)
        corner = self._under.mapTo(window, self._under.rect().bottomLeft())
        left = max(MARGIN_PX, min(corner.x(), window.width() - width - MARGIN_PX))
        self.setFixedWidth(width)
        self.move(window.mapToGlobal(QPoint(left, corner.y() + 2)))
        self.field.setText(text)
        self._search(text)
        self.show()
        self.field.setFocus()
        self.field.selectAll()

    def choose(self) -> None:
        """Run the chosen entry."""
        row = self.list.currentIndex().row()
        if 0 <= row < len(self.items) and not self.items[row].why_not:
            self.close()
            self.items[row].run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the keys that belong to the list from the field to the list."""
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
        last = len(self.items) - 1
        row = self.list.currentIndex().row() + step
        row = row % (last + 1) if abs(step) == 1 and last >= 0 else min(max(row, 0), last)
        self.list.setCurrentIndex(self._model.index(row, 0))
        return True

    def _search(self, text: str) -> None:
        self.items = self._find(text)
        self._model.clear()
        for item in self.items:
            row = QStandardItem(shown(item.title))
            row.setToolTip(tooltip(item.why_not or item.tip or item.title))
            self._model.appendRow(row)
        self.list.setCurrentIndex(self._model.index(0, 0))
        self.list.setFixedHeight(min(max(len(self.items), 1), SHOWN) * grown(ROW_PX) + 2)
        self.adjustSize()
