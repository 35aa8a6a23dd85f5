"""Being ended (SIGTERM, a terminal that closes, Ctrl+C): work unwinds, and nothing half is left behind.

The exception that a signal raises may come up anywhere, and not everybody lets it through: a dataclass that
is being declared wraps it, a callback of the garbage collector swallows it, and Qt's bindings abort the
process while they are imported.  So no import is interrupted, an event loop is asked to end (`ends_by`), an
exception that got lost is raised again, and what runs in `ends_tidily` ends with the wish whatever becomes of
it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from weakref import ref

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_IMPORTS = "<frozen importlib._bootstrap>"  # the file of frames that import something
GRACE_S = 1.0  # after which an import or what was asked to end is interrupted: those of ours are shorter
_AGAIN_S = 0.01  # between looks whether an import has ended, and whether the exception is on its way


class Ended(KeyboardInterrupt):
    """Somebody ends this process; unlike `SystemExit` nobody takes it for an answer of a command."""


class _Stopped(KeyboardInterrupt):
    """Ctrl+C; unlike its base it can be referred to weakly."""


class _Wish:
    """What this process was asked for; signals are handled in its main thread alone."""

    number = 0  # of the signal; 0: nothing
    deadline = 0.0  # as time of the monotonic clock, when it is raised even within an import
    raised: ref[KeyboardInterrupt] | None = None  # the exception, which lives while it is on its way
    ask: Callable[[], object] | None = None  # what ends the work by itself


@contextmanager
def ends_tidily() -> Iterator[None]:
    """Raise Ended in the main thread when the process is asked to end, KeyboardInterrupt at Ctrl+C.

    After that nothing else leaves the block, neither an answer nor another exception.
    A signal that is ignored, as after `nohup`, stays ignored; in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {**dict.fromkeys(_SIGNALS, signal.SIG_DFL), signal.SIGINT: signal.default_int_handler}
    taken = {number: handler for number, handler in usual.items() if signal.getsignal(number) is handler}
    for number in taken:
        signal.signal(number, _end)
    _Wish.number, _Wish.ask = 0, None  # a copy of a process has those of its parent
    try:
        yield
    except BaseException as error:
        check_end(error)
        raise
    else:
        check_end()
    finally:
        _Wish.number = 0
        _set_alarm(0)
        for number, handler in taken.items():
            if signal.getsignal(number) is _end:
                signal.signal(number, handler)


def check_end(error: BaseException | None = None) -> None:
    """Raise what was asked for since the block began, unless `error` says it already."""
    if _Wish.number and not isinstance(error, KeyboardInterrupt):
        raise _exception() from error


@contextmanager
def ends_by(ask: Callable[[], object]) -> Iterator[None]:
    """Have a signal call `ask`, which ends the block; what a second later goes on is interrupted.

    An event loop needs it: an exception that comes up in a task of a group is wrapped, whoever runs
    the tasks prints it, and complains of those that never began.
    """
    before, _Wish.ask = _Wish.ask, ask
    try:
        yield
    finally:
        _Wish.ask = before
    check_end()


@contextmanager
def not_interrupted() -> Iterator[None]:
    """Have a signal wait for the end of the block, a second at most; in other threads this does nothing.

    Hooks that run around a fork print an exception that comes up in them, and go on.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with ends_by(_nothing):
        yield


def _nothing() -> None:
    """The block ends by itself."""


def _end(number: int, frame: FrameType | None) -> None:
    if number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # tidying up is not to be interrupted by the same wish
    _Wish.number, _Wish.deadline, _Wish.raised = number, monotonic() + GRACE_S, None
    if _Wish.ask is not None:
        _Wish.ask()
    _look(number, frame)


def _look(_: int, frame: FrameType | None) -> None:
    """Raise what was asked for unless it is on its way, and until it has arrived look again soon."""
    if not _Wish.number:
        return
    has_alarm = _set_alarm(_AGAIN_S)
    if _Wish.raised is not None and _Wish.raised() is not None:
        return
    if has_alarm and monotonic() < _Wish.deadline and (_Wish.ask is not None or _imports(frame)):
        return
    error = _exception()
    try:
        raise error
    finally:
        del error  # its traceback leads here: it would refer to itself, and outlive being swallowed


def _set_alarm(seconds: float) -> bool:
    """Have `_look` called so much later, 0: never; return whether that is possible."""
    if not hasattr(signal, "setitimer"):  # on Windows
        return False
    if signal.getsignal(signal.SIGALRM) not in (signal.SIG_DFL, _look):  # somebody else's
        return False
    signal.signal(signal.SIGALRM, _look)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    return True


def _imports(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != _IMPORTS:
        frame = frame.f_back
    return frame is not None


def _exception() -> KeyboardInterrupt:
    """What is raised; while it is on its way out of `ends_tidily` no other is."""
    error = Ended() if _Wish.number in _SIGNALS else _Stopped()
    _Wish.raised = ref(error)
    return error
