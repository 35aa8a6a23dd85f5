"""Writing made-up captures on request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from rcv_py.synth.samples import SAMPLES


def test_samples_are_listed_when_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(SAMPLES)
    assert [line.split()[0] for line in lines[1:]] == list(SAMPLES.ids())


def test_a_sample_is_written_opened_and_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = SAMPLES.ids()[0]
    assert main(["synth", name, "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["info", str(tmp_path / name), "--read", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["waves"]["count"] > 0
    assert not [problem for problem in facts["problems"] if problem["severity"] == "error"]


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = SAMPLES.ids()[0]
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine.txt").write_text("keep")
    assert main(["synth", name, "--out", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / name).iterdir()] == ["mine.txt"]


def test_an_unknown_sample_and_a_place_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["synth", "nonsense", "--out", str(tmp_path)]) == 2
    assert "no sample called nonsense" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main(["synth", SAMPLES.ids()[0], "--out", str(tmp_path / "file")]) == 2
    assert "cannot be written" in capsys.readouterr().err
