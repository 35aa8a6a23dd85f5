"""The same seed gives the same bytes, and the captures in sample_traces are those."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from rcv_py.synth.samples import SAMPLES, SHIPPED
from tests.golden.record import folder_digest
from tests.support.made_captures import write_large
from tests.support.paths import ROOT
from tests.synth.conftest import Written


def digests(folder: Path) -> dict[str, str]:
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_samples_can_be_made_again(name: str, written: Written) -> None:
    assert digests(written(name)[0].path) == digests(ROOT / "sample_traces" / name)


def test_shipped_samples_are_small() -> None:
    assert sum(path.stat().st_size for path in (ROOT / "sample_traces").rglob("*") if path.is_file()) < 4e6


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_seed_gives_the_same_bytes_wherever_and_whenever(name: str, written: Written) -> None:
    recorded = json.loads((ROOT / "tests" / "golden" / "samples.json").read_text())
    told = "if that is wanted, run tests/golden/record.py"
    assert folder_digest(written(name)[0].path) == recorded[name], told
    assert set(recorded) == set(SAMPLES), told


def test_another_seed_gives_another_capture(tmp_path: Path, written: Written) -> None:
    SAMPLES["matmul_small"].write(tmp_path, seed=4)
    assert digests(tmp_path) != digests(written("matmul_small")[0].path)


def test_a_large_folder_is_the_same_again(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_large(tmp_path / name, waves=10, tokens_per_wave=800, seed=9)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
