"""A scroll bar that moves by itself, briefly, and as little as needed."""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QPropertyAnimation
from PySide6.QtWidgets import QScrollBar

SCROLL_MS = 110


class SmoothScroll:
    """Moves a scroll bar to a value, at once or animated."""

    def __init__(self, bar: QScrollBar) -> None:
        self._bar = bar
        self._animation = QPropertyAnimation(bar, b"value", bar)
        self._animation.setDuration(SCROLL_MS)
        self._animation.setEasingCurve(QEasingCurve.Type.OutCubic)

    @property
    def here(self) -> int:
        """Where the bar is, or will be when it has stopped."""
        moving = self._animation.state() == QPropertyAnimation.State.Running
        return int(self._animation.endValue()) if moving else self._bar.value()

    def show(self, top: int, bottom: int, *, page: int, context: int, is_animated: bool) -> None:
        """Move until `top` to `bottom` is in view with `context` px around it; not at all if it is."""
        if top >= self.here and bottom <= self.here + page:
            return
        target = top - context if top < self.here else bottom + context - page
        target = min(max(self._bar.minimum(), target), max(self._bar.maximum(), 0))
        self._animation.stop()
        if not is_animated:
            self._bar.setValue(target)
            return
        self._animation.setStartValue(self._bar.value())
        self._animation.setEndValue(target)
        self._animation.start()
