"""Layouts in one line: `column(bar((legend, 1), note, None), (view, 1), of=panel)`; None is empty space."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from PySide6 import QtWidgets
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialogButtonBox, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from rcv_py.ui.core.plain_text import shown

Item = QWidget | QLayout | int | None | tuple[QWidget | QLayout | None, int]  # int: space in px
Margins = tuple[int, int, int, int]  # left, top, right, bottom, in px
Box = TypeVar("Box", bound=QtWidgets.QBoxLayout)
Widget = TypeVar("Widget", bound=QWidget)

NONE: Margins = (0, 0, 0, 0)
CLOSE = QDialogButtonBox.StandardButton.Close
BAR: Margins = (8, 4, 8, 4)  # around a bar of choices and notes
BAR_ABOVE: Margins = (8, 4, 8, 0)  # around the upper of two bars
BAR_BELOW: Margins = (8, 2, 8, 4)  # around the lower one


def column(*items: Item, margins: Margins = NONE, spacing: int = 0, of: QWidget | None = None) -> QVBoxLayout:
    """Return items one below the other; with `of` they fill that widget."""
    return _filled(QVBoxLayout() if of is None else QVBoxLayout(of), items, margins, spacing)


def row(*items: Item, margins: Margins = NONE, spacing: int = 0, of: QWidget | None = None) -> QHBoxLayout:
    """Return items side by side; with `of` they fill that widget."""
    return _filled(QHBoxLayout() if of is None else QHBoxLayout(of), items, margins, spacing)


def bar(*items: Item, margins: Margins = BAR, of: QWidget | None = None) -> QHBoxLayout:
    """Return the choices and notes above a table or a plot."""
    return row(*items, margins=margins, spacing=8, of=of)


def grid(
    rows: Iterable[Sequence[QWidget]], *, across: int, down: int, is_even: bool = False
) -> QtWidgets.QGridLayout:
    """Return rows of widgets in columns, with a gap in px; the last column, or each, takes what is left."""
    box = QtWidgets.QGridLayout()
    box.setHorizontalSpacing(across)
    box.setVerticalSpacing(down)
    for line, widgets in enumerate(rows):
        for place, widget in enumerate(widgets):
            box.addWidget(widget, line, place)
            box.setColumnStretch(place, int(is_even or widget is widgets[-1]))
    return box


def boxed(layout: QLayout) -> QWidget:
    """Return a widget filled by a layout."""
    box = QWidget()
    box.setLayout(layout)
    return box


def scrolled(content: QWidget, *, is_wide: bool = True) -> QtWidgets.QScrollArea:
    """Return an area that scrolls a widget, sideways too if `is_wide`."""
    area = QtWidgets.QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QtWidgets.QScrollArea.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    if not is_wide:
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(content)
    return area


class Dialog(QtWidgets.QDialog):
    """A dialog that is deleted when it is closed, with buttons below: by default Close."""

    def __init__(
        self, title: str, parent: QWidget | None, buttons: QDialogButtonBox.StandardButton = CLOSE
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(shown(title))
        self.buttons = QDialogButtonBox(buttons)
        self.buttons.rejected.connect(self.reject)

    def fill(self, *items: Item, margins: Margins = (16, 16, 16, 16), spacing: int = 8) -> None:
        """Stack items, with the buttons below them."""
        column(*items, self.buttons, margins=margins, spacing=spacing, of=self)


def resize_now(widget: QWidget, size: QSize) -> None:
    """Resize a widget, and place what is in it without waiting for an event."""
    widget.resize(size)
    for layout in widget.findChildren(QLayout):
        layout.activate()


def split(*parts: QWidget, sizes: tuple[int, ...], is_column: bool = False) -> QtWidgets.QSplitter:
    """Return widgets side by side, or stacked, with a handle between them; sizes in px."""
    splitter = QtWidgets.QSplitter(Qt.Orientation.Vertical if is_column else Qt.Orientation.Horizontal)
    for part in parts:
        splitter.addWidget(part)
    splitter.setSizes(sizes)
    splitter.setChildrenCollapsible(False)
    return splitter


def _filled(box: Box, items: tuple[Item, ...], margins: Margins, spacing: int) -> Box:
    box.setContentsMargins(*margins)
    box.setSpacing(spacing)
    for item in items:
        what, stretch = item if isinstance(item, tuple) else (item, 0)
        if what is None:
            box.addStretch(stretch or 1)
        elif isinstance(what, int):
            box.addSpacing(what)
        elif isinstance(what, QLayout):
            box.addLayout(what, stretch)
        else:
            box.addWidget(what, stretch)
    return box


def wrapped(widgets: Iterable[Widget], width: int, gap: int) -> list[list[Widget]]:
    """Return widgets in rows, wrapped like words at a width in px; a row has at least one.

    Widgets that wrap are placed by their parent: a layout in Python would be called while Qt holds locks.
    """
    rows: list[list[Widget]] = []
    used = 0
    for widget in widgets:
        wanted = widget.sizeHint().width()
        if not rows or used + gap + wanted > width:
            rows.append([])
            used = -gap
        rows[-1].append(widget)
        used += gap + wanted
    return rows
