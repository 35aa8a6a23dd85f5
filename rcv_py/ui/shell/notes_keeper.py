"""Read the notes of the open capture, write the user's changes, and follow changes of the files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject

from rcv_py.base.errors import RcvError
from rcv_py.base.problems import Problem, Problems
from rcv_py.base.text import Message
from rcv_py.model.notes import NoteChanges
from rcv_py.ui.core.frame_budget import one_shot
from rcv_py.ui.core.panel import UiContext

if TYPE_CHECKING:  # a window without a capture needs none of it
    from rcv_py.formats.notes.store import Notebook, NotePlaces
    from rcv_py.formats.session_file import SavedSession

FIRST_MS = 400  # delay after a capture is shown: notes are not urgent
AGAIN_MS = 250  # delay after a file changed: its writer may not have finished
RETRY_MS = 20_000  # delay after a file could not be written
BESIDE = "annotations.json"
OTHER = "belongs to another capture than the open capture."
ANALYSIS = "notes"  # source of the reported problems


class NotesKeeper(QObject):
    """Keeps the notes of the session and their files equal.

    A change is written at once, on top of the file's current contents.  While writing fails, the user's
    changes stay in the session, a problem reports it, and writing is retried.  If settings are in memory, so
    are notes, and files are only read.
    """

    def __init__(self, ui: UiContext) -> None:
        super().__init__()
        self._ui, self._session = ui, ui.session
        self._places: NotePlaces | None = None
        self._book: Notebook | None = None
        self._saving: NoteChanges | None = None
        self._left = NoteChanges()  # changes not in any file yet, also once another capture is open
        self._problems: tuple[Problem, ...] = ()
        self._session_file: SavedSession | None = None  # its notes are to be imported
        self._watcher: QFileSystemWatcher | None = None
        self._first = one_shot(self, self._begin, FIRST_MS)
        self._again = one_shot(self, self.read, AGAIN_MS)
        self._retry = one_shot(self, self._save, RETRY_MS)
        self._session.trace.watch(self._opened)
        self._session.notes.changes.watch(self._save)
        self._begin()

    @property
    def is_busy(self) -> bool:
        """Return whether notes are being read or written, or soon will be because a file changed."""
        return self._again.isActive() or self._ui.tasks.is_busy(self)

    @property
    def _is_kept(self) -> bool:
        return self._ui.settings.folder is not None

    def _opened(self) -> None:
        trace, places, left = self._session.trace.value, self._places, self._left
        self._left = NoteChanges()
        if places is not None and left and left != self._saving:  # try once more
            self._write(places, left)
        self._places = self._book = self._saving = None
        self._problems = ()
        self._again.stop()
        self._retry.stop()
        if self._watcher is not None and (watched := [*self._watcher.files(), *self._watcher.directories()]):
            self._watcher.removePaths(watched)
        if trace is not None and not trace.is_part:
            self._first.start()

    def _begin(self) -> None:
        """Find the files of the capture; import the modules here and not in a thread."""
        trace = self._session.trace.value
        is_wanted = self._is_kept or self._session_file is not None
        path = Path() if trace is None else trace.path
        has_notes = path.is_file() or (path / BESIDE).is_file()  # in it or next to it
        if trace is None or trace.is_part or not (is_wanted or has_notes):
            return
        from rcv_py.formats.notes.store import NotePlaces  # noqa: PLC0415 - after the first painting

        def find() -> tuple[NotePlaces, Notebook]:
            places = NotePlaces.of(trace)
            return places, places.read()

        def take(found: tuple[NotePlaces, Notebook]) -> None:
            if self._session.trace.value is trace:
                self._places, book = found
                self._watch(self._places)
                self._take(book)
                self._take_over()
                self._save()

        self._ui.tasks.run(self, find, take, "read")

    def read(self) -> None:
        """Read all files again; the user's unsaved changes stay."""
        places = self._places

        def take(book: Notebook) -> None:
            if places is not None and places is self._places:
                self._watch(places)
                self._take(book)

        if places is not None:
            self._ui.tasks.run(self, places.read, take, "read")

    def take_over(self, saved: SavedSession) -> None:
        """Import the notes of a session file; report it if they concern another capture."""
        self._session_file = saved
        if self._places is not None:
            self._take_over()
        elif not self._ui.tasks.is_busy(self):
            self._begin()

    def _take_over(self) -> None:
        saved, places, self._session_file = self._session_file, self._places, None
        if saved is None or places is None:
            return
        if saved.identity and saved.identity != places.identity:
            problems = Problems()
            problems.warn(saved.path.name, f"{saved.path.name} {OTHER}", "Notes and bookmarks may not fit.")
            self._session.report("session", tuple(problems))
        there = {note.id for note in self._session.notes.shown.value}
        for note in saved.notes:
            if note.id not in there:
                self._session.notes.put(note)

    def _take(self, book: Notebook, saved: NoteChanges | None = None) -> None:
        self._book = book
        self._session.notes.take(book.notes, saved)
        self._report()

    def _report(self) -> None:
        read = () if self._book is None else self._book.problems
        self._session.report(ANALYSIS, (*read, *self._problems))

    def _watch(self, places: NotePlaces) -> None:
        """Watch the files; a replaced file must be watched anew."""
        if self._watcher is None:
            self._watcher = QFileSystemWatcher(self)
            self._watcher.fileChanged.connect(lambda _: self._again.start())
            self._watcher.directoryChanged.connect(lambda _: self._again.start())
        known = {*self._watcher.files(), *self._watcher.directories()}
        files = places.files if self._is_kept else (places.beside,)
        paths = {str(path) for file in files for path in (file, file.parent) if path.exists()}
        if new := sorted(paths - known):
            self._watcher.addPaths(new)

    def _save(self) -> None:
        places, changes = self._places, self._session.notes.changes.value
        if changes:
            self._left = changes
        if changes is None or places is None or self._saving is not None or not self._is_kept:
            return
        self._saving = changes
        self._write(places, changes)

    def _write(self, places: NotePlaces, changes: NoteChanges) -> None:
        is_beside = bool(self._ui.settings["notes.beside"])

        def save() -> tuple[NotePlaces, NoteChanges, Notebook | RcvError]:
            try:
                places.save(changes, is_beside=is_beside)
                return places, changes, places.read()
            except RcvError as error:
                return places, changes, error

        topic = f"save {places.identity}"  # a write for another capture does not mute it
        self._ui.tasks.run(self, save, lambda done: self._saved(*done), topic)

    def _saved(self, places: NotePlaces, changes: NoteChanges, done: Notebook | RcvError) -> None:
        if places is not self._places:
            if isinstance(done, RcvError):
                self._ui.tasks.failed.emit(done, self)
            return
        self._saving = None
        if isinstance(done, RcvError):
            problems = Problems()
            problems.warn("notes", Message("Notes are not kept yet: {0}", done), done.hint)
            self._problems = tuple(problems)
            self._report()
            self._retry.start()
            return
        self._problems = ()
        self._watch(places)
        self._take(done, changes)
        self._left = self._session.notes.changes.value or NoteChanges()
        self._save()

    def close(self) -> None:
        """Write the remaining changes at once: the window is closing."""
        places, left = self._places, self._left
        if places is None or not left or not self._is_kept:
            return
        try:
            places.save(left, is_beside=bool(self._ui.settings["notes.beside"]))
        except RcvError as error:
            self._ui.tasks.failed.emit(error, self)
