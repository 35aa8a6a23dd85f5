"""Whether anybody can see a widget, and what is put off until somebody can."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

WAKE_MS = 10  # Qt shows every tab for a moment while it lays them out


class Visibility(QObject):
    """Tells jobs, bursts of calls and shared results whether a widget is worth computing for.

    The widget's owner calls `look` when the widget is shown or hidden.
    """

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._may_sleep = self._is_seen = False
        self._is_in_front = True
        self._held = 0
        self._on_wake: dict[object, tuple[Callable[[], None], bool]] = {}
        self._wake_timer = QTimer(self)
        self._wake_timer.setSingleShot(True)
        self._wake_timer.setInterval(WAKE_MS)
        self._wake_timer.timeout.connect(self._wake)

    @property
    def is_asleep(self) -> bool:
        """Whether nobody can see the widget, so that it need not compute: behind a tab, folded, or closed.

        Qt calls a widget behind another tab visible and moves it out of the window; only its dock knows.  A
        widget without a dock never sleeps.
        """
        return self._may_sleep and not self._is_seen and not self._held

    @property
    def has_put_off(self) -> bool:
        """Whether something waits for somebody to look."""
        return bool(self._on_wake)

    @property
    def is_waking(self) -> bool:
        """Whether something that was put off will be done in a moment."""
        return bool(self._on_wake) and self._wake_timer.isActive()

    def allow_sleep(self) -> None:
        """The widget is part of a window from now on, which hides it at times."""
        self._may_sleep = True
        self.look()

    def set_in_front(self, is_in_front: bool) -> None:
        """Its dock says whether it is in front of the other tabs, if it is shown at all."""
        self._is_in_front = is_in_front
        self.look()

    def on_wake(self, key: object, call: Callable[[], None], *, is_lasting: bool = False) -> None:
        """Call once, when somebody can see the widget again, in the order of asking.

        A newer call of a key replaces the older, and is the last: what is asked later mutes what was before.
        Unless it is lasting, it is about the capture that is open, and forgotten with it.
        """
        self._on_wake.pop(key, None)
        self._on_wake[key] = (call, is_lasting)

    def puts_off(self, call: Callable[[], None]) -> bool:
        """Whether nobody can see the widget; if so, `call` is made as soon as somebody can."""
        if self.is_asleep:
            self.on_wake(call, call, is_lasting=True)
            return True
        return False

    def keep_awake(self) -> None:
        """Compute from now on, whether or not somebody looks."""
        self._may_sleep = False
        self._do_put_off()

    @contextmanager
    def held_awake(self) -> Iterator[None]:
        """Let the widget compute for as long as this lasts, though nobody sees it: for a picture, a table."""
        self._held += 1
        try:
            self._do_put_off()
            yield
        finally:
            self._held -= 1

    def look(self) -> None:
        """Sleep at once if the widget is hidden; wake in a moment if it is shown."""
        if not (self._widget.isVisible() and self._is_in_front):
            self._is_seen = False
            self._wake_timer.stop()
        elif not self._is_seen and not self._wake_timer.isActive():
            self._wake_timer.start()

    def forget(self) -> None:
        """Drop what was put off for a capture that is closed."""
        self._on_wake = {key: entry for key, entry in self._on_wake.items() if entry[1]}

    def _wake(self) -> None:
        self._is_seen = True
        self._do_put_off()

    def _do_put_off(self) -> None:
        put_off, self._on_wake = self._on_wake, {}
        for call, _ in put_off.values():
            call()
