"""The examples of docs/automation.md work: its shell blocks, and the commands of its workflow."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rcv_py.cli.arguments import parse
from rcv_py.cli.commands.mcp import NEEDED
from rcv_py.cli.options.commands import COMMANDS
from tests.support.paths import ROOT
from tests.support.programs import finished, write_program
from tests.support.samples import write_sample, write_slow

PAGE = (ROOT / "docs" / "automation.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
WORKFLOW = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
# Where jq is missing its input is read and nothing is said: the commands before it are tested all the same.
NO_JQ = "#!/bin/sh\ncat >/dev/null 2>&1 </dev/stdin || :\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the captures that the page speaks of, and `rcv` on the path."""
    place = tmp_path_factory.mktemp("automation")
    write_sample("matmul_small", place / "before", seed=0)
    write_sample("matmul_small", place / "after", seed=1)
    write_sample("matmul_small", place / "twin", seed=2)
    shutil.copytree(place / "before", place / "captures" / "one")
    shutil.copytree(ROOT / "sample_traces" / "placeholder", place / "captures" / "two")
    shutil.copytree(place / "before", place / "nightly" / "monday")
    shutil.copytree(place / "after", place / "nightly" / "tuesday")
    tools = place / "bin"
    tools.mkdir()
    write_program(tools)
    if shutil.which("jq") is None:
        (tools / "jq").write_text(NO_JQ)
        (tools / "jq").chmod(0o755)
    return place


def shell(place: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a careful person would: it ends at the first command that fails."""
    return finished(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=place,
        env={**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("\n")[0][:40])
def test_an_example_works(place: Path, block: str) -> None:
    done = shell(place, block)
    assert (done.returncode, done.stderr) == (0, "")
    assert "null" not in done.stdout


def test_the_workflow_runs_what_exists(place: Path) -> None:
    (workflow,) = WORKFLOW
    (place / "reports").mkdir(exist_ok=True)
    lines = [line.strip() for line in workflow.split("\n") if line.strip().startswith("rcv ")]
    assert len(lines) >= 5
    done = shell(place, "\n".join(lines))
    assert (done.returncode, done.stderr) == (0, "")
    assert "null" not in done.stdout
    names = {path.name for path in (place / "reports").iterdir()}
    assert {"index.html", "before.html", "after.html"} < names


def test_the_gate_trips_on_more_cycles(place: Path) -> None:
    """The example of the gate lets 0 and 3 pass; that 3 is reached is shown with a capture made slower."""
    write_slow("matmul_small", place / "slow")
    done = shell(place, "rcv compare before slow --twin twin --fail-on regression")
    assert done.returncode == 3, done.stdout + done.stderr


def test_commands_and_packages_that_the_page_names_exist() -> None:
    named = set(re.findall(r"`rcv ([a-z]+)", PAGE))
    assert named <= set(COMMANDS), named - set(COMMANDS)
    assert NEEDED in PAGE
    (settings,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    server = json.loads(settings)["mcpServers"]["rcv"]
    assert server["command"] == "rcv"
    assert parse(server["args"]).command == "mcp"
