"""Processes that run one function, called with `submit`: replaced when they die or take too long.

Functions, arguments and results are pickled, but for their arrays, which cross in shared memory and arrive as
read-only views (`work/shared.py`).  A process ends with the one that started it, lets it go first where cores
are few, and leaves Ctrl+C to it.  One thread a pool starts, feeds, hears and ends all its processes.

A new process needs a third of a second before it can do anything.  Where a fork is safe it is a copy of this
one, ready at once, and `start_ahead` has some wait for whichever pool comes first.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from importlib import import_module
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from threading import Lock, Thread, active_count, current_thread
from time import monotonic
from types import ModuleType
from typing import Any, Generic, TypeVar
from warnings import catch_warnings, simplefilter

from rcv_py.base.ending import check_end, ends_tidily
from rcv_py.base.errors import RcvError
from rcv_py.base.memory import trim
from rcv_py.base.records import dataclass
from rcv_py.work.shared import Message, dumps, loads, receive, send

# How much a process lets others go first.  Beside a program that computes on the same core it has 39 % of it
# (at 5: 25 %, at 0: 50 %), so that reading beside other programs takes a quarter longer than its share, not
# twice as long.  Beside two such processes on a busy machine 95 % of a window's beats of 8 ms take less than
# 26 ms (at 5: 26, at 0: 38).
NICE = 2
# A call that a process will only read later must fit into the pipe: if it did not, we would wait for the
# process to read, and it for us to take its answer.  macOS has the smallest pipes, of 8 kB.
AHEAD_BYTES = 6 << 10
_starting = Lock()  # held while multiprocessing looks at all processes of this one: to start and to bury one
T = TypeVar("T")
_Near = tuple[BaseProcess, Connection]  # a process, and our end of the pipe to it


class WorkerStopped(RcvError):
    """A process ended before it answered."""

    def __init__(self, text: str = "", hint: str = "", process: int = 0) -> None:
        super().__init__(text or "A process stopped unexpectedly, probably for lack of memory.", hint)
        self.process = process  # its id


class CallTimedOut(RcvError):
    """A call took longer than it may, and its process was ended."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The analysis was stopped after {seconds:g} seconds.")


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What a process is to do with all calls that follow."""

    setup: Callable[[], None] | None
    function: Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    future: Future[Any]
    arguments: Message
    key: str
    is_alone: bool
    retries: int  # processes that may still die of it


class WorkerPool(Generic[T]):
    """At most `size` processes that run `function`, started when there is work; `close` ends them.

    - `setup` is what each process does first.
    - `calls_ahead` calls are with a process at a time, the first of which it does, so that it need not wait
      for the next.  A call with large arguments is given to a process that does nothing else.
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
        self._task = dumps(_Task(setup, function))
        self._keeps = keeps and not grace_s and not nests
        self._size, self._calls_ahead, self._retries, self._nests = size, calls_ahead, retries, nests
        self._timeout_s, self._grace_s = timeout_s, grace_s
        self._lock = Lock()
        self._waiting: deque[_Call] = deque()
        self._workers: list[_Worker] = []  # only the thread changes it
        self._copies: deque[_Near] = deque()  # processes that wait for it
        self._thread: Thread | None = None
        self._is_closed = self._is_woken = False
        self._ear, self._bell = get_context("spawn").Pipe(duplex=False)

    def submit(self, *arguments: object, key: str = "", is_alone: bool = False) -> Future[T]:
        """Return the future result of the function with these arguments.

        A process that had a call with the same `key` is preferred.  `is_alone` asks for a process that does
        nothing before or after.  The future fails with what the function raises, with WorkerStopped or
        CallTimedOut; `cancel` also ends a call that runs.
        """
        call = _Call(Future(), dumps(arguments), key, is_alone, self._retries)
        with self._lock:
            if self._is_closed:
                call.future.cancel()
                return call.future
            self._waiting.append(call)
            if self._thread is None:
                if _may_fork() and not self._grace_s and not self._nests:  # before we have a thread ourselves
                    self._copies.extend(_started(is_copy=True) for _ in range(self._size))
                self._thread = Thread(target=self._run, name="rcv-pool", daemon=True)
                self._thread.start()
                # Else multiprocessing ends our processes as Python exits, and waits for what replaces them.
                atexit.register(self.close)
        call.future.add_done_callback(self._wake)  # it may be cancelled
        self._wake()
        return call.future

    @property
    def waiting(self) -> int:
        """How many calls no process has taken yet."""
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
                self._bell.send_bytes(b"")
                self._is_woken = True  # after it rang: Ctrl+C may come in between, and twice does no harm

    # -- the thread of the pool ---------------------------------------------------------------------

    def _run(self) -> None:
        error: Exception | None = None
        try:
            while not self._is_closed:
                self._turn()
        except Exception as bug:  # whoever waits must hear of it
            error = bug
        with self._lock:
            self._is_closed = True
        calls = [*(call for worker in self._workers for call in worker.calls), *self._waiting]
        if self._keeps:
            idle = [worker for worker in self._workers if not worker.calls]
            self._workers = [worker for worker in self._workers if worker.calls]
            _ahead.extend((worker.process, worker.connection) for worker in idle)
        try:
            for worker in self._workers:
                worker.terminate()
            for worker in self._workers:
                worker.end()
            self._workers.clear()
            _end_all(self._copies)
        finally:  # whatever happens here, nobody waits for an answer any more
            for call in calls:
                if error is not None and call.future.set_running_or_notify_cancel():
                    call.future.set_exception(error)
                call.future.cancel()

    def _turn(self) -> None:
        """Hand out calls, wait until something happens, and act on it."""
        for worker in list(self._workers):
            if worker.calls and worker.calls[0].future.cancelled():
                self._replace(worker)
        while (call := self._next()) is not None and (free := self._free(call)) is not None:
            self._waiting.popleft()
            free.send(call)
        ready = wait([self._ear, *(worker.connection for worker in self._workers)], self._seconds_left())
        if self._ear in ready:
            with self._lock:
                self._ear.recv_bytes()
                self._is_woken = False
        for heard in [worker for worker in self._workers if worker.connection in ready]:
            self._receive(heard)
        for late in [worker for worker in self._workers if worker.is_overdue]:
            self._replace(late, CallTimedOut(self._timeout_s or 0))

    def _next(self) -> _Call | None:
        """Return the first call that waits; those that were cancelled go."""
        while self._waiting and self._waiting[0].future.cancelled():
            self._waiting.popleft()
        return self._waiting[0] if self._waiting else None

    def _seconds_left(self) -> float | None:
        deadlines = [worker.deadline for worker in self._workers if worker.calls]
        left = min(deadlines, default=float("inf")) - monotonic()
        return None if left == float("inf") else max(0.0, left)

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
            return self._start(call)
        ahead = self._calls_ahead if len(call.arguments.data) <= AHEAD_BYTES else 1
        free = [one for one in self._workers if len(one.calls) < ahead and not one.is_alone]
        return None if call.is_alone else min(free, key=lambda one: len(one.calls), default=None)

    def _start(self, call: _Call) -> _Worker:
        near = None
        if not self._grace_s and not self._nests:
            near = _alive(self._copies) or _alive(_ahead)
        near = near or _started(is_tidy=self._grace_s > 0, nests=self._nests)
        worker = _Worker(near, self._task, self._timeout_s, self._grace_s, call.is_alone)
        self._workers.append(worker)
        return worker

    def _receive(self, worker: _Worker) -> None:
        try:
            answer = receive(worker.connection)
        except (EOFError, OSError):
            self._replace(worker, WorkerStopped(process=worker.process.pid or 0))
            return
        call = worker.calls.popleft()
        worker.begin()
        _settle(call.future, answer)
        if worker.is_alone:
            self._replace(worker)

    def _replace(self, worker: _Worker, error: Exception | None = None) -> None:
        """End a process.  Its call is made again or fails with `error`; those ahead go to another one."""
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
    """The near end of one process."""

    def __init__(
        self, near: _Near, task: Message, timeout_s: float | None, grace_s: float, is_alone: bool
    ) -> None:
        self.process, self.connection = near
        self.calls: deque[_Call] = deque()  # the first is being done
        self.key = ""
        self.is_alone = is_alone
        self.deadline = float("inf")  # of the first call, as time of the monotonic clock
        self._timeout_s = float("inf") if timeout_s is None else timeout_s
        self._grace_s = grace_s
        with suppress(OSError):  # that it has died will be found when its answer is awaited
            send(self.connection, task)

    def send(self, call: _Call) -> None:
        """Give the process a call; that it has died will be found when the result is fetched."""
        self.calls.append(call)
        self.key = call.key
        if len(self.calls) == 1:
            self.begin()
        with suppress(OSError):
            send(self.connection, call.arguments)

    def begin(self) -> None:
        """The first call begins now."""
        self.deadline = monotonic() + self._timeout_s

    @property
    def is_overdue(self) -> bool:
        return bool(self.calls) and monotonic() >= self.deadline

    def terminate(self) -> None:
        """Ask the process to end."""
        with suppress(ProcessLookupError):  # somebody has buried it
            if self._grace_s:
                self.process.terminate()
            else:
                self.process.kill()

    def end(self) -> None:
        """End the process, whatever it does."""
        self.terminate()
        self.connection.close()
        if self._grace_s and not wait([self.process.sentinel], self._grace_s):
            self.process.kill()
        _bury(self.process)


