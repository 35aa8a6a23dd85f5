"""Makes pictures, tables and commands of what is in the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QDeadlineTimer, QEventLoop, Qt, QThread
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from rcv_py.base.errors import ExportError, RcvError, UsageError
from rcv_py.ui.core import export
from rcv_py.ui.core.coalesce import Coalesce
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Panel, Sheet
from rcv_py.ui.core.plain_text import copy_text
from rcv_py.ui.shell.dialogs.error_box import ErrorDesk
from rcv_py.ui.shell.docks import Workspace
from rcv_py.ui.table import command_text

WINDOW = "window"  # stands for the whole window where a panel's id is asked for
PATIENCE_MS = 20_000  # for the numbers of a panel that slept
TURN_MS = 10


class Exporter:
    """Makes pictures and tables of what is in the window."""

    def __init__(
        self,
        ui: UiContext,
        window: QMainWindow,
        workspace: Workspace,
        errors: ErrorDesk,
    ) -> None:
        self.ui = ui
        self.window = window
        self.workspace = workspace
        self.errors = errors

    # -- what there is -------------------------------------------------------------------------------

    def names(self) -> dict[str, str]:
        """Titles of everything that can be a picture, by id: the window first."""
        return {WINDOW: "Whole window"} | {
            name: dock.info.title for name, dock in self.workspace.docks.items()
        }

    def check_name(self, name: str) -> None:
        """Raise UsageError if there is no panel of that id."""
        if name not in self.names():
            raise UsageError(f"There is no panel {name!r}.", hint=f"Panels: {', '.join(self.names())}.")

    def current(self) -> str:
        """The panel that has the focus, else the window."""
        focus: QWidget | None = QApplication.focusWidget()
        while focus is not None and not isinstance(focus, Panel):
            focus = focus.parentWidget()
        return next((name for name, dock in self.workspace.docks.items() if dock.panel is focus), WINDOW)

    def sheet(self, name: str) -> Sheet:
        """The table of a panel; raise ExportError if it has none."""
        sheet = None if name == WINDOW else self.workspace.docks[name].panel.sheet()
        if sheet is None:
            raise ExportError(
                f"{self.names()[name]} has no table.", hint="Choose a panel that shows a table, such as ISA."
            )
        return sheet

    def has_sheet(self, name: str) -> bool:
        """Whether a panel has a table just now; one that nobody sees may have."""
        panel = None if name == WINDOW else self.workspace.docks[name].panel
        return panel is not None and (panel.visibility.is_asleep or panel.sheet() is not None)

    # -- making --------------------------------------------------------------------------------------

    def content(self, name: str, suffix: str, scale: int = 1) -> bytes:
        """Return a file: `.png`, `.svg` or `.csv` of a panel or the window."""
        makers: dict[str, Callable[[], bytes]] = {
            ".png": lambda: export.png_bytes(self.image(name, scale)),
            ".svg": lambda: export.svg_bytes(self._widget(name), self.ui.theme, self._caption(name)),
            ".csv": lambda: self.sheet(name).csv().encode(),
        }
        if suffix.lower() not in makers:
            raise ExportError(
                f"{suffix or 'A name without an ending'} is no kind of file that can be written.",
                hint=f"Use a name that ends in {', '.join(makers)}.",
            )
        with self._awake(name):
            return makers[suffix.lower()]()

    def image(self, name: str, scale: int = 1) -> QImage:
        """Return the picture of a panel or the window."""
        return export.picture(self._widget(name), self.ui.theme, self._caption(name), scale)

    def save(self, name: str, path: Path, scale: int = 1) -> None:
        """Write a file whose kind is told by the ending of its name; raise ExportError if that cannot be."""
        export.write(path, lambda: self.content(name, path.suffix, scale))

    def copy_picture(self, name: str, scale: int = 2) -> None:
        """Put a picture on the clipboard."""
        with self._awake(name):
            QApplication.clipboard().setImage(self.image(name, scale))
        self.window.statusBar().showMessage(f"Copied a picture of: {self.names()[name].lower()}.", 3000)

    def copy_table(self, name: str) -> None:
        """Put a table on the clipboard, with tabs between its cells."""
        with self._awake(name):
            copy_text(self.sheet(name).csv("\t"))
        self.window.statusBar().showMessage(f"Copied the table of: {self.names()[name].lower()}.", 3000)

    def command_line(self, name: str) -> tuple[str, ...] | None:
        """The words of the command that prints what a panel shows; of the window, those that open it."""
        if name != WINDOW:
            return self.workspace.docks[name].panel.command_line()
        return command_text.rcv(self.ui.session, "view")

    def copy_command(self, name: str) -> None:
        """Put the command on the clipboard; raise ExportError if the panel shows nothing."""
        words = self.command_line(name)
        if words is None:
            raise ExportError(
                f"{self.names()[name]} shows nothing that a command could print.",
                hint="Choose what it asks for first.",
            )
        text = command_text.line(words)
        copy_text(text)
        self.window.statusBar().showMessage(f"Copied: {text}", 6000)

    def guarded(self, action: Callable[[], None]) -> None:
        """Do it, and tell the user why not if it cannot be done."""
        try:
            action()
        except RcvError as error:
            self.errors.show(error)

    @contextmanager
    def _awake(self, name: str) -> Iterator[None]:
        """Wait for the numbers of a panel that nobody sees; it may have computed nothing yet."""
        panel = None if name == WINDOW else self.workspace.docks[name].panel
        if panel is None or not panel.visibility.is_asleep:
            yield
            return
        QApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
        try:
            with panel.visibility.held_awake():
                patience = QDeadlineTimer(PATIENCE_MS)
                while self._is_computing(panel) and not patience.hasExpired():
                    QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents, TURN_MS)
                    QThread.msleep(TURN_MS)  # or this loop would keep Python from the job it waits for
                yield
        finally:
            QApplication.restoreOverrideCursor()

    def _is_computing(self, panel: Panel) -> bool:
        """Whether a panel has no answer yet; while waves stream in, the first one will do."""
        ui, store = self.ui, self.ui.session.store
        is_streaming = store is not None and not store.is_complete
        asks = panel.findChildren(Coalesce)
        is_due = not is_streaming and (any(ask.is_pending for ask in asks) or not ui.results.idle)
        return is_due or ui.tasks.is_busy(panel) or ui.results.is_missing(panel.visibility)

    def _widget(self, name: str) -> QWidget:
        return self.window if name == WINDOW else self.workspace.docks[name].panel.canvas()

    def _caption(self, name: str) -> str:
        extra = "" if name == WINDOW else self.workspace.docks[name].panel.caption()
        return export.caption(self.ui.session, extra)
