"""Iterations, phases and first executions: drawings, and captures of known truth."""

import statistics
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcv_py.analysis.iterations.loop_summary import LOOPS, LoopIterations
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.analysis import build
from tests.support.opened import all_waves, sample_waves, traces_of
from tests.support.samples import sample

TEXTS = ["s_mov_b32 s0, 0", "v_add_f32 v0, v0, v1", "v_mul_f32 v0, v0, v1", "s_cbranch_scc1 -3", "s_endpgm"]


def read(trace: Trace) -> list[WaveBatch]:
    rows = list(range(len(trace.waves)))
    return [trace.reader.read(rows[:5]), trace.reader.read(rows[5:])]


# Samples with many iterations
LOOPING = ("matmul_tiled", "reduction", "kernels", "gfx12", "mixed_populations")


trace = traces_of(LOOPING)


def drawn(*pictures: tuple[str, list[int]]) -> tuple[Trace, list[WaveBatch]]:
    waves = [build.wave(*one, row=row, begin=100 * row) for row, one in enumerate(pictures)]
    return build.trace(build.code(TEXTS), waves), [build.batch(*waves)]


THREE = ("SS|vvVV|VV|J|VV|VV|J|vV|..VV|nN|I", [0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4])


def rows(found: LoopIterations) -> list[tuple[int, ...]]:
    one = found.iterations
    columns = (one.wave, one.number, one.begin, one.end, one.is_first, one.is_last, one.stall, one.idle)
    return [tuple(int(column[i]) for column in columns) for i in range(len(one))]


def test_loops_are_jumps_back_counted_one_by_one(trace: Trace) -> None:
    """Cycles are those from one jump's target to the next: without the first iteration and the last."""
    taken, waves, between = Counter[tuple[int, int]](), defaultdict(set), defaultdict(list)
    for wave in all_waves(trace).waves:
        one = wave.tokens
        began: dict[int, int] = {}
        rows = list(zip(one.line.tolist(), one.kind.tolist(), one.start.tolist(), strict=True))
        for (line, kind, _), (head, _, start) in pairwise(rows):
            if kind == TokenKind.JUMP and head <= line:
                taken[line, head] += 1
                waves[line, head].add(wave.row)
                if (line, head) in began:
                    between[line, head].append(start - began[line, head])
                began[line, head] = start
    table = LOOPS.of(trace, read(trace)).loops.table
    found = {}
    for i, pair in enumerate(zip(table.branch.tolist(), table.head.tolist(), strict=True)):
        found[pair] = (table.taken[i], table.waves[i], table.between[i])
        if cycles := sorted(between[pair]):
            assert (table.shortest[i], table.longest[i]) == (cycles[0], cycles[-1])
            assert table.median[i] == statistics.median(cycles)
    expected = {pair: (n, len(waves[pair]), len(between[pair])) for pair, n in taken.items()}
    assert found == expected
    assert any(between.values())


def test_a_drawing() -> None:
    trace, batches = drawn(THREE)
    found = LOOPS.of(trace, batches).loops
    assert rows(found) == [(0, 0, 2, 9, 1, 0, 2, 0), (0, 1, 9, 14, 0, 0, 0, 0), (0, 2, 14, 22, 0, 1, 2, 2)]
    assert found.iterations.kinds[:, TokenKind.VALU].tolist() == [6, 4, 4]
    assert found.iterations.kinds[:, TokenKind.JUMP].tolist() == [1, 1, 0]
    table = found.table
    assert (table.taken.tolist(), table.between.tolist(), table.median.tolist()) == ([2], [1], [5.0])
    assert table.cycles.tolist() == [20]


def test_phases_surround_the_loop() -> None:
    trace, batches = drawn(THREE, ("SS|VV|I", [0, 1, 4]))
    made = LOOPS.of(trace, batches).phases
    assert made.cycles.tolist() == [[2, 20, 1]]
    assert made.stall.tolist() == [[0, 4, 0]]
    assert made.busy.tolist() == [[2, 14, 1]]
    assert made.without == 1
    assert made.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("healthy", [0, 30])  # waves beside the damaged one, which hide it in a sum
