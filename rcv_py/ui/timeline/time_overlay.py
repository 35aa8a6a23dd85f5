"""The overlay of plots over time: clock range, events, bookmarks, cursor, measured range, a brush to drag."""

from collections.abc import Callable, Collection, Sequence
from enum import Enum

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF

from rcv_py.analysis.events import event_table
from rcv_py.analysis.events.event_table import GROUPS, group_of, lasting
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, translated
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import EventKind
from rcv_py.model.notes import Note
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Selection
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.core.times import Times
from rcv_py.ui.table.filter_menu import FilterItem
from rcv_py.ui.table.note_marks import NoteFlags, paint_flag, role_of
from rcv_py.ui.timeline.items import BoxItem, PlotBox, small_text

FLAG_PX = 11  # of a note
EDGE_PX = 6  # px: distance at which a press grabs an edge
ALL = 0.995  # share of the picture from which on a window is all of it


Grip = Enum("Grip", "NONE BEGIN END BODY NEW")  # the grabbed part of the window
CURSORS = {
    Grip.BEGIN: Qt.CursorShape.SizeHorCursor,
    Grip.END: Qt.CursorShape.SizeHorCursor,
    Grip.BODY: Qt.CursorShape.OpenHandCursor,
}


def grip_at(x: float, begin: float, end: float, width: float) -> Grip:
    """Return what a press grabs, of a window from `begin` to `end` in a picture of a width; all in px."""
    if end - begin >= width * ALL:
        return Grip.NEW  # nothing to move
    for grip, edge in ((Grip.BEGIN, begin), (Grip.END, end)):
        if abs(x - edge) <= min(EDGE_PX, max(2.0, (end - begin) / 3)):
            return grip
    return Grip.BODY if begin < x < end else Grip.NEW


def dragged(grip: Grip, held: TimeWindow, start: int, time: int) -> TimeWindow:
    """Return the window after a drag of a grip from a cycle to another; it was `held` before."""
    if grip is Grip.BODY:
        return held.moved(time - start)
    fixed = {Grip.BEGIN: held.end, Grip.END: held.begin}.get(grip, start)
    return TimeWindow(*sorted((fixed, time)))


def paint_window(
    painter: QPainter, box: QRectF, left: float, right: float, ink: tuple[QColor, QColor]
) -> None:
    """Veil what is outside of a window in a box, and frame the window; `ink`: of the veil and the frame."""
    veil, accent = ink
    right = max(right, left + 2)
    painter.fillRect(QRectF(box.left(), box.top(), left - box.left(), box.height()), veil)
    painter.fillRect(QRectF(right, box.top(), box.right() - right, box.height()), veil)
    height = min(14.0, box.height() - 4)
    for x in (left, right - 1):
        painter.fillRect(QRectF(x, box.top(), 1, box.height()), accent)
        painter.fillRect(QRectF(x - 1, box.center().y() - height / 2, 3, height), accent)
    painter.fillRect(QRectF(left, box.top(), right - left, 1), accent)


class RowPart(Value):
    """A stretch of a row: of its spans, or of a part with the given height and offset below their top."""

    row: int
    span: TimeWindow
    below: int = 0
    height: int = 0


class Line(Value):
    """A moment drawn through all rows, with the cycles that an event beginning there lasted."""

    time: int
    role: str  # a role of the theme
    what: str = ""
    more: str = ""
    length: int = 0

    def text(self, times: Times) -> str:
        """Return what happened, when, and for how long."""
        lasted = Message(", for {0}", times.span(self.length)) if self.length > 0 else ""
        return Message("{0} at {1}{2}{3}", self.what, times.at(self.time), lasted, self.more)


class Marks(Value):
    """The owner's marks; marks with a row are for pictures that have rows."""

    selected: RowPart | None = None
    hovered: RowPart | None = None
    ticks: tuple[tuple[int, np.ndarray], ...] = ()  # row, times of the selected instruction, int64
    data: tuple[tuple[int, np.ndarray], ...] = ()  # row, times of values the kernel wrote, int64
    lines: Sequence[Line] = ()
    bookmarks: tuple[int, ...] = ()  # times


