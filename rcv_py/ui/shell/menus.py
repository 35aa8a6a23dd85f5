"""Menus, shortcuts and the overview of all keys, made from the table of commands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QFrame, QMainWindow, QMenu, QMenuBar, QScrollArea, QVBoxLayout, QWidget

from rcv_py.base.text import Message, is_english, translated
from rcv_py.state.commands import Command, Commands
from rcv_py.ui.core.layout import boxed, column, grid, row
from rcv_py.ui.core.plain_text import PlainLabel, allow, button_text, push_button, set_tooltip, shown

MENUS = ("File", "View", "Go", "Analyze", "Export", "Help")

# Keys that lists and text fields need: they run a command only if no widget handled them.
SOFT_KEYS = ("Left", "Right", "Up", "Down", "Home", "End", "Esc", "Return")

# A separator goes before these.
SEPARATED = (
    "file.reload", "file.copy_link", "file.close_window", "view.theme", "view.rows_taller",
    "view.fold_bottom", "view.reset_layout", "view.settings", "go.back", "go.bookmark", "go.find",
    "go.dismiss", "export.copy_picture", "help.about",
)  # fmt: skip


class Actions:
    """One QAction per command, kept equal to the command's state."""

    def __init__(self, window: QMainWindow, commands: Commands) -> None:
        self._commands = commands
        self._actions: dict[str, QAction] = {}
        self._soft: dict[str, str] = {}  # ids of commands
        self._titles: dict[str, str] = {}  # texts of the commands, as each action shows them
        self._why_not: dict[str, str] = {}  # current text of each action
        for command in commands:
            self._actions[command.id] = self._action(window, command)
        self.bind()
        self.update()
        window.addActions(list(self._actions.values()))  # last: Qt notifies it of each change of its actions

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def bind(self) -> None:
        """Give every action its command's current keys; of two commands with a key, the first gets it."""
        taken: set[str] = set()
        self._soft.clear()
        self._why_not.clear()  # tips name keys
        for command in self._commands:
            free = [keys for keys in command.shortcuts if _normal(keys) not in taken]
            taken.update(_normal(keys) for keys in free)
            hard = [QKeySequence(text) for text in free if text not in SOFT_KEYS]
            self._actions[command.id].setShortcuts(hard)
            self._soft.update({_normal(keys): command.id for keys in free if keys in SOFT_KEYS})

    def update(self) -> None:
        """Query every command: whether it can run and whether it is on."""
        for command in self._commands:
            action, why_not = self._actions[command.id], command.why_not()
            if self._titles.get(command.id) != command.title:  # at first, and after the user renamed it
                self._titles[command.id] = command.title
                action.setText(button_text(command.title))
                self._why_not.pop(command.id, None)
            if command.is_checked is not None:
                action.setChecked(command.is_checked())
            if self._why_not.get(command.id) == why_not:
                continue
            self._why_not[command.id] = why_not
            keys = Message("  ({0})", shown_keys(command)) if command.shortcuts else ""
            set_tooltip(action, Message("{0}{1}", command.tip or command.title, keys))
            allow(action, why_not)
            action.setStatusTip(shown(why_not or command.tip))

    def press(self, event: QKeyEvent) -> bool:
        """Run the command of a soft key that no widget handled."""
        keys = QKeySequence(
            QKeyCombination(event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier, Qt.Key(event.key()))
        )
        name = self._soft.get(keys.toString())
        if name is None or self._commands[name].why_not():
            return False
        self._commands[name].run()
        return True

    def _action(self, window: QMainWindow, command: Command) -> QAction:
        action = QAction(translated(command.title), window)
        action.setObjectName(command.id)
        action.setCheckable(command.is_checked is not None)
        action.setMenuRole(QAction.MenuRole.NoRole)
        action.triggered.connect(partial(self._run, command.id))
        return action

    def _run(self, name: str) -> None:
        try:
            # The registry checks again: the state of the action may be older than the key press.
            self._commands.run(name)
        finally:
            self.update()


def fill_menu_bar(bar: QMenuBar, commands: Commands, actions: Actions) -> dict[str, QMenu]:
    """Make the menus; `View/Panels` is the menu Panels inside View.  Return all menus by path."""
    menus: dict[str, QMenu] = {}
    for title in MENUS:
        menus[title] = bar.addMenu(_with_key(title))
        menus[title].setToolTipsVisible(True)
        menus[title].aboutToShow.connect(actions.update)
    for command in commands:
        if not command.menu:
            continue
        menu = _menu(menus, command.menu)
        if command.id in SEPARATED:
            menu.addSeparator()
        menu.addAction(actions[command.id])
    return menus


def _with_key(title: str) -> str:
    """Return the menu title with its Alt key: the first letter of the English title, in every language."""
    return f"&{title}" if is_english() else f"{translated(title)}(&{title[0]})"


