"""`rcv latency`: the same numbers as the analyses, and sentences where there are none."""

from __future__ import annotations

import csv
import io
import json

import pytest

from rcv_py.cli.main import main
from tests.support import captures


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[str, str]:
    """What a command that works prints, and what it complains about."""
    assert main(["latency", *(str(word) for word in words)]) == 0
    output = capsys.readouterr()
    return output.out, output.err


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_totals_of_the_reference_rule(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, errors = run(capsys, captures.trace_path(name), "--rule", "reference", "--json", "--top", 0)
    document, golden = json.loads(text), captures.golden(f"rcv/{name}.json")["totals"]
    assert not errors
    assert document["schema"] == "rcv.latency/2"
    assert document["totals"]["hidden"] == golden["hidden_clamped"]
    assert document["totals"]["not_hidden"] == golden["nonhidden"]
    assert sum(row["hidden"] for row in document["rows"]) == golden["hidden_clamped"]
    assert document["total_rows"] == len(document["rows"])
    assert "reference" in document["assumption"]
    beyond = captures.golden(f"beyond/{name}.json")
    assert document["totals"]["mfma_busy"] == beyond["mfma_model"]["matrix_busy_cycles"]
    assert document["totals"]["simd_cycles"] == beyond["simd_issue"]["resident"]


def test_text_says_what_is_hidden_and_what_is_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    text, _ = run(capsys, captures.trace_path("pa_mqa_big"), "--top", 3)
    lines = text.splitlines()
    assert len(lines) == 4 + 3
    assert "s_waitcnt vmcnt(5)" in lines[1]
    assert lines[5].startswith("3 of ")
    assert "of 1,602,196 cycles" in lines[5]
    assert lines[6].startswith("Estimate: ")


def test_memory_latency_as_a_spreadsheet(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.synthetic_path("counters_gfx9")
    text, errors = run(capsys, folder, "--by", "memory", "--rule", "reference", "--csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert not errors
    assert [(row["instruction"], row["counter"], row["samples"]) for row in rows] == [
        ("3", "VMEM", "94"),
        ("8", "VMEM", "89"),
        ("4", "LDS", "94"),
    ]
    assert float(rows[0]["mean"]) == pytest.approx(450.553, abs=1e-3)
    table, _ = run(capsys, folder, "--by", "memory")
    assert "a sample every 40 cycles" in table


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("pcsampling", "hidden", "PC samples"),
        ("pcsampling", "memory", "PC samples"),
        ("pa_mqa_small", "memory", "SQ_INST_LEVEL_VMEM"),
    ],
)
def test_where_there_is_nothing_a_sentence_says_why(
    name: str, kind: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = captures.trace_path(name)
    assert sentence in run(capsys, folder, "--by", kind)[0]
    assert sentence in json.loads(run(capsys, folder, "--by", kind, "--json")[0])["reason"]
    table, errors = run(capsys, folder, "--by", kind, "--csv")
    assert sentence in errors
    assert table.startswith("instruction,")
