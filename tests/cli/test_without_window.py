"""Without Qt commands and tools for agents work, as does the API, and the window says what to install."""

import re
import subprocess
import sys
import tomllib

import pytest

from rcv_py.cli.commands.mcp import NEEDED
from rcv_py.cli.commands.shot import WINDOW_PACKAGES
from tests.support.paths import ROOT
from tests.support.programs import finished
from tests.support.samples import sample_path

SAMPLE = str(ROOT / "sample_traces" / "matmul_tiled")
NOT_THERE = (
    "import sys\nfor name in ('PySide6', 'shiboken6', 'pyqtgraph', 'pygments'): sys.modules[name] = None\n"
)


def without_window(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process that cannot import the packages of the window."""
    words = [sys.executable, "-c", NOT_THERE + code]
    return finished(words)


@pytest.mark.parametrize("words", [[SAMPLE], [], ["shot", SAMPLE, "--panel", "isa", "--out", "isa.png"]])
def test_the_window_says_what_to_install(words: list[str]) -> None:
    done = without_window(f"from rcv_py.cli.main import main; sys.exit(main({words!r}))")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "rcv: The window is not installed: it needs PySide6, pyqtgraph, pygments.\n"
        "     Install it with: pip install 'rcv-py[window]'; all other commands work without it.\n"
    )


def test_every_other_command_starts() -> None:
    folder = str(sample_path("matmul_small"))
    code = (
        "from importlib import import_module\n"
        "from rcv_py.cli.options.commands import COMMANDS, MODULES\n"
        "for name in COMMANDS: import_module(MODULES[name])\n"
        "from rcv_py.cli.main import main\n"
        "for words in (['triage'], ['hotspot'], ['causes', '--json'], ['check']):\n"
        f"    assert main([words[0], {folder!r}, *words[1:]]) == 0, words\n"
    )
    done = without_window(code)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_tools_for_agents_work() -> None:
    folder = str(sample_path("matmul_small"))
    code = (
        "from rcv_py.cli.mcp.handler import CommandRunner\n"
        f"outcome = CommandRunner()(['triage', {folder!r}, '--json'], 0)\n"
        "print(outcome.meta['rcv/exit'], outcome.document['findings'][0]['title'])\n"
    )
    done = without_window(code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("0 ")


def test_the_packages_are_an_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = project["optional-dependencies"]["window"]
    extra = {re.split(r"[^\w-]", line)[0].removesuffix("-Essentials") for line in lines}
    assert extra - {"rocm-llvm-python"} == set(WINDOW_PACKAGES)
    assert not any(name in line for line in project["dependencies"] for name in WINDOW_PACKAGES)
    assert project["optional-dependencies"]["mcp"] == [NEEDED]
    assert "'.[window]'" in (ROOT / "packaging" / "setup.sh").read_text()