def _menu(menus: dict[str, QMenu], path: str) -> QMenu:
    if path not in menus:
        parent, _, title = path.rpartition("/")
        menus[path] = _menu(menus, parent or "View").addMenu(translated(title))
        menus[path].setToolTipsVisible(True)
    return menus[path]


def shown_keys(command: Command, every: bool = False) -> str:
    """Return the shortcuts of a command in readable form."""
    keys = command.shortcuts if every else command.shortcuts[:1]
    return ", ".join(QKeySequence(text).toString(QKeySequence.SequenceFormat.NativeText) for text in keys)


def _normal(keys: str) -> str:
    return QKeySequence(keys).toString()


MOUSE = (
    ("Wheel", "Zoom about the mouse"),
    ("Shift+Wheel", "Scroll rows"),
    ("Drag", "Pan"),
    ("Shift+Drag", "Measure; stays until Esc"),
    ("Alt+Drag", "Choose the clock range"),
    ("Click", "Select"),
    ("Double-click", "Zoom to it"),
    ("Right-click", "More"),
)
LISTING = (
    ("Rest on a register", "See where it is written and read"),
    ("Rest on an arrow or a row", "See its arrows alone"),
    ("Click ↑313 in the gutter", "Go to the end out of sight"),
    ("Click a triangle in the header", "Choose numbers, arrows, bars"),
)
FIRST = (  # ids of commands whose keys are shown at once
    "go.palette", "go.find", "go.zoom_in", "go.zoom_out", "go.fit", "go.all", "go.previous_token",
    "go.next_token", "go.previous_hit", "go.next_hit", "go.back", "view.only_code",
)  # fmt: skip
COLUMNS = 3


def groups(commands: Commands) -> dict[str, list[tuple[str, str]]]:
    """Return (keys, title) of every command that has keys, by menu."""
    table: dict[str, list[tuple[str, str]]] = {title: [] for title in (*MENUS, "Other")}
    for command in commands:
        if command.shortcuts:
            top = command.menu.split("/")[0]
            row = (shown_keys(command, every=True), command.title)
            table[top if top in MENUS else "Other"].append(row)
    return {title: rows for title, rows in table.items() if rows}


class KeysOverlay(QFrame):
    """A card over the window: mouse and main keys, on demand all keys; any key or click closes it."""

    def __init__(self, commands: Commands, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._window = parent.window()
        self.setObjectName("overlay_card")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(translated("Keys"))
        self._commands = commands
        first = [(shown_keys(commands[name]), commands[name].title) for name in FIRST]
        self.first = {
            "Mouse, over a timeline": list(MOUSE),
            "Mouse, over instructions": list(LISTING),
            "Keys to begin with": [pair for pair in first if pair[0]],
        }
        self._area = QScrollArea(widgetResizable=True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        number = sum(map(len, groups(commands).values()))
        self.more = push_button(
            Message("All {0} keys", number), "Show the keys of all commands.", self.unfold
        )
        below = row(None, self.more, margins=(24, 0, 24, 12))
        column((self._area, 1), below, margins=(1, 1, 1, 1), of=self)
        self._show([{title: rows} for title, rows in self.first.items()])

    def unfold(self) -> None:
        """Show the keys of all commands, too."""
        self.more.hide()
        parts: list[dict[str, list[tuple[str, str]]]] = [{} for _ in range(COLUMNS)]
        for title, rows in sorted(groups(self._commands).items(), key=lambda pair: -len(pair[1])):
            min(parts, key=lambda part: sum(len(rows) + 2 for rows in part.values()))[title] = rows
        mouse = list(self.first.items())[:2]
        self._show([dict(mouse) | parts[0], *parts[1:]])

    def _show(self, parts: Sequence[dict[str, list[tuple[str, str]]]]) -> None:
        body = boxed(row(*map(_column, parts), margins=(24, 16, 24, 16), spacing=32))
        self._area.setWidget(body)
        window, hint = self._window, body.sizeHint()
        below = 0 if self.more.isHidden() else self.more.sizeHint().height() + 12
        height = hint.height() + 8 + below
        self.resize(min(hint.width() + 24, window.width() - 48), min(height, window.height() - 48))
        corner = window.mapToGlobal(window.rect().center())
        self.move(corner.x() - self.width() // 2, corner.y() - self.height() // 2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.close()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Close at a click."""
        self.close()


def _column(table: dict[str, list[tuple[str, str]]]) -> QVBoxLayout:
    box = column(spacing=12)
    for title, rows in table.items():
        box.addWidget(PlainLabel(title, role="heading"))
        labels = [(PlainLabel(keys, role="muted"), PlainLabel(text)) for keys, text in rows]
        box.addLayout(grid(labels, across=16, down=3))
    box.addStretch()
    return box
