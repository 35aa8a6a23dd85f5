"""`rcv source`: files, the lines of one, the instructions of a line; as people, CSV and JSON want it."""

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.cli.test_numbers import innermost
from tests.support.command_runs import printed, printed_csv, printed_json, refused
from tests.support.paths import ROOT
from tests.support.plain_capture import plain
from tests.support.samples import sample_path, write_sample

SAMPLE = ROOT / "sample_traces"


def document(*words: object) -> dict:
    return printed_json("source", *words)


def spent(folder: Path) -> dict[str, Counter[int]]:
    """Latency and idle time by the names of source files and their lines, inlined code where it stands."""
    found, cycles = plain(folder), defaultdict(Counter)
    for at, tokens in found.by_line().items():
        path, _, line = innermost(found.code[at]).rpartition(":")
        cycles[path.rsplit("/", 1)[-1]][int(line)] += sum(token.duration + token.gap for token in tokens)
    return cycles


def test_files_lines_and_instructions_lead_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    folder = sample_path("matmul_small")
    cycles = spent(folder)
    best = document(folder)["rows"][0]
    assert best["file"].rsplit("/", 1)[1] == max(cycles, key=lambda name: cycles[name].total()) == "tile_io.h"
    ((line, most),) = cycles["tile_io.h"].most_common(1)
    assert best["hottest_source_line"] == line
    lines = document(folder, "tile_io.h", "--top", "0")
    assert lines["kind"] == "lines"
    assert sum(row["latency"] for row in lines["rows"]) == best["latency"]
    one = next(row for row in lines["rows"] if row["source_line"] == line)
    assert (one["latency"] + one["idle"], one["cause"]) == (most, "vector load")
    rows = document(folder, f"include/tile_io.h:{line}", "--top", "0")
    place = (rows["kind"], rows["total_rows"], rows["source_line"])
    assert place == ("instructions", one["instructions"], line)
    for name in ("hits", "latency", "stall", "idle"):
        assert sum(row[name] for row in rows["rows"]) == one[name]
    text = printed("source", folder, f"tile_io.h:{line}", "--context", "1", "--top", "2")
    before, this, after = (shown.split() for shown in text.splitlines()[3:6])
    assert (before[0], this[:2], after[0]) == (str(line - 1), [">", str(line)], str(line + 1))
    assert f"2 of {one['instructions']} instructions." in text


def test_context_and_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    folder = sample_path("tutorial_before")
    first, second, third = sorted(line for line, _ in spent(folder)["dequant.hip"].most_common(3))
    assert first + 1 < second < third - 1
    text = printed("source", folder, "dequant.hip", "--top", "3", "--context", "0", "--no-causes")
    lines = [line.split()[0] for line in text.splitlines()[3:] if line.strip()]
    assert lines[:5] == [str(first), "⋮", str(second), "⋮", str(third)]
    assert "cause" not in text


def test_inlined_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    whole = document(SAMPLE / "matmul_tiled")
    inlined = document(SAMPLE / "matmul_tiled", "--inlined")
    assert inlined["rows"][0]["file"].endswith("matmul.hip")
    assert sum(row["share_of_total"] for row in whole["rows"]) == pytest.approx(1, abs=1e-5)
    assert sum(row["share_of_total"] for row in inlined["rows"]) > 1.5
    best = whole["rows"][0]
    text = printed(
        "source", SAMPLE / "matmul_tiled", f"tile_io.h:{best['hottest_source_line']}", "--top", "3"
    )
    assert "inlined into" in text
    assert "matmul.hip:" in text
    assert "changes nothing" in printed("source", sample_path("rivals"), "--inlined", "--no-causes")


def test_samples_have_no_hits_and_no_idle() -> None:
    text = printed("source", sample_path("pc_sampling"), "matmul.hip", "--top", "1")
    head = next(line for line in text.splitlines() if "samples" in line).split()
    assert head == ["line", "ISA", "samples", "stalled", "share", "cause", "text"]
    assert "no copy of the text of 1 file" in printed("source", sample_path("pc_sampling"))


def test_csv() -> None:
    folder = sample_path("vector_add")
    cycles = spent(folder)
    rows = printed_csv("source", folder)
    ranked = sorted(cycles, key=lambda name: -cycles[name].total())
    assert [row["file"].rsplit("/", 1)[1] for row in rows] == ranked == ["vector.hip", "amd_hip_runtime.h"]
    assert rows[0]["hottest_source_line"] == str(cycles["vector.hip"].most_common(1)[0][0])


def test_nothing_to_show(tmp_path: Path) -> None:
    assert "No instruction has any cycles." in printed("source", SAMPLE / "placeholder")
    write_sample("straggler", tmp_path)
    code = json.loads((tmp_path / "code.json").read_text())
    code["code"] = [[*row[:3], "", *row[4:]] for row in code["code"]]
    (tmp_path / "code.json").write_text(json.dumps(code))
    assert "No instruction has a source place" in printed("source", tmp_path)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nothing.py", "There are matmul.hip, amd_hip_runtime.h, tile_io.h."),
        ("io.h", "No instruction comes from a file 'io.h'"),
        ("tile_io.h:999999", "has no line 999,999"),
        (":5", "No instruction comes from a file ':5'"),
    ],
)
def test_mistakes(place: str, says: str) -> None:
    assert says in refused("source", sample_path("matmul_small"), place)
