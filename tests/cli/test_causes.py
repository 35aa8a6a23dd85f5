"""`rcv causes` prints what the panel shows."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from rcv_py.model.kinds import TokenKind
from tests.support import captures
from tests.support.command_runs import CACHE


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command that works prints."""
    code = main(["causes", *map(str, words)], CACHE)
    output = capsys.readouterr()
    assert (code, output.err) == (0, "")
    return output.out


@pytest.mark.parametrize("by", ["cause", "instruction", "producer"])
def test_json_adds_up_whatever_a_row_is(by: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, captures.trace_path("pa_mqa_small"), "--json", "--by", by, "--top", 0))
    assert document["schema"] == "rcv.causes/3"
    assert document["totals"]["stall"] == 11_820
    assert document["totals"]["explained_share_of_stall"] >= 0.95
    for name in ("stall", "idle"):
        assert sum(row[name] for row in document["rows"]) == document["totals"][name]
        assert all(sum(part[name] for part in row["parts"]) == row[name] for row in document["rows"])


def test_text_ranks_causes_with_lines_and_producers(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, captures.trace_path("pa_mqa_big"), "--top", 2)
    lines = text.splitlines()
    assert lines[0].split() == ["stall", "share", "idle", "hits", "cause", "because"]
    assert "vector load" in lines[1]
    assert "481 s_waitcnt vmcnt(5) ← 427 buffer_load_dword" in lines[2]
    assert "of 791,816 stalled" in text
    assert "attributed, not elapsed" in text


def test_text_by_producer_and_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    path = captures.trace_path("pa_mqa_big")
    assert "→ 481 s_waitcnt vmcnt(5): vector load" in run(capsys, path, "--by", "producer", "--top", 1)
    assert "vector load ← 427 buffer_load_dword" in run(capsys, path, "--by", "instruction", "--top", 1)


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
    totals = dict.fromkeys(("stall", "idle", "explained_share_of_stall", "explained_share_of_idle"))
    assert document["totals"] == totals, "nothing is known of waves that are not there"


def test_a_share_of_no_stall_is_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    """`--line` of an instruction that only idled: its cycles of stall are none, so their share is unknown."""
    path = captures.trace_path("pa_mqa_small")
    rows = json.loads(run(capsys, path, "--json", "--by", "instruction", "--top", 0))["rows"]
    idle = [row["instruction"] for row in rows if not row["stall"] and row["idle"]]
    for line in idle:
        document = json.loads(run(capsys, path, "--json", "--line", line))
        if not document["totals"]["stall"]:
            assert document["totals"]["explained_share_of_stall"] is None
            assert all(row["share_of_stall"] is None for row in document["rows"])
            assert "\n– of 0 stalled" in run(capsys, path, "--line", line)
            return
    raise AssertionError("the capture has such an instruction")


def test_a_producer_that_is_a_guess_is_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    """The scalar loads of the capture are issued in bursts and return in any order."""
    path = captures.trace_path("pa_mqa_small")
    document = json.loads(run(capsys, path, "--json", "--top", 0))
    causes = {row["cause"]: row for row in document["rows"]}
    assert 0 < causes["wait_scalar"]["guessed"] <= causes["wait_scalar"]["stall"]
    assert causes["memory_queue"]["guessed"] == causes["memory_queue"]["stall"]
    assert "guess" in causes["memory_queue"]["evidence"]
    assert causes["wait_cross_lane"]["guessed"] == 0
    for row in document["rows"]:
        assert sum(part["guessed"] for part in row["parts"]) == row["guessed"]
    assert "← perhaps " in run(capsys, path, "--top", 0)
    assert "→ perhaps " in run(capsys, path, "--by", "producer", "--top", 0)
    rows = list(csv.DictReader(io.StringIO(run(capsys, path, "--csv", "--top", 0))))
    assert sum(int(row["guessed"]) for row in rows) == sum(row["guessed"] for row in causes.values())


@pytest.mark.parametrize("power", [41, 52, 59])
@pytest.mark.parametrize("command", ["causes", "waits", "waits --latency", "units"])
def test_a_stall_of_years_is_printed(
    command: str, power: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged wave file: the stall is counted as it stands, and nothing is raised."""
    folder = tmp_path / "long"
    shutil.copytree(captures.trace_path("pa_mqa_small"), folder)
    file = sorted(folder.glob("se*_sm*_sl*_wv*.json"))[0]
    wave = json.loads(file.read_text())
    waits = [row for row in wave["wave"]["instructions"] if row[1] == TokenKind.IMMED and row[2] > 40]
    for row in waits[:3]:
        row[2] = row[3] = 1 << power
    file.write_text(json.dumps(wave))
    name, *words = command.split()
    assert main([name, str(folder), *words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    if command == "causes":
        assert document["totals"]["stall"] >= 3 << power
    assert main([name, str(folder), *words]) == 0


def test_top_holds_for_the_parts_of_a_row_too(capsys: pytest.CaptureFixture[str]) -> None:
    path = captures.trace_path("pa_mqa_small")
    rows = json.loads(run(capsys, path, "--json", "--top", 0))["rows"]
    first = json.loads(run(capsys, path, "--json", "--top", 2))["rows"]
    assert [row["parts"] for row in first] == [row["parts"][:2] for row in rows[:2]]
    assert max(len(row["parts"]) for row in rows) > 2
    usual = json.loads(run(capsys, path, "--json"))["rows"]
    assert [row["parts"] for row in usual] == [row["parts"] for row in rows[:12]], "all parts without it"
