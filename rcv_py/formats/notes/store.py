"""Files of notes about a capture: read and change them.

| place | what it is |
|---|---|
| `annotations.json` in the folder of the capture, `NAME.annotations.json` next to a packed one | shared |
| `notes.json` in a packed capture | written by `rcv pack --with-notes`; never changed |
| `IDENTITY.json` in the user's folder | all other notes, found by the capture's fingerprint |

All of them are shown.  A note in a file that cannot or must not be written is changed or removed in the
user's file.  Changes are applied to the current contents of the file, so that another program's changes stay.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from rcv_py.base.errors import BrokenFile, ExportError, MissingFile, TraceError, UsageError
from rcv_py.base.machine.user_folders import data_folder
from rcv_py.base.problems import Problem, Problems, Severity
from rcv_py.base.record import Value
from rcv_py.base.text import Message, elide_right, plural
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.input.columns import table_of
from rcv_py.formats.input.files import read_bytes
from rcv_py.formats.notes.document import FILE_BYTES, NoteDocument, SlotClocks, document_of, read_notes
from rcv_py.formats.packed.archive import NOTES as MEMBER
from rcv_py.formats.packed.archive import SUFFIX, Archive
from rcv_py.model.notes import TEXT_LETTERS, Anchor, Note, NoteChanges, one_line
from rcv_py.model.trace import Trace

PLACE = "RCV_NOTES"  # names the user's folder, where it is set
BESIDE = "annotations.json"
ID_BYTES = 4
IDENTITY_LETTERS = 32
OWN_PLACE = "your notes"  # name of the user's file
_FOREIGN = "the notes in it are not shown"


def identity(trace: Trace) -> str:
    """Return a name of 32 hexadecimal digits that follows from the waves and the instructions of a capture.

    It is the same for a copy, a packed capture and one that was unpacked again, and another one for another
    recording of the same program: waves begin and end at other cycles.  Costs are part of it where
    there are no waves.
    """
    digest = hashlib.sha256()
    index, code = trace.waves, trace.code
    start = int(index.begin.min()) if len(index) else 0
    waves = (index.se, index.simd, index.slot, index.wid, index.begin - start, index.end - start)
    costs = () if len(index) else (code.hits, code.latency)
    for column in (*waves, code.codeobj, code.address, *costs):
        digest.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
    digest.update("\n".join(code.text).encode("utf-8", "replace"))
    return digest.hexdigest()[:IDENTITY_LETTERS]


class Notebook(Value):
    """The notes of a capture from all files, and problems of the files."""

    identity: str
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()


class NotePlaces(Value):
    """The files that may hold notes of a capture."""

    trace: Trace
    identity: str
    own: Path

    @classmethod
    def of(cls, trace: Trace, folder: Path | None = None) -> NotePlaces:
        """Return the files of a capture; `folder` is the user's, by default this machine's."""
        name = identity(trace)
        return cls(trace=trace, identity=name, own=(folder or user_folder()) / f"{name}.json")

    @property
    def beside(self) -> Path:
        """The file in the folder of the capture, or next to its packed file."""
        path = self.trace.path
        return path.with_name(f"{path.name}.{BESIDE}") if path.is_file() else path / BESIDE

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that other programs may write."""
        return self.beside, self.own

    @property
    def about(self) -> dict[str, str]:
        """The fields of a file that identify its capture."""
        return {"identity": self.identity, "capture": self.trace.name, "kernel": self.trace.kernel_name[:200]}

    def read(self) -> Notebook:
        """Return all notes; a file that cannot be read costs its notes and becomes a problem."""
        problems, found = Problems(), dict[str, Note]()
        places = [(self.trace.path, MEMBER)] if self._is_packed else []
        places += [(self.beside, self.beside.name), (self.own, OWN_PLACE)]  # later ones override earlier ones
        documents = [self._read(*one, problems) for one in places]
        for document in documents:
            found |= {note.id: note for note in document.notes}
        notes = (note for id_, note in found.items() if id_ not in documents[-1].removed)
        return Notebook(self.identity, tuple(notes), tuple(problems))

    @property
    def _is_packed(self) -> bool:
        path = self.trace.path
        return path.name.endswith(SUFFIX) and path.is_file()

    def _read(self, path: Path, name: str, problems: Problems) -> NoteDocument:
        try:
            return self._load(path, name)
        except TraceError as error:
            problems.warn(name, f"{str(error).removesuffix('.')}; {_FOREIGN}.", "Correct or remove it.")
        return NoteDocument()

    def _load(self, path: Path, name: str) -> NoteDocument:
        """Return a document, an empty one if there is no file; raise TraceError if it cannot be used."""
        if name == MEMBER:
            archive = Archive(path)
            data = bytes(archive.read(MEMBER)) if MEMBER in archive.members else b""
        else:
            try:
                data = read_bytes(path.parent, path.name, FILE_BYTES)
            except MissingFile:
                data = b""
        lanes = SlotClocks.of(self.trace)
        if not data.strip():
            return NoteDocument(lanes=lanes)
        document = read_notes(data, path.name if name == OWN_PLACE else name, name, lanes)
        named = table_of((document.head or {}).get("rcv")).get("identity")
        if name != OWN_PLACE and isinstance(named, str) and named not in ("", self.identity):
            raise BrokenFile(name, "it is about another capture")
        return document

    def save(self, changes: NoteChanges, *, is_beside: bool = False) -> Path:
        """Write changes and return the file; raise ExportError, with nothing changed, on failure.

        With `is_beside` they go into the file next to the capture, unless that cannot be written.
        """
        if is_beside:
            try:
                self._write(self.beside, self.beside.name, changes)
            except ExportError:
                is_beside = False
        if not is_beside:
            self._write(self.own, OWN_PLACE, changes, changes.removed)
            return self.own
        # A version in the user's file would still count, and so would a packed version.
        hidden = changes.removed if self._is_packed else frozenset()
        if hidden or self.own.is_file():
            gone = changes.removed | {note.id for note in changes.put}
            self._write(self.own, OWN_PLACE, NoteChanges(removed=gone), hidden)
        return self.beside

    def _write(
        self, path: Path, name: str, changes: NoteChanges, hidden: frozenset[str] = frozenset()
    ) -> None:
        try:
            document = self._load(path, name)
        except TraceError as error:  # it is not changed: it may hold more than we understand
            raise ExportError(
                Message("The note was not saved: {0}", error),
                hint=Message("Correct or remove {0}, then try again.", path),
            ) from error
        changed = document.changed(changes, self.about, hidden)
        with whole_file(path) as target:
            target.write(changed.written())

    def packed(self, notes: tuple[Note, ...]) -> bytes:
        """Return the member of a packed capture that holds these notes."""
        return document_of(notes, self.about, SlotClocks.of(self.trace)).written()


