"""How much is done in one turn of the event loop: what can wait for the next one does, so that keys and
pictures come between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import perf_counter

from PySide6.QtCore import QCoreApplication, QObject, QTimer
from shiboken6 import isValid

TURN_S = 0.008  # of a turn, for answers and what follows from them: half a frame


class Turns(QObject):
    """Makes calls on the UI thread: at once as long as a turn has time left, else one of the next turns does.

    All that many timers and answers want in the same turn adds up to one gap in which nobody hears a key:
    Qt makes every call that is due before it looks at the mouse again.  Those that wait are made in order.
    """

    _of_application: Turns | None = None

    def __init__(self, parent: QObject | None, clock: Callable[[], float] = perf_counter) -> None:
        super().__init__(parent)
        self._clock = clock
        self._waiting: deque[Callable[[], None]] = deque()
        self._spent_s = 0.0
        self._is_in_call = False
        self._next = QTimer(self, singleShot=True, interval=0)
        self._next.timeout.connect(self._begin)

    @classmethod
    def here(cls) -> Turns:
        """Those of the application, which all share."""
        turns = cls._of_application
        if turns is None or not isValid(turns):
            turns = cls._of_application = cls(QCoreApplication.instance())
        return turns

    @property
    def are_waiting(self) -> bool:
        """Whether calls are left for another turn."""
        return bool(self._waiting)

    def call(self, call: Callable[[], None]) -> None:
        """Make a call in this turn, or when those before it have been made."""
        if self._waiting or self._spent_s >= TURN_S:
            self._waiting.append(call)
            self._next.start()
        else:
            self._make(call)

    def paint(self, paint: Callable[[], None]) -> None:
        """Paint in this turn, or first of all in the next one if calls have taken theirs.

        What a call changed is painted right behind it: together both may be too much for one turn.
        """
        if self._is_in_call or self._spent_s < TURN_S:
            self._make(paint)
        else:
            self._waiting.appendleft(paint)
            self._next.start()

    def _begin(self) -> None:
        """A new turn."""
        self._spent_s = 0.0
        while self._waiting and self._spent_s < TURN_S:
            self._make(self._waiting.popleft())

    def _make(self, call: Callable[[], None]) -> None:
        if self._is_in_call:  # a dialog's own loop, or a call from within a call: its time counts outside
            call()
            return
        self._is_in_call = True
        began = self._clock()
        try:
            call()
        finally:
            self._is_in_call = False
            self._spent_s += self._clock() - began
            self._next.start()  # whatever happened in the call; from now on: what was due before comes before
