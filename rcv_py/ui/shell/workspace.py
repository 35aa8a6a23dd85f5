"""The workspace: docks at the places of a layout, folding sides and bottom, and its saved state.

The central widget has no height: the middle is made of docks as well, so that everything can be moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QByteArray, QElapsedTimer, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QSizePolicy, QTabBar, QTabWidget, QWidget
from shiboken6 import isValid

from rcv_py.base.manifest import panel_for
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.frame_budget import FrameBudget
from rcv_py.ui.core.panel import Panel, has
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.visibility import WAKE_MS
from rcv_py.ui.shell.docks import UNLIMITED_PX, Dock
from rcv_py.ui.shell.layouts import (
    ACROSS,
    APART,
    APART_PX,
    BELOW,
    BY_ID,
    COMPACT_WIDTH,
    DOWN,
    FOLDED_PX,
    LAYOUTS,
    LEAST_BOTTOM_PX,
    OWN,
    PLACES,
    ROOM_GOES_TO,
    SIDES,
    Layout,
    Shares,
    TabGroupPlace,
    most_px,
    room_above,
    shares,
)
from rcv_py.ui.shell.side_bar import SideBar

VERSION = 2  # of the saved layout: other versions are ignored
Folded = Mapping[str, Sequence[str]]  # parts, and the panels that a folded side hides
Sizes = Mapping[Dock, int]  # px of docks
HOLD_MS = 3  # between two checks of the heights
HIDDEN_MS = 150  # time panels may take to show something, when first seen
CODE_AREAS = ("code", "source")
COLUMNS = (("time", "time_below", "bottom", "code"), SIDES["right"])  # the last of each takes the rest
SCALE = 1000  # px whose growth measures the growth of text
SIDE_AREAS = {"left": Qt.DockWidgetArea.LeftDockWidgetArea, "right": Qt.DockWidgetArea.RightDockWidgetArea}
BAR_AREAS = {"left": Qt.ToolBarArea.LeftToolBarArea, "right": Qt.ToolBarArea.RightToolBarArea}
BAR_TITLES = {"left": "Left side", "right": "Right side"}


def tab_stops(part: QWidget) -> list[QWidget]:
    """Return the widgets in a part of the window that Tab focuses; not in its menus or popups."""
    return [one for one in part.findChildren(QWidget) if _takes_tab(one) and part.isAncestorOf(one)]


def _takes_tab(widget: QWidget) -> bool:
    """Return whether Tab focuses a widget; most widgets are hidden, and are tested for that first."""
    return (
        widget.isVisible()
        and widget.isEnabled()
        and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        and widget.focusProxy() is None
    )


class Workspace(QMainWindow):
    """All panels in docks.  It knows their areas, not their classes."""

    panels_changed = Signal()  # shown, hidden, moved
    copy_asked = Signal(str)  # id of the panel to copy as a command

    main = panel_for("instruction")  # the panel that Escape focuses

    def __init__(self, ui: UiContext, docks: Iterable[Dock]) -> None:
        super().__init__()
        self._ui = ui
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockOptions(
            QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.GroupedDragging
        )
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        for corner in Qt.Corner:
            is_left = corner in (Qt.Corner.TopLeftCorner, Qt.Corner.BottomLeftCorner)
            self.setCorner(corner, SIDE_AREAS["left" if is_left else "right"])
        middle = QWidget()  # without height; without it Qt lets the sides grow at every change
        middle.setFixedHeight(0)
        middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCentralWidget(middle)
        self.resizeDocks([], [], ACROSS)  # from now on Qt lays docks out by their sizes, not by their hints
        self.docks = {dock.info.id: dock for dock in docks}
        self._homes = {part.id: dock for dock in self.docks.values() for part in dock.parts} | self.docks
        self.layout_ = LAYOUTS[0]
        self.folded: frozenset[str] = frozenset()  # of the sides and the bottom
        self._away: dict[str, list[Dock]] = {}  # what a folded side hides
        self._time_before = 0  # height of the time view before the bottom was opened
        self._owed: Callable[[], None] | None = None  # sizes the docks once more
        self._is_measured = False  # whether it sizes all of them
        self._beside_code: QByteArray | None = None  # previous docks
        self._closed: list[str] = []  # closed panels, the last last
        self._pending: tuple[QByteArray, Folded] | None = None  # saved state, until there is room for it
        self._was_shown = self._has_woken = self._is_sized_later = False
        self._tidy_timer = QTimer(self, singleShot=True)
        self._tidy_timer.timeout.connect(self._tidy)
        self._make_timer = QTimer(self, singleShot=True)
        self._make_timer.timeout.connect(self._make_in_turn)
        self._cover: QWidget | None = None  # docks move to their places unseen
        self._hidden_for = QElapsedTimer()
        self._hold_timer = QTimer(self, interval=HOLD_MS)
        self._hold_timer.timeout.connect(self._uncover)
        for dock in self.docks.values():
            self._adopt(dock)
        # Px that places need at most for the open capture, and the px they had before.
        self._most, self._given_px = dict[str, int](), dict[str, int]()
        ui.session.trace.watch(self._show_appearing)
        ui.session.trace.watch(self._give_room)
        self._size = grown(SCALE)
        ui.settings.cell("look.text_size").watch(self._text_changed)
        self.bars = {side: SideBar(ui, side, title) for side, title in BAR_TITLES.items()}
        for side, bar in self.bars.items():
            self.addToolBar(BAR_AREAS[side], bar)
            bar.asked.connect(self.show_panel)
            bar.hide()
        self._place()  # measured when first shown: before that there is no room to measure by
        self.fold("bottom", not self.layout_.bottom)

    def home_of(self, name: str) -> Dock | None:
        """Return the dock that shows a panel or a part; None if there is none with that id."""
        return self._homes.get(name)

    def panel(self, name: str) -> Panel:
        """Return the panel or the part with that id, making it if needed; KeyError if there is none."""
        return self._homes[name].panel_of(name)

    def names(self) -> dict[str, str]:
        """Return titles of all panels and parts, by id: parts follow the panel that shows them."""
        infos = (info for dock in self.docks.values() for info in (dock.info, *dock.parts))
        return {info.id: info.title for info in infos}

    # -- layout -------------------------------------------------------------------------------------

    def group(self, area: str) -> list[Dock]:
        """Return the docks whose home is an area, in their order."""
        docks = [dock for dock in self.docks.values() if dock.area == area]
        return sorted(docks, key=lambda dock: (dock.info.order, dock.info.id))

    def reset_layout(self, size: QSize | None = None) -> None:
        """Put every dock where the layout Code has it, in a window of that size."""
        self.use_layout(LAYOUTS[0], size)

    def use_layout(self, layout: Layout, size: QSize | None = None) -> None:
        """Put every dock where a layout has it, in a window of that size."""
        for dock in self.docks.values():
            dock.area = layout.moved.get(dock.info.id, dock.home)
        self._lay_out(layout, size or self.size(), layout.front)

    def _lay_out(self, layout: Layout, size: QSize, front: Iterable[str]) -> None:
        focus = QApplication.focusWidget()
        self.leave_only_code()
        self.layout_ = layout
        with self._sized_later():
            for part in self.folded:
                self.fold(part, False)
            self._place()
            for name in front:
                dock = self._homes[name]
                dock.show_part(name)
                dock.raise_()
        self._measure(size)
        if focus is not None:  # Qt drops it when a dock is taken out
            focus.setFocus()

    @contextmanager
    def _sized_later(self) -> Iterator[None]:
        """Request no sizes in the block: sizes of all docks follow, and sizes of some would be lost."""
        self._is_sized_later = True
        try:
            yield
        finally:
            self._is_sized_later = False

    def _place(self) -> None:
        """Put every dock at its place; docks shown only on request stay closed."""
        groups = {place: group for place in PLACES if (group := self.group(place.area))}
        self._put_docks(groups)
        self._show_at_start()
        for group in groups.values():  # last: a dock cannot be brought to the front before it is a tab
            group[0].raise_()

    def _put_docks(self, groups: Mapping[TabGroupPlace, list[Dock]]) -> None:
        for dock in self.docks.values():
            if dock.isFloating():  # else Qt would make its window again
                dock.setFloating(False)
            self.removeDockWidget(dock)
        for place, group in groups.items():  # before there are tabs: next to a tab Qt makes another tab
            anchor = next((self.group(area)[0] for area in place.after if self.group(area)), None)
            if anchor is None:
                self.addDockWidget(place.side, group[0])
            else:
                self.splitDockWidget(anchor, group[0], place.direction)
        for first, *others in groups.values():
            for dock in others:
                self.tabifyDockWidget(first, dock)

    def _show_at_start(self) -> None:
        """Show the panels present from the start, and make windows of panels that are apart."""
        for dock in self.group(APART):
            self.addDockWidget(SIDE_AREAS["right"], dock)
            dock.setFloating(True)
        for dock in self.docks.values():
            dock.setVisible((dock.info.is_at_start or self._appears(dock)) and self._has_something(dock))

    def _appears(self, dock: Dock) -> bool:
        """Return whether a panel that is not always shown has something to show."""
        trace = self._ui.session.trace.value
        return dock.info.appears and trace is not None and all(has(trace, what) for what in dock.info.needs)

    def _has_something(self, dock: Dock) -> bool:
        """Return whether a panel has a picture: a strip without times only repeats the views below it."""
        trace = self._ui.session.trace.value
        return not dock.is_strip or trace is None or trace.has_times

    def _show_appearing(self) -> None:
        """Show the panels for which another capture has data, and hide those for which it has none."""
        self.leave_only_code()
        for dock in self.docks.values():
            if dock.is_strip:
                dock.setVisible(self._has_something(dock))
            elif dock.info.appears and self._appears(dock) == dock.isHidden():
                dock.setVisible(dock.isHidden())
                dock.fold(dock.area == "bottom" and self.is_bottom_folded and not dock.isFloating())

    def _measure(self, size: QSize) -> None:
        """Give the docks, in their places, the sizes that suit a window of that size."""
        self._most, is_compact = most_px(self._ui.session.trace.value), size.width() < COMPACT_WIDTH
        with self._sized_later():
            for side in SIDES:
                self.fold(side, is_compact and side not in self.layout_.opens)
            self.fold("bottom", not self.layout_.bottom)
        self._fit(partial(self._resize, size))
        self._is_measured = True

    def _fit(self, fit: Callable[[], None]) -> None:
        """Size docks now, and once more when they are visible and their panels have adapted."""
        if self._was_shown and not self._is_sized_later:
            self._owed, self._is_measured = fit, False
            fit()
            self._tidy_soon()

    def _resize(self, size: QSize) -> None:
        pixels = self._shares(size)
        self._given_px = {}
        heights: dict[Dock, int] = {}
        for areas in COLUMNS:
            heights |= _but_last(self._shown(pixels.heights, areas))
        self._give(self._shown(pixels.widths, pixels.widths), heights)
        self._divide(self._shown(pixels.code_widths, pixels.code_widths))

    def _give(self, widths: Sizes, heights: Sizes) -> None:
        """Give docks and their tabs exactly these sizes; the others take the rest.

        Limits work at once and to the pixel; Qt takes sizes that are only asked for as a hint, and counts the
        bars of tabs into them.
        """
        layout = self.layout()
        assert layout is not None
        docks = [(tab, px, True) for dock, px in widths.items() for tab in self._tabs(dock)]
        docks += [(tab, px, False) for dock, px in heights.items() for tab in self._tabs(dock)]
        for play in (0, 1):  # Qt leaves no room for a handle beside a dock without play
            for dock, px, is_wide in docks:
                dock.limit(is_wide, max(1, px), max(1, px) + play)
            layout.activate()
        for dock, _, _ in docks:
            dock.unlimit()

    def _divide(self, shares: Sizes) -> None:
        """Divide the width of docks side by side anew, in the proportions of these shares."""
        room, total = sum(self._in_front(dock).width() for dock in shares), sum(shares.values())
        if total:
            self._give(_but_last({dock: round(room * px / total) for dock, px in shares.items()}), {})

    def _tabs(self, dock: Dock) -> list[Dock]:
        """Return a dock and the docks that are its tabs; none for a window of its own."""
        tabs = () if dock.isFloating() else (dock, *self.tabifiedDockWidgets(dock))
        return [one for one in self.docks.values() if one in tabs]

    def _heights(self) -> dict[Dock, int]:
        """Return the visible docks of the columns and their heights, but those that take the rest."""
        heights: dict[Dock, int] = {}
        for areas in COLUMNS:
            heights |= _but_last({dock: dock.height() for dock in self._fronts(*areas) if dock.is_seen})
        return heights

    def _text_changed(self) -> None:
        """Give the sides room for text of another size."""
        ratio, self._size = grown(SCALE) / self._size, grown(SCALE)
        shown = [dock for dock in self._fronts("left", "wave") if dock.isVisible()]
        widths = {dock: round(dock.width() * ratio) for dock in shown}
        heights = {dock: round(dock.height() * ratio) for dock in shown if dock.area == "wave"}
        self._fit(partial(self._give, widths, heights))

    def _shares(self, size: QSize) -> Shares:
        return shares(self.layout_, size, self.folded, self._most)

    def _give_room(self) -> None:
        """Give room that places do not need for the open capture to others, and take it back when needed."""
        trace = self._ui.session.trace.value
        most, before = most_px(trace), self._most
        if trace is None or most == before or not self._was_shown:
            return
        if self._owed is not None and self._is_measured:  # docks have no sizes yet to trade
            self._measure(self.size())
            return
        self._most = most
        traded = [
            self._traded(place, before) for place in ROOM_GOES_TO if most.get(place) != before.get(place)
        ]
        widths, heights = dict[Dock, int](), self._heights()
        for dock, px, way in filter(None, traded):
            (heights if way == DOWN else widths)[dock] = px
        self._fit(partial(self._give, widths, heights))

    def _traded(self, place: str, before: Mapping[str, int]) -> tuple[Dock, int, Qt.Orientation] | None:
        """Return the size that shrinks a place to its minimum or restores it; None if it is hidden."""
        other, way = ROOM_GOES_TO[place]
        docks = self._fronts(place, other)
        if len(docks) < 2 or any(dock.isHidden() or dock.isFloating() for dock in docks):
            return None
        sizes = [dock.width() if way == ACROSS else dock.height() for dock in docks]
        if place in self._most:
            now = self._full(place) if place in before else sizes[0]
            self._given_px[place] = self._given_px.get(place, now)
            wanted = min(self._given_px[place], grown(self._most[place]))
        else:
            wanted = self._given_px.pop(place, 0) or self._full(place)
        return docks[0], min(wanted, sum(sizes) - 1), way

    def _full(self, place: str) -> int:
        """Return the size that the layout gives a place for a capture with all data."""
        given = shares(self.layout_, self.size(), self.folded)
        return (given.code_widths if ROOM_GOES_TO[place][1] == ACROSS else given.heights)[place]

    def _shown(self, sizes: Mapping[str, int], areas: Iterable[str]) -> dict[Dock, int]:
        """Return the visible docks of those areas that get a size, and that size."""
        groups = {area: [dock for dock in self.group(area) if not dock.isHidden()] for area in areas}
        return {group[0]: sizes[area] for area, group in groups.items() if group and sizes.get(area)}

    def pin_time(self) -> None:
        """Show a second time view below the first, or put it back among its tabs; the rest stays.

        The view in front goes below; if it is the first of its tabs, the next one does.
        """
        self.leave_only_code()
        focus, pinned = QApplication.focusWidget(), self.group("time_below")
        if pinned:
            self._unpin(pinned)
        else:
            self._pin()
        if focus is not None:  # Qt drops it when a dock is taken out
            focus.setFocus()

    def _pin(self) -> None:
        views = self.group("time")
        first = next((view for view in views if not view.isHidden() and not view.isFloating()), views[0])
        tabs = {*self.tabifiedDockWidgets(first), *(view for view in views if view.isHidden())} - {first}
        mates = [dock for dock in self.docks.values() if dock in tabs]  # closed docks keep a place among tabs
        other = next((dock for dock in (*mates, *views) if dock is not first and dock.is_seen), None)
        other = other or next(dock for dock in (*mates, *views) if dock is not first)
        shown = [dock for dock in mates if dock is not other and not dock.isHidden()]
        heights = {
            **self._heights(),
            first: self._in_front(first).height(),
            other: round(BELOW * self.height()),
        }
        other.area = "time_below"
        other.setFloating(False)
        first.show()
        # Next to a tab Qt makes another tab, so the first is taken out of the tabs; the strip never is a tab.
        self.splitDockWidget(self.group("strip")[0], first, DOWN)
        self.splitDockWidget(first, other, DOWN)
        for dock in mates:
            if dock is not other:
                self.tabifyDockWidget(first, dock)
                dock.setVisible(dock in shown)
        other.show()
        first.raise_()
        self._fit(partial(self._give, {}, heights))
        self.layout_ = replace(self.layout_, below=BELOW)

    def _unpin(self, pinned: Sequence[Dock]) -> None:
        first = next((view for view in self.group("time") if not view.isHidden()), None)
        heights = {dock: px for dock, px in self._heights().items() if dock not in pinned}
        for dock in pinned:
            dock.area = dock.home
        if first is None:  # it is alone there: only its area changes
            heights[pinned[0]] = pinned[0].height()
        else:
            tabs = {*self.tabifiedDockWidgets(first), *pinned}
            shown = {dock for dock in tabs if isinstance(dock, Dock) and not dock.isHidden()}
            for dock in self.group("time"):  # all docks, in their order: a tab that is added goes last
                if dock in tabs:
                    self.tabifyDockWidget(first, dock)
                    dock.setVisible(dock in shown)
            pinned[-1].raise_()
        self._fit(partial(self._give, {}, heights))
        self.layout_ = replace(self.layout_, below=0.0)

    def _in_front(self, dock: Dock) -> Dock:
        """Return the visible dock among a dock and its tabs: hidden tabs keep some old size."""
        tabs = self.tabifiedDockWidgets(dock)
        return next((one for one in self.docks.values() if one in tabs and one.is_seen), dock)

    def _fronts(self, *areas: str) -> list[Dock]:
        """Return the dock in front of each of these places that has docks."""
        return [self._in_front(group[0]) for area in areas if (group := self.group(area))]

    # -- folding ------------------------------------------------------------------------------------

    @property
    def is_bottom_folded(self) -> bool:
        """Return whether only the tabs of the bottom are shown."""
        return "bottom" in self.folded

    def fold(self, part: str, is_folded: bool) -> None:
        """Fold a side to icons or the bottom to its tabs, or unfold it."""
        if is_folded == (part in self.folded):
            return
        self.leave_only_code()
        self.folded = self.folded | {part} if is_folded else self.folded - {part}
        if part == "bottom":
            self._fold_bottom(is_folded)
        else:
            self._fold_side(part)
        self.panels_changed.emit()

    def _fold_bottom(self, is_folded: bool) -> None:
        docks = self.group("bottom")
        if is_folded and len(docks) < 2:  # a single dock has no tab to unfold it by
            self.folded -= {"bottom"}
            return
        front = self._fronts("time", "code", "bottom")
        heights = [dock.height() for dock in front]
        for dock in docks:
            dock.fold(is_folded)
        if len(front) < 3:
            return
        time, code, bottom = heights
        if is_folded:
            given = {front[0]: max(time, self._time_before), front[2]: FOLDED_PX}
        else:
            self._time_before = time
            bottom = min(bottom, FOLDED_PX)  # a dock that was hidden when it was folded has an old height
            wanted = self._shares(self.size()).heights["bottom"]
            above = room_above(time, code, wanted - bottom)
            given = {
                front[0]: above[0],
                front[2]: max(LEAST_BOTTOM_PX, min(wanted, time + code + bottom - sum(above))),
            }
        self._fit(partial(self._give, {}, {**self._heights(), **given}))

    def _floated(self, dock: Dock, is_floating: bool) -> None:
        """Show all of a dock that is taken out of the folded bottom."""
        if dock.area == "bottom":
            dock.fold(self.is_bottom_folded and not is_floating)

    def _fold_side(self, side: str) -> None:
        widths = {dock: dock.width() for dock in self._fronts(*CODE_AREAS)}
        self._put_away(side, [dock for dock in self._on(side) if not dock.isHidden()])

        def fit() -> None:
            given, areas = self._shares(self.size()), SIDES[side]
            self._give(self._shown(given.widths, areas), _but_last(self._shown(given.heights, areas)))
            self._divide(widths)  # Qt would take all room from one dock

        self._fit(fit)

    # -- nothing but code ----------------------------------------------------------------------------

    @property
    def is_only_code(self) -> bool:
        """Return whether instructions and source have all the room."""
        return self._beside_code is not None

    def toggle_only_code(self) -> None:
        """Give instructions and source all the room, or restore everything else."""
        if self._beside_code is not None:
            self.leave_only_code()
            return
        self._beside_code = self.saveState(VERSION)
        others = [dock for dock in self.docks.values() if dock.area not in CODE_AREAS]
        for widget in (*(dock for dock in others if not dock.isFloating()), *self.bars.values()):
            widget.hide()
        self._mark_only_code()
        self.panels_changed.emit()

    def leave_only_code(self) -> None:
        """Show again everything that only-code hid."""
        if self._beside_code is not None:
            state, self._beside_code = self._beside_code, None
            focus = QApplication.focusWidget()
            self.restoreState(state, VERSION)
            if focus is not None:  # Qt drops it when docks are put back
                focus.setFocus()
            self._mark_only_code()
            self._tidy_soon()
            self.panels_changed.emit()

    def _mark_only_code(self) -> None:
        """Set the style property: Qt draws a splitter line above a lone dock, as if the mouse were there."""
        self.setProperty("is_only_code", self.is_only_code)
        self.style().unpolish(self)
        self.style().polish(self)

    def show_panel(self, name: str) -> None:
        """Bring a panel or a part to the front, and unfold its place.

        An area stands for any of its panels: the visible panel, else the first.
        """
        dock = self.home_of(name)
        if dock is None and (docks := self.group(name)):
            dock = next((one for one in docks if one.is_seen), docks[0])
            name = dock.info.id
        if dock is None:
            return
        if dock.area not in CODE_AREAS and not dock.isFloating():
            self.leave_only_code()
        if name != dock.info.id:
            dock.show_part(name)
        if dock.isHidden() and dock.isFloating() and not dock.was_placed:
            self._place_apart(dock)
        part = next((side for side, areas in SIDES.items() if dock.area in areas), dock.area)
        if part in self.folded:
            self.fold(part, False)
        dock.show()
        dock.raise_()
        self.panels_changed.emit()

    def _place_apart(self, dock: Dock) -> None:
        """Put a panel with a window of its own over the upper right of the workspace, once."""
        dock.was_placed = True
        size = APART_PX.boundedTo(self.size() * 0.9)
        dock.resize(size)
        dock.move(self.mapToGlobal(QPoint(max(0, self.width() - size.width() - 24), 24)))

    def show_broken(self, panel: Panel, report: str) -> None:
        """Show a sentence in the place of a panel that failed."""
        for dock in self.docks.values():
            if dock.made is not None and (dock.made is panel or dock.made.isAncestorOf(panel)):
                dock.show_broken(report)

    def toggle_panel(self, name: str, by_key: bool = False) -> None:
        """Hide a panel that is in front; bring any other to the front and focus it.

        A key hides only the focused panel, and otherwise moves the focus there: its user wants to get to the
        panel.
        """
        dock = self._homes[name]
        is_front = dock.isVisible() and not dock.visibleRegion().isEmpty() and dock.is_showing(name)
        if is_front and by_key and not dock.has_focus():
            dock.take_focus()
        elif is_front:
            dock.close()
        else:
            self.show_panel(name)
            dock.take_focus()

    def _note_closed(self, name: str) -> None:
        self._closed = [*(other for other in self._closed if other != name), name]
        self.panels_changed.emit()

    @property
    def closed(self) -> list[str]:
        """Return the panels that were closed and not opened since, the last last."""
        return [name for name in self._closed if not self.is_shown(name)]

    def reopen_panel(self) -> None:
        """Show the panel that was closed last, where it was."""
        if closed := self.closed:
            self.show_panel(closed[-1])

    def is_shown(self, name: str) -> bool:
        """Return whether a panel is open, in front or behind another tab; for a part, whether it is shown."""
        dock = self._homes[name]
        is_open = not dock.isHidden() or any(dock in away for away in self._away.values())
        return is_open and dock.is_showing(name)

    # -- keeping ------------------------------------------------------------------------------------

    def save_folded(self) -> dict[str, list[str]]:
        """Return what is folded, and the panels that a folded side hides."""
        folded = {part: [dock.info.id for dock in self._away.get(part, [])] for part in sorted(self.folded)}
        docked = [dock.info.id for dock in self.group(APART) if not dock.isFloating()]
        return {**folded, **({APART: docked} if docked else {})}

    def save_arrangement(self) -> dict[str, Any]:
        """Return the layout of the docks, and the places of docks that are not at home in it."""
        away = {dock.info.id: dock.area for dock in self.docks.values() if dock.area != dock.home}
        kept = {"layout": self.layout_.id, "below": self.layout_.below, "areas": away}
        empty = {place: self._given_px.get(place, 0) for place in sorted(self._most)}
        return {**kept, "empty": empty, "most": dict(sorted(self._most.items()))}

    def load_arrangement(self, kept: Mapping[str, Any]) -> None:
        """Restore what `save_arrangement` returned, before `restore`; leave out what does not fit."""
        layout, below, areas = (kept.get(name) for name in ("layout", "below", "areas"))
        if isinstance(layout, str) and (layout in BY_ID or layout.startswith(OWN)):
            self.layout_ = BY_ID.get(layout) or replace(LAYOUTS[0], id=layout)
            if isinstance(below, float) and 0 <= below < 1 and below != self.layout_.below:
                self.layout_ = replace(self.layout_, below=below)
        gave = _pixels(kept.get("empty"))
        self._most = dict.fromkeys(gave, 0) | _pixels(kept.get("most"))
        self._given_px = {place: px for place, px in gave.items() if px}
        known = {place.area for place in PLACES}
        for name, area in areas.items() if isinstance(areas, dict) else ():
            if name in self.docks and area in known:
                self.docks[name].area = area

    def restore(self, state: QByteArray, folded: Folded) -> bool:
        """Restore what `saveState(VERSION)` and `save_folded` returned; return False if it does not fit."""
        self.leave_only_code()
        self._pending = None if self._was_shown else (state, folded)
        self._owed, self._away = None, {}
        self.folded = frozenset(part for part in (*SIDES, "bottom") if part in folded)
        if len(self.group("bottom")) < 2:  # a single dock has no tab to unfold it by
            self.folded -= {"bottom"}
        self._fold_docks()  # before they get their places: Qt saved the sizes of folded docks
        if not self.restoreState(state, VERSION):
            return False
        for dock in self.docks.values():
            if dock.is_strip:
                dock.setVisible(self._has_something(dock))
        for dock in self.group(APART):  # an older layout had it among the tabs
            if not dock.isFloating() and dock.info.id not in folded.get(APART, ()):
                dock.setFloating(True)
                dock.hide()
        self._show_appearing()
        for side in SIDES:
            away = {self._homes[name] for name in folded.get(side, ()) if name in self._homes}
            self._put_away(side, [dock for dock in self._on(side) if dock in away or not dock.isHidden()])
        self._fold_docks()  # some may have become windows
        self._tidy_soon()
        return True

    def _fold_docks(self) -> None:
        for dock in self.docks.values():
            if not dock.is_strip:
                dock.fold(dock.area == "bottom" and self.is_bottom_folded and not dock.isFloating())

    def _on(self, side: str) -> list[Dock]:
        """Return the docks of a side."""
        return [dock for area in SIDES[side] for dock in self.group(area)]

    def _put_away(self, side: str, docks: list[Dock]) -> None:
        """Show icons for the docks of a side if it is folded, else the docks that it hid."""
        if side in self.folded:
            self._away[side] = docks
            self.bars[side].fill(docks)
        for dock in docks if side in self.folded else self._away.pop(side, ()):
            dock.setVisible(side not in self.folded)
        self.bars[side].setVisible(side in self.folded)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_cover()

    def _lay_cover(self) -> None:
        if self._cover is not None:
            self._cover.setGeometry(self.geometry() if self._cover.parent() is not self else self.rect())

    def showEvent(self, event: QShowEvent) -> None:
        """Measure again when first shown: a hidden page has no room to measure by."""
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            self._cover = QWidget(self.parentWidget() or self, autoFillBackground=True)
            self._lay_cover()
            self._cover.show()
            self._cover.raise_()
            self._hold_timer.start()
            self._hidden_for.start()
            self._arrange()
        elif self._owed is not None:
            if self._is_measured:  # for a guessed size
                self._measure(self.size())
            else:
                self._fit(self._owed)

    def _uncover(self) -> None:
        """Paint from now on, if the panels have their first rows."""
        seen = [dock.made for dock in self.docks.values() if dock.is_seen and dock.made is not None]
        tasks, scheduler = self._ui.tasks, self._ui.scheduler
        is_ready = not any(
            panel.visibility.is_asleep or tasks.is_busy(panel) or scheduler.is_pending(panel)
            for panel in seen
        )
        if (is_ready and self._owed is None) or self._hidden_for.elapsed() > HIDDEN_MS:
            self._hold_timer.stop()
            if self._cover is not None:
                self._cover.hide()
                self._cover.deleteLater()
                self._cover = None
            QTimer.singleShot(WAKE_MS, self, self._ui.scheduler.importer.release)  # after the painting

    def _arrange(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None and self.restore(*pending):
            QTimer.singleShot(WAKE_MS, self, self._give_room)  # once docks are where they were
        else:
            self._measure(self.size())

    def focus_order(self) -> list[QWidget]:
        """Return the widgets that Tab focuses: docks by place, columns from the left, each from the top.

        Qt would follow the order of creation.
        """
        return [
            one for part in self.parts() for one in (*([part] if _takes_tab(part) else []), *tab_stops(part))
        ]

    def parts(self) -> list[QWidget]:
        """Return the parts of the window: panels in front, bars of icons and tabs; columns from the left."""
        docks = [dock for dock in self.docks.values() if dock.is_seen and not dock.isFloating()]
        bars = [bar for bar in (*self.bars.values(), *self._tab_bars()) if bar.isVisible() and bar.x() >= 0]
        return sorted((*docks, *bars), key=lambda part: (part.x(), part.y()))

    def _tab_bars(self) -> list[QTabBar]:
        """Return the tab bars of docks, including those that Qt keeps out of the window."""
        return self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)

    def grow(self, width: int, height: int) -> None:
        """Enlarge the focused panel by px; negative values shrink it."""
        dock = next((dock for dock in self.docks.values() if dock.has_focus()), self.docks[self.main])
        if width:
            self.resizeDocks([dock], [dock.width() + width], ACROSS)
        if height:
            self.resizeDocks([dock], [dock.height() + height], DOWN)

    def show_main(self) -> None:
        """Focus the main view."""
        self.show_panel(self.main)
        self.docks[self.main].take_focus()

    def _adopt(self, dock: Dock) -> None:
        dock.setParent(self)
        dock.wants.connect(self.show_panel)
        dock.stepped.connect(partial(self._make_timer.start, 0))
        dock.copy_asked.connect(self.copy_asked)
        dock.closed.connect(self._note_closed)
        dock.topLevelChanged.connect(partial(self._floated, dock))
        for signal in (dock.dockLocationChanged, dock.topLevelChanged, dock.visibilityChanged):
            signal.connect(self._tidy_soon)

    @property
    def is_waking(self) -> bool:
        """Return whether a panel is about to be made, or to do work deferred while it was hidden."""
        made = (dock.made for dock in self.docks.values())
        is_any = any(panel is not None and panel.visibility.is_waking for panel in made)
        is_timed = any(timer.isActive() for timer in (self._make_timer, self._tidy_timer, self._hold_timer))
        return is_any or is_timed

    # -- inside -------------------------------------------------------------------------------------

    def _make_in_turn(self) -> None:
        FrameBudget.here().call(self._make_seen)

    def _make_seen(self) -> None:
        """Make the panels in front: at first all at once, later step by step, painting between."""
        if not isValid(self) or self._tidy_timer.isActive():  # not all docks are in their final places
            return
        for dock in self.docks.values():
            dock.update_front()
        seen = [dock for dock in self.docks.values() if dock.is_seen]
        new = next((dock for dock in seen if dock.made is None), None)
        if new is not None and self._has_woken:
            new.make_in_steps()
            return
        for dock in seen:
            dock.panel.visibility.wake()
            self._has_woken = True

    @property
    def unseen_modules(self) -> list[str]:
        """Return the modules of panels not yet seen."""
        unseen = (dock for dock in self.docks.values() if dock.made is None)
        return [module for dock in unseen for module in dock.modules]

    def _tidy_soon(self) -> None:
        self._tidy_timer.start(0)

    def _tidy(self) -> None:
        if self._owed is not None and self.isVisible():
            owed, self._owed = self._owed, None
            owed()
        for dock in self.docks.values():
            dock.update_front()
            dock.update_title(bool(self.tabifiedDockWidgets(dock)))
        for bar in self._tab_bars():
            bar.setDrawBase(False)
            bar.setElideMode(Qt.TextElideMode.ElideNone)
            bar.setUsesScrollButtons(True)
            if not bar.property("rcv_watched"):
                bar.setProperty("rcv_watched", True)
                bar.tabBarClicked.connect(self._tab_clicked)
        self._make_timer.start(WAKE_MS)
        self.panels_changed.emit()

    def _tab_clicked(self, at: int) -> None:
        bar = self.sender()
        titles = {dock.info.title for dock in self.group("bottom")}
        if not isinstance(bar, QTabBar) or bar.tabText(at) not in titles:
            return
        if self.is_bottom_folded:
            self.fold("bottom", False)
        elif at == bar.currentIndex():
            self.fold("bottom", True)


def _but_last(sizes: Sizes) -> dict[Dock, int]:
    """Return the sizes of docks in a row or column without the last dock, which takes the rest."""
    return dict(list(sizes.items())[:-1])


def _pixels(kept: object) -> dict[str, int]:
    """Return saved sizes of places in px, without invalid values."""
    saved = kept if isinstance(kept, dict) else {}
    known = ((place, px) for place, px in saved.items() if place in ROOM_GOES_TO)
    return {place: px for place, px in known if isinstance(px, int) and 0 <= px < UNLIMITED_PX}
