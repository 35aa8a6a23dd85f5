"""Playing a recording again: the same without a change, and what follows of simple ones."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.whatif import experiments, predict
from rcv_py.analysis.whatif.asked import ChangeRequest
from rcv_py.analysis.whatif.changes import (
    Dpp,
    Free,
    Latency,
    Merge,
    MoreWaves,
    Move,
    NoBarrier,
    Only,
    Relax,
    repeated,
)
from rcv_py.analysis.whatif.event_loop import Board, Played, play
from rcv_py.analysis.whatif.experiments import EVERYTHING, sample
from rcv_py.analysis.whatif.predict import Player
from rcv_py.analysis.whatif.recording import NO_INDEX, OTHERS, USUAL, Recording, recording, streams
from rcv_py.base.errors import UsageError
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from tests.support.code_samples import code_table
from tests.support.code_samples import trace as small_trace
from tests.support.opened import VARIED, all_waves, sample_trace, traces_of

MOST = 2  # shader engines of a capture: all of them are alike


def engines(trace: Trace) -> Iterator[list[int]]:
    for se in np.unique(trace.waves.se)[:MOST].tolist():
        yield np.flatnonzero(trace.waves.se == se).tolist()


trace = traces_of([*VARIED, "other_simd", "split_barriers_gfx12"])


def test_a_recording_plays_as_it_was(trace: Trace) -> None:
    for rows in engines(trace):
        for stream in streams(trace, trace.reader.read(rows).waves):
            for guess in (USUAL, *OTHERS):
                played = play(recorded := recording(stream, guess))
                assert np.array_equal(played.issue, recorded.issued)
                assert np.array_equal(played.begin, recorded.begin)


@pytest.fixture(scope="module")
def one() -> Recording:
    trace = sample_trace("matmul_small")
    waves = all_waves(trace).waves
    return recording(streams(trace, [wave for wave in waves if wave.id.se == waves[0].id.se])[0])


def test_instant_memory_leaves_no_wait(one: Recording) -> None:
    played = play(Latency(factor=0.0).of(one))
    assert played.span < play(one).span
    assert (played.issue < 1 << 62).all()


def test_a_longer_latency_never_helps(one: Recording) -> None:
    spans = [play(Latency(factor=factor).of(one)).span for factor in (0.5, 1.0, 2.0, 4.0)]
    assert spans == sorted(spans)


def test_moving_an_instruction_keeps_all_others_in_order(one: Recording) -> None:
    lines = one.line[one.order[one.first[0] : one.first[1]]]
    line, before = int(lines[9]), int(lines[4])
    moved = Move(line, before).of(one)
    for low, high in zip(one.first[:-1], one.first[1:], strict=True):
        old, new = (each.line[each.order[low:high]].tolist() for each in (one, moved))
        assert [each for each in new if each != line] == [each for each in old if each != line]
        assert new.index(line) + 1 == new.index(before)
    assert sorted(moved.order) == sorted(one.order)
    again = Move(line, int(lines[10])).of(moved)  # back to where it was: after those, before the next
    assert np.array_equal(again.line[again.order], one.line[one.order])


def test_a_wait_for_nobody_is_no_wait(one: Recording) -> None:
    waits = np.flatnonzero(np.diff(one.await_first))
    lines = {int(line) for line in one.line[waits]}
    relaxed = one
    for line in lines:
        relaxed = Relax(line, 1000).of(relaxed)
    still = np.repeat(np.arange(len(one)), np.diff(relaxed.await_first))
    is_wait = one.resource[still] == NO_INDEX
    assert one.is_loose[still[is_wait]].all()
    assert play(relaxed).span <= play(one).span
    assert play(Latency(factor=0.0).of(relaxed)).span <= play(Latency(factor=0.0).of(one)).span


def test_what_returns_in_any_order_leaves_nothing_to_relax(one: Recording) -> None:
    loose = np.flatnonzero(one.is_loose & (np.diff(one.await_first) > 1))
    assert len(loose)
    for line in np.unique(one.line[loose]).tolist():
        relaxed = Relax(line, 1).of(one)
        still = one.line[np.repeat(np.arange(len(one)), np.diff(relaxed.await_first))]
        rows = np.flatnonzero((one.line == line) & one.is_loose)
        assert np.count_nonzero(still == line) >= np.diff(one.await_first)[rows].sum()


def test_a_wait_for_named_operations_waits_for_no_others(one: Recording) -> None:
    wait = int(np.flatnonzero(np.diff(one.await_first) > 1)[0])
    newest = int(one.line[one.awaited[one.await_first[wait + 1] - 1]])
    only = Only(int(one.line[wait]), (newest,)).of(one)
    mine = only.awaited[only.await_first[wait] : only.await_first[wait + 1]]
    assert set(one.line[mine].tolist()) == {newest}
    assert play(only).span <= play(one).span


def test_what_is_free_costs_nothing_of_its_own(one: Recording) -> None:
    all_lines = tuple(range(one.rows))
    played = play(Latency(factor=0.0).of(Free(all_lines).of(one)))
    gaps = int((one.pace - one.busy).clip(0).sum())
    assert played.span <= play(one).span
    assert int((played.end - played.begin).sum()) <= gaps + int((one.lead + one.tail).sum())


def test_without_barriers_nobody_waits_for_others(one: Recording) -> None:
    assert play(NoBarrier().of(one)).span <= play(one).span


@pytest.mark.parametrize("name", ["matmul_small", "vector_add", "rivals"])
def test_more_waves_need_waves_that_queue(name: str) -> None:
    """Of waves that were there from the begin, each played twice: half of them wait for a slot."""
    trace = sample_trace(name)
    waves = trace.reader.read(next(engines(trace))).waves
    first = {(wave.id.simd, wave.id.slot): wave for wave in sorted(waves, key=lambda wave: -wave.begin)}
    one = recording(streams(trace, sorted(first.values(), key=lambda wave: wave.row))[0])
    assert (one.before < 0).all()
    twice = repeated(one, 2)
    assert len(twice) == 2 * len(one)
    span = play(one).span
    played = play(twice)
    again = played.span
    behind = np.flatnonzero(twice.before >= 0)
    assert (played.begin[behind] >= played.end[twice.before[behind]]).all()
    more = play(MoreWaves(1).of(twice)).span
    assert span <= more < again


def test_a_prediction_has_a_range_and_says_what_it_assumes() -> None:
    trace = sample_trace("matmul_small")
    rows = next(engines(trace))
    player = Player(streams(trace, trace.reader.read(rows).waves))
    found = player.predict([Latency(units=("vmem",), factor=0.5)])
    assert found.low <= found.share <= found.high < 0
    assert found.text == "latency of VMEM × 0.5"
    assert len(found.guesses) == 5
    none = player.predict([])
    assert (none.low, none.share, none.high) == (0, 0, 0)


def test_a_recording_is_played_once_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[Recording] = []

    plays = Board.play

    def noted(board: Board, recording: Recording, *, waves_only: bool = False) -> Played:
        played.append(recording)
        return plays(board, recording, waves_only=waves_only)

    monkeypatch.setattr(Board, "play", noted)
    trace = sample_trace("matmul_small")
    made = streams(trace, trace.reader.read(next(engines(trace))).waves)[:1]
    asked = [[Latency(factor=0.5)], [NoBarrier()], [MoreWaves(1)], [Latency(factor=2.0)], [MoreWaves(2)]]
    player = Player(made)
    found = [player.predict(one, is_quick=True) for one in asked]
    # With each change; as it was and by the rules of ties; both also with each wave twice: some follow.
    assert len(played) == 5 + 2 * 2
    assert found == [Player(made).predict(one, is_quick=True) for one in asked]


def test_equal_units_are_played_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the capture, and each of them once more as if it had run later."""
    trace = sample_trace("matmul_small")
    units = [one for rows in engines(trace) for one in streams(trace, trace.reader.read(rows).waves)]
    later = [replace(one, start=one.start + 99, issue=one.issue + 99, base=one.base - 99) for one in units]
    alone = [Player([one]).predict([Latency(factor=0.5)]) for one in units]
    played: list[int] = []
    whole = Board.play
    monkeypatch.setattr(Board, "play", lambda *of, **how: played.append(len(of[1])) or whole(*of, **how))
    found = Player([*units, *later]).predict([Latency(factor=0.5)])
    assert found.units == 2 * tuple(one.units[0] for one in alone)
    twice = len(played)
    Player(units).predict([Latency(factor=0.5)])
    assert len(played) == 2 * twice


