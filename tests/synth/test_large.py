"""Large folders have the size that was asked for; what holds in them is checked with the other samples."""

from pathlib import Path

import orjson
import pytest

from tests.support.made_captures import write_large


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


@pytest.mark.parametrize("megabytes", [2, 4])
def test_size_is_close_to_what_was_asked(tmp_path: Path, megabytes: int) -> None:
    write_large(tmp_path, megabytes)
    assert size(tmp_path) == pytest.approx(megabytes * 1e6, rel=0.1)


def test_waves_and_tokens_can_be_asked_for(tmp_path: Path) -> None:
    write_large(tmp_path, waves=20, tokens_per_wave=2_000)
    counts = [orjson.loads(path.read_bytes())["num_insts"] for path in tmp_path.glob("se*")]
    assert len(counts) == 20
    assert all(1_960 < count < 2_040 for count in counts)


def test_megabytes_are_spread_over_the_waves(tmp_path: Path) -> None:
    write_large(tmp_path, megabytes=3, waves=40)
    assert len(list(tmp_path.glob("se*.json"))) == 40
    assert size(tmp_path) == pytest.approx(3e6, rel=0.1)
