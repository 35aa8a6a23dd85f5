"""Worker processes: how they start, what they run, and how they end.

A new process takes a third of a second to start.  Where a fork is safe it is a copy of this process, ready at
once, and `start_ahead` keeps some for the first pool that needs them.  A worker ends with its parent, has a
lower priority, and leaves Ctrl+C to it.
"""

import gc
import os
import pickle
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from threading import Lock, Thread, active_count
from types import ModuleType
from typing import Any
from warnings import catch_warnings, simplefilter

from rcv_py.base.errors import RcvError
from rcv_py.base.machine.ending import check_end, ends_tidily, not_interrupted
from rcv_py.base.record import Value
from rcv_py.tuning.memory import trim
from rcv_py.tuning.processors import WORKER_NICE, lower_priority
from rcv_py.work.shared import Envelope, dumps, loads, receive, send

_starting = Lock()  # held while multiprocessing scans its child processes: to start and to reap one
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
WorkerHandle = tuple[BaseProcess, Connection]  # a process, and our end of the pipe to it


class Task(Value):
    """The function for all calls that follow."""

    setup: Callable[[], None] | None
    function: Callable[..., Any]


IDLE_WORKERS: deque[WorkerHandle] = deque()  # processes that wait for a pool


def start_ahead(count: int, module: str) -> None:
    """Start processes for later pools of this program, with a module that they will need.

    They end with the program, or by `end_ahead`.
    """
    import_module(module)  # copies inherit it
    is_copy = may_fork()
    IDLE_WORKERS.extend(started(is_copy=is_copy, module=module) for _ in range(count))


def end_ahead() -> None:
    """End the processes that no pool has taken."""
    end_all(IDLE_WORKERS)


def end_all(waiting: deque[WorkerHandle]) -> None:
    """End processes that wait."""
    while (near := alive(waiting)) is not None:
        process, connection = near
        connection.close()
        with suppress(ProcessLookupError):  # another thread has reaped it
            process.kill()
        reap(process)


def reap(process: BaseProcess) -> None:
    """Wait for a process that has ended, or is about to."""
    wait([process.sentinel])
    # Starting or listing processes in another thread reaps ended ones; for a moment they seem to run to us.
    with _starting, suppress(ValueError):
        process.join()
        process.close()


def alive(waiting: deque[WorkerHandle]) -> WorkerHandle | None:
    """Take an idle process, None without any."""
    while waiting:
        with _starting, suppress(IndexError):  # another thread was faster
            near = waiting.popleft()
            if near[0].is_alive():
                return near
            near[1].close()
    return None


def may_fork() -> bool:
    """Whether a fork is safe: only the main thread runs, and Qt is not loaded yet.

    Libraries of macOS do not survive a fork.
    """
    return sys.platform.startswith("linux") and active_count() == 1 and "PySide6" not in sys.modules


def started(
    *, is_tidy: bool = False, nests: bool = False, is_copy: bool = False, module: str = ""
) -> WorkerHandle:
    """A process that waits for its task, and our end of the pipe to it."""
    # A fork at any other time would copy threads and Qt in an unknown state.
    context: BaseContext = get_context("fork" if is_copy else "spawn")
    near, far = context.Pipe(duplex=True)
    arguments = (far, is_tidy, is_copy, module, WORKER_NICE)
    # The stubs declare it for each context class, not for their base.
    process: BaseProcess = context.Process(target=_serve, args=arguments, daemon=not nests)  # type: ignore[attr-defined]
    held = _signals_held() if is_copy else nullcontext()
    with not_interrupted(), _without_main(), held, catch_warnings():
        simplefilter("ignore", DeprecationWarning)  # of threads in a copy: numpy's end before a fork
        process.start()
    far.close()  # so that only the child holds its end, and its death ends our read
    return process, near


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the program's main module while a process is started.

    A spawned process runs the main module again to find its target; our target is in this module.  A script
    without the usual guard would start workers from its workers.
    """
    with _starting:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def _signals_held() -> Iterator[None]:
    """Block signals during a fork; the copy handles them once it is ready: `_forget_parent`.

    Python drops signals that arrive before a copy runs, and multiprocessing, which sends one as the program
    ends, would wait for the copy for ever.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, is_tidy: bool, is_copy: bool, module: str, nice: int) -> None:
    """Run calls until the other end is closed, on purpose or because its process died."""
    if is_copy:
        _forget_parent(connection)
    _end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which ends us
    with suppress(EOFError, OSError, KeyboardInterrupt), ends_tidily() if is_tidy else nullcontext():
        lower_priority(nice)
        if module:
            import_module(module)
        function: Callable[..., object] = lambda *_: None  # noqa: E731 - until there is a task
        while True:
            message = loads(receive(connection))
            if not isinstance(message, Task):
                send(connection, _outcome(function, message))
                continue
            function = message.function
            trim()  # garbage of the previous task
            if message.setup is not None:
                message.setup()


def _forget_parent(connection: Connection) -> None:
    """Drop what a copy inherits from its parent: open files, among them ends of its pipes, and signals."""
    while IDLE_WORKERS:
        IDLE_WORKERS.pop()[1].close()
    parent = parent_process()
    kept = {0, 1, 2, connection.fileno(), None if parent is None else parent.sentinel}
    for number in set(map(int, os.listdir("/proc/self/fd"))) - kept:  # noqa: PTH208
        with suppress(OSError):  # the one that listed them
            os.close(number)
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    gc.freeze()  # pages that the collector touches are copied
    gc.enable()


def _end_with_parent() -> None:
    """End this process when its parent ends for any reason.

    After `kill -9` a parent cannot stop its children, and a computing child polls nothing.  So the kernel
    notifies it: the pipe by which multiprocessing watches the parent signals its reader when the other end
    closes, and the unhandled signal ends the process.  That works even while a C function holds the GIL.
    Where pipes do not signal, a thread waits for the same end.
    """
    parent = parent_process()
    if parent is None:
        return
    if isinstance(pipe := parent.sentinel, int):
        with suppress(OSError, ImportError):
            import fcntl  # noqa: PLC0415 - Windows has none

            # SIGIO, which ends a process, comes when the pipe's other end is closed.
            fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if wait([parent.sentinel], timeout=0):  # it ended while we started: no signal will come
        os._exit(1)

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, name="rcv-lifeline", daemon=True).start()


def _outcome(function: Callable[..., object], arguments: tuple[object, ...]) -> Envelope:
    try:
        value = function(*arguments)
        check_end()
        return dumps((value, None))
    except Exception as error:  # the process border: a bug must reach the other side with its own type
        check_end(error)
        if not isinstance(error, RcvError):
            error.add_note(traceback.format_exc())
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # its __reduce__ or __init__ may raise anything
            error = RcvError("Another process could not do its work.", detail=repr(error))
        return dumps((None, error))
