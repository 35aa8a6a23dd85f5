"""Small parts of the source panel: a row of widgets, and the chain of inlined places as links."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QWidget

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.model.code import SourceFile
from rcv_py.ui.core.plain_text import Rich, joined, rich


def chain_html(sources: Sequence[SourceFile], chain: Sequence[tuple[int, int]], color: str) -> Rich:
    """Return the chain from outermost to innermost; each place is a link `file:line` in a colour."""
    links = [
        rich('<a style="color:{}" href="{}:{}">{}</a>', color, file, line, place_text(sources, file, line))
        for file, line in chain
    ]
    return rich("Inlined: {}", joined(" › ", reversed(links)))


def stretched_row(stretched: QWidget, *others: QWidget) -> QHBoxLayout:
    """Return widgets side by side; the first one takes the room that is left."""
    row = QHBoxLayout()
    row.setContentsMargins(8, 4, 8, 4)
    row.setSpacing(4)
    row.addWidget(stretched, 1)
    for widget in others:
        row.addWidget(widget)
    return row
