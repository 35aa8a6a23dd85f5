"""The options as cells, stored in an ini file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

from PySide6.QtCore import QSettings

from rcv_py.base.settings import BY_NAME, OPTIONS
from rcv_py.base.text import Message
from rcv_py.state.cell import Cell
from rcv_py.state.commands import Keys

Document = TypeVar("Document", dict[str, Any], list[Any])

MAX_KEYS = 4  # of a command


class Settings:
    """Holds one cell per option. A stored value that does not fit is reported and replaced by the default."""

    def __init__(self, store: QSettings | None = None, other: Settings | None = None) -> None:
        """Read settings; those of an `other` window follow each change of these, and these its changes."""
        self._store = store
        self._group: WeakSet[Settings] = WeakSet() if other is None else other._group
        self._group.add(self)
        self.rejected: list[str] = []  # sentences about ignored stored values
        self._cells = {option.name: Cell(self._stored(option.name)) for option in OPTIONS}
        stored = self.document("keys", dict).items()
        lists = ((name, keys) for name, keys in stored if isinstance(keys, list) and len(keys) <= MAX_KEYS)
        own = {name: tuple(keys) for name, keys in lists if all(isinstance(one, str) for one in keys)}
        self.keys: Cell[Keys] = Cell(own)  # of commands, where they differ from the defaults
        if other is not None:  # without a store it alone knows the values
            self.keys.set(other.keys.value)
            for name, cell in self._cells.items():
                cell.set(other[name])

    @property
    def folder(self) -> Path | None:
        """The folder of the settings file, None if settings are in memory."""
        return None if self._store is None else Path(self._store.fileName()).parent

    def cell(self, name: str) -> Cell[Any]:
        """Return the cell of an option, to watch it."""
        return self._cells[name]

    def __getitem__(self, name: str) -> Any:
        return self._cells[name].value

    def __setitem__(self, name: str, value: Any) -> None:
        if not BY_NAME[name].accepts(value):
            raise ValueError(Message("{0!r} does not fit the option {1}", value, name))
        if self._store is not None:
            self._store.setValue(name.replace(".", "/"), value)
        for settings in {self, *self._group}:
            settings.cell(name).set(value)

    def set_keys(self, keys: Keys) -> None:
        """Give commands other keys, in all windows."""
        self.keep("keys", keys)
        for settings in {self, *self._group}:
            settings.keys.set(keys)

    def leave(self) -> None:
        """Disconnect from the settings of other windows; the watchers here go away."""
        self._group.discard(self)

    def memory(self, key: str, default: Any = None) -> Any:
        """Read window state that is not an option (geometry, recent files)."""
        return default if self._store is None else self._store.value(f"memory/{key}", default)

    def remember(self, key: str, value: Any) -> None:
        """Store window state that is not an option."""
        if self._store is not None:
            self._store.setValue(f"memory/{key}", value)

    def document(self, key: str, kind: type[Document]) -> Document:
        """Read window state that `keep` wrote; an empty dictionary if it does not fit."""
        text = self.memory(key)
        try:
            found = json.loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            found = None
        return found if isinstance(found, kind) else kind()

    def keep(self, key: str, document: Mapping[str, Any] | Sequence[Any]) -> None:
        """Store window state given as plain JSON values."""
        self.remember(key, json.dumps(document))

    def _stored(self, name: str) -> Any:
        option = BY_NAME[name]
        raw = None if self._store is None else self._store.value(name.replace(".", "/"))
        if raw is None:
            return option.default
        value: Any = raw
        if isinstance(option.default, bool):
            value = {"true": True, "false": False}.get(str(raw).lower(), raw)
        elif isinstance(option.default, int) and re.fullmatch(r"-?\d{1,18}", str(raw), re.ASCII):
            value = int(raw)
        if option.accepts(value):
            return value
        said = "The stored setting {0} was {1!r}, which does not fit; the default holds."
        self.rejected.append(Message(said, name, raw))
        return option.default
