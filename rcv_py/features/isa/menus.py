"""The menus of the instruction table: choices in its header, and experiments with an instruction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QMenu

from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.analysis.waits.room_above import NEVER, room_above, why_not_before
from rcv_py.base.manifest import panel_for
from rcv_py.base.text import Message, translated, uncapitalized
from rcv_py.features.isa.arrows import LEGEND, MODES
from rcv_py.features.isa.program import FOLD_BY, IsaFacts
from rcv_py.features.isa.view import IsaView
from rcv_py.model.modes import LatencyMode
from rcv_py.state.cell import Cell
from rcv_py.state.commands import Command
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import add_action, allow

SQUARE = 10  # px, of a colour in a menu
SWITCHES = {"isa.show_idle": "Count idle time"}
TEXT_SWITCHES = {
    "isa.whole_text": "Scroll sideways for long lines",
    "isa.registers": "Show registers that are held",
    "look.dense_rows": "Rows of 14 pixels",
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


class IsaMenus(NamedTuple):
    """Fills menus with choices; each shows the current choice, and why a choice is disabled."""

    view: IsaView
    facts: IsaFacts
    latency: Cell[LatencyMode]
    set_arrows: Callable[[str], None]
    set_bars: Callable[[Annotation], None]
    objections: Callable[[], dict[Annotation, str]]
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
            is_on = self.view.arrow_mode == mode
            add_action(menu, title, partial(self.set_arrows, mode), tip=tip, is_on=is_on)

    def fill_bars(self, menu: QMenu) -> None:
        """Add the contents of bars, and the legend of their colours."""
        why = self.objections()
        for mode in Annotation:
            action = add_action(menu, mode.value, partial(self.set_bars, mode), is_on=self.facts.mode is mode)
            allow(action, why.get(mode, ""))
        menu.addSeparator()
        self._add_switches(menu, SWITCHES)
        if legend := self.view.bars.legend():
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
            is_on = self.view.fold_by == name
            add_action(
                menu,
                Message("By {0}", uncapitalized(title)),
                partial(self.view.set_fold_by, name),
                is_on=is_on,
            )

    def fill_text(self, menu: QMenu) -> None:
        """Add search, and how instructions are drawn."""
        menu.addAction(translated("Find instructions …\tCtrl+F"), self.find)
        self._add_switches(menu, TEXT_SWITCHES)

    def _add_switches(self, menu: QMenu, titles: Mapping[str, str]) -> None:
        settings = self.view.settings
        for name, title in titles.items():
            is_on = bool(settings[name])
            add_action(menu, title, partial(settings.__setitem__, name, not is_on), is_on=is_on)

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


def try_before(session: Session, row: int, before: int, show: Callable[[str], object]) -> None:
    """Try an instruction right before another instruction; `show` brings a panel to the front."""
    from rcv_py.analysis.whatif.asked import ChangeRequest  # noqa: PLC0415 - it imports other analyses

    session.add_experiment(ChangeRequest(move=((row, before),)))
    show(panel_for("prediction"))


def add_trials(menu: QMenu, session: Session, row: int, show: Callable[[str], object]) -> None:
    """Add the experiments for an instruction: an earlier or another position, or no cost.

    `show` brings a panel to the front.
    """
    trace, selected = session.trace.value, session.selection.value.line
    assert trace is not None
    code = trace.code
    ran = "" if code.hits[row] and not code.is_label[row] else NEVER
    room = room_above(trace, row)

    def freed() -> None:
        from rcv_py.analysis.whatif.asked import ChangeRequest  # noqa: PLC0415 - as above

        session.add_experiment(ChangeRequest(free=(row,)))
        show(panel_for("prediction"))

    def add(title: str, call: Callable[[], object], why_not: str) -> None:
        allow(add_action(menu, title, call), why_not)

    has_room = room.top < row
    add(
        Message("Try it earlier, before {0}", room.top) if has_room else "Try it earlier",
        lambda: try_before(session, row, room.top, show),
        "" if has_room else room.why,
    )
    if selected is not None and selected != row and 0 <= selected < len(code):
        add(
            Message("Try instruction {0} before this instruction", selected),
            lambda: try_before(session, selected, row, show),
            why_not_before(trace, selected, row),
        )
    add("Try without it", freed, ran)
    menu.addSeparator()
