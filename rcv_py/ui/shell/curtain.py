"""What lies over the panels until the first picture is ready."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

HOLD_MS = 3  # between two looks at the panels
HIDDEN_MS = 150  # longest time that panels may take to show something


class Curtain(QWidget):
    """Covers a widget until its panels have their first rows, so that they are painted once."""

    def __init__(self, over: QWidget, is_ready: Callable[[], bool], opened: Callable[[], object]) -> None:
        super().__init__(over, autoFillBackground=True)
        self._over, self._is_ready, self._opened = over, is_ready, opened
        self._age = QElapsedTimer()
        self._age.start()
        timer = QTimer(self, interval=HOLD_MS)
        timer.timeout.connect(self._look)
        timer.start()
        over.installEventFilter(self)
        self.setGeometry(over.rect())
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay as large as the covered widget."""
        if event.type() is QEvent.Type.Resize:
            self.setGeometry(self._over.rect())
        return False

    def _look(self) -> None:
        if self._is_ready() or self._age.elapsed() > HIDDEN_MS:
            self.hide()
            self.deleteLater()
            self._opened()
