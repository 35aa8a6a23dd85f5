"""The sources as the tests of the house read them: modules, their imports, and the rooms they lie in."""

import ast
import gc
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rcv_py"


@dataclass(frozen=True, slots=True)
class Module:
    """One file: its name without `rcv_py.`, its text, whether it is a room's `__init__`, its imports."""

    name: str
    text: str
    is_init: bool
    tree: ast.Module
    nodes: tuple[ast.AST, ...]  # all of the tree but `Load` and `Store`, level by level
    imports: tuple[str, ...]  # every module that is imported, at whatever depth, also of others

    @property
    def room(self) -> str:
        """The folder it lies in, "" for the package itself."""
        return self.name if self.is_init else self.name.rpartition(".")[0]


@cache
def modules() -> Mapping[str, Module]:
    """All modules of the package by name.

    They are more than a million objects that stay: what collects garbage is not to look at them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        return read({_name_of(path): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))})
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def _name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def read(texts: Mapping[str, str], beside: Iterable[str] = ()) -> Mapping[str, Module]:
    """Modules of texts by name, `base.text` or for a room's own `base.__init__`; others lie beside them."""
    plain = (*beside, *(_plain(name) for name in texts))
    names = {"rcv_py." + name if name else "rcv_py" for name in plain}
    found = {}
    for name, text in texts.items():
        tree = ast.parse(text)
        nodes = tuple(_walk(tree))
        found[_plain(name)] = Module(
            name=_plain(name),
            text=text,
            is_init=name.split(".")[-1] == "__init__",
            tree=tree,
            nodes=nodes,
            imports=tuple(_imports(nodes, names)),
        )
    return found


def _walk(tree: ast.AST) -> list[ast.AST]:
    """What `ast.walk` yields, in its order, without contexts: a third of the nodes, and of no interest."""
    found = [tree]
    for node in found:
        for name in node._fields:
            value = getattr(node, name, None)
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, ast.AST) and not isinstance(one, ast.expr_context):
                    found.append(one)
    return found


def _plain(name: str) -> str:
    return name.removesuffix("__init__").removesuffix(".")


def _imports(nodes: Iterable[ast.AST], names: set[str]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"a relative import in line {node.lineno}"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in names else node.module or ""


def inner(module: Module, known: Mapping[str, Module]) -> list[str]:
    """The modules of the package that a module imports, without `rcv_py.`."""
    short = (name.removeprefix("rcv_py.") for name in module.imports if name.startswith("rcv_py."))
    return [name for name in short if name in known]


def circles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of names that reach each other, each sorted."""
    reach = {name: _reached(name, arrows) for name in arrows}
    groups = {tuple(sorted(b for b in reach[a] if a in reach.get(b, set()))) for a in arrows if a in reach[a]}
    return sorted(list(group) for group in groups)


def _reached(start: str, arrows: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for name in arrows.get(waiting.pop(), set()) - found:
            found.add(name)
            waiting.append(name)
    return found
