"""Processes that wait for a task: how they start, what they do, and how they end.

A new process needs a third of a second before it can do anything.  Where a fork is safe it is a copy of this
one, ready at once, and `start_ahead` has some wait for whoever needs them first.  A process ends with the one
that started it, lets it go first where cores are few, and leaves Ctrl+C to it.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
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
from rcv_py.base.machine.memory import trim
from rcv_py.work.machine import BEHIND, step_back
from rcv_py.work.shared import Message, dumps, loads, receive, send

_starting = Lock()  # held while multiprocessing looks at all processes of this one: to start and to bury one
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
Near = tuple[BaseProcess, Connection]  # a process, and our end of the pipe to it


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What a process is to do with all calls that follow."""

    setup: Callable[[], None] | None
    function: Callable[..., Any]


WAITING: deque[Near] = deque()  # processes that wait for a pool


def start_ahead(count: int, module: str) -> None:
    """Start processes for the pools of this program to come, with a module that they will need.

    They end with the program, or by `end_ahead`.
    """
    import_module(module)  # copies have what we have
    is_copy = may_fork()
    WAITING.extend(started(is_copy=is_copy, module=module) for _ in range(count))


def end_ahead() -> None:
    """End the processes that no pool has taken."""
    end_all(WAITING)


def end_all(waiting: deque[Near]) -> None:
    """End processes that wait."""
    while (near := alive(waiting)) is not None:
        process, connection = near
        connection.close()
        with suppress(ProcessLookupError):  # somebody has buried it
            process.kill()
        bury(process)


def bury(process: BaseProcess) -> None:
    """Wait for a process that has ended, or is about to."""
    wait([process.sentinel])
    # Whoever starts or lists processes buries those that ended, and for a moment they seem to run to us.
    with _starting, suppress(ValueError):
        process.join()
        process.close()


def alive(waiting: deque[Near]) -> Near | None:
    """Take a process that waits, None without any."""
    while waiting:
        with _starting, suppress(IndexError):  # another thread was faster
            near = waiting.popleft()
            if near[0].is_alive():
                return near
            near[1].close()
    return None


def may_fork() -> bool:
    """Whether a copy of this process is sound: nothing but its main thread runs, and Qt is not there yet.

    Libraries of macOS do not stand a copy.
    """
    return sys.platform.startswith("linux") and active_count() == 1 and "PySide6" not in sys.modules


def started(*, is_tidy: bool = False, nests: bool = False, is_copy: bool = False, module: str = "") -> Near:
    """A process that waits for its task, and the near end of the pipe to it."""
    # A fork at any other time would copy threads and Qt in whatever state they are.
    context: BaseContext = get_context("fork" if is_copy else "spawn")
    near, far = context.Pipe(duplex=True)
    arguments = (far, is_tidy, is_copy, module, BEHIND)
    # The stubs give it to the contexts of each way of starting, not to what these share.
    process: BaseProcess = context.Process(target=_serve, args=arguments, daemon=not nests)  # type: ignore[attr-defined]
    held = _signals_held() if is_copy else nullcontext()
    with not_interrupted(), _without_main(), held, catch_warnings():
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


@contextmanager
def _signals_held() -> Iterator[None]:
    """Have a copy that is made meanwhile hear of its end once it can heed it: `_forget_parent`.

    Python drops the signals that come before a copy runs, and multiprocessing, which sends one as the program
    ends, would wait for the copy for ever.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- in the process ---------------------------------------------------------------------------------


def _serve(connection: Connection, is_tidy: bool, is_copy: bool, module: str, behind: int) -> None:
    """Answer calls until the other end is closed, by intent or because its process died."""
    if is_copy:
        _forget_parent(connection)
    _end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which ends us
    with suppress(EOFError, OSError, KeyboardInterrupt), ends_tidily() if is_tidy else nullcontext():
        step_back(behind)
        if module:
            import_module(module)
        function = _nothing
        while True:
            told = loads(receive(connection))
            if not isinstance(told, Task):
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
    while WAITING:
        WAITING.pop()[1].close()
    parent = parent_process()
    kept = {0, 1, 2, connection.fileno(), None if parent is None else parent.sentinel}
    for number in set(map(int, os.listdir("/proc/self/fd"))) - kept:  # noqa: PTH208
        with suppress(OSError):  # the one that listed them
            os.close(number)
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
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
