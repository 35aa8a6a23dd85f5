"""Rules of the house that a reader of one file cannot see broken."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from bench.table import discover as bench_measures

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "rcv_py").rglob("*.py"))


def relative(path: Path) -> str:
    """The path as people write it."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("source", SOURCES, ids=relative)
def test_a_file_says_what_it_is_about(source: Path) -> None:
    assert ast.get_docstring(ast.parse(source.read_text())), "a module says what it is about"


@pytest.mark.parametrize("source", SOURCES, ids=relative)
def test_colours_come_from_the_theme(source: Path) -> None:
    if relative(source) in ("rcv_py/ui/core/theme.py", "rcv_py/base/colors.py"):
        return
    found = re.findall(r"QColor\(\s*[\"'\d]|[\"']#[0-9a-fA-F]{6}[\"']", source.read_text())
    assert not found, found


@pytest.mark.parametrize("source", SOURCES, ids=relative)
def test_nothing_is_evaluated(source: Path) -> None:
    calls = [
        node.func.id
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    assert not {"eval", "exec", "compile"} & set(calls)


def test_no_path_of_a_machine_is_in_the_tree() -> None:
    pattern = re.compile(r"(^|[^A-Za-z0-9_.~])/(work|root|farm|tmp/wt)/")
    kinds = {".py", ".md", ".toml", ".sh", ".json", ".txt", ".cfg", ".spec"}
    skip = {".venv", ".git", "build", "dist"}
    found = []
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT).parts
        if path.suffix not in kinds or skip & set(inside) or not path.is_file():
            continue
        if path == Path(__file__).resolve():
            continue
        found += [
            f"{relative(path)}: {match.group()}"
            for match in pattern.finditer(path.read_text(errors="replace"))
        ]
    assert not found, found


def test_the_benchmark_can_be_started() -> None:
    assert {"analyses", "frame", "load", "window"} <= set(bench_measures().ids())
