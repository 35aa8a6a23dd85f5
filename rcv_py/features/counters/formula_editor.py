"""An editor of formulas: completion, underlined errors."""

import re
from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Qt
from PySide6.QtGui import QKeyEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QCompleter, QPlainTextEdit, QTextEdit

from rcv_py.analysis.counters.formula.parser import FUNCTIONS, FormulaError
from rcv_py.base.text import translated
from rcv_py.ui.core.theme import Theme

SHORTEST = 2  # minimum number of letters for completion
_TAKE = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab, Qt.Key.Key_Escape, Qt.Key.Key_Backtab)


class FormulaEditor(QPlainTextEdit):
    """The text of a formula file."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self._theme = theme
        self.errors: tuple[FormulaError, ...] = ()  # underlined errors
        self.setAccessibleName(translated(title))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self._names = QStringListModel(self)
        self.completer = QCompleter(self._names, self)
        popup = self.completer.popup()
        assert popup is not None  # there is one unless the completion is inline
        popup.setParent(self, popup.windowFlags())  # styled by the window; a completer is not
        self._popup = popup
        self.completer.setWidget(self)
        self.completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.completer.activated.connect(self.complete)
        self.textChanged.connect(lambda: self.set_errors(()))
        theme.changed.connect(self._restyle)
        self._restyle()

    def set_names(self, names: Sequence[str]) -> None:
        """Offer these names besides functions in completion."""
        proposals = [*FUNCTIONS, *names]
        if proposals != self._names.stringList():
            self._names.setStringList(proposals)

    # -- mistakes -----------------------------------------------------------------------------------

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
            mark = QTextEdit.ExtraSelection()
            mark.cursor = QTextCursor(self.document())
            mark.cursor.setPosition(_utf16(text, start))
            stop = max(start + 1, len(text[:stop].rstrip("\n")))
            mark.cursor.setPosition(_utf16(text, min(stop, len(text))), QTextCursor.MoveMode.KeepAnchor)
            mark.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            mark.format.setUnderlineColor(self._theme.role("error"))
            mark.format.setBackground(self._theme.soft(self._theme.role("error"), 0.8))
            marks.append(mark)
        self.setExtraSelections(marks)

    # -- names --------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        popup = self._popup
        if popup.isVisible() and event.key() in _TAKE:
            event.ignore()  # the list handles it
            return
        asked = event.key() == Qt.Key.Key_Space and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if not asked:
            super().keyPressEvent(event)
        if asked or event.text().strip():
            self._propose(1 if asked else SHORTEST)
        else:
            popup.hide()

    def word(self) -> str:
        """Return the part of a name typed before the cursor."""
        before = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
        match = re.search(r"[A-Za-z_][A-Za-z0-9_:]*$", before.partition("#")[0] if "#" in before else before)
        return match.group() if match and "#" not in before else ""

    def _propose(self, shortest: int) -> None:
        word = self.word()
        self.completer.setCompletionPrefix(word)
        is_complete = not self.completer.completionCount() or self.completer.currentCompletion() == word
        if self.isReadOnly() or len(word) < shortest - 1 or is_complete:
            self._popup.hide()
            return
        if len(word) < shortest and shortest > 1:
            return
        box = self.cursorRect()
        self._popup.setCurrentIndex(self.completer.completionModel().index(0, 0))
        box.setWidth(self._popup.sizeHintForColumn(0) + 32)
        self.completer.complete(box)

    def complete(self, name: str) -> None:
        """Replace the typed part of a name by a name."""
        cursor = self.textCursor()
        word = self.word()
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, len(word))
        cursor.insertText(name)
        self.setTextCursor(cursor)

    def _restyle(self) -> None:
        self.setFont(self._theme.mono)
        self._underline()


def _utf16(text: str, position: int) -> int:
    """Convert a Python character index to UTF-16 units, as Qt counts."""
    return position if text.isascii() else len(text[:position].encode("utf-16-le", "surrogatepass")) // 2
