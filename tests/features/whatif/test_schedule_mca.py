"""`rcv schedule --mca`: a stand-in on the path, and none."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.command_runs import printed, printed_json, refused
from tests.support.fixtures import fixture_of
from tests.support.samples import sample_path

folder = fixture_of(sample_path, "ceiling")  # A capture of a kernel of three blocks, whose GPU is known


def test_estimates_stand_beside_the_schedules(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "llvm-mca"
    program.write_text(f"#!{sys.executable}\nimport sys\nprint('Total Cycles:', len(list(sys.stdin)))\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    document = printed_json("schedule", folder, "--mca")
    texts = [row[0] for row in json.loads((folder / "code.json").read_text())["code"]]
    given = 0
    for block in document["rows"]:
        inside = texts[block["first_instruction"] : block["last_instruction"] + 1]
        plain = [text for text in inside if not text.startswith((";", "s_cbranch", "s_endpgm"))]
        assert 0 < block["llvm_mca"] <= len(plain)
        given += len(plain)
    assert sum(block["llvm_mca"] for block in document["rows"]) == given - document["llvm_mca_left_out"]
    assert document["llvm_mca_target"] == "gfx942"
    assert "llvm-mca took gfx942" in printed("schedule", folder, "--mca")
    assert "llvm_mca" not in printed_json("schedule", folder)["rows"][0]


def test_without_the_program_it_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "llvm-mca is not installed." in refused("schedule", folder, "--mca")
