"""An editor of formulas, with underlined errors."""

from collections.abc import Sequence

from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from rcv_py.analysis.counters.formula.parser import FormulaError
from rcv_py.base.text import translated
from rcv_py.ui.core.theme import Theme


class FormulaEditor(QPlainTextEdit):
    """The text of a formula file."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self._theme = theme
        self.errors: tuple[FormulaError, ...] = ()  # underlined errors
        self.setAccessibleName(translated(title))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
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

    def _restyle(self) -> None:
        self.setFont(self._theme.mono)
        self._underline()


def _utf16(text: str, position: int) -> int:
    """Convert a Python character index to UTF-16 units, as Qt counts."""
    return position if text.isascii() else len(text[:position].encode("utf-16-le", "surrogatepass")) // 2
