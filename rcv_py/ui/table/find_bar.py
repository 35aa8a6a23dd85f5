"""The search field for code: text, case, expression, filter, and steps between matches."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from rcv_py.analysis.core.search import find
from rcv_py.base.errors import UsageError
from rcv_py.base.text import translated
from rcv_py.state.selection import SearchQuery
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import column, row
from rcv_py.ui.core.plain_text import PlainLabel, allow, filter_field, named, tooltip, with_tip
from rcv_py.ui.core.theme import Theme


class FindBar(QWidget):
    """Edits a search, shows the number of matches, and requests the next (+1) or previous (-1) match."""

    edited = Signal(object)  # SearchQuery
    filtered = Signal(bool)  # show only matches
    stepped = Signal(int)
    left = Signal()  # Escape in an empty field

    def __init__(
        self, theme: Theme, placeholder: str, has_filter: bool = True, is_narrow: bool = False
    ) -> None:
        """`is_narrow` puts the matches below the field, so that nothing gets wider when they appear."""
        super().__init__()
        self._theme = theme
        self.field = filter_field(placeholder)
        self.field.setMinimumWidth(96)
        self.case = _toggle("Aa", "Match upper and lower case")
        self.regex = _toggle(".*", "The text is a regular expression")
        self.filter = _toggle("Filter", "Show only rows that match")
        self.count = PlainLabel(role="muted")
        self.up = _step("Previous match (Shift+Return)")
        self.down = _step("Next match (Return)")
        search = row((self.field, 1), self.case, self.regex, self.filter, spacing=4)
        matches = row((self.count, 1), self.up, self.down, spacing=4)
        if is_narrow:
            self.count.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        (column if is_narrow else row)((search, 1), matches, spacing=4, of=self)
        self.filter.setVisible(has_filter)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.field.textEdited.connect(self._edit)
        self.field.textChanged.connect(lambda text: None if text else self._edit())
        self.case.toggled.connect(self._edit)
        self.regex.toggled.connect(self._edit)
        self.filter.toggled.connect(self.filtered)
        self.up.clicked.connect(lambda: self.stepped.emit(-1))
        self.down.clicked.connect(lambda: self.stepped.emit(+1))
        self._theme.changed.connect(self._restyle)
        self._restyle()
        self.say("", 0)

    @property
    def query(self) -> SearchQuery:
        """Return the search in the field."""
        return SearchQuery(self.field.text(), self.case.isChecked(), self.regex.isChecked())

    def show_query(self, query: SearchQuery) -> None:
        """Show a search that was set elsewhere, without emitting a signal."""
        with QSignalBlocker(self.field), QSignalBlocker(self.case), QSignalBlocker(self.regex):
            if self.field.text() != query.text:
                self.field.setText(query.text)
            self.case.setChecked(query.is_case_sensitive)
            self.regex.setChecked(query.is_regex)

    def say(self, text: str, matches: int, problem: str = "") -> None:
        """Show the number of matches, or instead the error of the search."""
        self.count.setText("not an expression" if problem else text)
        self.count.setToolTip(tooltip(problem))
        self.field.setToolTip(tooltip(problem))
        self.count.setVisible(bool(text or problem))
        for button in (self.up, self.down):
            button.setVisible(bool(text))
            allow(button, "" if matches > 0 else "Nothing matches.")

    def focus(self) -> None:
        """Put the cursor into the field."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next match on Return, to the previous on Shift+Return, clear the field on Escape."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self.stepped.emit(-1 if back else +1)
        elif event.key() == Qt.Key.Key_Escape and self.field.text():
            self.field.clear()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            super().keyPressEvent(event)
        else:
            super().keyPressEvent(event)

    def _edit(self) -> None:
        self.edited.emit(self.query)

    def _restyle(self) -> None:
        self.up.setIcon(icon(self._theme, "up"))
        self.down.setIcon(icon(self._theme, "down"))


def matches_of(texts: Sequence[str], query: SearchQuery) -> tuple[np.ndarray, str]:
    """Return the indices of the texts that match, int64, or the error of the search."""
    try:
        return find(texts, query.text, query.is_case_sensitive, query.is_regex), ""
    except UsageError as error:
        return np.empty(0, dtype=np.int64), f"{error} {error.hint}".strip()


def next_place(places: np.ndarray, current: int, direction: int) -> int:
    """Return the index of the next (direction +1) or the previous (-1) of the sorted places after `current`.

    It may be out of range by 1 at both ends, so that steps wrap around.
    """
    return int(places.searchsorted(current, "right" if direction > 0 else "left")) - (direction < 0)


def _toggle(text: str, tip: str) -> QToolButton:
    button = _step(tip)
    button.setText(translated(text))
    button.setCheckable(True)
    return button


def _step(tip: str) -> QToolButton:
    return named(with_tip(QToolButton(autoRaise=True), tip), tip)
