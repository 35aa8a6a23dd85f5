"""Calls that come in bursts, made once."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QElapsedTimer, QObject, QTimer

from rcv_py.ui.core.visibility import Visibility

REST = 4  # a job of n ms is not started again by a burst for n * REST ms


class Coalesce(QObject):
    """Calls back once for many `ask`s: as soon as Qt is idle, then at most every `every_ms`.

    A caller that starts a job in a thread tells so with `started` and `finished`.  Meanwhile nothing is
    called, since a newer job would mute the running one, and while waves stream in nothing would ever be
    shown; afterwards a slow job rests longer than a quick one.  While nobody can see what it is for, nothing
    is called.
    """

    def __init__(
        self,
        parent: QObject,
        call: Callable[[], None],
        every_ms: int = 0,
        *,
        visibility: Visibility | None = None,
    ) -> None:
        super().__init__(parent)
        self._visibility = visibility
        self._call = call
        self._every_ms = self._pause_ms = every_ms
        self._is_running = self._is_wanted = False
        self._since = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._run)

    def ask(self) -> None:
        """Want a call; one that is waiting already is enough."""
        if self._is_running:
            self._is_wanted = True
            return
        if self._timer.isActive():
            return
        passed = self._since.elapsed() if self._since.isValid() else self._pause_ms
        self._timer.start(max(0, self._pause_ms - passed))

    @property
    def is_pending(self) -> bool:
        """Whether a call was asked for that has not been made."""
        return self._timer.isActive() or self._is_wanted

    def now(self) -> None:
        """Call at once, whatever is waiting."""
        self._timer.stop()
        self._run()

    def started(self) -> None:
        """A job runs, because of this or of something else."""
        self._is_running, self._is_wanted = True, False
        self._timer.stop()
        self._since.start()

    def finished(self) -> None:
        """The job's answer is here."""
        if self._is_running:
            self._pause_ms = max(self._every_ms, REST * self._since.elapsed())
        self._is_running = False
        if self._is_wanted:
            self._is_wanted = False
            self.ask()

    def reset(self) -> None:
        """Forget everything: what was asked for is about something that is gone."""
        self._timer.stop()
        self._is_running = self._is_wanted = False
        self._pause_ms = self._every_ms
        self._since.invalidate()

    def _run(self) -> None:
        if self._visibility is not None and self._visibility.is_asleep:
            # By the call: once, though two of these may make it.
            self._visibility.on_wake(self._call, self._run, is_lasting=True)
            return
        self._since.start()
        self._call()
