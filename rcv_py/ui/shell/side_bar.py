"""The icons of a folded side: one per panel, which opens the side with that panel in front."""

from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QToolBar, QToolButton

from rcv_py.base.text import translated
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.plain_text import tooltip, wrapped_tip
from rcv_py.ui.shell.docks import Dock

ICON_PX = 16


class SideBar(QToolBar):
    """A column of icons at an edge of the workspace."""

    asked = Signal(str)  # id of the panel to show

    def __init__(self, ui: UiContext, side: str, title: str) -> None:
        super().__init__(title)
        self._ui = ui
        self.setObjectName(f"bar_{side}")
        self.setMovable(False)
        self.setOrientation(Qt.Orientation.Vertical)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.buttons: dict[str, QToolButton] = {}
        self._icons: dict[str, str] = {}
        ui.theme.changed.connect(self._draw)

    def fill(self, docks: Iterable[Dock]) -> None:
        """Show one button for each of these panels."""
        docks = list(docks)
        if [dock.info.id for dock in docks] == list(self.buttons):
            return
        self.clear()
        self.buttons.clear()
        for dock in docks:
            info = dock.info
            button = QToolButton(toolButtonStyle=Qt.ToolButtonStyle.ToolButtonIconOnly)
            button.setToolTip(tooltip(wrapped_tip(f"{translated(info.title)}: {translated(info.about)}")))
            button.setAccessibleName(translated(info.title))
            button.clicked.connect(partial(self.asked.emit, info.id))
            self._icons[info.id] = info.icon
            self.buttons[info.id] = button
            self.addWidget(button)
        self._draw()

    def _draw(self) -> None:
        for name, button in self.buttons.items():
            button.setIcon(icon(self._ui.theme, self._icons[name]))
