"""Every action of the user as a row: id, title, shortcut, menu, function, condition."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from rcv_py.base.record import Value


def always() -> str:
    """Return no reason why not."""
    return ""


class Command(Value):
    """An action.  `why_not` returns "" when the action can run, else a sentence with the reason."""

    id: str  # "file.open"
    title: str  # "Open folder…"
    menu: str  # "File", "View", "Go", "Analyze", "Export", "Help"; "" for the palette only
    run: Callable[[], object]
    shortcuts: tuple[str, ...] = ()  # Qt key sequences; the first one is shown
    tip: str = ""  # a sentence for tooltip and palette
    why_not: Callable[[], str] = always
    is_checked: Callable[[], bool] | None = None  # for actions that toggle


COLUMNS = ("id", "title", "shortcuts", "run", "tip", "why_not", "is_checked")  # of rows of commands


def commands(menu: str, rows: Iterable[tuple[Any, ...]]) -> tuple[Command, ...]:
    """Return a menu's commands from rows: id, title, spaced keys, run, tip, perhaps why_not, is_checked."""
    texts = ((*row[:2], tuple(row[2].split()), *row[3:]) for row in rows)
    return tuple(Command(menu=menu, **dict(zip(COLUMNS, row, strict=False))) for row in texts)


Keys = Mapping[str, tuple[str, ...]]  # by the id of a command


class Commands:
    """All actions, in the order of the menus, with the user's keys."""

    def __init__(self) -> None:
        self._defaults: dict[str, Command] = {}
        self._own: Keys = {}

    def __getitem__(self, name: str) -> Command:
        command, own = self._defaults[name], self._own.get(name)
        return command if own is None else replace(command, shortcuts=own)

    def __iter__(self) -> Iterator[Command]:
        return map(self.__getitem__, self._defaults)

    def register(self, *commands: Command) -> None:
        """Add actions; raise ValueError if an id is taken."""
        for command in commands:
            if command.id in self._defaults:
                raise ValueError(f"command {command.id!r} is registered twice")
            self._defaults[command.id] = command

    def rebind(self, own: Keys) -> None:
        """Give commands the user's keys, and all others their default keys."""
        self._own = own

    def default(self, name: str) -> tuple[str, ...]:
        """The default keys of a command."""
        return self._defaults[name].shortcuts

    def run(self, name: str) -> None:
        """Run the action, if it can run now."""
        command = self[name]
        if not command.why_not():
            command.run()
