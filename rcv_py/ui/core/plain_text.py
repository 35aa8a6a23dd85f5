"""The single entry of texts into widgets: as plain text, or as our own rich text.

Qt treats a text as HTML if it looks like HTML, and then loads what `<img src=…>` names, even in a path or a
kernel's name.  So labels are plain, tooltips that Qt would take for HTML are wrapped, and only `rich` makes
rich text, and it escapes every value.  `tests/test_texts.py` enforces this in the rest of the window.

Texts are translated here, where they are displayed.  Text that is painted from parts or measured first is
translated where it is made; pure data is `as_written`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import escape
from typing import Any, TypeVar, overload

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, SignalInstance
from PySide6.QtGui import QAction, QGuiApplication, QPainter, QPaintEvent, QStaticText
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPushButton,
    QToolTip,
    QWhatsThis,
    QWidget,
)

from rcv_py.base.text import Message, translated, visible

Widget = TypeVar("Widget", bound=QWidget)

NOT_NOW = "Not now: "  # before the reason why something is disabled
SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse
MIDDLE_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
MIDDLE_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
TOGETHER = "\u00a0"  # a space without a line break
_PERCENT = re.compile(r"(?<=\d) %")
_LINES = "\n\t"  # whitespace that a text of several lines keeps


class Rich(str):
    """Rich text in which every foreign value is escaped.  Only `rich` and `joined` make it."""

    __slots__ = ()

    def __add__(self, other: str) -> Rich:
        return Rich(f"{self}{escaped(other)}")


def escaped(value: object) -> Rich:
    """Return a value as rich text that shows exactly that value."""
    return value if isinstance(value, Rich) else Rich(escape(visible(str(value), _LINES)))


def rich(template: str, *values: object) -> Rich:
    """Return our markup with a value escaped into each `{}`; a value that is rich stays rich."""
    return Rich(translated(template).format(*map(_escaped_text, values)))


def joined(between: str, parts: Iterable[object]) -> Rich:
    """Return parts, each escaped unless it is rich, joined by our markup."""
    return Rich(between.join(map(_escaped_text, parts)))


def _escaped_text(value: object) -> Rich:
    """A value as rich text in the language of the window."""
    if isinstance(value, Rich):
        return value
    return escaped(translated(value if isinstance(value, str) else str(value)))


def lines_tip(lines: Iterable[object]) -> Rich:
    """Return a tooltip of lines that do not wrap."""
    return rich("<qt style='white-space:nowrap'>{}</qt>", joined("<br>", lines))


def shown(text: str) -> str:
    """Return a text for widgets without markup: titles, items of lists."""
    return visible(translated(text), _LINES)


def as_written(text: str) -> str:
    """Return an untranslated text for widgets: a note, or what goes to the clipboard."""
    return visible(text, _LINES)


def tooltip(text: str) -> str:
    """Return a tooltip that shows the plain text, unless it is our rich text."""
    if isinstance(text, Rich):
        return text
    plain = shown(text)
    if not QtText.mightBeRichText(plain):
        return plain
    return Rich("<qt style='white-space:pre-wrap'>" + escaped(plain) + "</qt>")


def wrapped_tip(text: str) -> Rich:
    """Return a plain text as a tooltip whose lines are wrapped, with a paragraph for each line."""
    return joined("", (rich("<p>{}</p>", line) for line in shown(text).split("\n")))


@overload
def draw_text(painter: QPainter, where: QPoint | QPointF, text: str, /) -> None: ...
@overload
def draw_text(painter: QPainter, where: QRect | QRectF, flags: Qt.AlignmentFlag, text: str, /) -> None: ...
def draw_text(painter: QPainter, where: QPoint | QPointF | QRect | QRectF, *flags_and_text: Any) -> None:
    """Draw our text in the language of the window: at a point, or in a box with flags.

    A text that is measured or cut first is translated before that.
    """
    *flags, text = flags_and_text
    if isinstance(where, QPoint | QPointF):
        draw_data(painter, where, translated(text))
    else:  # in a box a text may have several lines
        painter.drawText(where, flags[0], shown(text))


def draw_data(painter: QPainter, where: QPoint | QPointF, text: str) -> None:
    """Draw a text of the capture, such as an instruction, at a point; no character can reverse or hide it."""
    painter.drawText(where, visible(text))


def unbroken(text: str) -> str:
    """Return a text in which a line never ends between a number and its %; rich text stays rich."""
    kept = _PERCENT.sub(f"{TOGETHER}%", text)
    return Rich(kept) if isinstance(text, Rich) else kept


def set_text(text: str) -> QStaticText:
    """Return a static text, set once and drawn often, that no character in it can reverse or hide."""
    made = QStaticText(visible(text))
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
    return made


def button_text(text: str) -> str:
    """Return the text of a button, an action or a menu, in which `&` marks no key."""
    return shown(text).replace("&", "&&")


def add_action(
    menu: QMenu, title: str, call: Callable[[], object], *, tip: str = "", is_on: bool | None = None
) -> QAction:
    """Add an action to a menu with its texts shown literally, and a check mark if `is_on` is given."""
    action = menu.addAction(button_text(title))
    action.triggered.connect(lambda _=False: call())
    if tip:
        set_tooltip(action, tip)
    if is_on is not None:
        action.setCheckable(True)
        action.setChecked(is_on)
    return action


def with_tip(widget: Widget, text: str) -> Widget:
    """Give a widget a tooltip that shows the plain text; return the widget."""
    set_tooltip(widget, text)
    return widget


def named(widget: Widget, name: str) -> Widget:
    """Give a widget the name that a screen reader speaks; return the widget."""
    widget.setAccessibleName(translated(name))
    return widget


def filter_field(text: str) -> QLineEdit:
    """Return a field that filters a list; the text stands in it, and is its name for a screen reader."""
    return named(QLineEdit(placeholderText=translated(text), clearButtonEnabled=True), text)


def push_button(
    text: str, tip: str = "", call: Callable[[], object] | SignalInstance | None = None, **properties: Any
) -> QPushButton:
    """Return a button that calls a function; `properties` are Qt's or of the style sheet: small, link."""
    button = QPushButton(button_text(text))
    set_tooltip(button, tip)
    for name, value in properties.items():
        button.setProperty(name, value)
    if call is not None:
        button.clicked.connect(call)
    return button


