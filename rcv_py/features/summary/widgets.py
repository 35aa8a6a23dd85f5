"""Widgets of the summary: key numbers, meters and shares, in cards."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QGridLayout, QLabel, QSizePolicy, QWidget

from rcv_py.analysis.overview.device_summary import Fact
from rcv_py.base.record import Value
from rcv_py.base.text import Message, capitalized, count, translated
from rcv_py.ui.core.layout import column, wrapped
from rcv_py.ui.core.plain_text import ElidedLabel, PlainLabel, copy_text, draw_text, show_tip, tooltip
from rcv_py.ui.core.theme import Theme

METER_PX = 9  # height of a bar in a row
LOW = 0.05  # percent; smaller values are shown as less than a tenth
GAP = 8
PERCENT_TEXT = "100.0 %"
Color = Callable[[Theme], QColor]  # called at every painting, so that it follows the theme


class FactList(QWidget):
    """A grid of three columns; values can be selected with the mouse and copied."""

    def __init__(self, name: str = "Key numbers") -> None:
        super().__init__()
        self.facts: tuple[Fact, ...] = ()
        self._labels: list[QLabel] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(2, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName(translated(name))

    def set_facts(self, facts: Sequence[Fact]) -> None:
        """Show these numbers; labels are kept while the facts are the same."""
        before, after = ([(one.id, bool(one.of)) for one in shown] for shown in (self.facts, facts))
        self.facts = tuple(facts)
        if before != after:
            self._rebuild(self.facts)
        for row, fact in enumerate(facts):
            name, text, of = map(translated, (fact.name, fact.text, fact.of))
            said = f"{name}: {text} {of}"
            for place, text in enumerate((fact.name, fact.text, fact.of)):
                label = self._labels[3 * row + place]
                label.setText(text)
                label.setToolTip(tooltip(f"{said}\n{translated(fact.meaning)}"))
            self._labels[3 * row + 1].setAccessibleName(said)

    def text(self) -> str:
        """Return all numbers, one per line."""
        return "\n".join(f"{fact.name}\t{fact.text}\t{fact.of}".rstrip() for fact in self.facts)

    def _rebuild(self, facts: tuple[Fact, ...]) -> None:
        for label in self._labels:
            self._grid.removeWidget(label)
            label.deleteLater()
        self._labels = []
        for row in range(len(facts)):
            for place in range(3):
                is_wide = place == 1 and not facts[row].of  # a name, which may be long
                role = "" if place == 1 else "muted"
                label = ElidedLabel(role=role) if is_wide else PlainLabel(role=role, wordWrap=place == 2)
                if place == 1:
                    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                self._grid.addWidget(label, row, place, 1, 2 if is_wide else 1)
                self._labels.append(label)
        self._grid.setRowStretch(len(facts), 1)


class Meter(Value):
    """A bar: `value` in percent may exceed 100, the bar does not; `marks` are the summarized values."""

    name: str
    value: float  # percent
    color: Color
    meaning: str
    marks: tuple[float, ...] = ()  # percent
    is_heading: bool = False  # a row of text without a bar


class Meters(QWidget):
    """Rows of bars with a common scale, each with a tooltip."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme, self._name = theme, name
        self.meters: tuple[Meter, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName(translated(name))
        theme.changed.connect(self.update)

    def set_meters(self, meters: Sequence[Meter]) -> None:
        """Show these bars."""
        self.meters = tuple(meters)
        texts = (f"{translated(one.name)} {number(one)}" for one in self.meters if not one.is_heading)
        self.setAccessibleName(f"{translated(self._name)}: " + ", ".join(texts))
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """Return all rows, one per line."""
        return "\n".join(f"{meter.name}\t{number(meter)}".rstrip() for meter in self.meters)

    def tip(self, row: int) -> str:
        """Return the tooltip of a row, "" for none."""
        if not 0 <= row < len(self.meters):
            return ""
        meter = self.meters[row]
        return meter.meaning if meter.is_heading else f"{meter.name}: {number(meter)}\n{meter.meaning}"

    @property
    def _row(self) -> int:
        return self.fontMetrics().height() + 4

    def sizeHint(self) -> QSize:
        return QSize(260, len(self.meters) * self._row)

    def minimumSizeHint(self) -> QSize:
        return QSize(170, self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self.tip(event.y() // self._row), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        wide = self.fontMetrics().horizontalAdvance
        names = [wide(translated(meter.name)) for meter in self.meters if not meter.is_heading]
        left = min(max(names, default=0) + 8, self.width() // 3)
        right = wide(PERCENT_TEXT) + 8
        with QPainter(self) as painter:
            for row, meter in enumerate(self.meters):
                box = QRect(0, row * self._row, self.width(), self._row)
                self._paint_row(painter, meter, box, left, right)

    def _paint_row(self, painter: QPainter, meter: Meter, box: QRect, left: int, right: int) -> None:
        theme, middle = self._theme, Qt.AlignmentFlag.AlignVCenter
        painter.setPen(theme.role("muted"))
        if meter.is_heading:
            draw_text(painter, box, Qt.AlignmentFlag.AlignLeft | middle, meter.name)
            return
        name = self.fontMetrics().elidedText(translated(meter.name), Qt.TextElideMode.ElideRight, left - 4)
        draw_text(painter, box, Qt.AlignmentFlag.AlignLeft | middle, name)
        painter.setPen(theme.role("text"))
        draw_text(painter, box, Qt.AlignmentFlag.AlignRight | middle, number(meter))
        room = max(0, box.width() - left - right)
        top = box.top() + (box.height() - METER_PX) / 2
        painter.fillRect(QRectF(left, top, room, METER_PX), theme.role("raised"))
        length = min(meter.value, 100.0) / 100 * room
        if meter.value > 0:
            painter.fillRect(QRectF(left, top, max(2.0, length), METER_PX), meter.color(theme))
        for mark in meter.marks:
            at = left + min(max(mark, 0.0), 100.0) / 100 * room
            painter.fillRect(QRectF(round(at), top - 2, 1, METER_PX + 4), theme.role("text"))


def number(meter: Meter) -> str:
    """Return the value of a bar as text, "" for a heading."""
    if meter.is_heading:
        return ""
    return f"{meter.value:.1f} %" if meter.value >= LOW or not meter.value else "<0.1 %"


def share_meters(parts: Sequence[tuple[str, int, Color, str]], unit: str) -> tuple[Meter, ...]:
    """Return the shares of a total as bars: of each part its name, value, colour and meaning."""
    total = sum(value for _, value, _, _ in parts)
    whole = count(total)

    def meter(name: str, value: int, color: Color, meaning: str) -> Meter:
        said = Message("{0} of {1} {2}. {3}.", count(value), whole, unit, capitalized(meaning))
        return Meter(name, 100 * value / max(total, 1), color, said)

    return tuple(meter(*part) for part in parts)


class Card(QFrame):
    """A heading over widgets, each with an optional small heading.  Ctrl+C copies their text."""

    def __init__(self, title: str, *parts: tuple[str, QWidget], width: int, grows: int = 0) -> None:
        super().__init__()
        self.grows, self._width = grows, width
        self.setObjectName("card")
        self.title = PlainLabel(title, role="heading")
        self._parts = [(PlainLabel(name, role="muted"), part) for name, part in parts]
        end = () if len(parts) == 1 and isinstance(parts[0][1], FactList | QAbstractItemView) else (None,)
        inside = column(*(item for pair in self._parts for item in pair), *end, spacing=4)
        column(self.title, (inside, 1), margins=(10, 8, 10, 8), spacing=6, of=self)
        for label, _ in self._parts:
            label.setHidden(not label.text())
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(translated(title))

    def show_part(self, widget: QWidget, shown: bool) -> None:
        """Show or hide a widget and its heading."""
        for label, part in self._parts:
            if part is widget:
                label.setVisible(shown and bool(label.text()))
                part.setVisible(shown)

    def sizeHint(self) -> QSize:
        return QSize(self._width, self.minimumSizeHint().height())

    def text(self) -> str:
        """Return its text, one line per number, for the clipboard."""
        parts = [part for _, part in self._parts if isinstance(part, FactList | Meters | QLabel)]
        return "\n".join([self.title.text(), *(part.text() for part in parts if not part.isHidden())])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            copy_text(self.text())
        else:
            event.ignore()


class CardPage(QWidget):
    """Cards in rows that share its width; the last row takes the free height, a hidden card leaves no gap."""

    def __init__(self, cards: Sequence[Card]) -> None:
        super().__init__()
        self._all = tuple(cards)
        for card in cards:
            card.setParent(self)

    @property
    def cards(self) -> list[Card]:
        """The cards that are shown, in order."""
        return [card for card in self._all if not card.isHidden()]

    def event(self, event: QEvent) -> bool:
        """Place the cards anew when the page or what a card needs has another size."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._arrange()
        return super().event(event)

    def _arrange(self) -> None:
        top, room = GAP, self.width() - 2 * GAP
        rows = wrapped(self.cards, room, GAP)
        for row in rows:
            height, left = max(card.sizeHint().height() for card in row), GAP
            high = max(height, self.height() - GAP - top) if row is rows[-1] else height
            free = max(0, room - sum(card.sizeHint().width() for card in row) - GAP * (len(row) - 1))
            shares = sum(card.grows for card in row)
            for card in row:
                more = free * card.grows // shares if shares else free // len(row)
                card.setGeometry(left, top, card.sizeHint().width() + more, high)
                left = card.geometry().right() + 1 + GAP
            top += height + GAP
        self.setMinimumHeight(top)
