"""Waves from other processes: all of them, the wanted first, and nothing left behind."""

import os
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path

import pytest

from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag
from rcv_py.work import pool as pools
from rcv_py.work.load import batches, load_all
from rcv_py.work.pool import WavePool
from rcv_py.work.worker import Worker, WorkerStopped
from tests.support.wave_folder import reader, trace, wave


class Deadly:
    """A reader whose process dies at some waves, and that fails at others."""

    base_clock = 4

    def __init__(self, files, deadly=(), failing=()):
        self.files = files
        self.deadly = deadly
        self.failing = failing

    def read(self, rows):
        if set(rows) & set(self.deadly):
            os._exit(1)
        if set(rows) & set(self.failing):
            raise ZeroDivisionError("a bug")
        return self.files.read(rows)


@pytest.fixture
def files(tmp_path):
    return reader(tmp_path, {f"{i}.json": wave() for i in range(12)})


@pytest.fixture
def small_jobs(monkeypatch):
    """Processes also for little work, and two waves a job."""
    monkeypatch.setattr(pools, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(pools, "JOB_BYTES", 33_000)
    monkeypatch.setattr(pools, "SMALL_JOB_BYTES", 33_000)


def rows_of(result):
    return [wave.row for batch in result for wave in batch.waves]


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_every_wave_arrives_once(files, small_jobs, workers):
    pool = WavePool(files, files.index, workers=workers)
    result = list(pool)
    assert sorted(rows_of(result)) == list(range(12))
    assert len(result) == 6
    assert all(len(batch.lod) == len(batch.waves) for batch in result)
    assert not active_children()


def test_few_waves_are_read_without_a_process(files):
    pool = WavePool(files, files.index, workers=2)
    assert pool.processes == 0
    assert sorted(rows_of(pool)) == list(range(12))


def test_wanted_waves_come_first(files, small_jobs):
    pool = WavePool(files, files.index, workers=0)
    pool.want([10, 3])
    assert rows_of(pool)[:2] == [10, 3]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_cancelled_pool_ends_soon_and_leaves_no_process(files, small_jobs, workers):
    pool = WavePool(files, files.index, workers=workers)
    for count, _ in enumerate(pool):
        pool.cancel()
        assert count == 0
    assert not active_children()


def test_an_abandoned_iteration_leaves_no_process(files, small_jobs):
    iterator = iter(WavePool(files, files.index, workers=2))
    next(iterator)
    assert active_children()
    iterator.close()
    assert not active_children()


def test_a_worker_that_dies_costs_only_the_waves_it_was_reading(files, small_jobs):
    pool = WavePool(Deadly(files, deadly=[4]), files.index, workers=1)
    result = list(pool)
    missing = {row: text for batch in result for row, text in batch.missing}
    assert sorted(missing) == [4, 5]
    assert sorted(rows_of(result)) == [0, 1, 2, 3, 6, 7, 8, 9, 10, 11]
    assert all(text == str(WorkerStopped()) for text in missing.values())
    assert len(pool.errors) == 1
    assert not active_children()


def test_when_workers_keep_dying_the_rest_is_reported(files, small_jobs):
    pool = WavePool(Deadly(files, deadly=range(12)), files.index, workers=2)
    result = list(pool)
    assert not rows_of(result)
    assert sorted(row for batch in result for row, _ in batch.missing) == list(range(12))
    assert not active_children()


@pytest.mark.parametrize("workers", [0, 1])
def test_a_bug_in_a_reader_is_raised_as_what_it_is(files, small_jobs, workers):
    with pytest.raises(ZeroDivisionError, match="a bug"):
        list(WavePool(Deadly(files, failing=[0]), files.index, workers=workers))
    assert not active_children()


def test_commands_get_all_waves_and_hear_of_progress(files):
    stages = []
    result = load_all(trace(files), report=stages.append)
    assert sorted(rows_of(result)) == list(range(12))
    assert str(stages[-1]) == "Reading waves 12 of 12"
    assert rows_of(batches(trace(files), [7, 2])) == [7, 2]


def test_commands_can_be_cancelled(files):
    flag = CancelFlag()
    flag.set()
    with pytest.raises(Cancelled):
        load_all(trace(files), cancel=flag)


def test_a_worker_leaves_when_its_parent_is_killed(tmp_path):
    reader(tmp_path, {"a.json": wave()})
    script = f"""
import os, pathlib
from rcv_py.work.worker import Worker
from tests.support.wave_folder import reader

worker = Worker(reader(pathlib.Path({str(tmp_path)!r}), {{"a.json": None}}), False)
worker.ask([0])
worker.answer()
print(worker._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    deadline = time.monotonic() + 10
    while is_running(int(done.stdout)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(pid):
    """Whether the process does anything; one that waits to be buried does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_worker_does_not_load_qt(tmp_path):
    worker = Worker(Telltale(), False)
    try:
        worker.ask([0])
        with pytest.raises(ValueError, match="no Qt here"):
            worker.answer()
    finally:
        worker.stop()


class Telltale:
    def read(self, rows):
        loaded = [name for name in sys.modules if name.startswith(("PySide6", "pyqtgraph"))]
        raise ValueError(f"loaded {loaded[:3]}" if loaded else "no Qt here")


class Modest:
    """Reads nothing, and takes the CPU time that is left."""

    base_clock = 4

    def read(self, rows):
        raise RuntimeError(os.nice(0))


def test_a_worker_lets_the_window_go_first():
    worker = Worker(Modest(), False)
    worker.ask([0])
    with pytest.raises(RuntimeError) as raised:
        worker.answer()
    worker.stop()
    assert raised.value.args[0] > os.nice(0)
