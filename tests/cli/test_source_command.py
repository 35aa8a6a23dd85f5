"""`rcv source`: files, the lines of one, the instructions of a line; as people, CSV and JSON want it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from tests.support import captures

SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["source", *map(str, words)]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    return told.out


def document(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    return json.loads(run(capsys, *words, "--json"))


@pytest.mark.parametrize("name", captures.TRACES)
def test_shares_of_files_add_up(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, captures.trace_path(name), "--no-causes", "--top", "0")
    assert (found["schema"], found["kind"]) == ("rcv.source/2", "files")
    cost = sum(row["latency"] + row["idle"] for row in found["rows"])
    assert cost + found["unmapped"] == found["total"]


def test_files_lines_and_instructions_lead_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    folder = captures.trace_path("flash_attn_small_after")
    files = document(capsys, folder)
    best = files["rows"][0]
    assert (best["file"].rsplit("/", 1)[1], best["hottest_source_line"]) == ("flash_attn_func.py", 258)
    lines = document(capsys, folder, "flash_attn_func.py", "--top", "0")
    assert lines["kind"] == "lines"
    assert sum(row["latency"] for row in lines["rows"]) == best["latency"]
    one = next(row for row in lines["rows"] if row["source_line"] == 745)
    rows = document(capsys, folder, "kernels/flash_attn_func.py:745", "--top", "0")
    assert (rows["kind"], rows["total_rows"], rows["source_line"]) == (
        "instructions",
        one["instructions"],
        745,
    )
    assert sum(row["latency"] for row in rows["rows"]) == one["latency"] == 22_604
    assert (one["hits"], one["stall"], one["cause"]) == (1_024, 20_552, "LDS access")
    text = run(capsys, folder, "flash_attn_func.py:745", "--context", "1", "--top", "2")
    shown = [line.split()[:2] for line in text.splitlines()[3:6]]
    assert shown == [["744", "#"], [">", "745"], ["746", "34"]]
    assert "2 of 32 instructions." in text


def test_context_and_gaps(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    folder = captures.trace_path("flash_attn_small_after")
    text = run(capsys, folder, "flash_attn_func.py", "--top", "3", "--context", "0", "--no-causes")
    lines = [line.split()[0] for line in text.splitlines()[3:] if line.strip()]
    assert lines[:5] == ["258", "⋮", "745", "⋮", "1152"]
    assert "cause" not in text


def test_inlined_frames(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    plain = document(capsys, SAMPLE / "matmul_tiled")
    inlined = document(capsys, SAMPLE / "matmul_tiled", "--inlined")
    assert inlined["rows"][0]["file"].endswith("matmul.hip")
    assert sum(row["share_of_total"] for row in plain["rows"]) == pytest.approx(1, abs=1e-5)
    assert sum(row["share_of_total"] for row in inlined["rows"]) > 1.5
    best = plain["rows"][0]
    text = run(capsys, SAMPLE / "matmul_tiled", f"tile_io.h:{best['hottest_source_line']}", "--top", "3")
    assert "inlined into" in text
    assert "matmul.hip:" in text
    assert "changes nothing" in run(capsys, captures.trace_path("vec_add"), "--inlined", "--no-causes")


def test_samples_have_no_hits_and_no_idle(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, captures.trace_path("pcsampling"), "kernel.cpp", "--top", "1")
    head = next(line for line in text.splitlines() if "samples" in line).split()
    assert head == ["line", "ISA", "samples", "stalled", "share", "cause", "text"]
    assert "no copy of the text of 3 files" in run(capsys, captures.trace_path("pcsampling"))


def test_csv(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(run(capsys, captures.trace_path("vec_add"), "--csv"))))
    assert [row["file"].rsplit("/", 1)[1] for row in rows] == ["test_vec_add.py", "universal.py"]
    assert rows[0]["hottest_source_line"] == "28"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("pa_mqa_small", "No instruction has a source place"),
        ("placeholder", "No instruction has any cycles."),
    ],
)
def test_nothing_to_show(name: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = SAMPLE / name if name == "placeholder" else captures.trace_path(name)
    assert says in run(capsys, folder)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nothing.py", "There are numeric.py, flash_attn_func.py."),
        ("func.py", "No instruction comes from a file 'func.py'"),
        ("numeric.py:999999", "has no line 999,999"),
        (":5", "No instruction comes from a file ':5'"),
    ],
)
def test_mistakes(place: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["source", str(captures.trace_path("flash_attn_small_after")), place]) == 2
    assert says in capsys.readouterr().err
