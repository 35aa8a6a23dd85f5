"""`rcv causes` on real captures: rules of tests/features/why/test_command.py, and numbers."""

import csv
import io
from pathlib import Path

from tests.features.why.test_command import (
    test_a_share_of_no_stall_is_a_dash,  # noqa: F401
    test_top_holds_for_the_parts_of_a_row_too,  # noqa: F401
)
from tests.real.captures import trace_path
from tests.support.command_runs import printed, printed_json
from tests.support.fixtures import fixture_of

folder = fixture_of(trace_path, "pa_mqa_small")


def test_text_ranks_causes_with_lines_and_producers() -> None:
    text = printed("causes", trace_path("pa_mqa_big"), "--top", 2)
    lines = text.splitlines()
    assert lines[0].split() == ["stall", "of", "stall", "idle", "hits", "cause", "because"]
    assert "vector load" in lines[1]
    assert "481 s_waitcnt vmcnt(5) ← 427 buffer_load_dword" in lines[2]
    assert "of 791,816 stalled" in text


def test_text_by_producer_and_by_line() -> None:
    path = trace_path("pa_mqa_big")
    assert "→ 481 s_waitcnt vmcnt(5): vector load" in printed("causes", path, "--by", "producer", "--top", 1)
    assert "vector load ← 427 buffer_load_dword" in printed("causes", path, "--by", "instruction", "--top", 1)


def test_csv_has_a_row_a_line_cause_and_producer(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(printed("causes", folder, "--csv", "--top", 0))))
    assert sum(int(row["stall"]) for row in rows) == 11_820
    assert {row["cause"] for row in rows} >= {"wait_scalar", "wait_load", "unexplained"}


def test_a_producer_that_is_a_guess_is_called_so(folder: Path) -> None:
    """The scalar loads of the capture are issued in bursts and return in any order."""
    document = printed_json("causes", folder, "--top", 0)
    causes = {row["cause"]: row for row in document["rows"]}
    assert 0 < causes["wait_scalar"]["guessed"] <= causes["wait_scalar"]["stall"]
    assert causes["memory_queue"]["guessed"] == causes["memory_queue"]["stall"]
    assert causes["wait_cross_lane"]["guessed"] == 0
