"""Pool of processes that run one function (`submit`); processes that die or take too long are replaced.

Functions, arguments and results are pickled, except their arrays, which cross in shared memory and arrive as
read-only views (`work/shared.py`).  One thread per pool starts its processes (`work/processes.py`), sends
them calls, reads their results and ends them.
"""

from __future__ import annotations

import atexit
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import wait
from threading import Lock, Thread, current_thread
from time import monotonic
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from rcv_py.base.errors import RcvError
from rcv_py.base.record import Value
from rcv_py.base.text import Message
from rcv_py.work.processes import IDLE_WORKERS, Task, WorkerHandle, alive, end_all, may_fork, reap, started
from rcv_py.work.shared import Envelope, dumps, loads, receive, send

# A call that a process reads later must fit into the pipe: else we would wait for the process to read, and
# the process for us to take its result.  macOS has the smallest pipes, of 8 kB.
AHEAD_BYTES = 6 << 10
FOREVER = float("inf")  # seconds
T = TypeVar("T")


class WorkerStopped(RcvError):
    """A process ended before it returned a result."""

    def __init__(self, text: str = "", hint: str = "", process: int = 0) -> None:
        super().__init__(text or "A process stopped unexpectedly, probably for lack of memory.", hint)
        self.process = process  # its id


class CaptureLost(RcvError):
    """One capture has no result and will get none; the others do."""


class CallTimedOut(RcvError):
    """A call exceeded its time limit, and its process was ended."""

    def __init__(self, seconds: float) -> None:
        super().__init__(Message("The analysis was stopped after {0:g} seconds.", seconds))


class _Call(Value):
    future: Future[Any]
    arguments: Envelope
    key: str
    is_alone: bool
    retries: int  # further processes that it may end


