"""Options that say what a panel shows, on captures with known truth, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from rcv_py.cli.main import main
from rcv_py.cli.opening import batches
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from tests.support.command_runs import printed
from tests.support.opened import sample_trace
from tests.support.samples import sample_path

NAME = "matmul_small"


@pytest.fixture(scope="module")
def trace() -> Trace:
    """A capture with a few waves."""
    return sample_trace(NAME)


@pytest.fixture(scope="module")
def waves(trace: Trace) -> list[TracedWave]:
    """All of its waves."""
    return [wave for batch in batches(trace) for wave in batch.waves]


@pytest.fixture
def told() -> Any:
    """Run a command on the capture and return its document."""

    def run(command: str, *words: str) -> dict[str, Any]:
        return dict(json.loads(printed(command, sample_path(NAME), *words, "--json")))

    return run


def test_a_range_counts_only_waves_that_touch_it(told: Any, waves: list[TracedWave]) -> None:
    first = min(waves, key=lambda wave: wave.begin)
    clock = f"--clock={first.begin}:{first.begin + 1}"
    inside = [wave for wave in waves if wave.begin <= first.begin < wave.end]
    rows = told("isa", clock)["rows"]
    hits = np.zeros(len(rows), dtype=int)
    for wave in inside:
        line = wave.tokens.line
        hits += np.bincount(line[line >= 0], minlength=len(rows))[: len(rows)]
    assert [row["hits"] for row in rows] == hits.tolist()


def test_bins_add_up_to_the_ranking(told: Any) -> None:
    bins = told("hotspot", "--bins", "7")
    lines = told("hotspot", "--top", "0")
    assert len(bins["rows"]) == 7
    assert bins["total"] == sum(row["total"] for row in bins["rows"])
    assert bins["total"] == pytest.approx(lines["totals"]["latency"], rel=1e-3)


def test_charged_lines_are_latency_and_idle_of_their_instructions(told: Any, trace: Trace) -> None:
    rows = told("hotspot", "--by", "instruction", "--charge", "self", "--top", "0")["rows"]
    cost = trace.code.latency + trace.code.idle
    assert {row["instruction"]: row["cost"] for row in rows} == {
        row: int(cost[row]) for row in np.flatnonzero(cost).tolist()
    }
    rows = told("hotspot", "--by", "instruction", "--charge", "self", "--no-idle", "--top", "3")["rows"]
    assert [row["cost"] for row in rows] == sorted(trace.code.latency.tolist(), reverse=True)[:3]


def test_the_waves_and_one_of_them(told: Any, waves: list[TracedWave]) -> None:
    rows = {row["wave"]: row for row in told("waves")["rows"]}
    assert set(rows) == {str(wave.id) for wave in waves}
    for wave in waves:
        row = rows[str(wave.id)]
        assert (row["start"], row["end"], row["hits"]) == (wave.begin, wave.end, len(wave.tokens))
        spent = np.diff(np.append(wave.states.offset, wave.states.length))
        for state in (WaveState.EXEC, WaveState.WAIT, WaveState.STALL, WaveState.IDLE):
            recorded = int(spent[wave.states.state == state].sum())  # also behind the end of the wave
            assert row[state.name.lower()] == recorded, state.name
    slowest = max(waves, key=lambda wave: wave.end - wave.begin)
    assert told("waves", "--sort=cycles", "--top=1")["rows"][0]["cycles"] == slowest.end - slowest.begin
    one = told("wave", str(slowest.id), "--tokens")
    assert [row["instruction"] for row in one["instructions"]][:50] == [
        line if line >= 0 else None for line in slowest.tokens.line[:50].tolist()
    ]
    assert sum(row["stall"] for row in one["instructions"]) == int(slowest.tokens.stall.sum())


def test_a_place_is_one_execution(told: Any, waves: list[TracedWave]) -> None:
    wave = waves[0]
    line = int(wave.tokens.line[wave.tokens.line >= 0][0])
    rows = np.flatnonzero(wave.tokens.line == line)
    one = told("place", f"{wave.id}:line {line}#0")["places"][0]
    assert (one["token"], one["stall"], one["hits_of_wave"]) == (
        int(rows[0]), int(wave.tokens.stall[rows[0]]), len(rows),
    )  # fmt: skip
    assert "token" not in told("place", f"{wave.id}:line {line}#{len(rows)}")["places"][0]


def test_found_texts_are_those_of_the_program(told: Any, trace: Trace) -> None:
    rows = told("search", "--match=S_WAITCNT")["rows"]
    assert [row["instruction"] for row in rows if row["instruction"] is not None] == [
        row for row, text in enumerate(trace.code.text) if "s_waitcnt" in text.lower()
    ]
    assert not told("search", "--match=S_WAITCNT", "--case")["rows"]


def test_every_wave_of_the_device(told: Any, trace: Trace) -> None:
    rows = told("waves", "--resident")["rows"]
    assert len(rows) == told("info")["occupancy"]["waves"]
    engine = rows[0]["se"]
    left = told("waves", "--resident", f"--without-se={engine}")["rows"]
    assert len(left) == sum(row["se"] != engine for row in rows)


def test_order_by_any_column(told: Any) -> None:
    rows = told("bubbles", "--sort=idle", "--ascending", "--top=0")["rows"]
    assert [row["idle"] for row in rows] == sorted(row["idle"] for row in rows)
    waits = told("waits", "--sort=hits", "--top=3")["waits"]
    assert [row["hits"] for row in waits] == sorted((row["hits"] for row in waits), reverse=True)


def test_text_and_csv_of_the_new_commands(
    capsys: pytest.CaptureFixture[str], waves: list[TracedWave]
) -> None:
    wave = str(waves[0].id)
    commands = (
        ("waves",), ("waves", "--resident", "--top=3"), ("wave", wave), ("units", f"--of={wave}"),
        ("place", f"{wave}:line 3#0"), ("search", "--match=v_"), ("hotspot", "--bins=4"),
        ("hotspot", "--by=tree", "--charge=self"), ("isa", "--labels"), ("isa", "--bars=kinds", "--top=2"),
    )  # fmt: skip
    for command, *words in commands:
        for form in ((), ("--csv",)):
            assert main([command, str(sample_path(NAME)), *words, *form]) == 0, (command, words)
            assert len(capsys.readouterr().out.splitlines()) > 1, (command, words)