def test_columns_of_a_recording_agree(one: Recording) -> None:
    for each in (one, repeated(one, 3), replace(one)):
        assert each.first[-1] == len(each.order) == len(each.latency)
        assert each.await_first[-1] == len(each.awaited)
        assert (each.awaited < len(each)).all()


def test_what_is_asked_for_is_checked() -> None:
    trace = sample_trace("matmul_small")
    hits = np.where(np.arange(len(trace.code)) < 100, trace.code.hits, 0)  # the others never ran
    code = replace(trace.code, hits=hits)
    trace = replace(trace, code=code)
    never = int(np.flatnonzero(code.hits == 0)[-1])
    ran = next(row for row in np.flatnonzero(code.hits).tolist() if code.text[row].startswith("s_load"))
    for wrong in (
        ChangeRequest(latency=[("disk", 2.0)]),
        ChangeRequest(free=[len(code)]),
        ChangeRequest(move=[(ran, never)]),
    ):
        with pytest.raises(UsageError):
            wrong.changes(trace)
    latency = [("memory", 0.5), (str(ran), 2.0)]
    asked = ChangeRequest(latency=latency, free=[ran], no_barriers=True, more_waves=1)
    assert [type(change) for change in asked.changes(trace)] == [Latency, Latency, Free, NoBarrier, MoreWaves]


