"""Versions name every package that the program can use."""

import re
import tomllib

import numpy as np
import pytest

from rcv_py import __version__
from rcv_py.base import versions
from rcv_py.base.versions import PACKAGES, versions_text
from tests.support.paths import ROOT


def test_packages_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"] | {"": project["dependencies"]}
    lines = [line for name in extras.keys() - {"docs", "test"} for line in extras[name]]
    declared = {re.split(r"[<>=!~]", line)[0] for line in lines}
    assert {name for names in PACKAGES.values() for name in names} == declared
    for extra, names in PACKAGES.items():
        for name in names:
            assert any(line.startswith(name) for line in extras[extra]), (extra, name)


def test_each_is_a_line_and_what_is_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PACKAGES, "fast", ("no-such-package",))
    lines = versions_text().splitlines()
    assert lines[0] == f"rcv {__version__}"
    assert f"numpy {np.__version__}" in lines
    assert "no-such-package not installed (pip install 'rcv-py[fast]')" in lines
    assert len(lines) == len(list(versions.versions()))
