"""What to do with a path: open the capture, show the captures below it, or say why neither."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from rcv_py.base.errors import NotATrace
from rcv_py.formats.open import find_captures, is_capture
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.loader import Loader
from rcv_py.work.library import row_of

RECENT_LIMIT = 10
MOST_JUDGED = 60  # captures: about two hundredths of a second each


@dataclass(frozen=True, slots=True)
class Found:
    """What lies at a path."""

    path: Path
    is_capture: bool
    entries: tuple[CaptureEntry, ...] = ()


class Opener(QObject):
    """Opens what the user asks for and remembers it."""

    choose = Signal(object, object)  # path, entries: the user must choose a capture
    failed = Signal(object)
    recent_changed = Signal()
    siblings_changed = Signal()
    judged = Signal(object)  # rows of the library, of captures that `choose` was about

    def __init__(self, ui: UiContext, loader: Loader) -> None:
        super().__init__()
        self._ui = ui
        self._loader = loader
        self.siblings: tuple[CaptureEntry, ...] = ()  # captures of the open one's parent folder
        self.is_searching = False
        loader.opened.connect(self._opened)
        loader.failed.connect(self.failed)

    # -- opening ------------------------------------------------------------------------------------

    def open(self, path: Path | str) -> None:
        """Open a capture, or find the captures below a folder; answers by signal."""
        place = Path(path).expanduser().absolute()
        if not place.exists():
            self.failed.emit(NotATrace(place, "there is no such file or folder"))
            return
        self.is_searching = True
        self._ui.tasks.run(self, lambda: found(place), self._found, "open")

    def reload(self) -> None:
        """Read the open capture again."""
        trace = self._ui.session.trace.value
        if trace is not None:
            self._loader.open(trace.path)

    def close(self) -> None:
        """Close the open capture."""
        self._loader.close()
        self._ui.session.close()

    def _found(self, answer: Found) -> None:
        self.is_searching = False
        if answer.is_capture:
            self._loader.open(answer.path)
        elif len(answer.entries) == 1 and not answer.entries[0].note:
            self._loader.open(answer.entries[0].path)
        elif answer.entries:
            self.remember(answer.path)
            self.choose.emit(answer.path, answer.entries)
            self._judge(answer.entries)
        else:
            self.failed.emit(NotATrace(answer.path, "no capture lies in it or below it"))

    def _judge(self, entries: tuple[CaptureEntry, ...]) -> None:
        """Look at the health of captures that can be opened, in a thread; answers by signal."""
        paths = [entry.path for entry in entries if not entry.note][:MOST_JUDGED]
        self._ui.tasks.run(self, lambda: list(map(row_of, paths)), self.judged.emit, "health")

    def _opened(self, trace: Trace) -> None:
        self.remember(trace.path)
        self.siblings = ()
        self.siblings_changed.emit()
        parent = trace.path.parent
        self._ui.tasks.run(self, lambda: find_captures(parent, depth=1), self._siblings_found, "siblings")

    def _siblings_found(self, entries: tuple[CaptureEntry, ...]) -> None:
        self.siblings = entries
        self.siblings_changed.emit()

    # -- recent captures ----------------------------------------------------------------------------

    @property
    def recent(self) -> list[Path]:
        """Paths opened before, newest first; those that are gone are left out."""
        stored = self._ui.settings.memory("recent", [])
        stored = [stored] if isinstance(stored, str) else list(stored or [])
        return [Path(text) for text in stored if isinstance(text, str) and Path(text).exists()]

    def remember(self, path: Path) -> None:
        """Put a path in front of the recent ones."""
        paths = [path, *(old for old in self.recent if old != path)][:RECENT_LIMIT]
        self._ui.settings.remember("recent", [str(path) for path in paths])
        self.recent_changed.emit()

    def forget_recent(self) -> None:
        """Empty the list of recent captures."""
        self._ui.settings.remember("recent", [])
        self.recent_changed.emit()


def found(path: Path) -> Found:
    """Look at a path; in a thread, for it reads files."""
    if is_capture(path):
        return Found(path, True)
    folder = path if path.is_dir() else path.parent
    if is_capture(folder):
        return Found(folder, True)
    return Found(folder, False, find_captures(folder))
