"""Opens captures and streams their waves into the session, off the UI thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Semaphore, Thread

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from rcv_py.analysis.core.reduction import Answers
from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, Report, Stage, stoppable
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.session import Session
from rcv_py.ui.core.frame_budget import Posts, one_shot
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.tasks import GcGate
from rcv_py.work.ahead import Preload, SmallPreload
from rcv_py.work.load import SMALL_JOB_BYTES, STAGE, WaveReduction, WaveStream, plan, prepare
from rcv_py.work.machine import half_of_memory
from rcv_py.work.processes import end_ahead
from rcv_py.work.reduce import Reducer

NOTIFY_MS = 300  # minimum interval between signals about waves and their number; the last goes out at once
MAX_BATCHES_AHEAD = 4  # batches read ahead of the UI thread; more would only fill memory
TIMEOUT_S = 5.0  # to wait for a thread to end
POLL_S = 0.1
UNKNOWN_BUDGET = 4 << 30  # bytes, if the size of memory is unknown
KEEP_MS = 5_000  # that processes wait for further requests after all waves are read
AGAIN = "Reading waves again"

Early = Callable[[Trace], None]
OpenPath = Callable[[Path, Report, Early], Trace]  # calls Early with the start of a long load


class Loader(QObject):
    """Loads one capture at a time into the session, selected waves first.

    Opening another capture ends the current load.  Answers are signals on the UI thread.
    """

    opened = Signal(object)  # Trace
    batch = Signal(object)  # WaveBatch
    failed = Signal(object)  # an exception
    stage = Signal(object)  # Stage, or None when nothing is being read
    finished = Signal()  # no more waves will come unless they are requested

    def __init__(self, session: Session, settings: Settings, open_path: OpenPath | None = None) -> None:
        super().__init__()
        self._session, self._settings = session, settings
        self._open_path = open_path or _open_folder
        self.ahead: Preload | SmallPreload | None = None  # a capture opened before the window existed
        self._load: _Load | None = None
        self.reached: Stage | None = None  # reading progress, reported with the waves
        self._ended: list[_Load] = []  # stopped, but perhaps still finishing a file
        self._notify = one_shot(self, self._report_waves, NOTIFY_MS)
        self._keep = one_shot(self, end_ahead, KEEP_MS)
        self.finished.connect(self._keep.start)
        self._posts = Posts(self)
        self.opened.connect(self._show)
        self.batch.connect(self._store)
        self.stage.connect(self._show_stage)
        session.selection.watch(self._follow)
        session.looked_at.watch(self._read_looked_at)

    def open(self, path: Path) -> None:
        """Open a capture folder and read all its waves; the previous load delivers nothing more."""
        self._end()
        workers = int(self._settings["load.workers"]) or None
        ahead, self.ahead = self.ahead, None
        if ahead is not None and (ahead.folder != Path(path) or workers not in (None, ahead.processes)):
            ahead.close()
            ahead = None
        open_it = partial(self._open_path, Path(path)) if ahead is None else ahead.open
        here = partial(_stream_of, workers)
        stream_of = (lambda _: ahead.stream()) if isinstance(ahead, Preload) else here
        self._load = _Load(self, open_it, stream_of, self._settings["sources.map"])

    def cancel(self) -> None:
        """Stop reading; loaded waves stay, and selected waves are still read."""
        if self._session.store is not None:
            self._session.store.cancel_answers()
        if self._load is not None and self._load.has_opened:
            self._load.stop_reading()
        else:
            self._end()

    def close(self) -> None:
        """Stop reading, and wait until every thread and process has ended."""
        self._end()
        if self._session.store is not None:
            self._session.store.end_answers()
        self._notify.stop()
        self._keep.stop()
        if self.ahead is not None:
            self.ahead.close()
        for load in self._ended:
            load.thread.join(TIMEOUT_S)
        self._ended = []
        end_ahead()

    @property
    def idle(self) -> bool:
        """Whether every request has been answered."""
        return (self._load is None or self._load.due == 0) and not self._notify.isActive()

    def orders(self) -> list[WaveReduction]:
        """Return the analyses to run on waves where they are read; called in the thread of the load."""
        store = self._session.store
        return [] if store is None else [*store.orders()]

    def is_lacking(self, row: int) -> bool:
        """Return whether the store lacks an answer for a wave; also called in the thread of the load."""
        store = self._session.store
        return store is None or not store.is_settled(row)

    def _end(self) -> None:
        """Disconnect the present load; its thread ends on its own."""
        if self._load is not None:
            self._load.stop()
            self.reached = None
            self._ended = [*(load for load in self._ended if load.thread.is_alive()), self._load]
            self._load = None
            self.stage.emit(None)

    def post(self, load: _Load, answer: Callable[[], None]) -> None:
        """From any thread, call a function on the UI thread if the load is still the present load then."""
        self._posts.post(partial(self._deliver, load, answer))

    def _deliver(self, load: _Load, answer: Callable[[], None]) -> None:
        if load is self._load:
            load.count(-1)
            answer()

    def _show_stage(self, stage: Stage | None) -> None:
        # A method: Qt keeps functions as long as the loader lives, and one over the session would keep all
        # waves, which refer back to the loader that rereads them.
        self._session.show_stage("read", stage)

    def _show(self, trace: Trace) -> None:
        shown = self._session.trace.value
        if shown is not None and shown.is_part and shown.path == trace.path:
            self._session.complete(trace)
        else:
            self._session.open(trace)
        if self._session.store is not None:
            self._session.store.budget = budget(int(self._settings["load.budget_gb"]))
            self._session.store.rereads = partial(self._reread, trace)

    @contextmanager
    def _reread(
        self, trace: Trace, rows: Collection[int], held: tuple[WaveBatch, ...], flag: CancelFlag
    ) -> Iterator[Answers]:
        """Answer about waves, some of which have left memory; in any thread."""
        workers = int(self._settings["load.workers"]) or None

        def report(stage: Stage) -> None:
            self._posts.post(partial(self._show_again, replace(stage, name=AGAIN)))

        try:
            with stoppable(flag), Reducer(trace, rows, held=held, workers=workers, report=report) as found:
                yield found
        finally:
            self._posts.post(partial(self._show_again, None))

    def _show_again(self, stage: Stage | None) -> None:
        self._session.show_stage(AGAIN, stage)
        if stage is None:
            self._session.report()

    def _store(self, batch: WaveBatch) -> None:
        store = self._session.store
        if store is None:
            return
        store.add(batch)
        if not self._notify.isActive():
            self._notify.start()

    def report_now(self) -> None:
        """Report waves not reported yet, if there are any."""
        if self._notify.isActive():
            self._notify.stop()
            self._report_waves()

    def _report_waves(self) -> None:
        if self.reached is not None:
            self.stage.emit(self.reached)
            self.reached = None
        if self._session.trace.value is not None:
            self._session.report()
            self._session.wave_loaded()

    def _read_looked_at(self) -> None:
        if not self._session.is_streaming:
            self._read_first(self._session.looked_at.value)

    def _follow(self) -> None:
        if (row := self._session.wave_row) is not None:
            self._read_first((row,))

    def _read_first(self, rows: Iterable[int]) -> None:
        lacking = [row for row in rows if self.is_lacking(row)]
        # Until a capture is shown, rows are those of the capture before it.
        if lacking and self._load is not None and self._load.has_opened:
            self._load.prioritize(lacking)


def budget(gigabytes: int) -> int:
    """Return the bytes that waves may take; 0 gigabytes means half of the machine's memory."""
    return gigabytes << 30 or half_of_memory() or UNKNOWN_BUDGET


