"""A finding as a card: an icon and a title, and below them what shows it, what it means and what mends it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QSizePolicy

from rcv_py.analysis.health.capture_health import HealthNote
from rcv_py.base.problems import Severity
from rcv_py.ui.core.icons import pixmap
from rcv_py.ui.core.plain_text import PlainLabel, button_text, copy_text, tooltip
from rcv_py.ui.core.theme import Theme

ICON_PX = 16
NAME_PX = 72  # so that the texts of all cards begin at one place
ICONS = {
    Severity.INFO: ("info", "muted"),
    Severity.WARNING: ("warning", "warning"),
    Severity.ERROR: ("error", "error"),
}
WORDS = {Severity.INFO: "Note", Severity.WARNING: "Warning", Severity.ERROR: "Error"}


class NoteCard(QFrame):
    """One note; Ctrl+C copies it.  `go` is what a button with a text does, if there is a place to go to."""

    def __init__(self, theme: Theme, note: HealthNote, go: tuple[str, Callable[[], None]] | None) -> None:
        super().__init__()
        self.note = note
        self._theme = theme
        self.setObjectName("card")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(f"{WORDS[note.severity]}: {note.title}")
        self.setAccessibleDescription(f"{note.consequence} {note.remedy}")
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(10, 8, 10, 8)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnMinimumWidth(1, NAME_PX)
        self._grid.setColumnStretch(2, 1)
        self._icon = PlainLabel()
        self._icon.setFixedSize(QSize(ICON_PX, ICON_PX))
        self._icon.setToolTip(tooltip(WORDS[note.severity]))
        self._grid.addWidget(self._icon, 0, 0)
        title = _text(note.title)
        title.setProperty("role", "heading")
        self._grid.addWidget(title, 0, 1, 1, 2)
        for name, text in lines(note):
            self._add(name, text)
        if go is not None:
            button = QPushButton(button_text(go[0]))
            button.setProperty("link", True)
            button.setToolTip(tooltip(go[0]))
            button.clicked.connect(go[1])
            self._grid.addWidget(button, self._grid.rowCount(), 2, Qt.AlignmentFlag.AlignLeft)
        self.restyle()

    def restyle(self) -> None:
        """Draw the icon in the colours of the theme."""
        name, role = ICONS[self.note.severity]
        self._icon.setPixmap(pixmap(name, self._theme.role(role), ICON_PX, self.devicePixelRatioF()))

    def text(self) -> str:
        """What the card says, for the clipboard."""
        return note_text(self.note)

    def _add(self, name: str, text: str) -> None:
        row = self._grid.rowCount()
        label = PlainLabel(name)
        label.setProperty("role", "muted")
        self._grid.addWidget(label, row, 1, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(_text(text), row, 2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy."""
        if event.matches(QKeySequence.StandardKey.Copy):
            copy_text(self.text())
        else:
            event.ignore()


def note_text(note: HealthNote) -> str:
    """Return everything a note says, one line each."""
    said = [f"{name}: {text}" for name, text in lines(note)]
    return "\n".join([f"{note.severity}: {note.title}", *said])


def lines(note: HealthNote) -> list[tuple[str, str]]:
    """Return what is said of a note below its title."""
    rows = [("Shown by", note.evidence_text), ("It means", note.consequence), ("To mend", note.remedy)]
    if note.settings:
        rows.append(("Settings", ", ".join(f"{name}: {value}" for name, value in note.settings.items())))
    return rows


def _text(text: str) -> QLabel:
    label = PlainLabel(text)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
