"""The live log of the program: to read, to copy, to save."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QLineEdit, QPlainTextEdit, QWidget
from shiboken6 import isValid

from rcv_py.base.log import LOG, LogEntry
from rcv_py.base.text import translated
from rcv_py.base.versions import versions_text
from rcv_py.base.whole_files import whole_file
from rcv_py.ui.core.layout import Dialog
from rcv_py.ui.core.plain_text import PlainLabel, copy_text

MAX_BLOCKS = 20_000  # lines kept in the dialog
WHAT = "Lines name files and captures, and hold nothing else of them. Nothing is sent by itself."


class LogDialog(Dialog):
    """Shows the log; new lines are added below while it is open."""

    _came = Signal(object)  # a line, from any thread

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Log", parent)
        self.resize(860, 520)
        self.filter = QLineEdit(placeholderText=translated("Filter lines"), clearButtonEnabled=True)
        self.filter.setAccessibleName(translated("Filter lines"))
        self.filter.textChanged.connect(self._show)
        self.view = QPlainTextEdit(readOnly=True)
        self.view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.view.setMaximumBlockCount(MAX_BLOCKS)
        self.view.setAccessibleName(translated("Lines of the log"))
        action = QDialogButtonBox.ButtonRole.ActionRole
        self.buttons.addButton(translated("Copy"), action).clicked.connect(lambda: copy_text(self.text))
        self.buttons.addButton(translated("Save …"), action).clicked.connect(self._ask_and_save)
        self._came.connect(self._add, Qt.ConnectionType.QueuedConnection)
        self._hears = True
        LOG.hear(self._hear)
        self._show()
        about = PlainLabel(WHAT, role="muted", wordWrap=True)
        self.fill(self.filter, (self.view, 1), about, margins=(9, 9, 9, 9), spacing=6)

    @property
    def text(self) -> str:
        """Return versions and the shown lines."""
        return f"{versions_text()}\n{self.view.toPlainText()}\n"

    def save(self, path: Path) -> None:
        """Write versions and lines to a file; raise ExportError on failure."""
        with whole_file(path) as file:
            file.write(self.text.encode("utf-8", "backslashreplace"))

    def done(self, result: int) -> None:
        """Stop following the log."""
        if self._hears:
            LOG.leave(self._hear)
        self._hears = False
        super().done(result)

    def _hear(self, entry: LogEntry) -> None:
        if isValid(self):  # in the thread that wrote the line
            self._came.emit(entry)

    def _ask_and_save(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(
            self, translated("Save the log"), "rcv-log.txt", translated("Texts (*.txt *.log)")
        )
        if chosen:
            self.save(Path(chosen))

    def _fits(self, entry: LogEntry) -> bool:
        line = str(entry).casefold()
        return all(word in line for word in self.filter.text().casefold().split())

    def _show(self) -> None:
        self.view.setPlainText("\n".join(str(entry) for entry in LOG.lines() if self._fits(entry)))
        self.view.verticalScrollBar().setValue(self.view.verticalScrollBar().maximum())

    def _add(self, entry: LogEntry) -> None:
        if self._fits(entry):
            self.view.appendPlainText(str(entry))
