"""Progress of long work, and the way to stop it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from rcv_py.base.errors import Cancelled
from rcv_py.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """A named step of long work; `total` 0 means its length is unknown."""

    name: str
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"{self.name} {self.done:,} of {self.total:,}" if self.total else self.name


Report = Callable[[Stage], None]


def silent(stage: Stage) -> None:
    """Ignore a stage that was reached."""


class CancelFlag(Event):
    """Set by one thread, looked at by another."""

    def check(self) -> None:
        """Raise `Cancelled` if somebody asked the work to stop."""
        if self.is_set():
            raise Cancelled
