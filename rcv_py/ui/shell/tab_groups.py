"""The frames of the workspace: groups of tabs, splitters that know sizes of their parts, bars of icons."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QTabWidget, QToolBar, QToolButton, QWidget

from rcv_py.base.text import translated
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import button_text, tooltip, wrapped_tip
from rcv_py.ui.shell.docks import Dock

ICON_PX = 16


class TabGroup(QTabWidget):
    """The panels of a place as tabs.  The tab of a closed panel is hidden and keeps its place."""

    clicked = Signal(bool)  # a tab was clicked with the left button; whether it was in front before
    menu_asked = Signal(Dock, QPoint)  # the panel, and a point of the screen
    changed = Signal()  # another panel came to the front, or the order changed

    def __init__(self, area: str) -> None:
        super().__init__()
        self.setDocumentMode(True)
        self.setMovable(True)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        self.setMinimumSize(1, 1)  # instead of the minimum of the tallest panel: the layout decides
        direct = Qt.FindChildOption.FindDirectChildrenOnly
        (self._pages,) = self.findChildren(QStackedWidget, options=direct)
        bar = self.tabBar()
        bar.setObjectName(f"tabs_{area}")
        bar.setDrawBase(False)
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        bar.customContextMenuRequested.connect(self._ask_menu)
        bar.tabBarClicked.connect(self._bar_clicked)
        bar.tabMoved.connect(self.changed)
        self.currentChanged.connect(self.changed)

    def docks(self) -> Iterator[Dock]:
        """Yield the panels in the order of their tabs, with the closed ones."""
        for at in range(self.count()):
            dock = self.widget(at)
            assert isinstance(dock, Dock)
            yield dock

    @property
    def front(self) -> Dock | None:
        """Return the open panel in front, None if there is none."""
        dock = self.currentWidget()
        return dock if isinstance(dock, Dock) and dock.is_open else None

    @property
    def is_folded(self) -> bool:
        """Return whether only the tabs are shown."""
        return self._pages.isHidden()

    @property
    def bar_px(self) -> int:
        """Return the height of the tabs."""
        return max(1, self.tabBar().sizeHint().height())

    def take(self, docks: Sequence[Dock]) -> None:
        """Hold exactly these panels, in this order; the panel in front stays there if it can."""
        front = self.front
        for at, dock in enumerate(docks):
            here = self.indexOf(dock)
            if here < 0:
                self.insertTab(at, dock, button_text(dock.info.title))
                self.setTabToolTip(at, wrapped_tip(dock.info.about))
            elif here != at:
                self.tabBar().moveTab(here, at)
            self.setTabVisible(at, dock.is_open)
        if front is not None and front in docks:
            self.setCurrentWidget(front)

    def fold(self, is_folded: bool) -> None:
        """Show only the tabs, or the panel in front as well."""
        self._pages.setVisible(not is_folded)

    def _bar_clicked(self, at: int) -> None:
        if at >= 0 and QGuiApplication.mouseButtons() == Qt.MouseButton.LeftButton:
            self.clicked.emit(at == self.currentIndex())

    def _ask_menu(self, place: QPoint) -> None:
        bar = self.tabBar()
        at = bar.tabAt(place)
        dock = self.widget(at if at >= 0 else self.currentIndex())
        if isinstance(dock, Dock):
            self.menu_asked.emit(dock, bar.mapToGlobal(place))


class PlaceSplitter(QSplitter):
    """Parts in a row or a column, with the sizes that a function returns for their room in px; hidden: 0."""

    def __init__(
        self, way: Qt.Orientation, parts: Sequence[QWidget], sizes: Callable[[int], Sequence[int]]
    ) -> None:
        super().__init__(way)
        self._parts, self._sizes = tuple(parts), sizes
        for part in parts:
            self.addWidget(part)
        self.setChildrenCollapsible(False)
        self.setMinimumSize(1, 1)

    @property
    def room(self) -> int:
        """Return the px that the shown parts share."""
        shown = sum(not part.isHidden() for part in self._parts)
        length = self.width() if self.orientation() == Qt.Orientation.Horizontal else self.height()
        return max(1, length - self.handleWidth() * max(0, shown - 1))

    def fit(self) -> None:
        """Give all parts their sizes."""
        self.setSizes(list(self._sizes(self.room)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def neighbours(self, index: int) -> list[QWidget]:
        """Return the shown part before a handle, if any, and the part after it."""
        before = [part for part in self._parts[:index] if not part.isHidden()]
        return [*before[-1:], self._parts[index]]

    def grow(self, part: QWidget, px: int) -> bool:
        """Make a part larger by px at the cost of its neighbour; return False if it has none."""
        here = self._parts.index(part)
        after = (at for at in range(here + 1, len(self._parts)) if _has_size(self._parts[at]))
        handle = next(after, here if any(map(_has_size, self._parts[:here])) else 0)
        if handle:
            at = self.handle(handle).pos()
            from_start = at.x() if self.orientation() == Qt.Orientation.Horizontal else at.y()
            self.moveSplitter(from_start + (px if handle > here else -px), handle)
        return handle > 0


def _has_size(part: QWidget) -> bool:
    """Return whether a user can give a part of a splitter another size."""
    return not part.isHidden() and not (isinstance(part, TabGroup) and part.is_folded)


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
