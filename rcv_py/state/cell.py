"""A value that tells its watchers when it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakMethod

Value = TypeVar("Value")


class Cell(Generic[Value]):
    """A value and who watches it.  Used from the UI thread only.

    A watcher takes no argument: it reads the value, so it can never act on a stale one.  Setting a value
    equal to the present one tells nobody.
    """

    def __init__(self, value: Value) -> None:
        self.value = value
        self._watchers: list[WeakMethod[Callable[[], None]]] = []

    def watch(self, method: Callable[[], None]) -> None:
        """Call the bound `method` after every change, for as long as its object lives."""
        self._watchers.append(WeakMethod(method))

    def set(self, value: Value) -> None:
        """Change the value; tell the watchers if it is another one."""
        if value is self.value or (value == self.value) is True:  # arrays of numbers are compared one by one
            return
        self.value = value
        self.tell()

    def tell(self) -> None:
        """Call every watcher, whether or not the value changed.

        A mistake in one does not keep the change from the others; it is raised when all have heard of it.
        """
        self._watchers = [watcher for watcher in self._watchers if watcher() is not None]
        mistakes: list[Exception] = []
        for call in [watcher() for watcher in self._watchers]:
            try:
                if call is not None:
                    call()
            except Exception as mistake:
                mistakes.append(mistake)
        if mistakes:
            raise mistakes[0]
