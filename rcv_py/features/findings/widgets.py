"""The list of findings, the strip of key numbers above it, and the page of a finding."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from PySide6 import QtGui, QtWidgets
from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.findings.finding import (
    LEGEND,
    RANKED,
    WITHOUT_GAIN,
    Evidence,
    Finding,
    Findings,
    KeyNumber,
)
from rcv_py.base.text import Message, join_texts, plural, translated
from rcv_py.model.code import SourceFile
from rcv_py.ui.core.layout import column, wrapped
from rcv_py.ui.core.plain_text import ElidedLabel, Rich, draw_text, joined, rich, shown, tooltip
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.table_model import Index

ROW = 34  # px: title, and numbers below it
BAR, NUMBER, PAD = 44, 22, 6  # px
TRY = "Try it"
_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
_ROLE, _BESIDE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
Beside = tuple[float, int, int]  # the largest gain, the finding with the same bound, places that it moved


class FindingList(QtWidgets.QListWidget):
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
        self.setAccessibleName(translated("Findings, the largest gain first"))
        self.currentRowChanged.connect(self.chosen)
        theme.changed.connect(lambda: self.viewport().update())

    def is_under_mouse(self, index: Index) -> bool:
        """Whether the mouse is over a row."""
        viewport = self.viewport()
        return viewport.underMouse() and self.indexAt(viewport.mapFromGlobal(QtGui.QCursor.pos())) == index

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
            way, places = "Up" if steps > 0 else "Down", plural(abs(steps), "place")
            move = Message("{0} {1} by predictions.", way, places) if steps else ""
            said = (finding.title, gain, as_first, move)
            texts = (translated(text) for text in said)
            item = QtWidgets.QListWidgetItem(" ".join(filter(None, (f"{number}.", *texts))))
            item.setData(_ROLE, finding)
            item.setData(_BESIDE, (largest, 0 if first == number else first, steps))
            item.setToolTip(tooltip(join_texts("\n", filter(None, (*said, LEGEND if gain else "")))))
            self.addItem(item)
        if rest:
            last = QtWidgets.QListWidgetItem(shown(rest))
            last.setToolTip(tooltip(rest))
            self.addItem(last)
        self.rows_px = self.count() * grown(ROW) + 2 * self.frameWidth()
        names = [finding.name for finding in findings]
        self.setCurrentRow(names.index(name) if name in names else 0 if self.count() else -1)
        self.blockSignals(False)
        self.chosen.emit(self.currentRow())

    def button_rect(self, index: Index) -> QRect:
        """Return the place of the button of a row that tries its remedy; empty if there is no experiment."""
        finding: Finding | None = index.data(_ROLE)
        if finding is None or finding.trial is None:
            return QRect()
        box, width = self.visualRect(index), self.fontMetrics().horizontalAdvance(translated(TRY)) + 2 * PAD
        return QRect(box.right() - PAD - width, box.center().y(), width, box.height() // 2 - 1)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
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

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Handle keys: arrows and Enter go to the first evidence, 1 to 9 to a piece; Ctrl+C copies."""
        key = event.key()
        if event.matches(QtGui.QKeySequence.StandardKey.Copy):
            self.copied.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.asked.emit(0)
        elif Qt.Key.Key_1 <= key <= Qt.Key.Key_9 and event.modifiers() in _PLAIN:
            self.asked.emit(int(key) - int(Qt.Key.Key_1))
        else:
            before = self.currentRow()
            super().keyPressEvent(event)
            if self.currentRow() != before:
                self.asked.emit(0)

    def sizeHint(self) -> QSize:
        return QSize(330, 160)