class TimeOverlay(BoxItem):
    """Painted at every change of selection, hover or cursor, without repainting the picture below."""

    marks: Callable[[], Marks]  # set by the owner, like the next attribute
    measure_text: Callable[[TimeWindow], str]

    def __init__(self, box: PlotBox, session: Session, theme: Theme) -> None:
        super().__init__(box, theme)
        self.setZValue(10)
        self._session = session
        self.note_flags = NoteFlags(session)
        self.preview: TimeWindow | None = None  # the clock range that a drag would set
        self.has_brush = False  # whether it frames the session's view, which is a part of the picture

    def notes_near(self, time: int, pixel: TimeWindow) -> list[Note]:
        """Return the notes whose flags are near a time; `pixel` is the time of a pixel."""
        return self.note_flags.near(time, FLAG_PX * pixel.width) if self._session.notes.shown.value else []

    def x_of(self, time: float) -> float:
        """Return the position of a time, clamped if it is far outside."""
        window = self.shown
        x = (time - window.begin) / window.width * self._box.width()
        return min(max(x, -10.0), self._box.width() + 10.0)

    def paint(self, painter: QPainter, *_: object) -> None:
        if self._session.trace.value is None:
            return
        marks = self.marks()
        if self.has_brush:
            view = self._session.view.value
            ink = soft(self._theme.role("canvas"), 90), self._theme.role("accent")
            paint_window(painter, self.boundingRect(), self.x_of(view.begin), self.x_of(view.end), ink)
        self._paint_range(painter)
        self._paint_lines(painter, marks.lines)
        self.paint_below(painter, marks)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.role("warning"))
        for time in filter(self.shown.contains, marks.bookmarks):
            x = self.x_of(time)
            self._fill(painter, x, x, "warning", 90)
            painter.drawPolygon(QPolygonF([QPointF(x, 0), QPointF(x + 7, 0), QPointF(x, 7)]))
        hover = self._session.hover.value
        if hover is not None and hover.time is not None and self.shown.contains(hover.time):
            x = round(self.x_of(hover.time))
            self._fill(painter, x, x, "text", 70)
        self.paint_above(painter, marks)
        if self._session.notes.shown.value:
            self._paint_notes(painter)
        self._paint_measure(painter)

    def paint_below(self, painter: QPainter, marks: Marks) -> None:
        """Paint marks of a kind of picture before bookmarks and cursor."""

    def paint_above(self, painter: QPainter, marks: Marks) -> None:
        """Paint marks of a kind of picture after the cursor."""

    def _fill(self, painter: QPainter, left: float, right: float, role: str, alpha: int = 255) -> None:
        """Fill the height of the box from one position to another, at least a pixel."""
        rect = QRectF(left, 0, max(1.0, right - left), self._box.height())
        painter.fillRect(rect, soft(self._theme.role(role), alpha))

    def _paint_range(self, painter: QPainter) -> None:
        window = self.preview or self._session.clock_range.value
        if window is None:
            return
        left, right = self.x_of(window.begin), self.x_of(window.end)
        self._fill(painter, left, right, "range", 22)
        painter.fillRect(QRectF(left, 0, max(1.0, right - left), 2), self._theme.role("range"))
        for x in (left, right):
            self._fill(painter, x, x, "range", 140)

    def _paint_lines(self, painter: QPainter, lines: Sequence[Line]) -> None:
        shown = self.shown
        for line in lines:
            x = self.x_of(line.time)
            if line.length > 0 and shown.overlaps(line.time, line.time + line.length):
                self._fill(painter, x, self.x_of(line.time + line.length), line.role, 34)
            if shown.contains(line.time):
                self._fill(painter, x, x, line.role, 150)

    def _paint_notes(self, painter: QPainter) -> None:
        """Paint a flag at the top where a note begins, over a faint band if it is about a range."""
        shown = self.shown
        for span, note in self.note_flags.all():
            role = role_of((note,))
            if span.width > 1 and span.overlaps(shown.begin, shown.end):
                left, right = self.x_of(span.begin), self.x_of(span.end)
                self._fill(painter, left, right, role, 22)
                painter.fillRect(QRectF(left, 0, max(1.0, right - left), 2), self._theme.role(role))
            if shown.contains(span.begin):
                x = self.x_of(span.begin)
                self._fill(painter, x, x, role, 120)
                paint_flag(painter, x, 0, FLAG_PX, self._theme.role(role))

    def _paint_measure(self, painter: QPainter) -> None:
        window, shown = self._session.measure.value, self.shown
        if window is None or not window.overlaps(shown.begin, shown.end):
            return
        left, right = self.x_of(window.begin), self.x_of(window.end)
        self._fill(painter, left, right, "measure", 36)
        for x in (round(left), round(right)):
            self._fill(painter, x, x, "measure")
        text = translated(self.measure_text(window))  # in a small box at the top, entirely inside the view
        width = small_text(painter).horizontalAdvance(text) + 12
        at = min(max((left + right - width) / 2, 2.0), max(2.0, self._box.width() - width - 2))
        rect = QRectF(at, 4, width, 18)
        painter.setPen(self._theme.role("measure"))
        painter.setBrush(self._theme.role("base"))
        painter.drawRoundedRect(rect, 3, 3)
        painter.setPen(self._theme.role("text"))
        draw_text(painter, rect, Qt.AlignmentFlag.AlignCenter, text)


