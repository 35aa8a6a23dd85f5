"""The bar below the menus: back, forward, the capture and its neighbours, the command field, the theme."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QToolBar, QToolButton

from rcv_py.base.text import elide_left, plural, short_count
from rcv_py.model.trace import CaptureEntry
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import boxed, row
from rcv_py.ui.core.plain_text import add_action, button_text, tooltip
from rcv_py.ui.shell.menus import Actions
from rcv_py.ui.shell.opener import Opener

NAME_LENGTH = 40  # letters of the capture's name that fit
FIELD_PX = 420


class TopBar(QToolBar):
    """Fixed, with five things on it."""

    def __init__(
        self, ui: UiContext, actions: Actions, opener: Opener, open_palette: Callable[[], None]
    ) -> None:
        super().__init__("Toolbar")
        self._ui = ui
        self._opener = opener
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setIconSize(QSize(16, 16))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._actions = {"back": actions["go.back"], "forward": actions["go.forward"]}
        for action in self._actions.values():
            self.addAction(action)
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        mode = QToolButton.ToolButtonPopupMode.InstantPopup
        self.capture = QToolButton(toolButtonStyle=style, popupMode=mode)
        self.capture.setObjectName("capture")
        self.capture.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow goes after the name
        self.capture.setMenu(QMenu(self.capture, toolTipsVisible=True))
        self.capture.menu().aboutToShow.connect(self._fill)
        self.addWidget(self.capture)
        self.field = QPushButton("Search or run a command …      Ctrl+K")
        self.field.setObjectName("command_field")
        self.field.setAccessibleName("Search or run a command")
        self.field.setToolTip("Find commands, instructions, labels, waves and source files  (Ctrl+K)")
        self.field.setMaximumWidth(FIELD_PX)
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.field.clicked.connect(open_palette)
        self.addWidget(boxed(row(None, (self.field, 4), None, margins=(8, 0, 8, 0), spacing=6)))
        self.theme = QToolButton(toolButtonStyle=Qt.ToolButtonStyle.ToolButtonIconOnly)
        self.theme.setDefaultAction(actions["view.theme"])
        self.addWidget(self.theme)
        ui.session.trace.watch(self._update)
        ui.theme.changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        theme, trace = self._ui.theme, self._ui.session.trace.value
        name = "No capture" if trace is None else trace.name
        self.capture.setText(button_text(elide_left(name, NAME_LENGTH)))
        self.capture.setToolTip(
            tooltip("Open a capture." if trace is None else f"{trace.path}\n{trace.kernel_name}")
        )
        self.capture.setAccessibleName(f"Capture: {name}")
        self.capture.setIcon(icon(theme, "chevron", "muted"))
        for name, action in self._actions.items():
            action.setIcon(icon(theme, name))
        self.theme.defaultAction().setIcon(icon(theme, "sun" if theme.is_dark else "moon"))

    def _fill(self) -> None:
        menu, trace = self.capture.menu(), self._ui.session.trace.value
        menu.clear()
        for entry in self._opener.siblings:
            is_on = trace is not None and entry.path == trace.path
            call, tip = partial(self._opener.open, entry.path), entry.note or str(entry.path)
            add_action(menu, _title(entry), call, tip=tip, is_on=is_on).setEnabled(not entry.note)
        if not self._opener.siblings:
            for path in self._opener.recent:
                add_action(menu, path.name, partial(self._opener.open, path), tip=str(path))
        if menu.isEmpty():
            menu.addAction("No other capture lies beside this one").setEnabled(False)


def _title(entry: CaptureEntry) -> str:
    facts = [plural(entry.waves, "wave"), f"{short_count(entry.latency)} cycles"]
    return f"{entry.name}   ({', '.join([entry.note] if entry.note else facts)})"
