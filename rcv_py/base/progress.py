"""Progress and cancellation of long work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, local

from rcv_py.base.errors import Cancelled
from rcv_py.base.record import Value
from rcv_py.base.text import Message


class Stage(Value):
    """A named step of long work; `total` 0 means its length is unknown."""

    name: str
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return Message("{0} {1:,} of {2:,}", self.name, self.done, self.total) if self.total else self.name


Report = Callable[[Stage], None]


def silent(stage: Stage) -> None:
    """Ignore a stage that was reached."""


class CancelFlag(Event):
    """A flag that one thread sets and another reads."""

    def check(self) -> None:
        """Raise `Cancelled` if the flag is set."""
        if self.is_set():
            raise Cancelled


class _Running(local):
    """The flags that end the work of this thread."""

    flags: tuple[CancelFlag, ...] = ()


_running = _Running()


@contextmanager
def stoppable(flag: CancelFlag) -> Iterator[None]:
    """Let `checkpoint` raise Cancelled in this thread once the flag, or one of a block around it, is set."""
    before = _running.flags
    _running.flags = (*before, flag)
    try:
        yield
    finally:
        _running.flags = before


def checkpoint() -> None:
    """Raise Cancelled if this thread's work was cancelled: called several times a second."""
    for flag in _running.flags:
        flag.check()
