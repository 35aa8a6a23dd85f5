"""What `rcv occupancy` prints, against the files themselves."""

import csv
import io
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.command_runs import printed, printed_json
from tests.support.plain_capture import plain
from tests.support.samples import sample_path, write_sample


def test_states_and_kernels_are_those_of_the_files() -> None:
    folder = sample_path("kernels")
    found = plain(folder)
    states: Counter[int] = Counter()
    for wave in found.waves:
        for state, cycles in wave.timeline:
            states[state] += cycles
    document = printed_json("occupancy", folder, "--by", "state")
    assert {row["state"]: row["area"] for row in document["rows"][1:]} == {
        name: states[number] for number, name in enumerate(("IDLE", "EXEC", "WAIT", "STALL"), 1)
    }
    lives: Counter[str] = Counter()
    for stay in found.stays:
        lives[stay.kernel] += stay.end - stay.begin
    rows = printed_json("occupancy", folder, "--by", "kernel")["rows"][1:]
    assert sorted(row["area"] for row in rows) == sorted(lives.values())
    assert [row["ids"] for row in rows] == [[1], [2], [3], [4]]


def test_the_curves_as_csv() -> None:
    folder = sample_path("kernels")
    rows = list(csv.reader(io.StringIO(printed("occupancy", folder, "--csv"))))
    assert rows[0] == ["se", "cycle", "waves"]
    events = json.loads((folder / "occupancy.json").read_text())
    assert {row[0] for row in rows[1:]} == {f"SE{se}" for se in events if se.isdigit() and events[se]}
    area = 0
    for before, after in pairwise(rows[1:]):
        if before[0] == after[0]:
            area += (int(after[1]) - int(before[1])) * int(before[2])
    lives = sum(-row[0] if row[4] else row[0] for se in events if se.isdigit() for row in events[se] or ())
    assert area == lives


@pytest.mark.parametrize("by", ["se", "kernel", "state"])
def test_text(by: str) -> None:
    text = printed("occupancy", sample_path("kernels"), "--by", by)
    assert "all" in text
    assert "nine tenths" in text
    expected = {"se": "SE1", "kernel": "scale_rows", "state": "stall"}
    assert expected[by] in text


def test_a_state_is_named_as_it_is_printed_or_as_documents_have_it() -> None:
    one, other = (
        printed("occupancy", sample_path("kernels"), "--by", "state", "--only", name)
        for name in ("stall", "STALL")
    )
    assert one == other
    assert "wait" not in one


@pytest.mark.parametrize("by", ["se", "kernel", "state"])
def test_a_capture_without_times_says_so(by: str, tmp_path: Path) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("pc_sampling", folder, 0)
    assert "not" in printed("occupancy", folder, "--by", by)
    assert printed_json("occupancy", folder, "--by", by)["rows"] == []
    assert printed("occupancy", folder, "--by", by, "--csv").count("\n") == 1


def test_every_unit_of_the_device_has_a_row() -> None:
    """By compute unit: all on which a wave was seen, not only those that were traced."""
    folder = sample_path("matmul_tiled")
    record = json.loads((folder / "occupancy.json").read_text())
    units = {(se, row[1]) for se, rows in record.items() if se.isdigit() for row in rows}
    rows = printed_json("occupancy", folder, "--by", "cu")["rows"]
    assert len(rows) == 1 + len(units) > 5
    assert sum(row["area"] for row in rows[1:]) == rows[0]["area"]


@pytest.mark.parametrize("by", ["se", "cu", "kernel"])
def test_what_engines_without_a_common_clock_held_together_is_not_known(tmp_path: Path, by: str) -> None:
    write_sample("vector_add", tmp_path)
    lives: Counter[int] = Counter()
    for stay in plain(tmp_path).stays:
        lives[stay.se] += stay.end - stay.begin
    (tmp_path / "realtime.json").unlink()
    assert len(lives) > 1
    every, *rows = printed_json("occupancy", tmp_path, "--by", by)["rows"]
    moments = ("start", "end", "mean", "peak", "tail_share_of_time", "ramp", "drain")
    assert (every["area"], every["share_of_wave_cycles"]) == (sum(lives.values()), 1.0)
    assert [every[name] for name in moments] == [None] * len(moments)
    assert all((row["peak"] is None) == (by == "kernel") for row in rows)
    assert sum(row["area"] for row in rows) == every["area"]
    assert printed_json("occupancy", tmp_path, "--by", by, "--se", min(lives))["rows"][0]["peak"] is not None
    text = printed("occupancy", tmp_path, "--by", by)
    assert text.splitlines()[1].split()[1:4] == ["–", "–", "–"]
    assert "at least" in text
    assert "the shader engines have no common clock" in text


def test_no_command_tells_how_many_waves_such_engines_held_together(tmp_path: Path) -> None:
    folder = tmp_path / "capture"
    write_sample("vector_add", folder)
    waves = len(plain(folder).stays)
    (folder / "realtime.json").unlink()
    found = printed_json("info", folder)["occupancy"]
    assert (found["peak"], found["mean"]) == (None, None)
    assert found["waves"] == waves
    assert not {"mean_waves", "peak_waves"} & {one["id"] for one in printed_json("summary", folder)["facts"]}
    (row,) = printed_json("index", tmp_path)["captures"]
    assert (row["mean_waves"], row["peak_waves"]) == (None, None)
    assert "at a time" not in printed("info", folder)
