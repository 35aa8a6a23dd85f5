"""A button whose menu chooses what is shown: check marks in groups; with Ctrl it stays open."""

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from rcv_py.base.record import Value
from rcv_py.base.text import Message, elide_right, translated
from rcv_py.ui.core.plain_text import add_action, tooltip

MAX_LENGTH = 48  # maximum characters of a name in the menu
MANY = 3  # minimum number of choices for an entry that shows or hides a whole section


class FilterItem(Value):
    """An element that can be shown or hidden."""

    id: str
    title: str
    is_on: bool = True  # default
    tip: str = ""


class _Menu(QMenu):
    """Closes when an entry is checked, unless Ctrl is held."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Check and close; with Ctrl check without closing."""
        action, is_held = self.activeAction(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if is_held and action is not None and action.isEnabled():
            action.trigger()
        else:
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space checks without closing; Return checks and closes."""
        action = self.activeAction()
        if event.key() == Qt.Key.Key_Space and action is not None and action.isEnabled():
            action.trigger()
        else:
            super().keyPressEvent(event)


class FilterButton(QToolButton):
    """Sections of choices.  `hidden` returns what must not be shown; `changed` fires when it changes."""

    changed = Signal()

    def __init__(self, what: str, saved: tuple[str, ...] = ()) -> None:
        """`what` is filtered, e.g. "the timeline"; choices whose ids begin with `saved` are remembered."""
        super().__init__()
        self._saved = saved
        self._sections: dict[str, tuple[FilterItem, ...]] = {}
        self._on: dict[str, bool] = {}  # the user's choices, of all sections so far
        self._actions: dict[str, QAction] = {}
        self._menu = _Menu(self, toolTipsVisible=True)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setAccessibleName(translated(Message("What {0} shows", what)))
        tip = Message("What {0} shows. Ctrl and a click keep the menu open for more choices.", what)
        self.setToolTip(tooltip(tip))
        self._say()

    def put_into_corner(self, parent: QWidget, place: QRect) -> None:
        """Lie small over a widget, instead of in a layout."""
        self.setParent(parent)
        self.setObjectName("corner")
        self.setGeometry(place)
        self.raise_()
        self._say()

    def set_section(self, title: str, choices: Sequence[FilterItem]) -> None:
        """Offer these choices under a title; none removes the section.  Earlier choices are kept."""
        choices = tuple(choices)
        if self._sections.get(title, ()) == choices:
            return
        if choices:
            self._sections[title] = choices
        else:
            self._sections.pop(title, None)
        self._fill()

    @property
    def choices(self) -> list[FilterItem]:
        """Return all choices."""
        return [choice for section in self._sections.values() for choice in section]

    @property
    def hidden(self) -> frozenset[str]:
        """Return ids of what must not be shown."""
        return frozenset(choice.id for choice in self.choices if not self._is_on(choice))

    def set_on(self, ids: Iterable[str], is_on: bool) -> None:
        """Show or hide some choices."""
        self._on.update(dict.fromkeys(ids, is_on))
        self._follow()
        self.changed.emit()

    def forget(self, prefix: str) -> None:
        """Reset choices whose ids begin with a prefix."""
        self._on = {id: is_on for id, is_on in self._on.items() if not id.startswith(prefix)}
        self._follow()

    def save_state(self) -> dict[str, bool]:
        """Return the user's choices, as plain JSON."""
        return {id: is_on for id, is_on in self._on.items() if id.startswith(self._saved)}

    def load_state(self, state: object) -> None:
        """Restore what `save_state` returned; ignore what does not fit."""
        if isinstance(state, dict):
            self._on.update({id: is_on for id, is_on in state.items() if isinstance(is_on, bool)})
            self._follow()
            self.changed.emit()

    def _is_on(self, choice: FilterItem) -> bool:
        return self._on.get(choice.id, choice.is_on)

    def _fill(self) -> None:
        self._menu.clear()
        self._actions = {}
        for title, section in self._sections.items():
            if self._menu.actions():
                self._menu.addSeparator()
            if len(section) < MANY:
                self._menu.addAction(translated(title)).setEnabled(False)
            else:
                call, tip = partial(self._turn, section), "Show all of these, or none."
                add_action(self._menu, Message("{0}: all or none", title), call, tip=tip)
            for choice in section:
                name, tip = elide_right(choice.title, MAX_LENGTH), choice.tip or choice.title
                call = partial(self._turn, (choice,))
                self._actions[choice.id] = add_action(self._menu, name, call, tip=tip, is_on=True)
        self._follow()

    def _turn(self, section: tuple[FilterItem, ...]) -> None:
        self.set_on([choice.id for choice in section], not all(map(self._is_on, section)))

    def _follow(self) -> None:
        for choice in self.choices:
            action = self._actions.get(choice.id)
            if action is not None:
                action.setChecked(self._is_on(choice))
        self._say()

    def _say(self) -> None:
        count = sum(choice.is_on and not self._is_on(choice) for choice in self.choices)
        self.setText(translated(Message("Show ({0} off) ▾", count) if count else "Show ▾"))
        if self.parent() is not None:
            self.setVisible(bool(self._sections))
