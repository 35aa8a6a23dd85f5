"""`rcv loops`, `rcv bubbles` and `rcv occupancy --limits` on real captures: reference numbers."""

import csv
import io
import json

import pytest

from tests.real.captures import GOLDEN, golden, trace_path
from tests.support.command_runs import printed, printed_json


@pytest.mark.parametrize("name", GOLDEN)
def test_the_json_has_the_reference_numbers(name: str) -> None:
    folder, expected = trace_path(name), golden(f"beyond/{name}.json")
    document = printed_json("loops", folder, "--top", 0)
    found = {(row["branch"], row["head"]): row for row in document["rows"]}
    for row in expected["loops"]:
        mine = found[row["branch_line"], row["head_line"]]
        assert mine["taken"] == row["taken"]
        assert mine["waves"] == row["waves"]
        assert mine["per_wave"] == row["iter_per_wave"]
        cycles = row["cycles_per_iter"] or dict.fromkeys(("min", "median", "max"))
        assert (mine["min"], mine["max"]) == (cycles["min"], cycles["max"])
        assert is_median(mine["median"], cycles["median"], cycles["min"])
    barriers = expected["barriers"]
    mine = document["barriers"]
    assert (mine["instances"], mine["max_skew"]) == (barriers["instances"], barriers["arrival_skew_max"])
    assert is_median(mine["median_skew"], barriers["arrival_skew_median"])
    assert mine["max_release_spread"] == barriers["release_spread_max"]
    document = printed_json("bubbles", folder, "--rule", "reference")
    issue = expected["simd_issue"]
    totals = document["totals"]
    assert totals["simd_cycles"] == issue["resident"]
    assert totals["issuing"] == issue["issue"]
    assert totals["bubbles"] == issue["bubble"]
    assert 100 * totals["issuing_share_of_simd_cycles"] == pytest.approx(issue["busy_pct"], abs=0.01)
    assert {kind: totals[kind] for kind in issue["bubble_by_kind"]} == issue["bubble_by_kind"]
    assert [row["bubbles"] for row in document["rows"]] == [
        row["bubble_cycles"] for row in issue["top_lines"]
    ]
    assert document["mfma_use"]["mfma_busy"] == expected["mfma_model"]["matrix_busy_cycles"]


def is_median(mine: float | None, reference: float | None, shortest: float = 0) -> bool:
    """Whether a median may be the mean of the two middle values of which the reference has the upper.

    tests/real/analysis derives the exact value from the samples.
    """
    return mine == reference if mine is None or reference is None else shortest <= mine <= reference


def test_one_wave() -> None:
    words = ("loops", trace_path("pa_mqa_big"), "--wave", "se0/simd1/slot0/wv0", "--json")
    document = json.loads(printed(*words))
    assert (document["waves"], document["rows"][0]["taken"]) == (1, 15)


def test_limits() -> None:
    folder = trace_path("mla_decode")
    text = printed("occupancy", folder, "--limits")
    assert "can hold 2 waves of this kernel, bound by vector registers" in text
    assert "128 vector registers fewer (at most 128) and 3,072 bytes of LDS fewer (at most 81,920)" in text
    assert "Traced: at most 2 waves" in text
    assert "discover_kernel_trace.csv" in text
    document = printed_json("occupancy", folder, "--limits")
    assert (document["waves_per_simd"], document["goal"], document["resident"]["peak"]) == (2, 4, 2)
    sheet = list(csv.DictReader(io.StringIO(printed("occupancy", folder, "--limits", "--csv"))))
    assert [row["name"] for row in sheet] == ["vector registers", "scalar registers", "LDS", "workgroup"]
