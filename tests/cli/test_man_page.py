"""The manual page names every command, option and variable, and is valid roff."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rcv_py.cli.arguments import parser, shown_actions
from rcv_py.cli.options.commands import COMMANDS
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.programs import finished


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("man") / "rcv.1"
    script = str(ROOT / "packaging" / "man_page.py")
    subprocess.run([sys.executable, script, str(target)], check=True, capture_output=True, timeout=HANG_S)
    return target


def test_the_manual_is_complete(page: Path) -> None:
    text = page.read_text().replace("\\-", "-").replace("\\(dq", '"').replace("\\e", "\\")
    for command in COMMANDS.values():
        section = text.partition(f'.SS "rcv {command.command} ')[2].partition(".SS ")[0]
        assert str(command.__doc__) in section
        assert command.example in section
        for action in shown_actions(parser(command))[1:]:
            names = ", ".join(action.option_strings) or str(action.metavar)
            assert f"\n.B {names}" in section, (command.command, names)
    for name in ("RCV_PAGER", "NO_COLOR", "FORCE_COLOR", "COLUMNS", ".SH EXIT STATUS"):
        assert name in text


def test_the_manual_is_valid(page: Path) -> None:
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    done = finished(
        ["man", "--warnings", "-E", "UTF-8", "-l", str(page)],
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "80"},
    )
    assert done.stderr == ""
    assert "rcv hotspot" in done.stdout
