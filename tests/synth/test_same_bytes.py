"""The same seed gives the same bytes, and the captures in sample_traces are those."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from rcv_py.synth.samples import SAMPLES, SHIPPED
from tests.golden.record import folder_digest
from tests.support.made_captures import main, write_large
from tests.support.paths import ROOT
from tests.synth.conftest import Written


def digests(folder: Path) -> dict[str, str]:
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_samples_can_be_made_again(name: str, written: Written) -> None:
    assert digests(written(name)[0].path) == digests(ROOT / "sample_traces" / name)


def test_shipped_samples_are_small() -> None:
    assert sum(path.stat().st_size for path in (ROOT / "sample_traces").rglob("*") if path.is_file()) < 4e6


@pytest.mark.parametrize("name", sorted(SAMPLES.ids()))
def test_a_seed_gives_the_same_bytes_wherever_and_whenever(name: str, written: Written) -> None:
    recorded = json.loads((ROOT / "tests" / "golden" / "samples.json").read_text())
    told = "if that is wanted, run tests/golden/record.py"
    assert folder_digest(written(name)[0].path) == recorded[name], told
    assert set(recorded) == set(SAMPLES.ids()), told


def test_another_seed_gives_another_capture(tmp_path: Path, written: Written) -> None:
    SAMPLES["matmul_small"].write(tmp_path, seed=4)
    assert digests(tmp_path) != digests(written("matmul_small")[0].path)


def test_a_large_folder_is_the_same_again(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_large(tmp_path / name, waves=10, tokens_per_wave=800, seed=9)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")


def test_the_command_writes_what_it_is_asked_for(tmp_path: Path, written: Written) -> None:
    assert main(["matmul_small", "--out", str(tmp_path / "small"), "--seed", "0"]) == 0
    assert digests(tmp_path / "small") == digests(written("matmul_small")[0].path)
    assert main(["large", "--out", str(tmp_path / "large"), "--waves", "3", "--tokens", "600"]) == 0
    assert len(list((tmp_path / "large").glob("se*.json"))) == 3


def test_the_command_says_why_it_cannot_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("")
    assert main(["placeholder", "--out", str(tmp_path / "taken")]) == 1
    error = capsys.readouterr().err
    assert "taken cannot be written" in error
    assert "Choose another folder." in error