def import_notes(path: Path, trace: Trace) -> tuple[Note, ...]:
    """Return the notes about a capture in a file that the user names; raise TraceError."""
    data = read_bytes(path.absolute().parent, path.name, FILE_BYTES)
    document = read_notes(data, path.name, lanes=SlotClocks.of(trace))
    if not document.notes and document.left_out:
        entries = plural(document.left_out, "entry")
        raise BrokenFile(path.name, Message("none of its {0} is an annotation", entries))
    return document.notes


def export_notes(path: Path, notes: tuple[Note, ...], places: NotePlaces) -> None:
    """Write notes as `annotations.json`; other entries of the file stay.  Raise ExportError."""
    lanes = SlotClocks.of(places.trace)
    document = NoteDocument(lanes=lanes)
    if path.is_file():
        try:
            data = read_bytes(path.absolute().parent, path.name, FILE_BYTES)
            document = read_notes(data, path.name, lanes=lanes)
        except TraceError as error:
            why = Message("{0} is not replaced: {1}", path, error)
            raise ExportError(why, hint="Choose another name.") from error
    with whole_file(path, makes_folders=False) as target:
        target.write(document.changed(NoteChanges(put=notes), places.about).written())


def new_note(
    trace: Trace,
    anchor: Anchor,
    title: str,
    *,
    text: str = "",
    severity: Severity = Severity.INFO,
    author: str = "",
) -> Note:
    """Return a new note with its own id; raise UsageError if it has no text, or no place."""
    title = one_line(title)
    if not title:
        raise UsageError("A note needs a title: what it says, on one line.")
    if why := anchor.why_not(trace):
        raise UsageError(why)
    return Note(
        id=secrets.token_hex(ID_BYTES),
        title=title,
        text=elide_right(text, TEXT_LETTERS),
        severity=severity,
        anchor=anchor,
        author=one_line(author),
        written=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    )


def user_folder() -> Path:
    """The folder of the user's notes on this machine."""
    return Path(os.environ.get(PLACE) or data_folder("notes"))
