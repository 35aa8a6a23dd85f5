"""Track whether a widget is visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

if TYPE_CHECKING:
    from rcv_py.ui.core.scheduler import Request

WAKE_MS = 10  # what is shown only for a moment, while panels change places, does not wake


class Visibility(QObject):
    """Reports whether a widget is worth computing for, and runs waiting requests when it becomes so.

    The widget's owner calls `update` when the widget is shown or hidden.
    """

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._may_sleep = self._is_seen = False
        self._waiting: dict[Request, None] = {}  # in the order of requests
        self._wake_timer = QTimer(self, singleShot=True, interval=WAKE_MS)
        self._wake_timer.timeout.connect(self.wake)

    @property
    def is_asleep(self) -> bool:
        """Whether the widget need not compute because it is hidden by a tab, folded, or closed.

        Only a widget that `allow_sleep` was called for sleeps.
        """
        return self._may_sleep and not self._is_seen

    @property
    def is_waking(self) -> bool:
        """Whether the widget will be awake in a moment."""
        return self._wake_timer.isActive()

    def allow_sleep(self) -> None:
        """Let the widget sleep from now on: it is part of a window that hides it at times."""
        self._may_sleep = True
        self.update()

    def on_wake(self, request: Request) -> None:
        """Call `woken` of a request once when the widget is visible."""
        self._waiting.pop(request, None)
        self._waiting[request] = None

    def update(self) -> None:
        """Sleep at once if the widget is hidden; wake in a moment if it is shown."""
        if not self._widget.isVisible():
            self._is_seen = False
            self._wake_timer.stop()
        elif not (self._is_seen or self._wake_timer.isActive()):
            self._wake_timer.start()

    def wake(self) -> None:
        """Run what waits: the widget is visible, or what it shows is wanted all the same."""
        self._wake_timer.stop()
        self._is_seen = True
        waiting, self._waiting = self._waiting, {}
        for request in waiting:
            if isValid(request):
                request.woken()