def test_how_much_of_a_phase_stalled_is_unknown_where_the_times_of_a_wave_are_damaged(healthy: int) -> None:
    """The first instruction stalls for 50 cycles, and the second begins after 2."""
    line, kind = [0, 1, 3, 1, 3, 1, 3, 4], [2, 6, 7, 6, 7, 6, 8, 9]
    offset = [0, 2, 4, 6, 8, 10, 12, 14]
    stalls = [[50, *[0] * 7], *[[0, 0, 1, *[0] * 5]] * healthy]
    made = [build.tokens(0, offset, stall, [2] * 8, line=line, kind=kind) for stall in stalls]
    waves = [build.of_tokens(one, end=16, row=row) for row, one in enumerate(made)]
    trace = build.trace(build.code(TEXTS), waves)
    phases = LOOPS.of(trace, [build.batch(*waves)]).phases
    assert phases.cycles.tolist() == [[2, 12, 2]] * (1 + healthy)
    steady = healthy / (12 * (1 + healthy))
    assert phases.stall_shares == [None, pytest.approx(steady), 0]


def test_nothing_says_how_much_of_an_empty_phase_stalled() -> None:
    """The loop is the whole wave."""
    trace, batches = drawn(("VV|J|VV|J|VV|I", [1, 3, 1, 3, 1, 4]))
    phases = LOOPS.of(trace, batches).phases
    assert phases.cycles[:, 0].tolist() == [0]
    assert phases.stall_shares[0] is None


def test_an_iteration_does_not_reach_into_the_next_wave() -> None:
    trace, batches = drawn(THREE, THREE)
    found = LOOPS.of(trace, batches).loops
    assert len(found.iterations) == 6
    assert found.iterations.number.tolist() == [0, 1, 2, 0, 1, 2]
    assert [row[2] for row in rows(found)] == [2, 9, 14, 102, 109, 114]


def test_first_executions_are_told_from_later_ones() -> None:
    trace, batches = drawn(THREE, THREE)
    made = LOOPS.of(trace, batches).hits
    assert made.waves.tolist() == [2, 2, 2, 2, 2]
    assert made.hits.tolist() == [2, 6, 6, 6, 2]
    assert made.first_stall[1] == 4
    assert made.later_stall[1] == 2


def test_a_jump_back_to_new_code_makes_no_iteration() -> None:
    trace, batches = drawn(("S|J|V|I", [0, 3, 2, 4]))
    found = LOOPS.of(trace, batches).loops
    assert found.table.taken.tolist() == [1]
    assert len(found.iterations) == 0
    assert len(LOOPS.of(trace, batches).phases) == 0


def test_nothing() -> None:
    trace = build.trace(build.code(TEXTS), [])
    made = LOOPS.of(trace, [])
    assert (len(made.loops.table), made.loops.table.dominant, made.waves, len(made.phases)) == (0, -1, 0, 0)


def test_iterations_follow_each_other_and_hold_what_their_tokens_do(trace: Trace) -> None:
    batches = read(trace)
    found = LOOPS.of(trace, batches).loops
    one = found.iterations
    waves = {wave.row: wave for batch in batches for wave in batch.waves}
    for i, j in pairwise(range(len(one))):
        if one.loop[i] == one.loop[j] and one.wave[i] == one.wave[j] and not one.is_last[i]:
            assert one.stop[i] == one.first[j]
            assert one.end[i] == one.begin[j]
    for i in range(0, len(one), 7):
        tokens = waves[int(one.wave[i])].tokens
        part = slice(int(one.first[i]), int(one.stop[i]))
        assert tokens.line[one.first[i]] == found.table.head[one.loop[i]]
        assert tokens.stall[part].sum() == one.stall[i]
        assert tokens.duration[part].sum() == one.kinds[i].sum()
    spent = one.kinds.sum(axis=1) + one.idle
    assert np.all(spent >= one.cycles), "cycles are stall, issue or idle; tokens may overlap a little"
    if trace.gfxip <= 9:  # later ones overlap as long as they execute
        assert np.all(spent <= one.cycles * 1.02)


