"""The menus in the header of the instruction table: numbers, arrows, bars and their scale, folds, search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import QMenu

from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.base.text import Message, translated, uncapitalized
from rcv_py.features.isa.arrows import LEGEND, MODES
from rcv_py.features.isa.ink import SCALES
from rcv_py.features.isa.program import FOLD_BY
from rcv_py.model.modes import LatencyMode
from rcv_py.state.cell import Cell
from rcv_py.state.commands import Command
from rcv_py.ui.core.plain_text import add_action, allow
from rcv_py.ui.core.settings_store import Settings

SQUARE = 10  # px, of a colour in a menu
SWITCHES = {"isa.per_block": "Relative to the longest of each block", "isa.show_idle": "Count idle time"}
TEXT_SWITCHES = {
    "isa.color_text": "Colour instructions by unit",
    "isa.whole_text": "Scroll sideways for long lines",
    "isa.registers": "Show registers that are held",
}
MODE_TIPS = {
    LatencyMode.SUM_ALL: "Cycles of all executions in all waves.",
    LatencyMode.MEAN_ALL: "Mean cycles of an execution in all waves.",
    LatencyMode.ITERATION: "Cycles of the selected execution of the selected wave.",
    LatencyMode.SUM_WAVE: "Cycles of all executions in the selected wave.",
    LatencyMode.MEAN_WAVE: "Mean cycles of an execution in the selected wave.",
    LatencyMode.MAX_WAVE: "Cycles of the longest execution in the selected wave.",
}
ARROW_TIPS = {
    "waits": "From instructions that the selected wave waited for to the waits.",
    "branches": "From branches to where they jumped, in all waves.",
    "both": "Waits of the selected wave, and branches.",
    "none": "Leave the gutter empty.",
}


@dataclass(frozen=True, slots=True)
class IsaMenus:
    """Fills menus with choices; each shows the current choice, and why a choice is disabled."""

    settings: Settings
    latency: Cell[LatencyMode]
    arrows: Callable[[], str]
    set_arrows: Callable[[str], None]
    bars: Callable[[], Annotation]
    set_bars: Callable[[Annotation], None]
    objections: Callable[[], dict[Annotation, str]]
    legend: Callable[[], Sequence[tuple[QColor, str, str]]]
    fold_by: Callable[[], str]
    set_fold_by: Callable[[str], None]
    find: Callable[[], object]
    commands: tuple[Command, ...]

    def fill_latency(self, menu: QMenu) -> None:
        """Add the numbers that the columns can show."""
        for mode in LatencyMode:
            is_on = self.latency.value is mode
            add_action(menu, mode.value, partial(self.latency.set, mode), tip=MODE_TIPS[mode], is_on=is_on)

    def fill_arrows(self, menu: QMenu) -> None:
        """Add the arrows that the gutter can show."""
        for mode, title in MODES.items():
            tip = f"{ARROW_TIPS[mode]}\n{LEGEND}"
            is_on = self.arrows() == mode
            add_action(menu, title, partial(self.set_arrows, mode), tip=tip, is_on=is_on)

    def fill_bars(self, menu: QMenu) -> None:
        """Add the contents of bars, their scale, and the legend of their colours."""
        why = self.objections()
        for mode in Annotation:
            action = add_action(menu, mode.value, partial(self.set_bars, mode), is_on=self.bars() is mode)
            allow(action, why.get(mode, ""))
        menu.addSeparator()
        for scale, title in SCALES.items():
            is_on = self.settings["isa.bar_scale"] == scale
            add_action(menu, title, partial(self.settings.__setitem__, "isa.bar_scale", scale), is_on=is_on)
        for name, title in SWITCHES.items():
            is_on = bool(self.settings[name])
            add_action(menu, title, partial(self.settings.__setitem__, name, not is_on), is_on=is_on)
        if legend := self.legend():
            menu.addSeparator()
        for color, name, meaning in legend:
            picture = QPixmap(SQUARE, SQUARE)
            picture.fill(color)
            action = add_action(menu, name, lambda: None, tip=meaning)
            action.setIcon(QIcon(picture))

    def fill_folds(self, menu: QMenu) -> None:
        """Add actions that fold several blocks at once, and what is folded."""
        for command in self.commands:
            menu.addAction(translated(f"{command.title}\t{''.join(command.shortcuts[:1])}"), command.run)
        menu.addSeparator()
        for name, title in FOLD_BY.items():
            is_on = self.fold_by() == name
            add_action(
                menu,
                Message("By {0}", uncapitalized(title)),
                partial(self.set_fold_by, name),
                is_on=is_on,
            )

    def fill_text(self, menu: QMenu) -> None:
        """Add search, and how instructions are drawn."""
        menu.addAction(translated("Find instructions …\tCtrl+F"), self.find)
        for name, title in TEXT_SWITCHES.items():
            is_on = bool(self.settings[name])
            add_action(menu, title, partial(self.settings.__setitem__, name, not is_on), is_on=is_on)

    def fill_all(self, menu: QMenu) -> None:
        """Add all of them, for the keyboard and for narrow headers."""
        menu.addSeparator()
        parts = (
            ("Latency mode", self.fill_latency),
            ("Arrows", self.fill_arrows),
            ("Bars", self.fill_bars),
            ("Fold", self.fill_folds),
            ("Instructions", self.fill_text),
        )
        for title, fill in parts:
            part = menu.addMenu(translated(title))
            part.setToolTipsVisible(True)
            fill(part)
