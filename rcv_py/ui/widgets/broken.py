"""The replacement for a panel that failed."""

import traceback
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from rcv_py.base.text import Message, translated
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import column, row
from rcv_py.ui.core.panel import Panel, PanelInfo
from rcv_py.ui.core.plain_text import PlainLabel, copy_text, with_tip


class BrokenNotice(QWidget):
    """A sentence in place of a panel; `again` runs on the button "Try again", if there is one."""

    def __init__(self, sentence: str, report: str, again: Callable[[], None] | None = None) -> None:
        super().__init__()
        self.report = report
        self.sentence = PlainLabel(sentence, wordWrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        copy = with_tip(QPushButton(translated("Copy report")), "Copy what a bug report needs.")
        copy.clicked.connect(lambda: copy_text(self.report))
        buttons = [copy]
        if again is not None:
            buttons.append(with_tip(QPushButton(translated("Try again")), "Show the panel again."))
            buttons[1].clicked.connect(again)
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
