"""What people install: the recipes name what is there, and the parts of a build are told."""

import configparser
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from tests.support.fixtures import fixture_of
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.programs import finished

PACKAGING = ROOT / "packaging"
SHELL = sorted([*PACKAGING.rglob("*.sh"), PACKAGING / "linux" / "AppRun"])


def module(name: str) -> ModuleType:
    """A script of packaging/ as a module."""
    spec = importlib.util.spec_from_file_location(f"packaging_{name}", PACKAGING / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


# The parts of this environment, as CycloneDX
bill = fixture_of(lambda: module("sbom").bill(("window", "fast")), scope="module")


def test_the_menu_entry_opens_files_and_has_an_icon() -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(PACKAGING / "linux" / "rcv.desktop")
    entry = parser["Desktop Entry"]
    assert entry["Exec"] == "rcv %f"
    assert entry["Icon"] == "rcv"
    assert (ROOT / "resources" / "rcv.svg").is_file()
    assert entry["MimeType"] == "application/x-rcvz;"
    assert entry["StartupWMClass"] == "rcv"


def test_the_file_type_is_that_of_packed_captures() -> None:
    tree = ElementTree.parse(PACKAGING / "linux" / "rcv.xml")
    names = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
    kind = tree.find("m:mime-type", names)
    assert kind is not None
    assert kind.attrib["type"] == "application/x-rcvz"
    assert [glob.attrib["pattern"] for glob in kind.findall("m:glob", names)] == ["*.rcvz"]


@pytest.mark.parametrize("path", SHELL, ids=lambda path: path.name)
def test_shell_scripts_are_whole(path: Path) -> None:
    assert (
        subprocess.run(
            ["sh" if path.suffix == "" else "bash", "-n", path], check=False, timeout=HANG_S
        ).returncode
        == 0
    )


def test_recipes_name_scripts_that_are_there() -> None:
    for path in (*SHELL, *PACKAGING.rglob("*.ps1"), PACKAGING / "build.py"):
        for name in re.findall(r"packaging[/\\]([\w/\\.]+\.(?:py|ps1|sh|spec))", path.read_text()):
            assert (PACKAGING / name.replace("\\", "/")).is_file(), (path.name, name)
    spec = (PACKAGING / "rcv.spec").read_text()
    for folder in re.findall(r'root / "([\w"/ ]+)"\)?, "', spec):
        assert (ROOT / folder.replace('" / "', "/")).exists(), folder
    compile(spec, "rcv.spec", "exec")


def test_windows_and_macos_recipes_name_their_assumptions() -> None:
    for path in (PACKAGING / "windows" / "build.ps1", PACKAGING / "macos" / "build.sh"):
        head = path.read_text().partition("set -euo" if path.suffix == ".sh" else "$Error")[0]
        assert "Assumptions" in head
        assert "none of which could be tried" in head


def test_the_bill_has_every_package_with_a_licence(bill: dict[str, object]) -> None:
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    parts = {part["name"]: part for part in bill["components"]}  # type: ignore[attr-defined]
    project = (ROOT / "pyproject.toml").read_text()
    needed = re.findall(r'"([\w-]+)', project.split("dependencies = [")[1].split("]")[0])
    needed += re.findall(r'"([\w-]+)[^";]*"', project.split("window = [")[1].split("]")[0])
    known = {re.sub(r"[-_.]+", "-", name).lower() for name in parts}
    assert {name.lower() for name in needed} <= known
    assert {"Python", "Qt", "JetBrains Mono", "shiboken6"} <= set(parts)
    for name, part in parts.items():
        (licence,) = part["licenses"]
        assert licence["expression"] != "NOASSERTION", name
        assert part["version"], name
    assert not {"pytest", "mypy", "pandas"} & known, "what only tests and scripts use"


def test_the_same_environment_gives_the_same_bill(bill: dict[str, object]) -> None:
    words = [sys.executable, str(PACKAGING / "sbom.py")]
    done = finished(words, check=True)
    assert json.loads(done.stdout) == bill


def test_licences_of_what_is_bundled_come_along(tmp_path: Path) -> None:
    without = module("sbom").write_licences(tmp_path, ("window", "fast"))
    assert (tmp_path / "rcv-py" / "LICENSE").is_file()
    assert (tmp_path / "JetBrains-Mono" / "LICENSE-JetBrainsMono.txt").is_file()
    assert any((tmp_path / "numpy").iterdir())
    assert set(without) <= {"PySide6_Essentials", "shiboken6", "pysimdjson", "pyelftools"}


def test_the_version_of_packages_is_that_of_the_program() -> None:
    import rcv_py

    assert module("build").version() == rcv_py.__version__
