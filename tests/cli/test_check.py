"""`rcv check`: the card, the input file, exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from tests.support import captures, folders
from tests.support.yaml_subset import jobs

PLACEHOLDER = captures.ROOT / "sample_traces" / "placeholder"


def run(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    assert main(["check", *map(str, words)]) == code
    output = capsys.readouterr()
    assert not output.err
    return output.out


def test_the_card(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, captures.trace_path("flash_attn_small_before"))
    assert "verdict  2 warnings, 3 notes" in text
    assert "flash_attn_func.py:257, a decorator" in text
    for word in ("evidence", "impact", "fix", "settings", "att_target_cu: ", "Looked at:"):
        assert word in text


def test_serious_notes_cost_an_exit_code_only_if_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, PLACEHOLDER)
    run(capsys, PLACEHOLDER, "--strict", code=4)
    run(capsys, captures.trace_path("pa_mqa_big"), "--strict")


def test_json_and_csv_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path("flash_attn_small_after")
    document = json.loads(run(capsys, folder, "--json"))
    assert document["schema"] == "rcv.check/2"
    assert document["is_serious"] is True
    assert document["command"].startswith("rocprofv3 -i input.yaml")
    rows = list(csv.DictReader(io.StringIO(run(capsys, folder, "--csv"))))
    said = [(note["name"], one["name"]) for note in document["notes"] for one in note["evidence"]]
    assert [(row["note"], row["evidence"]) for row in rows] == said
    (job,) = jobs(document["input_yaml"])
    assert job == document["settings"] | {"output_format": ["json", "csv"]}


def test_the_input_file_alone(capsys: pytest.CaptureFixture[str]) -> None:
    (job,) = jobs(run(capsys, PLACEHOLDER, "--yaml"))
    assert job["advanced_thread_trace"] is True


def test_a_replicate_tells_the_noise(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = (captures.trace_path(f"flash_attn_small_{name}") for name in ("before", "after"))
    assert "A replicate differs by 5.8 % of the latency per execution" in run(capsys, before, "--twin", after)


def test_what_is_no_replicate_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = [captures.trace_path("pa_mqa_big"), "--twin", captures.trace_path("vec_add")]
    assert main(["check", *map(str, words)]) == 2
    assert "is no replicate of" in capsys.readouterr().err


def test_bad_input_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path)]) == 2
    assert "rcv: " in capsys.readouterr().err


def test_a_damaged_capture_is_checked_as_far_as_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folders.write(tmp_path / "x", {folders.WAVE: b"{", "occupancy.json": None})
    text = run(capsys, folder)
    assert "Wave files are missing or damaged" in text
    assert "problem" in text
