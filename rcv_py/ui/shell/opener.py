"""Open a path: a capture, captures below a folder, a baseline; keep the user's place in each capture."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QCryptographicHash, QObject, Signal

from rcv_py.base.errors import NotATrace, TraceError, UsageError
from rcv_py.base.progress import Stage
from rcv_py.base.text import Message, join_texts
from rcv_py.formats.locate import MAX_DEPTH, SESSION, Located, is_there, locate
from rcv_py.formats.open import capture_entry, find_captures
from rcv_py.model.trace import CaptureEntry, Trace, capture_title
from rcv_py.state.saved import restore_state, state_of
from rcv_py.state.session import Baseline, Session
from rcv_py.ui.core.loader import Loader
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.settings_store import Settings
from rcv_py.work.opening import open_capture
from rcv_py.work.reduce import Reducer

if TYPE_CHECKING:
    from rcv_py.analysis.compare.costs import CaptureCosts
    from rcv_py.analysis.core.reduction import Answers
    from rcv_py.analysis.device.wave_states import StateStrip
    from rcv_py.analysis.overview.library import LibraryRow
    from rcv_py.formats.session_file import SavedSession
    from rcv_py.model.profile import Profile
    from rcv_py.results.table import ResultTable

NOTHING_BELOW = "no capture lies in it or below it"
JUDGING = "health"  # topic of the jobs that look into listed captures
LOOKING = "Looking for captures"
RECENT_LIMIT = 10
MAX_JUDGED = 60  # captures: about 20 ms each


class Profiled(NamedTuple):
    """What a profiler wrote about a run that has no thread trace to open."""

    profile: Profile
    tables: Mapping[str, ResultTable]
    trace: str  # a sentence about raw traces


class Target(NamedTuple):
    """What lies at a path; `entries` are captures below a folder that is not a capture itself."""

    located: Located
    entries: tuple[CaptureEntry, ...] = ()
    profile: Profiled | None = None
    depth: int = MAX_DEPTH  # levels below the folder that were searched for entries
    saved: SavedSession | None = None  # from a session file, whose capture is at the path

    @property
    def capture(self) -> Path | None:
        """The requested capture: at the path, or the only capture below it if that can be opened."""
        if self.located.is_capture:
            return self.located.folder
        return self.entries[0].path if len(self.entries) == 1 and not self.entries[0].note else None


class Opener(QObject):
    """Opens what the user selects and saves it among recent captures."""

    choose = Signal(object, object, int)  # path, entries, levels below: the user must choose a capture
    profiled = Signal(object)  # Profiled
    failed = Signal(object)
    recent_changed = Signal()
    restored = Signal(object)  # SavedSession, once its capture is open
    judged = Signal(object)  # rows of the library, for the captures that `choose` listed

    def __init__(self, ui: UiContext, loader: Loader) -> None:
        super().__init__()
        self._ui, self._loader = ui, loader
        self.siblings: tuple[CaptureEntry, ...] = ()  # captures of the open one's parent folder
        self.is_searching = False
        self._saved: SavedSession | None = None  # state to restore once its capture is open
        loader.opened.connect(self._opened)
        loader.failed.connect(self.failed)

    def open(self, path: Path | str, depth: int = MAX_DEPTH) -> None:
        """Open a capture, or find the captures up to `depth` levels below a folder; answer by signal."""
        self.is_searching = True
        self._ui.session.show_stage(LOOKING, Stage(LOOKING))  # decoding small raw captures takes a moment
        place = Path(path).expanduser().absolute()
        self._ui.tasks.cancel(self, JUDGING)
        self._ui.tasks.run(self, lambda: find(place, depth), self._take_target, "open")

    def reload(self) -> None:
        """Read the open capture again."""
        trace = self._ui.session.trace.value
        if trace is not None:
            self._loader.open(trace.path)

    def close(self) -> None:
        """Close the open capture."""
        self._loader.close()
        self._ui.session.close()

    def _take_target(self, target: Target) -> None:
        self.is_searching = False
        self._ui.session.show_stage(LOOKING, None)
        folder, self._saved = target.located.folder, target.saved
        if target.capture is not None:
            self._loader.open(target.capture)
        elif target.profile is not None:
            self.remember(folder)
            self.profiled.emit(target.profile)
        elif target.entries:
            self.remember(folder)
            self.choose.emit(folder, target.entries, target.depth)
            self._judge(target.entries)
        else:
            error = NotATrace(folder, NOTHING_BELOW)
            error.hint = join_texts(" ", (error.hint, "Help › Documentation says how to record a capture."))
            self.failed.emit(target.located.error or error)

    def _judge(self, entries: tuple[CaptureEntry, ...]) -> None:
        """Look into captures that can be opened, in a thread; answer by signal.

        Numbers and health of all come first, then class and first finding of each, which need its waves.
        """
        from rcv_py.work.library import row_of  # noqa: PLC0415 - not needed to open a capture

        paths = [entry.path for entry in entries if not entry.note and not entry.is_part][:MAX_JUDGED]

        def find_next() -> None:
            if paths:
                path = paths.pop(0)
                self._ui.tasks.run(self, lambda: [row_of(path, has_findings=True)], take, JUDGING)

        def take(rows: list[LibraryRow]) -> None:
            self.judged.emit(rows)
            find_next()

        every = tuple(paths)
        self._ui.tasks.run(self, lambda: list(map(row_of, every)), take, JUDGING)

    def _opened(self, trace: Trace) -> None:
        if trace.is_part:  # the full answer follows
            return
        self.remember(trace.path, trace.kernel_name)
        if self._saved is not None:
            saved, self._saved = self._saved, None
            self.restored.emit(saved)
        self.siblings = ()
        self._ui.scheduler.importer.the_rest.after(self._look_beside)

    def _look_beside(self) -> None:
        """Find the captures next to the open capture, for a menu."""
        trace = self._ui.session.trace.value
        if trace is None:
            return
        parent = trace.path.parent

        def take(entries: tuple[CaptureEntry, ...]) -> None:
            self.siblings = entries

        self._ui.tasks.run(self, lambda: find_captures(parent, depth=1), take, "siblings")

    @property
    def recent(self) -> list[Path]:
        """Return paths opened before, newest first, without missing paths."""
        stored = self._ui.settings.memory("recent", [])
        stored = [stored] if isinstance(stored, str) else list(stored or [])
        return [Path(text) for text in stored if isinstance(text, str) and is_there(Path(text))]

    def title(self, path: Path) -> str:
        """Return the displayed title of a recent capture."""
        kernel = self._ui.settings.document("kernels", dict).get(str(path), "")
        return capture_title(path, kernel if isinstance(kernel, str) else "")

    def remember(self, path: Path, kernel: str = "") -> None:
        """Put a path first among the recent captures, with the kernel of its capture."""
        paths = [path, *(old for old in self.recent if old != path)][:RECENT_LIMIT]
        settings = self._ui.settings
        kernels = settings.document("kernels", dict) | {str(path): kernel}
        settings.remember("recent", [str(path) for path in paths])
        settings.keep("kernels", {str(one): kernels.get(str(one), "") for one in paths})
        self.recent_changed.emit()

    def forget_recent(self) -> None:
        """Clear the list of recent captures."""
        self._ui.settings.remember("recent", [])
        self.recent_changed.emit()


def find(path: Path, depth: int = MAX_DEPTH) -> Target:
    """Examine a path, or the folder of a file in no capture, up to `depth` levels below; for a thread."""
    located = Located(path)
    try:
        if path.suffix.lower() == SESSION:
            from rcv_py.formats.session_file import read_session  # noqa: PLC0415 - rarely used

            saved = read_session(path)
            return find(saved.capture)._replace(saved=saved)
        located = locate(path)
        if located.error is not None and path.is_file():
            from rcv_py.formats.input.run_places import is_profile  # noqa: PLC0415 - most captures are folders

            if is_profile(path):
                return Target(located, profile=_profiled(located.folder))
            located = locate(path.parent)
    except TraceError as error:
        return Target(located._replace(error=error))
    if located.is_capture or located.error is not None:
        return Target(located)
    return Target(located, tuple(map(capture_entry, located.captures(depth))), depth=depth)


def _profiled(path: Path) -> Profiled:
    from rcv_py.formats.rocpd.read import read_profile, trace_inside  # noqa: PLC0415 - it loads SQLite
    from rcv_py.results.profile import tables  # noqa: PLC0415 - rarely used

    profile = read_profile(path)
    return Profiled(profile, tables(profile), trace_inside(profile))


class BaselineOpener(QObject):
    """Reads all waves of a capture in a thread, with the loader's processes, and keeps its sums."""

    def __init__(self, ui: UiContext, show: Callable[[], None]) -> None:
        """`show` is called when the baseline is ready."""
        super().__init__()
        self._ui, self._show = ui, show

    def open(self, path: Path | str, replicate: Path | str | None = None) -> None:
        """Make a capture the baseline, with a `replicate` of its build for the noise; its job may fail."""
        jobs = [self._reading(one) for one in (path, replicate) if one is not None]

        def job() -> Baseline:
            baseline, *replicates = (read_one() for read_one in jobs)
            return replace(baseline, replicate=replicates[0]) if replicates else baseline

        self._ui.tasks.run(self, job, self._take)

    def open_replicate(self, path: Path | str) -> None:
        """Read another capture of the baseline's build: their differences count as noise from now on."""
        baseline, read_it = self._ui.session.baseline.value, self._reading(path)

        def job() -> Baseline:
            replicate = read_it()
            if baseline is not None and replicate.trace.path == baseline.trace.path:
                said = Message("{0} is the baseline itself, and nothing differs from itself.", path)
                raise UsageError(said, hint="Choose another recording of the same build.")
            return replicate

        def take(replicate: Baseline) -> None:
            baseline = self._ui.session.baseline.value
            if baseline is not None:  # the baseline may have been cleared meanwhile
                self._take(replace(baseline, replicate=replicate))

        self._ui.tasks.run(self, job, take, "replicate")

    def _reading(self, path: Path | str) -> Callable[[], Baseline]:
        from rcv_py.analysis.compare.costs import sums_from  # noqa: PLC0415 - not in a thread

        workers = int(self._ui.settings["load.workers"]) or None
        trace = self._ui.session.trace.value
        return lambda: read(Path(path).expanduser().absolute(), sums_from, workers, trace)

    def _take(self, baseline: Baseline) -> None:
        self._ui.session.baseline.set(baseline)
        self._show()


