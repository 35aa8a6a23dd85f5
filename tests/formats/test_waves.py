"""Wave files as batches: what they say, and what becomes of those that say nonsense."""

import pickle

import numpy as np
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rcv_py.model.kinds import TokenKind
from tests.support.wave_folder import ADD, END, MFMA, NOP, TOKENS, reader, wave

MANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def read_one(folder, content, **changes):
    batch = reader(folder, {"w.json": content}, **changes).read([0])
    assert not batch.missing
    return batch.waves[0]


def test_a_wave_is_what_its_file_says(tmp_path):
    one = read_one(tmp_path, wave(waits=[[ADD, [[NOP, 0], [MFMA, 0]]], [END, []]], cu=0x83, workgroup_id=7))
    assert one.tokens.start.tolist() == [100, 104, 120, 124]
    assert one.tokens.stall.tolist() == [0, 8, 0, 0]
    assert one.tokens.busy.tolist() == [4, 4, 4, 16]
    assert one.tokens.kind.tolist() == [TokenKind.IMMED, TokenKind.MATRIX, TokenKind.VALU, TokenKind.MSG]
    assert one.tokens.line.tolist() == [NOP, MFMA, ADD, END]
    assert one.tokens.lane is None
    assert one.states.start.tolist() == [80, 100, 104, 112, 124]
    assert one.states.state.tolist() == [1, 2, 4, 2, 3]
    assert one.states.length == 60
    assert one.waits.line.tolist() == [ADD, END]
    assert [one.waits.producers(row).tolist() for row in range(2)] == [[NOP, MFMA], []]
    assert (one.begin, one.end, one.cu, one.workgroup) == (80, 140, 3, 7)


def test_all_times_of_a_wave_are_moved_by_the_offset_of_its_engine(tmp_path):
    one = read_one(tmp_path, wave(), offset_of_se={0: -1000})
    assert (one.begin, one.end) == (-920, -860)
    assert one.tokens.start.tolist() == [-900, -896, -880, -876]
    assert one.states.start[0] == -920


def test_columns_of_a_batch_are_shared_by_its_waves_and_read_only(tmp_path):
    batch = reader(tmp_path, {"a.json": wave(), "b.json": wave(TOKENS[:2]), "c.json": wave([])}).read(
        [0, 1, 2]
    )
    assert batch.first.tolist() == [0, 4, 6, 6]
    assert batch.stall.tolist() == [0, 8, 0, 0, 0, 8]
    for one in batch.waves[:2]:
        for column in ("stall", "busy", "kind", "line"):
            assert np.shares_memory(getattr(one.tokens, column), getattr(batch, column))
            assert not getattr(one.tokens, column).flags.writeable
    assert len(batch.waves[2].tokens) == 0
    assert batch.waves[2].tokens.base == 80


def test_a_token_costs_fifteen_bytes(tmp_path):
    tokens = [[80 + 4 * i, 6, 0, 4, ADD] for i in range(10_000)]
    batch = reader(tmp_path, {"w.json": wave(tokens, [])}).read([0])
    assert batch.nbytes / len(batch.stall) < 15.1


def test_tokens_out_of_order_are_sorted_and_equal_times_keep_their_order(tmp_path):
    tokens = [[200, 2, 0, 4, 1], [100, 3, 0, 4, 2], [200, 4, 0, 4, 3], [100, 5, 0, 4, 4]]
    batch = reader(tmp_path, {"a.json": wave(), "b.json": wave(tokens), "c.json": wave()}).read([0, 1, 2])
    one = batch.waves[1].tokens
    assert one.start.tolist() == [100, 100, 200, 200]
    assert one.line.tolist() == [2, 4, 1, 3]
    assert [len(other.tokens) for other in batch.waves] == [4, 4, 4]
    assert batch.waves[2].tokens.line.tolist() == [NOP, MFMA, ADD, END]


def test_large_numbers_get_64_bits_instead_of_wrapping(tmp_path):
    one = read_one(tmp_path, wave([[0, 6, 70_000, 1 << 40, ADD], [1 << 50, 6, 1 << 33, 1 << 33, ADD]])).tokens
    assert one.start.tolist() == [0, 1 << 50]
    assert one.stall.tolist() == [70_000, 1 << 33]
    assert one.duration.tolist() == [1 << 40, 1 << 33]


def test_negative_durations_count_as_zero_and_are_noted(tmp_path):
    files = {"a.json": wave(), "b.json": wave([[100, 6, -4, -8, ADD]], [[2, -3], [3, 5]])}
    batch = reader(tmp_path, files).read([0, 1])
    assert batch.waves[1].tokens.duration.tolist() == [0]
    assert batch.waves[1].states.duration.tolist() == [0, 5]
    assert batch.notes == ((1, "b.json has negative durations; they count as 0."),)


def test_a_stall_longer_than_its_instruction_is_all_of_it_and_noted(tmp_path):
    files = {"a.json": wave(), "b.json": wave([[100, 6, 500, 76, ADD], [600, 6, 4, 4, ADD]])}
    batch = reader(tmp_path, files).read([0, 1])
    assert batch.waves[1].tokens.stall.tolist() == [500, 4]
    assert batch.waves[1].tokens.duration.tolist() == [500, 4]
    (note,) = batch.notes
    assert note[0] == 1
    assert note[1].startswith("b.json has instructions that stall for longer than they last")


