"""Layouts that the user saved by name, in addition to the four built-in layouts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtWidgets import QWidget

from rcv_py.base.text import Message, elide_right, visible
from rcv_py.state.commands import Command, Commands, always
from rcv_py.ui.core.plain_text import ask_text, ask_which
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.shell.layouts import LAYOUTS, OWN
from rcv_py.ui.shell.workspace import Workspace

MAX_LAYOUTS = 5  # each with a key
MEMORY = "own_layouts"
MENU = "View/Layout"
NAME_LENGTH = 40  # letters
FIRST_KEY = 5  # Alt+5; the four before are the built-in layouts
NONE_SAVED = "No layout was saved: first choose “Save layout as …” in the menu View › Layout."
FULL = Message("{0} layouts are saved. Delete one first, or save under one of their names.", MAX_LAYOUTS)

OWN_COMMANDS = tuple(f"view.layout_own_{place}" for place in range(1, MAX_LAYOUTS + 1))

Arrangement = dict[str, Any]  # JSON: name, and what `arrangement` returns


def arrangement(workspace: Workspace) -> Arrangement:
    """Return the places and sizes of all panels, as plain JSON values."""
    base = next((one.id for one in LAYOUTS if one.title == workspace.layout_.title), "")
    return {**workspace.save(), "layout": base}


def arrange(workspace: Workspace, saved: Arrangement) -> None:
    """Put all panels in their saved places; leave what does not fit."""
    workspace.load(saved)
    workspace.layout_ = replace(workspace.layout_, id=_id(saved["name"]))


class OwnLayouts:
    """Saves, lists, shows and deletes layouts.  The command of a free key says how to save a layout there."""

    def __init__(
        self, workspace: Workspace, settings: Settings, commands: Commands, changed: Callable[[], object]
    ) -> None:
        self._workspace, self._settings, self._commands, self._changed = (
            workspace, settings, commands, changed,
        )  # fmt: skip
        self._saved: list[Arrangement] = _fitting(settings.document(MEMORY, list))
        commands.register(
            Command(
                id="view.save_layout",
                title="Save layout as …",
                menu=MENU,
                run=self.ask_save,
                shortcuts=("Ctrl+Alt+L",),
                tip="Keep where all panels are under a name, beside the layouts of the program.",
            ),
            Command(
                id="view.delete_layout",
                title="Delete a layout …",
                menu=MENU,
                run=self.ask_delete,
                shortcuts=("Ctrl+Alt+Shift+L",),
                tip="Forget one of your own layouts; panels stay where they are.",
                why_not=lambda: "" if self._saved else NONE_SAVED,
            ),
            *map(self._command, range(MAX_LAYOUTS)),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the layouts, in the order of their keys."""
        return tuple(one["name"] for one in self._saved)

    # -- what commands do ---------------------------------------------------------------------------

    def ask_save(self) -> None:
        """Ask for a name and save the layout."""
        known = next(
            (name for name in self.names if self._is_shown(name)), Message("Layout {0}", len(self._saved) + 1)
        )
        if name := ask_text(self._parent, "Save layout as", "Name of the layout:", known):
            self.save(name)

    def save(self, name: str) -> None:
        """Save the places of all panels; replace a layout of that name, or the last if there are too many."""
        name = elide_right(visible(name).strip(), NAME_LENGTH)
        made = {"name": name, **arrangement(self._workspace)}
        names = self.names
        at = names.index(name) if name in names else min(len(names), MAX_LAYOUTS - 1)
        self._saved[at : at + 1] = [made]
        self._workspace.layout_ = replace(self._workspace.layout_, id=_id(name))
        self._keep()

    def ask_delete(self) -> None:
        """Ask which layout to delete."""
        at = ask_which(self._parent, "Delete a layout", "Layout:", self.names)
        if at >= 0:
            self.delete(self.names[at])

    def delete(self, name: str) -> None:
        """Delete a layout, if there is one with that name."""
        self._saved = [one for one in self._saved if one["name"] != name]
        self._keep()

    def use(self, at: int) -> None:
        """Put all panels in the places of a layout."""
        arrange(self._workspace, self._saved[at])
        self._changed()

    # -- inside -------------------------------------------------------------------------------------

    @property
    def _parent(self) -> QWidget:
        return self._workspace.window()

    def _is_shown(self, name: str) -> bool:
        return self._workspace.layout_.id == _id(name)

    def _keep(self) -> None:
        self._settings.keep(MEMORY, self._saved)
        for at in range(MAX_LAYOUTS):
            self._commands.replace(self._command(at))
        self._changed()

    def _command(self, at: int) -> Command:
        name = self.names[at] if at < len(self._saved) else ""
        return Command(
            id=OWN_COMMANDS[at],
            title=name or Message("Own layout {0}", at + 1),
            menu=MENU,
            run=partial(self.use, at),
            shortcuts=(f"Alt+{FIRST_KEY + at}",),
            tip="Put all panels where they were when this layout was saved.",
            why_not=always if name else lambda: NONE_SAVED,
            is_checked=partial(self._is_shown, name),
        )


def _id(name: str) -> str:
    return f"{OWN}{name}"


def _fitting(found: list[Any]) -> list[Arrangement]:
    """Return the saved layouts, without those that do not fit."""
    fits = (one for one in found if isinstance(one, dict) and isinstance(one.get("layout"), str))
    return [one for one in fits if isinstance(one.get("name"), str)][:MAX_LAYOUTS]
