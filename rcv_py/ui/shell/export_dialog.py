"""Asks what to export, as what, and where to."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from rcv_py.base.errors import RcvError
from rcv_py.ui.core.export import SCALES
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.shell.exporter import WINDOW, Exporter

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
        self.what = QComboBox()
        self.what.setAccessibleName("What")
        for name, title in self._names.items():
            self.what.addItem(title, name)
        self.what.setCurrentIndex(self.what.findData(exporter.current()))
        self.form = QComboBox()
        self.form.setAccessibleName("Form")
        for suffix, title in FORMS.items():
            self.form.addItem(title, suffix)
        self.scale = QComboBox()
        self.scale.setAccessibleName("Scale")
        for scale in SCALES:
            self.scale.addItem(f"{scale}×", scale)
        self.scale.setCurrentIndex(1)
        self.path = QLineEdit()
        self.path.setAccessibleName("File")
        browse = QPushButton("Browse …")
        browse.clicked.connect(self._browse)
        row = QHBoxLayout()
        row.addWidget(self.path)
        row.addWidget(browse)
        form = QFormLayout()
        form.setVerticalSpacing(8)
        form.addRow("What", self.what)
        form.addRow("Form", self.form)
        form.addRow("Scale", self.scale)
        form.addRow("File", row)
        self._may_replace: Path | None = None  # the file that was said to be there
        self.error = PlainLabel()
        self.error.setProperty("role", "error")
        self.error.setWordWrap(True)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self.save)
        buttons.rejected.connect(self.reject)
        around = QVBoxLayout(self)
        around.setContentsMargins(16, 16, 16, 16)
        around.addLayout(form)
        around.addWidget(self.error)
        around.addWidget(buttons)
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
