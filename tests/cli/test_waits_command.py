"""`rcv waits` prints what the panel shows."""

from __future__ import annotations

import csv
import io
import json

import pytest

from rcv_py.cli.main import main
from tests.support import captures
from tests.support.command_runs import CACHE


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command that works prints."""
    code = main(["waits", *map(str, words)], CACHE)
    output = capsys.readouterr()
    assert (code, output.err) == (0, "")
    return output.out


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_the_json_has_the_reference_numbers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, captures.trace_path(name), "--json", "--top", 15))
    golden = captures.golden(f"beyond/{name}.json")
    assert document["schema"] == "rcv.waits/2"
    for row, expected in zip(document["waits"], golden["wait_top"], strict=True):
        assert (row["instruction"], row["hits"], row["stall"]) == tuple(
            expected[key] for key in ("line", "hits", "stall")
        )
        assert sum(one["stall"] for one in row["producers"]) <= row["stall"]
    latencies = {row["line"]: row for row in golden["lat_top"]}
    for row in document["waits"]:
        for one in row["producers"]:
            if one["instruction"] in latencies:
                assert one["latency"]["median"] == latencies[one["instruction"]]["median"]


def test_latencies_as_json_csv_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path("pa_mqa_big")
    rows = json.loads(run(capsys, folder, "--latency", "--json", "--top", 0))["latency"]
    sheet = list(csv.DictReader(io.StringIO(run(capsys, folder, "--latency", "--csv", "--top", 0))))
    assert [int(row["instruction"]) for row in sheet] == [row["instruction"] for row in rows]
    by_line = {row["instruction"]: row for row in rows}
    for row in captures.golden("beyond/pa_mqa_big.json")["lat_top"]:
        mine = by_line[row["line"]]
        assert [mine[key] for key in ("exact", "bounds", "p10", "median", "p90", "mean")] == [
            row[key] for key in ("exact", "censored", "p10", "median", "p90", "mean")
        ]
    text = run(capsys, folder, "--latency", "--top", 3)
    assert "3 of " in text
    assert "32 waves" in text


def test_text_lists_producers_below_their_wait(capsys: pytest.CaptureFixture[str]) -> None:
    lines = run(capsys, captures.trace_path("pa_mqa_big"), "--top", 1).splitlines()
    assert "s_waitcnt vmcnt(5)" in lines[1]
    assert "130,256" in lines[2]
    assert "← buffer_load_dword" in lines[2]
    assert "and 1 more instruction" in lines[6]


def test_csv_has_a_row_a_producer(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(
        csv.DictReader(io.StringIO(run(capsys, captures.trace_path("pa_mqa_big"), "--csv", "--top", 0)))
    )
    charged: dict[str, int] = {}
    for row in rows:
        charged[row["instruction"]] = charged.get(row["instruction"], 0) + int(row["producer_stall"])
    stall = {row["instruction"]: int(row["stall"]) for row in rows}
    assert all(charged[line] <= stall[line] for line in stall)


def test_one_wave_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path("pa_mqa_small")
    whole = json.loads(run(capsys, folder, "--json"))["totals"]
    from rcv_py.formats.open import open_trace

    index = open_trace(folder).waves
    parts = [
        json.loads(run(capsys, folder, "--json", "--wave", index.id(row)))["totals"]
        for row in range(len(index))
    ]
    assert sum(part["stall"] for part in parts) == whole["stall"]
    assert sum(part["hits"] for part in parts) == whole["hits"]


def test_no_waves_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path("pcsampling")
    assert run(capsys, folder) == "The capture has no traced waves, so nothing is known about waits.\n"
    assert json.loads(run(capsys, folder, "--json"))["waits"] == []
    assert run(capsys, folder, "--csv").count("\n") == 1


@pytest.mark.parametrize(
    ("wave", "sentence"), [("se9/simd0/slot0/wv0", "has no wave"), ("nonsense", "does not name a wave")]
)
def test_a_wave_that_is_not_there(wave: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["waits", str(captures.trace_path("pa_mqa_small")), "--wave", wave]) == 2
    assert sentence in capsys.readouterr().err
