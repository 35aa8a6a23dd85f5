"""Opens captures and streams their waves into the session, off the UI thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, Report, Stage
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.session import Session
from rcv_py.ui.core.garbage import Garbage
from rcv_py.ui.core.settings_store import Settings
from rcv_py.work.jobs import prepare
from rcv_py.work.load import STAGE
from rcv_py.work.pool import WavePool

TOLD_EVERY_MS = 80  # panels hear of new waves at most this often
LEAD = 4  # batches read ahead of the UI thread; more would only fill memory
PATIENCE_S = 5.0
GLANCE_S = 0.1

Post = Callable[["_Load", str, Any], None]
OpenPath = Callable[[Path, Report], Trace]


class Loader(QObject):
    """One capture at a time: opening another one ends the first.  Answers are signals on the UI thread."""

    opened = Signal(object)  # Trace
    batch = Signal(object)  # WaveBatch
    failed = Signal(object)  # an exception
    stage = Signal(object)  # Stage, or None when nothing is being read
    finished = Signal()  # no more waves will come unless they are wanted
    _posted = Signal(object, str, object)

    def __init__(self, settings: Settings | None = None, open_path: OpenPath | None = None) -> None:
        super().__init__()
        self._settings = settings
        self._open_path = open_path or _open_trace
        self._load: _Load | None = None
        self._is_holding = False  # whether garbage must wait for the load
        self._ended: list[_Load] = []  # told to stop, perhaps still finishing a file
        self._session: Session | None = None
        self._told = QTimer(self, singleShot=True, interval=TOLD_EVERY_MS)
        self._told.timeout.connect(self._tell)
        self._posted.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    # -- asking -------------------------------------------------------------------------------------

    def open(self, path: Path) -> None:
        """Open a capture and read all its waves; what was open before is no longer heard of."""
        self._end()
        workers = None if self._settings is None else int(self._settings["load.workers"])
        self._load = _Load(Path(path), workers, self._open_path, self._post, self._is_lacking)
        Garbage.hold(1)
        self._is_holding = True
        self._load.start()

    def want(self, rows: Iterable[int]) -> None:
        """Read these waves before all others, also if reading has ended."""
        if self._load is not None:
            self._load.want(list(rows))

    def cancel(self) -> None:
        """Stop reading; what has arrived stays, and waves that are selected are still read."""
        if self._load is None:
            return
        if self._load.has_opened:
            self._load.enough()
        else:
            self._end()

    def close(self) -> None:
        """Stop reading, and wait until every thread and process has gone."""
        self._end()
        self._told.stop()
        for load in self._ended:
            load.join(PATIENCE_S)
        self._ended = []

    @property
    def idle(self) -> bool:
        """Whether everything asked for has arrived."""
        return (self._load is None or self._load.is_idle) and not self._told.isActive()

    def _end(self) -> None:
        """Hear no more of the present load; its thread ends on its own."""
        if self._load is not None:
            self._load.stop()
            self._ended = [*(load for load in self._ended if load.is_alive), self._load]
            self._load = None
            self._let_go()
            self.stage.emit(None)

    def _let_go(self) -> None:
        """Garbage may be looked for again."""
        if self._is_holding:
            self._is_holding = False
            Garbage.hold(-1)

    # -- the session --------------------------------------------------------------------------------

    def bind(self, session: Session) -> None:
        """Put what is read into the session, and read what is selected in it first."""
        self._session = session
        self.opened.connect(self._show)
        self.batch.connect(self._keep)
        self.stage.connect(self._show_stage)
        session.selection.watch(self._follow)

    def _show(self, trace: Trace) -> None:
        assert self._session is not None
        self._session.open(trace)
        if self._settings is not None and self._session.store is not None:
            self._session.store.budget = int(self._settings["load.budget_gb"]) << 30

    def _keep(self, batch: WaveBatch) -> None:
        store = None if self._session is None else self._session.store
        if store is None:
            return
        store.add(batch)
        if store.is_full and self._load is not None:
            self._load.enough()
        if not self._told.isActive():
            self._told.start()

    def _tell(self) -> None:
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
            self.want([row])

    # -- answers ------------------------------------------------------------------------------------

    def _post(self, load: _Load, what: str, value: Any) -> None:
        """Called in the thread of the load."""
        self._posted.emit(load, what, value)

    def _is_lacking(self, row: int) -> bool:
        """Called in the thread of the load: whether the store has no answer for a wave yet."""
        store = None if self._session is None else self._session.store
        return store is None or not store.is_settled(row)

    def _deliver(self, load: _Load, what: str, value: Any) -> None:
        if load is not self._load:
            return
        load.delivered(what)
        if what in ("finished", "failed"):
            self._let_go()
        if what == "finished":
            self.finished.emit()
        else:
            getattr(self, what).emit(value)


def _open_trace(path: Path, report: Report) -> Trace:
    from rcv_py.formats.open import open_trace  # noqa: PLC0415 - its imports are paid for in the thread

    return open_trace(path, report)


class _Load:
    """The thread that opens one capture, reads its waves, and then those that are wanted."""

    def __init__(
        self,
        path: Path,
        workers: int | None,
        open_path: OpenPath,
        post: Post,
        is_lacking: Callable[[int], bool],
    ) -> None:
        self._path = path
        self._workers = workers
        self._open_path = open_path
        self._send = post
        self._is_lacking = is_lacking
        self._pool: WavePool | None = None
        self._wanted: SimpleQueue[list[int] | None] = SimpleQueue()
        self._stopped = CancelFlag()
        self._lock = Lock()
        self._room = Semaphore(LEAD)
        self.has_opened = False
        self._due = 1  # what is being done, and answers under way to the UI thread
        self._thread = Thread(target=self._run, name="rcv-loader", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def want(self, rows: list[int]) -> None:
        if self._pool is not None:
            self._pool.want(rows)
        self._count(1)
        self._wanted.put(rows)

    def enough(self) -> None:
        """Read no more, except what is wanted."""
        if self._pool is not None:
            self._pool.cancel()

    def stop(self) -> None:
        self._stopped.set()
        self.enough()
        self._wanted.put(None)

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def delivered(self, what: str) -> None:
        """One answer has been heard on the UI thread."""
        self._count(-1)
        self.has_opened |= what == "opened"
        if what == "batch":
            self._room.release()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def is_idle(self) -> bool:
        return self._due == 0

    def _count(self, by: int) -> None:
        with self._lock:
            self._due += by

    def _post(self, what: str, value: Any = None) -> None:
        if not self._stopped.is_set:
            self._count(1)
            self._send(self, what, value)

    def _post_batch(self, batch: WaveBatch) -> None:
        while not self._room.acquire(timeout=GLANCE_S):
            self._stopped.check()
        self._post("batch", batch)

    def _run(self) -> None:
        try:
            trace = self._open_path(self._path, self._report)
            self._post("opened", trace)
            self._stream(trace)
            self._count(-1)
            self._serve(trace)
        except Cancelled:
            return
        except Exception as error:  # the loader boundary: a bug must reach the user, not the void
            self._post("stage")
            self._post("failed", error)
            self._count(-1)

    def _report(self, stage: Stage) -> None:
        self._stopped.check()
        self._post("stage", stage)

    def _stream(self, trace: Trace) -> None:
        pool = self._pool = WavePool(trace.reader, trace.waves, workers=self._workers)
        done = 0
        self._report(Stage(STAGE, done, pool.total))
        for batch in pool:
            done += len(batch.waves) + len(batch.missing)
            self._post_batch(batch)
            self._report(Stage(STAGE, done, pool.total))
        self._post("stage")
        self._post("finished")
        for error in pool.errors[:1]:
            self._post("failed", error)

    def _serve(self, trace: Trace) -> None:
        """Read waves that were wanted but did not come: no room for them, or dropped since."""
        while (rows := self._wanted.get()) is not None:
            lacking = [row for row in rows if self._is_lacking(row)]
            if lacking:
                self._post_batch(prepare(trace.reader, lacking))
            self._count(-1)
