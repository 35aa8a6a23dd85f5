"""A panel of several parts: a choice, and the chosen part."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Panel, Sheet, discover
from rcv_py.ui.widgets.broken import make_panel
from rcv_py.ui.widgets.choice import ChoiceBox, Switch

PART = "part"  # key of the chosen part in the saved state


class PartedPanel(Panel):
    """Shows one of the panels that are `within` this panel; each is made when it is first shown.

    Subclasses lay out `choice` and `stack`.  The panel's table, command and so on come from the visible part.
    """

    choice_name: ClassVar[str] = ""  # purpose of the choice
    choice_kind: ClassVar[type[ChoiceBox | Switch]] = ChoiceBox
    texts: ClassVar[Mapping[str, str]] = MappingProxyType({})  # titles of the parts

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._infos = {info.id: info for info in discover() if info.within == self.panel_id}
        self._made: dict[str, Panel] = {}
        self._states: dict[str, dict[str, Any]] = {}  # states of parts that are not made yet
        self.stack = QStackedWidget()
        self.stack.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.choice = self.choice_kind(self.choice_name, self.texts)
        self.choice.currentIndexChanged.connect(self._show_chosen)

    def showEvent(self, event: QShowEvent) -> None:
        self._show_chosen()
        super().showEvent(event)

    # -- parts --------------------------------------------------------------------------------------

    @property
    def chosen_panel(self) -> Panel:
        return self.part(self.choice.value)

    @property
    def chosen_part(self) -> str:
        return self.choice.value

    def part(self, name: str) -> Panel:
        """Return a part, making it if needed; KeyError if there is none."""
        if name not in self._made:
            part = self._made[name] = make_panel(self.ui, self._infos[name])
            part.wants.connect(self.wants)
            part.copy_asked.connect(self.copy_asked)
            self._put(part)
            part.load_state(self._states.get(name, {}))
            self._prepare(part)
        return self._made[name]

    def made_part(self, name: str) -> Panel | None:
        """Return a part, None if it does not exist yet."""
        return self._made.get(name)

    def show_part(self, name: str) -> None:
        self.choice.choose(name)

    def _put(self, part: Panel) -> None:
        """Put a new part in its place."""
        self.stack.addWidget(part)

    def _prepare(self, part: Panel) -> None:
        """Configure a new part for the panel."""

    def _show_chosen(self) -> None:
        self.stack.setCurrentWidget(self.chosen_panel)

    # -- called by the shell ------------------------------------------------------------------------

    def first_focus(self) -> QWidget | None:
        return self.chosen_panel.first_focus()

    def sheet(self) -> Sheet | None:
        return self.chosen_panel.sheet()

    def command_line(self) -> tuple[str, ...] | None:
        return self.chosen_panel.command_line()

    def caption(self) -> str:
        return self.chosen_panel.caption()

    def save_state(self) -> dict[str, Any]:
        """Return the id of the visible part, and the state of each part by its name."""
        made = {name: part.save_state() for name, part in self._made.items()}
        return {**super().save_state(), PART: self.choice.value, **self._states, **made}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `save_state` returned, each part now or when it is made."""
        super().load_state(state)
        for name in self._infos:
            own = state.get(name)
            if isinstance(own, dict):
                self._states[name] = own
                if name in self._made:
                    self._made[name].load_state(own)
        self.choice.choose(state.get(PART))
