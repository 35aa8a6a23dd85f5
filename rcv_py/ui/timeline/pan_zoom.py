"""The one grammar of moving in time: wheel, drag and keys become windows of the session."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent

from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session

NOTCH = 120  # units of one step of a wheel
PER_NOTCH = 0.8  # a step of the wheel shows this share of the time
KEY_ZOOM = 0.7
KEY_PAN = 0.15  # share of the view
SLOP_PX = 4  # a press that moves less is a click
ROWS_PER_NOTCH = 60  # pixels

Keys = Qt.Key
Modifier = Qt.KeyboardModifier


class Surface(Protocol):
    """What the grammar needs from a widget."""

    def time_at(self, x: float) -> int:
        """The cycle at a position."""

    def plot_width(self) -> float:
        """Pixels that show the window."""

    def scroll_rows(self, by_px: float) -> None:
        """Move the rows up by so many pixels."""

    def set_measure_row(self, y: float) -> None:
        """Remember whose tokens a measure counts."""

    def preview_range(self, window: TimeWindow | None) -> None:
        """Show the clock range that a drag would set."""

    def clicked(self, at: QPointF, is_double: bool) -> None:
        """Select what is there; a double click also brings it to fill the view."""


class Drag(Enum):
    """What a press of the left or middle button is about."""

    NONE = 0
    PAN = 1
    MEASURE = 2
    RANGE = 3


class PanZoom:
    """Turns events into calls of the session.  Watchers only schedule, so no event has to be dropped."""

    def __init__(self, session: Session, surface: Surface) -> None:
        self.session = session
        self.surface = surface
        self.drag = Drag.NONE
        self._from = QPointF()
        self._last = QPointF()
        self._left_over = 0.0  # of a pan, in cycles
        self._range: TimeWindow | None = None
        zoom, step = self.session.zoom, self._pan
        self._keys: dict[Qt.Key, Callable[[], None]] = {
            Keys.Key_W: lambda: zoom(KEY_ZOOM),
            Keys.Key_S: lambda: zoom(1 / KEY_ZOOM),
            Keys.Key_Up: lambda: surface.scroll_rows(-ROWS_PER_NOTCH / 2),
            Keys.Key_Down: lambda: surface.scroll_rows(ROWS_PER_NOTCH / 2),
            Keys.Key_A: lambda: step(-KEY_PAN),
            Keys.Key_Left: lambda: step(-KEY_PAN),
            Keys.Key_D: lambda: step(KEY_PAN),
            Keys.Key_Right: lambda: step(KEY_PAN),
            Keys.Key_Home: lambda: self._jump(-1),
            Keys.Key_End: lambda: self._jump(1),
            Keys.Key_F: session.fit_selection,
            Keys.Key_0: session.fit_all,
            Keys.Key_Comma: lambda: session.step_token(-1),
            Keys.Key_Period: lambda: session.step_token(1),
            Keys.Key_BracketLeft: lambda: session.step_hit(-1),
            Keys.Key_BracketRight: lambda: session.step_hit(1),
            Keys.Key_Escape: lambda: session.measure.set(None),
        }

    # -- keys -------------------------------------------------------------------------------------------

    def key(self, event: QKeyEvent) -> bool:
        """Do what a key says; whether it says anything here."""
        if event.modifiers() & (Modifier.ControlModifier | Modifier.AltModifier | Modifier.MetaModifier):
            return False
        action = self._keys.get(Keys(event.key()))
        if action is None:
            return False
        action()
        return True

    def _pan(self, share: float) -> None:
        self.session.pan(share)

    def _jump(self, side: int) -> None:
        trace = self.session.trace.value
        if trace is not None:
            outer = self.session.outer(trace)
            self.session.set_view(self.session.view.value.moved(side * outer.width))

    # -- wheel ------------------------------------------------------------------------------------------

    def wheel(self, event: QWheelEvent) -> None:
        """Zoom about the cursor; Shift scrolls rows; sideways pans."""
        x, y = event.angleDelta().x(), event.angleDelta().y()
        if event.modifiers() & Modifier.ShiftModifier:
            self.surface.scroll_rows(-(y or x) / NOTCH * ROWS_PER_NOTCH)
            return
        if event.modifiers() & Modifier.AltModifier or abs(x) > abs(y):  # Alt swaps the axes in Qt
            self.session.pan(-(x or y) / NOTCH * KEY_PAN, commit=False)
            return
        self.session.zoom(PER_NOTCH ** (y / NOTCH), self.surface.time_at(event.position().x()), commit=False)

    # -- buttons ----------------------------------------------------------------------------------------

    def press(self, event: QMouseEvent) -> bool:
        """Begin a drag; whether the button means anything."""
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return False
        self._from = self._last = event.position()
        self._left_over = 0.0
        held = event.modifiers()
        self.drag = Drag.PAN
        if held & Modifier.ShiftModifier:
            self.drag = Drag.MEASURE
            self.surface.set_measure_row(event.position().y())
        elif held & Modifier.AltModifier:
            self.drag = Drag.RANGE
        return True

    def move(self, event: QMouseEvent) -> bool:
        """Go on with a drag; False while the mouse only hovers or has hardly moved."""
        if self.drag is Drag.NONE or self.is_click(event.position()):
            return False
        if self.drag is Drag.PAN:
            self._drag_view(event.position())
        else:
            self._drag_span(event.position())
        return True

    def release(self, event: QMouseEvent) -> None:
        """End a drag, or take it for a click."""
        drag, self.drag = self.drag, Drag.NONE
        if drag is Drag.NONE:
            return
        if drag is Drag.RANGE:
            self.surface.preview_range(None)
            self.session.set_clock_range(self._range)
            self._range = None
        elif self.is_click(event.position()) and self._last == self._from:
            if drag is Drag.PAN:
                self.surface.clicked(event.position(), is_double=False)
            else:
                self.session.measure.set(None)
        else:
            self.session.set_view(self.session.view.value)

    def double_click(self, event: QMouseEvent) -> None:
        """Bring what is there to fill the view."""
        self.drag = Drag.NONE
        if event.button() == Qt.MouseButton.LeftButton:
            self.surface.clicked(event.position(), is_double=True)

    def is_click(self, at: QPointF) -> bool:
        """Whether the pointer is still where it was pressed."""
        moved = at - self._from
        return self._last == self._from and max(abs(moved.x()), abs(moved.y())) < SLOP_PX

    def _drag_view(self, at: QPointF) -> None:
        view = self.session.view.value
        cycles = (self._last.x() - at.x()) * view.width / max(1.0, self.surface.plot_width())
        cycles += self._left_over
        self.session.set_view(view.moved(round(cycles)), commit=False)
        self._left_over = cycles - round(cycles)
        self.surface.scroll_rows(self._last.y() - at.y())
        self._last = at

    def _drag_span(self, at: QPointF) -> None:
        self._last = at
        times = sorted((self.surface.time_at(self._from.x()), self.surface.time_at(at.x())))
        window = TimeWindow(*times)
        if self.drag is Drag.MEASURE:
            self.session.measure.set(window)
        else:
            self._range = window
            self.surface.preview_range(window)
