"""`rcv notes`: notes about a capture, listed, added, removed, and exchanged with other programs."""

from typing import TypeVar

from msgspec.structs import replace

from rcv_py.base.errors import UsageError
from rcv_py.base.problems import Severity
from rcv_py.base.text import Message, plural
from rcv_py.cli.answer import CommandAnswer, listing, matched
from rcv_py.cli.opening import opened
from rcv_py.cli.terminal import complain
from rcv_py.features.notes.options import NotesOptions
from rcv_py.features.notes.result import SCHEMA, note_table
from rcv_py.formats.notes.store import NotePlaces, export_notes, import_notes, new_note
from rcv_py.model.notes import Anchor, Note, NoteChanges
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow

Given = TypeVar("Given")
_DONE = {
    "add": "\nAdded {}: {}",
    "remove": "\nRemoved {}: {}",
    "import": "\nTook over {}: {}",
    "export": "\nWrote {}: {}",
}


def run(options: NotesOptions) -> CommandAnswer:
    """Carry out the requested change, then list all notes."""
    trace = opened(options)
    places = NotePlaces.of(trace)
    action = options.action or "list"
    changed, file = _do(action, options, trace, places)
    book = places.read()
    for problem in book.problems:
        complain(str(problem))
    texts = matched([note.words for note in book.notes], options)
    table = note_table(trace, [note for at, note in enumerate(book.notes) if texts is None or at in texts])
    lines = [Message(_DONE[action], plural(len(changed), "note"), file)] if action in _DONE else []
    answer = listing(
        options,
        trace,
        table,
        SCHEMA,
        lambda: {"action": action, "changed": changed, "kept_in": file, "total_rows": len(table)},
        footer=lambda shown: [Message("\n{0:,} of {1}.", len(shown), plural(len(table), "note")), *lines],
        about={"problems": map(str, book.problems)},
        why_none="" if len(table) or not lines else f"{lines[0].strip()}. {table.spec.nothing}",
    )
    return replace(answer, is_written=True)  # --out is the file of the notes, not of the answer


def _do(action: str, options: NotesOptions, trace: Trace, places: NotePlaces) -> tuple[list[str], str]:
    """Change notes; return the ids of the changed notes, and the file that was written."""
    if action == "list":
        return [], ""
    if action == "export":
        notes = places.read().notes
        export_notes(_needed(options.out, "--out", "a file to write"), notes, places)
        return [note.id for note in notes], str(options.out)
    if action == "add":
        changes = NoteChanges(put=(_new(options, trace),))
    elif action == "import":
        changes = NoteChanges(put=import_notes(_needed(options.file, "--file", "the file to read"), trace))
    else:
        ids = _needed(options.id, "--id", "the note, by the id that the list has")
        changes = NoteChanges(removed=frozenset(_named(one, places) for one in ids))
    kept_in = places.save(changes, is_beside=options.beside)
    return [*(note.id for note in changes.put), *sorted(changes.removed)], str(kept_in)


def _needed(value: Given | None, flag: str, what: str) -> Given:
    if not value:
        raise UsageError(Message("{0} is missing: {1}.", flag, what))
    return value


def _named(id_: str, places: NotePlaces) -> str:
    """The id that begins with the text; raise UsageError unless exactly one note matches."""
    ids = [note.id for note in places.read().notes]
    found = [one for one in ids if one == id_] or [one for one in ids if one.startswith(id_)]
    if len(found) != 1:
        notes = Message("{0} notes", len(found)) if found else "no note"
        what = Message("The capture has {0} {1}.", notes, id_)
        raise UsageError(what, hint="`rcv notes FOLDER` lists their ids.")
    return found[0]


def _new(options: NotesOptions, trace: Trace) -> Note:
    """The note of the options; raise UsageError if the capture has no such place."""
    if not options.title:
        raise UsageError("--title is missing: what the note says, on one line.")
    if options.source is not None and not options.source[0]:
        raise UsageError("--source names no file.", hint="Write it as kernel.py:186.")
    wave = None if options.wave is None else trace.waves.id(trace.wave_row(options.wave))
    span = trace.within(options.within)
    if options.at is not None:
        span = TimeWindow(options.at, options.at + 1)
    anchor = Anchor(tuple(options.line or ()), source=options.source, wave=wave, span=span)
    text, severity = options.note or "", Severity(options.severity or Severity.INFO)
    return new_note(trace, anchor, options.title, text=text, severity=severity, author=options.author or "")