def test_only_vector_arithmetic_becomes_matrix(tmp_path):
    one = read_one(tmp_path, wave([[100, 6, 0, 4, MFMA], [104, 5, 0, 4, MFMA], [108, 6, 0, 4, ADD]]))
    assert one.tokens.kind.tolist() == [TokenKind.MATRIX, TokenKind.LDS, TokenKind.VALU]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "w.json is missing."),
        (b"", "w.json is damaged: it is empty."),
        (b'{"wave":', "w.json is damaged: it is not JSON, or cut off (line 1, column 9)."),
        (b"[]", "w.json is damaged: it does not describe a wave."),
        (wave([[1, 2, 3]]), "w.json is damaged: the rows of its instructions are not 5 whole numbers each"),
        (
            wave(timeline=[[1, (1 << 60) - 1]] * 9),
            "w.json is damaged: its timeline is longer than any trace.",
        ),
    ],
)
def test_a_wave_that_cannot_be_read_is_listed_and_the_others_are_read(tmp_path, content, reason):
    batch = reader(tmp_path, {"a.json": wave(), "w.json": content, "c.json": wave()}).read([0, 1, 2])
    assert batch.rows.tolist() == [0, 2]
    ((row, text),) = batch.missing
    assert row == 1
    assert text.startswith(reason.removesuffix("."))
    assert text.endswith(".")


@pytest.mark.parametrize(
    ("content", "reason", "has_states"),
    [
        (
            wave(timeline=[[1, 2.5]]),
            "w.json is damaged: the rows of its timeline are not 2 whole numbers each",
            False,
        ),
        (
            wave(waits=[[1, 2]]),
            "w.json is damaged: its waitcnt is not a list of waits and producers: what",
            True,
        ),
        (
            wave(waits=[[1]]),
            "w.json is damaged: its waitcnt is not a list of waits and producers: what",
            True,
        ),
        (wave(waits={"a": 1}), "w.json is damaged: its waitcnt is not a list of waits and producers", True),
    ],
)
def test_states_or_waits_that_cannot_be_read_cost_only_themselves(tmp_path, content, reason, has_states):
    batch = reader(tmp_path, {"w.json": content}).read([0])
    assert not batch.missing
    ((row, text),) = batch.notes
    assert row == 0
    assert text.startswith(reason)
    assert len(batch.waves[0].tokens) == 4
    assert bool(len(batch.waves[0].states)) == has_states
    assert batch.waves[0].waits is None or not has_states


def test_a_reader_can_be_sent_to_another_process(tmp_path):
    files = reader(tmp_path, {"w.json": wave()})
    files.read([0])
    again = pickle.loads(pickle.dumps(files)).read([0])
    assert again.waves[0].tokens.start.tolist() == [100, 104, 120, 124]


NUMBER = st.integers(-(1 << 60) + 1, (1 << 60) - 1) | st.integers(-9, 300)
TOKEN_ROWS = st.lists(st.lists(NUMBER, min_size=5, max_size=5), max_size=6)
STATE_ROWS = st.lists(st.lists(NUMBER, min_size=2, max_size=2), max_size=6)
WAITS = st.none() | st.lists(st.tuples(NUMBER, st.lists(st.tuples(NUMBER, NUMBER), max_size=3)), max_size=4)


@MANY
@given(files=st.lists(st.tuples(TOKEN_ROWS, STATE_ROWS, WAITS), min_size=1, max_size=3))
def test_any_numbers_give_waves_that_hold_what_the_tables_promise(tmp_path, files):
    contents = {f"{i}.json": wave(*content) for i, content in enumerate(files)}
    batch = reader(tmp_path, contents).read(list(range(len(files))))
    assert len(batch.waves) + len(batch.missing) == len(files)
    for one in batch.waves:
        tokens = sorted(files[one.row][0], key=lambda token: token[0])
        assert one.tokens.start.tolist() == [token[0] for token in tokens]
        assert one.tokens.stall.tolist() == [max(0, token[2]) for token in tokens]
        assert one.tokens.duration.tolist() == [max(0, token[2], token[3]) for token in tokens]
        assert one.tokens.kind.dtype == np.uint8
        assert (one.tokens.line < 5).all()
        assert one.states.length == sum(max(0, duration) for _, duration in files[one.row][1])
        waits = files[one.row][2]
        assert (one.waits is None) == (waits is None)
        if waits is not None:
            assert [len(one.waits.producers(i)) for i in range(len(waits))] == [
                len(deps) for _, deps in waits
            ]


@MANY
@given(data=st.binary(max_size=60) | st.recursive(
    st.none() | st.integers(-5, 5), lambda inner: st.lists(inner) | st.dictionaries(st.just("wave"), inner)
).map(orjson.dumps))  # fmt: skip
def test_any_bytes_give_a_wave_or_a_sentence(tmp_path, data):
    batch = reader(tmp_path, {"w.json": data}).read([0])
    assert len(batch.waves) + len(batch.missing) == 1
    assert all(text.startswith("w.json ") and text.endswith(".") for _, text in batch.missing)
