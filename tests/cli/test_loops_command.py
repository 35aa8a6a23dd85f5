"""`rcv loops`, `rcv bubbles` and `rcv occupancy --limits`: reference numbers, forms, sentences."""

from __future__ import annotations

import csv
import io
import json

import pytest

from rcv_py.cli.main import main
from rcv_py.cli.options.dig_options import LOOPS_BY
from rcv_py.results.loops import TABLES
from tests.support import captures
from tests.support.command_runs import CACHE
from tests.ui.window import SAMPLES


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command that works prints."""
    code = main([*map(str, words)], CACHE)
    output = capsys.readouterr()
    assert (code, output.err) == (0, "")
    return output.out


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_the_json_has_the_reference_numbers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder, golden = captures.trace_path(name), captures.golden(f"beyond/{name}.json")
    document = json.loads(run(capsys, "loops", folder, "--json", "--top", 0))
    assert document["schema"] == "rcv.loops/2"
    found = {(row["branch"], row["head"]): row for row in document["rows"]}
    for row in golden["loops"]:
        mine = found[row["branch_line"], row["head_line"]]
        assert (mine["taken"], mine["waves"], mine["per_wave"]) == (
            row["taken"],
            row["waves"],
            row["iter_per_wave"],
        )
        expected = row["cycles_per_iter"] or dict.fromkeys(("min", "median", "max"))
        assert {key: mine[key] for key in expected} == expected
    barriers = golden["barriers"]
    mine = document["barriers"]
    assert (mine["instances"], mine["median_skew"], mine["max_skew"]) == (
        barriers["instances"],
        barriers["arrival_skew_median"],
        barriers["arrival_skew_max"],
    )
    document = json.loads(run(capsys, "bubbles", folder, "--rule", "reference", "--json"))
    issue = golden["simd_issue"]
    totals = document["totals"]
    assert (totals["simd_cycles"], totals["issuing"], totals["bubbles"]) == (
        issue["resident"],
        issue["issue"],
        issue["bubble"],
    )
    assert [row["bubbles"] for row in document["rows"]] == [
        row["bubble_cycles"] for row in issue["top_lines"]
    ]
    assert document["mfma_use"]["mfma_busy"] == golden["mfma_model"]["matrix_busy_cycles"]


def test_every_table_is_offered() -> None:
    assert tuple(TABLES) == LOOPS_BY


@pytest.mark.parametrize("show", LOOPS_BY)
@pytest.mark.parametrize("name", ["flash_attn_small_before", "pa_mqa_small"])
def test_text_csv_and_json_tell_the_same(
    show: str, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    words = ("loops", captures.trace_path(name), "--by", show, "--top", 3)
    text = run(capsys, *words)
    document = json.loads(run(capsys, *words, "--json"))
    sheet = list(csv.reader(io.StringIO(run(capsys, *words, "--csv"))))
    assert len(sheet) == len(document["rows"]) + 1
    spec = TABLES[show][0]
    if not document["total_rows"]:
        assert spec.nothing in text
    else:
        assert f"{len(document['rows'])} of {document['total_rows']:,} row" in text
        assert spec.note in " ".join(text.split())


def test_one_wave(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("loops", captures.trace_path("pa_mqa_big"), "--wave", "se0/simd1/slot0/wv0", "--json")
    document = json.loads(run(capsys, *words))
    assert (document["waves"], document["rows"][0]["taken"]) == (1, 15)
    assert main(["loops", str(captures.trace_path("pa_mqa_big")), "--wave", "se9/simd1/slot0/wv0"]) == 2
    assert "no wave" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["loops", "bubbles"])
def test_a_capture_without_waves_is_a_sentence(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no traced waves" in run(capsys, command, SAMPLES / "pc_sampling")
    json.loads(run(capsys, command, SAMPLES / "pc_sampling", "--json"))


def test_limits(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path("mla_decode")
    text = run(capsys, "occupancy", folder, "--limits")
    assert "can hold 2 waves of this kernel, bound by vector registers" in text
    assert "124 vector registers fewer (at most 128) and 3,072 bytes of LDS fewer (at most 81,920)" in text
    assert "Traced: at most 2 waves" in text
    assert "discover_kernel_trace.csv" in text
    document = json.loads(run(capsys, "occupancy", folder, "--limits", "--json"))
    assert document["schema"] == "rcv.occupancy_limits/2"
    assert (document["waves_per_simd"], document["goal"], document["resident"]["peak"]) == (2, 4, 2)
    sheet = list(csv.DictReader(io.StringIO(run(capsys, "occupancy", folder, "--limits", "--csv"))))
    assert [row["name"] for row in sheet] == ["vector registers", "scalar registers", "LDS", "workgroup"]


def test_limits_of_a_capture_without_tables(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "occupancy", SAMPLES / "matmul_tiled", "--limits")
    assert "guess from the instructions" in text
    run(capsys, "occupancy", SAMPLES / "placeholder", "--limits")
