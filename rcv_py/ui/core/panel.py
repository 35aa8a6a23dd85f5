"""What a panel is, and how panels are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget

from rcv_py.base.csv_text import csv_text
from rcv_py.base.registry import Registry
from rcv_py.state.commands import Command
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.visibility import Coalesce, Visibility

COPY_AS_COMMAND = "Copy as command"

Result = TypeVar("Result")
Kind = TypeVar("Kind", bound="type[Panel]")


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

    Subclasses are made with the `UiContext`, computed data comes through `run_job` and `want_result`, colours
    from `ui.theme`.  All methods below are optional.
    """

    panel_id: ClassVar[str] = ""  # under which it is registered
    wants = Signal(str)  # id of a panel that should come to the front, since it shows what was asked for
    copy_asked = Signal()  # copy what the panel shows as a command

    def __init__(self, ui: UiContext) -> None:
        super().__init__()
        self.ui = ui
        self.session = ui.session
        self.visibility = Visibility(self)
        self.session.trace.watch(self.visibility.forget)

    # -- computing while somebody can see it --------------------------------------------------------

    def run_job(self, job: Callable[[], Result], done: Callable[[Result], None], topic: str = "") -> None:
        """Run `job` in a thread and give its answer to `done`, unless a newer job of the topic was run.

        While nobody can see the panel that is put off.
        """
        self.ui.tasks.run(self, job, done, topic, visibility=self.visibility)

    def want_result(self, name: str) -> None:
        """Keep a shared result up to date for as long as this capture is open and somebody sees the panel."""
        self.ui.results.want(name, self.visibility)

    def coalesced(self, call: Callable[[], None], every_ms: int = 0) -> Coalesce:
        """Return what makes one call of a burst, and none while nobody can see the panel."""
        return Coalesce(self, call, every_ms, visibility=self.visibility)

    def puts_off(self, call: Callable[[], None]) -> bool:
        """Whether nobody can see the panel; if so, `call` is made as soon as somebody can."""
        return self.visibility.puts_off(call)

    def showEvent(self, event: QShowEvent) -> None:
        """Soon do what was put off while nobody could see it."""
        super().showEvent(event)
        self.visibility.look()

    def hideEvent(self, event: QHideEvent) -> None:
        """Put off from now on what can wait."""
        super().hideEvent(event)
        self.visibility.look()

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


def panel(*, id: str, title: str, area: str, order: int = 50, tip: str = "") -> Callable[[Kind], Kind]:
    """Class decorator: register a panel under `id`; panels of an area are tabs sorted by `order`."""

    def register(kind: Kind) -> Kind:
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
