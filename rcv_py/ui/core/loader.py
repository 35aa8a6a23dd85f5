"""Opens captures and streams their waves into the session, off the UI thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Semaphore, Thread

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, Report, Stage
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.session import Session
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.tasks import Garbage
from rcv_py.work.load import STAGE, WaveStream, prepare

NOTIFY_MS = 80  # panels hear of new waves at most this often
MAX_BATCHES_AHEAD = 4  # read ahead of the UI thread; more would only fill memory
TIMEOUT_S = 5.0  # for a thread to end
POLL_S = 0.1

OpenPath = Callable[[Path, Report], Trace]


class Loader(QObject):
    """One capture at a time: opening another one ends the first.  Answers are signals on the UI thread."""

    opened = Signal(object)  # Trace
    batch = Signal(object)  # WaveBatch
    failed = Signal(object)  # an exception
    stage = Signal(object)  # Stage, or None when nothing is being read
    finished = Signal()  # no more waves will come unless they are wanted
    posted = Signal(object, object)  # from any thread: a load, and what to do if it is still the present one

    def __init__(self, settings: Settings | None = None, open_path: OpenPath | None = None) -> None:
        super().__init__()
        self._settings = settings
        self._open_path = open_path or _open_folder
        self._load: _Load | None = None
        self._ended: list[_Load] = []  # told to stop, perhaps still finishing a file
        self._session: Session | None = None
        self._notify = QTimer(self, singleShot=True, interval=NOTIFY_MS)
        self._notify.timeout.connect(self._report_waves)
        self.posted.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    # -- requests -----------------------------------------------------------------------------------

    def open(self, path: Path) -> None:
        """Open a capture folder and read all its waves; what was open before is no longer heard of."""
        self._end()
        workers = None if self._settings is None else int(self._settings["load.workers"])
        self._load = _Load(self, partial(self._open_path, Path(path)), workers, self._is_lacking)
        self._load.start()

    def prioritize(self, rows: Iterable[int]) -> None:
        """Read these waves before all others, also if reading has ended."""
        if self._load is not None:
            self._load.prioritize(list(rows))

    def cancel(self) -> None:
        """Stop reading; what has arrived stays, and waves that are selected are still read."""
        if self._load is None:
            return
        if self._load.has_opened:
            self._load.stop_reading()
        else:
            self._end()

    def close(self) -> None:
        """Stop reading, and wait until every thread and process has gone."""
        self._end()
        self._notify.stop()
        for load in self._ended:
            load.thread.join(TIMEOUT_S)
        self._ended = []

    @property
    def idle(self) -> bool:
        """Whether everything asked for has arrived."""
        return (self._load is None or self._load.due == 0) and not self._notify.isActive()

    def _end(self) -> None:
        """Hear no more of the present load; its thread ends on its own."""
        if self._load is not None:
            self._load.stop()
            self._ended = [*(load for load in self._ended if load.thread.is_alive()), self._load]
            self._load = None
            self.stage.emit(None)

    # -- the session --------------------------------------------------------------------------------

    def bind(self, session: Session) -> None:
        """Put what is read into the session, and read what is selected in it first."""
        self._session = session
        self.opened.connect(self._show)
        self.batch.connect(self._store)
        self.stage.connect(self._show_stage)
        session.selection.watch(self._follow)

    def _show(self, trace: Trace) -> None:
        assert self._session is not None
        self._session.open(trace)
        if self._settings is not None and self._session.store is not None:
            self._session.store.budget = int(self._settings["load.budget_gb"]) << 30

    def _store(self, batch: WaveBatch) -> None:
        store = None if self._session is None else self._session.store
        if store is None:
            return
        store.add(batch)
        if store.is_full and self._load is not None:
            self._load.stop_reading()
        if not self._notify.isActive():
            self._notify.start()

    def _report_waves(self) -> None:
        session = self._session
        if session is None or session.store is None or session.trace.value is None:
            return
        session.report()
        session.wave_loaded()

    def _show_stage(self, stage: Stage | None) -> None:
        assert self._session is not None
        self._session.busy.set(() if stage is None else (stage,))

    def _follow(self) -> None:
        session = self._session
        if session is None or session.trace.value is None or session.store is None:
            return
        wave = session.selection.value.wave
        row = None if wave is None else session.trace.value.waves.row(wave)
        if row is not None and not session.store.is_settled(row):
            self.prioritize([row])

    # -- answers ------------------------------------------------------------------------------------

    def _deliver(self, load: _Load, answer: Callable[[], None]) -> None:
        if load is self._load:
            load.count(-1)
            answer()

    def _is_lacking(self, row: int) -> bool:
        """Called in the thread of the load: whether the store has no answer for a wave yet."""
        store = None if self._session is None else self._session.store
        return store is None or not store.is_settled(row)


def _open_folder(path: Path, report: Report) -> Trace:
    from rcv_py.formats.uiout.load import open_folder  # noqa: PLC0415 - its imports are paid for in the thread

    return open_folder(path, report)


class _Load:
    """The thread that opens one capture, reads its waves, and then those that are wanted.

    Methods named `_on_*` run on the UI thread.
    """

    def __init__(
        self,
        loader: Loader,
        open_it: Callable[[Report], Trace],
        workers: int | None,
        is_lacking: Callable[[int], bool],
    ) -> None:
        self._loader = loader
        self._open_it = open_it
        self._workers = workers
        self._is_lacking = is_lacking
        self._stream: WaveStream | None = None
        self._wanted: SimpleQueue[list[int] | None] = SimpleQueue()
        self._stopped = CancelFlag()
        self._lock = Lock()
        self._room = Semaphore(MAX_BATCHES_AHEAD)
        self.due = 1  # what is being done, and answers under way to the UI thread
        self._holds_garbage = False
        self.has_opened = False
        self.thread = Thread(target=self._run, name="rcv-loader", daemon=True)

    # -- on the UI thread ---------------------------------------------------------------------------

    def start(self) -> None:
        self._holds_garbage = True
        Garbage.hold(1)
        self.thread.start()

    def prioritize(self, rows: list[int]) -> None:
        if self._stream is not None:
            self._stream.prioritize(rows)
        self.count(1)
        self._wanted.put(rows)

    def stop_reading(self) -> None:
        """Read no more, except what is wanted."""
        if self._stream is not None:
            self._stream.cancel()

    def stop(self) -> None:
        self._stopped.set()
        self.stop_reading()
        self._wanted.put(None)
        self._let_go()

    def count(self, by: int) -> None:
        """Add to what is still due; from any thread."""
        with self._lock:
            self.due += by

    def _let_go(self) -> None:
        """Garbage may be looked for again."""
        if self._holds_garbage:
            self._holds_garbage = False
            Garbage.hold(-1)

    def _on_opened(self, trace: Trace) -> None:
        self.has_opened = True
        self._loader.opened.emit(trace)

    def _on_batch(self, batch: WaveBatch) -> None:
        self._room.release()
        self._loader.batch.emit(batch)

    def _on_end(self, signal: Callable[[], None]) -> None:
        self._let_go()
        signal()

    # -- in the thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            trace = self._open_it(self._report)
            self._post(partial(self._on_opened, trace))
            self._read_all(trace)
            self.count(-1)
            self._read_wanted(trace)
        except Cancelled:
            return
        except Exception as error:  # the loader boundary: a bug must reach the user, not the void
            self._post(partial(self._loader.stage.emit, None))
            self._post(partial(self._on_end, partial(self._loader.failed.emit, error)))
            self.count(-1)

    def _post(self, answer: Callable[[], None]) -> None:
        if not self._stopped.is_set():
            self.count(1)
            self._loader.posted.emit(self, answer)

    def _post_batch(self, batch: WaveBatch) -> None:
        while not self._room.acquire(timeout=POLL_S):
            self._stopped.check()
        self._post(partial(self._on_batch, batch))

    def _report(self, stage: Stage) -> None:
        self._stopped.check()
        self._post(partial(self._loader.stage.emit, stage))

    def _read_all(self, trace: Trace) -> None:
        stream = self._stream = WaveStream(trace.reader, trace.waves, workers=self._workers)
        done = 0
        self._report(Stage(STAGE, done, stream.total))
        for batch in stream:
            done += len(batch.waves) + len(batch.missing)
            self._post_batch(batch)
            self._report(Stage(STAGE, done, stream.total))
        self._post(partial(self._loader.stage.emit, None))
        self._post(partial(self._on_end, self._loader.finished.emit))
        for error in stream.errors[:1]:
            self._post(partial(self._on_end, partial(self._loader.failed.emit, error)))

    def _read_wanted(self, trace: Trace) -> None:
        """Read waves that were wanted but did not come: no room for them, or dropped since."""
        while (rows := self._wanted.get()) is not None:
            lacking = [row for row in rows if self._is_lacking(row)]
            if lacking:
                self._post_batch(prepare(trace.reader, lacking))
            self.count(-1)
