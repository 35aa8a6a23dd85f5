"""Printed numbers against the reference results that came with the captures."""

import json
from typing import Any

import pytest

from tests.real import captures
from tests.real.cli.test_loops_command import is_median
from tests.support.command_runs import run

every = pytest.mark.parametrize("name", captures.GOLDEN)


def told(name: str, command: str, *words: str) -> dict[str, Any]:
    """What a command prints about a capture, as a document."""
    done = run(command, str(captures.trace_path(name)), *words, "--json")
    assert (done.code, done.err) == (0, "")
    document: dict[str, Any] = json.loads(done.out)
    return document


@every
def test_bubbles(name: str) -> None:
    golden = captures.golden(f"beyond/{name}.json")["simd_issue"]
    document = told(name, "bubbles", "--rule", "reference", "--top", "0")
    totals = document["totals"]
    assert totals["simd_cycles"] == golden["resident"]
    assert totals["bubbles"] == pytest.approx(golden["bubble"], abs=8)  # what issues behind the end of a wave
    assert 100 * totals["issuing_share_of_simd_cycles"] == pytest.approx(golden["busy_pct"], abs=0.06)
    for kind, cycles in golden["bubble_by_kind"].items():
        assert totals[kind] == pytest.approx(cycles, rel=0.002, abs=8)
    rows = {row["instruction"]: row["bubbles"] for row in document["rows"]}
    for row in golden["top_lines"]:
        assert rows[row["line"]] == pytest.approx(row["bubble_cycles"], rel=0.002, abs=4)


@every
def test_barriers(name: str) -> None:
    golden = captures.golden(f"beyond/{name}.json")["barriers"]
    said = told(name, "loops")["barriers"]
    assert said["instances"] == golden["instances"]
    assert is_median(said["median_skew"], golden["arrival_skew_median"])
    assert said["max_skew"] == golden["arrival_skew_max"]
    assert said["max_release_spread"] == golden["release_spread_max"]


@every
def test_matrix_units(name: str) -> None:
    golden = captures.golden(f"beyond/{name}.json")["mfma_model"]
    totals = told(name, "latency")["totals"]
    assert totals["mfma_busy"] == golden["matrix_busy_cycles"]
    share = 100 * totals["mfma_busy"] / totals["simd_cycles"]
    assert share == pytest.approx(golden["pct_of_resident_simd_cycles"], abs=0.01)


@every
@pytest.mark.parametrize("by", ["latency", "stall"])
def test_the_costliest_instructions(name: str, by: str) -> None:
    golden = captures.golden(f"rcv/{name}.json")[f"top20_by_{by}"]
    rows = told(name, "hotspot", "--sort", by, "--top", "0")["rows"]
    said = {row["instruction"]: row for row in rows}
    assert [row[by] for row in rows[:20]] == [row[by] for row in golden]
    for row in golden:
        own = said[row["line"]]
        assert (own["hits"], own["latency"], own["stall"], own["idle"]) == (
            row["hit"],
            row["latency"],
            row["stall"],
            row["idle"],
        )


@every
def test_flame(name: str) -> None:
    golden = captures.golden(f"rcv/{name}.json")["flame_total"]
    assert told(name, "flame")["total"] == golden["allTotalLatency"]
