"""The tables say exactly what a slow sum over cycles says."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.timeline.lod import build, joined, tables
from rcv_py.base.runs import borders
from rcv_py.model.activity import ACTIVITIES, ACTIVITY_COUNT, ACTIVITY_OF, STATE_ORDER
from rcv_py.model.kinds import TokenKind
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.waves import WaveColumns, WaveLod, facts_of
from tests.support.columns import in_rows
from tests.support.drawing import states, tokens

NO_STATES = States(0, np.zeros(0, np.int32), np.zeros(0, np.uint8), 0)


def columns_of(waves: list[tuple[Tokens, States]]) -> WaveColumns:
    """Waves one after the other, as a reader makes them."""
    numbers = np.array([(made.base, timeline.base, timeline.length) for made, timeline in waves])
    facts = facts_of(len(waves), **dict(zip(("base", "state_base", "length"), numbers.T, strict=True)))
    none = np.zeros(0, np.int32)
    names = ("offset", "stall", "busy", "kind", "line")
    joint = {name: np.concatenate([getattr(made, name) for made, _ in waves]) for name in names}
    return WaveColumns(
        facts=facts,
        token_first=borders([len(made) for made, _ in waves]),
        **joint,
        state_first=borders([len(timeline) for _, timeline in waves]),
        state_offset=np.concatenate([timeline.offset for _, timeline in waves]),
        state=np.concatenate([timeline.state for _, timeline in waves]),
        wait_line=none,
        wait_first=none,
        depends_on=none,
    )


@st.composite
def waves(draw: st.DrawFn) -> tuple[Tokens, States]:
    cycles = (st.integers(0, most) for most in (90, 200, 120))
    row = st.tuples(*cycles, st.sampled_from([0, 1, 5, 6, 13, 77]))
    rows = draw(st.lists(row, min_size=1, max_size=30))
    base = draw(st.integers(-5000, 5000))
    gap, stall, busy, kind = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    busy = np.where(stall + busy == 0, 1, busy)
    offset = np.cumsum(gap + stall + busy) - stall - busy
    columns = (column.astype(np.int32) for column in (offset, stall, busy))
    made = Tokens(base, *columns, kind.astype(np.uint8), np.zeros(len(rows), np.int32))
    lengths = draw(st.lists(st.integers(0, 150), min_size=1, max_size=20))
    edges = np.concatenate([[0], np.cumsum(lengths)])
    state = draw(st.lists(st.integers(0, 5), min_size=len(lengths), max_size=len(lengths)))
    return made, States(base, edges[:-1].astype(np.int32), np.array(state, np.uint8), max(int(edges[-1]), 1))


def per_cycle(made: Tokens, base: int) -> np.ndarray:
    """The activity of each cycle from `base` on, -1 for none."""
    cycle = np.full(int(made.end.max()) - base, -1)
    for start, stall, duration, kind in in_rows(made.start, made.stall, made.duration, made.kind):
        cycle[start - base : start - base + stall] = ACTIVITY_OF[1, kind]
        cycle[start - base + stall : start - base + duration] = ACTIVITY_OF[0, kind]
    return cycle


def check(tables: tuple[np.ndarray, ...], made: WaveLod, cycle: np.ndarray, base: int) -> None:
    """Every share of every bucket is that of its cycles, to less than 1/255; a full bucket has 255."""
    for level, running in enumerate(tables):
        bits = made.shift + level
        for i, shares in enumerate(running.astype(int)):
            low = (((made.base >> bits) + i) << bits) - base
            part = cycle[max(0, low) : max(0, low + (1 << bits))]
            wanted = 255 * np.searchsorted(np.sort(part[part >= 0]), np.arange(running.shape[1]), "right")
            assert np.abs(shares - wanted / (1 << bits)).max() < 1
            assert np.all(np.diff(shares) >= 0)
            if np.count_nonzero(part >= 0) == 1 << bits:
                assert shares[-1] == 255


@given(waves())
def test_every_bucket_has_the_shares_of_its_activities(wave: tuple[Tokens, States]) -> None:
    made, timeline = wave
    table = build(made, timeline)
    check(table.kind, table, per_cycle(made, made.base), made.base)
    first, last = table.base, ((table.base >> table.shift) + len(table.kind[0])) << table.shift
    assert first <= made.start[0]
    assert made.end.max() <= last, "a token lies outside the table"


@given(waves())
def test_every_bucket_has_the_shares_of_its_states(wave: tuple[Tokens, States]) -> None:
    made, timeline = wave
    table = build(made, timeline)
    places = np.array([STATE_ORDER.index(state) if state in STATE_ORDER else -1 for state in range(6)])
    check(table.state, table, np.repeat(places[timeline.state], timeline.duration), timeline.base)


@given(st.lists(waves(), max_size=4))
def test_waves_that_are_built_together_have_the_tables_of_each(made: list[tuple[Tokens, States]]) -> None:
    """Also beside waves without tokens, without states and without anything."""
    alone = [(tokens("", base=5), NO_STATES), *((one, NO_STATES) for one, _ in made[:1])]
    alone += [(tokens("", base=timeline.base), timeline) for _, timeline in made[1:2]]
    waves = [*alone, *made]
    together = tables(columns_of(waves)).tables()
    for table, wave in zip(together, waves, strict=True):
        own = build(*wave)
        assert (table.base, table.shift) == (own.base, own.shift)
        assert [level.tolist() for level in table.kind] == [level.tolist() for level in own.kind]
        assert [level.tolist() for level in table.state] == [level.tolist() for level in own.state]


def test_times_that_need_64_bits_have_the_same_shares() -> None:
    """A trace may be longer than 32 bits; the picture of its parts is the same."""
    made, timeline = tokens("vV..sSllllLLLL" * 40, scale=9), states("EWS" * 700)
    far = 1 << 36
    wide = (
        replace(made, offset=made.offset.astype(np.int64) + far),
        replace(timeline, offset=timeline.offset.astype(np.int64) + far, length=timeline.length + far),
    )
    near = build(replace(made, base=made.base + far), replace(timeline, base=timeline.base + far))
    assert [level.tolist() for level in build(*wide).kind] == [level.tolist() for level in near.kind]
    assert [level.tolist() for level in build(*wide).state] == [level.tolist() for level in near.state]
    columns = {name: getattr(made, name).astype(np.int64) << 30 for name in ("offset", "stall", "busy")}
    long, short = build(replace(made, base=0, **columns), NO_STATES), build(made, NO_STATES)
    assert long.shift == short.shift + 30
    assert [level.tolist() for level in long.kind] == [level.tolist() for level in short.kind]


def test_the_sums_of_coarse_levels_do_not_wrap_around() -> None:
    """The finest buckets of this wave fit into 32 bits, all its cycles do not."""
    count, cycles = 1 << 18, 1 << 14
    columns = [np.arange(count) * cycles, np.zeros(count, np.int32), np.full(count, cycles, np.int32)]
    table = build(Tokens(0, *columns, np.full(count, 6, np.uint8), np.zeros(count, np.int32)), NO_STATES)
    assert all(level[:, -1].min() == 255 for level in table.kind)


def test_many_tokens_that_each_last_as_long_as_the_wave_cost_no_more_than_their_number() -> None:
    """No capture has them, but a file may say so."""
    count = 40_000
    columns = [np.arange(count, dtype=np.int32), np.zeros(count, np.int32), np.full(count, 1 << 20, np.int32)]
    lanes = (np.arange(count) % 256).astype(np.uint8)
    made = Tokens(0, *columns, np.full(count, 6, np.uint8), np.zeros(count, np.int32), lanes)
    tracemalloc.start()
    table = build(made, NO_STATES)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1000 * count, "bytes"
    assert table.kind[0][8:-8, -1].min() == 255


def test_a_rare_activity_is_not_lost_in_a_long_row() -> None:
    """A share far below 1/255 is there as often as it is worth, at every level."""
    count = 4000
    columns = [np.arange(count, dtype=np.int32) * 2048, np.zeros(count, np.int32), np.ones(count, np.int32)]
    table = build(Tokens(0, *columns, np.full(count, 6, np.uint8), np.zeros(count, np.int32)), NO_STATES)
    for running in table.kind:
        if len(running) >= 100:
            assert abs(running[:, -1].mean() / 255 * 2048 - 1) <= 0.1


def test_a_wait_is_stall() -> None:
    table = build(tokens("i" * 60 + "IIII"), NO_STATES)
    share = np.diff(table.kind[0].astype(int), axis=1, prepend=0)
    assert share[:, ACTIVITIES.index((TokenKind.IMMED, True))].tolist() == [255, 255]


def test_a_token_of_no_length_counts_as_a_cycle() -> None:
    zero = Tokens(0, *(np.array([value], np.int32) for value in (40, 0, 0)), np.array([5], np.uint8), None)
    share = np.diff(build(zero, NO_STATES).kind[0].astype(int), axis=1, prepend=0)
    assert abs(share[:, ACTIVITIES.index((TokenKind.LDS, False))].sum() - 255 / 32) <= 1


def test_a_wave_without_anything_has_an_empty_table() -> None:
    table = build(tokens("", base=77), NO_STATES)
    assert not table.kind[0].any()
    assert not table.state[0].any()
    assert len(table.kind) == 1


def test_overlapping_tokens_share_a_bucket_that_they_would_overfill() -> None:
    columns = [np.array(column, np.int32) for column in ([0, 0, 0], [0, 0, 0], [64, 64, 64])]
    kind, lane = np.array([5, 2, 2], np.uint8), np.arange(3, dtype=np.uint8)
    made = Tokens(0, *columns, kind, np.zeros(3, np.int32), lane)
    running = build(made, NO_STATES).kind[0].astype(int)
    share = np.diff(running, axis=1, prepend=0)
    assert running[:, -1].tolist() == [255, 255]
    assert np.abs(share[:, ACTIVITIES.index((TokenKind.SALU, False))] - 170).max() <= 1


def test_memory_stays_below_five_bytes_a_token() -> None:
    for scale in (4, 7, 20):
        made = tokens("vV..sSllllLLLL" * 4000, scale=scale)
        table = build(made, states("E" * (14 * 4000 * scale)))
        assert table.nbytes <= 5.01 * len(made)


@given(st.lists(waves(), min_size=2, max_size=5))
def test_joined_waves_have_the_shares_of_each(made: list[tuple[Tokens, States]]) -> None:
    """One after the other, as in a slot: every level sums to the cycles of all."""
    lods, cycles, begin = [], np.zeros(ACTIVITY_COUNT), 0
    for one, timeline in made:
        shift = begin - one.base + 40
        own = replace(one, base=one.base + shift)
        lods.append(build(own, replace(timeline, base=timeline.base + shift)))
        begin = max(int(own.end.max()), timeline.base + shift + timeline.length)
        cycle = per_cycle(own, own.base)
        cycles += np.bincount(cycle[cycle >= 0], minlength=ACTIVITY_COUNT)
    row = joined(lods)
    for level, running in enumerate(row.kind):
        share = np.diff(running.astype(int), axis=1, prepend=0).sum(axis=0) / 255
        slack = (2 + len(lods)) * (1 << (row.shift + level)) * len(running) / 255 + 2 * (1 << row.shift)
        assert np.abs(share * (1 << (row.shift + level)) - cycles).max() <= slack
    assert len(row.kind[-1]) <= 2


def test_joining_many_short_waves_shows_all_of_them() -> None:
    rows = [build(tokens("lL" * 60, base=100_000 * i), NO_STATES) for i in range(40)]
    row: WaveLod = joined(rows)
    busy = np.flatnonzero(row.kind[0][:, -1]) + (row.base >> row.shift)
    assert {round(bucket * (1 << row.shift) / 100_000) for bucket in busy.tolist()} == set(range(40))