def _open_folder(path: Path, report: Report, early: Early) -> Trace:
    from rcv_py.work.opening import open_capture  # noqa: PLC0415 - the thread pays for its imports

    return open_capture(path, report, early)


def _stream_of(workers: int | None, trace: Trace) -> WaveStream:
    return WaveStream(trace.reader, trace.waves, workers=workers, trace=trace, keeps=True)


class _Load:
    """Opens one capture in a thread and reads waves; methods named `_on_*` run on the UI thread."""

    def __init__(
        self,
        loader: Loader,
        open_it: Callable[[Report, Early], Trace],
        stream_of: Callable[[Trace], WaveStream],
        source_map: str,
    ) -> None:
        self._loader, self._open_it = loader, open_it
        self._stream_of, self._source_map = stream_of, source_map
        self._stream: WaveStream | None = None
        self._wanted: SimpleQueue[list[int] | None] = SimpleQueue()
        self._stopped = CancelFlag()
        self._is_shown = Event()  # or stopped
        self._lock = Lock()
        self._room = Semaphore(MAX_BATCHES_AHEAD)
        self.due = 1  # current work, and answers on their way to the UI thread
        self.has_opened = False
        self._holds_garbage = True
        GcGate.acquire(1)
        self.thread = Thread(target=self._run, name="rcv-loader", daemon=True)
        self.thread.start()

    def prioritize(self, rows: list[int]) -> None:
        """Read these waves before all others, even after reading has ended."""
        if (stream := self._stream) is not None:
            stream.prioritize(rows)
        self.count(1)
        self._wanted.put(rows)

    def stop_reading(self) -> None:
        """Read no more, except requested waves."""
        if (stream := self._stream) is not None:
            stream.cancel()

    def stop(self) -> None:
        self._stopped.set()
        self._is_shown.set()
        self.stop_reading()
        self._wanted.put(None)
        self._let_go()

    def count(self, by: int) -> None:
        """Add to the number of answers due; from any thread."""
        with self._lock:
            self.due += by

    def _let_go(self) -> None:
        if self._holds_garbage:
            self._holds_garbage = False
            GcGate.acquire(-1)

    def _on_opened(self, trace: Trace) -> None:
        self.has_opened = True
        self._loader.opened.emit(trace)
        self._is_shown.set()

    def _on_whole(self, trace: Trace, batches: list[WaveBatch]) -> None:
        """Show a capture with all its waves: every watcher finds them, and none is told of a part."""
        self._on_opened(trace)
        for batch in batches:
            self._loader.batch.emit(batch)
        self._loader.report_now()
        self._loader.stage.emit(None)
        self._on_end()

    def _on_batch(self, batch: WaveBatch, stage: Stage | None = None) -> None:
        self._room.release()
        self._loader.reached = stage
        self._loader.batch.emit(batch)

    def _on_end(self, error: Exception | None = None) -> None:
        self._let_go()
        if error is None:
            self._loader.finished.emit()
        else:
            self._loader.failed.emit(error)

    def _run(self) -> None:
        try:
            trace = self._located(self._open_it(self._report, self._show_early))
            stream = self._stream = self._stream_of(trace)
            if stream.is_brief:
                self._post(self._on_whole, trace, list(stream))
            else:
                self._post(self._on_opened, trace)
                self._read_all(stream)
            self.count(-1)
            while (rows := self._wanted.get()) is not None:
                self._wait_for_posts()
                # Waves that were requested but did not come: there was no room, or they were dropped since.
                lacking = [row for row in rows if self._loader.is_lacking(row)]
                for some in plan(trace.waves, lacking, SMALL_JOB_BYTES):
                    self._post_batch(prepare(trace.reader, some))
                    if len(rows) > 1 and not self._wanted.empty():  # other waves are selected by now
                        break
                self.count(-1)
        except Cancelled:
            return
        except Exception as error:  # the loader boundary: a bug must reach the user
            self._post(self._loader.stage.emit, None)
            self._post(self._on_end, error)
            self.count(-1)
        finally:
            self._stream = None  # and with it the capture: an ended load is remembered for a while

    def _post(self, answer: Callable[..., None], *values: object) -> None:
        if not self._stopped.is_set():
            self.count(1)
            self._loader.post(self, partial(answer, *values))

    def _wait_for_posts(self) -> None:
        """Wait until the session has every wave read: waves on their way need not be read again."""
        have_arrived = Event()
        self._post(have_arrived.set)
        while not have_arrived.wait(POLL_S):
            self._stopped.check()

    def _post_batch(self, batch: WaveBatch, stage: Stage | None = None) -> None:
        while not self._room.acquire(timeout=POLL_S):
            self._stopped.check()
        self._post(self._on_batch, batch, stage)

    def _report(self, stage: Stage) -> None:
        self._stopped.check()
        self._post(self._loader.stage.emit, stage)

    def _show_early(self, trace: Trace) -> None:
        """Show the first part of a capture while the rest is prepared."""
        self._stopped.check()
        trace = self._located(trace)
        batch = prepare(trace.reader, list(range(len(trace.waves))))
        self._post(self._loader.opened.emit, trace)
        self._post(self._loader.batch.emit, batch)
        self._post(self._loader.report_now)

    def _located(self, trace: Trace) -> Trace:
        """Return the trace with sources at the folder given in the settings."""
        if not self._source_map:
            return trace
        from rcv_py.formats.uiout.local_sources import located, rules_of  # noqa: PLC0415 - rarely used

        return located(trace, rules_of(self._source_map))

    def _orders(self) -> list[WaveReduction]:
        """Return the requests of panels; for a stream that began before the window existed, none at first."""
        return self._loader.orders() if self._is_shown.is_set() and not self._stopped.is_set() else []

    def _read_all(self, stream: WaveStream) -> None:
        stream.orders = self._orders
        if not stream.has_begun:
            # Its requests are known once panels know the capture: a process starts meanwhile.
            stream.orders = lambda: self._orders() if self._is_shown.wait() else []
            stream.begin(is_idle=True)
        done = 0
        self._report(Stage(STAGE, done, stream.total))
        for batch in stream:
            done += len(batch.waves) + len(batch.missing)
            self._post_batch(batch, Stage(STAGE, done, stream.total))
        self._post(self._loader.report_now)
        self._post(self._loader.stage.emit, None)
        self._post(self._on_end)
        for error in stream.errors[:1]:
            self._post(self._on_end, error)