def read(
    path: Path,
    sums: Callable[[Answers], tuple[CaptureCosts, StateStrip]],
    workers: int | None = None,
    like: Trace | None = None,
) -> Baseline:
    """Return the capture at a path, or the only capture below it; raise RcvError with a sentence.

    Of several kernels of a compiled file the one of `like` counts, by name and target.  `sums` returns the
    costs of its waves, and their states over time.
    """
    target = find(path)
    if target.located.error is not None:
        raise target.located.error
    are_kernels = target.located.folder.is_file()  # each has the note that it has not run
    paths = [entry.path for entry in target.entries if are_kernels or not entry.note]
    if target.located.is_capture:
        paths = [target.located.folder]
    if not paths:
        raise NotATrace(path, NOTHING_BELOW)
    if len(paths) > 1 and like is not None:
        symbols = {kernel.name for kernel in like.code.kernels[:1]}
        same = [one for one in paths if one.name in symbols and one.parent.name == like.target]
        paths = same if len(same) == 1 else paths
    if len(paths) > 1:
        said = Message("{0} holds several captures, and a baseline is one.", path)
        raise UsageError(said, hint="Choose the folder of one capture.")
    trace = open_capture(paths[0])
    with Reducer(trace, workers=workers) as found:
        return Baseline(trace, *sums(found))


def _key(path: Path) -> str:
    # By Qt, since hashlib loads OpenSSL.
    digest = QCryptographicHash.hash(os.fsencode(path), QCryptographicHash.Algorithm.Sha1)
    return "capture/" + bytes(digest.toHex().data()).decode()[:16]


def save_visit(settings: Settings, session: Session) -> None:
    """Save the user's place in the open capture."""
    trace = session.trace.value
    if trace is not None:
        settings.keep(_key(trace.path), state_of(session))


def restore_visit(settings: Settings, session: Session) -> bool:
    """Restore the user's place in the open capture, as far as it fits; return whether there was one."""
    trace = session.trace.value
    state = {} if trace is None else settings.document(_key(trace.path), dict)
    if state:
        restore_state(session, state)
    return bool(state)
