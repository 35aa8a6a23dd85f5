"""Run jobs in threads, deliver each owner's newest answer on the UI thread, schedule garbage collection."""

import gc
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QCursor
from shiboken6 import isValid

from rcv_py.base.errors import Cancelled
from rcv_py.base.machine.ending import not_interrupted
from rcv_py.base.progress import CancelFlag, checkpoint, stoppable
from rcv_py.tuning.processors import lower_thread_priority
from rcv_py.ui.core.frame_budget import FrameBudget, Posts, one_shot

MAX_UNCOLLECTED = 2_000  # objects made since the last collection
YOUNG_BEFORE_OLDER = 10  # collections of the youngest generation before a collection of the next
MAX_AT_ONCE = 30_000  # objects to scan while the user may wait: some ten milliseconds
OLD_MS = 250  # ms without a job before a full collection, and between two looks whether the mouse rests


class GcGate:
    """Prevents automatic garbage collection while there are widgets.

    It would run in whichever thread allocates, and delete widgets there: Qt then waits for the UI thread,
    which waits for Python, or both crash.  So garbage is collected on the UI thread, in turns of its own: the
    youngest objects often, within a few milliseconds, and all, with answers of many parts, when nothing runs.
    """

    jobs = windows = 0
    outlived = 0  # upper bound of objects that were young at the last check

    @classmethod
    def acquire(cls, jobs: int, windows: int = 0) -> None:
        """Count jobs and windows; called on the UI thread."""
        cls.jobs += jobs
        cls.windows += windows
        if cls.jobs + cls.windows > 0:
            gc.disable()
        else:
            gc.enable()

    @classmethod
    def collect_young(cls) -> None:
        """Collect young objects if there are many, but not too many; called on the UI thread."""
        made, young, _ = gc.get_count()
        if not MAX_UNCOLLECTED < made <= MAX_AT_ONCE:
            return
        is_older = young >= YOUNG_BEFORE_OLDER and cls.outlived + made <= MAX_AT_ONCE
        cls.outlived = 0 if is_older else cls.outlived + made
        gc.collect(1 if is_older else 0)

    @classmethod
    def collect_all(cls) -> bool:
        """Collect everything unless a job runs; return whether it did.  Called on the UI thread."""
        if cls.jobs > 0:
            return False
        cls.outlived = 0
        gc.collect()
        return True


Result = TypeVar("Result")
Call = Callable[[], None]


class Tasks(QObject):
    """Runs pure functions off the UI thread.  A newer job of an owner mutes the older job."""

    failed = Signal(object, object)  # an exception that no `done` will receive, and the owner of the job

    def __init__(self, threads: int = 3) -> None:  # one predicts, one follows the findings: both take seconds
        super().__init__()
        # The priority of reading processes, not lower: a thread that holds Python's lock delays the window.
        self._pool = ThreadPoolExecutor(threads, "rcv-task", initializer=lower_thread_priority)
        self._newest: WeakKeyDictionary[Any, dict[str, Future[Any]]] = WeakKeyDictionary()
        self._flags: dict[Future[Any], CancelFlag] = {}  # of every unanswered job
        self.running = 0  # jobs without an answer
        self._is_closed = False
        GcGate.acquire(0, windows=1)
        self._sweep_young = one_shot(self, lambda: FrameBudget.here().call(GcGate.collect_young))
        self._sweep_all = one_shot(self, self._collect_all, OLD_MS)
        self._mouse_at = QPoint()  # position at the last check
        # Queued: a future that is already done calls back at once, inside `run`.
        self._posts = Posts(self)

    def run(
        self,
        owner: object,
        job: Callable[[], Result],
        done: Callable[[Result], None],
        topic: str = "",
        *,
        ended: Call = lambda: None,
    ) -> None:
        """Give the result of `job` to `done`, after `ended`, unless `owner` runs another of the topic."""
        if self._is_closed:  # a timer may call this while the window is closing
            return
        self.cancel(owner, topic)
        self.running += 1
        GcGate.acquire(1)
        self._sweep_all.stop()
        flag = CancelFlag()

        def while_wanted() -> Result:
            with stoppable(flag):
                checkpoint()
                return job()

        with not_interrupted():  # the pool notes a thread after its begin, and ends those that it noted
            future = self._newest.setdefault(owner, {})[topic] = self._pool.submit(while_wanted)
        self._flags[future] = flag
        deliver = partial(self._deliver, owner, topic, ended, done)
        # It gets the future: one that holds itself stays, with all its job holds, until garbage is collected.
        future.add_done_callback(lambda answered: self._posts.post(partial(deliver, answered)))

    def cancel(self, owner: object, topic: str = "") -> None:
        """Drop the job of a topic; it ends at its next checkpoint."""
        stale = self._newest.get(owner, {}).pop(topic, None)
        if stale is not None:
            self._flags.pop(stale, CancelFlag()).set()
            stale.cancel()

    def is_running(self, owner: object, topic: str = "") -> bool:
        """Return whether the newest job of a topic is unanswered."""
        return topic in self._newest.get(owner, {})

    def is_busy(self, owner: object) -> bool:
        """Return whether a job of an owner is unanswered."""
        return bool(self._newest.get(owner))

    def collect_closed(self) -> None:
        """Collect what a closed window left once nothing runs: even the first, made with the program."""
        gc.unfreeze()
        self._sweep_all.start()

    def close(self) -> None:
        """Drop waiting jobs, and wait for the running jobs to reach a checkpoint."""
        if self._is_closed:
            return
        self._is_closed = True
        self._sweep_young.stop()
        self._sweep_all.stop()
        self._newest.clear()
        for flag in self._flags.values():
            flag.set()
        self._flags.clear()
        self._pool.shutdown(wait=True, cancel_futures=True)
        GcGate.acquire(-self.running, windows=-1)  # their answers are no longer delivered
        self.running = 0

    def _collect_all(self) -> None:
        before, self._mouse_at = self._mouse_at, QCursor.pos()
        is_moving = before != self._mouse_at  # the user points, drags or scrolls, and would see a pause
        if is_moving or not GcGate.collect_all():  # another owner's job: a load
            self._sweep_all.start()

    def _deliver(
        self, owner: Any, topic: str, ended: Call, done: Callable[[Any], None], future: Future[Any]
    ) -> None:
        if self._is_closed:
            return
        self.running -= 1
        self._flags.pop(future, None)
        GcGate.acquire(-1)
        self._sweep_young.start()
        self._sweep_all.start()
        jobs = self._newest.get(owner, {})
        if jobs.get(topic) is not future or (isinstance(owner, QObject) and not isValid(owner)):
            return
        del jobs[topic]  # a delivered answer need not be kept
        ended()
        try:
            result = future.result()
        except (CancelledError, Cancelled):
            return
        except Exception as error:  # the task boundary: a bug must reach the user
            self.failed.emit(error, owner)
            return
        done(result)
