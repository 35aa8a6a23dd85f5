"""Calls from any thread, run on the UI thread."""

from collections.abc import Callable
from queue import SimpleQueue

from PySide6.QtCore import QObject, Qt, Signal
from shiboken6 import isValid

from rcv_py.ui.core.frame_budget import FrameBudget


class Posts(QObject):
    """Runs calls in the thread it was made in, a few per turn of the event loop, in posting order.

    Its signal only announces a call and carries no value: Qt copies and frees Python objects that cross
    threads as signal values, sometimes without holding the interpreter's lock.
    """

    _came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._came.connect(self._one_came, Qt.ConnectionType.QueuedConnection)

    def post(self, call: Callable[[], None]) -> None:
        """Run a call soon; from any thread."""
        self._calls.put(call)
        self._came.emit()

    def _one_came(self) -> None:
        FrameBudget.here().call(self._make_one)

    def _make_one(self) -> None:
        if isValid(self):
            self._calls.get_nowait()()