def soft(color: QColor, alpha: int) -> QColor:
    """Return a translucent version of a colour."""
    faint = QColor(color)
    faint.setAlpha(alpha)
    return faint


def bookmark_time(session: Session, mark: Selection) -> int | None:
    """Return the begin of a bookmarked token or wave, None if it is unknown."""
    store, trace = session.store, session.trace.value
    wave = None if store is None else store.wave_by_id(mark.wave)
    if wave is None:
        row = None if trace is None or mark.wave is None else trace.waves.row(mark.wave)
        return None if row is None or trace is None else int(trace.waves.begin[row])
    token = None if mark.line is None else wave.executions(mark.line).token(mark.hit)
    return wave.begin if token is None else wave.tokens.span(token).begin


MAX_LINES = 4000  # a trace
PREFIX = "event:"  # prefix of the ids of groups in a menu
ROLES = {
    EventKind.PACKET_LOSS: "error", EventKind.DISPATCH_END: "accent",
    EventKind.TT_STALL_BEGIN: "warning", EventKind.TT_STALL_END: "warning",
    EventKind.DIDT_STALL_BEGIN: "warning", EventKind.DIDT_STALL_END: "warning",
}  # fmt: skip


def event_lines(
    trace: Trace,
    hidden: Collection[str] | None = None,
    skip: Collection[EventKind] = (),
    without: Collection[int] = (),
) -> tuple[Line, ...]:
    """Return the lines of a trace in order of time.

    `hidden` holds ids of groups (with PREFIX) to leave out, by default the groups that are off by default;
    `skip` leaves out single types, `without` shader engines.
    """
    if hidden is None:
        hidden = {PREFIX + group.id for group in GROUPS if not group.is_on}
    lines = []
    for dispatch, name in zip(trace.dispatches, event_table.dispatch_names(trace), strict=True):
        if dispatch.se not in without and f"{PREFIX}dispatch" not in hidden:
            facts = f" ({text})" if (text := event_table.dispatch_facts(dispatch)) else ""
            what: str = Message("{0}: {1} dispatched", place_name(dispatch.se), name)
            lines.append(Line(dispatch.time, "accent", what, facts))
    events = trace.events
    if events is not None:
        types = ascending(events.kind).tolist()
        shown = [kind for kind in types if kind not in skip and PREFIX + group_of(kind) not in hidden]
        chosen = np.flatnonzero(np.isin(events.kind, shown))[: 8 * MAX_LINES]
        columns = (events.time[chosen], events.se[chosen], events.kind[chosen], lasting(events)[chosen])
        for time, se, kind, length in zip(*(column.tolist() for column in columns), strict=True):
            if se not in without:
                what = f"{place_name(se)}: {event_table.event_text(kind)}"
                lines.append(Line(time, ROLES.get(kind, "muted"), what, length=length))
    return tuple(sorted(lines, key=lambda line: line.time)[:MAX_LINES])


def event_choices(trace: Trace | None, skip: Collection[EventKind] = ()) -> list[FilterItem]:
    """Return the groups that occur in a trace, for a menu."""
    if trace is None:
        return []
    kinds = [] if trace.events is None else ascending(trace.events.kind).tolist()
    there = {group_of(kind) for kind in kinds if kind not in skip}
    if trace.dispatches:
        there.add("dispatch")
    groups = (group for group in GROUPS if group.id in there)
    return [FilterItem(PREFIX + group.id, group.title, group.is_on, group.tip) for group in groups]
