"""What a panel is, and how panels are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from rcv_py.base.registry import Registry
from rcv_py.state.commands import Command

if TYPE_CHECKING:
    from rcv_py.ui.kit.context import UiContext


WAKE_MS = 20  # a panel that is seen for less than that, while Qt lays out tabs, does not wake up


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table for CSV and the clipboard: headers, and rows of plain values."""

    title: str
    headers: tuple[str, ...]
    rows: Iterable[tuple[Any, ...]]


class Panel(QWidget):
    """A view of the session.  It sets the session and watches the session, and calls no other panel.

    Subclasses are made with the `UiContext`, computed data comes through `ui.tasks`, colours from
    `ui.theme`.  All methods below are optional.
    """

    wants = Signal(str)  # id of a panel that should come to the front, since it shows what was asked for

    def __init__(self, ui: UiContext) -> None:
        super().__init__()
        self.ui = ui
        self.session = ui.session
        self._may_sleep = False
        self._is_in_front = True
        self._on_wake: dict[object, Callable[[], None]] = {}

    # -- sleeping -----------------------------------------------------------------------------------

    @property
    def is_asleep(self) -> bool:
        """Whether nobody can see the panel, so that it need not compute: behind another tab, or closed."""
        return self._may_sleep and not (self._is_in_front and self.isVisible())

    def allow_sleep(self) -> None:
        """The panel is part of a window from now on, which hides it at times."""
        self._may_sleep = True

    @property
    def is_waking(self) -> bool:
        """Whether something that was put off will be done in a moment."""
        return bool(self._on_wake) and not self.is_asleep

    def set_in_front(self, is_in_front: bool) -> None:
        """Whether its tab is the one that shows: Qt does not hide what is behind it, but moves it away."""
        self._is_in_front = is_in_front
        if is_in_front:
            self._wake_soon()

    def on_wake(self, key: object, call: Callable[[], None]) -> None:
        """Call once, as soon as somebody can see the panel again; of the same key only the newest."""
        self._on_wake[key] = call

    def showEvent(self, event: QShowEvent) -> None:
        """Do what was put off while nobody could see it."""
        super().showEvent(event)
        self._wake_soon()

    def _wake_soon(self) -> None:
        if self._on_wake:
            QTimer.singleShot(WAKE_MS, self, self._wake)

    def _wake(self) -> None:
        if self.is_asleep:
            return
        calls, self._on_wake = self._on_wake, {}
        for call in calls.values():
            call()

    # -- what a panel offers ------------------------------------------------------------------------

    def commands(self) -> tuple[Command, ...]:
        """Extra actions for menus and palette."""
        return ()

    def sheet(self) -> Sheet | None:
        """The panel's table, for CSV export and copying; None if it has none."""
        return None

    def canvas(self) -> QWidget:
        """The widget a picture of this panel shows."""
        return self

    def caption(self) -> str:
        """What the picture's caption says besides trace, wave and range."""
        return ""

    def save_state(self) -> dict[str, Any]:
        """Return column widths, open branches and the like, as plain JSON values."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned; ignore what does not fit."""

    def focus_search(self) -> bool:
        """Put the cursor into the panel's own search field (Ctrl+F); False if it has none."""
        return False


@dataclass(frozen=True, slots=True)
class PanelInfo:
    """A panel class with its place.

    `area`: top, left, left_bottom, center, center_right, bottom, right, right_center, right_bottom.
    """

    id: str
    title: str
    area: str
    order: int
    make: Callable[[UiContext], Panel]
    tip: str


PANELS: Registry[PanelInfo] = Registry("panel")


def panel(*, id: str, title: str, area: str, order: int = 50, tip: str = "") -> Callable[[type], type]:
    """Class decorator: register a panel under `id`; panels of an area are tabs sorted by `order`."""

    def register(kind: type) -> type:
        PANELS.add(id, PanelInfo(id, title, area, order, kind, tip or (kind.__doc__ or "").split("\n")[0]))
        kind.panel_id = id
        return kind

    return register


def discover() -> Registry[PanelInfo]:
    """Import every module of `rcv_py.ui.panels` and return the registry."""
    package = importlib.import_module("rcv_py.ui.panels")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return PANELS