# A capture with iterations that are far longer than others of their loop
uneven = traces_of(["matmul_tiled", "reduction", "kernels"])


def test_outliers_are_beyond_the_fence_of_their_loop(uneven: Trace) -> None:
    found = LOOPS.of(uneven, read(uneven)).loops
    one, expected = found.iterations, []
    for loop in range(len(found.table)):
        own = [i for i in range(len(one)) if one.loop[i] == loop and one.is_between[i]]
        lengths = sorted(int(one.cycles[i]) for i in own)
        low, high = (lengths[part * len(own) // 4] for part in (1, 3)) if own else (0, 0)
        expected += [i for i in own if one.cycles[i] > high + 1.5 * (high - low)]
    assert sorted(found.outliers.tolist()) == sorted(expected) != []
    cycles = one.cycles[found.outliers]
    assert cycles.tolist() == sorted(cycles.tolist(), reverse=True)


@pytest.mark.parametrize("name", ["matmul_tiled", "gfx12"])
def test_a_loop_has_as_many_rounds_as_the_simulator_made(name: str) -> None:
    (trace, batch), (_, truth) = sample_waves(name), sample(name)
    found = LOOPS.of(trace, [batch]).loops
    visits = [visits for wave in truth.waves.values() for visits in wave.iterations.values()]
    expected = sorted(count for counts in visits for count in counts if count > 1)
    # Code moved out of line jumps back too; the loop of the simulator is the one the kernel is about.
    one = found.iterations.at(found.iterations.loop == found.table.dominant)
    ends = np.flatnonzero(one.is_last)
    starts = np.append(0, ends[:-1] + 1)
    assert sorted((ends - starts + 1).tolist()) == expected


def counted(lines: list[int], is_jump: list[bool]) -> int:
    """Jumps back, one after the other."""
    return sum(jump and b <= a for (a, b), jump in zip(pairwise(lines), is_jump, strict=False))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(1, 5)), min_size=1, max_size=40))
def test_any_order_of_lines_is_survived_and_counted(made: list[tuple[int, bool, int]]) -> None:
    lines = [line for line, _, _ in made]
    jumps = [jump for _, jump, _ in made]
    picture = "|".join(("J" if jump else "V") * length for _, jump, length in made)
    trace, batches = drawn((picture, lines))
    found = LOOPS.of(trace, batches).loops
    assert found.table.taken.sum() == counted(lines, jumps)
    one = found.iterations
    assert np.all(one.end > one.begin)
    assert np.all(one.stop > one.first)
    whole = LOOPS.of(trace, batches)
    assert np.all(whole.phases.cycles >= 0)
    assert whole.hits.hits.sum() == len(lines)


def test_first_executions_are_the_same_in_parts(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = read(trace)
    whole = LOOPS.of(trace, batches).hits
    expected = np.zeros((2, len(trace.code)), dtype=np.int64)
    for wave in (wave for batch in batches for wave in batch.waves):
        line, at = np.unique(wave.tokens.line, return_index=True)
        at, line = at[line >= 0], line[line >= 0]
        expected[0, line] += 1
        expected[1, line] += wave.tokens.stall[at]
    monkeypatch.setattr("rcv_py.analysis.iterations.loop_summary._PLACES", 3 * len(trace.code))
    few = LOOPS.of(trace, batches).hits
    for made in (whole, few):
        np.testing.assert_array_equal(made.waves, expected[0])
        np.testing.assert_array_equal(made.first_stall, expected[1])
    np.testing.assert_array_equal(whole.stall, trace.code.stall)
