"""The workspace: panels at the places of a layout, folding sides and bottom, and what is kept of them.

Panels are pages of groups of tabs, one group per place, in splitters.  Sizes are those of the layout, which
changes when a user drags a handle; folding, restarts and other captures never change it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QMenu, QTabBar, QWidget
from shiboken6 import isValid

from rcv_py.base.manifest import panel_for
from rcv_py.ui.core.frame_budget import FrameBudget, one_shot
from rcv_py.ui.core.layout import boxed, column, row
from rcv_py.ui.core.panel import Panel, UiContext, has
from rcv_py.ui.core.plain_text import add_action, allow, button_text, show_explanation
from rcv_py.ui.core.scheduler import WAKE_MS
from rcv_py.ui.shell import layouts
from rcv_py.ui.shell.curtain import Curtain
from rcv_py.ui.shell.docks import Dock
from rcv_py.ui.shell.layouts import APART, CODE_AREAS, LAYOUTS, SIDES, STRIP, TITLES, Layout, Shown
from rcv_py.ui.shell.tab_groups import PlaceSplitter, SideBar, TabGroup

FOLDABLE = (*SIDES, "bottom")
BAR_TITLES = {"left": "Left side", "right": "Right side"}
Sizes = Callable[[Layout, int, Shown], tuple[int, ...]]  # of places in a row, in px, that share so many
FAR_PX = 100_000  # no screen is there: a saved place of a window is nearer
DOWN, ACROSS = Qt.Orientation.Vertical, Qt.Orientation.Horizontal


class Workspace(QWidget):
    """All panels.  It knows their places, not their classes."""

    panels_changed = Signal()  # shown, hidden, moved
    copy_asked = Signal(str)  # id of the panel to copy as a command

    main = panel_for("instruction")  # the panel that Escape focuses

    def __init__(self, ui: UiContext, docks: Iterable[Dock]) -> None:
        super().__init__()
        self._ui = ui
        self.docks = {dock.info.id: dock for dock in docks}
        # The dock of each panel and part.
        self.homes = {part.id: dock for dock in self.docks.values() for part in dock.parts} | self.docks
        self._order = self._usual_order()  # of tabs: ids of all panels
        self.layout_ = LAYOUTS[0]
        self.folded: frozenset[str] = frozenset()  # of the sides and the bottom
        self.is_only_code = False  # whether instructions and source have all the room
        self._most = layouts.most_px(None)  # px that places need at most for the open capture
        self._without_data = layouts.without_data(None)  # homes of panels that it has no data for
        self._asked: frozenset[str] = frozenset()  # such homes that are shown all the same
        self._closed: list[str] = []  # closed panels, the last last
        self._before_pin: Dock | None = None  # the time view in front before another was pinned below
        self._windows: dict[str, QRect] = {}  # where panels with windows of their own were
        self._is_measured = self._has_woken = self._is_arranging = False
        self._had_room = False  # whether the window was wide when its layout was saved
        self._curtain = Curtain(self, self.docks.values(), ui.scheduler)
        self._make_timer = one_shot(self, lambda: FrameBudget.here().call(self._make_seen))
        for dock in self.docks.values():
            dock.wants.connect(self.show_panel)
            dock.appeared.connect(partial(self._make_timer.start, WAKE_MS))
            dock.copy_asked.connect(self.copy_asked)
            dock.closed.connect(self.close_panel)
        self._groups = {area: self._group(area) for area in TITLES if area != APART}
        self.bars = {side: SideBar(ui, side, title) for side, title in BAR_TITLES.items()}
        for bar in self.bars.values():
            bar.asked.connect(self.show_panel)
        self.splitters = self._lay_out()  # outer ones first
        ui.session.trace.watch(self._trace_changed)
        ui.settings.cell("look.text_size").watch(self._fit)
        self.use_layout(self.layout_)

    def _group(self, area: str) -> TabGroup:
        group = TabGroup(area)
        group.changed.connect(partial(self._tabs_changed, group))
        group.menu_asked.connect(lambda dock, place: self.menu_of(dock).popup(place))
        if area == "bottom":
            group.clicked.connect(lambda was: self.fold(area, was and not self.is_bottom_folded))
        return group

    def _lay_out(self) -> dict[str, PlaceSplitter]:
        groups, strip = self._groups, self.group(STRIP)

        def split(way: Qt.Orientation, parts: Sequence[QWidget], sizes: Sizes) -> PlaceSplitter:
            return PlaceSplitter(way, parts, lambda room: sizes(self.layout_, room, self._shown()))

        code = split(ACROSS, [groups[area] for area in CODE_AREAS], layouts.code_widths)
        rows = [code if area == "code" else groups[area] for area in layouts.MIDDLE]
        middle = split(DOWN, rows, layouts.heights)
        right = split(DOWN, [groups[area] for area in SIDES["right"]], layouts.right_heights)
        centre = boxed(column(*strip, (middle, 1)))
        centre.setMinimumSize(1, 1)
        main = split(ACROSS, [groups["left"], centre, right], layouts.widths)
        self._places: dict[QWidget, str] = {group: area for area, group in groups.items()}
        self._places[right] = "right"
        row(self.bars["left"], (main, 1), self.bars["right"], of=self)
        splitters = {"main": main, "middle": middle, "code": code, "right": right}
        for splitter in splitters.values():
            splitter.splitterMoved.connect(partial(self._dragged, splitter))
        return splitters

    def panel(self, name: str) -> Panel:
        """Return the panel or the part with that id, making it if needed; KeyError if there is none."""
        dock = self.homes[name]
        return dock.panel if name == dock.info.id else dock.panel.part(name)

    def names(self) -> dict[str, str]:
        """Return titles of all panels and parts, by id: parts follow the panel that shows them."""
        infos = (info for dock in self.docks.values() for info in (dock.info, *dock.parts))
        return {info.id: info.title for info in infos}

    def _usual_order(self) -> list[str]:
        return sorted(self.docks, key=lambda name: (self.docks[name].info.order, name))

    def group(self, area: str) -> list[Dock]:
        """Return the docks at a place, open or closed, in the order of their tabs."""
        return [self.docks[name] for name in self._order if self.docks[name].area == area]

    def reset_layout(self) -> None:
        """Put every dock where the layout Code has it, and every column of a table where it is at first."""
        self._windows = {}
        for dock in self.docks.values():
            dock.reset_columns()
        self.use_layout(LAYOUTS[0])

    def use_layout(self, layout: Layout) -> None:
        """Put every dock where a layout has it, and show the panels present from the start."""
        self.layout_, self._order, self._asked = layout, self._usual_order(), frozenset()
        for dock in self.docks.values():
            dock.area = layout.moved.get(dock.info.id, dock.home)
            dock.is_open = dock.info.is_at_start or self._appears(dock)
        self._measure()
        self._arrange()
        for group in self._groups.values():
            group.setCurrentIndex(next((at for at, dock in enumerate(group.docks()) if dock.is_open), -1))
        for name in layout.front:
            self.bring_to_front(name)

    def _measure(self) -> None:
        """Fold what the layout does not open, and fit it to the height: now, or when first shown."""
        room = self if self.isVisible() else self.window()
        self._is_measured = room.isVisible()
        is_compact = self._is_measured and room.width() < layouts.COMPACT_WIDTH
        closed = {part for part in FOLDABLE if part == "bottom" or is_compact}
        self.folded, self.is_only_code = frozenset(closed.difference(self.layout_.opens)), False
        if self._is_measured:
            self.layout_ = layouts.fitted(self.layout_, room.height())

    def _appears(self, dock: Dock) -> bool:
        trace = self._ui.session.trace.value
        return dock.info.appears and trace is not None and all(has(trace, what) for what in dock.info.needs)

    def _trace_changed(self) -> None:
        """Show the panels for which another capture has data, and give room to places that need it."""
        trace = self._ui.session.trace.value
        for dock in self.docks.values():
            if dock.info.appears:
                dock.is_open = self._appears(dock)
        if trace is not None:
            self.is_only_code = False
            self._most, self._without_data = layouts.most_px(trace), layouts.without_data(trace)
        self._arrange()

    def _shows(self, area: str) -> bool:
        """Return whether a place is in the window: it has an open panel with data, and is not folded."""
        side = next((side for side, areas in SIDES.items() if area in areas), "")
        is_hidden = side in self.folded or (self.is_only_code and area not in CODE_AREAS)
        empty = self._without_data - self._asked
        has_data = any(dock.is_open and dock.home not in empty for dock in self.group(area))
        return has_data and not is_hidden

    def _arrange(self) -> None:
        """Show every panel at its place, and give every place its size."""
        focus = QApplication.focusWidget()
        was_arranging, self._is_arranging = self._is_arranging, True
        try:
            for area, group in self._groups.items():
                group.take(self.group(area))
                group.setVisible(self._shows(area))
            self._groups["bottom"].fold(self.is_bottom_folded)
            for name, areas in (("code", CODE_AREAS), ("right", SIDES["right"])):
                self.splitters[name].setVisible(any(map(self._shows, areas)))
            for strip in self.group(STRIP):
                strip.setVisible(self._shows(STRIP))
            for side, bar in self.bars.items():
                docks = [dock for area in SIDES[side] for dock in self.group(area) if dock.is_open]
                bar.fill(docks if side in self.folded else ())
                bar.setVisible(side in self.folded and bool(docks) and not self.is_only_code)
            self._show_windows()
            self._fit()
        finally:
            self._is_arranging = was_arranging
        if focus is not None and isValid(focus) and focus is not QApplication.focusWidget():
            focus.setFocus()  # Qt drops it when a widget gets another parent
        self.panels_changed.emit()

    def _show_windows(self) -> None:
        """Show the panels that have windows of their own, at first over the upper right of the workspace."""
        size = layouts.APART_PX.boundedTo(self.size() * 0.9)
        first = QRect(self.mapToGlobal(QPoint(max(0, self.width() - size.width() - 24), 24)), size)
        for dock in self.docks.values():
            if dock.area == APART:
                if not dock.isWindow() or dock.parent() is not self:
                    dock.setParent(self, Qt.WindowType.Tool)
                if dock.is_open and self.isVisible() and dock.isHidden():
                    dock.setGeometry(self._windows.get(dock.info.id, first))
                    dock.show()
                elif not (dock.is_open and self.isVisible()):
                    self._note_windows()
                    dock.hide()

    def _note_windows(self) -> None:
        for dock in self.group(APART):
            if dock.isVisible():
                self._windows[dock.info.id] = dock.geometry()

    def _fit(self) -> None:
        for splitter in self.splitters.values():
            splitter.fit()

    def _shown(self) -> Shown:
        folded_px = self._groups["bottom"].bar_px if self.is_bottom_folded else 0
        return Shown([*filter(self._shows, self._groups)], self._most, folded_px)

    def _dragged(self, split: PlaceSplitter, _place: int, index: int) -> None:
        """Keep the sizes that a handle gave to the places beside it."""
        is_down = split.orientation() == DOWN
        for part in split.neighbours(index):
            place = self._places.get(part)
            if place is not None and not (place == "bottom" and self.is_bottom_folded):
                px = part.height() if is_down else part.width()
                self.layout_ = layouts.dragged(self.layout_, place, px, split.room, self._most)
        split.fit()

    def grow(self, width: int, height: int) -> None:
        """Enlarge the focused panel by px; negative values shrink it."""
        dock = self._focused()
        wanted = {ACROSS: width, DOWN: height}
        part: QWidget = dock
        around = dock.parentWidget()
        while around is not None and around is not self and not part.isWindow():
            if isinstance(around, PlaceSplitter) and around.grow(part, wanted[around.orientation()]):
                wanted[around.orientation()] = 0
            part, around = around, around.parentWidget()

    def pin_time(self) -> None:
        """Show a second time view below the first, or put it back among its tabs; the rest stays.

        The view in front goes below; if it is the first of its tabs, the next one does.  What was in front
        is in front again when it is put back.
        """
        self.is_only_code = False
        above, pinned = self._groups["time"], self.group("time_below")
        for dock in pinned:
            dock.area = dock.home if dock.home != "time_below" else "time"
        if not pinned:
            views = sorted(self.group("time"), key=lambda view: not view.is_open)
            other = next((view for view in views[1:] if view is above.front), views[1])
            self._before_pin = above.front
            other.area, other.is_open = "time_below", True
        front = (self._before_pin or above.front) if pinned else views[0]
        self._arrange()
        if front is not None:
            above.setCurrentWidget(front)

    def move_panel(self, name: str, area: str) -> None:
        """Move a panel to another place, and bring it to the front there."""
        dock = self.homes[name]
        dock.area = area
        self._order = [other for other in self._order if other != dock.info.id] + [dock.info.id]
        self.show_panel(name)

    def menu_of(self, dock: Dock) -> QMenu:
        """Return a new menu that closes a panel or moves it."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        add_action(menu, "What this panel shows", partial(self.explain, dock))
        add_action(menu, "Close", dock.close)
        places = menu.addMenu(button_text("Move to"))
        for area, title in TITLES.items():
            action = add_action(places, title, partial(self.move_panel, dock.info.id, area))
            allow(action, "The panel is there." if area == dock.area else "")
        return menu

    def move_focused(self) -> None:
        """Show the menu that moves the focused panel."""
        dock = self._focused()
        self.menu_of(dock).popup(dock.mapToGlobal(QPoint(0, 0)))

    def explain(self, dock: Dock | None = None) -> None:
        """Say at the top of a panel, by default the focused, what it shows, until a click or a key."""
        dock = dock or self._focused()
        show_explanation(dock.mapToGlobal(QPoint(dock.width() // 4, 0)), dock.info.about, dock)

    @property
    def is_bottom_folded(self) -> bool:
        """Return whether only the tabs of the bottom are shown."""
        return "bottom" in self.folded

    def fold(self, part: str, is_folded: bool) -> None:
        """Fold a side to icons or the bottom to its tabs, or unfold it."""
        if is_folded != (part in self.folded):
            self.is_only_code = False
            self.folded = self.folded | {part} if is_folded else self.folded - {part}
            self._arrange()

    def toggle_only_code(self) -> None:
        """Give instructions and source all the room, or restore everything else."""
        self.is_only_code = not self.is_only_code
        self._arrange()

    def bring_to_front(self, name: str) -> None:
        """Show an open panel or part in front of the tabs of its place, which may be folded."""
        dock = self.homes[name]
        if name != dock.info.id:
            dock.show_part(name)
        if dock.area == APART:
            dock.raise_()
        elif dock.is_open and dock.area in self._groups:
            self._groups[dock.area].setCurrentWidget(dock)

    def show_panel(self, name: str) -> None:
        """Bring a panel or a part to the front, and unfold its place.

        An area stands for any of its panels: the visible panel, else the first.
        """
        dock = self.homes.get(name)
        if dock is None and (docks := self.group(name)):
            dock = next((one for one in docks if one.is_seen), docks[0])
            name = dock.info.id
        if dock is None:
            return
        if dock.area not in (*CODE_AREAS, APART):
            self.is_only_code = False
        dock.is_open = True
        self._asked |= self._without_data & {dock.home}  # it says why it shows nothing
        part = next((side for side, areas in SIDES.items() if dock.area in areas), dock.area)
        self.folded -= {part}
        self._arrange()
        self.bring_to_front(name)

    def close_panel(self, name: str) -> None:
        """Close a panel; a panel in a window that is not its home goes back among the tabs."""
        dock = self.homes[name]
        self._note_windows()
        if dock.area == APART and dock.home != APART:
            dock.area = dock.home
        else:
            dock.is_open = False
            self._asked -= {dock.home}
            self._closed = [*(other for other in self._closed if other != dock.info.id), dock.info.id]
        self._arrange()

    def show_broken(self, panel: Panel, report: str) -> None:
        """Show a sentence in the place of a panel that failed."""
        for dock in self.docks.values():
            if dock.made is not None and (dock.made is panel or dock.made.isAncestorOf(panel)):
                dock.show_broken(report)

    def toggle_panel(self, name: str, by_key: bool = False) -> None:
        """Close a panel that is in front; bring any other to the front and focus it.

        A key closes only the focused panel, and otherwise moves the focus there: its user wants to get to the
        panel.
        """
        dock = self.homes[name]
        is_front = dock.is_seen and dock.is_showing(name)
        if is_front and by_key and not dock.has_focus():
            dock.take_focus()
        elif is_front:
            dock.close()
        else:
            self.show_panel(name)
            dock.take_focus()

    @property
    def closed(self) -> list[str]:
        """Return the panels that were closed and not opened since, the last last."""
        return [name for name in self._closed if not self.is_shown(name)]

    def reopen_panel(self) -> None:
        """Show the panel that was closed last, where it was."""
        if closed := self.closed:
            self.show_panel(closed[-1])

    def is_shown(self, name: str) -> bool:
        """Return whether a panel is open, in front or not; for a part, whether it is shown."""
        dock = self.homes[name]
        return dock.is_open and dock.is_showing(name)

    def _focused(self) -> Dock:
        """Return the dock with the focus, else that of the main view."""
        return next((dock for dock in self.docks.values() if dock.has_focus()), self.docks[self.main])

    def show_main(self) -> None:
        """Focus the main view."""
        self.show_panel(self.main)
        self.docks[self.main].take_focus()

    def make_first_panels(self, seen: object) -> None:
        """Make the panels seen last, by their ids; if there are none, the first panel of each open place.

        A wrong guess costs only time: a panel that is seen later is made then.
        """
        shown = [group for area, group in self._groups.items() if self._shows(area) and not group.is_folded]
        first = [group.front.info.id for group in shown if group.front is not None]
        for name in seen.split() if isinstance(seen, str) else first:
            if name in self.homes:
                _ = self.homes[name].panel

    def _tabs_changed(self, group: TabGroup) -> None:
        if not self._is_arranging:
            names = [dock.info.id for dock in group.docks()]
            moved = iter(names)
            self._order = [next(moved) if name in names else name for name in self._order]
            self.panels_changed.emit()

    def save(self) -> dict[str, Any]:
        """Return the layout as plain JSON values: sizes, places, and what is open, in front and folded."""
        self._note_windows()
        docks, layout = self.docks.values(), self.layout_
        front = [group.front.info.id for group in self._groups.values() if group.front is not None]
        return {
            "layout": layout.id,
            "sizes": {name: getattr(layout, name) for name in (*layouts.SHARES, *layouts.PIXELS)},
            "limited": dict(layout.limited),
            "areas": {dock.info.id: dock.area for dock in docks if dock.area != dock.home},
            "order": self._order,
            "open": {dock.info.id: dock.is_open for dock in docks if not dock.info.appears},
            "front": front,
            "folded": sorted(self.folded),
            "asked": sorted(self._asked),
            "is_wide": self.width() >= layouts.COMPACT_WIDTH,
            "windows": {name: at.getRect() for name, at in self._windows.items()},
        }

    def load(self, kept: Mapping[str, Any]) -> None:
        """Restore what `save` returned; leave out what does not fit."""
        self.use_layout(layouts.BY_ID.get(str(kept.get("layout")), LAYOUTS[0]))
        self.layout_ = layouts.resized(self.layout_, _of(kept, "sizes", {}), _of(kept, "limited", {}))
        areas = _of(kept, "areas", {})
        for name, dock in self.docks.items() if "areas" in kept else ():
            area = str(areas.get(name))
            dock.area = area if area in TITLES and not dock.is_strip else dock.home
        for name, is_open in _of(kept, "open", {}).items():
            if name in self.docks and not self.docks[name].info.appears:
                self.docks[name].is_open = is_open is True
        known = [name for name in map(str, _of(kept, "order", [])) if name in self.docks]
        self._order = [*dict.fromkeys([*known, *self._order])]
        rects = _of(kept, "windows", {}).items()
        self._windows = {name: QRect(*at) for name, at in rects if name in self.docks and _is_on_screen(at)}
        self.folded = frozenset(part for part in FOLDABLE if part in _of(kept, "folded", []))
        self._asked = frozenset(map(str, _of(kept, "asked", [])))
        self._is_measured, self._had_room = True, kept.get("is_wide") is True
        self._arrange()
        for name in map(str, _of(kept, "front", [])):
            if name in self.docks and self.docks[name].is_open:
                self.bring_to_front(name)

    def parts(self) -> list[QWidget]:
        """Return the parts of the window: panels in front, bars of icons and tabs; columns from the left."""
        docks = [dock for dock in self.docks.values() if not dock.isWindow()]
        parts = [part for part in (*docks, *self.bars.values(), *self.tab_bars()) if part.isVisible()]
        return sorted(parts, key=lambda part: part.mapTo(self, QPoint(0, 0)).toTuple())

    def tab_bars(self) -> list[QTabBar]:
        """Return the tab bars of all places."""
        return [group.tabBar() for group in self._groups.values()]

    def showEvent(self, event: QShowEvent) -> None:
        """Measure when first shown: a hidden page has no room to measure by."""
        super().showEvent(event)
        if not self._is_measured:
            self._measure()
        elif self._had_room and not self._curtain.was_down and self.width() < layouts.COMPACT_WIDTH:
            self.folded |= frozenset(SIDES)  # a wide window was saved, and this one is small
        self._arrange()
        if not self._curtain.was_down:
            self._curtain.fall()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._curtain.fit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._show_windows()

    @property
    def is_waking(self) -> bool:
        """Return whether a panel is about to be made, or to do work deferred while it was hidden."""
        made = (dock.made for dock in self.docks.values())
        is_any = any(panel is not None and panel.visibility.is_waking for panel in made)
        return is_any or self._make_timer.isActive() or self._curtain.is_down

    def _make_seen(self) -> None:
        """Make the panels in front: at first all at once, later one by one, painting between."""
        if not isValid(self):
            return
        seen = [dock for dock in self.docks.values() if dock.is_seen]
        new = [dock for dock in seen if dock.made is None]
        if new and self._has_woken:
            _ = new[0].panel
            self._make_timer.start(0)
            return
        for dock in seen:
            dock.panel.visibility.wake()
            self._has_woken = True


Value = TypeVar("Value", list[Any], dict[str, Any])


def _of(kept: Mapping[str, Any], name: str, otherwise: Value) -> Value:
    """Return a saved value of the kind of another, which is returned if it is something else."""
    value = kept.get(name)
    return value if isinstance(value, type(otherwise)) else otherwise


def _is_on_screen(value: Any) -> bool:
    """Return whether a saved value is a rectangle in px (x, y, width, height) with its middle on a screen."""
    is_rect = isinstance(value, list) and len(value) == 4 and all(isinstance(px, int) for px in value)
    is_near = is_rect and all(abs(px) < FAR_PX for px in value)
    return is_near and QApplication.screenAt(QRect(*value).center()) is not None
