"""Writing made-up captures on request."""

from pathlib import Path

import pytest

from rcv_py.cli.main import main
from rcv_py.synth.samples import SAMPLES
from tests.support.command_runs import printed, printed_json, refused


def test_samples_are_listed_when_none_is_named() -> None:
    lines = printed("synth").splitlines()
    assert len(lines) == 1 + len(SAMPLES)
    assert [line.split()[0] for line in lines[1:]] == list(SAMPLES)


def test_a_sample_is_written_opened_and_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = next(iter(SAMPLES))
    assert main(["synth", name, "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    facts = printed_json("info", tmp_path / name, "--read")
    assert facts["waves"]["count"] > 0
    assert not [problem for problem in facts["problems"] if problem["severity"] == "error"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    name = next(iter(SAMPLES))
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine.txt").write_text("keep")
    assert "is there already" in refused("synth", name, "--out", tmp_path)
    assert [path.name for path in (tmp_path / name).iterdir()] == ["mine.txt"]


def test_an_unknown_sample_and_a_place_that_is_none(tmp_path: Path) -> None:
    assert "no sample called nonsense" in refused("synth", "nonsense", "--out", tmp_path)
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused("synth", next(iter(SAMPLES)), "--out", tmp_path / "file")
