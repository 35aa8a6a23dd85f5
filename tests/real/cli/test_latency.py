"""`rcv latency` on real captures: the numbers of the reference."""

import csv
import io
import json

import pytest

from tests.features.latency.test_command import run
from tests.real.captures import GOLDEN, golden, synthetic_path, trace_path


@pytest.mark.parametrize("name", GOLDEN)
def test_totals_of_the_reference_rule(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, errors = run(capsys, trace_path(name), "--rule", "reference", "--json", "--top", 0)
    document, expected = json.loads(text), golden(f"rcv/{name}.json")["totals"]
    assert not errors
    assert document["totals"]["hidden"] == expected["hidden_clamped"]
    assert document["totals"]["not_hidden"] == expected["nonhidden"]
    assert sum(row["hidden"] for row in document["rows"]) == expected["hidden_clamped"]
    assert document["total_rows"] == len(document["rows"])
    beyond = golden(f"beyond/{name}.json")
    assert document["totals"]["mfma_busy"] == beyond["mfma_model"]["matrix_busy_cycles"]
    assert document["totals"]["simd_cycles"] == beyond["simd_issue"]["resident"]


def test_text_says_what_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    text, _ = run(capsys, trace_path("pa_mqa_big"), "--top", 3)
    lines = text.splitlines()
    assert "s_waitcnt vmcnt(5)" in lines[1]
    assert "of 1,602,196 cycles" in lines[5]


def test_memory_latency_as_a_spreadsheet(capsys: pytest.CaptureFixture[str]) -> None:
    folder = synthetic_path("counters_gfx9")
    text, errors = run(capsys, folder, "--by", "memory", "--rule", "reference", "--csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert not errors
    assert [(row["instruction"], row["counter"], row["samples"]) for row in rows] == [
        ("3", "VMEM", "94"),
        ("8", "VMEM", "89"),
        ("4", "LDS", "94"),
    ]
    assert float(rows[0]["mean"]) == pytest.approx(450.553, abs=1e-3)
