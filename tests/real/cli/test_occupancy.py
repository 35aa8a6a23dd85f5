"""What `rcv occupancy` prints, against the reference's numbers."""

import pytest

from tests.real import captures
from tests.support.command_runs import printed_json


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_numbers_are_the_reference_s(name: str) -> None:
    golden = captures.golden(f"beyond/{name}.json")
    folder = captures.trace_path(name)
    engines = printed_json("occupancy", folder)
    assert engines["schema"] == "rcv.occupancy/2"
    every, *rows = engines["rows"]
    assert every["peak"] == golden["peak_waves"]
    assert every["mean"] == pytest.approx(golden["avg_waves"], abs=0.01)
    assert 100 * every["tail_share_of_time"] == pytest.approx(golden["tail_below_half_pct"], abs=0.01)
    assert sum(row["area"] for row in rows) == every["area"]
    states = printed_json("occupancy", folder, "--by", "state")["rows"][1:]
    assert {row["state"]: row["area"] for row in states} == golden["state_cycles"]
    kernels = printed_json("occupancy", folder, "--by", "kernel")["rows"]
    assert [row["ids"] for row in kernels[1:]] == [[1]]
