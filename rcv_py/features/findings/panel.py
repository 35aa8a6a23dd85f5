"""The list of findings: patterns that cost cycles, with evidence one click away and a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from types import MappingProxyType
from typing import Self

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    QUrl,
    Signal,
)
from PySide6.QtGui import (
    QCursor,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QLayout,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.findings.finding import (
    LEGEND,
    RANKED,
    SAMPLES,
    Evidence,
    Finding,
    Findings,
    KeyNumber,
    finding_as_markdown,
    markdown,
)
from rcv_py.base.manifest import panel_for
from rcv_py.base.progress import Stage
from rcv_py.base.text import Message, join_texts, plural, translated
from rcv_py.model.code import SourceFile
from rcv_py.model.window import TimeWindow
from rcv_py.state.commands import Command, commands
from rcv_py.state.session import Session
from rcv_py.ui.core.computing import Computing
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import boxed, column, row, split
from rcv_py.ui.core.panel import LazyPanel, Panel, Sheet
from rcv_py.ui.core.plain_text import (
    ElidedLabel,
    PlainLabel,
    Rich,
    copy_text,
    draw_text,
    joined,
    push_button,
    rich,
    shown,
    tooltip,
)
from rcv_py.ui.core.scheduler import Priority
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.core.times import UNITS
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.links import LinkText

RESULT = "findings"
NOTHING_OPEN = "Open a capture to see what to look at first."
ROUNDING = 2  # px that a text may need beyond its advance
ROW = 34  # px: title, and numbers below it
UNLIMITED_PX = (1 << 24) - 1  # Qt's value for no limit
WIDE = 640  # px: minimum width with a finding next to the list
BAR, NUMBER, PAD = 44, 22, 6
SHARE_PX = 3  # height of the bar of a key number
_ROLE, _BESIDE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
TRY = "Try it"
EVIDENCE, MORE, TRIAL = "evidence", "more", "trial"
SHOWN = 2  # maximum pieces of evidence of a finding that is not opened
# Panels by kind.  An execution is shown in the timeline that draws instructions, a wave or a range of cycles
# in the timeline that is in front.
SHOWN_IN = {
    "instruction": panel_for("instruction"),
    "token": panel_for("token"),
    "wave": "time",
    "window": "time",
    "source": panel_for("source line"),
}
MIN_NAME_PX, MAX_NAME_PX, GAP, MARGIN_PX = 48, 160, 10, 8  # px of the key numbers
MARGIN = 0.05  # of a range, left and right of it
PREDICT_MS = 300  # delay after findings are shown: other requests come first
RANKING_MS = 200  # minimum interval between changes of the progress of predictions
SETTING = "findings.predict"


def compiles() -> bool:
    """Return whether a compiler for the replay loop exists; without it each finding takes a minute."""
    return find_spec("numba") is not None


def _columns(rooms: Sequence[int], width: int) -> int:
    """Return how many columns of cells fit into a width, at least one; a lone last cell fills its row."""
    for columns in range(len(rooms), 1, -1):
        shared = rooms[:-1] if len(rooms) % columns == 1 else rooms
        if sum(max(shared[at::columns]) for at in range(columns)) + GAP * (columns - 1) <= width:
            return columns
    return 1


class NumberStrip(QWidget):
    """Rows of numbers, as many as fit; names and the first value (a kernel) may be cut, numbers never are."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(MARGIN_PX, 4, MARGIN_PX, 4)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(4)
        self._cells: list[_Cell] = []
        self._shape = (False, 0, 0)  # whether all are in a row, their number, columns
        self.numbers: tuple[KeyNumber, ...] = ()

    def show_numbers(self, numbers: Sequence[KeyNumber]) -> None:
        """Replace the shown numbers."""
        self.numbers = tuple(numbers)
        while len(self._cells) < len(numbers):
            self._cells.append(_Cell(self._theme, self))
        for place, cell in enumerate(self._cells):
            cell.setVisible(place < len(numbers))
            if place < len(numbers):
                cell.put(numbers[place], is_whole=numbers[place].id != "kernel")
        parts = ((number.name, number.text, number.of) for number in numbers)
        texts = (" ".join(map(translated, filter(None, part))) for part in parts)
        self.setAccessibleName(", ".join(texts))
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Put the cells in rows; the first cell has its own row if a row cannot hold all."""
        shown = self._cells[: len(self.numbers)]
        if not shown:
            return
        first, rest = shown[0], shown[1:]
        rooms = [max(cell.room, MIN_NAME_PX) for cell in rest]
        is_one_row = sum(rooms) + GAP * len(rooms) + MAX_NAME_PX <= self.width() - 2 * MARGIN_PX
        columns = len(rest) if is_one_row else _columns(rooms, self.width() - 2 * MARGIN_PX)
        alone = not is_one_row and columns > 1 and len(rest) % columns == 1  # the last cell, in its row
        if self._shape == (is_one_row, len(rest), columns):
            return
        self._shape = (is_one_row, len(rest), columns)
        self._grid.addWidget(first, 0, 0, 1, 1 if is_one_row else columns)
        for number, cell in enumerate(rest):
            down, across = (0, number + 1) if is_one_row else (1 + number // columns, number % columns)
            is_wide = alone and number == len(rest) - 1
            self._grid.addWidget(cell, down, across, 1, columns if is_wide else 1)
        for at in range(self._grid.columnCount()):
            self._grid.setColumnStretch(at, 0)
        for at in range(columns):
            self._grid.setColumnStretch(
                at + is_one_row, max(rooms[at::columns][: len(rest) // columns or 1], default=0)
            )
        if is_one_row:
            self._grid.setColumnStretch(0, MAX_NAME_PX)


class _Cell(QWidget):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.name, self.value = ElidedLabel(role="muted"), ElidedLabel(role="heading")
        self.room = 0  # px that value and name need
        self.share: float | None = None  # that the bar shows; None: no bar
        column(self.name, self.value, of=self, margins=(0, 0, 0, SHARE_PX + 1))
        theme.changed.connect(self.update)

    def bar_rects(self) -> tuple[QRectF, QRectF]:
        """Return the places of the whole and of the share."""
        whole = QRectF(0, self.height() - SHARE_PX, min(self.width(), MAX_NAME_PX), SHARE_PX)
        part = QRectF(whole)
        part.setWidth(whole.width() * min(1.0, max(0.0, self.share or 0.0)))
        return whole, part

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the share as a part of a bar."""
        if self.share is not None:
            whole, part = self.bar_rects()
            with QPainter(self) as painter:
                painter.fillRect(whole, self._theme.role("line"))
                painter.fillRect(part, self._theme.role("accent"))

    def put(self, number: KeyNumber, is_whole: bool) -> None:
        tip = join_texts(
            "\n", filter(None, (join_texts("  ", filter(None, (number.text, number.of))), number.meaning))
        )
        self.share = number.share
        self.update()
        self.name.setText(number.name)
        self.value.setText(number.text)
        self.value.ensurePolished()  # the width in the heading's font
        value_px = self.value.fontMetrics().horizontalAdvance(translated(number.text)) + ROUNDING
        name_px = self.name.fontMetrics().horizontalAdvance(translated(number.name)) + ROUNDING
        self.room = max(value_px, name_px)
        self.value.setMinimumWidth(value_px if is_whole else 0)
        self.name.setMinimumWidth(name_px if is_whole else 0)
        for widget in (self, self.name, self.value):
            widget.setToolTip(tooltip(tip))


