"""The table of panels as Python text, from the panels themselves: `rcv_py/ui/panels/__init__.py`."""

from __future__ import annotations

import ast
import json
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
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
HEAD_OF_PARTS = """

# Of modules of panels: what they need, a part for a turn of the event loop.
PARTS: dict[str, tuple[str, ...]] = {
"""

OURS, PANELS = "rcv_py", "rcv_py.ui.panels"
# What a window shows first; its modules are there when another panel is wanted.
FIRST = ("overview", "compute_unit", "triage", "isa", "source", "wave_picker", "token_details")
LINE = 50  # characters of a tuple; a longer one has a line for each of its values
AT_ONCE = 6  # modules, two or three milliseconds: so many are imported in one turn of the event loop


def panel_table() -> str:
    """Return the text of the module; from then on this process uses the same rows."""
    rows = tuple(sorted(declared(), key=lambda row: row["id"]))
    modules = {row["id"]: row["module"] for row in rows}
    there = _imported([f"{OURS}.cli.commands.view", f"{OURS}.ui.app", *map(modules.__getitem__, FIRST)])
    found = {row["module"]: tuple(_parts(modules[row["id"]], there)) for row in rows}
    parts = {module: names for module, names in sorted(found.items()) if names}
    vars(import_module(PANELS)).update(TABLE=rows, PARTS=parts)
    lines = (f"    {_literal(module)}: {_literal(names, 4)},\n" for module, names in parts.items())
    return f"{HEAD}{''.join(map(_text, rows))}){HEAD_OF_PARTS}{''.join(lines)}}}\n"


def _parts(name: str, there: Iterable[str]) -> list[str]:
    """Return modules that, imported one after the other, leave few of those that a module needs."""
    parts, seen = [], set(there)

    def left(name: str) -> int:
        """How many modules come with one, besides those that are there and those of the parts."""
        seen.add(name)
        inner = [(left(one), one) for one in _imports(name) if one not in seen]
        total = 1 + sum(number for number, _ in inner)
        for number, one in sorted(inner, reverse=True):
            if total > AT_ONCE:
                parts.append(one)
                total -= number
        return total

    left(name)
    return parts


def _imported(names: Iterable[str], seen: set[str] | None = None) -> set[str]:
    """Return modules with all that they import."""
    seen = set() if seen is None else seen
    for name in names:
        if name not in seen:
            seen.add(name)
            _imported(_imports(name), seen)
    return seen


@cache
def _imports(name: str) -> tuple[str, ...]:
    """The modules of ours that a module imports when it is imported, in order; first the rooms it is in."""
    rooms = [name.rsplit(".", up)[0] for up in range(name.count("."), 0, -1)]
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    found = [one for node in _at_once(ast.parse(Path(spec.origin).read_text()).body) for one in _names(node)]
    return tuple(dict.fromkeys(one for one in (*rooms, *found) if one != name))


def _at_once(nodes: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported, without those for who checks types."""
    for node in nodes:
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield node
            yield from _at_once(getattr(node, "body", ()) if isinstance(node, ast.If | ast.Try) else ())


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        named = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        named = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        named = []
    return [name for name in named if name.partition(".")[0] == OURS and _is_module(name)]


@cache
def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # below one that is no package
        return False


def _text(row: dict[str, Any]) -> str:
    lines = (f"        {_literal(name)}: {_literal(value, 8)},\n" for name, value in row.items())
    return f"    {{\n{''.join(lines)}    }},\n"


def _literal(value: Any, indent: int = 0) -> str:
    if not isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    flat = f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    if any(isinstance(part, tuple) for part in value) or len(flat) > LINE:  # as ruff lays it out
        inner, edge = " " * (indent + 4), " " * indent
        return "(\n" + "".join(f"{inner}{_literal(part, indent + 4)},\n" for part in value) + f"{edge})"
    return flat


def declared() -> Iterator[dict[str, Any]]:
    """Import every module of features; yield what each panel in it says."""
    package = import_module("rcv_py.features")
    for name in _modules(package):
        module = f"{package.__name__}.{name}"
        import_module(module)
        kinds = [kind for kind in _kinds(Panel) if kind.__module__ == module]
        for kind in (kind for kind in kinds if kind.panel_id in DECLARED):
            info = DECLARED[kind.panel_id]
            said = ((field.name, getattr(info, field.name)) for field in fields(info))
            row = {name: value for name, value in said if not callable(value) and name != "parts"}
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