def set_tooltip(widget: Any, text: str) -> None:
    """Give a widget, an action or an item a tooltip that shows the plain text."""
    widget.setToolTip(tooltip(text))


def allow(control: Any, why_not: str = "") -> None:
    """Enable or disable a widget or an action; when disabled, the tooltip also gives the reason."""
    control.setEnabled(not why_not)
    usual = control.toolTip().partition(translated(NOT_NOW))[0].rstrip("\n")
    control.setToolTip(tooltip("\n".join(filter(None, (usual, translated(with_reason(why_not)))))))


def with_reason(why_not: str) -> str:
    """Return the tooltip text of something disabled, "" if it is enabled."""
    return why_not and Message("{0}{1}", NOT_NOW, why_not)


def show_tip(place: QPoint, text: str, widget: QWidget) -> None:
    """Show a tooltip at a point of the screen; an empty text hides the last one."""
    QToolTip.showText(place, tooltip(text), widget)


def show_explanation(place: QPoint, text: str, widget: QWidget) -> None:
    """Show a text at a point of the screen until a click or a key."""
    QWhatsThis.showText(place, wrapped_tip(text), widget)


def copy_text(text: str) -> None:
    """Put a text on the clipboard; characters that a terminal would obey when pasted become escapes."""
    QGuiApplication.clipboard().setText(as_written(text))


class PlainLabel(QLabel):
    """A label that shows plain text; `role` is a role of the style sheet: muted, heading, error …"""

    def __init__(self, text: str = "", *, role: str = "", **properties: Any) -> None:
        super().__init__(**properties)
        self._said = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        if role:
            self.setProperty("role", role)
        if text:
            self.setText(text)

    def setText(self, text: str) -> None:
        """Show a text; where it wraps, a number and its % stay on one line."""
        self._said = text
        super().setText(unbroken(shown(text)) if self.wordWrap() else shown(text))

    def text(self) -> str:
        """The text as the program set it: in English, without the characters that keep words together."""
        return as_written(self._said)

    @property
    def shown_text(self) -> str:
        """The text in the language of the window."""
        return super().text().replace(TOGETHER, " ")

    def break_lines(self, lines_of: Callable[[str], str]) -> None:
        """Show the text with the line breaks that `lines_of` makes in it; `text` does not change."""
        said = shown(self._said)
        super().setText(lines_of(unbroken(said) if self.wordWrap() else said))


class RichLabel(QLabel):
    """A label for our own rich text only."""

    def __init__(self, **properties: Any) -> None:
        super().__init__(**properties)
        self.setTextFormat(Qt.TextFormat.RichText)

    def setText(self, text: str) -> None:
        """Show rich text; show other text as plain text."""
        super().setText(escaped(text))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:  # links have the colour of when they were set
            text = self.text()
            self.clear()
            super().setText(text)


def agrees(parent: QWidget, title: str, question: str) -> bool:
    """Ask a question, and return whether the answer is yes."""
    box, button = QMessageBox(parent, textFormat=Qt.TextFormat.PlainText), QMessageBox.StandardButton
    box.setWindowTitle(shown(title))
    box.setIcon(QMessageBox.Icon.Question)
    box.setText(shown(question))
    box.setStandardButtons(button.Yes | button.No)
    return box.exec() == button.Yes


MIN_PX = 24


class ElidedLabel(PlainLabel):
    """A label that can be as narrow as a few characters."""

    def minimumSizeHint(self) -> QSize:
        return QSize(MIN_PX, super().minimumSizeHint().height())

    def setText(self, text: str) -> None:
        """Show a text; it is also the tooltip, unless another tooltip was set."""
        if self.toolTip() == tooltip(self.text()):
            self.setToolTip(tooltip(text))
        super().setText(text)
        self.setAccessibleName(self.shown_text)

    def paintEvent(self, event: QPaintEvent) -> None:
        box = self.contentsRect()
        text = self.fontMetrics().elidedText(self.shown_text, Qt.TextElideMode.ElideRight, box.width())
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            draw_text(painter, box, self.alignment(), text)
