"""Notes on the open capture, which are shown at once and written by the store of files."""

from rcv_py.model.notes import Anchor, Note, NoteChanges
from rcv_py.state.cell import Cell


class SessionNotes:
    """Notes on the open capture, as cells and verbs; the store of files reads `changes` and calls `take`."""

    def __init__(self) -> None:
        self.shown: Cell[tuple[Note, ...]] = Cell(())  # of the files, with unsaved changes
        self.changes: Cell[NoteChanges | None] = Cell(None)  # which are not in a file yet
        self.draft: Cell[Note | None] = Cell(None)  # the note in the editor; a new note has no id
        self._filed: tuple[Note, ...] = ()  # as in the files

    def write(self, anchor: Anchor) -> None:
        """Let the user write a note about a place."""
        self.draft.set(Note(id="", title="", anchor=anchor))

    def put(self, note: Note) -> None:
        """Add a note, or replace one by a new version."""
        self._change(NoteChanges(put=(note,)))

    def remove(self, id_: str) -> None:
        """Remove a note."""
        self._change(NoteChanges(removed=frozenset((id_,))))

    def take(self, filed: tuple[Note, ...], saved: NoteChanges | None = None) -> None:
        """Show the current notes of files, with the user's changes except `saved`, which files have."""
        self._filed, left = filed, self.changes.value
        if left is not None and saved is not None:
            left = left.without(saved) or None
        self.shown.set(filed if left is None else left.on(filed))
        self.changes.set(left)

    def forget(self) -> None:
        """Show the notes of no capture."""
        self._filed = ()
        self.draft.set(None)
        self.changes.set(None)
        self.shown.set(())

    def _change(self, changes: NoteChanges) -> None:
        self.draft.set(None)
        left = self.changes.value
        left = changes if left is None else left.then(changes)
        self.shown.set(left.on(self._filed))
        self.changes.set(left)
