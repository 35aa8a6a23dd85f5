"""Menus and shortcuts, made from the table of commands."""

from __future__ import annotations

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QMenuBar

from rcv_py.state.commands import Command, Commands
from rcv_py.ui.core.plain_text import set_tooltip, shown

MENUS = ("File", "View", "Go", "Analyze", "Export", "Help")

# Keys that lists and text fields need themselves: they run a command only if nobody else wanted them.
SOFT_KEYS = ("Left", "Right", "Up", "Down", "Home", "End", "Esc", "Return")

# A thin line goes in front of these.
SEPARATED = (
    "file.reload", "file.copy_link", "file.quit", "view.theme", "view.font_bigger", "view.reset_layout",
    "view.settings", "go.zoom_in", "go.previous_token", "go.bookmark", "go.find", "go.dismiss",
    "export.copy_picture", "help.about",
)  # fmt: skip


class Actions:
    """One QAction a command, kept in step with what the command says of itself."""

    def __init__(self, window: QMainWindow, commands: Commands) -> None:
        self._commands = commands
        self._actions: dict[str, QAction] = {}
        self._soft: dict[str, Command] = {}
        taken: set[str] = set()
        for command in commands:
            free = [keys for keys in command.shortcuts if _normal(keys) not in taken]
            taken.update(_normal(keys) for keys in free)
            self._actions[command.id] = self._action(window, command, free)
            self._soft.update({_normal(keys): command for keys in free if keys in SOFT_KEYS})

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def update(self) -> None:
        """Ask every command whether it can run and whether it is on."""
        for command in self._commands:
            action, why_not = self._actions[command.id], command.why_not()
            action.setEnabled(not why_not)
            set_tooltip(action, command_tip(command, why_not))
            action.setStatusTip(shown(why_not or command.tip))
            if command.is_checked is not None:
                action.setChecked(command.is_checked())

    def press(self, event: QKeyEvent) -> bool:
        """Run the command of a soft key that nobody wanted."""
        keys = QKeySequence(
            QKeyCombination(event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier, Qt.Key(event.key()))
        )
        command = self._soft.get(keys.toString())
        if command is None or command.why_not():
            return False
        command.run()
        return True

    def _action(self, window: QMainWindow, command: Command, keys: list[str]) -> QAction:
        action = QAction(command.title, window)
        action.setObjectName(command.id)
        action.setCheckable(command.is_checked is not None)
        hard = [QKeySequence(text) for text in keys if text not in SOFT_KEYS]
        action.setShortcuts(hard)
        action.setMenuRole(QAction.MenuRole.NoRole)
        # The registry asks again: the state of the action may be older than the key press.
        action.triggered.connect(lambda: self._run(command.id))
        window.addAction(action)
        return action

    def _run(self, name: str) -> None:
        self._commands.run(name)
        self.update()


def fill_menu_bar(bar: QMenuBar, commands: Commands, actions: Actions) -> dict[str, QMenu]:
    """Make the menus; `View/Panels` is the menu Panels inside View.  Return all by that path."""
    menus: dict[str, QMenu] = {}
    for title in MENUS:
        menus[title] = bar.addMenu(title)
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


def _menu(menus: dict[str, QMenu], path: str) -> QMenu:
    if path not in menus:
        parent, _, title = path.rpartition("/")
        menus[path] = _menu(menus, parent).addMenu(title) if parent else menus["View"].addMenu(title)
        menus[path].setToolTipsVisible(True)
    return menus[path]


def command_tip(command: Command, why_not: str = "") -> str:
    """What a button of a command says when the mouse rests on it."""
    text = command.tip or command.title
    keys = f"  ({shown_keys(command)})" if command.shortcuts else ""
    return f"{text}{keys}" + (f"\nNot now: {why_not}" if why_not else "")


def shown_keys(command: Command, every: bool = False) -> str:
    """The shortcuts of a command as people read them."""
    keys = command.shortcuts if every else command.shortcuts[:1]
    return ", ".join(QKeySequence(text).toString(QKeySequence.SequenceFormat.NativeText) for text in keys)


def _normal(keys: str) -> str:
    return QKeySequence(keys).toString()
