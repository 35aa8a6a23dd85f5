"""The legend of a plot of curves: a button a curve, which shows and hides it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QMouseEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QToolButton, QWidget

from rcv_py.base.text import elide_right
from rcv_py.ui.core.plain_text import button_text, tooltip
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.plot.curves import Curve, curve_color

MAX_NAME = 36  # characters of a name
SWATCH = 10
GAP = 2
MAX_LINES = 2  # of buttons, before the legend scrolls
ALONE = "Show alone, or all again"


class LegendButton(QToolButton):
    """The name of a curve; checked while the curve is shown."""

    def __init__(self, name: str, legend: CurveLegend, parent: QWidget) -> None:
        super().__init__(parent)
        self.name, self._legend = name, legend
        self.setText(button_text(elide_right(name, MAX_NAME)))
        self.setCheckable(True)
        self.setAutoRaise(True)
        self.setProperty("legend", True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(SWATCH, SWATCH))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        alone = QAction(ALONE, self)
        alone.triggered.connect(lambda: legend.isolated.emit(name))
        self.addAction(alone)
        self.clicked.connect(lambda: legend.toggled.emit(name))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show this curve alone, or all again."""
        self._legend.isolated.emit(self.name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter isolates; Space is the button's own."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._legend.isolated.emit(self.name)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Point the curve out while the mouse is over the button, or the keys are in it."""
        if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self._legend.hovered.emit(self.name)
        elif event.type() in (QEvent.Type.Leave, QEvent.Type.FocusOut):
            self._legend.hovered.emit("")
        return super().event(event)


class CurveLegend(QScrollArea):
    """Click or Space shows and hides a curve; a double click or Enter shows it alone, or all again."""

    toggled = Signal(str)
    isolated = Signal(str)
    hovered = Signal(str)  # "" for none

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._curves: tuple[Curve, ...] = ()
        self.buttons: list[LegendButton] = []  # in the order of the curves
        self._height = 0
        self._inside = QWidget()
        self.setWidget(self._inside)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Legend of the curves")
        self.viewport().setAutoFillBackground(False)
        self._inside.setAutoFillBackground(False)
        theme.changed.connect(self._recolor)

    def show_curves(self, curves: Sequence[Curve], shown: set[str]) -> None:
        """Have a button for every curve; those shown are checked."""
        if [curve.name for curve in curves] != [curve.name for curve in self._curves]:
            self._rebuild(curves)
        self._curves = tuple(curves)
        for curve, button in zip(self._curves, self.buttons, strict=True):
            is_shown = curve.name in shown
            button.setChecked(is_shown)
            button.setAccessibleName(f"Curve {curve.name}, {'shown' if is_shown else 'hidden'}")
            tip = curve.tip or curve.name
            button.setToolTip(tooltip(f"{tip}\nClick: show or hide. Double click: show alone, or all again."))
        self._recolor()
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap again."""
        super().resizeEvent(event)
        self._arrange()

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(200, self._height)

    def minimumSizeHint(self) -> QSize:
        """Nothing has to be shown."""
        return QSize(0, 0)

    def _rebuild(self, curves: Sequence[Curve]) -> None:
        for button in self.buttons:
            button.hide()
            button.deleteLater()
        self.buttons = [LegendButton(curve.name, self, self._inside) for curve in curves]
        for button in self.buttons:
            button.show()

    def _arrange(self) -> None:
        """Place the buttons from left to right, wrapped like words.

        Done here and not by a layout in Python, which Qt would call from within its own locks.
        """
        width = max(1, self.viewport().width())
        x = y = line = 0
        for button in self.buttons:
            size = button.sizeHint()
            if x and x + size.width() > width:
                x, y = 0, y + line + GAP
            button.setGeometry(x, y, size.width(), size.height())
            x, line = x + size.width() + GAP, size.height()
        needed = y + line
        self._inside.resize(width, needed)
        height = min(needed, MAX_LINES * (line + GAP))
        if height != self._height or self.height() != height:
            self._height = height
            self.setFixedHeight(height)
            self.updateGeometry()

    def _recolor(self) -> None:
        ratio = self.devicePixelRatioF()
        for curve, button in zip(self._curves, self.buttons, strict=True):
            button.setIcon(_swatch(self._theme, curve, button.isChecked(), ratio))


def _swatch(theme: Theme, curve: Curve, is_shown: bool, ratio: float) -> QIcon:
    side = round(SWATCH * ratio)
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        color = curve_color(theme, curve.color)
        if is_shown:
            painter.fillRect(0, 0, side, side, color)
        else:
            painter.setPen(color)
            painter.drawRect(0, 0, side - 1, side - 1)
    picture.setDevicePixelRatio(ratio)
    return QIcon(picture)
