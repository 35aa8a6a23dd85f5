"""Reductions over files say what they say of waves in memory, whatever processes do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any

import pytest

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.waits.wait_latency import WAITS
from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace, WaveReader
from rcv_py.model.waves import WaveBatch
from rcv_py.work import load, reduce
from rcv_py.work.answers import Answers
from rcv_py.work.load import STOPPED
from rcv_py.work.reduce import reduced
from tests.support.captures import trace_path
from tests.support.same import differences
from tests.support.samples import write_sample
from tests.support.wave_folder import reader, trace, wave

Pairs = tuple[tuple[int, int], ...]


def _beside(trace: Trace, parcel: Parcel) -> Pairs:
    """Each chosen wave of the slab with each that lived beside it."""
    mine = {wave.row for wave in parcel.own.waves}
    waves = parcel.tokens.waves
    return tuple(
        (one.row, other.row)
        for one in waves
        for other in waves
        if one.row in mine and one.id.se == other.id.se and one.begin <= other.end and other.begin <= one.end
    )


def _joined(parts: Sequence[Pairs]) -> Pairs:
    return tuple(sorted(pair for part in parts for pair in part))


def _as_it_is(trace: Trace, part: Pairs) -> Pairs:
    return part


BESIDE = Reduction(_beside, _joined, _as_it_is, is_together=True)
BOTH = (WAITS, BESIDE)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slabs of a few waves, and processes also for little work."""
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(reduce, "SLAB_BYTES", 100_000)


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Waves of which some leave early."""
    folder = tmp_path_factory.mktemp("early") / "ui_output_agent_1_dispatch_1"
    write_sample("mixed_populations", folder)
    return open_trace(folder)


def whole(trace: Trace) -> list[WaveBatch]:
    return [trace.reader.read(list(range(len(trace.waves))))]


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("name", ["pa_mqa_small", "flash_attn_small_after", "flash_attn_small_before"])
def test_answers_are_those_of_waves_in_memory(name: str, workers: int, tiny: None) -> None:
    trace = open_trace(trace_path(name))
    found = reduced(trace, BOTH, workers=workers)
    assert not differences(found[WAITS], WAITS.of(trace, whole(trace)))
    assert found[BESIDE] == BESIDE.of(trace, whole(trace))
    assert found.read == found.of == len(trace.waves)
    assert not active_children()


@pytest.mark.parametrize("workers", [0, 2])
def test_what_explains_is_of_the_waves_that_are_chosen(workers: int, early: Trace, tiny: None) -> None:
    chosen = frozenset(range(0, len(early.waves), 3))
    seen = []

    def explain(found: Answers) -> tuple[Sequence[Reduction[Any, Any]], frozenset[int]]:
        seen.append(found[WAITS].waves)
        return (BESIDE,), chosen

    found = reduced(early, (WAITS,), explain, workers=workers)
    assert seen == [len(early.waves)] * 2, "all waves are known when it is decided which of them count"
    assert found[BESIDE] == BESIDE.of(early, whole(early), chosen)
    assert found[WAITS].waves == len(early.waves)
    assert found.rows == chosen


@pytest.mark.parametrize("chosen", [None, frozenset(range(0, 16, 3))])
def test_what_is_likely_is_of_the_waves_that_are_chosen(
    chosen: frozenset[int] | None, early: Trace, tiny: None
) -> None:
    wanted = (BESIDE, WAITS)
    found = reduced(early, (), lambda found: (wanted, chosen), likely=(BESIDE,), workers=1)
    assert found[BESIDE] == BESIDE.of(early, whole(early), chosen)
    assert not differences(found[WAITS], WAITS.of(early, whole(early), chosen))


@pytest.mark.parametrize("workers", [0, 2])
def test_only_some_rows_are_read(workers: int, early: Trace, tiny: None) -> None:
    rows = [row for row in range(len(early.waves)) if row % 2]
    found = reduced(early, BOTH, rows=rows, workers=workers)
    assert found[BESIDE] == BESIDE.of(early, [early.reader.read(rows)])
    assert found.of == len(rows)


def test_a_capture_without_waves_has_answers(tmp_path: Path) -> None:
    found = reduced(trace(reader(tmp_path, {})), BOTH)
    assert found[WAITS].waves == 0
    assert found[BESIDE] == ()


def test_a_small_capture_starts_no_process_and_reads_each_wave_once(early: Trace) -> None:
    watched = Watched(early.reader)
    found = reduced(replace(early, reader=watched), (WAITS,), lambda found: ((BESIDE,), frozenset({0, 1})))
    assert found[BESIDE]
    assert sorted(watched.rows) == list(range(len(early.waves)))


class Watched:
    """A reader that remembers what it was asked for."""

    def __init__(self, below: WaveReader) -> None:
        self.below, self.base_clock = below, below.base_clock
        self.rows: list[int] = []

    def read(self, rows: list[int]) -> WaveBatch:
        self.rows += rows
        return self.below.read(rows)


# -- what can go wrong ----------------------------------------------------------------------------------


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return shutil.copytree(trace_path("pa_mqa_small"), tmp_path / "ui_output_agent_1_dispatch_1")


@pytest.mark.parametrize("workers", [0, 2])
def test_damaged_files_cost_only_their_waves(workers: int, copied: Path, tiny: None) -> None:
    trace = open_trace(copied)
    (copied / trace.waves.file[1]).write_bytes(b'{"wave": [')
    (copied / trace.waves.file[2]).unlink()
    found = reduced(trace, BOTH, workers=workers)
    assert list(found.missing) == [1, 2]
    assert found.read == 2
    assert found[WAITS].waves == 2
    assert found[BESIDE] == BESIDE.of(trace, whole(trace))
    assert found.missing == dict(whole(trace)[0].missing)


@pytest.mark.parametrize("workers", [0, 2])
def test_waves_that_lived_at_other_times_than_the_index_says(
    workers: int, tmp_path: Path, tiny: None
) -> None:
    """The index says that no wave met another; by their files, which are right, all of them did."""
    files = reader(tmp_path, {f"{i}.json": wave(begin=80, end=140) for i in range(12)})
    apart = files.index.begin + 1_000 * files.index.wid
    index = replace(files.index, begin=apart, end=apart + 60)
    moved = replace(trace(replace(files, index=index)), waves=index)
    found = reduced(moved, BOTH, workers=workers)
    assert found[WAITS].waves == 12
    assert reduced(moved, (WAITS,), workers=workers)[WAITS].waves == 12
    assert found[BESIDE] == tuple((one, other) for one in range(12) for other in range(12))


class Mortal:
    """A reader whose process dies at some waves: once for each, or always."""

    def __init__(self, below: WaveReader, deadly: set[int], marks: Path | None) -> None:
        self.below, self.base_clock = below, below.base_clock
        self.deadly, self.marks = deadly, marks

    def read(self, rows: list[int]) -> WaveBatch:
        for row in self.deadly & {*rows}:
            try:
                if self.marks is not None:
                    (self.marks / str(row)).touch(exist_ok=False)
            except FileExistsError:
                continue
            os._exit(1)
        return self.below.read(rows)


@pytest.mark.parametrize("seed", range(3))
def test_processes_that_die_cost_time_and_no_wave(
    seed: int, early: Trace, tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduce, "SLAB_BYTES", 400_000)
    deadly = {*Random(seed).sample(range(len(early.waves)), reduce.TRIES - 1)}
    trace = replace(early, reader=Mortal(early.reader, deadly, tmp_path))
    found = reduced(trace, BOTH, workers=2)
    assert {int(path.name) for path in tmp_path.iterdir()} == deadly, "each ended a process"
    assert not found.errors
    assert not found.missing
    assert not differences(found[WAITS], WAITS.of(early, whole(early)))
    assert found[BESIDE] == BESIDE.of(early, whole(early))
    assert not active_children()


def test_waves_that_always_end_their_process_are_missing_with_a_reason(
    tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduce, "LONGEST_STRIP", 1)
    trace = apart(tmp_path, deadly={4})
    found = reduced(trace, BOTH, workers=1)
    assert found.missing == {4: STOPPED}
    assert len(found.errors) == 1
    assert found[WAITS].waves == 11
    assert found[BESIDE] == tuple((row, row) for row in range(12) if row != 4)


def test_when_processes_go_on_dying_the_rest_is_given_up(tmp_path: Path, tiny: None) -> None:
    found = reduced(apart(tmp_path, deadly={*range(12)}), BOTH, workers=2)
    assert sorted(found.missing) == list(range(12))
    assert found[WAITS].waves == 0
    assert not active_children()


def apart(folder: Path, deadly: set[int]) -> Trace:
    """Twelve waves, one after the other, one a slab."""
    made = {f"{i}.json": wave(begin=80 + 1_000 * i, end=140 + 1_000 * i) for i in range(12)}
    files = reader(folder, made)
    begin = files.index.begin + 1_000 * files.index.wid
    index = replace(files.index, begin=begin, end=begin + 60, size=files.index.size + 100_000)
    files = replace(files, index=index)
    return replace(trace(files), waves=index, reader=Mortal(files, deadly, None))


class Endless:
    """A reader that never comes back."""

    base_clock = 4

    def __init__(self, marks: Path) -> None:
        self.marks = marks

    def read(self, rows: list[int]) -> WaveBatch:
        (self.marks / "begun").touch()
        Event().wait()
        raise AssertionError


def test_a_cancel_ends_a_job_that_runs(early: Trace, tmp_path: Path, tiny: None) -> None:
    flag, outcome = CancelFlag(), []

    def run() -> None:
        try:
            reduced(replace(early, reader=Endless(tmp_path)), BOTH, workers=2, cancel=flag)
        except Cancelled as error:
            outcome.append(error)

    thread = Thread(target=run)
    thread.start()
    while not (tmp_path / "begun").exists():
        thread.join(0.01)
    flag.set()
    thread.join(60)  # at most, or nothing would tell of a hang
    assert outcome
    assert not active_children()


def test_a_cancel_ends_reductions_in_this_process(early: Trace) -> None:
    flag = CancelFlag()
    flag.set()
    with pytest.raises(Cancelled):
        reduced(early, BOTH, cancel=flag)


@pytest.mark.parametrize("workers", [0, 2])
def test_progress_is_told(workers: int, early: Trace, tiny: None) -> None:
    stages: list[object] = []
    reduced(early, BOTH, workers=workers, report=stages.append)
    count = len(early.waves)
    assert str(stages[0]) == f"Reading waves 0 of {count}"
    assert str(stages[-1]) == f"Reading waves {count} of {count}"
    assert len(stages) > 3
