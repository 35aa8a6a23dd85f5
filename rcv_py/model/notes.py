"""Notes that people and agents write about a capture, and changes of notes."""

from __future__ import annotations

from collections.abc import Iterable

from rcv_py.base.problems import Severity
from rcv_py.base.record import Value
from rcv_py.base.text import Message, elide_right, join_texts, visible
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow

TITLE_LETTERS = 200
TEXT_LETTERS = 20_000
MAX_INSTRUCTIONS = 1000  # of a note
_NAMED = 3  # instructions that the text of a place names


class Anchor(Value):
    """The place of a note; any part may be absent, and together they are one place.

    `instructions` are rows of the code table, `source` is a path as in the capture and a 1-based line,
    `span` is in aligned cycles; a moment is one cycle wide.
    """

    instructions: tuple[int, ...] = ()
    source: tuple[str, int] | None = None
    wave: WaveId | None = None
    span: TimeWindow | None = None

    @property
    def when(self) -> str:
        """Its time as text, "" if it has none."""
        if self.span is None:
            return ""
        is_moment = self.span.width == 1
        return Message("cycle {0:,}", self.span.begin) if is_moment else Message("cycles {0}", self.span)

    def __str__(self) -> str:
        named: list[str] = [Message("instruction {0}", row) for row in self.instructions[:_NAMED]]
        more = len(self.instructions) - _NAMED
        if more > 0:
            named.append(Message("and {0:,} more", more))
        if self.source is not None:
            named.append(f"{self.source[0]}:{self.source[1]}")
        if self.wave is not None:
            named.append(str(self.wave))
        if self.span is not None:
            named.append(self.when)
        return join_texts(", ", named) or "the capture"

    def place_in(self, trace: Trace) -> tuple[int, int] | None:
        """Return (index of the source file, line) in a trace; None unless one file has this path or end."""
        if self.source is None:
            return None
        path, line = self.source
        exact = [at for at, file in enumerate(trace.sources) if file.path == path]
        ending = "/" + path.lstrip("/")
        found = exact or [at for at, file in enumerate(trace.sources) if file.path.endswith(ending)]
        return (found[0], line) if len(found) == 1 else None

    def known(self, trace: Trace) -> Anchor:
        """Return the parts that exist in a trace."""
        wave = self.wave
        return Anchor(
            instructions=tuple(row for row in self.instructions if 0 <= row < len(trace.code)),
            source=self.source if self.place_in(trace) is not None else None,
            wave=wave if wave is not None and trace.waves.row(wave) is not None else None,
            span=self.span,
        )

    def why_not(self, trace: Trace) -> str:
        """Why a trace has no such place, as a sentence; "" if it has."""
        rows = [row for row in self.instructions if not 0 <= row < len(trace.code)]
        if rows:
            return Message("The capture has no instruction {0}; they are counted from 0.", rows[0])
        if self.wave is not None and trace.waves.row(self.wave) is None:
            return Message("The capture has no wave {0}.", self.wave)
        if self.span is not None and not self.span.overlaps(trace.span.begin, trace.span.end + 1):
            return Message("The capture has no {0}; it is about {1}.", self.when, trace.span)
        if self.source is not None and self.place_in(trace) is None:
            return Message("The capture has no source file {0}.", self.source[0])
        return ""


class Note(Value):
    """A title and a text about a place, and its importance.

    Both are untrusted plain texts, without markup.  The title is one line.  `kept_in` is the name of the file
    that it was read from.
    """

    id: str
    title: str
    text: str = ""
    severity: Severity = Severity.INFO
    anchor: Anchor = Anchor()
    author: str = ""
    written: str = ""  # time, ISO 8601 in UTC; "" if unknown
    kept_in: str = ""

    @property
    def words(self) -> str:
        """Title and text, for a search and a tooltip."""
        return f"{self.title}\n{self.text}" if self.text else self.title


class NoteChanges(Value):
    """Changes that are not saved yet: new and changed notes, and the ids of removed notes."""

    put: tuple[Note, ...] = ()
    removed: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.put or self.removed)

    def then(self, later: NoteChanges) -> NoteChanges:
        """Return both changes in sequence."""
        gone = later.removed | {note.id for note in later.put}
        kept = tuple(note for note in self.put if note.id not in gone)
        added = frozenset(note.id for note in later.put)
        return NoteChanges(put=(*kept, *later.put), removed=(self.removed - added) | later.removed)

    def without(self, saved: NoteChanges) -> NoteChanges:
        """Return the changes still to save after `saved`: later changes of the same notes stay."""
        put = tuple(note for note in self.put if note not in saved.put)
        return NoteChanges(put, self.removed - saved.removed)

    def on(self, notes: Iterable[Note]) -> tuple[Note, ...]:
        """Return notes with these changes: a changed note replaces the old, new notes come last."""
        by_id = {note.id: note for note in notes if note.id not in self.removed}
        return tuple((by_id | {note.id: note for note in self.put}).values())


def one_line(text: str, letters: int = TITLE_LETTERS) -> str:
    """Return a text on one line, with escapes for invisible characters, cut at `letters`."""
    return elide_right(visible(" ".join(text.split())), letters)
