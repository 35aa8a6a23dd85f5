"""What `rcv occupancy` prints, against the reference's numbers."""

import json

import pytest

from tests.real import captures
from tests.support.command_runs import printed


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_numbers_are_the_reference_s(name: str) -> None:
    golden = captures.golden(f"beyond/{name}.json")
    folder = captures.trace_path(name)
    engines = json.loads(printed("occupancy", folder, "--json"))
    assert engines["schema"] == "rcv.occupancy/2"
    every, *rows = engines["rows"]
    assert every["peak"] == golden["peak_waves"]
    assert every["mean"] == pytest.approx(golden["avg_waves"], abs=0.01)
    assert 100 * every["tail_share_of_time"] == pytest.approx(golden["tail_below_half_pct"], abs=0.01)
    assert sum(row["area"] for row in rows) == every["area"]
    states = json.loads(printed("occupancy", folder, "--by", "state", "--json"))["rows"][1:]
    assert {row["state"]: row["area"] for row in states} == golden["state_cycles"]
    kernels = json.loads(printed("occupancy", folder, "--by", "kernel", "--json"))["rows"]
    assert [row["ids"] for row in kernels[1:]] == [[1]]
