"""What stands in the place of a panel that met a mistake: a sentence, the report, and another try."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from rcv_py.ui.core.plain_text import PlainLabel, copy_text


class BrokenNotice(QWidget):
    """`again` is what the button "Try again" does; without it there is none."""

    def __init__(self, sentence: str, report: str, again: Callable[[], None] | None = None) -> None:
        super().__init__()
        self.report = report
        self.sentence = PlainLabel(sentence, wordWrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        copy = QPushButton("Copy report")
        copy.setToolTip("Copy what a bug report needs.")
        copy.clicked.connect(lambda: copy_text(self.report))
        buttons = QHBoxLayout()
        buttons.addStretch()
        buttons.addWidget(copy)
        if again is not None:
            retry = QPushButton("Try again")
            retry.setToolTip("Show the panel again.")
            retry.clicked.connect(again)
            buttons.addWidget(retry)
        buttons.addStretch()
        around = QVBoxLayout(self)
        around.addStretch()
        around.addWidget(self.sentence)
        around.addLayout(buttons)
        around.addStretch()
