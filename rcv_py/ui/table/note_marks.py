"""Marks of notes: a flag at the top of time views and next to rows, in the severity's colour."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPolygonF
from PySide6.QtWidgets import QMenu

from rcv_py.base.problems import Severity
from rcv_py.base.text import Message, elide_right
from rcv_py.model.notes import Anchor, Note
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.note_places import why_no_note
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import Rich, add_action, allow, joined, rich

ROLES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "accent"}
POLE_PX = 1.5
TIP_LETTERS = 400  # of the text of a note
TITLE_LETTERS = 30  # of a note in a menu
MAX_IN_TIP = 4
MAX_DRAWN = 2000  # flags


class NoteFlags:
    """The times of notes; caches the last answer, which is needed at every mouse move."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._key: tuple[object, ...] = ()
        self._flags: tuple[tuple[TimeWindow, Note], ...] = ()

    def all(self) -> Sequence[tuple[TimeWindow, Note]]:
        """Return time and note of each that has a time or a wave: a wave's time is its begin."""
        key = (self._session.trace.value, self._session.notes.shown.value)
        if not self._key or any(old is not new for old, new in zip(self._key, key, strict=True)):
            self._key, trace = key, key[0]
            self._flags = () if trace is None else tuple(_flags(trace, key[1]))[:MAX_DRAWN]
        return self._flags

    def near(self, time: int, cycles: int) -> list[Note]:
        """Return notes whose flag is at most a number of cycles from a time."""
        return [note for span, note in self.all() if abs(span.begin - time) <= cycles]


def _flags(trace: Trace, notes: Iterable[Note]) -> Iterable[tuple[TimeWindow, Note]]:
    for note in notes:
        anchor = note.anchor
        if anchor.span is not None:
            yield anchor.span, note
        elif anchor.wave is not None and (row := trace.waves.row(anchor.wave)) is not None:
            begin = int(trace.waves.begin[row])
            yield TimeWindow(begin, begin + 1), note


def paint_flag(painter: QPainter, x: float, y: float, side: float, color: QColor) -> None:
    """Paint a flag of a size with its pole at a point."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(color)
    painter.setBrush(color)
    painter.fillRect(QRectF(x, y, POLE_PX, side), color)
    corners = ((POLE_PX, 0.0), (side * 0.85, side * 0.3), (POLE_PX, side * 0.6))
    painter.drawPolygon(QPolygonF([QPointF(x + dx, y + dy) for dx, dy in corners]))
    painter.restore()


def role_of(notes: Iterable[Note]) -> str:
    """Return the theme role of several notes: the role of the most severe note."""
    there = {note.severity for note in notes}
    return next(role for severity, role in ROLES.items() if severity in there)


def by_instruction(trace: Trace, notes: Iterable[Note]) -> dict[int, tuple[Note, ...]]:
    """Return the notes about each row of the code."""
    found: dict[int, tuple[Note, ...]] = {}
    for note in notes:
        for row in note.anchor.known(trace).instructions:
            found[row] = (*found.get(row, ()), note)
    return found


def by_line(trace: Trace, notes: Iterable[Note], file: int) -> dict[int, tuple[Note, ...]]:
    """Return the notes about each line of a source file, counted from 1."""
    found: dict[int, tuple[Note, ...]] = {}
    for note in notes:
        place = note.anchor.place_in(trace)
        if place is not None and place[0] == file:
            found[place[1]] = (*found.get(place[1], ()), note)
    return found


def note_tip(notes: Sequence[Note]) -> Rich:
    """Return titles and texts of notes as rich text; "" without any."""
    parts = []
    for note in notes[:MAX_IN_TIP]:
        parts.append(rich("<b>{}</b> {}", Message("Note: {0}", note.title), f"({note.severity})"))
        if note.text:
            text = elide_right(note.text, TIP_LETTERS)
            parts.append(rich("<span style='white-space:pre-wrap'>{}</span>", text))
    if len(notes) > MAX_IN_TIP:
        parts.append(rich("and {} more", len(notes) - MAX_IN_TIP))
    return joined("<br>", parts)


def time_actions(session: Session, anchor: Anchor) -> list[tuple[str, Callable[[], object]]]:
    """Return the menu entries of a time view for writing notes: here, and about a measured range."""
    write, measured = session.notes.write, session.measure.value
    actions: list[tuple[str, Callable[[], object]]] = [("Note about this moment …", partial(write, anchor))]
    if measured is not None:
        actions.append(("Note about the measured range …", partial(write, Anchor(span=measured))))
    return [] if why_no_note(session) else actions


def note_actions(session: Session, notes: Iterable[Note]) -> list[tuple[str, Callable[[], object]]]:
    """Return the menu entries for existing notes."""
    actions: list[tuple[str, Callable[[], object]]] = []
    for note in tuple(notes)[:MAX_IN_TIP]:
        named = elide_right(note.title, TITLE_LETTERS)
        actions.append((Message("Edit the note “{0}” …", named), partial(session.notes.draft.set, note)))
        actions.append((Message("Remove the note “{0}”", named), partial(session.notes.remove, note.id)))
    return actions


def add_note_actions(menu: QMenu, session: Session, about: Anchor, notes: Iterable[Note]) -> None:
    """Add entries to a row's menu: write a note, and act on the row's notes."""
    write = add_action(menu, "Write a note …", lambda: session.notes.write(about))
    allow(write, why_no_note(session))
    for title, call in note_actions(session, notes):
        add_action(menu, title, call)
