"""The skill for coding agents: its form, and each of its commands, in their order, on a sample."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from rcv_py.cli.options.commands import COMMANDS
from rcv_py.cli.options.program import SKILLS
from tests.support.paths import ROOT
from tests.support.programs import finished, write_program
from tests.support.rocpd import write
from tests.support.rocprofv3 import installed
from tests.support.samples import sample_path, write_slow

FILE = ROOT / "packaging" / "skill" / "rcv" / "SKILL.md"
TEXT = FILE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_its_head_is_in_the_standard_form() -> None:
    """The name of its folder, 64 letters; a description of at most 1,024; fewer than 500 lines."""
    _, head, body = TEXT.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert list(fields) == ["name", "description", "license", "compatibility"]
    assert fields["name"] == FILE.parent.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert "Use it to" in fields["description"]
    assert len(fields["description"]) <= 1024
    assert len(fields["compatibility"]) <= 500
    # What YAML reads as a plain text: no ": " or " #" in it, nothing special at its begin.
    assert all(re.fullmatch(r"(?!.*(: | #))[A-Za-z0-9].*", value) for value in fields.values())
    assert body.startswith("\n# ")
    assert TEXT.count("\n") < 500


def test_all_that_it_names_exists() -> None:
    named = {*re.findall(r"\brcv ([a-z]+-?[a-z]+)\b", "\n".join([*BLOCKS, *re.findall(r"`(.*?)`", TEXT)]))}
    assert named <= set(COMMANDS), named - set(COMMANDS)
    assert {"info", "record", "check", "triage", "whatif", "compare"} <= named


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program to record, and rocprofv3 that records a sample of it."""
    tools = installed(tmp_path / "bin", "rocprofv3")
    write_program(tools)
    (tmp_path / "program").write_text("#!/bin/sh\necho it ran\n")
    (tmp_path / "program").chmod(0o755)
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    database = write(tmp_path / "kernels.db")
    before, after = (
        str(path) for path in (write_slow("matmul_small", tmp_path / "slow"), sample_path("matmul_small"))
    )
    rules = [
        {"when": {"kernel_trace": "rocpd"}, "file": str(database)},
        {"when": {"output_directory": str(tmp_path / "after" / "1")}, "folder": after},
        {"folder": before},
    ]
    monkeypatch.setenv("RECORDINGS", json.dumps(rules))
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_its_commands_lead_from_a_program_to_a_verdict(place: Path) -> None:
    assert len(BLOCKS) >= 8
    done = finished(["bash", "-euo", "pipefail", "-c", "".join(BLOCKS)], cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "null" not in done.stdout
    # 400 + 200 + 300 ns in the three launches of the first kernel of the database, 100 ns in the other.
    assert re.search(
        r"^900(\.0)? ns, launches: 3, slow\(\)\n100(\.0)? ns, launches: 1, quick$", done.stdout, re.MULTILINE
    )
    assert "bound: " in done.stdout
    assert "Waits for VMEM loads  ≤ " in done.stdout
    assert json.loads((place / "compare.json").read_text())["verdict"] == "takes fewer cycles"


def test_it_is_printed_and_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["skill"]) == 0
    assert capsys.readouterr().out == TEXT
    assert main(["skill", "install"]) == 0
    assert main(["skill", "install", "mine"]) == main(["skill", "install", "mine"]) == 0
    for folder in (SKILLS, "mine"):
        assert (tmp_path / folder / "rcv" / "SKILL.md").read_bytes() == FILE.read_bytes()


def test_an_edited_one_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited = tmp_path / "rcv" / "SKILL.md"
    edited.parent.mkdir()
    edited.write_text("my own")
    assert main(["skill", "install", str(tmp_path)]) == 2
    assert "another version, or was edited" in capsys.readouterr().err
    assert edited.read_text() == "my own"
    assert main(["skill", "install", str(edited)]) == 2  # a file is not a folder of skills
    assert "cannot be written" in capsys.readouterr().err
