"""Options that say what a panel shows, on captures with known truth, and what is refused."""

from typing import Any

import numpy as np
import pytest

from rcv_py.cli.opening import batches
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from tests.support.command_runs import printed_json
from tests.support.fixtures import fixture_of
from tests.support.opened import sample_trace
from tests.support.samples import sample_path

NAME = "matmul_small"


trace = fixture_of(sample_trace, NAME, scope="module")  # A capture with a few waves


@pytest.fixture(scope="module")
def waves(trace: Trace) -> list[TracedWave]:
    """All of its waves."""
    return [wave for batch in batches(trace) for wave in batch.waves]


@pytest.fixture
def told() -> Any:
    """Run a command on the capture and return its document."""

    def run(command: str, *words: str) -> dict[str, Any]:
        return dict(printed_json(command, sample_path(NAME), *words))

    return run


def test_a_range_counts_only_waves_that_touch_it(told: Any, waves: list[TracedWave]) -> None:
    first = min(waves, key=lambda wave: wave.begin)
    clock = f"--clock={first.begin}:{first.begin + 1}"
    inside = [wave for wave in waves if wave.begin <= first.begin < wave.end]
    rows = told("isa", clock)["rows"]
    hits = np.zeros(len(rows), dtype=int)
    for wave in inside:
        line = wave.tokens.line
        hits += np.bincount(line[line >= 0], minlength=len(rows))[: len(rows)]
    assert [row["hits"] for row in rows] == hits.tolist()


def test_bins_add_up_to_the_ranking(told: Any) -> None:
    bins = told("hotspot", "--bins", "7")
    lines = told("hotspot", "--top", "0")
    assert len(bins["rows"]) == 7
    assert bins["total"] == sum(row["total"] for row in bins["rows"])
    assert bins["total"] == pytest.approx(lines["totals"]["latency"], rel=1e-3)


def test_charged_lines_are_latency_and_idle_of_their_instructions(told: Any, trace: Trace) -> None:
    rows = told("hotspot", "--by", "instruction", "--charge", "self", "--top", "0")["rows"]
    cost = trace.code.latency + trace.code.idle
    assert {row["instruction"]: row["cost"] for row in rows} == {
        row: int(cost[row]) for row in np.flatnonzero(cost).tolist()
    }
    rows = told("hotspot", "--by", "instruction", "--charge", "self", "--no-idle", "--top", "3")["rows"]
    assert [row["cost"] for row in rows] == sorted(trace.code.latency.tolist(), reverse=True)[:3]
