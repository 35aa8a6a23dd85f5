"""`rcv events` as it is printed."""

import csv
import io
from pathlib import Path

import pytest

from tests.support.command_runs import printed, printed_json, refused
from tests.support.samples import write_sample


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("markers")
    write_sample("markers", path)
    return path


def test_json_has_a_schema_and_every_marker(folder: Path) -> None:
    made = printed_json("events", str(folder))
    assert made["problems"] == []
    assert {row["kind"] for row in made["rows"]} == {"marker"}
    points = [row for row in made["rows"] if row["name"] == "vmem issued"]
    assert points
    assert all(row["duration"] is None for row in points)


def test_kinds_are_chosen_and_csv_has_a_head(folder: Path) -> None:
    rows = list(csv.reader(io.StringIO(printed("events", str(folder), "--kind", "shader,marker", "--csv"))))
    assert rows[0] == ["start", "duration", "kind", "name", "place", "detail"]
    assert {row[2] for row in rows[1:]} == {"shader", "marker"}


def test_text_sums_up_and_nothing_has_a_sentence(folder: Path, tmp_path: Path) -> None:
    out = printed("events", str(folder))
    assert "entries in all." in out
    write_sample("matmul_small", tmp_path)
    assert "no events, dispatches or shader data" in printed("events", str(tmp_path))


def test_a_kind_that_is_none_is_refused(folder: Path) -> None:
    assert "nonsense" in refused("events", folder, "--kind", "dispatch,nonsense")