class FindingList(QListWidget):
    """One row per finding; `chosen` has its number, `asked` a number of its evidence.

    A click and keys that move to another row ask for its first evidence.

    `tried` asks for the experiment of the current row, which the button at its right end offers.
    """

    chosen = Signal(int)
    asked = Signal(int)
    tried = Signal()
    copied = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.rows_px = 0  # height of all rows
        self._rows = _Rows(theme, self)
        self.setItemDelegate(self._rows)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName(translated("Findings, the largest gain first"))
        self.currentRowChanged.connect(self.chosen)
        theme.changed.connect(lambda: self.viewport().update())

    def is_under_mouse(self, index: QModelIndex | QPersistentModelIndex) -> bool:
        """Whether the mouse is over a row."""
        viewport = self.viewport()
        return viewport.underMouse() and self.indexAt(viewport.mapFromGlobal(QCursor.pos())) == index

    def show_findings(
        self,
        findings: Sequence[Finding],
        rest: str = "",
        same: Sequence[int] | None = None,
        moved: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Show these findings, followed by a row for the rest.

        `same` holds for each finding the index of the first with the same bound, which alone has a bar; all
        bars share a scale.  `moved` holds by name how many places findings moved up, negative: down.  The
        current finding stays current if it is still in the list.
        """
        largest = max((_gain(finding) for finding in findings if finding.rank == RANKED), default=0.0)
        current = self.currentItem()
        # A new first finding replaces the first as current.
        finding = current.data(_ROLE) if current is not None and self.currentRow() > 0 else None
        name = "" if finding is None else finding.name
        self.blockSignals(True)
        self.clear()
        for number, finding in enumerate(findings, 1):
            gain = finding.gain_row or finding.cycles_at_stake_text
            first = number if same is None else same[number - 1] + 1
            as_first = (
                Message("The same bound as {0}: these are the same cycles.", first) if first != number else ""
            )
            steps = moved.get(finding.name, 0)
            said = (finding.title, gain, as_first, moved_text(steps))
            texts = (translated(text) for text in said)
            item = QListWidgetItem(" ".join(filter(None, (f"{number}.", *texts))))
            item.setData(_ROLE, finding)
            item.setData(_BESIDE, (largest, 0 if first == number else first, steps))
            item.setToolTip(tooltip(join_texts("\n", filter(None, (*said, LEGEND if gain else "")))))
            self.addItem(item)
        if rest:
            last = QListWidgetItem(shown(rest))
            last.setToolTip(tooltip(rest))
            self.addItem(last)
        self.rows_px = self.count() * grown(ROW) + 2 * self.frameWidth()
        names = [finding.name for finding in findings]
        self.setCurrentRow(names.index(name) if name in names else 0 if self.count() else -1)
        self.blockSignals(False)
        self.chosen.emit(self.currentRow())

    def button_rect(self, index: QModelIndex | QPersistentModelIndex) -> QRect:
        """Return the place of the button of a row that tries its remedy; empty if there is no experiment."""
        finding: Finding | None = index.data(_ROLE)
        if finding is None or finding.trial is None:
            return QRect()
        box, width = self.visualRect(index), self.fontMetrics().horizontalAdvance(translated(TRY)) + 2 * PAD
        return QRect(box.right() - PAD - width, box.center().y(), width, box.height() // 2 - 1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Try the remedy of a row whose button is clicked, or go to the first evidence of a clicked row."""
        super().mouseReleaseEvent(event)
        place = event.position().toPoint()
        index = self.indexAt(place)
        if event.button() != Qt.MouseButton.LeftButton or not index.isValid():
            return
        if self.button_rect(index).contains(place):
            self.tried.emit()
        else:
            self.asked.emit(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle keys: arrows and Enter go to the first evidence, 1 to 9 to a piece; Ctrl+C copies."""
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
            before = self.currentRow()
            super().keyPressEvent(event)
            if self.currentRow() != before:
                self.asked.emit(0)

    def sizeHint(self) -> QSize:
        return QSize(330, 160)


class _Rows(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: FindingList) -> None:
        super().__init__(parent)
        self._theme, self._list = theme, parent

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, grown(ROW))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint number and title, below them bar and numbers; an unranked finding is muted, without a bar."""
        finding: Finding | None = index.data(_ROLE)
        theme, box = self._theme, QRect(option.rect)
        role = theme.role
        painter.save()
        # The option's state would say so, but making all numbers of QStyle costs 5 ms of a start.
        if self._list.selectionModel().isSelected(index):
            painter.fillRect(box, role("accent_soft"))
        elif self._list.is_under_mouse(index):
            painter.fillRect(box, role("hover"))
        is_ranked = finding is not None and finding.rank == RANKED
        has_numbers = finding is not None and bool(finding.gain_row)
        left, half = box.x() + NUMBER + PAD, box.height() // 2
        button = self._list.button_rect(index)
        room = QRect(left, box.y(), box.right() - PAD - left, half if has_numbers else box.height())
        if finding is not None:
            painter.setPen(role("muted"))
            draw_text(painter, QRect(box.x(), box.y(), NUMBER, room.height()), _RIGHT, f"{index.row() + 1}")
        if finding is not None and has_numbers:
            below = room.translated(0, half - 2).adjusted(0, 0, -button.width(), 0)
            self._paint_numbers(painter, option, finding, index.data(_BESIDE), below)
        if not button.isEmpty():
            painter.setPen(role("line"))
            painter.drawRoundedRect(button, 3, 3)
            painter.setPen(role("accent"))
            draw_text(painter, button, Qt.AlignmentFlag.AlignCenter, TRY)
        painter.setPen(role("text" if is_ranked else "muted"))
        text = index.data(Qt.ItemDataRole.DisplayRole) if finding is None else finding.title
        title = option.fontMetrics.elidedText(translated(text), Qt.TextElideMode.ElideRight, room.width())
        draw_text(painter, room, _LEFT, title)
        painter.restore()

    def _paint_numbers(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        finding: Finding,
        beside: tuple[float, int, int],
        room: QRect,
    ) -> None:
        """Paint how far it moved, the bar of its bound with what is predicted, and both as numbers."""
        (largest, first, steps), role = beside, self._theme.role
        if steps:
            painter.setPen(role("accent"))
            mark = f"{'▲' if steps > 0 else '▼'}{abs(steps)}"
            draw_text(painter, QRect(room.x() - NUMBER - PAD, room.y(), NUMBER, room.height()), _RIGHT, mark)
        if not first:
            length = max(2.0, BAR * _gain(finding) / max(largest, 1e-9))
            bar = QRectF(room.x(), room.y() + 5, length, room.height() - 9)
            painter.fillRect(bar, role("hidden" if finding.predicted else "stall"))
            if finding.predicted:
                bar.setWidth(BAR * min(_gain(finding), max(0.0, finding.expected)) / max(largest, 1e-9))
                painter.fillRect(bar, role("stall"))
        painter.setPen(role("muted"))
        room.setLeft(room.x() + BAR + PAD)
        numbers = fitting_numbers(finding, first, option.fontMetrics, room.width())
        draw_text(painter, room, _LEFT, numbers)


def fitting_numbers(finding: Finding, first: int, metrics: QFontMetrics, width: int) -> str:
    """Return the longest form of a finding's numbers that fits into a width in px, else the shortest, cut.

    `first` is the number of the finding with the same bound, 0 for none.
    """
    forms = finding.gain_rows
    texts = [translated(Message("{0}, as {1}", form, first) if first else form) for form in forms]
    texts += [translated(form) for form in forms[1:] if first]
    fitting = (text for text in texts if metrics.horizontalAdvance(text) <= width)
    return next(fitting, metrics.elidedText(texts[-1], Qt.TextElideMode.ElideRight, width))


def _gain(finding: Finding) -> float:
    """Return the maximum gain, of the kernel's duration or of the samples."""
    return finding.share if finding.unit == SAMPLES else finding.gain


def moved_text(steps: int) -> str:
    """Return how far the prediction moved a finding, "" if it did not."""
    if not steps:
        return ""
    return Message("{0} {1} by its prediction.", "Up" if steps > 0 else "Down", plural(abs(steps), "place"))


def finding_html(
    finding: Finding,
    *,
    is_open: bool,
    sources: Sequence[SourceFile] = (),
    first: str = "",
    predictions: str = "",
) -> Rich:
    """Return the page of a finding: what, where, fix and gain; `is_open` shows all that is known of it.

    `first` is the title of the earlier finding with the same bound, if there is one; `predictions` is what
    predictions assume.
    """
    parts = [rich("<p><b>{}</b></p>", finding.title)]
    if first:
        parts.append(rich("<p class='q'>The same bound as “{}”: these are the same cycles.</p>", first))
    shown = len(finding.evidence) if is_open else SHOWN
    rows = [_row(number, place, sources) for number, place in enumerate(finding.evidence[:shown])]
    where = joined("<br>", rows)
    effort = rich(" <span class='q'>{} effort</span>", finding.effort.capitalize()) if finding.effort else ""
    gain = finding.gain_row or finding.cycles_at_stake_text
    trial = rich(" · <a href='{}:0'>Try it in What if</a>", TRIAL) if finding.trial is not None else ""
    texts = dict(finding.parts)
    lines = (
        ("What", finding.sentence if is_open else finding.key_sentence),
        ("Where", where),
        ("Fix", rich("{}{}", finding.remedy, effort)),
        ("Gain" if finding.gain_text else "At stake", rich("{}{}", gain, trial)),
    )
    parts += [rich("<p><b>{}:</b> {}</p>", label, line) for label, line in lines if line]
    parts.append(rich("<p><a href='{}:0'>{}</a></p>", MORE, "▾ Less" if is_open else "▸ More"))
    if is_open:
        taken = (texts.get("Gain", ""), finding.assumption, predictions if finding.predicted else "")
        parts += [rich("<p>{}</p>", text) for text in taken if text]
    return joined("", parts)


def small_html(findings: Findings) -> Rich:
    """Return the page of the findings that have one line each."""
    rows = [
        rich("<p><b>{}</b> <span class='q'>{}</span><br>{}</p>", small.title, small.gain_row, small.sentence)
        for small in findings.small
    ]
    return rich("<p><b>Below 2 % of the kernel's duration</b></p>{}", joined("", rows)) if rows else Rich()


def _row(number: int, place: Evidence, sources: Sequence[SourceFile]) -> Rich:
    key = rich("<span class='q'>{}</span>&nbsp; ", number + 1) if number < 9 else ""
    text = "" if place.kind == "source" else place.text
    return rich("{}{} &nbsp;{}", key, _link(number, place, sources), text)


def _link(number: int, place: Evidence, sources: Sequence[SourceFile]) -> Rich:
    where = place.place
    if place.kind == "source" and place.source is not None and sources:
        where = place_text(sources, *place.source)
    return rich("<a href='{}:{}'>{}</a>", EVIDENCE, number, where)


def go_to(session: Session, place: Evidence) -> str:
    """Select the place of the evidence; return the panel that shows it, or the area of such panels."""
    if place.kind == "instruction":
        session.select_line(place.line)
    elif place.kind == "token" and place.wave is not None:
        session.show_token(place.wave, place.token)
        if session.token() is None:  # its wave has not been read yet
            session.set_view(TimeWindow(place.begin, max(place.end, place.begin + 1)).padded(MARGIN))
    elif place.kind == "wave" and place.wave is not None:
        session.select_wave(place.wave)
        session.fit_wave(place.wave)
    elif place.kind == "window":
        session.set_view(TimeWindow(place.begin, max(place.end, place.begin + 1)).padded(MARGIN))
    elif place.kind == "source" and place.source is not None:
        session.select_source(*place.source)
    return SHOWN_IN.get(place.kind, "")


class TriagePanel(Panel):
    """What to look at first: findings with evidence and a remedy."""

    panel_id = "triage"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._computing = Computing(self, self._show)
        self.findings: Findings | None = None
        self._moved: dict[str, int] = {}  # by how many places predictions moved findings up, by name
        self.strip, self.note = NumberStrip(ui.theme), ElidedLabel(role="muted")
        self.headline = PlainLabel(role="headline", wordWrap=True)
        self.list = FindingList(ui.theme)
        self.page = LinkText(ui.session, ui.theme, "The chosen finding with its evidence")
        tip = "Copy all findings as Markdown, to paste into a ticket."
        self.copy = push_button("Copy", tip, self.copy_all, small=True)
        tip = "Show all key numbers, and what limits the kernel in detail."
        self.more = push_button("Numbers", tip, self._show_what_is_there, small=True)
        self.more.setCheckable(True)
        self.detail = PlainLabel(role="muted", wordWrap=True)
        self._is_open = False  # whether all that is known of a finding is shown
        self._stage: Stage | None = None  # of the predictions under way
        self._ticks = QTimer(self, interval=RANKING_MS)
        self._ticks.timeout.connect(self._show_note)
        self._lay_out()
        self.list.chosen.connect(self._show_one)
        self.list.asked.connect(self.go)
        self.list.tried.connect(self.try_remedy)
        self.list.copied.connect(self.copy_one)
        self.page.anchorClicked.connect(self._clicked)
        self._fit = self.request(self._fit_list)
        self._due = self.request(self._predict, PREDICT_MS, priority=Priority.BACKGROUND)
        ui.session.trace.watch(self._open)
        ui.results.cell(RESULT).watch(self._take)
        ui.settings.cell(SETTING).watch(self._take)
        ui.settings.cell(UNITS).watch(self._show_what_is_there)
        self._open()

    def _lay_out(self) -> None:
        self.headline.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.headline.setAccessibleName(translated("What limits the kernel"))
        self.copy.setAccessibleName(translated("Copy all findings as Markdown"))
        self.list.setMinimumWidth(200)
        top = row((self.headline, 1), self.more, self.copy, margins=(8, 4, 8, 0), spacing=6)
        for button in (self.more, self.copy):
            top.setAlignment(button, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        for label in (self.note, self.detail):
            label.setContentsMargins(MARGIN_PX, 0, MARGIN_PX, 4)
        self.head = boxed(column(self.detail, self.strip, self.note))
        self.split = split(self.list, self.page, sizes=(250, 400), is_column=True)
        for part, share in enumerate((2, 3)):
            self.split.setStretchFactor(part, share)
        self.split.installEventFilter(self)
        self.remembered = {"sizes": self.split}
        self.empty = WithEmptyState(self.split)
        column(top, self.head, (self.empty, 1), of=self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put a finding next to the list if both have room, else below it."""
        super().resizeEvent(event)
        way = Qt.Orientation.Horizontal if self.width() >= WIDE else Qt.Orientation.Vertical
        if self.split.orientation() != way:
            self.split.setOrientation(way)
            room = self.width() if way is Qt.Orientation.Horizontal else self.split.height()
            self.split.setSizes([room * 2 // 5, room - room * 2 // 5])
        self._fit.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:  # of the split: numbers above it came or went
            self._fit.update()
        return super().eventFilter(watched, event)

    def _fit_list(self) -> None:
        """Let list and page, one below the other, have the height that the other does not need."""
        is_below = self.split.orientation() == Qt.Orientation.Vertical
        self.list.setMaximumHeight(self.list.rows_px if is_below and self.list.rows_px else UNLIMITED_PX)
        if not is_below or not self.isVisible():
            return
        above, below = self.split.sizes()
        blank = below - round(self.page.document().size().height()) - 2 * self.page.frameWidth()
        wanted = min(self.list.rows_px - above, blank)
        if wanted > 0:
            self.split.setSizes([above + wanted, below - wanted])

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self.findings = None
        self._is_open = False
        self.more.setChecked(False)
        if self.session.trace.value is not None:
            self.want_result(RESULT)
        self._take()

    def _take(self) -> None:
        self.findings = self.ui.results.cell(RESULT).value
        self._due.cancel()
        self._moved, self._stage = {}, None
        self._ticks.stop()
        if self.findings is not None and self.ui.settings[SETTING] and compiles():
            self._due.ask(PREDICT_MS)
        self._show()

    def _predict(self) -> None:
        """Play the suggested remedies, once no other request is pending."""
        trace, store, found = self.session.trace.value, self.session.store, self.findings
        if trace is None or store is None or found is None or found is not self.ui.results.cell(RESULT).value:
            return
        if self.session.is_streaming:
            self._due.ask(PREDICT_MS)
            return
        held = store.batches

        def job() -> Findings:
            from rcv_py.work.whatif import with_predictions  # noqa: PLC0415 - it imports a compiler

            return with_predictions(trace, found, held, self._reached)

        def take(made: Findings) -> None:
            self._reached(None)
            self._ticks.stop()
            if self.findings is found:
                places = {one.name: place for place, one in enumerate(found.in_full)}
                now = enumerate(made.in_full)
                self._moved = {one.name: places.get(one.name, place) - place for place, one in now}
                self.findings = made
                self._show()

        self._ticks.start()
        self._due.run(job, take)

    def _reached(self, stage: Stage | None) -> None:
        """Remember how far predictions are; called in their thread."""
        self._stage = stage

    # -- showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        self._show_what_is_there()
        trace, findings = self.session.trace.value, self.findings
        if trace is None or findings is None:
            self.list.show_findings(())
            return
        self.list.show_findings(findings.in_full, findings.small_text, findings.same_bound, self._moved)
        self._fit_list()

    def _in_unit(self, number: KeyNumber) -> KeyNumber:
        """Return a key number in the user's unit of time: the duration is known in both."""
        is_ns = number.id == "duration" and self.ui.settings[UNITS] == "ns" and number.of
        return number._replace(text=number.of, of=number.text) if is_ns else number

    def _show_what_is_there(self) -> None:
        findings, is_whole = self.findings, self.more.isChecked()
        numbers = () if findings is None else findings.numbers if is_whole else findings.key_numbers
        self.strip.show_numbers([*map(self._in_unit, numbers)])
        self._show_note()
        detail = "" if findings is None or not is_whole else findings.detail
        self.detail.setVisible(bool(detail))
        self.detail.setText(detail)
        self.head.setVisible(bool(self.strip.numbers))
        self.more.setVisible(bool(self.strip.numbers))
        bound = None if findings is None or findings.alarm else findings.bound_class
        self.headline.setVisible(bound is not None)
        self.headline.setText("" if bound is None else bound.sentence)
        self._computing.stop()
        self.empty.say(self._why_empty())
        self.copy.setVisible(findings is not None and bool(findings.findings))

    def _show_note(self) -> None:
        """Say how many waves are analysed, how far predictions are, and what they changed."""
        findings, stage = self.findings, self._stage
        partial = "" if findings is None else findings.partial
        why = "" if findings is None else self._why_partial(findings)
        ranked = ""
        if stage is not None:
            ranked = Message("{0} …", stage)
        elif any(self._moved.values()):
            ranked = "Ranked by prediction: ▲ ▼ moved"
        texts = (Message("partial: {0}", partial) if partial else "", ranked)
        text = join_texts(" · ", filter(None, texts))
        self.note.setVisible(bool(text))
        self.note.setText(text)
        self.note.setToolTip(tooltip(why or text))

    def _why_empty(self) -> str:
        if self.session.trace.value is None:
            return self.reason(NOTHING_OPEN)
        if self.findings is None:
            return self._computing.begin("findings", RESULT)
        return "" if self.findings.findings else self.findings.why or self.findings.headline

    def _why_partial(self, findings: Findings) -> str:
        store = self.session.store
        if not findings.partial or store is None:
            return ""
        if not store.is_complete:
            return "Waves are still being read; findings follow."
        return findings.why_partial.replace("--all", "rcv triage --all")

    def _show_one(self, row: int) -> None:
        finding, trace = self._one(row), self.session.trace.value
        sources = () if trace is None else trace.sources
        if finding is None:
            self.page.show_html("" if row < 0 or self.findings is None else small_html(self.findings))
        else:
            first = self.findings.same_bound[row] if self.findings is not None else row
            title = "" if first == row or (other := self._one(first)) is None else other.title
            taken = "" if self.findings is None else self.findings.predictions
            self.page.show_html(
                finding_html(finding, is_open=self._is_open, sources=sources, first=title, predictions=taken)
            )
        self._fit.update()

    def _one(self, row: int) -> Finding | None:
        rows = () if self.findings is None else self.findings.in_full
        return rows[row] if 0 <= row < len(rows) else None

    @property
    def current(self) -> Finding | None:
        """Return the finding shown at the right."""
        return self._one(self.list.currentRow())

    # -- selecting ----------------------------------------------------------------------------------

    def _clicked(self, link: QUrl) -> None:
        kind, _, number = link.toString().partition(":")
        if kind == EVIDENCE and number.isdigit():
            self.go(int(number))
        elif kind == MORE:
            self._is_open = not self._is_open
            self._show_one(self.list.currentRow())
        elif kind == TRIAL:
            self.try_remedy()

    def try_remedy(self) -> None:
        """Show the experiment with the remedy of the chosen finding."""
        if self.current is not None:
            self.session.remedy.set(self.current.title)
            self.wants.emit(panel_for("prediction"))

    def go(self, number: int) -> None:
        """Select the place of a piece of evidence everywhere, and bring its panel to the front."""
        finding = self.current
        if finding is None or not 0 <= number < len(finding.evidence):
            return
        if name := go_to(self.session, finding.evidence[number]):
            self.wants.emit(name)

    def come(self) -> None:
        """Come to the front and focus the list."""
        self.wants.emit(self.panel_id)
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def copy_one(self) -> None:
        """Copy the chosen finding as Markdown."""
        if self.current is not None:
            copy_text(finding_as_markdown(self.list.currentRow() + 1, self.current))

    @property
    def has_findings(self) -> bool:
        """Return whether there are findings to copy."""
        return self.findings is not None and bool(self.findings.findings)

    def copy_all(self) -> None:
        """Copy all findings as Markdown."""
        trace = self.session.trace.value
        if trace is not None and self.findings is not None:
            copy_text(markdown(trace.name, self.findings))

    # -- called by the shell ------------------------------------------------------------------------

    @classmethod
    def commands(cls, ui: UiContext, lazy: LazyPanel[Self]) -> tuple[Command, ...]:
        return commands("Analyze", (
            ("triage.show", "What to look at first", "F4",
             lazy.with_panel(cls.come),
             "Show the findings: patterns that cost cycles, with evidence and a remedy.",
             lambda: "" if ui.session.trace.value is not None else NOTHING_OPEN),
            ("triage.copy", "Copy findings as Markdown", "Ctrl+Alt+Shift+F", lazy.with_panel(cls.copy_all),
             "Copy all findings with their evidence, to paste into a ticket.",
             lambda: "" if (panel := lazy.existing) and panel.has_findings else "There are no findings."),
        ))  # fmt: skip

    @contextmanager
    def for_picture(self) -> Iterator[None]:
        """Leave out the blank below the list and the finding during the block."""
        size, sizes = self.size(), self.split.sizes()
        self._resize(size)  # what came or went above the list has its place
        text = round(self.page.document().size().height()) + 2 * self.page.frameWidth()
        blanks = self.list.height() - self.list.rows_px, self.page.height() - text
        is_below = self.split.orientation() == Qt.Orientation.Vertical
        blank = sum(blanks) if is_below else min(blanks)
        if not self.split.isVisible() or blank <= 0:
            yield
            return
        try:
            self._resize(size - QSize(0, blank))
            if is_below:
                self.split.setSizes([self.list.rows_px, text])
            yield
        finally:
            self._resize(size)
            self.split.setSizes(sizes)

    def _resize(self, size: QSize) -> None:
        self.resize(size)
        for layout in self.findChildren(QLayout):
            layout.activate()

    def caption(self) -> str:
        selection = "" if self.findings is None else self.findings.selection
        partial = "" if self.findings is None else self.findings.partial
        note = translated(Message("partial: {0}", partial)) if partial else ""
        return " · ".join(filter(None, (selection, note)))

    def command_line(self) -> command_text.CommandWords | None:
        has_predictions = self.findings is not None and bool(self.findings.guesses)
        predict = "--predict" if has_predictions else "--no-predict"
        return command_text.rcv(self.session, "triage", "--top=0", predict)

    def sheet(self) -> Sheet | None:
        if self.findings is None or not self.has_findings:
            return None
        from rcv_py.features.findings.result import finding_table  # noqa: PLC0415 - it imports all detectors

        return Sheet.as_shown("Findings", finding_table(self.findings.findings))
