"""The legend of a plot of curves: a button a curve, which shows and hides it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QToolButton, QWidget

from rcv_py.base.text import elide_right
from rcv_py.ui.kit.curves import Curve, curve_color
from rcv_py.ui.kit.flow_layout import FlowLayout
from rcv_py.ui.kit.theme import Theme

LONGEST = 36  # characters of a name
SWATCH = 10
MOST_LINES = 2  # of buttons, before the legend scrolls


class CurveLegend(QScrollArea):
    """Click or Space shows and hides a curve; a double click or Enter shows it alone, or all again."""

    toggled = Signal(str)
    isolated = Signal(str)
    hovered = Signal(str)  # "" for none

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._curves: tuple[Curve, ...] = ()
        self._buttons: list[QToolButton] = []
        self._height = 0
        self._inside = QWidget()
        self._flow = FlowLayout()
        self._inside.setLayout(self._flow)
        self.setWidget(self._inside)
        self.setWidgetResizable(True)
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
        for curve, button in zip(self._curves, self._buttons, strict=True):
            is_shown = curve.name in shown
            button.setChecked(is_shown)
            button.setAccessibleName(f"Curve {curve.name}, {'shown' if is_shown else 'hidden'}")
            tip = curve.tip or curve.name
            button.setToolTip(f"{tip}\nClick: show or hide. Double click: show alone, or all again.")
        self._recolor()
        self._fit()

    @property
    def buttons(self) -> tuple[QToolButton, ...]:
        """The buttons, in the order of the curves."""
        return tuple(self._buttons)

    def _rebuild(self, curves: Sequence[Curve]) -> None:
        while self._flow.count():
            self._flow.takeAt(0)
        for button in self._buttons:
            button.removeEventFilter(self)
            button.setParent(None)
            button.deleteLater()
        self._buttons = [self._button(curve) for curve in curves]

    def _button(self, curve: Curve) -> QToolButton:
        button = QToolButton(self._inside)
        button.setText(elide_right(curve.name, LONGEST).replace("&", "&&"))
        button.setCheckable(True)
        button.setAutoRaise(True)
        button.setProperty("legend", True)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIconSize(QSize(SWATCH, SWATCH))
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(lambda: self.toggled.emit(curve.name))
        alone = QAction("Show alone, or all again", button)
        alone.triggered.connect(lambda: self.isolated.emit(curve.name))
        button.addAction(alone)
        button.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        button.setProperty("curve", curve.name)
        button.installEventFilter(self)
        self._flow.addWidget(button)
        button.show()
        return button

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tell which name the mouse is over; a double click and Enter isolate."""
        name = watched.property("curve") if isinstance(watched, QToolButton) else None
        if name is None:
            return super().eventFilter(watched, event)
        if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self.hovered.emit(name)
        elif event.type() in (QEvent.Type.Leave, QEvent.Type.FocusOut):
            self.hovered.emit("")
        elif _means_alone(event):
            self.isolated.emit(name)
            return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap again."""
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(200, self._height)

    def minimumSizeHint(self) -> QSize:
        """Nothing has to be shown."""
        return QSize(0, 0)

    def _fit(self) -> None:
        line = max((button.sizeHint().height() for button in self._buttons), default=0) + 2
        wanted = self._flow.heightForWidth(max(1, self.viewport().width())) if self._buttons else 0
        self._height = min(wanted, MOST_LINES * line)
        self.setFixedHeight(self._height)
        self.updateGeometry()

    def _recolor(self) -> None:
        ratio = self.devicePixelRatioF()
        for curve, button in zip(self._curves, self._buttons, strict=True):
            button.setIcon(_swatch(self._theme, curve, button.isChecked(), ratio))


def _means_alone(event: QEvent) -> bool:
    if isinstance(event, QKeyEvent):
        return event.type() == QEvent.Type.KeyPress and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    return event.type() == QEvent.Type.MouseButtonDblClick


def _swatch(theme: Theme, curve: Curve, is_shown: bool, ratio: float) -> QIcon:
    side = round(SWATCH * ratio)
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    color = curve_color(theme, curve.color)
    if is_shown:
        painter.fillRect(0, 0, side, side, color)
    else:
        painter.setPen(color)
        painter.drawRect(0, 0, side - 1, side - 1)
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return QIcon(picture)
