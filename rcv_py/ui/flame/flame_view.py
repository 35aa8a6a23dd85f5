"""A flamegraph: the visible part, the marks in it, and mouse and keyboard input."""

from collections.abc import Callable

import numpy as np
from PySide6 import QtGui
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QAbstractScrollArea

from rcv_py.base.text import translated
from rcv_py.ui.core.plain_text import show_tip
from rcv_py.ui.core.shapes import draws_shapes
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.flame.flame_paint import FlamePainter, color_codes, flame_swatches, outline
from rcv_py.ui.flame.flame_scene import Camera, FlameScene, frame_line, frame_tip
from rcv_py.ui.timeline.time_plot import KEY_PAN, KEY_ZOOM, NOTCH, PER_NOTCH, ROWS_PER_NOTCH, SLOP_PX

NONE = -1
THIN_PX = 6
FAR = 1 << 30
Keys = Qt.Key


class FlameView(QAbstractScrollArea):
    """Shows a `FlameScene` and handles mouse and keys.  Frames are rows of its tree; -1 is none.

    The wheel and a drag move the view, a click chooses a frame, a double click zooms to it.
    """

    zoomed = Signal()  # the visible part changed
    pointed = Signal(int)  # the frame under the mouse or with the focus changed
    chosen = Signal(int)  # a click, or Space
    menu_asked = Signal(int, QPoint)  # frame, screen position

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._painter = FlamePainter(theme)
        self.scene: FlameScene | None = None
        self.camera = Camera()
        self.focus_frame = self.hover_frame = self._zoomed_to = NONE
        self._selected: np.ndarray | None = None
        self._matched: np.ndarray | None = None
        self._codes = np.empty(0, dtype=np.int64)
        self._picture: QPixmap | None = None
        self._pressed: QPointF | None = None
        self._last = QPointF()
        self._is_drag = False
        self._keys: dict[Qt.Key, Callable[[], None]] = {
            Keys.Key_Left: lambda: self._step_aside(-1), Keys.Key_Right: lambda: self._step_aside(+1),
            Keys.Key_Up: lambda: self._step_row(-1), Keys.Key_Down: lambda: self._step_row(+1),
            Keys.Key_Home: lambda: self._step_aside(-FAR), Keys.Key_End: lambda: self._step_aside(FAR),
            **dict.fromkeys((Keys.Key_Return, Keys.Key_Enter, Keys.Key_F), self._zoom_to_focus),
            Keys.Key_Space: lambda: self._choose(self.focus_frame), Keys.Key_0: self.reset,
            Keys.Key_Backspace: self.zoom_out, Keys.Key_Escape: self.zoom_out,
            Keys.Key_W: lambda: self.scale_about(KEY_ZOOM, self.camera.width_px / 2),
            Keys.Key_S: lambda: self.scale_about(1 / KEY_ZOOM, self.camera.width_px / 2),
            Keys.Key_A: lambda: self.pan(-KEY_PAN * self.camera.width_px),
            Keys.Key_D: lambda: self.pan(KEY_PAN * self.camera.width_px),
        }  # fmt: skip
        self.viewport().setMouseTracking(True)
        self.setFrameShape(self.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(translated("Flamegraph"))
        self.verticalScrollBar().valueChanged.connect(self._moved)
        theme.changed.connect(self._restyle)

    def show_scene(self, scene: FlameScene | None, keep: bool = False) -> None:
        """Show another scene; `keep` keeps the zoom on the same frame, if it still exists."""
        old, zoomed, focus = self.scene, self._zoomed_to, self.focus_frame
        self.scene = scene
        self._matched = self._selected = None
        self.hover_frame = self.focus_frame = self._zoomed_to = NONE
        if scene is not None:
            self._codes = color_codes(scene)
            self.camera.whole = max(scene.boxes.whole, 1)
            self.camera.fit(0, self.camera.whole)
            if keep and old is not None:
                self.focus_frame = scene.find(old.path(focus)) if focus >= 0 else NONE
                if zoomed >= 0 and (frame := scene.find(old.path(zoomed))) >= 0:
                    self._fit(scene, frame)
        self._set_range()
        self._moved()

    def swatches(self) -> list[Swatch]:
        """Return the meaning of the colours."""
        return [] if self.scene is None else list(flame_swatches(self.scene, self._painter))

    def set_matched(self, matched: np.ndarray | None) -> None:
        """Highlight frames that a search found; None ends the search."""
        self._matched = matched
        self._repaint()

    def set_selected(self, selected: np.ndarray | None) -> None:
        """Outline frames (bool)."""
        self._selected = selected
        self.viewport().update()

    @property
    def crumb(self) -> int:
        """Return the frame that fills the view: the zoomed frame, else the deepest that covers all of it."""
        scene, camera = self.scene, self.camera
        if scene is None:
            return NONE
        if self._zoomed_to >= 0:
            return self._zoomed_to
        if not self.is_zoomed:
            return NONE
        begin, width = scene.boxes.begin, scene.boxes.width
        covers = (begin <= camera.begin) & (begin + width >= camera.end) & (scene.boxes.row >= 0)
        frames = np.flatnonzero(covers)
        return int(frames[-1]) if len(frames) else NONE

    def zoom_to(self, frame: int) -> None:
        """Zoom until a frame fills the width; -1 shows everything."""
        if self.scene is None or frame < 0:
            self.reset()
        else:
            self._fit(self.scene, frame)
            self.set_focus_frame(frame)
            self._moved()

    def zoom_out(self) -> None:
        """Zoom to the nearest frame below that is wider than the view, finally to everything."""
        scene, frame, shown = self.scene, self.crumb, self.camera.end - self.camera.begin
        if scene is None:
            return
        while frame >= 0 and scene.boxes.width[frame] <= shown * 1.000001:
            frame = int(scene.tree.parent[frame])
        self.zoom_to(frame)

    def reset(self) -> None:
        """Show everything."""
        self._show_part(0, self.camera.whole)

    @property
    def is_zoomed(self) -> bool:
        """Return whether part of the scene is out of view on the left or right."""
        return self.camera.end - self.camera.begin < self.camera.whole * 0.999999

    def show_frame(self, frame: int) -> None:
        """Focus a frame, and zoom to its parent if it is too thin to be seen."""
        assert self.scene is not None
        if self.scene.boxes.width[frame] * self.camera.scale < THIN_PX:
            self.zoom_to(int(self.scene.tree.parent[frame]))
        self.set_focus_frame(frame)

    def set_focus_frame(self, frame: int) -> None:
        """Give a frame the keyboard focus and bring it into view."""
        self.focus_frame = frame
        self._reveal(frame)
        self.viewport().update()
        self.pointed.emit(frame)

    def frame_at(self, at: QPointF) -> int:
        """Return the frame at a point of the viewport."""
        if self.scene is None:
            return NONE
        return self.scene.frame_at(self.camera.row_at(self.scene, at.y()), self.camera.cost_at(at.x()))

    def _fit(self, scene: FlameScene, frame: int) -> None:
        begin = int(scene.boxes.begin[frame])
        self._zoomed_to = frame
        self.camera.fit(begin, begin + int(scene.boxes.width[frame]))

    def scale_about(self, factor: float, x: float) -> None:
        """Scale the visible range by `factor`; what is at pixel `x` stays there."""
        camera, at = self.camera, self.camera.cost_at(x)
        begin = at - (at - camera.begin) * factor
        self._show_part(begin, begin + (camera.end - camera.begin) * factor)

    def pan(self, pixels: float) -> None:
        """Move the view to the right by a number of pixels."""
        by = pixels / self.camera.scale
        self._show_part(self.camera.begin + by, self.camera.end + by)

    def _show_part(self, begin: float, end: float) -> None:
        self._zoomed_to = NONE
        self.camera.fit(begin, end)
        self._moved()

    def _reveal(self, frame: int) -> None:
        scene, camera = self.scene, self.camera
        if scene is None or frame < 0:
            return
        begin, width = int(scene.boxes.begin[frame]), int(scene.boxes.width[frame])
        if begin + width <= camera.begin or begin >= camera.end:
            half = max(camera.end - camera.begin, float(width)) / 2
            self._show_part(begin + width / 2 - half, begin + width / 2 + half)
        top, bar = int(camera.y(scene, int(scene.boxes.row[frame]))), self.verticalScrollBar()
        if top < 0:
            bar.setValue(bar.value() + top)
        elif top + camera.row_px > camera.height_px:
            bar.setValue(bar.value() + top + camera.row_px - int(camera.height_px))

    def _moved(self) -> None:
        self.camera.scroll = self.verticalScrollBar().value()
        self._repaint()
        self.zoomed.emit()

    def _set_range(self) -> None:
        content = self.scene.rows * self.camera.row_px if self.scene is not None else 0
        page = self.viewport().height()
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, content - page))
        bar.setPageStep(page)
        bar.setSingleStep(self.camera.row_px)

    def sizeHint(self) -> QSize:
        return QSize(400, 160)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        self.camera.width_px = max(1.0, float(self.viewport().width()))
        self.camera.height_px = float(self.viewport().height())
        self._set_range()
        self._moved()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        view = self.viewport()
        ratio = view.devicePixelRatioF()
        if draws_shapes():
            with QPainter(view) as painter:
                painter.fillRect(view.rect(), self._theme.role("canvas"))
                self._paint_scene(painter)
            return
        if self._picture is None or self._picture.devicePixelRatio() != ratio:
            self._picture = QPixmap(view.size() * ratio)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(self._theme.role("canvas"))
            with QPainter(self._picture) as painter:
                self._paint_scene(painter)
        with QPainter(view) as painter:
            painter.drawPixmap(0, 0, self._picture)
            if (scene := self.scene) is not None:
                text, accent = self._theme.role("text"), self._theme.role("accent")
                if self._selected is not None:
                    seen = np.flatnonzero(self.camera.visible(scene) & self._selected)
                    outline(painter, scene, self.camera, seen, QPen(accent, 2))
                focus = self.focus_frame if self.hasFocus() else NONE
                pens = (self.hover_frame, QPen(text, 1)), (focus, QPen(text, 2, Qt.PenStyle.DotLine))
                for frame, pen in pens:
                    if frame >= 0:
                        outline(painter, scene, self.camera, np.array([frame]), pen)

    def _paint_scene(self, painter: QPainter) -> None:
        if self.scene is not None:
            self._painter.paint(painter, self.scene, self.camera, self._codes, self._matched)

    def _repaint(self) -> None:
        self._picture = None
        self.viewport().update()

    def _restyle(self) -> None:
        self._painter.restyle()
        self.camera.row_px = max(20, self.fontMetrics().height() + 4)
        self._set_range()
        self._moved()

    def tip(self, frame: int) -> str:
        """Return the tooltip of a frame."""
        return frame_tip(self.scene, frame) if self.scene is not None and frame >= 0 else ""

    def frame_text(self) -> str:
        """Return one line about the frame under the mouse or with the focus."""
        frame = self.hover_frame if self.hover_frame >= 0 else self.focus_frame
        return frame_line(self.scene, frame) if self.scene is not None and frame >= 0 else ""

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed = self._last = event.position()
            self._is_drag = False

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
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

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Choose the frame under the mouse, unless it was a drag."""
        was_click = self._pressed is not None and not self._is_drag
        self._pressed = None
        if was_click and event.button() == Qt.MouseButton.LeftButton:
            self._choose(self.frame_at(event.position()))

    def mouseDoubleClickEvent(self, event: QtGui.QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and (frame := self.frame_at(event.position())) >= 0:
            self.zoom_to(frame)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
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

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        by_key = event.reason() == QtGui.QContextMenuEvent.Reason.Keyboard
        frame = self.focus_frame if by_key else self.frame_at(QPointF(event.pos()))
        if frame >= 0:
            self.menu_asked.emit(frame, event.globalPos())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._set_hover(NONE)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QtGui.QHelpEvent):
            show_tip(event.globalPos(), self.tip(self.frame_at(QPointF(event.pos()))), self)
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

    def event(self, event: QEvent) -> bool:
        """Accept keys that the flamegraph handles before the window's shortcuts do."""
        is_asked = event.type() == QEvent.Type.ShortcutOverride
        if is_asked and isinstance(event, QKeyEvent) and self._takes(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.setAccepted(self._takes(event))
        if event.isAccepted():
            self._keys[Keys(event.key())]()

    def _takes(self, event: QKeyEvent) -> bool:
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        means = self.is_zoomed if event.key() == Keys.Key_Escape else event.key() in self._keys
        return self.scene is not None and not held and means

    def _zoom_to_focus(self) -> None:
        if self.focus_frame >= 0:
            self.zoom_to(self.focus_frame)

    def _step_aside(self, by: int) -> None:
        """Go to the neighbour in the row, or the ends of the row."""
        scene, frame = self.scene, self._focus()
        if scene is None or frame < 0:
            return
        frames = scene.by_row[int(scene.boxes.row[frame]) - scene.low]
        at = int(np.searchsorted(scene.boxes.begin[frames], scene.boxes.begin[frame]))
        self.set_focus_frame(int(frames[min(max(at + by, 0), len(frames) - 1)]))

    def _step_row(self, by: int) -> None:
        """Go to the row below (+1) or above (-1) on screen: to the parent, or to the heaviest child."""
        scene, frame = self.scene, self._focus()
        if scene is None or frame < 0:
            return
        wanted = int(scene.boxes.row[frame]) + by
        parent = int(scene.tree.parent[frame])
        near = [int(child) for child in scene.children(frame)] + [parent]
        if there := [other for other in near if other >= 0 and scene.boxes.row[other] == wanted]:
            self.set_focus_frame(there[0])

    def _focus(self) -> int:
        """Return the focused frame; if there is none, focus what fills the view or the heaviest root."""
        scene, frame = self.scene, self.focus_frame
        if scene is not None and len(scene) and frame < 0:
            roots = scene.children(NONE)
            self.set_focus_frame(self.crumb if self.crumb >= 0 else int(roots[0]) if len(roots) else NONE)
        return frame
