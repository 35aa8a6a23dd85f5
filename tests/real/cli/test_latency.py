"""`rcv latency` on real captures: the numbers of the reference."""

import pytest

from tests.real.captures import GOLDEN, golden, synthetic_path, trace_path
from tests.support.command_runs import printed, printed_csv, printed_json


@pytest.mark.parametrize("name", GOLDEN)
def test_totals_of_the_reference_rule(name: str) -> None:
    document = printed_json("latency", trace_path(name), "--rule", "reference", "--top", 0)
    expected = golden(f"rcv/{name}.json")["totals"]
    assert document["totals"]["hidden"] == expected["hidden_clamped"]
    assert document["totals"]["not_hidden"] == expected["nonhidden"]
    assert sum(row["hidden"] for row in document["rows"]) == expected["hidden_clamped"]
    assert document["total_rows"] == len(document["rows"])
    beyond = golden(f"beyond/{name}.json")
    assert document["totals"]["mfma_busy"] == beyond["mfma_model"]["matrix_busy_cycles"]
    assert document["totals"]["simd_cycles"] == beyond["simd_issue"]["resident"]


def test_text_says_what_is_hidden() -> None:
    lines = printed("latency", trace_path("pa_mqa_big"), "--top", 3).splitlines()
    assert "s_waitcnt vmcnt(5)" in lines[1]
    assert "of 1,602,196 cycles" in lines[5]


def test_memory_latency_as_a_spreadsheet() -> None:
    folder = synthetic_path("counters_gfx9")
    rows = printed_csv("latency", folder, "--by", "memory", "--rule", "reference")
    assert [(row["instruction"], row["counter"], row["samples"]) for row in rows] == [
        ("3", "VMEM", "94"),
        ("8", "VMEM", "89"),
        ("4", "LDS", "94"),
    ]
    assert float(rows[0]["mean"]) == pytest.approx(450.553, abs=1e-3)
