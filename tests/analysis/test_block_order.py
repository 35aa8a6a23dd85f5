"""Orders of instructions in a block: lengths by hand, and what every schedule must keep."""

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcv_py.analysis.program.block_order import (
    NO_KIND,
    BlockInstructions,
    dependencies,
    length,
    moves,
    scheduled,
)
from rcv_py.analysis.waits.wait_latency import LATENCIES
from rcv_py.analysis.whatif.block_schedule import BlockSchedule, block_schedules
from tests.support.opened import all_waves, sample_trace
from tests.support.pattern_kernels import ARITHMETIC, captured, loop

LOAD, MATH, STORE, FENCE = range(4)
Instruction = tuple[int, int, int, int]  # what it is, what it reads, what it writes, and its latency


def work(*instructions: Instruction) -> BlockInstructions:
    kind = [one for one, *_ in instructions]
    return BlockInstructions(
        row=tuple(range(len(instructions))),
        reads=tuple(reads for _, reads, _, _ in instructions),
        writes=tuple(writes for _, _, writes, _ in instructions),
        busy=(4,) * len(instructions),
        unit=tuple(1 if one == MATH else 2 for one in kind),
        hold=(4,) * len(instructions),
        result=tuple(latency for *_, latency in instructions),
        kind=tuple(7 if one == LOAD else NO_KIND for one in kind),
        loads=tuple(int(one == LOAD) for one in kind),
        stores=tuple(int(one == STORE) for one in kind),
        is_fence=tuple(one == FENCE for one in kind),
    )


A, B, C, D = 1, 2, 4, 8
LATE = ((MATH, 0, A, 0), (MATH, 0, B, 0), (LOAD, D, C, 100), (MATH, C, A, 0))


def test_length_by_hand() -> None:
    # Two of 4 cycles, a load at 8 that returns at 108, its reader until 112.
    assert length(work(*LATE), (0, 1, 2, 3)) == 112
    # The load first: it returns at 100, the reader ends at 104.
    assert length(work(*LATE), (2, 0, 1, 3)) == 104
    assert length(work(*LATE), scheduled(work(*LATE))) == 104
    (move,) = moves(work(*LATE))
    assert (move.at, move.before, move.saved) == (2, 0, 8)


def test_loads_return_in_order() -> None:
    slow_first = work((LOAD, 0, A, 200), (LOAD, 0, B, 50), (MATH, B, C, 0))
    assert length(slow_first, (0, 1, 2)) == 200 + 4
    assert scheduled(slow_first) == [1, 0, 2], "what is needed first is issued first"
    assert length(slow_first, (1, 0, 2)) == 50 + 4


def test_iterations_of_a_loop_overlap() -> None:
    """A load at the end is waited for at the begin of the next iteration."""
    loop = work((MATH, A, B, 0), (MATH, 0, C, 0), (LOAD, D, A, 100))
    assert length(loop, (0, 1, 2)) == 12
    assert length(loop, (0, 1, 2), turns=3) == 108  # 8 is when the load issues; at 108 the next one begins


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((MATH, 0, A, 0), (MATH, A, B, 0)),
        ((MATH, A, B, 0), (MATH, 0, A, 0)),
        ((MATH, 0, A, 0), (MATH, 0, A, 0)),
        ((STORE, A, 0, 0), (LOAD, 0, B, 9)),
        ((LOAD, 0, B, 9), (STORE, A, 0, 0)),
        ((STORE, A, 0, 0), (STORE, B, 0, 0)),
        ((FENCE, 0, 0, 0), (MATH, 0, A, 0)),
        ((MATH, 0, A, 0), (FENCE, 0, 0, 0)),
    ],
)
def test_what_stays_before_what(first: Instruction, second: Instruction) -> None:
    assert dependencies(work(first, second)) == [[], [0]]


def test_what_is_free() -> None:
    assert dependencies(work((LOAD, D, A, 9), (LOAD, D, B, 9), (MATH, C, C, 0))) == [[], [], []]


