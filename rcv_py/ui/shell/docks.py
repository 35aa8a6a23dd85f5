"""The workspace: one dock a panel, and the layout they start in.

    explorer  │ overview strip                │ right
              │ top: tabs                     │
    ──────────├───────────────┬───────────────┤ right_center
    left_     │ center        │ center_right  │
    bottom    ├───────────────┴───────────────┤ right_bottom: tabs
              │ bottom: tabs, can be folded   │

The central widget has no height: the middle is made of docks as well, so that everything can be moved.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QByteArray, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QDockWidget,
    QMainWindow,
    QPushButton,
    QSizePolicy,
    QTabBar,
    QTabWidget,
    QWidget,
)

from rcv_py.state.commands import Command
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import column, row
from rcv_py.ui.core.panel import Panel, PanelInfo, discover
from rcv_py.ui.core.plain_text import PlainLabel, copy_text, with_tip
from rcv_py.ui.core.visibility import WAKE_MS


class BrokenNotice(QWidget):
    """A sentence in the place of a panel; `again` is what the button "Try again" does, if there is one."""

    def __init__(self, sentence: str, report: str, again: Callable[[], None] | None = None) -> None:
        super().__init__()
        self.report = report
        self.sentence = PlainLabel(sentence, wordWrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        copy = with_tip(QPushButton("Copy report"), "Copy what a bug report needs.")
        copy.clicked.connect(lambda: copy_text(self.report))
        buttons = [copy]
        if again is not None:
            buttons.append(with_tip(QPushButton("Try again"), "Show the panel again."))
            buttons[1].clicked.connect(again)
        below = row(None, *buttons, None, spacing=6)
        column(None, self.sentence, below, None, margins=(9, 9, 9, 9), spacing=6, of=self)


class BrokenPanel(Panel):
    """Says that a panel could not be made; the rest of the window works."""

    def __init__(self, ui: UiContext, info: PanelInfo, report: str) -> None:
        super().__init__(ui)
        self.report = report
        text = f"{info.title} could not be made because of a mistake in rcv. The rest works."
        column(BrokenNotice(text, report), of=self)


def make_panel(ui: UiContext, info: PanelInfo) -> Panel:
    """Make a panel; a `BrokenPanel` if it raises."""
    try:
        panel = info.make(ui)
    except Exception:  # the panel boundary: one broken panel must not cost the user the window
        panel = BrokenPanel(ui, info, traceback.format_exc())
    if not panel.accessibleName():
        panel.setAccessibleName(info.title)
    if not panel.accessibleDescription():
        panel.setAccessibleDescription(info.tip)
    return panel


def make_docks(ui: UiContext) -> list[Dock]:
    """Make a dock for each panel that is found, in the order of their areas."""
    infos = sorted(discover(), key=lambda info: (info.area, info.order, info.id))
    docked = replace(ui, is_docked=True)
    return [Dock(docked, info) for info in infos]


STRIPS = ("overview",)  # panels above the tabs of their area, always visible, without a title
VERSION = 1  # of the saved layout: one of another version is ignored
COMPACT_WIDTH = 1500  # px: below it columns are narrow and the bottom starts folded
RESIZE_PASSES = 4  # Qt comes nearer to the sizes asked for each time, and is there after three
WAVE_PX = 344  # height of the first panel at the right: all it shows
MAX_MINIMUM = QSize(600, 170)  # px: no panel may insist on more
NO_PANEL = QSize(0, 100)  # px: at least, of a dock whose panel is not made
FOLDED_PX = 1  # height of a folded dock below its tab; Qt complains about none
FOCUS_TRIES, FOCUS_AGAIN_MS = 20, 100  # as long as a panel takes to have something
UNLIMITED_PX = (1 << 24) - 1  # what Qt takes for no limit

_LEFT, _RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
_TOP, _BOTTOM = Qt.DockWidgetArea.TopDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea
_DOWN, _ACROSS = Qt.Orientation.Vertical, Qt.Orientation.Horizontal


@dataclass(frozen=True, slots=True)
class Place:
    """Where a group of tabs goes: below or beside the first group of `after` that exists, else the side."""

    area: str
    side: Qt.DockWidgetArea
    after: tuple[str, ...] = ()
    direction: Qt.Orientation = _DOWN


PLACES = (
    Place("left", _LEFT),
    Place("left_bottom", _LEFT, ("left",)),
    Place("right", _RIGHT),
    Place("right_center", _RIGHT, ("right",)),
    Place("right_bottom", _RIGHT, ("right_center", "right")),
    Place("strip", _TOP),
    Place("top", _TOP, ("strip",)),
    Place("center", _BOTTOM),
    Place("bottom", _BOTTOM, ("center",)),
    Place("center_right", _BOTTOM, ("center",), _ACROSS),
)


class Dock(QDockWidget):
    """The frame around a panel, which is made when it is first seen or needed.

    It has a title only while it is no tab.
    """

    wants = Signal(str)  # what the panel wants
    copy_asked = Signal(str)  # id of the panel that is to be copied as a command

    def __init__(self, ui: UiContext, info: PanelInfo) -> None:
        super().__init__(info.title)
        self.info = info
        self.made: Panel | None = None
        self._ui = ui
        self._state: dict[str, Any] = {}  # of a panel that is not made yet
        self._is_in_front = self._is_folded = self._is_loaded = False
        self.is_strip = info.id in STRIPS
        area = "strip" if self.is_strip else info.area
        self.area = area if any(place.area == area for place in PLACES) else "bottom"
        self.setObjectName(info.id)
        self._body = _Body()  # stays when the panel is folded away: a dock without a widget is no dock
        self._around = column(of=self._body)
        self.setWidget(self._body)
        self.notice: BrokenNotice | None = None
        self._no_title = QWidget()
        self.visibilityChanged.connect(self._seen)
        if self.is_strip:  # its height is that of the panel
            self.setFeatures(QDockWidget.DockWidgetFeature.NoDockWidgetFeatures)
            self._body.setMaximumHeight(self.panel.sizeHint().height())
            self.update_title(True)

    # -- the panel ----------------------------------------------------------------------------------

    @property
    def panel(self) -> Panel:
        """The panel, made now if nobody needed it before."""
        self.make()
        assert self.made is not None
        return self.made

    def commands(self) -> tuple[Command, ...]:
        """The actions of the panel, which make it when they need it."""
        return self.info.commands(self._ui, lambda: self.made, lambda: self.panel)

    def load(self) -> bool:
        """Import what the panel needs; return whether that was still to do."""
        was_loaded, self._is_loaded = self._is_loaded, True
        if not was_loaded:
            with suppress(Exception):  # whatever is wrong is wrong when it is made, too, and told then
                self.info.load()
        return not was_loaded

    def make(self) -> None:
        """Make the panel, if it is not made."""
        if self.made is None:
            panel = self.made = make_panel(self._ui, self.info)
            panel.wants.connect(self.wants)
            panel.copy_asked.connect(lambda: self.copy_asked.emit(self.info.id))
            panel.visibility.set_in_front(self._is_in_front)
            self._around.addWidget(panel)
            panel.setVisible(not self._is_folded)
            if self._state:
                panel.load_state(self._state)

    def save_state(self) -> dict[str, Any]:
        """Return what the panel remembers; of one that is not made, what it is to be given."""
        if self.made is None or isinstance(self.made, BrokenPanel):
            return self._state
        return self.made.save_state()

    def load_state(self, state: dict[str, Any]) -> None:
        """Give the panel what it remembered, now or when it is made."""
        self._state = state
        if self.made is not None:
            self.made.load_state(state)

    def sizeHint(self) -> QSize:
        """Small: the layout decides, not the panels."""
        hint = super().sizeHint()
        return hint if self.is_strip else QSize(min(hint.width(), 240), min(hint.height(), 160))

    def show_broken(self, report: str) -> None:
        """Show a sentence instead of the panel, which met a mistake and may show anything."""
        if self.notice is not None:
            return
        text = f"{self.info.title} met a mistake in rcv and may be wrong, so it is hidden. The rest works."
        self.notice = BrokenNotice(text, report, self.mend)
        self.panel.hide()
        self._around.addWidget(self.notice)

    def mend(self) -> None:
        """Show the panel again, if a sentence stands in its place."""
        if self.notice is not None:
            self.notice.hide()
            self.notice.deleteLater()
            self.notice = None
            self.panel.show()

    def look(self) -> None:
        """Tell the panel whether it is in front of the other tabs."""
        at = self.geometry()  # Qt keeps what is behind a tab out of the window
        self._seen(at.right() >= 0 and at.bottom() >= 0)

    def _seen(self, is_seen: bool) -> None:
        self._is_in_front = is_seen or self.isFloating()
        if self.made is not None:
            self.made.visibility.set_in_front(self._is_in_front)

    @property
    def is_seen(self) -> bool:
        """Whether the panel is in front of other tabs, or would be if it were made."""
        return self.isVisible() and self._is_in_front and not self._is_folded

    @property
    def is_folded(self) -> bool:
        """Whether nothing but its tab is shown."""
        return self._is_folded

    def has_focus(self) -> bool:
        """Whether keys go to something in it."""
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def take_focus(self, tries: int = FOCUS_TRIES) -> None:
        """Give the focus to what had it last, else to its list, else to the first thing that takes keys.

        A panel that slept has nothing to show at first: it is asked again, unless the focus went elsewhere.
        """
        before = QApplication.focusWidget()
        wanted = [self.panel.focusWidget(), *self.panel.findChildren(QAbstractItemView)]
        for widget in (*wanted, *self.panel.findChildren(QWidget)):
            if widget is not None and widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

        def again() -> None:
            if QApplication.focusWidget() is before:
                self.take_focus(tries - 1)

        if tries:
            QTimer.singleShot(FOCUS_AGAIN_MS, self, again)

    def update_title(self, is_tab: bool) -> None:
        """Show the title bar only if there is no tab that says the same."""
        is_bare = self.is_strip or (is_tab and not self.isFloating())
        if is_bare != (self.titleBarWidget() is self._no_title):
            # The stubs do not know that None gives the usual title bar back.
            self.setTitleBarWidget(self._no_title if is_bare else None)  # type: ignore[arg-type]

    def fold(self, is_folded: bool) -> None:
        """Show nothing but the tab, or the panel as well."""
        self._is_folded = is_folded
        if self.made is not None:
            self.made.setVisible(not is_folded)
        self._body.setMaximumHeight(FOLDED_PX if is_folded else UNLIMITED_PX)
        self.setMaximumHeight(FOLDED_PX if is_folded else UNLIMITED_PX)


def _takes_keys(dock: QWidget, widget: QWidget) -> bool:
    """Whether the Tab key goes to a widget itself, which is not part of a menu or list that pops up."""
    takes = widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None
    return bool(takes) and dock.isAncestorOf(widget)


class Workspace(QMainWindow):
    """All panels in docks.  Knows their areas, not what they are."""

    panels_changed = Signal()  # shown, hidden, moved
    copy_asked = Signal(str)  # id of the panel that is to be copied as a command

    def __init__(self, docks: Iterable[Dock]) -> None:
        super().__init__()
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockOptions(
            QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.GroupedDragging
        )
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        for corner in Qt.Corner:
            is_left = corner in (Qt.Corner.TopLeftCorner, Qt.Corner.BottomLeftCorner)
            self.setCorner(corner, _LEFT if is_left else _RIGHT)
        middle = QWidget()  # without height; without any Qt lets the sides grow at every change
        middle.setFixedHeight(0)
        middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCentralWidget(middle)
        self.docks = {dock.info.id: dock for dock in docks}
        self.is_bottom_folded = False
        self._wanted, self._passes = QSize(), 0
        self._pending: tuple[QByteArray, bool] | None = None  # a saved layout, until there is room for it
        self._was_shown = False
        self._focus_order: list[Dock] = []
        self._tidy_timer = QTimer(self, singleShot=True)
        self._tidy_timer.timeout.connect(self._tidy)
        self._make_timer = QTimer(self, singleShot=True, interval=WAKE_MS)
        self._make_timer.timeout.connect(self._make_seen)
        for dock in self.docks.values():
            dock.setParent(self)
            dock.wants.connect(self.show_panel)
            dock.copy_asked.connect(self.copy_asked)
            for signal in (dock.dockLocationChanged, dock.topLevelChanged, dock.visibilityChanged):
                signal.connect(self._tidy_soon)
        self.reset_layout(QSize(1600, 900))

    # -- layout -------------------------------------------------------------------------------------

    def group(self, area: str) -> list[Dock]:
        """The docks whose home is an area, in their order."""
        docks = [dock for dock in self.docks.values() if dock.area == area]
        return sorted(docks, key=lambda dock: (dock.info.order, dock.info.id))

    def reset_layout(self, size: QSize | None = None) -> None:
        """Put every dock where it starts, in a window of that size."""
        size = size or self.size()
        for dock in self.docks.values():
            dock.setFloating(False)
            self.removeDockWidget(dock)
        for place in PLACES:
            docks = self.group(place.area)
            anchor = next((group[0] for area in place.after if (group := self.group(area))), None)
            for dock in docks:
                if dock is not docks[0]:
                    self.tabifyDockWidget(docks[0], dock)
                elif anchor is None:
                    self.addDockWidget(place.side, dock)
                else:
                    self.splitDockWidget(anchor, dock, place.direction)
        for dock in self.docks.values():
            dock.show()
        for docks in filter(None, (self.group(place.area) for place in PLACES)):
            docks[0].raise_()
        self._measure(size)

    def _measure(self, size: QSize) -> None:
        """Give the docks, where they are, the sizes that suit a window of that size."""
        self.fold_bottom(size.width() < COMPACT_WIDTH)
        self._wanted, self._passes = size, RESIZE_PASSES
        self._resize(size)
        self._tidy_soon()

    def _resize(self, size: QSize) -> None:
        compact = size.width() < COMPACT_WIDTH
        side = 204 if compact else 280
        right = 228 if compact else 288
        middle, body = size.width() - side - right, size.height()
        heights = {
            "left": body * 60 // 100,
            "left_bottom": body * 40 // 100,
            "top": body * (36 if compact else 32) // 100,
            "center": body * (56 if compact else 38) // 100,
            "bottom": body * (4 if compact else 28) // 100,
            "right": WAVE_PX,
            "right_center": body * 36 // 100,
            "right_bottom": body - WAVE_PX - body * 36 // 100,
        }
        # The sides first and alone: Qt shares what a call asks for among all the docks it names.
        self._resize_groups({"left": side, "right": right}, _ACROSS)
        self._resize_groups({"center": middle * 55 // 100, "center_right": middle * 45 // 100}, _ACROSS)
        self._resize_groups(heights, _DOWN)

    def _resize_groups(self, sizes: dict[str, int], direction: Qt.Orientation) -> None:
        docks = {area: self.group(area)[0] for area in sizes if self.group(area)}
        self.resizeDocks(list(docks.values()), [sizes[area] for area in docks], direction)

    # -- folding ------------------------------------------------------------------------------------

    def fold_bottom(self, is_folded: bool) -> None:
        """Show only the tabs of the bottom group, or its contents as well."""
        docks = self.group("bottom")
        self.is_bottom_folded = is_folded and len(docks) > 1  # a single dock has no tab to unfold it by
        for dock in docks:
            dock.fold(self.is_bottom_folded)
        if docks and not self.is_bottom_folded:
            self.resizeDocks([docks[0]], [max(200, self.height() * 28 // 100)], _DOWN)
        self.panels_changed.emit()

    def show_panel(self, name: str) -> None:
        """Bring a panel to the front."""
        dock = self.docks.get(name)
        if dock is None:
            return
        if dock in self.group("bottom") and self.is_bottom_folded:
            self.fold_bottom(False)
        dock.show()
        dock.raise_()
        self.panels_changed.emit()

    def show_broken(self, panel: Panel, report: str) -> None:
        """Show a sentence in the place of a panel that met a mistake."""
        for dock in self.docks.values():
            if dock.made is panel:
                dock.show_broken(report)

    def toggle_panel(self, name: str, by_key: bool = False) -> None:
        """Hide a panel that is in front, bring any other to the front and give it the focus.

        A key hides only what has the focus, else it goes there: who presses one wants to get to the panel.
        """
        dock = self.docks[name]
        is_front = dock.isVisible() and not dock.visibleRegion().isEmpty()
        if is_front and by_key and not dock.has_focus():
            dock.take_focus()
        elif is_front:
            dock.hide()
            self.panels_changed.emit()
        else:
            self.show_panel(name)
            dock.take_focus()

    def is_shown(self, name: str) -> bool:
        """Whether the dock is open, in front or behind another tab."""
        return not self.docks[name].isHidden()

    # -- keeping ------------------------------------------------------------------------------------

    def restore(self, state: QByteArray, is_bottom_folded: bool) -> bool:
        """Take back what `saveState(VERSION)` returned; False if it does not fit this version."""
        self._pending = None if self._was_shown else (state, is_bottom_folded)
        self._passes = 0
        if not self.restoreState(state, VERSION):
            return False
        for dock in self.docks.values():
            if dock.is_strip:
                dock.show()
        self.fold_bottom(is_bottom_folded)
        self._tidy_soon()
        return True

    def showEvent(self, event: QShowEvent) -> None:
        """Measure again when first shown: behind another page there was no room to measure by."""
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            QTimer.singleShot(0, self, self._arrange)

    def _arrange(self) -> None:
        pending, self._pending = self._pending, None
        if pending is None or not self.restore(*pending):
            self._measure(self.size())

    @property
    def is_waking(self) -> bool:
        """Whether a panel is about to be made, or to do what was put off while nobody saw it."""
        made = (dock.made for dock in self.docks.values())
        is_any = any(panel is not None and panel.visibility.is_waking for panel in made)
        return is_any or self._make_timer.isActive()

    # -- inside -------------------------------------------------------------------------------------

    def _make_seen(self) -> None:
        """Make the panels that are in front: at first all at once, later step by step, painting between."""
        if self._tidy_timer.isActive():  # not all are where they will be
            return
        for dock in self.docks.values():
            dock.look()
        seen = [dock for dock in self.docks.values() if dock.is_seen]
        new = next((dock for dock in seen if dock.made is None), None)
        if new is not None and self._focus_order:
            if not new.load():
                new.make()
            self._make_timer.start()
            return
        for dock in seen:
            dock.panel.visibility.wake()
        self._order_focus()

    def load_next(self) -> bool:
        """Import what a panel needs that was not seen yet; False if there is no such panel any more."""
        return any(dock.load() for dock in self.docks.values() if dock.made is None)

    def _order_focus(self) -> None:
        """Let Tab go through the docks by their places: columns from the left, each from the top.

        Qt would go by when panels were made.
        """
        seen = [dock for dock in self.docks.values() if dock.is_seen and not dock.isFloating()]
        order = sorted(seen, key=lambda dock: (dock.x(), dock.y()))
        if order == self._focus_order:
            return
        self._focus_order = order
        # Never by nextInFocusChain: PySide6 takes its answer for a child, and lets it go with the widget.
        takers = [one for dock in order for one in dock.findChildren(QWidget) if _takes_keys(dock, one)]
        for first, second in pairwise(takers):
            QWidget.setTabOrder(first, second)

    def _tidy_soon(self) -> None:
        self._tidy_timer.start(0)

    def _tidy(self) -> None:
        if self._passes:
            self._passes -= 1
            self._resize(self._wanted)
            self._tidy_soon()
        for dock in self.docks.values():
            dock.look()
            dock.update_title(bool(self.tabifiedDockWidgets(dock)))
        for bar in self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            bar.setDrawBase(False)
            bar.setElideMode(Qt.TextElideMode.ElideNone)
            bar.setUsesScrollButtons(True)
            if not bar.property("rcv_watched"):
                bar.setProperty("rcv_watched", True)
                bar.tabBarClicked.connect(self._tab_clicked)
        self._make_timer.start()
        self.panels_changed.emit()

    def _tab_clicked(self, at: int) -> None:
        bar = self.sender()
        titles = {dock.info.title for dock in self.group("bottom")}
        if not isinstance(bar, QTabBar) or bar.tabText(at) not in titles:
            return
        if self.is_bottom_folded:
            self.fold_bottom(False)
        elif at == bar.currentIndex():
            self.fold_bottom(True)


class _Body(QWidget):
    """What a dock holds: it can be low, whatever the tallest panel of its tabs asks for."""

    def minimumSizeHint(self) -> QSize:
        """As wide as the panel needs, but not as high; some height before it is made, or nobody saw it."""
        layout = self.layout()
        is_empty = layout is None or not layout.count()
        return NO_PANEL if is_empty else super().minimumSizeHint().boundedTo(MAX_MINIMUM)
