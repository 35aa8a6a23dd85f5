"""The choices above the instruction table: numbers, arrows, bars, scale, folds, and what colours mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QMenu, QToolButton, QWidget

from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.base.settings import BY_NAME
from rcv_py.model.modes import LatencyMode
from rcv_py.state.commands import Command
from rcv_py.ui.core.layout import BAR, row
from rcv_py.ui.core.plain_text import add_action, tooltip, with_tip
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.panels.isa.arrows import MODES
from rcv_py.ui.panels.isa.ink import SCALES
from rcv_py.ui.panels.isa.program import FOLD_BY
from rcv_py.ui.table.find_bar import FindBar
from rcv_py.ui.widgets.legend import Legend

WHAT_BARS_SHOW = "What the bars show."
NARROW = 64  # px: of a choice where room is short; its tip says more
WIDE = 860  # px: from it on the scale of the bars has room


class IsaBar(QWidget):
    """One row: find, numbers, arrows, what the bars show, their scale if there is room, legend, folds."""

    annotated = Signal(object)  # Annotation
    rescaled = Signal()

    def __init__(self, find: FindBar, settings: Settings) -> None:
        super().__init__()
        self.find_bar, self._settings = find, settings
        modes = {mode: mode.value for mode in LatencyMode}
        self.mode = _box("Latency mode", "Which numbers the columns show.", 11, modes)
        self.gutter = _box("Arrows in the gutter", "Which arrows the gutter shows.", 6, MODES)
        annotations = {annotation: annotation.value for annotation in Annotation}
        self.annotation = _box("What the bars show", WHAT_BARS_SHOW, 12, annotations)
        scales = {(name, False): title for name, title in SCALES.items()}
        scales |= {(name, True): f"{title}, per block" for name, title in SCALES.items()}
        self.scale = _box("Scale of the bars", "How long the bars are.", 8, scales)
        self.fold = with_tip(QToolButton(), "Fold blocks of the listing.")
        self.fold.setText("Fold")
        self.fold.setAccessibleName("Fold blocks")
        self.fold.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.legend = Legend()
        choices = (self.mode, self.gutter, self.annotation, self.scale)
        row((find, 3), *choices, (self.legend, 2), self.fold, margins=BAR, spacing=6, of=self)
        self.annotation.activated.connect(lambda: self.annotated.emit(self.annotation.currentData()))
        self.scale.activated.connect(self._scale_chosen)
        for name in ("isa.bar_scale", "isa.per_block"):
            settings.cell(name).watch(self._show_scale)
        self._show_scale()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the scale to the header's menu where room is short."""
        super().resizeEvent(event)
        self.scale.setVisible(self.width() >= WIDE)

    def set_fold_actions(
        self, commands: tuple[Command, ...], by: Callable[[str], None], current: Callable[[], str]
    ) -> None:
        """Give the fold button its menu: commands, then what is folded."""
        menu = QMenu(self.fold)
        for command in commands:
            menu.addAction(f"{command.title}\t{command.shortcuts[0]}", command.run)
        menu.addSeparator()
        ticks: dict[str, QAction] = {}
        for name, title in FOLD_BY.items():
            ticks[name] = menu.addAction(f"By {title[0].lower()}{title[1:]}", partial(by, name))
            ticks[name].setCheckable(True)

        def tick() -> None:
            for name, action in ticks.items():
                action.setChecked(name == current())

        menu.aboutToShow.connect(tick)
        self.fold.setMenu(menu)

    def show_annotation(self, mode: Annotation) -> None:
        """Show which one is chosen."""
        self.annotation.setCurrentIndex(self.annotation.findData(mode))

    def set_objections(self, why: dict[Annotation, str]) -> None:
        """Disable what is not possible; its tooltip says why."""
        model = self.annotation.model()
        assert isinstance(model, QStandardItemModel)
        for at in range(self.annotation.count()):
            sentence = why.get(self.annotation.itemData(at), "")
            model.item(at).setEnabled(not sentence)
            model.item(at).setToolTip(tooltip(sentence or WHAT_BARS_SHOW))

    def _scale_chosen(self) -> None:
        self._settings["isa.bar_scale"], self._settings["isa.per_block"] = self.scale.currentData()

    def _show_scale(self) -> None:
        wanted = (self._settings["isa.bar_scale"], self._settings["isa.per_block"])
        places = [at for at in range(self.scale.count()) if tuple(self.scale.itemData(at)) == wanted]
        self.scale.setCurrentIndex(places[0] if places else 0)
        self.rescaled.emit()

    def next_scale(self) -> None:
        """Take the next scale of the list."""
        self.scale.setCurrentIndex((self.scale.currentIndex() + 1) % self.scale.count())
        self._scale_chosen()


def _box(name: str, tip: str, length: int, items: Mapping[Any, str]) -> QComboBox:
    box = with_tip(QComboBox(minimumContentsLength=length), tip)
    for value, text in items.items():
        box.addItem(text, value)
    box.setAccessibleName(name)
    box.setMinimumWidth(NARROW)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.view().setTextElideMode(Qt.TextElideMode.ElideNone)
    return box


def choose_next(box: QComboBox) -> None:
    """Choose the entry after the current one that is enabled, around the end, as the user does."""
    model = box.model()
    for step in range(1, box.count() + 1):
        at = (box.currentIndex() + step) % box.count()
        if model.flags(model.index(at, 0)) & Qt.ItemFlag.ItemIsEnabled:
            box.setCurrentIndex(at)
            box.activated.emit(at)
            return


def extend_header_menu(settings: Settings) -> Callable[[QMenu], None]:
    """Return a function that adds the scale of bars and what counts to a header's menu."""

    def extend(menu: QMenu) -> None:
        scales = menu.addMenu("Scale of cost bars")
        for scale in BY_NAME["isa.bar_scale"].choices:
            call = partial(settings.__setitem__, "isa.bar_scale", scale)
            add_action(scales, scale, call, is_on=settings["isa.bar_scale"] == scale)
        is_on = settings["isa.show_idle"]
        call = partial(settings.__setitem__, "isa.show_idle", not is_on)
        add_action(menu, "Count idle time", call, is_on=is_on)

    return extend