class _Rows(QtWidgets.QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: FindingList) -> None:
        super().__init__(parent)
        self._theme, self._list = theme, parent

    def sizeHint(self, option: QtWidgets.QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, grown(ROW))

    def paint(self, painter: QtGui.QPainter, option: QtWidgets.QStyleOptionViewItem, index: Index) -> None:
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
        number, half = grown(NUMBER), box.height() // 2
        left = box.x() + number + PAD
        button = self._list.button_rect(index)
        room = QRect(left, box.y(), box.right() - PAD - left, half if has_numbers else box.height())
        if finding is not None:
            painter.setPen(role("muted"))
            draw_text(painter, QRect(box.x(), box.y(), number, room.height()), _RIGHT, f"{index.row() + 1}")
        if finding is not None and has_numbers:
            below = room.translated(0, half - 2).adjusted(0, 0, -button.width(), 0)
            self._paint_numbers(painter, option.fontMetrics, finding, index.data(_BESIDE), below)
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
        painter: QtGui.QPainter,
        metrics: QtGui.QFontMetrics,
        finding: Finding,
        beside: Beside,
        room: QRect,
    ) -> None:
        """Paint how far it moved, the bar of its bound with what is predicted, and both as numbers."""
        (largest, first, steps), role = beside, self._theme.role
        if steps:
            painter.setPen(role("accent"))
            mark = f"{'▲' if steps > 0 else '▼'}{abs(steps)}"
            before = QRect(room.x() - PAD - grown(NUMBER), room.y(), grown(NUMBER), room.height())
            draw_text(painter, before, _RIGHT, mark)
        if not first:
            length = max(2.0, BAR * _gain(finding) / max(largest, 1e-9))
            bar = QRectF(room.x(), room.y() + 5, length, room.height() - 9)
            painter.fillRect(bar, role("hidden" if finding.predicted else "stall"))
            if finding.predicted:
                bar.setWidth(BAR * min(_gain(finding), max(0.0, finding.expected)) / max(largest, 1e-9))
                painter.fillRect(bar, role("stall"))
        painter.setPen(role("muted"))
        room.setLeft(room.x() + BAR + PAD)
        draw_text(painter, room, _LEFT, fitting_numbers(finding, first, metrics, room.width()))


def fitting_numbers(finding: Finding, first: int, metrics: QtGui.QFontMetrics, width: int) -> str:
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
    return finding.share if finding.unit in WITHOUT_GAIN else finding.gain


ROUNDING = 2  # px that a text may need beyond its advance
SHARE_PX = 3  # height of the bar of a number
MIN_NAME_PX, MAX_NAME_PX, GAP, GAP_DOWN, MARGIN_PX = 48, 160, 10, 4, 8


