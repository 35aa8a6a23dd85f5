"""The tables say exactly what a slow sum over cycles says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.timeline import lod as module
from rcv_py.analysis.timeline.lod import build, joined
from rcv_py.model.kinds import TokenKind
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.waves import NOTHING, STALLED, WaveLod
from tests.support.drawing import states, tokens

NO_STATES = States(0, np.zeros(0, np.int32), np.zeros(0, np.uint8), 0)


@st.composite
def waves(draw: st.DrawFn) -> tuple[Tokens, States]:
    row = st.tuples(
        st.integers(0, 90), st.integers(0, 200), st.integers(0, 120), st.sampled_from([0, 1, 5, 6, 13, 77])
    )
    rows = draw(st.lists(row, min_size=1, max_size=30))
    base = draw(st.integers(-5000, 5000))
    gap, stall, busy, kind = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    busy = np.where(stall + busy == 0, 1, busy)
    offset = np.cumsum(gap + stall + busy) - stall - busy
    made = Tokens(
        base,
        offset.astype(np.int32),
        stall.astype(np.int32),
        busy.astype(np.int32),
        kind.astype(np.uint8),
        np.zeros(len(rows), np.int32),
    )
    lengths = draw(st.lists(st.integers(0, 150), min_size=1, max_size=20))
    edges = np.concatenate([[0], np.cumsum(lengths)])
    state = draw(st.lists(st.integers(0, 5), min_size=len(lengths), max_size=len(lengths)))
    return made, States(base, edges[:-1].astype(np.int32), np.array(state, np.uint8), max(int(edges[-1]), 1))


def slow_codes(made: Tokens, number: int, bits: int) -> tuple[set[int], int]:
    """The codes that may stand for a bucket (ties), and how many token cycles it holds."""
    cycles: dict[int, list[int]] = {}
    for row in range(len(made)):
        start = made.base + int(made.offset[row])
        issue, end = start + int(made.stall[row]), int(made.end[row])
        kind = int(made.kind[row]) if made.kind[row] < 14 else 0
        for at in range(max(start, number << bits), min(end, (number + 1) << bits)):
            cycles.setdefault(kind, [0, 0])[at >= issue] += 1
    if not cycles:
        return {NOTHING}, 0
    most = max(sum(pair) for pair in cycles.values())
    codes = {
        kind | (STALLED if pair[0] > pair[1] else 0) for kind, pair in cycles.items() if sum(pair) == most
    }
    return codes, sum(sum(pair) for pair in cycles.values())


@given(waves())
def test_every_bucket_shows_the_kind_with_most_cycles(wave: tuple[Tokens, States]) -> None:
    made, timeline = wave
    table = build(made, timeline)
    for level, codes in enumerate(table.kind):
        bits = table.shift + level
        seen = 0
        for i, code in enumerate(codes.tolist()):
            wanted, cycles = slow_codes(made, (table.base >> bits) + i, bits)
            assert code in wanted
            seen += cycles
        assert seen == int(made.duration.sum()), "a token lies outside the table"


@given(waves())
def test_state_shares_sum_to_the_cycles_of_each_state(wave: tuple[Tokens, States]) -> None:
    made, timeline = wave
    table = build(made, timeline)
    per_cycle = np.repeat(timeline.state, timeline.duration)
    for level, shares in enumerate(table.state):
        bits = table.shift + level
        for i, share in enumerate(shares.astype(int)):
            low = (((table.base >> bits) + i) << bits) - timeline.base
            part = per_cycle[max(0, low) : max(0, low + (1 << bits))]
            for state in range(1, 5):
                exact = 255 * np.count_nonzero(part == state) / (1 << bits)
                assert abs(share[state - 1] - exact) <= 1
            assert share.sum() <= 255
            if np.count_nonzero((part >= 1) & (part <= 4)) == 1 << bits:
                assert share.sum() == 255


@given(waves(), st.integers(1, 4))
def test_cutting_into_chunks_changes_nothing(wave: tuple[Tokens, States], bits: int) -> None:
    whole = build(*wave)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK_BITS", bits)
        cut = build(*wave)
    assert [level.tolist() for level in cut.kind] == [level.tolist() for level in whole.kind]
    assert [level.tolist() for level in cut.state] == [level.tolist() for level in whole.state]


def test_a_short_token_among_idle_cycles_is_seen() -> None:
    table = build(tokens("." * 500 + "L" + "." * 500 + "V"), NO_STATES)
    level = int(np.log2(len(table.kind[0]))) - 1
    assert TokenKind.LDS in table.kind[level].tolist()


def test_a_wait_that_mostly_stalls_is_marked() -> None:
    table = build(tokens("i" * 60 + "IIII"), NO_STATES)
    assert table.kind[0].tolist() == [TokenKind.IMMED | STALLED] * 2


def test_a_token_of_no_length_is_drawn() -> None:
    zero = Tokens(0, *(np.array([value], np.int32) for value in (40, 0, 0)), np.array([5], np.uint8), None)
    assert build(zero, NO_STATES).kind[0].tolist() == [TokenKind.LDS]


def test_a_wave_without_anything_has_an_empty_table() -> None:
    empty = tokens("", base=77)
    table = build(empty, NO_STATES)
    assert [level.tolist() for level in table.kind] == [[NOTHING]]


def test_memory_stays_below_five_bytes_a_token() -> None:
    made = tokens("vV..sSllllLLLL" * 4000, scale=20)
    table = build(made, states("E" * (14 * 4000 * 20)))
    assert table.nbytes <= 5 * len(made)


def test_joined_waves_keep_every_busy_bucket() -> None:
    first = build(tokens("vVVV" * 30, base=1000), states("EEEE" * 30, base=1000))
    second = build(tokens("lLLL" * 3, base=5000), states("WWWW" * 3, base=5000))
    row = joined([first, second])
    for level, codes in enumerate(row.kind):
        bits = row.shift + level
        busy = {((row.base >> bits) + i) for i in np.flatnonzero(codes != NOTHING).tolist()}
        assert busy == {at >> bits for at in (*range(1000, 1120), *range(5000, 5012))}
    assert len(row.kind[-1]) <= 2


def test_joining_many_short_waves_shows_all_of_them() -> None:
    rows = [build(tokens("lL", base=100_000 * i), NO_STATES) for i in range(40)]
    row: WaveLod = joined(rows)
    busy = np.flatnonzero(row.kind[0] != NOTHING) + (row.base >> row.shift)
    assert busy.tolist() == [100_000 * i >> row.shift for i in range(40)]
