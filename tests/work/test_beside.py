"""Streamed counters of a database beside a capture: on its axis, by engine, array, WGP and instance."""

import json
from pathlib import Path
from typing import Any

import pytest

from rcv_py.analysis.counters.counters import counters, raw_curve
from rcv_py.cli.main import main
from rcv_py.formats.open import open_trace
from rcv_py.work.beside import of_places, with_streamed
from tests.formats.rocpd.test_executions import HIT, database, launch
from tests.support.samples import write_sample

BEGIN, STEP = 10_000, 2_000  # nanoseconds: of the launch, and between samples
PLACES = [  # XCC, shader engine, array, WGP, instance
    (0, 0, 0, 2, 0), (0, 0, 1, 2, 0), (0, 1, 0, 3, 0), (0, 1, 0, 3, 5),
]  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A capture of launch 1, and a database with three samples of each place: 1, 2, 4 and 8 at each time."""
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("matmul_small", folder)
    samples, values = [], []
    for time in range(1, 4):
        samples.append({"id": time, "timestamp": BEGIN + time * STEP, "event_id": 10})
        for at, place in enumerate(PLACES):
            names = ("xcc", "shader_engine", "shader_array", "wgp", "instance")
            about: dict[str, Any] = dict(zip(names, place, strict=True))
            values.append({"event_id": 10, "pmc_id": HIT, "value": 2.0**at, "sample_id": time, **about})
    database(tmp_path / "1_results.db", [launch(1, 10)], values, sample=samples)
    return folder


def test_samples_are_on_the_axis_of_the_capture(run: Path) -> None:
    plain = open_trace(run)
    trace = with_streamed(plain)
    assert not plain.spm
    assert [(one.se, one.array, one.wgp, one.instance) for one in trace.spm] == [
        place[1:] for place in PLACES
    ]
    found = counters(trace)
    (counter,) = found.raw
    assert counter.name == "TCC_HIT_sum"
    step = STEP * plain.clock.shader_hz / 1e9
    first = plain.span.begin
    assert sorted(set(counter.samples.time.tolist())) == [
        pytest.approx(first + number * step, abs=1) for number in (1, 2, 3)
    ]
    assert any("begins where the first wave does" in note for note in found.notes)
    # Four places with equal times: their values add up, 1 + 2 + 4 + 8.
    assert raw_curve(counter).value.max() == 15


@pytest.mark.parametrize(
    ("chosen", "total"),
    [
        ({"array": [1]}, 2),
        ({"array": [0]}, 13),
        ({"wgp": [3]}, 12),
        ({"instance": [5]}, 8),
        ({"array": [0], "wgp": [2]}, 1),
    ],
)
def test_places_are_chosen(run: Path, chosen: dict[str, list[int]], total: int) -> None:
    (counter,) = counters(of_places(with_streamed(open_trace(run)), **chosen)).raw
    assert raw_curve(counter).value.max() == total


def test_the_command_takes_the_same(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["counters", str(run), "--raw", "--wgp", "3", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["counters"]
    assert row["max"] == 12
    assert main(["counters", str(run), "--raw", "--wgp", "7"]) != 0


def test_another_launch_has_none(run: Path) -> None:
    other = run.rename(run.with_name("ui_output_agent_1_dispatch_2"))
    assert not with_streamed(open_trace(other)).spm