# -- starting processes -------------------------------------------------------------------------------

_ahead: deque[_Near] = deque()  # processes that wait for a pool


def start_ahead(count: int, module: str) -> None:
    """Start processes for the pools of this program to come, with a module that they will need.

    They end with the program, or by `end_ahead`.
    """
    import_module(module)  # copies have what we have
    is_copy = _may_fork()
    _ahead.extend(_started(is_copy=is_copy, module=module) for _ in range(count))


def end_ahead() -> None:
    """End the processes that no pool has taken."""
    _end_all(_ahead)


def _end_all(waiting: deque[_Near]) -> None:
    while (near := _alive(waiting)) is not None:
        process, connection = near
        connection.close()
        with suppress(ProcessLookupError):  # somebody has buried it
            process.kill()
        _bury(process)


def _bury(process: BaseProcess) -> None:
    """Wait for a process that has ended, or is about to."""
    wait([process.sentinel])
    # Whoever starts or lists processes buries those that ended, and for a moment they seem to run to us.
    with _starting, suppress(ValueError):
        process.join()
        process.close()


def _alive(waiting: deque[_Near]) -> _Near | None:
    """Take a process that waits, None without any."""
    while waiting:
        with _starting, suppress(IndexError):  # another thread was faster
            near = waiting.popleft()
            if near[0].is_alive():
                return near
            near[1].close()
    return None


