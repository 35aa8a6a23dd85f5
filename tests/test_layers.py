"""Imports point downwards, only the window knows Qt, and panels do not know each other."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "rcv_py").rglob("*.py"))

MAY_IMPORT = {
    "": ("api",),
    "__main__": ("cli",),
    "base": ("base",),
    "model": ("base", "model"),
    "formats": ("base", "model", "formats"),
    "analysis": ("base", "model", "analysis"),
    "export": ("base", "model", "analysis", "export"),
    "synth": ("base", "model", "synth"),
    "work": ("base", "model", "formats", "analysis", "work"),
    "state": ("base", "model", "analysis", "state"),
    "ui.kit": ("base", "model", "formats", "analysis", "work", "state", "ui.kit"),
    "ui.panels": ("base", "model", "formats", "analysis", "work", "state", "ui.kit"),
    "ui.shell": ("base", "model", "formats", "analysis", "export", "work", "state", "ui.kit", "ui.shell"),
    "ui.app": ("base", "model", "formats", "analysis", "work", "state", "ui.kit", "ui.shell"),
    "ui.shot": ("base", "model", "formats", "analysis", "work", "state", "ui"),
    "api": ("base", "model", "formats", "analysis", "export", "work", "api"),
    "cli": ("base", "model", "formats", "analysis", "export", "synth", "work", "state", "cli"),
    "cli.commands.view": ("base", "formats", "cli", "ui"),
    "cli.commands.shot": ("base", "model", "formats", "state", "work", "cli", "ui"),
}
WITH_QT = ("ui",)
QT = ("PySide6", "pyqtgraph", "shiboken6")


def within(module: str, layers: tuple[str, ...]) -> bool:
    """Whether the module is one of the layers or inside one."""
    return any(module == layer or module.startswith(layer + ".") for layer in layers)


def module_name(source: Path) -> str:
    """`base.text` for rcv_py/base/text.py."""
    parts = source.relative_to(ROOT / "rcv_py").with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def layer_of(module: str) -> str:
    """The most precise row of the table that the module belongs to."""
    fitting = [layer for layer in MAY_IMPORT if layer and within(module, (layer,))]
    return max(fitting, key=len, default="")


def imported(source: Path) -> list[str]:
    """Every module the file imports, at whatever depth."""
    names = []
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source} imports relatively"
            names.append(node.module or "")
    return names


@pytest.mark.parametrize("source", SOURCES, ids=module_name)
def test_imports_point_downwards(source: Path) -> None:
    module = module_name(source)
    allowed = MAY_IMPORT[layer_of(module)]
    for name in imported(source):
        if name == "rcv_py":
            continue
        if within(name, ("rcv_py",)):
            target = name.removeprefix("rcv_py.")
            assert within(target, allowed), f"{module} imports {name}"
        elif within(name, QT):
            assert within(module, WITH_QT), f"{module} imports {name}"


@pytest.mark.parametrize("module", ["cli.main", "work.pool", "formats.open", "state.session", "synth", "api"])
def test_everything_below_the_window_starts_without_qt(module: str) -> None:
    code = (
        "import sys\n"
        f"for name in {QT!r}: sys.modules[name] = None\n"
        f"import rcv_py.{module}\n"
        "loaded = [name for name in sys.modules if name.startswith('rcv_py.ui')]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_planted_violation_is_found(tmp_path: Path) -> None:
    assert not within("ui.panels.isa", MAY_IMPORT["ui.panels"])
    assert not within("formats.open", MAY_IMPORT["analysis"])
    assert layer_of("cli.commands.view") == "cli.commands.view"
    assert layer_of("cli.commands.info") == "cli"
