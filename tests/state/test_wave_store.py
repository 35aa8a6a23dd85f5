"""What is loaded, what is forgotten first, and what the user is told."""

import pytest

from rcv_py.model.ids import WaveId
from rcv_py.model.trace import NAMED
from rcv_py.state.wave_store import WaveStore
from rcv_py.work.load import prepare
from tests.support.wave_folder import reader, trace, wave


@pytest.fixture
def files(tmp_path):
    contents = {f"{i}.json": wave() for i in range(8)}
    return reader(tmp_path, contents | {"8.json": None, "9.json": wave(begin=70)})


def read(files, *rows):
    return prepare(files, list(rows))


def test_waves_are_found_by_row_and_by_name(files):
    store = WaveStore(trace(files))
    store.add(read(files, 1, 2))
    assert store.wave(1).row == 1
    assert store.wave_by_id(WaveId(0, 0, 0, 2)).row == 2
    assert store.wave(3) is store.wave_by_id(WaveId(9, 9, 9, 9)) is store.wave_by_id(None) is None
    assert store.lod(2) is store.batches[0].lod[1]
    assert store.lod(3) is None
    assert store.count == 2
    assert not store.is_complete


def test_a_batch_that_brings_nothing_new_is_not_counted_twice(files):
    store = WaveStore(trace(files))
    store.add(read(files, 1, 2))
    store.add(read(files, 2))
    assert len(store.batches) == 1
    store.add(read(files, 2, 3))
    assert [wave.row for batch in store.batches for wave in batch.waves] == [2, 3]
    assert store.wave(1) is None
    assert store.nbytes == sum(batch.nbytes for batch in store.batches)


def test_unreadable_waves_count_as_done_and_are_reported(files):
    store = WaveStore(trace(files))
    store.add(read(files, *range(10)))
    assert store.is_complete
    assert store.is_settled(8)
    missing, doubtful = store.problems
    assert (missing.where, missing.text) == ("8.json", "8.json is missing.")
    assert "filenames.json lists" in doubtful.text


def test_many_unreadable_waves_are_not_all_named(tmp_path):
    files = reader(tmp_path, {f"{i}.json": None for i in range(NAMED + 5)})
    store = WaveStore(trace(files))
    store.add(read(files, *range(NAMED + 5)))
    assert len(store.problems) == NAMED + 1
    assert store.problems[-1].text.startswith("5 other waves are")


def test_beyond_the_budget_what_was_not_looked_at_for_longest_goes(files):
    one = read(files, 0)
    store = WaveStore(trace(files), budget=3 * one.nbytes)
    for row in range(3):
        store.add(read(files, row))
    store.wave(0)
    store.add(read(files, 3))
    assert [row for row in range(8) if store.lod(row) is not None] == [0, 2, 3]
    assert store.nbytes == 3 * one.nbytes
    assert len(store.batches) == 3


def test_a_full_store_says_so(files):
    one = read(files, 0)
    store = WaveStore(trace(files), budget=int(2.5 * one.nbytes))
    store.add(one)
    store.add(read(files, 1))
    assert not store.problems
    store.add(read(files, 2))
    (shortage,) = store.problems
    assert shortage.text == "2 of 10 waves fill the memory meant for waves."
    assert shortage.hint
    assert (store.count, store.read, store.absent) == (2, 3, {0})
    assert store.wave(0) is None
    assert not store.is_settled(0)


def test_a_single_batch_is_kept_even_if_it_is_too_large(files):
    store = WaveStore(trace(files), budget=1)
    store.add(read(files, 0, 1))
    assert store.count == 2
