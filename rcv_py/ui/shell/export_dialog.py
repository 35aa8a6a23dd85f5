"""The dialog that saves a picture or a table: panel, format, scale and file."""

from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from rcv_py.base.errors import RcvError
from rcv_py.base.text import Message, translated
from rcv_py.ui.core import export
from rcv_py.ui.core.layout import Dialog, row
from rcv_py.ui.core.plain_text import PlainLabel, allow, push_button
from rcv_py.ui.shell.exporter import FORMS, Exporter, PictureLook
from rcv_py.ui.shell.file_writer import ask_path, export_folder

ROWS = (0, 20, 40, 80, 160)  # choices; 0: as many as are in sight


class ExportDialog(Dialog):
    """The export dialog: panel, format, scale and file."""

    def __init__(self, exporter: Exporter, parent: QWidget | None = None) -> None:
        button = QtWidgets.QDialogButtonBox.StandardButton
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
            (self.scale, {scale: f"{scale}×" for scale in export.SCALES}),
            (self.rows, rows),
            (self.colors, {False: "as in the window", True: "light, for reports"}),
        ):
            for choice, said in items.items():
                box.addItem(translated(said), choice)
        self.what.setCurrentIndex(self.what.findData(exporter.in_front()))
        self.scale.setCurrentIndex(1)
        browse = push_button("Browse …", call=self._browse)
        form = QtWidgets.QFormLayout(verticalSpacing=8)
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
