"""Reductions over files say what they say of waves in memory, whatever processes do."""

from collections.abc import Sequence
from multiprocessing import active_children
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.core.parcels import Slab
from rcv_py.analysis.core.reduction import Staged
from rcv_py.analysis.iterations.loop_summary import LOOPS
from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace, WaveReader
from rcv_py.model.waves import WaveBatch
from rcv_py.work import load, reduce
from rcv_py.work.load import RETRIES, STOPPED
from rcv_py.work.reduce import Reducer
from tests.support.busy_forever import BusyReader, begun
from tests.support.deadly_readers import Mortal, Only
from tests.support.equal import differences
from tests.support.neighbours import BESIDE, after
from tests.support.opened import all_waves
from tests.support.processes import wait_until
from tests.support.samples import sample_path, write_sample
from tests.support.wave_folder import reader, trace, wave

BOTH = (LOOPS, BESIDE)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slabs of a few waves, and processes also for little work."""
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(reduce, "SLAB_BYTES", 100_000)


@pytest.fixture
def few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up sooner: each try starts a process."""
    monkeypatch.setattr(reduce, "TRIES", 2)
    monkeypatch.setattr(reduce, "MAX_LOST", 2)


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Waves of which some leave early."""
    folder = tmp_path_factory.mktemp("early") / "ui_output_agent_1_dispatch_1"
    write_sample("mixed_populations", folder)
    return open_trace(folder)


def answered(trace: Trace, rows: Sequence[int] | None = None, **options: Any) -> Reducer:
    """Both answers, and no process left."""
    with Reducer(trace, rows, **options) as found:
        found.ask(BOTH)
    return found


@pytest.mark.parametrize(
    ("name", "workers"),
    [
        *(("straggler", workers) for workers in (0, 1, 2)),
        *((name, workers) for name in ("reduction", "gfx12") for workers in (0, 2)),
    ],
)
def test_answers_are_those_of_waves_in_memory(name: str, workers: int, tiny: None) -> None:
    trace = open_trace(sample_path(name))
    found = answered(trace, workers=workers)
    assert not differences(found.of(LOOPS), LOOPS.of(trace, [all_waves(trace)]))
    assert found.of(BESIDE) == BESIDE.of(trace, [all_waves(trace)])
    assert found.read == found.waves == len(trace.waves)
    assert not active_children()


@pytest.mark.parametrize("workers", [0, 2])
def test_what_explains_is_of_the_waves_that_are_chosen(workers: int, early: Trace, tiny: None) -> None:
    chosen = frozenset(range(0, len(early.waves), 3))
    with Reducer(early, workers=workers) as found:
        found.ask(BOTH)
        assert found.of(LOOPS).waves == len(early.waves)
        found.ask(BOTH, chosen)
    for rows in (None, chosen):
        assert found.of(BESIDE, rows) == BESIDE.of(early, [all_waves(early)], rows)
        assert not differences(found.of(LOOPS, rows), LOOPS.of(early, [all_waves(early)], rows))
    assert not active_children()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_staged_analysis_knows_all_waves_and_explains_those_that_count(
    workers: int, early: Trace, tiny: None
) -> None:
    staged, chosen = Staged(BESIDE, after), frozenset({0, 1, 2})
    with Reducer(early, workers=workers) as found:
        found.ask((staged,), chosen)
        assert found.of(staged, chosen) == (len(BESIDE.of(early, [all_waves(early)])),) * 3
        assert found.of(staged, chosen) == staged.of(early, [all_waves(early)], chosen)


def test_what_was_not_asked_for_is_looked_for_when_it_is_wanted(early: Trace, tiny: None) -> None:
    found = Reducer(early, workers=1)
    with found:
        found.ask((LOOPS,))
    assert not active_children()
    assert found.of(BESIDE) == BESIDE.of(early, [all_waves(early)])
    assert not active_children()


def test_processes_end_on_request_and_start_again_when_they_are_needed(early: Trace, tiny: None) -> None:
    one, other = BOTH
    with Reducer(early, workers=1) as reducer:
        first = reducer.of(one)
        assert active_children()
        reducer.end_processes()
        assert not active_children()
        assert not differences(reducer.of(other), answered(early).of(other))
        assert not differences(first, reducer.of(one))
    assert not active_children()


def test_nothing_is_looked_for_twice(early: Trace) -> None:
    watched = Watched(early.reader)
    trace = replace(early, reader=watched)
    with Reducer(trace) as found:
        found.ask(BOTH)
        assert found.of(BESIDE) is found.of(BESIDE)
        found.ask(BOTH, frozenset({0, 1}))
    assert sorted(watched.rows) == list(range(len(early.waves)))
    assert found.is_kept


@pytest.mark.parametrize("workers", [0, 2])
def test_waves_in_memory_are_not_read(workers: int, early: Trace, tiny: None) -> None:
    """All but one are held; the files are gone, but for that one."""
    held = [early.reader.read([row]) for row in range(1, len(early.waves))]
    alone = replace(early, reader=Only(early.reader, 0))
    found = answered(alone, held=held, workers=workers)
    assert found.of(BESIDE) == BESIDE.of(early, [all_waves(early)])
    assert not found.missing


@pytest.mark.parametrize("workers", [0, 2])
def test_only_some_rows_are_read(workers: int, early: Trace, tiny: None) -> None:
    rows = [row for row in range(len(early.waves)) if row % 2]
    found = answered(early, rows=rows, workers=workers)
    assert found.of(BESIDE) == BESIDE.of(early, [early.reader.read(rows)])
    assert found.waves == len(rows)


def test_a_capture_without_waves_has_answers(tmp_path: Path) -> None:
    found = answered(trace(reader(tmp_path, {})))
    assert found.of(LOOPS).waves == 0
    assert found.of(BESIDE) == ()


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
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("straggler", folder)
    return folder


@pytest.mark.parametrize("workers", [0, 2])
def test_damaged_files_cost_only_their_waves(workers: int, copied: Path, tiny: None) -> None:
    trace = open_trace(copied)
    (copied / trace.waves.file[1]).write_bytes(b'{"wave": [')
    (copied / trace.waves.file[2]).unlink()
    found = answered(trace, workers=workers)
    assert list(found.missing) == [1, 2]
    assert found.read == 14
    assert found.of(LOOPS).waves == 14
    assert found.of(BESIDE) == BESIDE.of(trace, [all_waves(trace)])
    assert found.missing == dict(all_waves(trace).missing)


@pytest.mark.parametrize("workers", [0, 2])
def test_waves_that_lived_at_other_times_than_the_index_says(
    workers: int, tmp_path: Path, tiny: None
) -> None:
    """The index says that no wave met another; by their files, which are right, all of them did."""
    files = reader(tmp_path, {f"{i}.json": wave(begin=80, end=140) for i in range(12)})
    apart = files.index.begin + 1_000 * files.index.wid
    index = replace(files.index, begin=apart, end=apart + 60)
    moved = replace(trace(replace(files, index=index)), waves=index)
    found = answered(moved, workers=workers)
    assert found.of(LOOPS).waves == 12
    assert Reducer(moved, workers=workers).of(LOOPS).waves == 12
    assert found.of(BESIDE) == tuple((one, other) for one in range(12) for other in range(12))


@pytest.mark.parametrize("seed", range(3))
def test_processes_that_die_cost_time_and_no_wave(
    seed: int, early: Trace, tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduce, "SLAB_BYTES", 400_000)
    deadly = {*Random(seed).sample(range(len(early.waves)), RETRIES)}
    trace = replace(early, reader=Mortal(early.reader, deadly, tmp_path))
    found = answered(trace, workers=2)
    assert {int(path.name) for path in tmp_path.iterdir()} == deadly, "each ended a process"
    assert not found.errors
    assert not found.missing
    assert not differences(found.of(LOOPS), LOOPS.of(early, [all_waves(early)]))
    assert found.of(BESIDE) == BESIDE.of(early, [all_waves(early)])
    assert not active_children()


def test_waves_that_always_end_their_process_are_missing_with_a_reason(
    tmp_path: Path, tiny: None, few_tries: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduce, "MAX_STRIP", 1)
    trace = apart(tmp_path, deadly={4})
    found = answered(trace, workers=1)
    assert found.missing == {4: STOPPED}
    assert len(found.errors) == 1
    assert found.of(LOOPS).waves == 11
    assert found.of(BESIDE) == tuple((row, row) for row in range(12) if row != 4)


def test_when_processes_go_on_dying_the_rest_is_given_up(tmp_path: Path, tiny: None, few_tries: None) -> None:
    found = answered(apart(tmp_path, deadly={*range(12)}), workers=2)
    assert sorted(found.missing) == list(range(12))
    assert found.of(LOOPS).waves == 0
    assert not active_children()


def apart(folder: Path, deadly: set[int]) -> Trace:
    """Twelve waves, one after the other, one a slab."""
    made = {f"{i}.json": wave(begin=80 + 1_000 * i, end=140 + 1_000 * i) for i in range(12)}
    files = reader(folder, made)
    begin = files.index.begin + 1_000 * files.index.wid
    index = replace(files.index, begin=begin, end=begin + 60, size=files.index.size + 100_000)
    files = replace(files, index=index)
    return replace(trace(files), waves=index, reader=Mortal(files, deadly, None))


def test_a_cancel_ends_a_job_that_runs(early: Trace, tmp_path: Path, tiny: None) -> None:
    flag, outcome = CancelFlag(), []

    def run() -> None:
        try:
            with stoppable(flag):
                answered(replace(early, reader=BusyReader(tmp_path)), workers=2)
        except Cancelled as error:
            outcome.append(error)

    thread = Thread(target=run)
    thread.start()
    wait_until(lambda: bool(begun(tmp_path)), "a job that runs")
    flag.set()
    thread.join(60)  # at most, or nothing would tell of a hang
    assert outcome
    assert not active_children()


def test_a_cancel_ends_reductions_in_this_process(early: Trace) -> None:
    flag = CancelFlag()
    flag.set()
    with pytest.raises(Cancelled), stoppable(flag):
        answered(early)


@pytest.mark.parametrize("workers", [0, 2])
def test_progress_is_told(workers: int, early: Trace, tiny: None) -> None:
    stages: list[object] = []
    answered(early, workers=workers, report=stages.append)
    count = len(early.waves)
    assert str(stages[0]) == f"Reading waves 0 of {count}"
    assert str(stages[-1]) == f"Reading waves {count} of {count}"
    assert len(stages) > 3


def test_the_last_strips_are_short(monkeypatch: pytest.MonkeyPatch, tiny: None) -> None:
    """Else all workers but one have nothing to do while the last one looks at a long strip."""
    slab = Slab(se=0, begin=0, end=1, own=np.zeros(0, np.int64), rows=np.zeros(0, np.int64))
    monkeypatch.setattr(reduce, "slabs", lambda lives, enough: (slab,) * 30)
    found = Reducer(open_trace(sample_path("straggler")), workers=2)
    assert [len(strip) for strip in found._strips(is_together=True)] == [3, 3, 3, 2, 2, 2, *[1] * 15]
