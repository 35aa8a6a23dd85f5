"""The table of panels as Python text, from the panels themselves: `rcv_py/ui/panels/__init__.py`."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from types import ModuleType
from typing import Any

from rcv_py.state.commands import Commands
from rcv_py.state.session import Session
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import DECLARED, Late, Panel
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.core.theme import Theme

HEAD = '''"""One file a panel, or a package with a `panel.py`.

The table is written by `make docs` from what each panel says with `@panel(…)`: a window knows titles, places
and tips from it, and imports a panel's module when the panel is first seen.
"""

from __future__ import annotations

from typing import Any

TABLE: tuple[dict[str, Any], ...] = (
'''


def panel_table() -> str:
    """Return the text of the module; from then on this process uses the same rows."""
    rows = tuple(sorted(declared(), key=lambda row: row["id"]))
    import_module("rcv_py.ui.panels").TABLE = rows  # type: ignore[attr-defined]
    return f"{HEAD}{''.join(map(_text, rows))})\n"


def _text(row: dict[str, Any]) -> str:
    lines = (f"        {_literal(name)}: {_literal(value, 8)},\n" for name, value in row.items())
    return f"    {{\n{''.join(lines)}    }},\n"


def _literal(value: Any, indent: int = 0) -> str:
    if not isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    if any(isinstance(part, tuple) for part in value):  # as ruff lays it out
        inner, edge = " " * (indent + 4), " " * indent
        return "(\n" + "".join(f"{inner}{_literal(part, indent + 4)},\n" for part in value) + f"{edge})"
    return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"


def declared() -> Iterator[dict[str, Any]]:
    """Import every panel, a module of `rcv_py.ui.panels` or of a package in it; yield what it says."""
    package = import_module("rcv_py.ui.panels")
    for module in _modules(package):
        import_module(f"{package.__name__}.{module}")
        kinds = [kind for kind in _kinds(Panel) if kind.__module__ == f"{package.__name__}.{module}"]
        for kind in (kind for kind in kinds if kind.panel_id in DECLARED):
            info = DECLARED[kind.panel_id]
            said = ((field.name, getattr(info, field.name)) for field in fields(info))
            row = {name: value for name, value in said if not callable(value)}
            needs = tuple(need.value for need in info.needs)
            yield {**row, "needs": needs, "module": module, "commands": _commands(kind)}


def _modules(package: ModuleType) -> Iterator[str]:
    """Yield the names of modules, of packages those in them."""
    for found in pkgutil.iter_modules(package.__path__):
        inner = import_module(f"{package.__name__}.{found.name}") if found.ispkg else None
        yield from [found.name] if inner is None else (f"{found.name}.{name}" for name in _modules(inner))


def _commands(kind: type[Panel]) -> tuple[tuple[Any, ...], ...] | None:
    """Return the panel's commands as long as it is not made, None if they must be asked each time."""
    if kind.commands.__func__ is Panel.commands.__func__:  # type: ignore[attr-defined]
        return ()
    if not kind.commands_wait:
        return None
    settings, session, tasks = Settings(None), Session(), Tasks()
    ui = UiContext(
        session=session,
        tasks=tasks,
        theme=Theme(settings),
        settings=settings,
        commands=Commands(),
        results=SharedResults(session, tasks),
    )
    late = Late(kind, lambda: None, lambda: kind(ui))
    return tuple(
        (one.id, one.title, one.menu, one.shortcuts, one.tip, one.why_not())
        for one in kind.commands(ui, late)
    )


def _kinds(kind: type[Any]) -> Iterator[type[Any]]:
    for below in kind.__subclasses__():
        yield below
        yield from _kinds(below)