class WorkerPool(Generic[T]):
    """At most `size` processes that run `function`, started when there is work; `close` ends them.

    - `setup` runs first in each process.
    - A process holds up to `calls_ahead` calls and runs the first, so that it need not wait for the next.  A
      call with large arguments goes to an idle process.
    - A call whose process dies is made again, in another process, up to `retries` times.
    - A call that takes longer than `timeout_s` seconds is ended with its process.
    - A process that is ended gets `grace_s` seconds to remove half-written files; 0: it is killed at once.
    - Only processes of a pool that `nests` may start processes themselves.
    - Processes of a pool that `keeps` wait for the next pool when it closes; see `start_ahead`.

    All methods may be called from any thread.
    """

    def __init__(
        self,
        function: Callable[..., T],
        size: int,
        *,
        setup: Callable[[], None] | None = None,
        calls_ahead: int = 1,
        retries: int = 0,
        timeout_s: float | None = None,
        grace_s: float = 0.0,
        nests: bool = False,
        keeps: bool = False,
    ) -> None:
        self._task = dumps(Task(setup, function))
        self._keeps = keeps and not grace_s and not nests
        self._size, self._calls_ahead, self._retries, self._nests = size, calls_ahead, retries, nests
        self._timeout_s, self._grace_s = timeout_s, grace_s
        self._lock = Lock()
        self._waiting: deque[_Call] = deque()
        self._workers: list[_Worker] = []  # only the thread changes it
        self._copies: deque[WorkerHandle] = deque()  # idle processes reserved for this pool
        self._thread: Thread | None = None
        self._is_closed = self._is_woken = False
        self._wakeup_r, self._wakeup_w = get_context("spawn").Pipe(duplex=False)

    def submit(self, *arguments: object, key: str = "", is_alone: bool = False) -> Future[T]:
        """Return the future result of the function with these arguments.

        A process that had a call with the same `key` is preferred.  `is_alone`: the process runs no other
        call before or after.  The future fails with the function's exception, WorkerStopped or CallTimedOut;
        `cancel` also ends a call that runs.
        """
        call = _Call(Future(), dumps(arguments), key, is_alone, self._retries)
        with self._lock:
            if self._is_closed:
                call.future.cancel()
                return call.future
            self._waiting.append(call)
            if self._thread is None:
                if may_fork() and not self._grace_s and not self._nests:  # before we have a thread ourselves
                    self._copies.extend(started(is_copy=True) for _ in range(self._size))
                self._thread = Thread(target=self._run, name="rcv-pool", daemon=True)
                self._thread.start()
                # Else multiprocessing ends our processes as Python exits, and waits for their replacements.
                atexit.register(self.close)
        call.future.add_done_callback(self._wake)  # it may be cancelled
        self._wake()
        return call.future

    @property
    def waiting(self) -> int:
        """Number of calls that no process has taken yet."""
        return sum(not call.future.cancelled() for call in list(self._waiting))

    def close(self) -> None:
        """Cancel all calls, and return when all processes have ended, or wait for another pool."""
        with self._lock:
            self._is_closed = True
        self._wake()
        if self._thread is not None and self._thread is not current_thread():
            self._thread.join()
            atexit.unregister(self.close)

    def __enter__(self) -> WorkerPool[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wake(self, _: object = None) -> None:
        with self._lock:
            if not self._is_woken:
                self._wakeup_w.send_bytes(b"")
                self._is_woken = True  # after it rang: Ctrl+C may come in between, and twice does no harm

    def _run(self) -> None:
        error: Exception | None = None
        try:
            while not self._is_closed:
                self._turn()
        except Exception as bug:  # the caller must get it
            error = bug
        with self._lock:
            self._is_closed = True
        calls = [*(call for worker in self._workers for call in worker.calls), *self._waiting]
        if self._keeps:
            idle = [worker for worker in self._workers if not worker.calls]
            self._workers = [worker for worker in self._workers if worker.calls]
            IDLE_WORKERS.extend((worker.process, worker.connection) for worker in idle)
        try:
            for worker in self._workers:
                worker.terminate()
            for worker in self._workers:
                worker.end()
            self._workers.clear()
            end_all(self._copies)
        finally:  # after any exception, no caller may wait for ever
            for call in calls:
                if error is not None and call.future.set_running_or_notify_cancel():
                    call.future.set_exception(error)
                call.future.cancel()

    def _turn(self) -> None:
        """Hand out calls, wait until something happens, and act on it."""
        for worker in list(self._workers):
            if worker.calls and worker.calls[0].future.cancelled():
                self._replace(worker)
        while self._waiting:
            call = self._waiting[0]
            if not call.future.cancelled():
                if (free := self._free(call)) is None:
                    break
                free.send(call)
            self._waiting.popleft()
        deadline = min((worker.deadline for worker in self._workers if worker.calls), default=FOREVER)
        left = None if deadline == FOREVER else max(0.0, deadline - monotonic())
        ready = wait([self._wakeup_r, *(worker.connection for worker in self._workers)], left)
        if self._wakeup_r in ready:
            with self._lock:
                self._wakeup_r.recv_bytes()
                self._is_woken = False
        for heard in [worker for worker in self._workers if worker.connection in ready]:
            self._receive(heard)
        for worker in list(self._workers):
            if worker.calls and monotonic() >= worker.deadline:
                self._replace(worker, CallTimedOut(self._timeout_s or 0))

    def _free(self, call: _Call) -> _Worker | None:
        """Return the process for a call: an idle one with its key, a new one, or one with few calls."""
        idle = [worker for worker in self._workers if not worker.calls]
        if call.is_alone and len(self._workers) == self._size and idle:
            self._workers.remove(idle[0])
            idle.pop(0).end()
        known = [worker for worker in idle if worker.key == call.key and not call.is_alone]
        if known:
            return known[0]
        if len(self._workers) < self._size:
            may_be_idle = not self._grace_s and not self._nests
            near = (alive(self._copies) or alive(IDLE_WORKERS)) if may_be_idle else None
            near = near or started(is_tidy=self._grace_s > 0, nests=self._nests)
            worker = _Worker(near, self._task, self._timeout_s, self._grace_s, call.is_alone)
            self._workers.append(worker)
            return worker
        ahead = self._calls_ahead if len(call.arguments.data) <= AHEAD_BYTES else 1
        free = [one for one in self._workers if len(one.calls) < ahead and not one.is_alone]
        return None if call.is_alone else min(free, key=lambda one: len(one.calls), default=None)

    def _receive(self, worker: _Worker) -> None:
        try:
            answer = receive(worker.connection)
        except (EOFError, OSError):
            self._replace(worker, WorkerStopped(process=worker.process.pid or 0))
            return
        future = worker.calls.popleft().future
        worker.begin()
        if future.set_running_or_notify_cancel():
            try:
                value, error = loads(answer)
            except Exception as bug:  # a result that cannot be unpickled: the caller must get the error
                error = bug
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)
        if worker.is_alone:
            self._replace(worker)

    def _replace(self, worker: _Worker, error: Exception | None = None) -> None:
        """End a process; repeat its call or fail it with `error`; give its later calls to another process."""
        worker.end()
        self._workers.remove(worker)
        if worker.calls:
            call = worker.calls.popleft()
            self._waiting.extendleft(reversed(worker.calls))
            if isinstance(error, WorkerStopped) and call.retries:
                self._waiting.appendleft(replace(call, retries=call.retries - 1))
            elif error is not None and call.future.set_running_or_notify_cancel():
                call.future.set_exception(error)


class _Worker:
    def __init__(
        self, near: WorkerHandle, task: Envelope, timeout_s: float | None, grace_s: float, is_alone: bool
    ) -> None:
        self.process, self.connection = near
        self.calls: deque[_Call] = deque()  # the first is running
        self.key = ""
        self.is_alone = is_alone
        self.deadline = FOREVER  # of the first call, as time of the monotonic clock
        self._timeout_s = FOREVER if timeout_s is None else timeout_s
        self._grace_s = grace_s
        with suppress(OSError):  # that it has died will be found when its answer is awaited
            send(self.connection, task)

    def send(self, call: _Call) -> None:
        """Send the process a call; if it has died, fetching the result finds out."""
        self.calls.append(call)
        self.key = call.key
        if len(self.calls) == 1:
            self.begin()
        with suppress(OSError):
            send(self.connection, call.arguments)

    def begin(self) -> None:
        """Start the clock of the first call."""
        self.deadline = monotonic() + self._timeout_s

    def terminate(self) -> None:
        """Request the process to end."""
        with suppress(ProcessLookupError):  # another thread has reaped it
            if self._grace_s:
                self.process.terminate()
            else:
                self.process.kill()

    def end(self) -> None:
        """End the process at once."""
        self.terminate()
        self.connection.close()
        if self._grace_s and not wait([self.process.sentinel], self._grace_s):
            self.process.kill()
        reap(self.process)
