"""A flamegraph under mouse and keys: wheel and drag move, a click chooses, a double click zooms in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QHelpEvent, QKeyEvent, QMouseEvent, QWheelEvent

from rcv_py.ui.core.plain_text import show_tip
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.flame.flame_canvas import NONE, FlameCanvas
from rcv_py.ui.timeline.time_plot import KEY_PAN, KEY_ZOOM, NOTCH, PER_NOTCH, ROWS_PER_NOTCH, SLOP_PX

FAR = 1 << 30
Keys = Qt.Key


class FlameView(FlameCanvas):
    """A `FlameCanvas` that answers to the user."""

    chosen = Signal(int)  # a click, or Space
    menu_asked = Signal(int, QPoint)  # frame, screen position

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._pressed: QPointF | None = None
        self._last = QPointF()
        self._is_drag = False
        self._keys = self._key_table()
        self.viewport().setMouseTracking(True)

    def _key_table(self) -> dict[Qt.Key, Callable[[], None]]:
        return {
            Keys.Key_Left: lambda: self._step_aside(-1),
            Keys.Key_Right: lambda: self._step_aside(+1),
            Keys.Key_Up: lambda: self._step_row(-1),
            Keys.Key_Down: lambda: self._step_row(+1),
            Keys.Key_Home: lambda: self._step_aside(-FAR),
            Keys.Key_End: lambda: self._step_aside(FAR),
            Keys.Key_Return: self._zoom_to_focus,
            Keys.Key_Enter: self._zoom_to_focus,
            Keys.Key_F: self._zoom_to_focus,
            Keys.Key_Space: lambda: self._choose(self.focus_frame),
            Keys.Key_Backspace: self.zoom_out,
            Keys.Key_0: self.reset,
            Keys.Key_W: lambda: self.scale_about(KEY_ZOOM, self.camera.width_px / 2),
            Keys.Key_S: lambda: self.scale_about(1 / KEY_ZOOM, self.camera.width_px / 2),
            Keys.Key_A: lambda: self.pan(-KEY_PAN * self.camera.width_px),
            Keys.Key_D: lambda: self.pan(KEY_PAN * self.camera.width_px),
        }

    # -- mouse --------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click or a drag."""
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed = self._last = event.position()
            self._is_drag = False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan while a button is held, else mark the frame under the mouse."""
        at = event.position()
        if self._pressed is None:
            self._set_hover(self.frame_at(at))
            return
        moved = at - self._pressed
        self._is_drag = self._is_drag or max(abs(moved.x()), abs(moved.y())) >= SLOP_PX
        if self._is_drag:
            by, self._last = self._last - at, at
            self.pan(by.x())
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() + round(by.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the frame under the mouse, unless it was a drag."""
        was_click = self._pressed is not None and not self._is_drag
        self._pressed = None
        if was_click and event.button() == Qt.MouseButton.LeftButton:
            self._choose(self.frame_at(event.position()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Zoom to the frame under the mouse."""
        if event.button() == Qt.MouseButton.LeftButton and (frame := self.frame_at(event.position())) >= 0:
            self.zoom_to(frame)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the mouse; Shift scrolls the rows, sideways pans."""
        x, y = event.angleDelta().x(), event.angleDelta().y()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() - round((y or x) / NOTCH * ROWS_PER_NOTCH))
        elif abs(x) > abs(y):
            self.pan(-x / NOTCH * KEY_PAN * self.camera.width_px)
        else:
            self.scale_about(PER_NOTCH ** (y / NOTCH), event.position().x())
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for a menu at the frame under the mouse, or with the focus."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        frame = self.focus_frame if by_key else self.frame_at(QPointF(event.pos()))
        if frame >= 0:
            self.menu_asked.emit(frame, event.globalPos())

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the mouse."""
        super().leaveEvent(event)
        self._set_hover(NONE)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show tooltips."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            frame = self.frame_at(QPointF(event.pos()))
            show_tip(event.globalPos(), self.tip(frame), self)
            return True
        return super().viewportEvent(event)

    def _set_hover(self, frame: int) -> None:
        if frame != self.hover_frame:
            self.hover_frame = frame
            self.viewport().update()
            self.pointed.emit(frame)

    def _choose(self, frame: int) -> None:
        if frame >= 0:
            self.set_focus_frame(frame)
            self.chosen.emit(frame)

    # -- keys ---------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Take keys that mean something here before the window's shortcuts do."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and self._takes(event)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk over frames, zoom, choose."""
        if not self._takes(event):
            event.ignore()
            return
        if event.key() == Keys.Key_Escape:
            self.zoom_out()
        else:
            self._keys[Keys(event.key())]()

    def _takes(self, event: QKeyEvent) -> bool:
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if self.scene is None or held:
            return False
        if event.key() == Keys.Key_Escape:
            return self.is_zoomed
        return event.key() in self._keys

    def _zoom_to_focus(self) -> None:
        if self.focus_frame >= 0:
            self.zoom_to(self.focus_frame)

    def _step_aside(self, by: int) -> None:
        """Go to the neighbour in the row, or the ends of the row."""
        scene, frame = self.scene, self.focus_frame
        if scene is None or frame < 0:
            self._enter()
            return
        frames = scene.by_row[int(scene.boxes.row[frame]) - scene.low]
        at = int(np.searchsorted(scene.boxes.begin[frames], scene.boxes.begin[frame]))
        self.set_focus_frame(int(frames[min(max(at + by, 0), len(frames) - 1)]))

    def _step_row(self, by: int) -> None:
        """Go to the row below (+1) or above (-1) on screen: to the parent, or to the heaviest frame on it."""
        scene, frame = self.scene, self.focus_frame
        if scene is None or frame < 0:
            self._enter()
            return
        wanted = int(scene.boxes.row[frame]) + (-by if self.camera.is_upward else by)
        parent = int(scene.tree.parent[frame])
        near = [int(child) for child in scene.children(frame)] + [parent]
        found = [one for one in near if one >= 0 and scene.boxes.row[one] == wanted]
        if found:
            self.set_focus_frame(found[0])

    def _enter(self) -> None:
        """Give the focus to the frame that fills the view, or to the heaviest root."""
        scene = self.scene
        if scene is not None and len(scene):
            roots = scene.children(NONE)
            start = self.crumb if self.crumb >= 0 else int(roots[0]) if len(roots) else NONE
            self.set_focus_frame(start)
