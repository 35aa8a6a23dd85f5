"""`rcv waits` on captures whose waits and latencies were found elsewhere."""

import csv
import io

import pytest

from tests.real import captures
from tests.real.cli.test_loops_command import is_median
from tests.support.command_runs import printed, printed_json


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_the_json_has_the_reference_numbers(name: str) -> None:
    document = printed_json("waits", captures.trace_path(name), "--top", 15)
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
                assert is_median(one["latency"]["median"], latencies[one["instruction"]]["median"])


def test_latencies_as_json_csv_and_text() -> None:
    folder = captures.trace_path("pa_mqa_big")
    rows = printed_json("waits", folder, "--latency", "--top", 0)["latency"]
    sheet = list(csv.DictReader(io.StringIO(printed("waits", folder, "--latency", "--csv", "--top", 0))))
    assert [int(row["instruction"]) for row in sheet] == [row["instruction"] for row in rows]
    by_line = {row["instruction"]: row for row in rows}
    for row in captures.golden("beyond/pa_mqa_big.json")["lat_top"]:
        mine = by_line[row["line"]]
        assert [mine[key] for key in ("exact", "bounds", "p10", "p90", "mean")] == [
            row[key] for key in ("exact", "censored", "p10", "p90", "mean")
        ]
        assert is_median(mine["median"], row["median"], row["p10"])
    text = printed("waits", folder, "--latency", "--top", 3)
    assert "3 of " in text
    assert "32 waves" in text


def test_text_lists_producers_below_their_wait() -> None:
    lines = printed("waits", captures.trace_path("pa_mqa_big"), "--top", 1).splitlines()
    assert "s_waitcnt vmcnt(5)" in lines[1]
    assert "130,256" in lines[2]
    assert "← buffer_load_dword" in lines[2]
    assert "and 1 more instruction" in lines[6]
