"""A panel that is several: one place in the window, a choice, and the part that is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Panel, Sheet, discover
from rcv_py.ui.widgets.broken import make_panel
from rcv_py.ui.widgets.choice import Choice, Switch

PART = "part"  # under which the part that was shown is remembered


class PartedPanel(Panel):
    """Shows one of the panels that say they are `within` this one; each is made when it is first shown.

    Subclasses lay out `choice` and `stack`.  What is asked of the panel (a table, a command) is that of the
    part that is shown.
    """

    choice_name: ClassVar[str] = ""  # what the choice is for
    choice_kind: ClassVar[type[Choice | Switch]] = Choice
    texts: ClassVar[Mapping[str, str]] = MappingProxyType({})  # what it calls each part

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._infos = {info.id: info for info in discover() if info.within == self.panel_id}
        self._made: dict[str, Panel] = {}
        self._states: dict[str, dict[str, Any]] = {}  # of parts that are not made yet
        self.stack = QStackedWidget()
        self.stack.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.choice = self.choice_kind(self.choice_name, self.texts)
        self.choice.currentIndexChanged.connect(self._show_chosen)

    def showEvent(self, event: QShowEvent) -> None:
        """Make the part that is shown."""
        self._show_chosen()
        super().showEvent(event)

    # -- parts --------------------------------------------------------------------------------------

    @property
    def chosen_panel(self) -> Panel:
        """The part that is chosen."""
        return self.part(self.choice.value)

    @property
    def chosen_part(self) -> str:
        """Its id."""
        return self.choice.value

    def part(self, name: str) -> Panel:
        """Return a part, made now if nobody needed it before; KeyError if there is none."""
        if name not in self._made:
            part = self._made[name] = make_panel(self.ui, self._infos[name])
            part.wants.connect(self.wants)
            part.copy_asked.connect(self.copy_asked)
            self._put(part)
            self.visibility.lead(part.visibility)
            part.load_state(self._states.get(name, {}))
            self._prepare(part)
        return self._made[name]

    def made_part(self, name: str) -> Panel | None:
        """Return a part, None if it is not made."""
        return self._made.get(name)

    def show_part(self, name: str) -> None:
        """Choose a part."""
        self.choice.choose(name)

    def _put(self, part: Panel) -> None:
        """Give a part that was just made its place."""
        self.stack.addWidget(part)

    def _prepare(self, part: Panel) -> None:
        """Tell a part that was just made what it must know of the panel."""

    def _show_chosen(self) -> None:
        self.stack.setCurrentWidget(self.chosen_panel)

    # -- what the shell asks ------------------------------------------------------------------------

    def first_focus(self) -> QWidget | None:
        """What the part names."""
        return self.chosen_panel.first_focus()

    def sheet(self) -> Sheet | None:
        """The table of the part."""
        return self.chosen_panel.sheet()

    def command_line(self) -> tuple[str, ...] | None:
        """The command of the part."""
        return self.chosen_panel.command_line()

    def caption(self) -> str:
        """The caption of the part."""
        return self.chosen_panel.caption()

    def save_state(self) -> dict[str, Any]:
        """Which part is shown, and what each remembers, by its name."""
        made = {name: part.save_state() for name, part in self._made.items()}
        return {**super().save_state(), PART: self.choice.value, **self._states, **made}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned, each part now or when it is made."""
        super().load_state(state)
        for name in self._infos:
            own = state.get(name)
            if isinstance(own, dict):
                self._states[name] = own
                if name in self._made:
                    self._made[name].load_state(own)
        self.choice.choose(state.get(PART))