def _may_fork() -> bool:
    """Whether a copy of this process is sound: nothing but its main thread runs, and Qt is not there yet.

    Libraries of macOS do not stand a copy.
    """
    return sys.platform.startswith("linux") and active_count() == 1 and "PySide6" not in sys.modules


def _started(*, is_tidy: bool = False, nests: bool = False, is_copy: bool = False, module: str = "") -> _Near:
    """A process that waits for its task, and the near end of the pipe to it."""
    # A fork at any other time would copy threads and Qt in whatever state they are.
    context: BaseContext = get_context("fork" if is_copy else "spawn")
    near, far = context.Pipe(duplex=True)
    arguments = (far, is_tidy, is_copy, module)
    process: BaseProcess = context.Process(target=_serve, args=arguments, daemon=not nests)  # type: ignore[attr-defined]
    with _without_main(), catch_warnings():
        simplefilter("ignore", DeprecationWarning)  # of threads in a copy: numpy's end before a fork
        process.start()
    far.close()  # so that the child's end is the only one, and its death ends our reading
    return process, near


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the program's main module while a process is started.

    A spawned process runs the main module again to find what it was asked for; ours is found in this module.
    A script without the usual guard would start workers from its workers instead of being read once.
    """
    with _starting:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


# -- in the process ---------------------------------------------------------------------------------


def _serve(connection: Connection, is_tidy: bool, is_copy: bool, module: str) -> None:
    """Answer calls until the other end is closed, by intent or because its process died."""
    if is_copy:
        _forget_parent(connection)
    _end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which ends us
    with suppress(EOFError, OSError, KeyboardInterrupt), ends_tidily() if is_tidy else nullcontext():
        if hasattr(os, "nice"):  # not on Windows
            os.nice(NICE)
        if module:
            import_module(module)
        function = _nothing
        while True:
            told = loads(receive(connection))
            if not isinstance(told, _Task):
                send(connection, _outcome(function, told))
                continue
            function = told.function
            trim()  # what the task before left
            if told.setup is not None:
                told.setup()


def _nothing(*_: object) -> None:
    """What a process does that has no task."""


def _forget_parent(connection: Connection) -> None:
    """Give up what a copy has of its parent: open files, among them ends of its pipes, and signals."""
    while _ahead:
        _ahead.pop()[1].close()
    parent = parent_process()
    kept = {0, 1, 2, connection.fileno(), None if parent is None else parent.sentinel}
    for number in set(map(int, os.listdir("/proc/self/fd"))) - kept:  # noqa: PTH208
        with suppress(OSError):  # the one that listed them
            os.close(number)
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_DFL)
    gc.freeze()  # what is looked at is copied
    gc.enable()


def _end_with_parent() -> None:
    """End this process when its parent does, however that ends.

    `kill -9` gives nobody a chance to stop its children, and a child that computes does not look up.  So the
    kernel is asked to tell: the pipe by which multiprocessing knows of its parent signals its reader when the
    other end goes, and nobody handles that signal.  That works even while a C function holds the GIL.
    Where pipes do not signal, a thread waits for the same end.
    """
    parent = parent_process()
    if parent is None:
        return
    if isinstance(parent.sentinel, int):
        with suppress(OSError, ImportError):
            _let_it_signal(parent.sentinel)
    if wait([parent.sentinel], timeout=0):  # it went while we started: nothing will signal any more
        os._exit(1)
    Thread(target=_watch, args=(parent.sentinel,), name="rcv-lifeline", daemon=True).start()


def _let_it_signal(pipe: int) -> None:
    """Have SIGIO, which ends a process, sent to us when the pipe's other end is closed."""
    import fcntl  # noqa: PLC0415 - Windows has none

    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def _outcome(function: Callable[..., object], arguments: tuple[object, ...]) -> Message:
    try:
        value = function(*arguments)
        check_end()
        return dumps((value, None))
    except Exception as error:  # the process border: a bug must reach the other side as what it is
        check_end(error)
        if not isinstance(error, RcvError):
            error.add_note(traceback.format_exc())
        return dumps((None, _portable(error)))


def _portable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its __reduce__ or __init__ does
        return RcvError("Another process could not do its work.", detail=repr(error))
    return error


def _settle(future: Future[Any], answer: Message) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        value, error = loads(answer)
    except Exception as bug:  # a result that cannot be unpickled: whoever waits must hear of it
        future.set_exception(bug)
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
