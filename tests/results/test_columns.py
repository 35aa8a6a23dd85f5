"""Names of columns stand in results and nowhere else: adding or renaming one is a change in one place."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pkgutil import walk_packages

import rcv_py
from rcv_py.results.field import ShownIn
from rcv_py.results.table import Spec
from tests.house import Module, modules, read

MOST = 3  # names of one Spec that a literal elsewhere may have
ABOVE = ("api", "cli", "export", "features", "ui", "work")  # what results are for; all others are below them
HARDWARE = {"se", "sa", "cu", "simd", "slot", "wid"}  # where a wave was: attributes of every table of waves
COLOURS = {"export.interactive.page"}  # lists roles of colours, some of which are called as columns
YET = {  # to be converted
    "features.why.grouping"  # widths of the columns of three tables that share a tree
}


def specs() -> Iterator[Spec]:
    """Every declared table."""
    for found in walk_packages(rcv_py.__path__, "rcv_py."):
        if not found.name.endswith("result") and not found.name.startswith("rcv_py.results."):
            continue
        module = import_module(found.name)
        for value in vars(module).values():
            values = value.values() if isinstance(value, dict) else (value,)
            yield from (spec for spec in values if isinstance(spec, Spec))


def literals(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, frozenset[str]]]:
    """The texts of each dictionary's keys and of each sequence, with the number of the line."""
    for node in nodes:
        if isinstance(node, ast.Dict):
            items: list[ast.expr | None] = [*node.keys]
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            items = [*node.elts]
        else:
            continue
        texts = (item.value for item in items if isinstance(item, ast.Constant))
        yield node.lineno, frozenset(text for text in texts if isinstance(text, str))


def columns_elsewhere(known: Mapping[str, Module]) -> Iterator[str]:
    """Dictionaries and sequences outside of results that name columns of one table."""
    # The names of columns of every table that has enough of them
    columns = {frozenset(field.name for field in spec.at(ShownIn.DATA)) - HARDWARE for spec in specs()}
    tables = {names for names in columns if len(names) > MOST}
    for module in known.values():
        if module.name.split(".")[0] not in ABOVE or module.name.endswith("result"):
            continue
        for line, texts in literals(module.nodes):
            if len(texts) > MOST and any(len(texts & names) > MOST for names in tables):
                yield f"{module.name}:{line}: {', '.join(sorted(texts)[:6])}"


def test_columns_are_named_in_results_alone() -> None:
    known = {name: module for name, module in modules().items() if name not in YET | COLOURS}
    assert list(columns_elsewhere(known)) == []


def test_a_planted_copy_of_columns_is_found() -> None:
    head = 'HEAD = ("text", "hits", "latency", "stall", "idle")'
    assert list(columns_elsewhere(read({"features.planted.panel": head})))
    row = "def row(one):\n    return {'hits': 1, 'latency': 2, 'stall': 3, 'idle': 4}"
    assert list(columns_elsewhere(read({"cli.commands.planted": row})))
    assert not list(columns_elsewhere(read({"features.planted.result": row})))
