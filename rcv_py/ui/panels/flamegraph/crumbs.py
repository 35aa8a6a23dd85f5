"""The way from everything to the frame that fills a flamegraph, as buttons that go back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from rcv_py.base.text import elide_right
from rcv_py.ui.core.plain_text import PlainLabel, button_text, with_tip
from rcv_py.ui.flame.flame_scene import FlameScene

LETTERS = 34  # of a name on a button
MOST = 5  # names at the end of the way that are shown


class FlameCrumbs(QWidget):
    """`All › file › file:258`.  What has no room is cut at the right."""

    chosen = Signal(int)  # frame, -1 for everything

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[object, ...] = ()
        self._buttons: list[QToolButton] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Frames around the one in view")
        self.show_way(None, -1)

    @property
    def buttons(self) -> list[QToolButton]:
        """The buttons from everything to the frame in view."""
        return list(self._buttons)

    def show_way(self, scene: FlameScene | None, frame: int) -> None:
        """Show the way to a frame; -1 is everything."""
        if self._shown == (scene, frame):
            return
        self._shown = (scene, frame)
        self._buttons.clear()
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        way = [] if scene is None or frame < 0 else scene.tree.ancestors(frame)
        self._add("All", "Show everything (0)", -1, is_last=not way)
        if len(way) > MOST:
            self._row.addWidget(_quiet("› …"))
        for one in way[-MOST:]:
            assert scene is not None
            self._row.addWidget(_quiet("›"))
            self._add(elide_right(scene.labels[one], LETTERS), scene.labels[one], one, is_last=one == frame)
        self._row.addStretch(1)

    def _add(self, text: str, tip: str, frame: int, is_last: bool) -> None:
        button = with_tip(QToolButton(autoRaise=True), tip)
        button.setText(button_text(text))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(f"{text}, in view" if is_last else f"Go back to {text}")
        button.clicked.connect(lambda: self.chosen.emit(frame))
        self._row.addWidget(button)
        self._buttons.append(button)


def _quiet(text: str) -> QLabel:
    label = PlainLabel(text)
    label.setObjectName("muted")
    return label
