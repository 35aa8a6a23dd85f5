"""One dock per panel: its title, its tab, and the panel itself, made when first seen."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QWidget

from rcv_py.base.text import Message
from rcv_py.state.commands import Command
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.panel import PART, Panel, PanelInfo, UiContext, discover
from rcv_py.ui.core.plain_text import shown
from rcv_py.ui.shell.layouts import STRIP, TITLES
from rcv_py.ui.widgets.empty_state import BrokenNotice, BrokenPanel, make_panel


def make_docks(ui: UiContext) -> list[Dock]:
    """Make a dock for each registered panel, in the order of their areas."""
    infos = sorted(discover().values(), key=lambda info: (info.area, info.order, info.id))
    docked = replace(ui, is_docked=True)
    parts = {info.id: tuple(part for part in infos if part.within == info.id) for info in infos}
    return [Dock(docked, info, parts[info.id]) for info in infos if not info.within]


FOCUS_TRIES, FOCUS_AGAIN_MS = 20, 100  # time a panel takes to show something


class Dock(QWidget):
    """The frame around a panel, which is made when first seen or needed: a page of tabs, or a window."""

    wants = Signal(str)  # what the panel wants
    copy_asked = Signal(str)  # id of the panel to copy as a command
    closed = Signal(str)  # id of the panel that the user closed
    appeared = Signal()  # shown or hidden: another panel may be in front

    def __init__(self, ui: UiContext, info: PanelInfo, parts: tuple[PanelInfo, ...] = ()) -> None:
        super().__init__()
        self.info = info
        self.parts = parts  # panels within this one
        self.is_open = False  # in its tabs or in a window, in front or not
        self.made: Panel | None = None
        self.notice: BrokenNotice | None = None
        self._ui = ui
        self._state: dict[str, Any] = {}  # saved state of a panel that is not made yet
        self._around = column(of=self)
        self.is_strip = info.is_strip
        self.home = STRIP if self.is_strip else info.area if info.area in TITLES else "bottom"
        self.area = self.home  # its place in the present layout
        self.setObjectName(info.id)
        self.setWindowTitle(shown(info.title))
        if self.is_strip:  # its height is the panel's height
            self.setMaximumHeight(self.panel.sizeHint().height())

    @property
    def panel(self) -> Panel:
        """Return the panel, making it if needed."""
        if self.made is None:
            panel = self.made = make_panel(self._ui, self.info)
            panel.wants.connect(self.wants)
            panel.copy_asked.connect(lambda: self.copy_asked.emit(self.info.id))
            if self._state:
                panel.load_state(self._state)
            _ = panel.chosen_panel  # made before it has its place, it is styled once
            self._around.addWidget(panel)
            panel.show()
        return self.made

    def commands(self) -> tuple[Command, ...]:
        """Return the actions of the panel and its parts; an action makes its panel when needed."""
        own = self.info.actions(self._ui, lambda: self.made, lambda: self.panel)
        return own + tuple(command for part in self.parts for command in self._commands_of(part))

    def _commands_of(self, part: PanelInfo) -> tuple[Command, ...]:
        def made() -> Panel | None:
            return None if self.made is None else self.made.made_part(part.id)

        return part.actions(self._ui, made, lambda: self.panel.part(part.id))

    def show_part(self, name: str) -> None:
        """Choose a part, now or when the panel is made; the panel's own id chooses nothing."""
        if self.made is not None:
            self.made.show_part(name)
        elif name != self.info.id:
            self._state = {**self._state, PART: name}

    def is_showing(self, name: str) -> bool:
        """Return whether the panel would show that part if it were visible."""
        return name == self.info.id or (self.made is not None and self.made.chosen_part == name)

    def save_state(self) -> dict[str, Any]:
        """Return the panel's state; for a panel that is not made, the state saved for it."""
        if self.made is None or isinstance(self.made, BrokenPanel):
            return self._state
        return self.made.save_state()

    def load_state(self, state: dict[str, Any]) -> None:
        """Give the panel its saved state, now or when it is made."""
        self._state = state
        if self.made is not None:
            self.made.load_state(state)

    def reset_columns(self) -> None:
        """Give all columns of the panel's tables the places and widths that they have at first."""
        if self.made is None or self.parts:  # some may not be made yet
            self.load_state(_without_columns(self.save_state()))
        for table in [] if self.made is None else self.made.findChildren(QAbstractItemView):
            if hasattr(table, "reset_columns"):
                table.reset_columns()

    def show_broken(self, report: str) -> None:
        """Show a sentence instead of the panel, which failed and may show anything."""
        if self.notice is not None:
            return
        said = "{0} met a mistake in rcv and may be wrong, so it is hidden. The rest works."
        self.notice = BrokenNotice(Message(said, self.info.title), report, self.mend)
        self.panel.hide()
        self._around.addWidget(self.notice)

    def mend(self) -> None:
        """Show the panel again if a sentence has replaced it."""
        if self.notice is not None:
            self.notice.hide()
            self.notice.deleteLater()
            self.notice = None
            self.panel.show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.appeared.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.appeared.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Report that the user closed it; the workspace hides it."""
        event.ignore()
        self.closed.emit(self.info.id)

    @property
    def is_seen(self) -> bool:
        """Return whether the panel is on the screen, or would be if it were made."""
        return self.isVisible()

    def has_focus(self) -> bool:
        """Return whether the keyboard focus is in the dock."""
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def take_focus(self, tries: int = FOCUS_TRIES) -> None:
        """Focus the widget that last had the focus, else the list, else the first widget that takes keys.

        A widget that the panel names comes before these.  A panel that slept has nothing to show at first: it
        is tried again later, unless the focus went elsewhere.
        """
        before = QApplication.focusWidget()
        panel = self.panel.chosen_panel
        first = self.panel.first_focus()
        every = (panel.focusWidget(), *panel.findChildren(QAbstractItemView), *panel.findChildren(QWidget))
        for widget in every if first is None or not tries else (first,):
            if widget is not None and widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

        def again() -> None:
            if QApplication.focusWidget() is before:
                self.take_focus(tries - 1)

        if tries:
            QTimer.singleShot(FOCUS_AGAIN_MS, self, again)


def _without_columns(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a panel without the columns of its tables, however deep they are in it."""
    kept = ((name, value) for name, value in state.items() if name not in ("columns", "widths"))
    return {name: _without_columns(value) if isinstance(value, dict) else value for name, value in kept}
