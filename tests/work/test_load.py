"""Waves from other processes: all of them, the wanted first, and nothing left behind."""

from multiprocessing import active_children
from threading import Thread

import pytest

from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.work import load
from rcv_py.work.load import STOPPED, WaveStream, batches
from tests.support.busy_forever import BusyReader, begun
from tests.support.deadly_readers import Deadly
from tests.support.limits import HANG_S
from tests.support.processes import wait_until
from tests.support.wave_folder import reader, trace, wave


@pytest.fixture
def files(tmp_path):
    return reader(tmp_path, {f"{i}.json": wave() for i in range(12)})


@pytest.fixture
def small_jobs(monkeypatch):
    """Processes also for little work, and two waves a job."""
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(load, "JOB_BYTES", 33_000)
    monkeypatch.setattr(load, "SMALL_JOB_BYTES", 33_000)


@pytest.fixture
def few_tries(monkeypatch):
    """Give up sooner: each try starts a process."""
    monkeypatch.setattr(load, "RETRIES", 1)
    monkeypatch.setattr(load, "MAX_GIVEN_UP", 1)


def rows_of(result):
    return [wave.row for batch in result for wave in batch.waves]


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_every_wave_arrives_once(files, small_jobs, workers):
    stream = WaveStream(files, files.index, workers=workers)
    result = list(stream)
    assert sorted(rows_of(result)) == list(range(12))
    assert len(result) == 6
    assert all(len(batch.lod) == len(batch.waves) for batch in result)
    assert not active_children()


def test_few_waves_are_read_without_a_process(files):
    stream = WaveStream(files, files.index, workers=2)
    assert stream.processes == 0
    assert sorted(rows_of(stream)) == list(range(12))


def test_wanted_waves_come_first(files, small_jobs):
    stream = WaveStream(files, files.index, workers=0)
    stream.prioritize([10, 3])
    assert rows_of(stream)[:2] == [10, 3]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_cancelled_stream_ends_soon_and_leaves_no_process(files, small_jobs, workers):
    stream = WaveStream(files, files.index, workers=workers)
    for count, _ in enumerate(stream):
        stream.cancel()
        assert count == 0
    assert not active_children()


def test_a_cancel_waits_for_no_answer_of_a_process(files, small_jobs, tmp_path_factory):
    notes = tmp_path_factory.mktemp("notes")
    stream = WaveStream(BusyReader(notes), files.index, workers=2)
    thread = Thread(target=list, args=(stream,))
    thread.start()
    wait_until(lambda: len(begun(notes)) == 2, "two that read, and never end")
    stream.cancel()
    thread.join(HANG_S)
    assert not thread.is_alive()
    assert not active_children()


def test_an_abandoned_iteration_leaves_no_process(files, small_jobs):
    iterator = iter(WaveStream(files, files.index, workers=2))
    next(iterator)
    assert active_children()
    iterator.close()
    assert not active_children()


def test_waves_that_end_every_process_are_missing_and_no_others(files, small_jobs, few_tries):
    stream = WaveStream(Deadly(files, deadly=[4]), files.index, workers=1)
    result = list(stream)
    missing = {row: text for batch in result for row, text in batch.missing}
    assert sorted(missing) == [4, 5]
    assert sorted(rows_of(result)) == [0, 1, 2, 3, 6, 7, 8, 9, 10, 11]
    assert all(text == STOPPED for text in missing.values())
    assert len(stream.errors) == 1
    assert not active_children()


def test_when_workers_keep_dying_the_rest_is_reported(files, small_jobs, few_tries):
    stream = WaveStream(Deadly(files, deadly=range(12)), files.index, workers=2)
    result = list(stream)
    assert not rows_of(result)
    assert sorted(row for batch in result for row, _ in batch.missing) == list(range(12))
    assert not active_children()


@pytest.mark.parametrize("workers", [0, 1])
def test_a_bug_in_a_reader_is_raised_as_what_it_is(files, small_jobs, workers):
    with pytest.raises(ZeroDivisionError, match="a bug"):
        list(WaveStream(Deadly(files, failing=[0]), files.index, workers=workers))
    assert not active_children()


def test_commands_get_all_waves_and_hear_of_progress(files):
    stages = []
    result = list(batches(trace(files), report=stages.append))
    assert sorted(rows_of(result)) == list(range(12))
    assert str(stages[-1]) == "Reading waves 12 of 12"
    assert rows_of(batches(trace(files), [7, 2])) == [7, 2]


def test_commands_can_be_cancelled(files):
    flag = CancelFlag()
    flag.set()
    with pytest.raises(Cancelled), stoppable(flag):
        list(batches(trace(files)))
