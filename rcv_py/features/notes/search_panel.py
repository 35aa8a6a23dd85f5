"""Search by text: code and sources, notes, bookmarks and visited places."""

from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import BAR, boxed, column, row
from rcv_py.ui.core.panel import PART, Panel, Sheet, discover
from rcv_py.ui.table.find_bar import FindBar
from rcv_py.ui.table.table_panel import SearchedPanel
from rcv_py.ui.widgets.choice import ChoiceBox
from rcv_py.ui.widgets.empty_state import make_panel

PARTS = {"matches": "Code", "history": "History", "notes": "Notes"}


class SearchPanel(Panel):
    """One field for the panels that are `within` this one, each made when it is first shown.

    The panel's table, command and so on come from the visible part.
    """

    panel_id = "search"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._infos = {info.id: info for info in discover() if info.within == self.panel_id}
        self._made: dict[str, Panel] = {}
        self._states: dict[str, dict[str, Any]] = {}  # states of parts that are not made yet
        self.stack = QStackedWidget()
        self.stack.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.choice = ChoiceBox("What is searched", PARTS)
        self.choice.currentIndexChanged.connect(self._show_chosen)
        self.bar = FindBar(ui.theme, "Search code and sources", has_filter=False, is_narrow=True)
        self.bar.edited.connect(ui.session.query.set)
        self.bar.stepped.connect(self._step)
        ui.session.query.watch(self._show_query)
        head = row(self.choice, (self.bar, 1), margins=BAR, spacing=4)
        head.setAlignment(self.choice, Qt.AlignmentFlag.AlignTop)
        column(boxed(head), (self.stack, 1), of=self)
        self._show_query()

    def showEvent(self, event: QShowEvent) -> None:
        self._show_chosen()
        super().showEvent(event)

    def _show_query(self) -> None:
        self.bar.show_query(self.session.query.value)

    def _say(self, part: Panel, text: str, count: int, problem: str) -> None:
        if part is self.chosen_panel:
            self.bar.say(text, count, problem)

    def _step(self, direction: int) -> None:
        part = self.chosen_panel
        if isinstance(part, SearchedPanel):
            part.step(direction)

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
            self.stack.addWidget(part)
            part.load_state(self._states.get(name, {}))
            if isinstance(part, SearchedPanel):  # without a notice that it is broken
                part.counted.connect(partial(self._say, part))
        return self._made[name]

    def made_part(self, name: str) -> Panel | None:
        """Return a part, None if it does not exist yet."""
        return self._made.get(name)

    def show_part(self, name: str) -> None:
        self.choice.choose(name)

    def _show_chosen(self) -> None:
        part = self.chosen_panel
        self.stack.setCurrentWidget(part)
        if isinstance(part, SearchedPanel):
            part.say()

    def first_focus(self) -> QWidget:
        """Return the field: the user enters this panel to type."""
        return self.bar.field

    def focus_search(self) -> bool:
        self.bar.focus()
        return True

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
