"""`rcv causes` prints what the panel shows."""

from __future__ import annotations

import csv
import io
import json

import pytest

from rcv_py.cli.main import main
from tests.support import captures


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command that works prints."""
    code = main(["causes", *map(str, words)])
    output = capsys.readouterr()
    assert (code, output.err) == (0, "")
    return output.out


@pytest.mark.parametrize("by", ["cause", "line", "producer"])
def test_json_adds_up_whatever_a_row_is(by: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, captures.trace_path("pa_mqa_small"), "--json", "--by", by, "--top", 0))
    assert document["schema"] == "rcv.causes/2"
    assert document["totals"]["stall"] == 11_820
    assert document["totals"]["explained"] >= 0.95
    for name in ("stall", "idle"):
        assert sum(row[name] for row in document["rows"]) == document["totals"][name]
        assert all(sum(part[name] for part in row["parts"]) == row[name] for row in document["rows"])


def test_text_ranks_causes_with_lines_and_producers(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, captures.trace_path("pa_mqa_big"), "--top", 2)
    lines = text.splitlines()
    assert lines[0].split() == ["stall", "share", "idle", "times", "cause", "because"]
    assert "vector load" in lines[1]
    assert "481 s_waitcnt vmcnt(5) ← 427 buffer_load_dword" in lines[2]
    assert "of 791,816 stalled" in text
    assert "attributed, not elapsed" in text


def test_text_by_producer_and_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    path = captures.trace_path("pa_mqa_big")
    assert "→ 481 s_waitcnt vmcnt(5): vector load" in run(capsys, path, "--by", "producer", "--top", 1)
    assert "vector load ← 427 buffer_load_dword" in run(capsys, path, "--by", "line", "--top", 1)


def test_csv_has_a_row_a_line_cause_and_producer(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, captures.trace_path("pa_mqa_small"), "--csv", "--top", 0)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert sum(int(row["stall"]) for row in rows) == 11_820
    assert {row["cause"] for row in rows} >= {"wait_scalar", "wait_load", "unexplained"}


def test_a_capture_without_waves_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.ROOT / "sample_traces" / "placeholder"
    assert "no traced waves" in run(capsys, folder)
    document = json.loads(run(capsys, folder, "--json"))
    assert document["rows"] == []
    totals = {"stall": 0, "idle": 0, "explained": None, "explained_idle": None}
    assert document["totals"] == totals, "a share of nothing is not known"


def test_a_share_of_no_stall_is_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    """`--line` of an instruction that only idled: its cycles of stall are none, so their share is unknown."""
    path = captures.trace_path("pa_mqa_small")
    rows = json.loads(run(capsys, path, "--json", "--by", "line", "--top", 0))["rows"]
    idle = [row["line"] for row in rows if not row["stall"] and row["idle"]]
    for line in idle:
        document = json.loads(run(capsys, path, "--json", "--line", line))
        if not document["totals"]["stall"]:
            assert document["totals"]["explained"] is None
            assert all(row["share"] is None for row in document["rows"])
            assert "\n– of 0 stalled" in run(capsys, path, "--line", line)
            return
    raise AssertionError("the capture has such an instruction")
