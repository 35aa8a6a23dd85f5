"""Calls from any thread, made in the thread of the window."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue

from PySide6.QtCore import QObject, Qt, Signal
from shiboken6 import isValid

from rcv_py.ui.core.turns import Turns


class Posts(QObject):
    """Makes calls in the thread it was made in, few a turn of the event loop, in the order of posting.

    A signal says that there is one, and carries nothing: objects of Python that cross threads as values of a
    signal are copied and let go by Qt, at times without the lock of the interpreter.
    """

    _came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._came.connect(self._one_came, Qt.ConnectionType.QueuedConnection)

    def post(self, call: Callable[[], None]) -> None:
        """Have a call made soon; from any thread."""
        self._calls.put(call)
        self._came.emit()

    def _one_came(self) -> None:
        Turns.here().call(self._make_one)

    def _make_one(self) -> None:
        if isValid(self):
            self._calls.get_nowait()()
