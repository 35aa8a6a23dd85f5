import pickle

import numpy as np
import pytest
from msgspec import Struct
from msgspec.structs import replace

from rcv_py.work.load import prepare, prepared_columns
from rcv_py.work.shared import dumps, loads
from tests.support.samples import sample_path
from tests.support.wave_folder import ADD, END, NOP, reader, wave

OVERLAPPING = [[100, 6, 0, 40, ADD], [110, 6, 0, 10, ADD], [160, 6, 0, 4, ADD]]
FIVE = {
    "a.json": wave(waits=[[ADD, [[NOP, 0]]], [END, []]]),
    "b.json": wave(OVERLAPPING, waits=[[END, [[ADD, 0], [NOP, 0]]]]),
    "c.json": wave([], [], []),
    "d.json": None,
    "e.json": wave([[100, 6, -1, 1 << 40, ADD]]),
}


def plain(value):
    """Nested lists and dictionaries, that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tolist()
    if isinstance(value, Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def received(columns):
    """The batch as it is on the other side of a process border."""
    return loads(dumps(columns)).batch()


@pytest.mark.parametrize("rows", [[], [0], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("lod", [False, True])
def test_a_batch_is_the_same_behind_the_border(tmp_path, rows, lod):
    columns = prepared_columns(reader(tmp_path, FIVE), rows, lod)
    assert plain(received(columns)) == plain(columns.batch())


@pytest.mark.parametrize("rows", [[], [4], [1, 4], [0, 1, 2, 3, 4, 99]])
@pytest.mark.parametrize("is_changed", [False, True])
def test_some_waves_of_a_batch_are_the_same_behind_the_border(tmp_path, rows, is_changed):
    batch = prepare(reader(tmp_path, FIVE), [0, 1, 2, 3, 4])
    batch = replace(batch, notes=()) if is_changed else batch
    some = batch.some(np.array(rows, dtype=np.int64))
    wanted = [plain(one) for one in batch.waves if one.row in rows]
    assert [plain(one) for one in some] == wanted
    assert [plain(one) for one in loads(dumps(some))] == wanted


def test_a_batch_crosses_as_its_columns_unless_it_was_changed(tmp_path):
    batch = prepare(reader(tmp_path, {f"{at}.json": wave() for at in range(50)}), list(range(50)))
    assert pickled_arrays(batch) < 25 < pickled_arrays(replace(batch, notes=()))
    assert plain(loads(dumps(batch))) == plain(batch)
    changed = replace(batch, line=batch.line + 1)
    assert plain(loads(dumps(changed))) == plain(changed)


def pickled_arrays(value):
    """How many arrays a value is pickled as."""
    arrays = []
    pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return len(arrays)


def test_arrays_behind_the_border_are_read_only_views_of_one_block(tmp_path):
    batch = received(prepared_columns(reader(tmp_path, {"a.json": wave(), "b.json": wave()}), [0, 1]))
    for one in batch.waves:
        for column in (one.tokens.offset, one.tokens.stall, one.states.state, batch.lod[0].kind[0]):
            assert not column.flags.writeable
            assert column.base is not None
            assert column.flags.aligned


def test_overlapping_tokens_get_lanes_and_a_slack_of_four_cycles_on_gfx9(tmp_path):
    slight = [[100, 6, 0, 8, ADD], [104, 9, 0, 4, NOP], [112, 6, 0, 4, ADD]]
    files = {"a.json": wave(OVERLAPPING), "b.json": wave(slight)}
    gfx9 = prepare(reader(tmp_path, files), [0, 1]).waves
    assert gfx9[0].tokens.lane.tolist() == [0, 1, 0]
    assert gfx9[1].tokens.lane is None
    gfx11 = prepare(reader(tmp_path, files, base_clock=1), [0, 1]).waves
    assert gfx11[1].tokens.lane.tolist() == [0, 1, 0]


def test_a_wave_costs_no_more_than_thirty_bytes_a_token():
    folder = sample_path("tutorial_before")
    names = [path.name for path in sorted(folder.glob("se*_wv*.json"))[:8]]
    batch = prepare(reader(folder, dict.fromkeys(names)), list(range(len(names))))
    assert not batch.missing
    assert batch.nbytes / len(batch.stall) <= 30


def test_many_waves_take_little_more_than_their_columns(tmp_path):
    columns = prepared_columns(reader(tmp_path, {f"{i}.json": wave() for i in range(50)}), list(range(50)))
    assert len(dumps(columns).data) < 3 * columns.batch().nbytes + 20_000
