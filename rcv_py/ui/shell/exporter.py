"""Pictures, tables and commands of what is in the window: made, asked for in a dialog, and as commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QDeadlineTimer, QEventLoop, Qt, QThread, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QMainWindow,
    QPushButton,
    QWidget,
)

from rcv_py.base.errors import ExportError, RcvError, UsageError
from rcv_py.state.commands import Command, commands
from rcv_py.state.session import Session
from rcv_py.ui.core import export
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.export import SCALES
from rcv_py.ui.core.layout import Dialog, row
from rcv_py.ui.core.panel import COPY_AS_COMMAND, Panel, Sheet
from rcv_py.ui.core.plain_text import PlainLabel, copy_text
from rcv_py.ui.core.visibility import Coalesce
from rcv_py.ui.shell.dialogs.error_box import ErrorReporter
from rcv_py.ui.shell.docks import Workspace
from rcv_py.ui.shell.go_commands import needs
from rcv_py.ui.table import command_text

WINDOW = "window"  # stands for the whole window where a panel's id is asked for
TIMEOUT_MS = 20_000  # for the numbers of a panel that slept
TURN_MS = 10


class Exporter:
    """Makes pictures and tables of what is in the window."""

    def __init__(
        self,
        ui: UiContext,
        window: QMainWindow,
        workspace: Workspace,
        errors: ErrorReporter,
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
                hint="Choose what it needs first.",
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
                deadline = QDeadlineTimer(TIMEOUT_MS)
                while self._is_computing(panel) and not deadline.hasExpired():
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


SETTLE_MS = 400  # until a panel that was hidden has its table
FORMS = {".png": "PNG picture", ".svg": "SVG picture", ".csv": "CSV table"}


class ExportDialog(Dialog):
    """What, which form, which scale, which file."""

    def __init__(self, exporter: Exporter, parent: QWidget | None = None) -> None:
        button = QDialogButtonBox.StandardButton
        super().__init__("Save a picture or table", parent, button.Save | button.Cancel)
        self._exporter = exporter
        self._names = exporter.names()
        self.setMinimumWidth(480)
        self.what, self.form, self.scale, self.path = QComboBox(), QComboBox(), QComboBox(), QLineEdit()
        for box, items in (
            (self.what, self._names),
            (self.form, FORMS),
            (self.scale, {scale: f"{scale}×" for scale in SCALES}),
        ):
            for value, title in items.items():
                box.addItem(title, value)
        self.what.setCurrentIndex(self.what.findData(exporter.current()))
        self.scale.setCurrentIndex(1)
        browse = QPushButton("Browse …")
        browse.clicked.connect(self._browse)
        form = QFormLayout()
        form.setVerticalSpacing(8)
        for name, field, item in (
            ("What", self.what, self.what),
            ("Form", self.form, self.form),
            ("Scale", self.scale, self.scale),
            ("File", self.path, row(self.path, browse, spacing=8)),
        ):
            field.setAccessibleName(name)
            form.addRow(name, item)
        self._may_replace: Path | None = None  # the file that was said to be there
        self.error = PlainLabel(role="error", wordWrap=True)
        self.buttons.accepted.connect(self.save)
        self.fill(form, self.error)
        self.what.currentIndexChanged.connect(self._raise)
        self.what.currentIndexChanged.connect(self._changed)
        self.form.currentIndexChanged.connect(self._changed)
        self._changed()

    def save(self) -> None:
        """Write the file and close, or say why not; a file that is there takes a second click."""
        try:
            path = Path(self.path.text().strip()).expanduser()
            if path != self._may_replace and path.is_file():
                self._may_replace = path
                self.error.setText(f"{path} exists already. Save once more to replace it.")
                return
            self._exporter.save(self.what.currentData(), path, self.scale.currentData())
        except RcvError as error:
            self.error.setText(f"{error} {error.hint}".strip())
            return
        self._exporter.ui.settings.remember("export_folder", str(path.parent))
        self._exporter.window.statusBar().showMessage(f"Saved {path}", 5000)
        self.accept()

    def _changed(self) -> None:
        suffix, name = self.form.currentData(), self.what.currentData()
        self.scale.setEnabled(suffix == ".png")
        self.scale.setToolTip("" if suffix == ".png" else "Only PNG pictures have a scale.")
        self.path.setText(str(self._proposal(name).with_suffix(suffix)))
        self._tell_table()

    def _raise(self) -> None:
        """Bring the panel to the front: one that nobody sees has not computed what it shows."""
        if self.what.currentData() != WINDOW:
            self._exporter.workspace.show_panel(self.what.currentData())
            QTimer.singleShot(SETTLE_MS, self, self._tell_table)

    def _tell_table(self) -> None:
        suffix, name = self.form.currentData(), self.what.currentData()
        no_table = suffix == ".csv" and not self._exporter.has_sheet(name)
        self.error.setText(f"{self._names[name]} has no table just now." if no_table else "")

    def _proposal(self, name: str) -> Path:
        trace = self._exporter.ui.session.trace.value
        folder = self._exporter.ui.settings.memory("export_folder") or str(Path.home())
        stem = "rcv" if trace is None else trace.name
        return Path(str(folder)) / f"{stem.replace('.', '_')}_{name}"

    def _browse(self) -> None:
        suffix = self.form.currentData()
        chosen, _ = QFileDialog.getSaveFileName(
            self, "Save as", self.path.text(), f"{FORMS[suffix]} (*{suffix})"
        )
        if chosen:
            path = Path(chosen)
            path = path if path.suffix else path.with_suffix(suffix)
            self._may_replace = path if path == Path(chosen) else None  # that dialog has asked already
            self.path.setText(str(path))


def export_commands(exporter: Exporter, session: Session) -> tuple[Command, ...]:
    """Return the entries of the menu Export that save and copy what is in the window."""

    def has_table() -> bool:
        return exporter.has_sheet(exporter.current())

    def has_command() -> bool:
        return bool(exporter.command_line(exporter.current()))

    def guarded(action: Callable[[str], None]) -> Callable[[], None]:
        return lambda: exporter.guarded(lambda: action(exporter.current()))

    trace = needs(session)
    table = needs(session, has_table, "Click into a panel that shows a table first.")
    words = needs(session, has_command, "This panel shows nothing yet.")
    return commands("Export", (
        ("export.dialog", "Save a picture or table …", "Ctrl+E",
         lambda: ExportDialog(exporter, exporter.window).open(),
         "Save a panel or the window as PNG, SVG or CSV.", trace),
        ("export.copy_picture", "Copy a picture of this panel", "Ctrl+Shift+C",
         guarded(exporter.copy_picture), "Copy the panel with the focus, else the window, as a picture.",
         trace),
        ("export.copy_table", "Copy the table of this panel", "Ctrl+Shift+T", guarded(exporter.copy_table),
         "Copy the table of the panel with the focus.", table),
        ("export.copy_command", COPY_AS_COMMAND, "Ctrl+Alt+K", guarded(exporter.copy_command),
         "Copy the rcv command that prints the numbers of the panel with the focus.", words),
    ))  # fmt: skip
