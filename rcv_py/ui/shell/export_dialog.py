"""Asks what to export, as what, and where to; the commands that save and copy what is in the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QPushButton,
    QWidget,
)

from rcv_py.base.errors import RcvError
from rcv_py.state.commands import Command, commands
from rcv_py.state.session import Session
from rcv_py.ui.core.export import SCALES
from rcv_py.ui.core.layout import column, row
from rcv_py.ui.core.panel import COPY_AS_COMMAND
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.shell.exporter import WINDOW, Exporter
from rcv_py.ui.shell.go_commands import needs

SETTLE_MS = 400  # until a panel that was hidden has its table
FORMS = {".png": "PNG picture", ".svg": "SVG picture", ".csv": "CSV table"}


class ExportDialog(QDialog):
    """What, which form, which scale, which file."""

    def __init__(self, exporter: Exporter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._exporter = exporter
        self._names = exporter.names()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Save a picture or table")
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
        self.error = PlainLabel(wordWrap=True)
        self.error.setProperty("role", "error")
        button = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(button.Save | button.Cancel)
        buttons.accepted.connect(self.save)
        buttons.rejected.connect(self.reject)
        column(form, self.error, buttons, margins=(16, 16, 16, 16), spacing=8, of=self)
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