def conflict(one: Instruction, other: Instruction) -> bool:
    """Whether two instructions must keep their order, by the definition and not by our code."""
    (kind, reads, writes, _), (kind2, reads2, writes2, _) = one, other
    is_register = writes & (reads2 | writes2) or reads & writes2
    is_memory = STORE in (kind, kind2) and {kind, kind2} <= {LOAD, STORE}
    return bool(is_register or is_memory or FENCE in (kind, kind2))


SET = st.integers(0, 63)  # of registers
INSTRUCTION = st.tuples(st.integers(0, 3), SET, SET, st.sampled_from((0, 20, 300)))
INSTRUCTIONS = st.lists(INSTRUCTION, max_size=24)


@given(INSTRUCTIONS, st.sampled_from((1, 3)))
@settings(max_examples=150, deadline=None)
def test_every_dependency_is_kept_and_no_schedule_is_longer(found: list[Instruction], turns: int) -> None:
    made = work(*found)
    order = scheduled(made, turns)
    assert sorted(order) == list(range(len(found)))
    place = {at: turn for turn, at in enumerate(order)}
    for at in range(len(found)):
        for before in range(at):
            if conflict(found[before], found[at]):
                assert place[before] < place[at]
    assert length(made, order, turns) <= length(made, range(len(found)), turns)


@given(st.lists(INSTRUCTIONS.map(lambda made: made[:1]).filter(bool), min_size=2, max_size=6))
@settings(max_examples=40, deadline=None)
def test_small_blocks_come_near_the_best_order_that_there_is(found: list[list[Instruction]]) -> None:
    made = work(*(one for (one,) in found))
    needs = dependencies(made)
    legal = [
        order
        for order in permutations(range(len(made)))
        if all(order.index(before) < order.index(at) for at in order for before in needs[at])
    ]
    best = min(length(made, order) for order in legal)
    assert best <= length(made, scheduled(made)) <= 2 * best


def schedules(name: str) -> tuple[tuple[str, ...], list[BlockSchedule]]:
    """The program of a sample, and what block schedules say of it."""
    trace = sample_trace(name)
    known = LATENCIES.of(trace, [all_waves(trace)])
    return trace.code.text, block_schedules(trace, trace.code, known)


@pytest.mark.parametrize(("waited", "reads"), [("lgkmcnt(0)", True), ("vmcnt(0)", False), ("", False)])
def test_a_barrier_needs_what_a_wait_above_it_requires(waited: str, reads: bool, tmp_path: Path) -> None:
    """The result is read below the barrier, but after it other waves overwrite the source."""
    wait = f"s_waitcnt {waited}" if waited else ""
    body = f"ds_read_b128 v[4:7], v1\n{wait}\ns_barrier\n{ARITHMETIC}\ns_waitcnt lgkmcnt(0)"
    body += "\nv_mov_b32_e32 v2, v4"
    trace, batch = captured(loop(body), tmp_path)
    (found,) = block_schedules(trace, trace.code, LATENCIES.of(trace, [batch]))
    latency = min(LATENCIES.of(trace, [batch]).median)
    assert latency > 60
    assert (found.best >= latency + 12 * 4) == reads


def test_the_load_that_is_issued_too_late_is_moved_up() -> None:
    """The simulator has the same loop with that load moved by hand, which no order found may lose to."""
    text, found = schedules("tutorial_before")
    loop = max(found, key=lambda one: one.hits)
    _, improved = schedules("tutorial_after")
    by_hand = max(improved, key=lambda one: one.hits)
    assert (text[loop.last].split()[0], loop.hits) == ("s_cbranch_scc1", 64 * 24), "waves times rounds"
    assert [text[row] for row, _, _ in loop.moves] == ["global_load_dword v12, v6, s[8:9]"]
    assert loop.bound == by_hand.bound <= loop.best <= by_hand.length < loop.length < loop.measured


@pytest.mark.parametrize("name", ["groups_512", "matmul_small"])
def test_nothing_crosses_a_barrier(name: str) -> None:
    text, found = schedules(name)
    barriers = 0
    for one in found:
        place = {row: turn for turn, row in enumerate(one.order)}
        for at in [row for row in one.order if text[row].startswith("s_barrier")]:
            barriers += 1
            accesses = [row for row in one.order if text[row].startswith("ds_")]
            assert accesses
            assert all((place[row] < place[at]) == (row < at) for row in accesses)
    assert barriers
