"""What a panel shows when it has nothing to show: why, and what to do."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from rcv_py.ui.core.layout import Item, boxed, column
from rcv_py.ui.core.plain_text import SELECTABLE, PlainLabel


class WithEmptyState(QStackedWidget):
    """A widget, or a centred sentence in its place."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.content = content
        self.sentence = PlainLabel(
            objectName="empty_state",
            wordWrap=True,
            alignment=Qt.AlignmentFlag.AlignCenter,
            textInteractionFlags=SELECTABLE,
        )
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        page = column(self.sentence, margins=(24, 16, 24, 16))
        page.setAlignment(self.sentence, Qt.AlignmentFlag.AlignVCenter)
        self.addWidget(content)
        self.addWidget(boxed(page))

    def say(self, sentence: str) -> None:
        """Show the sentence, or the content if it is empty."""
        self.sentence.setText(sentence)
        self.sentence.setAccessibleName(sentence)
        self.setCurrentIndex(1 if sentence else 0)
        self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        """That of what is shown: a sentence needs less room than what it stands for."""
        shown = self.currentWidget()
        return super().minimumSizeHint() if shown is None else shown.minimumSizeHint()

    @property
    def is_empty(self) -> bool:
        """Whether the sentence is shown."""
        return self.currentIndex() == 1


def page(panel: QWidget, *items: Item) -> WithEmptyState:
    """Fill a panel with items one below the other, or with a sentence in the place of all of them."""
    alone = items[0] if len(items) == 1 else None
    empty = WithEmptyState(alone if isinstance(alone, QWidget) else boxed(column(*items)))
    column(empty, of=panel)
    return empty
