"""A value that notifies its watchers of changes."""

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakMethod

Value = TypeVar("Value")


class Cell(Generic[Value]):
    """A value and its watchers.  Used from the UI thread only.

    A watcher takes no argument: it reads the value, so it can never act on a stale value.  Setting an equal
    value notifies no watcher.
    """

    def __init__(self, value: Value) -> None:
        self.value = value
        self._watchers: list[WeakMethod[Callable[[], None]]] = []

    def watch(self, method: Callable[[], None]) -> None:
        """Call the bound `method` after every change, for as long as its object lives."""
        self._watchers.append(WeakMethod(method))

    def set(self, value: Value) -> None:
        """Set the value; notify the watchers if it differs."""
        try:
            is_same = value is self.value or (value == self.value) is True  # not arrays of numbers
        except ValueError:  # tuples of arrays, which are not compared
            is_same = False
        if not is_same:
            self.value = value
            self.notify()

    def notify(self) -> None:
        """Call every watcher, changed or not; the first exception of one is raised after all were called."""
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
