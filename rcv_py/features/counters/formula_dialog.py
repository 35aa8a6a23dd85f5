"""The formula editor window: a tab per file with underlined errors, help next to it, errors below."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QTextCharFormat, QTextCursor

from rcv_py.analysis.counters.counter_help import grammar
from rcv_py.analysis.counters.counter_sets import BUILT_IN
from rcv_py.analysis.counters.derived_counters import DerivedSet
from rcv_py.analysis.counters.formula.evaluate import Definitions
from rcv_py.analysis.counters.formula.parser import FormulaError
from rcv_py.base.errors import RcvError
from rcv_py.base.text import Message, translated
from rcv_py.state.formula_files import FormulaFiles
from rcv_py.ui.core import plain_text
from rcv_py.ui.core.layout import column, row, split
from rcv_py.ui.core.theme import Theme

TITLE = "Formulas of counters"
TYPING_MS = 200  # delay after the last key before formulas are computed
NOTHING_WRONG = "Every formula that is written here has a value."
NO_FILES = "The built-in set cannot be changed. New begins a file of your own, which is added to it."


class FormulaEditor(QtWidgets.QPlainTextEdit):
    """The text of a formula file."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self._theme = theme
        self.errors: tuple[FormulaError, ...] = ()  # underlined errors
        self.setAccessibleName(translated(title))
        self.setLineWrapMode(QtWidgets.QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self.textChanged.connect(lambda: self.set_errors(()))
        theme.changed.connect(self._restyle)
        self._restyle()

    def set_errors(self, errors: Sequence[FormulaError]) -> None:
        """Underline the errors."""
        self.errors = tuple(errors)
        self._underline()

    def go_to(self, error: FormulaError) -> None:
        """Put the cursor on an error."""
        cursor = self.textCursor()
        cursor.setPosition(min(_utf16(self.toPlainText(), error.start), self.document().characterCount() - 1))
        self.setTextCursor(cursor)
        self.setFocus()

    def _underline(self) -> None:
        text, marks = self.toPlainText(), []
        for error in self.errors:
            start, stop = error.start, max(error.stop, error.start + 1)
            if start >= len(text.rstrip("\n")) or text[start] == "\n":  # mark the text before it
                start = max(0, start - 1)
            mark = QtWidgets.QTextEdit.ExtraSelection()
            mark.cursor = QTextCursor(self.document())
            mark.cursor.setPosition(_utf16(text, start))
            stop = max(start + 1, len(text[:stop].rstrip("\n")))
            mark.cursor.setPosition(_utf16(text, min(stop, len(text))), QTextCursor.MoveMode.KeepAnchor)
            mark.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            mark.format.setUnderlineColor(self._theme.role("error"))
            mark.format.setBackground(self._theme.soft(self._theme.role("error"), 0.8))
            marks.append(mark)
        self.setExtraSelections(marks)

    def _restyle(self) -> None:
        self.setFont(self._theme.mono)
        self._underline()


class FormulaDialog(QtWidgets.QDialog):
    """Edits files of formulas.  Its owner computes them when `edited`, and answers with `show_results`."""

    edited = Signal()

    def __init__(self, theme: Theme, files: FormulaFiles, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.files = files
        self._theme = theme
        self._results: DerivedSet | None = None
        self.editors: dict[str, FormulaEditor] = {}
        self.confirm: Callable[[str], bool] = partial(plain_text.agrees, self, TITLE)
        self.setWindowTitle(translated(TITLE))
        self.resize(1060, 640)
        self.tabs = plain_text.named(QtWidgets.QTabWidget(), "Files of formulas")
        rules = QtWidgets.QPlainTextEdit(grammar(), readOnly=True)
        self.help = plain_text.named(rules, "Help on the language of formulas")
        self.mistakes = plain_text.named(QtWidgets.QListWidget(), "Mistakes")
        self.mistakes.setMaximumHeight(110)
        self.state = plain_text.PlainLabel(role="muted", wordWrap=True)
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._typing.timeout.connect(self.edited)
        self.buttons: dict[str, QtWidgets.QPushButton] = {}
        for text, tip, call in (
            ("New", "Begin a file of formulas.", self.new_file),
            ("Save", "Write this file into the folder of settings (Ctrl+S).", self.save),
            ("Delete…", "Remove this file.", self.delete),
        ):
            button = plain_text.push_button(text, tip, partial(self._do, call), autoDefault=False)
            self.buttons[text.rstrip("…")] = button
        self.buttons["Save"].setShortcut("Ctrl+S")
        middle = split(self.tabs, self.help, sizes=(636, 424))
        middle.setStretchFactor(0, 3)
        middle.setStretchFactor(1, 2)
        buttons = row(*self.buttons.values(), None, spacing=6)
        column(buttons, (middle, 1), self.state, self.mistakes, margins=(9, 9, 9, 9), spacing=6, of=self)
        self.mistakes.itemActivated.connect(self._go_to)
        self.mistakes.itemClicked.connect(self._go_to)
        self.tabs.currentChanged.connect(self._tab_changed)
        theme.changed.connect(self._restyle)
        self._restyle()
        self._add_tab(BUILT_IN, "")
        for name in files.names:
            self._add_tab(name, files.text(name))
        self.tabs.setCurrentIndex(self.tabs.count() - 1)
        self._tab_changed()

    @property
    def name(self) -> str:
        """Return the name of the shown file."""
        widget = self.tabs.currentWidget()
        return next((name for name, editor in self.editors.items() if editor is widget), BUILT_IN)

    def new_file(self) -> None:
        """Create a file and show it."""
        name = self.files.new()
        self._add_tab(name, self.files.text(name))
        self.tabs.setCurrentWidget(self.editors[name])
        self.editors[name].setFocus()
        self.edited.emit()

    def save(self) -> None:
        """Write the shown file."""
        self.files.save(self.name)

    def delete(self) -> None:
        """Delete the shown file, if the user confirms."""
        name = self.name
        if self.confirm(Message("Delete {0} and its formulas?", name)):
            self.files.delete(name)
            editor = self.editors.pop(name)
            self.tabs.removeTab(self.tabs.indexOf(editor))
            editor.deleteLater()
            self.edited.emit()

    def done(self, result: int) -> None:
        """Close, and offer to save changes; otherwise they stay a draft while the viewer runs."""
        changed = [name for name in self.files.names if self.files.is_changed(name)]
        if changed and self.confirm(Message("Save {0}?", ", ".join(changed))):
            for name in changed:
                self._do(partial(self.files.save, name))
            if any(self.files.is_changed(name) for name in changed):
                return  # the sentence gives the reason
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Treat closing the window like Escape."""
        self.done(0)
        event.setAccepted(not self.isVisible())

    def _do(self, call: Callable[[], None]) -> None:
        """Run an action; show the reason if it fails."""
        try:
            call()
        except RcvError as error:
            self.state.setText(f"{error} {error.hint}".strip())
            return
        self._tab_changed()

    def _add_tab(self, name: str, text: str) -> None:
        editor = FormulaEditor(self._theme, Message("Formulas of {0}", name))
        editor.setPlainText(text)
        editor.setReadOnly(name == BUILT_IN)
        self.editors[name] = editor
        self.tabs.addTab(editor, plain_text.button_text(name))
        editor.textChanged.connect(lambda: self._typed(name))

    def _typed(self, name: str) -> None:
        if name != BUILT_IN:
            self.files.edit(name, self.editors[name].toPlainText())
            self._tab_changed()
            self._typing.start()

    def _tab_changed(self) -> None:
        for name, editor in self.editors.items():
            mark = " •" if self.files.is_changed(name) else ""
            self.tabs.setTabText(self.tabs.indexOf(editor), plain_text.button_text(f"{name}{mark}"))
            self.tabs.setTabToolTip(self.tabs.indexOf(editor), "Not saved yet." if mark else "")
        foreign = "" if self.name != BUILT_IN else "These formulas come with the program."
        plain_text.allow(self.buttons["Delete"], foreign)
        saved = "" if self.files.is_changed(self.name) else "Nothing was changed since it was saved."
        plain_text.allow(self.buttons["Save"], foreign or saved)
        self._say_state()

    def show_built_in(self, text: str) -> None:
        """Show the built-in formulas for this generation."""
        if self.editors[BUILT_IN].toPlainText() != text:
            self.editors[BUILT_IN].setPlainText(text)

    def show_results(
        self, results: DerivedSet | None, read: dict[str, Definitions], of: dict[str, str]
    ) -> None:
        """Show values and errors; `of` has the computed texts, `read` their parsed formulas.

        Errors are not underlined in a text that has changed since.  Without counters `results` is None, and
        only syntax errors are known.
        """
        self._results = results
        errors = _errors(results, read)
        self.mistakes.clear()
        for name, editor in self.editors.items():
            mine = errors.get(name, [])
            editor.set_errors(mine if name == BUILT_IN or of.get(name) == editor.toPlainText() else ())
            for error in mine if name != BUILT_IN else ():
                line, at = error.place(of.get(name, ""))
                text = Message("{0}, line {1}, column {2}: {3}", name, line, at, error)
                item = QtWidgets.QListWidgetItem(text)
                item.setData(Qt.ItemDataRole.UserRole, (name, error))
                item.setToolTip(plain_text.tooltip(str(error)))
                self.mistakes.addItem(item)
        self.mistakes.setVisible(self.mistakes.count() > 0)
        self._say_state()

    def _say_state(self) -> None:
        if len(self.editors) == 1:
            self.state.setText(NO_FILES)
        elif self.mistakes.count():
            self.state.setText("A mistake costs only its own formula. Click one to go there.")
        else:
            self.state.setText(NOTHING_WRONG if self._results is not None else "")

    def _restyle(self) -> None:
        self.help.setFont(self._theme.mono)

    def _go_to(self, item: QtWidgets.QListWidgetItem) -> None:
        name, error = item.data(Qt.ItemDataRole.UserRole)
        if name in self.editors:
            self.tabs.setCurrentWidget(self.editors[name])
            self.editors[name].go_to(error)


def _errors(results: DerivedSet | None, read: dict[str, Definitions]) -> dict[str, list[FormulaError]]:
    """Return errors by file, each once, in text order."""
    by_file = {name: list(definitions.errors) for name, definitions in read.items()}
    known = {id(error) for errors in by_file.values() for error in errors}
    for name, error in () if results is None else results.mistakes:
        if id(error) not in known and name in by_file:
            by_file[name].append(error)
    return {name: sorted(errors, key=lambda error: error.start) for name, errors in by_file.items()}


def _utf16(text: str, position: int) -> int:
    """Convert a Python character index to UTF-16 units, as Qt counts."""
    return position if text.isascii() else len(text[:position].encode("utf-16-le", "surrogatepass")) // 2
