"""The text a screen reader speaks for a canvas: its selection in words."""

from PySide6.QtWidgets import QWidget

from rcv_py.base.text import Message, join_texts, translated
from rcv_py.state.session import Session

NOTHING = "Nothing is selected."


def selection_text(session: Session) -> str:
    """Return the selection as a sentence."""
    place, trace = session.selection.value, session.trace.value
    parts = []
    if place.line is not None and trace is not None and 0 <= place.line < len(trace.code):
        parts.append(Message("instruction {0}, {1}", place.line, trace.code.text[place.line]))
        if place.hit is not None:
            parts.append(Message("hit {0}", place.hit + 1))
    if place.lines is not None:
        parts.append(Message("instructions {0} to {1}", place.lines[0], place.lines[1] - 1))
    if place.wave is not None:
        parts.append(Message("wave {0}", place.wave))
    return Message("Selected: {0}.", join_texts(", ", parts)) if parts else NOTHING


class SelectionVoice:
    """Keeps a widget's description equal to the selection, for as long as this object lives."""

    def __init__(self, widget: QWidget, session: Session) -> None:
        self._widget, self._session = widget, session
        for cell in (session.trace, session.selection):
            cell.watch(self._say)
        self._say()

    def _say(self) -> None:
        self._widget.setAccessibleDescription(translated(selection_text(self._session)))
