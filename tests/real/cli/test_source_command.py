"""`rcv source` on real captures: places that were found by hand."""

import csv
import io

import pytest

from tests.features.source.test_command import document
from tests.real import captures
from tests.support.command_runs import printed


def test_files_lines_and_instructions_lead_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    folder = captures.trace_path("flash_attn_small_after")
    files = document(folder)
    best = files["rows"][0]
    assert (best["file"].rsplit("/", 1)[1], best["hottest_source_line"]) == ("flash_attn_func.py", 258)
    lines = document(folder, "flash_attn_func.py", "--top", "0")
    assert lines["kind"] == "lines"
    assert sum(row["latency"] for row in lines["rows"]) == best["latency"]
    one = next(row for row in lines["rows"] if row["source_line"] == 745)
    rows = document(folder, "kernels/flash_attn_func.py:745", "--top", "0")
    assert rows["kind"] == "instructions"
    assert rows["total_rows"] == one["instructions"]
    assert rows["source_line"] == 745
    assert sum(row["latency"] for row in rows["rows"]) == one["latency"] == 22_604
    assert (one["hits"], one["stall"], one["cause"]) == (1_024, 20_552, "LDS access")
    text = printed("source", folder, "flash_attn_func.py:745", "--context", "1", "--top", "2")
    shown = [line.split()[:2] for line in text.splitlines()[3:6]]
    assert shown == [["744", "#"], [">", "745"], ["746", "34"]]
    assert "2 of 32 instructions." in text


def test_context_and_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    folder = captures.trace_path("flash_attn_small_after")
    text = printed("source", folder, "flash_attn_func.py", "--top", "3", "--context", "0", "--no-causes")
    lines = [line.split()[0] for line in text.splitlines()[3:] if line.strip()]
    assert lines[:5] == ["258", "⋮", "745", "⋮", "1152"]
    assert "cause" not in text


def test_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(printed("source", captures.trace_path("vec_add"), "--csv"))))
    assert [row["file"].rsplit("/", 1)[1] for row in rows] == ["test_vec_add.py", "universal.py"]
    assert rows[0]["hottest_source_line"] == "28"
