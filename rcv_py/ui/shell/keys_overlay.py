"""All keys, grouped by menu, over the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from rcv_py.state.commands import Commands
from rcv_py.ui.core.layout import boxed, column, row
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.shell.menus import MENUS, shown_keys

MOUSE = (
    ("Wheel", "Zoom about the mouse"),
    ("Shift+Wheel", "Scroll rows"),
    ("Drag", "Pan"),
    ("Shift+Drag", "Measure; stays until Esc"),
    ("Alt+Drag", "Choose the clock range"),
    ("Click", "Select"),
    ("Double-click", "Zoom to it"),
    ("Right-click", "More"),
)
COLUMNS = 3


def groups(commands: Commands) -> dict[str, list[tuple[str, str]]]:
    """Return (keys, title) of every command that has keys, by menu."""
    table: dict[str, list[tuple[str, str]]] = {title: [] for title in (*MENUS, "Other")}
    for command in commands:
        if command.shortcuts:
            top = command.menu.split("/")[0]
            row = (shown_keys(command, every=True), command.title)
            table[top if top in MENUS else "Other"].append(row)
    return {title: rows for title, rows in table.items() if rows}


class KeysOverlay(QFrame):
    """A card over the window; any key or click takes it away."""

    def __init__(self, commands: Commands, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("overlay_card")
        self.setAccessibleName("Keys")
        table = groups(commands) | {"Mouse, over a timeline": list(MOUSE)}
        columns = [_column(part) for part in _balanced(table)]
        body = boxed(row(*columns, margins=(24, 16, 24, 16), spacing=32))
        scroll = QScrollArea(widgetResizable=True, frameShape=QFrame.Shape.NoFrame)
        scroll.setWidget(body)
        column(scroll, margins=(1, 1, 1, 1), of=self)
        window = parent.window()
        hint = body.sizeHint()
        self.resize(min(hint.width() + 24, window.width() - 48), min(hint.height() + 8, window.height() - 48))
        corner = window.mapToGlobal(window.rect().center())
        self.move(corner.x() - self.width() // 2, corner.y() - self.height() // 2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close at any key."""
        self.close()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Close at a click."""
        self.close()


def _balanced(table: dict[str, list[tuple[str, str]]]) -> list[dict[str, list[tuple[str, str]]]]:
    columns: list[dict[str, list[tuple[str, str]]]] = [{} for _ in range(COLUMNS)]
    for title, rows in sorted(table.items(), key=lambda pair: -len(pair[1])):
        shortest = min(columns, key=lambda column: sum(len(rows) + 2 for rows in column.values()))
        shortest[title] = rows
    return columns


def _column(table: dict[str, list[tuple[str, str]]]) -> QVBoxLayout:
    box = column(spacing=12)
    for title, rows in table.items():
        heading = PlainLabel(title)
        heading.setProperty("role", "heading")
        box.addWidget(heading)
        grid = QGridLayout(horizontalSpacing=16, verticalSpacing=3)
        for line, (keys, text) in enumerate(rows):
            label = PlainLabel(keys)
            label.setProperty("role", "muted")
            grid.addWidget(label, line, 0)
            grid.addWidget(PlainLabel(text), line, 1)
        grid.setColumnStretch(1, 1)
        box.addLayout(grid)
    box.addStretch()
    return box
