"""One dock per panel: its title, its tab, and the panel itself, made when first seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QDockWidget, QWidget

from rcv_py.base.text import Message
from rcv_py.state.commands import Command
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.panel import Panel, PanelInfo, discover
from rcv_py.ui.core.plain_text import shown
from rcv_py.ui.shell.layouts import APART, FOLDED_PX, PLACES
from rcv_py.ui.widgets.broken import BrokenNotice, BrokenPanel, make_panel
from rcv_py.ui.widgets.parts import PART


def make_docks(ui: UiContext) -> list[Dock]:
    """Make a dock for each registered panel, in the order of their areas."""
    infos = sorted(discover(), key=lambda info: (info.area, info.order, info.id))
    docked = replace(ui, is_docked=True)
    parts = {info.id: tuple(part for part in infos if part.within == info.id) for info in infos}
    return [Dock(docked, info, parts[info.id]) for info in infos if not info.within]


MAX_MINIMUM = QSize(320, 120)  # px: maximum of a panel's minimum size
NO_PANEL = QSize(0, 100)  # px: minimum of a dock whose panel is not made
FOCUS_TRIES, FOCUS_AGAIN_MS = 20, 100  # time a panel takes to show something
UNLIMITED_PX = (1 << 24) - 1  # Qt's value for no limit


class Dock(QDockWidget):
    """The frame around a panel, which is made when first seen or needed.

    It has a title only when it is not a tab.
    """

    wants = Signal(str)  # what the panel wants
    copy_asked = Signal(str)  # id of the panel to copy as a command
    closed = Signal(str)  # id of the panel that the user closed
    stepped = Signal()  # the panel is nearer to being made

    def __init__(self, ui: UiContext, info: PanelInfo, parts: tuple[PanelInfo, ...] = ()) -> None:
        super().__init__(shown(info.title))
        self.info = info
        self.parts = parts  # panels within this one
        self.was_placed = False  # has a position on the screen, which only the user changes
        self.made: Panel | None = None
        self._next: Panel | None = None  # made, but not placed yet
        self._ui = ui
        self._state: dict[str, Any] = {}  # saved state of a panel that is not made yet
        self._reminded = self._state  # the part of it already given to the panel
        self._part: Panel | None = None  # the visible part, made before the panel has its place
        self._is_in_front = self._is_folded = False
        self.is_strip = info.is_strip
        home = "strip" if self.is_strip else info.area
        self.home = home if home == APART or any(place.area == home for place in PLACES) else "bottom"
        self.area = self.home  # its area in the present layout
        self.setObjectName(info.id)
        self._body = _Body()  # stays when the panel is folded away: a dock without a widget is invalid
        self._around = column(of=self._body)
        self.setWidget(self._body)
        self.notice: BrokenNotice | None = None
        self._no_title = QWidget()
        self.update_title(True)  # most docks are tabs, and Qt measures a title at every layout
        self.visibilityChanged.connect(self._seen)
        if self.is_strip:  # its height is the panel's height
            self.setFeatures(QDockWidget.DockWidgetFeature.NoDockWidgetFeatures)
            self._body.setMaximumHeight(self.panel.sizeHint().height())

    # -- the panel ----------------------------------------------------------------------------------

    @property
    def panel(self) -> Panel:
        """Return the panel, making it if needed."""
        self.make()
        assert self.made is not None
        return self.made

    def commands(self) -> tuple[Command, ...]:
        """Return the actions of the panel and its parts; an action makes its panel when needed."""
        own = self.info.actions(self._ui, lambda: self.made, lambda: self.panel)
        return own + tuple(command for part in self.parts for command in self._commands_of(part))

    def _commands_of(self, part: PanelInfo) -> tuple[Command, ...]:
        name = part.id

        def made() -> Panel | None:
            return None if self.made is None else self.made.made_part(name)

        return part.actions(self._ui, made, lambda: self.panel.part(name))

    def panel_of(self, name: str) -> Panel:
        """Return the panel or the part with that id, making it if needed."""
        return self.panel if name == self.info.id else self.panel.part(name)

    def show_part(self, name: str) -> None:
        """Choose a part, now or when the panel is made; the panel's own id chooses nothing."""
        if self.made is not None:
            self.made.show_part(name)
        elif name != self.info.id:
            self._state = {**self._state, PART: name}

    def is_showing(self, name: str) -> bool:
        """Return whether the panel would show that part if it were visible."""
        return name == self.info.id or (self.made is not None and self.made.chosen_part == name)

    @property
    def modules(self) -> list[str]:
        """Return the modules of the panel and its parts."""
        return [info.module for info in (self.info, *self.parts)]

    def make_in_steps(self) -> None:
        """Import the modules; then make the panel, or its visible part, or place it, and emit `stepped`."""
        self._ui.scheduler.importer.when_imported(self.modules, self._step)

    def _step(self) -> None:
        if not self.prepare():
            self.make()
        self.stepped.emit()

    def prepare(self) -> bool:
        """Make the panel without placing it, then its visible part; return whether either was still to do."""
        if self.made is not None or self._part is not None:
            return False
        if self._next is None:
            self._next = make_panel(self._ui, self.info)
        else:
            self._remind(self._next)
            self._part = self._next.chosen_panel
        return True

    def _remind(self, panel: Panel) -> None:
        """Give a panel its saved state, which names its visible part; once."""
        if self._state is not self._reminded:
            panel.load_state(self._state)
            self._reminded = self._state

    def make(self) -> None:
        """Make the panel, if needed, and place it in the dock."""
        if self.made is None:
            if self._next is None:
                self.prepare()
            panel, self._next = self._next, None
            assert panel is not None
            self.made = panel
            panel.wants.connect(self.wants)
            panel.copy_asked.connect(lambda: self.copy_asked.emit(self.info.id))
            panel.visibility.set_in_front(self._is_in_front)
            self._remind(panel)
            self._around.addWidget(panel)
            panel.setVisible(not self._is_folded)

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

    def sizeHint(self) -> QSize:
        """Return a small size: the layout decides, not the panels."""
        hint = super().sizeHint()
        return hint if self.is_strip else QSize(min(hint.width(), 240), min(hint.height(), 160))

    def show_broken(self, report: str) -> None:
        """Show a sentence instead of the panel, which failed and may show anything."""
        if self.notice is not None:
            return
        text = Message(
            "{0} met a mistake in rcv and may be wrong, so it is hidden. The rest works.", self.info.title
        )
        self.notice = BrokenNotice(text, report, self.mend)
        self.panel.hide()
        self._around.addWidget(self.notice)

    def mend(self) -> None:
        """Show the panel again if a sentence has replaced it."""
        if self.notice is not None:
            self.notice.hide()
            self.notice.deleteLater()
            self.notice = None
            self.panel.show()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Report that the user closed it; folding or hiding behind a tab is not closing."""
        super().closeEvent(event)
        self.closed.emit(self.info.id)

    def update_front(self) -> None:
        """Update whether the panel is in front of the other tabs."""
        at = self.geometry()  # Qt moves a hidden tab's dock out of the window
        self._seen(at.right() >= 0 and at.bottom() >= 0)

    def _seen(self, is_seen: bool) -> None:
        self._is_in_front = is_seen or self.isFloating()
        if self.made is not None:
            self.made.visibility.set_in_front(self._is_in_front)

    @property
    def is_seen(self) -> bool:
        """Return whether the panel is in front of other tabs, or would be if it were made."""
        return self.isVisible() and self._is_in_front and not self._is_folded

    @property
    def is_at_first(self) -> bool:
        """Return whether it is likely to be seen at once: neither folded nor a separate window."""
        return not self._is_folded and self.info.is_at_start

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

    def update_title(self, is_tab: bool) -> None:
        """Show the title bar only if no tab shows the same title."""
        is_bare = self.is_strip or (is_tab and not self.isFloating())
        if is_bare != (self.titleBarWidget() is self._no_title):
            # The stubs omit that None restores the usual title bar.
            self.setTitleBarWidget(self._no_title if is_bare else None)  # type: ignore[arg-type] # as said above

    def fold(self, is_folded: bool) -> None:
        """Show only the tab, or the panel as well."""
        self._is_folded = is_folded
        if self.made is not None:
            self.made.setVisible(not is_folded)
        self._body.setMaximumHeight(self._most_px)
        self.setMaximumHeight(self._most_px)

    @property
    def _most_px(self) -> int:
        return FOLDED_PX if self._is_folded else UNLIMITED_PX

    def limit(self, is_wide: bool, least_px: int, most_px: int) -> None:
        """Limit the width, if `is_wide`, or the height."""
        if is_wide:
            self.setMinimumWidth(least_px)
            self.setMaximumWidth(most_px)
        else:
            self.setMinimumHeight(least_px)
            self.setMaximumHeight(most_px)

    def unlimit(self) -> None:
        """Remove the limits, except of a folded dock."""
        self.setMinimumSize(0, 0)  # both at once: Qt takes a least height of 0 for one that was meant
        self.setMaximumSize(UNLIMITED_PX, self._most_px)


class _Body(QWidget):
    """The content of a dock: it can be low, whatever the tallest panel of its tabs requests."""

    def minimumSizeHint(self) -> QSize:
        """Return the panel's width but a small height; before it is made, enough height to be visible."""
        layout = self.layout()
        is_empty = layout is None or not layout.count()
        return NO_PANEL if is_empty else super().minimumSizeHint().boundedTo(MAX_MINIMUM)
