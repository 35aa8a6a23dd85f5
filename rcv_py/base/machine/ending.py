"""Handle signals that end the process (SIGTERM, SIGHUP, Ctrl+C): work unwinds and leaves nothing unfinished.

The exception of a signal can be raised anywhere, and some code does not pass it on: a dataclass declaration
wraps it, a callback of the garbage collector swallows it, and Qt's bindings abort the process while they are
imported.  So no import is interrupted, an event loop is requested to end (`ends_by`), a lost exception is
raised again, and a block in `ends_tidily` always ends with the exception.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from weakref import ref

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_IMPORTS = "<frozen importlib._bootstrap>"  # the file name of frames that run an import
GRACE_S = 1.0  # then an import or an ending block is interrupted: ours are shorter
_AGAIN_S = 0.01  # between checks whether an import has ended, and whether the exception is propagating


class Terminated(KeyboardInterrupt):
    """A signal ends this process; unlike `SystemExit` it is never an exit code of a command."""


class _Stopped(KeyboardInterrupt):
    """Ctrl+C; unlike its base it supports weak references."""


class _Pending:
    """The pending signal of this process; signals are handled in its main thread alone."""

    number = 0  # of the signal; 0: none
    deadline = 0.0  # time of the monotonic clock at which it is raised even within an import
    raised: ref[KeyboardInterrupt] | None = None  # the exception, which lives while it propagates
    ask: Callable[[], object] | None = None  # ends the work without an exception


@contextmanager
def ends_tidily() -> Iterator[None]:
    """Raise Ended in the main thread at a signal to end the process, KeyboardInterrupt at Ctrl+C.

    After that the block ends with this exception, not with a result or another exception.  A signal that is
    ignored, as after `nohup`, stays ignored; in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual, numbers = (signal.SIG_DFL, signal.default_int_handler), (*_SIGNALS, signal.SIGINT)
    taken = {number: handler for number in numbers if (handler := signal.getsignal(number)) in usual}
    for number in taken:
        signal.signal(number, _end)
    _Pending.number, _Pending.ask = 0, None  # a fork inherits the values of its parent
    try:
        yield
    except BaseException as error:
        check_end(error)
        raise
    else:
        check_end()
    finally:
        _Pending.number = 0
        _set_alarm(0)
        for number, handler in taken.items():
            if signal.getsignal(number) is _end:
                signal.signal(number, handler)


def check_end(error: BaseException | None = None) -> None:
    """Raise the exception of a signal since the block began, unless `error` is one."""
    if _Pending.number and not isinstance(error, KeyboardInterrupt):
        raise _exception() from error


@contextmanager
def ends_by(ask: Callable[[], object]) -> Iterator[None]:
    """Let a signal call `ask`, which ends the block; a block that still runs a second later is interrupted.

    An event loop needs it: an exception raised in a task of a group is wrapped, and the loop prints it and
    warns of tasks that never began.
    """
    before, _Pending.ask = _Pending.ask, ask
    try:
        yield
    finally:
        _Pending.ask = before
    check_end()


@contextmanager
def not_interrupted() -> Iterator[None]:
    """Delay a signal until the end of the block, a second at most; in other threads this does nothing.

    Hooks that run around a fork print an exception raised in them, and go on.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with ends_by(lambda: None):  # the block ends by itself
        yield


def _end(number: int, frame: FrameType | None) -> None:
    if number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # the same signal must not interrupt the clean-up
    _Pending.number, _Pending.deadline, _Pending.raised = number, monotonic() + GRACE_S, None
    if _Pending.ask is not None:
        _Pending.ask()
    _look(number, frame)


def _look(_: int, frame: FrameType | None) -> None:
    """Raise the exception unless it is propagating, and check again soon until it has arrived."""
    if not _Pending.number:
        return
    has_alarm = _set_alarm(_AGAIN_S)
    if _Pending.raised is not None and _Pending.raised() is not None:
        return
    if has_alarm and monotonic() < _Pending.deadline and (_Pending.ask or _imports(frame)):
        return
    error = _exception()
    try:
        raise error
    finally:
        del error  # its traceback leads here: a reference cycle would keep a swallowed exception alive


def _set_alarm(seconds: float) -> bool:
    """Schedule `_look` after some seconds, 0: never; return whether that is possible."""
    if not hasattr(signal, "setitimer"):  # on Windows
        return False
    if signal.getsignal(signal.SIGALRM) not in (signal.SIG_DFL, _look):  # set by other code
        return False
    signal.signal(signal.SIGALRM, _look)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    return True


def _imports(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != _IMPORTS:
        frame = frame.f_back
    return frame is not None


def _exception() -> KeyboardInterrupt:
    """The exception to raise; only one propagates out of `ends_tidily` at a time."""
    error = Terminated() if _Pending.number in _SIGNALS else _Stopped()
    _Pending.raised = ref(error)
    return error
