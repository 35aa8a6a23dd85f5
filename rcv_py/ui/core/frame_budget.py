"""Limit the work in each turn of the event loop, so that keys and painting get in between.

`Posts` brings calls of other threads into these turns, and `Importer` imports one module in each.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from time import perf_counter

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer, Signal
from shiboken6 import isValid

FRAME_S = 0.008  # time per turn for answers and what follows from them: half a frame
# Modules that take several frames to import, right after the first picture, and what to import before them.
STEPS = {
    "rcv_py.analysis.findings.detect": (
        "rcv_py.analysis.attribution.stream",
        "rcv_py.analysis.attribution.attribute",
        "rcv_py.analysis.device.occupancy_limits",
        "rcv_py.analysis.iterations.loop_summary",
        "rcv_py.analysis.latency.access_widths",
        "rcv_py.analysis.findings.inputs",
        "rcv_py.analysis.findings.remedies",
    )
}


def one_shot(parent: QObject, call: Callable[[], object], after_ms: int = 0) -> QTimer:
    """Return a timer that calls a function once after each start."""
    timer = QTimer(parent, singleShot=True, interval=after_ms)
    timer.timeout.connect(call)
    return timer


class FrameBudget(QObject):
    """Makes calls on the UI thread: at once while the turn has time left, else in a later turn.

    Qt makes every due call before it handles input again, so calls of many timers and answers in a turn would
    add up to one long delay.  Deferred calls run in order.
    """

    _of_application: FrameBudget | None = None

    def __init__(self, parent: QObject | None, clock: Callable[[], float] = perf_counter) -> None:
        super().__init__(parent)
        self._clock = clock
        self.waiting: deque[Callable[[], object]] = deque()  # calls that are left for another turn
        self._spent_s = 0.0
        self._is_in_call = False
        self._next = one_shot(self, self._begin)

    @classmethod
    def here(cls) -> FrameBudget:
        """Return the application's shared object."""
        budget = cls._of_application
        if budget is None or not isValid(budget):
            budget = cls._of_application = cls(QCoreApplication.instance())
        return budget

    def call(self, call: Callable[[], object]) -> None:
        """Make a call in this turn, or after the calls queued before it."""
        if self.waiting or self._spent_s >= FRAME_S:
            self.waiting.append(call)
            self._next.start()
        else:
            self._make(call)

    def paint(self, paint: Callable[[], object]) -> None:
        """Paint in this turn, or first in the next turn if calls have used the time of this turn.

        Painting follows right after a call that changed something: both together may take too long for a
        turn.
        """
        if self._is_in_call or self._spent_s < FRAME_S:
            self._make(paint)
        else:
            self.waiting.appendleft(paint)
            self._next.start()

    def _begin(self) -> None:
        self._spent_s = 0.0
        while self.waiting and self._spent_s < FRAME_S:
            self._make(self.waiting.popleft())

    def _make(self, call: Callable[[], object]) -> None:
        if self._is_in_call:  # a dialog's own loop, or a nested call: the outer turn counts its time
            call()
            return
        self._is_in_call = True
        began = self._clock()
        try:
            call()
        finally:
            self._is_in_call = False
            self._spent_s += self._clock() - began
            self._next.start()  # even if the call failed; from now on: calls queued earlier run first


class Posts(QObject):
    """Runs calls from any thread in the thread it was made in, a few per turn, in posting order.

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
        FrameBudget.here().call(lambda: isValid(self) and self._calls.get_nowait()())


class Gate:
    """Keeps calls while it is shut."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], object]] | None = None  # that wait; None while it is open

    @property
    def is_shut(self) -> bool:
        """Return whether calls have to wait."""
        return self.calls is not None

    def shut(self) -> None:
        """Keep calls from now on."""
        self.calls = []

    def open(self) -> None:
        """Make the calls that waited."""
        calls, self.calls = self.calls, None
        for call in calls or ():
            call()

    def after(self, call: Callable[[], object]) -> None:
        """Make a call at once, or when the gate opens."""
        if self.calls is None:
            call()
        elif call not in self.calls:
            self.calls.append(call)


class Importer(QObject):
    """Imports wanted modules in the order of requests, none before the first picture of the window.

    An error of an import is raised again where the module is used, and reported there.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._wanted: deque[tuple[list[str], Callable[[], object]]] = deque()
        self.first_picture = Gate()  # shut while the first picture is to be painted
        self.the_rest = Gate()  # shut until what that led to is done: its findings stand
        self._timer = one_shot(self, self._import_soon)  # a lambda would keep what the calls hold

    def when_imported(self, names: Iterable[str], then: Callable[[], object]) -> None:
        """Call a function once modules are imported: at once if they are."""
        wanted = (name for one in names for name in (*STEPS.get(one, ()), one))
        lacking = [name for name in wanted if name not in sys.modules]
        if not lacking:
            then()
        elif all(then != known for _, known in self._wanted):
            self._wanted.append((lacking, then))
            self.first_picture.after(self._timer.start)

    @property
    def is_idle(self) -> bool:
        """Return whether no module is wanted."""
        return not self._wanted

    @property
    def has_rest(self) -> bool:
        """Return whether calls wait for the rest, after the first picture."""
        return bool(self.the_rest.calls) and not self.first_picture.is_shut

    def _import_soon(self) -> None:
        FrameBudget.here().call(self._import_one)

    def _import_one(self) -> None:
        """Import a module; once all are there, make the call in a turn of its own."""
        if not isValid(self) or not self._wanted or self.first_picture.is_shut:
            return
        self._timer.start()  # for the next
        names, then = self._wanted[0]
        if names:
            with suppress(Exception):
                import_module(names.pop(0))
        else:
            self._wanted.popleft()
            then()
