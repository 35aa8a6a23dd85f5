"""What covers the panels until they have something to show, so that they are painted once."""

from collections.abc import Collection

from PySide6.QtCore import QElapsedTimer, Qt, QTimer
from PySide6.QtWidgets import QWidget

from rcv_py.ui.core.frame_budget import one_shot
from rcv_py.ui.core.scheduler import WAKE_MS, Scheduler
from rcv_py.ui.shell.docks import Dock

HOLD_MS = 3  # between two looks at the panels at first
HIDDEN_MS = 150  # longest time that panels may take to show something
LEISURE_MS = 5  # between two looks whether the window has done what comes before the rest
LATEST_MS = 200  # after which the rest begins all the same: findings of a large capture take long


class Curtain(QWidget):
    """Covers the panels when they are first shown; what waits for the first picture goes on after it."""

    def __init__(self, parent: QWidget, docks: Collection[Dock], scheduler: Scheduler) -> None:
        super().__init__(parent, autoFillBackground=True)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)  # a subclass is painted without it
        self._over, self._docks, self._scheduler = parent, docks, scheduler
        self._looks = QTimer(self, interval=HOLD_MS)
        self._looks.timeout.connect(self._look)
        self._painted = one_shot(self, self._release, WAKE_MS)
        self._leisure = QTimer(self, interval=LEISURE_MS)
        self._leisure.timeout.connect(self._look_for_leisure)
        self._covered = QElapsedTimer()
        self.hide()

    @property
    def is_down(self) -> bool:
        """Return whether it covers the panels, or they are being painted."""
        return self._looks.isActive() or self._painted.isActive()

    @property
    def was_down(self) -> bool:
        """Return whether the panels were shown before."""
        return self._covered.isValid()

    def fit(self) -> None:
        """Cover the whole parent."""
        self.setGeometry(self._over.rect())

    def fall(self) -> None:
        """Cover the panels until they have their first rows; they may take some time for that."""
        self.fit()
        self.show()
        self.raise_()
        self._covered.start()
        self._looks.start()

    def _look(self) -> None:
        seen = [dock.made for dock in self._docks if dock.is_seen and dock.made is not None]
        scheduler = self._scheduler
        busy = (scheduler.tasks.is_busy(panel) or scheduler.is_pending(panel) for panel in seen)
        is_late = any(panel.visibility.is_asleep for panel in seen) or any(busy)
        if not is_late or self._covered.elapsed() > HIDDEN_MS:
            self._looks.stop()
            self.hide()
            self._painted.start()

    def _release(self) -> None:
        self._scheduler.importer.first_picture.open()
        self._leisure.start()

    def _look_for_leisure(self) -> None:
        if self._scheduler.is_calm or self._covered.elapsed() > LATEST_MS:
            self._leisure.stop()
            self._scheduler.importer.the_rest.open()
