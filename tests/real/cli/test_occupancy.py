"""What `rcv occupancy` prints, against the reference's numbers."""

from __future__ import annotations

import json

import pytest

from tests.features.occupancy.test_command import run
from tests.real import captures


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_numbers_are_the_reference_s(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    golden = captures.golden(f"beyond/{name}.json")
    folder = captures.trace_path(name)
    engines = json.loads(run(capsys, folder, "--json"))
    assert engines["schema"] == "rcv.occupancy/2"
    every, *rows = engines["rows"]
    assert every["peak"] == golden["peak_waves"]
    assert every["mean"] == pytest.approx(golden["avg_waves"], abs=0.01)
    assert 100 * every["tail_share_of_time"] == pytest.approx(golden["tail_below_half_pct"], abs=0.01)
    assert sum(row["area"] for row in rows) == every["area"]
    states = json.loads(run(capsys, folder, "--by", "state", "--json"))["rows"][1:]
    assert {row["state"]: row["area"] for row in states} == golden["state_cycles"]
    kernels = json.loads(run(capsys, folder, "--by", "kernel", "--json"))["rows"]
    assert [row["ids"] for row in kernels[1:]] == [[1]]
