"""What a panel is, and how panels are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget

from rcv_py.base.csv_text import csv_text
from rcv_py.base.registry import Registry
from rcv_py.state.commands import Command

if TYPE_CHECKING:
    from rcv_py.ui.core.context import UiContext

COPY_AS_COMMAND = "Copy as command"
WAKE_MS = 10  # Qt shows every tab for a moment while it lays them out


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table for CSV and the clipboard: headers, and rows of plain values."""

    title: str
    headers: tuple[str, ...]
    rows: Iterable[tuple[Any, ...]]

    def csv(self, separator: str = ",") -> str:
        """The table as CSV with a line of headings; plain numbers, no grouping."""
        return csv_text(self.headers, self.rows, separator)


class Panel(QWidget):
    """A view of the session.  It sets the session and watches the session, and calls no other panel.

    Subclasses are made with the `UiContext`, computed data comes through `ui.tasks`, colours from
    `ui.theme`.  All methods below are optional.
    """

    wants = Signal(str)  # id of a panel that should come to the front, since it shows what was asked for
    copy_asked = Signal()  # copy what the panel shows as a command

    def __init__(self, ui: UiContext) -> None:
        super().__init__()
        self.ui = ui
        self.session = ui.session
        self._may_sleep = self._is_seen = False
        self._is_in_front = True
        self._held = 0
        self._on_wake: dict[object, tuple[Callable[[], None], bool]] = {}
        self._wake_timer = QTimer(self, singleShot=True, interval=WAKE_MS)
        self._wake_timer.timeout.connect(self._wake)
        self.session.trace.watch(self._forget_put_off)

    # -- sleeping -----------------------------------------------------------------------------------

    @property
    def is_asleep(self) -> bool:
        """Whether nobody can see the panel, so that it need not compute: behind a tab, folded, or closed.

        Qt calls a panel behind another tab visible and moves it out of the window; only its dock knows.  A
        panel without a dock never sleeps.
        """
        return self._may_sleep and not self._is_seen and not self._held

    @property
    def has_put_off(self) -> bool:
        """Whether something waits for somebody to look."""
        return bool(self._on_wake)

    @property
    def is_waking(self) -> bool:
        """Whether something that was put off will be done in a moment."""
        return bool(self._on_wake) and self._wake_timer.isActive()

    def allow_sleep(self) -> None:
        """The panel is part of a window from now on, which hides it at times."""
        self._may_sleep = True
        self._look()

    def set_in_front(self, is_in_front: bool) -> None:
        """Its dock says whether it is in front of the other tabs, if it is shown at all."""
        self._is_in_front = is_in_front
        self._look()

    def on_wake(self, key: object, call: Callable[[], None], *, is_lasting: bool = False) -> None:
        """Call once, when somebody can see the panel again; a newer call of a key replaces the older.

        Unless it is lasting, it is about the capture that is open, and forgotten with it.
        """
        self._on_wake[key] = (call, is_lasting)

    def puts_off(self, call: Callable[[], None]) -> bool:
        """Whether nobody can see the panel; if so, `call` is made as soon as somebody can."""
        if self.is_asleep:
            self.on_wake(call, call, is_lasting=True)
            return True
        return False

    def keep_awake(self) -> None:
        """Compute from now on, whether or not somebody looks."""
        self._may_sleep = False
        self._do_put_off()

    @contextmanager
    def held_awake(self) -> Iterator[None]:
        """Let the panel compute for as long as this lasts, though nobody sees it: for a picture, a table."""
        self._held += 1
        try:
            self._do_put_off()
            yield
        finally:
            self._held -= 1

    def showEvent(self, event: QShowEvent) -> None:
        """Soon do what was put off while nobody could see it."""
        super().showEvent(event)
        self._look()

    def hideEvent(self, event: QHideEvent) -> None:
        """Put off from now on what can wait."""
        super().hideEvent(event)
        self._look()

    def _look(self) -> None:
        if not (self.isVisible() and self._is_in_front):
            self._is_seen = False
            self._wake_timer.stop()
        elif not self._is_seen and not self._wake_timer.isActive():
            self._wake_timer.start()

    def _wake(self) -> None:
        self._is_seen = True
        self._do_put_off()

    def _do_put_off(self) -> None:
        put_off, self._on_wake = self._on_wake, {}
        for call, _ in put_off.values():
            call()

    def _forget_put_off(self) -> None:
        self._on_wake = {key: entry for key, entry in self._on_wake.items() if entry[1]}

    # -- what a panel offers ------------------------------------------------------------------------

    def commands(self) -> tuple[Command, ...]:
        """Extra actions for menus and palette."""
        return ()

    def sheet(self) -> Sheet | None:
        """The panel's table, for CSV export and copying; None if it has none."""
        return None

    def command_line(self) -> tuple[str, ...] | None:
        """The words of the `rcv` command that prints the numbers shown now; None if nothing is shown.

        Every panel has one: made by `ui/table/command_text.py` from filters, order, range, wave and modes.
        """
        return None

    def add_copy(self, menu: QMenu) -> None:
        """Add "Copy as command" to a menu of the panel."""
        action = menu.addAction(COPY_AS_COMMAND, self.copy_asked.emit)
        action.setEnabled(self.command_line() is not None)

    @property
    def copy_action(self) -> tuple[str, Callable[[], None]]:
        """The same as a title and what it does, for menus that timelines make."""
        return COPY_AS_COMMAND, self.copy_asked.emit

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the command where nothing inside of the panel has a menu of its own."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.add_copy(menu)
        menu.popup(event.globalPos())

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
    """Import every panel, a module of `rcv_py.ui.panels` or `panel.py` of a package; return the registry."""
    package = importlib.import_module("rcv_py.ui.panels")
    for module in pkgutil.iter_modules(package.__path__):
        inside = ".panel" if module.ispkg else ""
        importlib.import_module(f"{package.__name__}.{module.name}{inside}")
    return PANELS