PROGRAM = (
    "s_load_dwordx2 s[8:9], s[0:1], 0x0",  # 0
    "s_waitcnt lgkmcnt(0)",
    "v_add_u32_e32 v1, s8, v0",  # 2: writes the address of 3
    "global_load_dword v2, v1, s[8:9]",
    "global_load_dword v3, v1, s[8:9] offset:4",  # 4
    "global_load_dwordx2 v[4:5], v1, s[8:9] offset:8",
    "s_waitcnt vmcnt(1)",  # 6
    "ds_bpermute_b32 v6, v0, v2",
    "s_waitcnt lgkmcnt(0)",  # 8
    "global_store_dword v1, v6, s[8:9]",
    "v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]",  # 10
    "s_endpgm",
)


@pytest.fixture(scope="module")
def asked_trace() -> Trace:
    """A program of which every instruction ran."""
    kinds = (TokenKind.MATRIX if text.startswith("v_mfma") else TokenKind.NONE for text in PROGRAM)
    rows = tuple((text, kind, 2, 0, 0, 0, ()) for text, kind in zip(PROGRAM, kinds, strict=True))
    return small_trace(code_table(rows))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (ChangeRequest(move=[(3, 2)]), "cannot be moved before 2: Instruction 2, v_add_u32_e32: its address"),
        (ChangeRequest(move=[(6, 5)]), "cannot be moved before 5: Only what loads"),
        (ChangeRequest(move=[(3, 3)]), "already there"),
        (ChangeRequest(move=[(3, 9)]), "Only earlier places"),
        (ChangeRequest(dpp=[6]), "moves nothing across lanes"),
        (ChangeRequest(only=[(6, 2)]), "Instruction 6, s_waitcnt vmcnt(1), cannot wait for 2 alone"),
        (ChangeRequest(only=[(6, 7)]), "cannot wait for 7 alone"),
        (ChangeRequest(only=[(1, 0)]), "cannot wait for 0 alone"),
        (ChangeRequest(only=[(2, 3)]), "Instruction 2, v_add_u32_e32 v1, s8, v0, cannot wait for 3 alone"),
        (ChangeRequest(relax=[(2, 1)]), "can leave at most 0 more"),
        (ChangeRequest(relax=[(1, 1)]), "return in any order"),
        (ChangeRequest(relax=[(6, 1000)]), "at most 62 more"),  # vmcnt has six bits on gfx9
        (ChangeRequest(relax=[(8, 16)]), "at most 15 more"),  # lgkmcnt has four
        (ChangeRequest(latency=[("2", 0.5)]), "Instruction 2, v_add_u32_e32 v1, s8, v0, has no latency"),
        (ChangeRequest(latency=[("3", 0.5), ("6", 2)]), "Instruction 6, s_waitcnt vmcnt(1), has no latency"),
        (ChangeRequest(merge=[(3, 3)]), "not two accesses"),
        (ChangeRequest(merge=[(3, 2)]), "not two accesses"),
        (ChangeRequest(merge=[(3, 9)]), "not two accesses"),
    ],
)
def test_impossible_changes_are_refused(asked_trace: Trace, asked: ChangeRequest, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        asked.changes(asked_trace)


def test_possible_changes_are_not_refused(asked_trace: Trace) -> None:
    asked = ChangeRequest(
        move=[(4, 3)], relax=[(6, 1)], only=[(6, 4), (6, 3)], dpp=[7], merge=[(3, 4), (3, 5)]
    )
    expected = [Move(4, 3), Relax(6, 1), Only(6, (4, 3)), Dpp((7,)), Merge((3, 4, 5))]
    assert asked.changes(asked_trace) == expected
    words = ("--move=4:3", "--relax=6:1", "--only=6:4", "--only=6:3", "--merge=3:4", "--merge=3:5", "--dpp=7")
    assert asked.words == words, "a command that predicts the same"
    slower = ChangeRequest(latency=[(str(row), 2) for row in (0, 3, 7, 9, 10)])
    assert slower.changes(asked_trace) == [Latency((row,), factor=2) for row in (0, 3, 7, 9, 10)]


def test_a_sample_has_whole_engines() -> None:
    trace = sample_trace("matmul_tiled")
    some = sample(trace, most=1)
    assert some.is_part
    assert some.engines == (int(trace.waves.se.min()),)
    assert set(some.rows) == set(np.flatnonzero(trace.waves.se == some.engines[0]).tolist())
    assert not sample(trace).is_part


def test_an_engine_that_would_take_minutes_is_played_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sample_trace("vector_add")
    monkeypatch.setattr(experiments, "MAX_TOKENS", 1_000)
    whole, some = sample(trace, EVERYTHING), sample(trace, most=1_000)
    assert whole.rows == tuple(range(len(trace.waves)))
    assert some.is_part
    assert len(some.engines) == 1
    assert 0 < some.tokens < 10_000 < whole.tokens
    assert set(some.rows) < set(np.flatnonzero(trace.waves.se == some.engines[0]).tolist())


def test_what_was_stopped_is_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sample_trace("matmul_small")
    found = [one for rows in engines(trace) for one in streams(trace, trace.reader.read(rows).waves)]
    player = Player(found)
    looks: list[int] = []

    def stopped() -> None:
        looks.append(1)
        if len(looks) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(predict, "checkpoint", stopped)
    with pytest.raises(KeyboardInterrupt):
        player.predict([NoBarrier()])
    assert len(found) > 1
    assert player.predict([NoBarrier()]) == Player(found).predict([NoBarrier()])
