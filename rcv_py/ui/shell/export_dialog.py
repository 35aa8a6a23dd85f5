"""The dialog that saves a picture or table, and the menu commands that export panels."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QFormLayout, QLineEdit, QPushButton, QWidget

from rcv_py.base.errors import RcvError
from rcv_py.base.text import Message, translated
from rcv_py.state.commands import Command, commands
from rcv_py.state.session import Session
from rcv_py.ui.core import export
from rcv_py.ui.core.export import SCALES
from rcv_py.ui.core.layout import Dialog, row
from rcv_py.ui.core.panel import COPY_AS_COMMAND
from rcv_py.ui.core.plain_text import PlainLabel, allow
from rcv_py.ui.shell.exporter import Exporter, PictureLook
from rcv_py.ui.shell.file_writer import ask_path, export_folder
from rcv_py.ui.shell.go_commands import needs

ROWS = (0, 20, 40, 80, 160)  # choices; 0: as many as are in sight
FORMS = {".png": "PNG picture", ".svg": "SVG picture", ".csv": "CSV table"}


class ExportDialog(Dialog):
    """The export dialog: panel, format, scale and file."""

    def __init__(self, exporter: Exporter, parent: QWidget | None = None) -> None:
        button = QDialogButtonBox.StandardButton
        super().__init__("Save a picture or table", parent, button.Save | button.Cancel)
        self._exporter = exporter
        self.setMinimumWidth(480)
        self.what, self.form, self.scale, self.path = QComboBox(), QComboBox(), QComboBox(), QLineEdit()
        self.rows, self.colors = QComboBox(), QComboBox()
        for value, title in exporter.choices().items():
            self.what.addItem(translated(title), value)
        rows = {number: Message("{0} around the selected row", number) for number in ROWS} | {0: "in sight"}
        for box, items in (
            (self.form, FORMS),
            (self.scale, {scale: f"{scale}×" for scale in SCALES}),
            (self.rows, rows),
            (self.colors, {False: "as in the window", True: "light, for reports"}),
        ):
            for choice, said in items.items():
                box.addItem(translated(said), choice)
        self.what.setCurrentIndex(self.what.findData(exporter.in_front()))
        self.scale.setCurrentIndex(1)
        browse = QPushButton(translated("Browse …"))
        browse.clicked.connect(self._browse)
        form = QFormLayout()
        form.setVerticalSpacing(8)
        for name, control, item in (
            ("What", self.what, self.what),
            ("Form", self.form, self.form),
            ("Scale", self.scale, self.scale),
            ("Rows", self.rows, self.rows),
            ("Colours", self.colors, self.colors),
            ("File", self.path, row(self.path, browse, spacing=8)),
        ):
            control.setAccessibleName(translated(name))
            form.addRow(translated(name), item)
        self._may_replace: Path | None = None  # the file reported as existing
        self.error = PlainLabel(role="error", wordWrap=True)
        self.buttons.accepted.connect(self.save)
        self.fill(form, self.error)
        self.what.currentIndexChanged.connect(self._changed)
        self.form.currentIndexChanged.connect(self._changed)
        self._changed()

    def save(self) -> None:
        """Write the file and close, or show the reason; replacing a file takes a second click."""
        try:
            path = Path(self.path.text().strip()).expanduser()
            if path != self._may_replace and path.is_file():
                self._may_replace = path
                self.error.setText(Message("{0} exists already. Save once more to replace it.", path))
                return
            scale, rows, is_light = (box.currentData() for box in (self.scale, self.rows, self.colors))
            look = PictureLook(scale, rows=rows, is_light=is_light)
            self._exporter.save(self.what.currentData(), path, look)
        except RcvError as error:
            self.error.setText(f"{error} {error.hint}".strip())
            return
        self._exporter.ui.settings.remember("export_folder", str(path.parent))
        self._exporter.saved(path)
        self.accept()

    def _changed(self) -> None:
        suffix, name = self.form.currentData(), self.what.currentData()
        allow(self.scale, "" if suffix == ".png" else "Only PNG pictures have a scale.")
        allow(self.colors, "A table has no colours." if suffix == ".csv" else "")
        allow(self.rows, self._exporter.why_no_rows(name) if suffix != ".csv" else "A table has all rows.")
        stem = export.file_stem(self._exporter.ui.session.trace.value)
        self.path.setText(str(export_folder(self._exporter.ui) / f"{stem}_{name}{suffix}"))
        no_table = suffix == ".csv" and not self._exporter.has_sheet(name)
        self.error.setText(Message("{0} has no table just now.", self.what.currentText()) if no_table else "")

    def _browse(self) -> None:
        suffix = self.form.currentData()
        chosen, path = ask_path(self, "Save as", self.path.text(), f"{FORMS[suffix]} (*{suffix})", suffix)
        if path is not None:
            self._may_replace = path if path == Path(chosen) else None  # that dialog has already confirmed it
            self.path.setText(str(path))


def export_commands(exporter: Exporter, session: Session) -> tuple[Command, ...]:
    """Return the commands of the menu Export that save and copy panels and the window."""

    def guarded(action: Callable[[str], None]) -> Callable[[], None]:
        return lambda: exporter.guarded(lambda: action(exporter.current()))

    trace = needs(session)
    here = exporter.current
    no_table, no_command = "Click into a panel that shows a table first.", "This panel shows nothing yet."
    table = needs(session, lambda: exporter.has_sheet(here()), no_table)
    words = needs(session, lambda: exporter.command_line(here()), no_command)
    return commands("Export", (
        ("export.dialog", "Save a picture or table …", "Ctrl+E",
         lambda: ExportDialog(exporter, exporter.window).open(),
         "Save a panel or the window as PNG, SVG or CSV.", trace),
        ("export.copy_picture", "Copy a picture of this panel", "Ctrl+Shift+C",
         guarded(exporter.copy_picture), "Copy the panel with the focus, else the window, as a picture.",
         trace),
        ("export.copy_table", "Copy the table of this panel", "Ctrl+Alt+Shift+C",
         guarded(exporter.copy_table), "Copy the table of the panel with the focus.", table),
        ("export.copy_command", COPY_AS_COMMAND, "Ctrl+Alt+K", guarded(exporter.copy_command),
         "Copy the rcv command that prints the numbers of the panel with the focus.", words),
    ))  # fmt: skip
