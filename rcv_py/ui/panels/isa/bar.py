"""The choices above the instruction table: numbers, arrows, bars, scale, folds, and what colours mean."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.model.modes import LatencyMode
from rcv_py.ui.core.plain_text import tooltip, with_tip
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.panels.isa.bars import SCALES
from rcv_py.ui.panels.isa.branch_arrows import MODES
from rcv_py.ui.panels.isa.program import FOLD_BY
from rcv_py.ui.table.find_bar import FindBar
from rcv_py.ui.widgets.legend import Legend

Action = tuple[str, str, Callable[[], object]]  # title, keys, what it does


class IsaBar(QWidget):
    """Two rows: find, numbers, arrows; below what the bars show, their scale, their legend, folds."""

    annotated = Signal(object)  # Annotation
    rescaled = Signal()

    def __init__(self, find: FindBar, settings: Settings) -> None:
        super().__init__()
        self.find_bar, self._settings = find, settings
        self.mode = with_tip(QComboBox(), "Which numbers the columns show.")
        self.gutter = with_tip(QComboBox(), "Which arrows the gutter shows.")
        self.annotation = with_tip(QComboBox(), "What the bars show.")
        self.scale = with_tip(QComboBox(), "How long the bars are.")
        self.fold = with_tip(QToolButton(), "Fold blocks of the listing.")
        self.fold.setText("Fold")
        self.legend = Legend()
        self._fill()
        self._lay_out()
        self.annotation.activated.connect(lambda: self.annotated.emit(self.annotation.currentData()))
        self.scale.activated.connect(self._scale_chosen)
        for name in ("isa.bar_scale", "isa.per_block"):
            settings.cell(name).watch(self._show_scale)
        self._show_scale()

    def _fill(self) -> None:
        for mode in LatencyMode:
            self.mode.addItem(mode.value, mode)
        for name, title in MODES.items():
            self.gutter.addItem(title, name)
        for annotation in Annotation:
            self.annotation.addItem(annotation.value, annotation)
        for per_block in (False, True):
            for name, title in SCALES.items():
                self.scale.addItem(f"{title}, per block" if per_block else title, (name, per_block))
        names = {
            self.mode: ("Latency mode", 11),
            self.gutter: ("Arrows in the gutter", 6),
            self.annotation: ("What the bars show", 12),
            self.scale: ("Scale of the bars", 8),
        }
        for box, (name, length) in names.items():
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(length)
            box.view().setTextElideMode(Qt.TextElideMode.ElideNone)

    def _lay_out(self) -> None:
        self.fold.setAccessibleName("Fold blocks")
        self.fold.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(8, 4, 8, 4)
        rows.setSpacing(4)
        for widgets in (
            (self.find_bar, self.mode, self.gutter),
            (self.annotation, self.scale, self.legend, self.fold),
        ):
            row = QHBoxLayout()
            row.setSpacing(8)
            for widget in widgets:
                row.addWidget(widget, 1 if widget in (self.find_bar, self.legend) else 0)
            rows.addLayout(row)

    # -- folding ------------------------------------------------------------------------------------

    def set_fold_actions(
        self, actions: tuple[Action, ...], by: Callable[[str], None], current: Callable[[], str]
    ) -> None:
        """Give the fold button its menu: actions, then what is folded."""
        menu = QMenu(self.fold)
        for title, keys, run in actions:
            menu.addAction(f"{title}\t{keys}", run)
        menu.addSeparator()
        ticks: dict[str, QAction] = {}

        def add(name: str, title: str) -> None:
            ticks[name] = menu.addAction(title, lambda: by(name))
            ticks[name].setCheckable(True)

        def tick() -> None:
            for name, action in ticks.items():
                action.setChecked(name == current())

        for name, title in FOLD_BY.items():
            add(name, f"By {title[0].lower()}{title[1:]}")
        menu.aboutToShow.connect(tick)
        self.fold.setMenu(menu)

    # -- annotation ---------------------------------------------------------------------------------

    def show_annotation(self, mode: Annotation) -> None:
        """Show which one is chosen."""
        self.annotation.setCurrentIndex(self.annotation.findData(mode))

    def set_objections(self, why: dict[Annotation, str]) -> None:
        """Disable what is not possible; its tooltip says why."""
        model = self.annotation.model()
        assert isinstance(model, QStandardItemModel)
        for at in range(self.annotation.count()):
            sentence = why.get(self.annotation.itemData(at), "")
            item = model.item(at)
            item.setEnabled(not sentence)
            item.setToolTip(tooltip(sentence or "What the bars show."))

    # -- scale --------------------------------------------------------------------------------------

    def _scale_chosen(self) -> None:
        name, per_block = self.scale.currentData()
        self._settings["isa.per_block"] = per_block
        self._settings["isa.bar_scale"] = name

    def _show_scale(self) -> None:
        wanted = (self._settings["isa.bar_scale"], self._settings["isa.per_block"])
        places = [at for at in range(self.scale.count()) if tuple(self.scale.itemData(at)) == wanted]
        self.scale.setCurrentIndex(places[0] if places else 0)
        self.rescaled.emit()

    def next_scale(self) -> None:
        """Take the next scale of the list."""
        self.scale.setCurrentIndex((self.scale.currentIndex() + 1) % self.scale.count())
        self._scale_chosen()


def next_of(box: QComboBox) -> int:
    """Return the index behind the current one that is enabled, around the end."""
    model = box.model()
    for step in range(1, box.count() + 1):
        at = (box.currentIndex() + step) % box.count()
        if model.flags(model.index(at, 0)) & Qt.ItemFlag.ItemIsEnabled:
            return at
    return box.currentIndex()
