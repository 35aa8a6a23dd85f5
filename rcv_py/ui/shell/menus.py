"""Menus, shortcuts and the overview of all keys, made from the table of commands."""

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QKeyCombination, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QFrame, QMainWindow, QMenu, QMenuBar, QWidget

from rcv_py.base.record import Record
from rcv_py.base.text import Message, is_english, translated
from rcv_py.state.commands import Command, Commands
from rcv_py.ui.core.layout import column, grid, row
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
        self._shown: dict[str, tuple[object, ...]] = {}  # what each action shows of its command
        for command in commands:
            action = self._actions[command.id] = QAction(translated(command.title), window)
            action.setObjectName(command.id)
            action.setCheckable(command.is_checked is not None)
            action.setMenuRole(QAction.MenuRole.NoRole)
            action.triggered.connect(partial(self._run, command.id))
        self.bind()
        self.update()
        window.addActions(list(self._actions.values()))  # last: Qt notifies it of each change of its actions

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def bind(self) -> None:
        """Give every action its command's current keys; of two commands with a key, the first gets it."""
        taken: set[str] = set()
        self._soft.clear()
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
            if command.is_checked is not None:
                action.setChecked(command.is_checked())
            if self._shown.get(command.id) == (now := (why_not, command.title, command.shortcuts)):
                continue
            self._shown[command.id] = now
            action.setText(button_text(command.title))
            keys = Message("  ({0})", shown_keys(command)) if command.shortcuts else ""
            set_tooltip(action, Message("{0}{1}", command.tip or command.title, keys))
            allow(action, why_not)
            action.setStatusTip(shown(why_not or command.tip))

    def press(self, event: QKeyEvent) -> bool:
        """Run the command of a soft key that no widget handled."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        keys = QKeySequence(QKeyCombination(held, Qt.Key(event.key())))
        name = self._soft.get(keys.toString())
        if name is None or self._commands[name].why_not():
            return False
        self._commands[name].run()
        return True

    def _run(self, name: str) -> None:
        try:
            self._commands.run(name)  # it checks again: the action may be older than the key press
        finally:
            self.update()


class LateMenu(QMenu):
    """A menu that gets its entries when it is first measured, else when it opens.

    Qt places a menu of a bar by its size, and asks for it before it says that the menu opens.
    """

    def __init__(self, title: str, parent: QWidget, fill: Callable[[QMenu], object]) -> None:
        super().__init__(title, parent)
        self._fill = fill
        self.aboutToShow.connect(self._make)

    def sizeHint(self) -> QSize:
        """Return the size of the menu with its entries."""
        self._make()
        return super().sizeHint()

    def _make(self) -> None:
        if self.isEmpty():
            self._fill(self)


class MenuFiller(Record):
    """Makes the entries of each menu of the bar when it is needed; `more` is called with a menu once made."""

    commands: Commands
    actions: Actions
    more: Mapping[str, Callable[[QMenu], object]]  # by the path of the menu

    def fill_bar(self, bar: QMenuBar) -> None:
        """Add the menus to a bar."""
        for title in MENUS:
            # The Alt key is the first letter of the English title, in every language.
            name = f"&{title}" if is_english() else f"{translated(title)}(&{title[0]})"
            menu = LateMenu(name, bar, partial(self._fill, path=title))
            menu.aboutToShow.connect(self.actions.update)
            bar.addMenu(menu)

    def _fill(self, menu: QMenu, path: str) -> None:
        """Add the commands of a menu, and the menus inside it where their first commands come."""
        menu.setToolTipsVisible(True)
        inside: set[str] = set()
        for command in self.commands:
            if command.menu == path:
                if command.id in SEPARATED:
                    menu.addSeparator()
                menu.addAction(self.actions[command.id])
            elif command.menu.startswith(f"{path}/"):
                title = command.menu.removeprefix(f"{path}/").partition("/")[0]
                if title not in inside:
                    inside.add(title)
                    self._fill(menu.addMenu(translated(title)), f"{path}/{title}")
        if path in self.more:
            self.more[path](menu)


def shown_keys(command: Command) -> str:
    """Return the first shortcut of a command in readable form, "" for none."""
    return QKeySequence(next(iter(command.shortcuts), "")).toString(QKeySequence.SequenceFormat.NativeText)


def _normal(keys: str) -> str:
    return QKeySequence(keys).toString()


MOUSE = (
    ("Wheel", "Zoom about the mouse"), ("Shift+Wheel", "Scroll rows"),
    ("Drag", "Pan"), ("Shift+Drag", "Measure; stays until Esc"), ("Alt+Drag", "Choose the clock range"),
    ("Click", "Select"), ("Double-click", "Zoom to it"), ("Right-click", "More"),
)  # fmt: skip
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


class KeysOverlay(QFrame):
    """A card over the window: mouse and main keys; any key or click closes it, and `more` lists all keys."""

    def __init__(self, commands: Commands, more: Callable[[], object], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("overlay_card")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(translated("Keys"))
        first = [(shown_keys(commands[name]), commands[name].title) for name in FIRST]
        self.listed = {
            "Mouse, over a timeline": MOUSE,
            "Mouse, over instructions": LISTING,
            "Keys to begin with": tuple(pair for pair in first if pair[0]),
        }
        self.more = push_button("All keys …", "List the keys of all commands, and change them.", more)
        self.more.clicked.connect(self.close)
        body = column(spacing=12, margins=(24, 16, 24, 12), of=self)
        for title, rows in self.listed.items():
            body.addWidget(PlainLabel(title, role="heading"))
            labels = [(PlainLabel(keys, role="muted"), PlainLabel(text)) for keys, text in rows]
            body.addLayout(grid(labels, across=16, down=3))
        body.addLayout(row(None, self.more))
        self.adjustSize()
        window = parent.window()
        self.move(window.mapToGlobal(window.rect().center()) - self.rect().center())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.close()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.close()
