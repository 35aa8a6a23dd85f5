"""Waves without a timeline: their states are unknown, which is a dash or null and never 0."""

import json
from pathlib import Path

import pytest

from tests.support.command_runs import run
from tests.support.samples import write_sample

STATES = ("exec", "wait", "stall", "idle")


def told(command: str, folder: Path, *words: str) -> str:
    """What a command prints."""
    found = run(command, str(folder), *words)
    assert found.code == 0, found.err
    return found.out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture whose wave files have no timelines."""
    made = tmp_path_factory.mktemp("untimed") / "ui_output_agent_1_dispatch_1"
    write_sample("straggler", made)
    found = 0
    for path in sorted(made.glob("se*_sm*.json")):
        content = json.loads(path.read_text())
        content["wave"]["timeline"] = []
        path.write_text(json.dumps(content))
        found += 1
    assert found == 16
    return made


def test_waves_have_dashes(folder: Path) -> None:
    rows = json.loads(told("waves", folder, "--json"))["rows"]
    assert len(rows) == 16
    assert all(row[state] is None for row in rows for state in STATES)
    assert all(row["hits"] for row in rows)
    lines = told("waves", folder).splitlines()[1:17]
    assert all(line.split()[-4:] == ["–"] * 4 for line in lines)


def test_a_wave_has_a_dash(folder: Path) -> None:
    name = json.loads(told("waves", folder, "--json"))["rows"][0]["wave"]
    assert set(json.loads(told("wave", folder, name, "--json"))["states"].values()) == {None}
    line = next(line for line in told("wave", folder, name).splitlines() if "states" in line)
    assert "–" in line
    assert "%" not in line


def test_the_summary_and_the_curves_have_none(folder: Path) -> None:
    assert "states" not in json.loads(told("summary", folder, "--json"))
    text = told("summary", folder)
    assert "States: –" in text
    assert "EXEC" not in text
    document = json.loads(told("occupancy", folder, "--by", "state", "--json"))
    assert document["rows"] == []
    assert "No wave with a timeline" in told("occupancy", folder, "--by", "state")
