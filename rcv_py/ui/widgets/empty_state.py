"""The text in place of an empty panel, or of a panel that failed: the reason, and what to do."""

import traceback
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QTextLayout
from PySide6.QtWidgets import QLabel, QSizePolicy, QStackedWidget, QWidget

from rcv_py.base.text import Message, translated
from rcv_py.ui.core.layout import Item, boxed, column, row
from rcv_py.ui.core.panel import Panel, PanelInfo, UiContext
from rcv_py.ui.core.plain_text import SELECTABLE, PlainLabel, copy_text, push_button

SIDE_PX, ABOVE_PX = 24, 4  # around the sentence
STOPS = (".", "。")  # the end of a sentence, in all languages


class WithEmptyState(QStackedWidget):
    """A widget, or a centred sentence in its place, with buttons that do what the sentence says."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.content = content
        centre = Qt.AlignmentFlag.AlignCenter
        self.sentence = PlainLabel(wordWrap=True, alignment=centre, textInteractionFlags=SELECTABLE)
        self.sentence.setObjectName("empty_state")
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._offers: tuple[QWidget, ...] = ()
        self._below = row(None, None, spacing=8)
        page = column(None, self.sentence, self._below, None, margins=(SIDE_PX, ABOVE_PX, SIDE_PX, ABOVE_PX))
        page.setSpacing(8)
        self.addWidget(content)
        self.addWidget(boxed(page))

    def offer(self, *buttons: QWidget) -> None:
        """Add buttons below the sentence, for `say` to show."""
        self._offers = buttons
        for button in buttons:
            self._below.insertWidget(self._below.count() - 1, button)
            button.hide()

    def say(self, sentence: str, is_offering: bool = False) -> None:
        """Show the sentence, with the buttons if `is_offering`, or the content if it is empty."""
        for button in self._offers:
            button.setVisible(is_offering)
        self.sentence.setText(sentence)
        self._fit()
        self.sentence.setAccessibleName(translated(sentence))
        self.setCurrentIndex(1 if sentence else 0)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Keep each option on one line; copied options keep their typed hyphens."""
        width = self.width() - 2 * SIDE_PX
        self.sentence.break_lines(lambda text: with_whole_options(self.sentence, text, width))

    def minimumSizeHint(self) -> QSize:
        """Return the minimum of the visible widget: a sentence needs less room than the content."""
        shown = self.currentWidget()
        return super().minimumSizeHint() if shown is None else shown.minimumSizeHint()

    @property
    def is_empty(self) -> bool:
        """Return whether the sentence is shown."""
        return self.currentIndex() == 1


def with_whole_options(label: QLabel, text: str, width: int) -> str:
    """Return a text with a line break before each option that a label of this width would break at a hyphen.

    Commands keep their line breaks, and end without a full stop: the user may paste a command into a shell,
    where a new line ends it.
    """
    parts = text.split("\n")
    return "\n".join(_whole_options(label, part, width) if part.endswith(STOPS) else part for part in parts)


def _whole_options(label: QLabel, text: str, width: int) -> str:
    layout = QTextLayout(text, label.font())
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(1, width))
        first, stop = line.textStart(), line.textStart() + line.textLength()
        space = text.rfind(" ", first, stop)
        if stop < len(text) and text[stop - 1] == "-" and text.startswith("--", space + 1) and space > first:
            layout.endLayout()
            return f"{text[:space]}\n{_whole_options(label, text[space + 1 :], width)}"
    layout.endLayout()
    return text


def page(panel: QWidget, *items: Item) -> WithEmptyState:
    """Fill a panel with items one below the other, or with a sentence in place of all of them."""
    alone = items[0] if len(items) == 1 else None
    empty = WithEmptyState(alone if isinstance(alone, QWidget) else boxed(column(*items)))
    column(empty, of=panel)
    return empty


class BrokenNotice(QWidget):
    """A sentence in place of a panel; `again` runs on the button "Try again", if there is one."""

    def __init__(self, sentence: str, report: str, again: Callable[[], None] | None = None) -> None:
        super().__init__()
        self.report = report
        self.sentence = PlainLabel(sentence, wordWrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        tip = "Copy what a bug report needs."
        buttons = [push_button("Copy report", tip, lambda: copy_text(self.report))]
        if again is not None:
            buttons.append(push_button("Try again", "Show the panel again.", again))
        below = row(None, *buttons, None, spacing=6)
        column(None, self.sentence, below, None, margins=(9, 9, 9, 9), spacing=6, of=self)


class BrokenPanel(Panel):
    """Shows that a panel could not be made; the rest of the window works."""

    def __init__(self, ui: UiContext, info: PanelInfo, report: str) -> None:
        super().__init__(ui)
        self.report = report
        text = Message("{0} could not be made because of a mistake in rcv. The rest works.", info.title)
        column(BrokenNotice(text, report), of=self)


def make_panel(ui: UiContext, info: PanelInfo) -> Panel:
    """Make a panel; a `BrokenPanel` if it raises."""
    try:
        panel = info.load()(ui)
    except Exception:  # the panel boundary: a broken panel must not break the window
        panel = BrokenPanel(ui, info, traceback.format_exc())
    if not panel.accessibleName():
        panel.setAccessibleName(translated(info.title))
    if not panel.accessibleDescription():
        panel.setAccessibleDescription(translated(info.tip))
    return panel
