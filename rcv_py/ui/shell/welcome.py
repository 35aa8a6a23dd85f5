"""The first page: open, recent captures, samples and the five main keys."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLayout, QPushButton, QScrollArea, QWidget

from rcv_py.base import resources
from rcv_py.base.text import Message, elide_left, translated, visible
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import boxed, column, grid, row
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import PlainLabel, button_text, tooltip
from rcv_py.ui.shell.opener import Opener

RECENT_SHOWN = 6
PATH_LETTERS = 64
CARD_PX = 620
SAMPLES = {  # what each shows, the sample to begin with first
    "matmul_tiled": "start here: a matrix product whose waves wait for memory; where, when and why",
    "raw_rms_norm": "raw .att streams with their code object, decoded here",
    "compiled_rms_norm": "two builds of a kernel that no GPU has run: instructions, registers, limits",
    "pc_sampling": "samples of the program counter: hot instructions and stall reasons, no times",
    "placeholder": "a capture without waves: what the window says, and how to record again",
}
KEYS = (
    ("Ctrl+K", "find any command, instruction, wave or source file"),
    ("W A S D", "zoom and move in time; the wheel zooms about the mouse"),
    ("F  ·  0", "fit the selection; fit everything"),
    (",  .  ·  [  ]", "previous and next instruction; previous and next time a line ran"),
    ("?", "all keys"),
)


class EnterButton(QPushButton):
    """A button that Return presses too: outside of dialogs Qt only uses Space."""

    def __init__(
        self, text: str, call: Callable[[], object], tip: str = "", *, is_link: bool = False
    ) -> None:
        super().__init__(button_text(text))
        self.clicked.connect(lambda _=False: call())
        self.setToolTip(tooltip(tip))
        if is_link:
            self.setProperty("link", "true")
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


class DropHint(QFrame):
    """A frame around the whole window that names what a drop would open."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("drop_hint")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.label = PlainLabel(role="heading", alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        column((self.label, 1), margins=(24, 24, 24, 24), of=self)
        self.hide()

    def offer(self, name: str) -> None:
        """Show that a drop opens something with that name."""
        self.label.setText(Message("Drop it to open {0}.", visible(name)))
        self.setGeometry(self.window().rect())
        self.show()
        self.raise_()


class Welcome(QScrollArea):
    """Open, recent captures, samples, keys.  A folder can be dropped anywhere on it."""

    def __init__(
        self, ui: UiContext, opener: Opener, browse: Callable[[], None], learn: Callable[[], None]
    ) -> None:
        super().__init__()
        self._ui, self._opener = ui, opener
        self.setObjectName("welcome")
        self.setAccessibleName(translated("Welcome"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        title = PlainLabel("rcv")
        font = title.font()
        font.setPointSize(font.pointSize() * 2)
        font.setBold(True)
        title.setFont(font)
        about = "Instruction-level thread traces of AMD GPUs: where the cycles went, and why."
        head = title, PlainLabel(about, role="muted", wordWrap=True), 8, self._drop_target(browse), 8
        self._lists = column(spacing=2)
        keys = [(PlainLabel(keys), PlainLabel(text, role="muted", wordWrap=True)) for keys, text in KEYS]
        tutorial = "Tutorial: from a slow kernel to a faster one, in ten minutes"
        self.tutorial = EnterButton(tutorial, learn, is_link=True)
        known = PlainLabel("Keys worth knowing", role="heading"), grid(keys, across=16, down=4), 8
        below = (16, *known, row(self.tutorial, None), (None, 3))
        card = boxed(column((None, 2), *head, self._lists, *below, spacing=8))
        card.setMaximumWidth(CARD_PX)
        page = boxed(row(None, (card, 8), None, margins=(9, 9, 9, 9), spacing=6))
        page.setObjectName("welcome")
        self.setWidget(page)
        opener.recent_changed.connect(self.refresh)
        ui.theme.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the current recent captures and samples."""
        _clear(self._lists)
        self.links: list[QPushButton] = []
        parents = {path: elide_left(str(path.parent), PATH_LETTERS) for path in self._opener.recent}
        self._section("Recent", dict(list(parents.items())[:RECENT_SHOWN]))
        samples = {path.name: path for path in resources.samples()}
        known = [samples.pop(name) for name in SAMPLES if name in samples]
        texts = {path: SAMPLES.get(path.name, "") for path in (*known, *samples.values())}
        self._section("Sample captures", texts)

    def _drop_target(self, browse: Callable[[], None]) -> QWidget:
        target = QFrame()
        target.setObjectName("drop_target")
        tip = "Open a ui_output folder, or a folder that holds several  (Ctrl+O)"
        self.open = EnterButton("Open a folder …", browse, tip)
        self.open.setDefault(True)
        text = (
            "or drop one here: a ui_output_agent_…_dispatch_… folder, a folder with .att files, the folder"
            " above several, or a file: .att, .rcvz or the database of a run."
        )
        hint = PlainLabel(text, role="muted", wordWrap=True)
        row(self.open, (hint, 1), margins=(16, 16, 16, 16), spacing=16, of=target)
        return target

    def _section(self, title: str, paths: Mapping[Path, str]) -> None:
        """Add links that open captures, each with a text beside it."""
        if not paths:
            return
        self._lists.addSpacing(8)
        self._lists.addWidget(PlainLabel(title, role="heading"))
        for path, text in paths.items():
            open_it = partial(self._opener.open, path)
            link = EnterButton(self._opener.title(path), open_it, str(path), is_link=True)
            link.setIcon(icon(self._ui.theme, "folder", "accent"))
            beside = PlainLabel(text, role="muted", wordWrap=True)
            self._lists.addLayout(row(link, (beside, 1), spacing=12))
            self.links.append(link)


def _clear(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            _clear(inner)
