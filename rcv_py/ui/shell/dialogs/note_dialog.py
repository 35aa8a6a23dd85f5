"""A small dialog for writing a note."""

from msgspec.structs import replace
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QLineEdit, QPlainTextEdit, QWidget

from rcv_py.base.errors import UsageError
from rcv_py.base.problems import Severity
from rcv_py.base.text import Message, translated
from rcv_py.formats.notes.store import new_note
from rcv_py.model.notes import TEXT_LETTERS, TITLE_LETTERS, Note, one_line
from rcv_py.state.session import Session
from rcv_py.ui.core.layout import Dialog, row
from rcv_py.ui.core.plain_text import MIDDLE_LEFT, ElidedLabel, PlainLabel, as_written, named

TITLES = {Severity.INFO: "Info", Severity.WARNING: "Warning", Severity.ERROR: "Error"}
TEXT_PX = 120


class NoteDialog(Dialog):
    """Title, severity and text of the session's draft; its place is shown and fixed."""

    def __init__(self, session: Session, draft: Note, parent: QWidget | None = None) -> None:
        button = QDialogButtonBox.StandardButton
        super().__init__("Note" if draft.id else "New note", parent, button.Save | button.Cancel)
        self._session, self._draft = session, draft
        self.resize(460, 0)
        title = QLineEdit(as_written(draft.title))
        title.setPlaceholderText(translated("What the note says, on one line"))
        self.title = named(title, "Title of the note")
        self.title.setMaxLength(TITLE_LETTERS)
        self.severity = named(QComboBox(), "How much it matters")
        for severity, name in TITLES.items():
            self.severity.addItem(translated(name), severity)
        self.severity.setCurrentIndex(list(TITLES).index(draft.severity))
        self.text = named(QPlainTextEdit(as_written(draft.text)), "Text of the note")
        self.text.setPlaceholderText(translated("More, if there is more to say"))
        self.text.setMinimumHeight(TEXT_PX)
        self.text.setTabChangesFocus(True)
        self.said = PlainLabel("", wordWrap=True, role="muted")
        place = ElidedLabel(Message("About {0}", draft.anchor), role="muted")
        place.setAlignment(MIDDLE_LEFT)
        self.buttons.accepted.connect(self.accept)
        self.title.textChanged.connect(self._check)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.accept)
        self.fill(place, row((self.title, 1), self.severity, spacing=6), self.text, self.said)
        self.title.setFocus()
        self._check()

    def _check(self) -> None:
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        save.setEnabled(bool(one_line(self.title.text())))

    def accept(self) -> None:
        """Add the note to the session; show the reason if that is not possible."""
        trace, draft = self._session.trace.value, self._draft
        title = one_line(self.title.text())
        if trace is None or not title:
            return
        severity, text = self.severity.currentData(), self.text.toPlainText()[:TEXT_LETTERS]
        try:
            made = (
                replace(draft, title=title, text=text, severity=Severity(severity))
                if draft.id
                else new_note(trace, draft.anchor, title, text=text, severity=Severity(severity))
            )
        except UsageError as error:
            self.said.setText(str(error))
            return
        self._session.notes.put(made)
        super().accept()

    def reject(self) -> None:
        """Discard the draft."""
        self._session.notes.draft.set(None)
        super().reject()
