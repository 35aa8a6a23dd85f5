"""Calls that come in bursts, made once."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QElapsedTimer, QObject, QTimer


class Coalesce(QObject):
    """Calls back once for many `ask`s: as soon as Qt is idle, then at most every `every_ms`."""

    def __init__(self, parent: QObject, call: Callable[[], None], every_ms: int = 0) -> None:
        super().__init__(parent)
        self._call = call
        self._every_ms = every_ms
        self._since = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._run)

    def ask(self) -> None:
        """Want a call; one that is waiting already is enough."""
        if self._timer.isActive():
            return
        passed = self._since.elapsed() if self._since.isValid() else self._every_ms
        self._timer.start(max(0, self._every_ms - passed))

    def now(self) -> None:
        """Call at once and forget the one that is waiting."""
        self._timer.stop()
        self._run()

    def _run(self) -> None:
        self._since.start()
        self._call()