class NumberStrip(QtWidgets.QWidget):
    """Rows of numbers, as many as fit; names and the first value (a kernel) may be cut, numbers never are."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._cells: list[_Cell] = []
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

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        top, room = GAP_DOWN, self.width() - 2 * MARGIN_PX
        for line in wrapped(self._cells[: len(self.numbers)], room, GAP):
            left, height = MARGIN_PX, line[0].minimumSizeHint().height()
            free = max(0, room - sum(cell.sizeHint().width() + GAP for cell in line) + GAP)
            for cell in line:
                width = min(cell.sizeHint().width() + free // len(line), room)
                cell.setGeometry(left, top, width, height)
                left += width + GAP
            top += height + GAP_DOWN
        self.setFixedHeight(top)


class _Cell(QtWidgets.QWidget):
    def __init__(self, theme: Theme, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.name, self.value = ElidedLabel(role="muted"), ElidedLabel(role="heading")
        self._room = 0  # px that value and name need
        self.share: float | None = None  # that the bar shows; None: no bar
        column(self.name, self.value, of=self, margins=(0, 0, 0, SHARE_PX + 1))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(self._room, self.minimumSizeHint().height())

    def bar_rects(self) -> tuple[QRectF, QRectF]:
        """Return the places of the whole and of the share."""
        whole = QRectF(0, self.height() - SHARE_PX, min(self.width(), MAX_NAME_PX), SHARE_PX)
        part = QRectF(whole)
        part.setWidth(whole.width() * min(1.0, max(0.0, self.share or 0.0)))
        return whole, part

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        if self.share is not None:
            whole, part = self.bar_rects()
            with QtGui.QPainter(self) as painter:
                painter.fillRect(whole, self._theme.role("line"))
                painter.fillRect(part, self._theme.role("accent"))

    def put(self, number: KeyNumber, is_whole: bool) -> None:
        value = join_texts("  ", filter(None, (number.text, number.of)))
        tip = join_texts("\n", filter(None, (value, number.meaning)))
        self.share = number.share
        self.update()
        self.name.setText(number.name)
        self.value.setText(number.text)
        self.value.ensurePolished()  # the width in the heading's font
        value_px = self.value.fontMetrics().horizontalAdvance(translated(number.text)) + ROUNDING
        name_px = self.name.fontMetrics().horizontalAdvance(translated(number.name)) + ROUNDING
        self._room = max(value_px, name_px, MIN_NAME_PX) if is_whole else MAX_NAME_PX
        self.value.setMinimumWidth(value_px if is_whole else 0)
        self.name.setMinimumWidth(name_px if is_whole else 0)
        for widget in (self, self.name, self.value):
            widget.setToolTip(tooltip(tip))


EVIDENCE, MORE, TRIAL = "evidence", "more", "trial"  # kinds of links
SHOWN = 2  # maximum pieces of evidence of a finding that is not opened


def finding_html(
    finding: Finding,
    *,
    is_open: bool,
    sources: Sequence[SourceFile] = (),
    first: str = "",
    predictions: str = "",
    most: str = "",
) -> Rich:
    """Return the page of a finding: what, where, fix and gain; `is_open` shows all that is known of it.

    `first` is the title of the earlier finding with the same bound, if there is one; `predictions` is what
    predictions assume, `most` is the gain as a time.
    """
    parts = [rich("<p><b>{}</b></p>", finding.title)]
    if first:
        parts.append(rich("<p class='q'>The same bound as “{}”: these are the same cycles.</p>", first))
    shown = len(finding.evidence) if is_open else SHOWN
    rows = [_row(number, place, sources) for number, place in enumerate(finding.evidence[:shown])]
    effort = rich(" <span class='q'>{} effort</span>", finding.effort.capitalize()) if finding.effort else ""
    time = rich(" · {}", most) if most else ""
    trial = rich(" · <a href='{}:0'>Try it in What if</a>", TRIAL) if finding.trial is not None else ""
    gain = rich("{}{}{}", finding.gain_row or finding.cycles_at_stake_text, time, trial)
    texts = dict(finding.parts)
    lines = (
        ("What", finding.sentence if is_open else finding.key_sentence),
        ("Where", joined("<br>", rows)),
        ("Fix", rich("{}{}", finding.remedy, effort)),
        ("Gain" if finding.gain_text else "At stake", gain),
    )
    parts += [rich("<p><b>{}:</b> {}</p>", label, line) for label, line in lines if line]
    parts.append(rich("<p><a href='{}:0'>{}</a></p>", MORE, "▾ Less" if is_open else "▸ More"))
    if is_open:
        taken = (texts.get("Gain", ""), finding.assumption, predictions if finding.predicted else "")
        parts += [rich("<p>{}</p>", text) for text in taken if text]
    return joined("", parts)


def small_html(findings: Findings) -> Rich:
    """Return the page of the findings that have one line each."""
    row = "<p><b>{}</b> <span class='q'>{}</span><br>{}</p>"
    rows = [rich(row, small.title, small.gain_row, small.sentence) for small in findings.small]
    return rich("<p><b>Below 2 % of the kernel's duration</b></p>{}", joined("", rows)) if rows else Rich()


def _row(number: int, place: Evidence, sources: Sequence[SourceFile]) -> Rich:
    key = rich("<span class='q'>{}</span>&nbsp; ", number + 1) if number < 9 else ""
    text = "" if place.kind == "source" else place.text
    where = place.place
    if place.kind == "source" and place.source is not None and sources:
        where = place_text(sources, *place.source)
    return rich("{}{} &nbsp;{}", key, rich("<a href='{}:{}'>{}</a>", EVIDENCE, number, where), text)
