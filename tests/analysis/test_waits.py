"""Arrows from waits to what they wait for, and from branches to where they went."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.program.branches import branches
from rcv_py.analysis.waits.program_waits import ARROW_COLORS, arrows, wait_pairs
from tests.analysis import build
from tests.analysis.in_memory import jumps


def placed(pairs: list[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, bool]]:
    """Slot and interior flag of each arrow."""
    wait, producer = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in (0, 1))
    table = arrows(wait, producer)
    rows = zip(table.wait.tolist(), table.producer.tolist(), strict=True)
    return dict(zip(rows, zip(table.slot.tolist(), table.is_interior.tolist(), strict=True), strict=True))


def test_pairs_are_distinct_and_never_with_oneself_or_with_nothing() -> None:
    waits = build.waits([(5, [3, 2]), (5, [3]), (7, [7, -1, 6]), (-1, [1])])
    wait, producer = wait_pairs(waits)
    assert list(zip(wait.tolist(), producer.tolist(), strict=True)) == [(5, 2), (5, 3), (7, 6)]


@pytest.mark.parametrize(
    "expected",
    [
        {(5, 4): (0, True), (5, 3): (1, True), (5, 2): (2, True)},  # interior arrows go outward
        {(5, 4): (0, True), (5, 8): (0, True), (5, 9): (1, True)},  # up and down have slots of their own
        {(4, 3): (0, True), (6, 1): (2, False)},  # round another wait, which holds 0, and 1 beside it
    ],
)
def test_arrows_lie_beside_each_other(expected: dict[tuple[int, int], tuple[int, bool]]) -> None:
    assert placed(sorted(expected)) == expected


def test_arrows_of_one_wait_share_a_color_and_colors_come_round() -> None:
    wait = np.repeat(np.arange(2, 60, 3, dtype=np.int32), 2)
    table = arrows(wait, wait - np.tile([1, 2], len(wait) // 2).astype(np.int32))
    for line in np.unique(table.wait):
        assert len(np.unique(table.color[table.wait == line])) == 1
    assert set(table.color.tolist()) == set(range(ARROW_COLORS))


@given(st.sets(st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda p: p[0] != p[1]), max_size=40))
def test_no_two_arrows_share_a_slot_where_one_goes_round(pairs: set[tuple[int, int]]) -> None:
    found = placed(sorted(pairs))
    assert set(found) == pairs
    far = {pair: slot for pair, (slot, is_interior) in found.items() if not is_interior}
    for one, slot in far.items():
        assert slot >= 1
        for other, (taken, _) in found.items():
            crosses = max(min(one), min(other)) <= min(max(one), max(other))
            assert one == other or slot != taken or not crosses, (one, other)


CODE = build.code(["v_a", "s_cbranch_scc1 1", "v_b", "s_setpc_b64 s[0:1]", "s_set_gpr"])


def test_a_jump_goes_to_the_line_of_the_next_token() -> None:
    wave = build.wave("V|J|V|J|V|N|V", [0, 1, 0, 1, 2, 1, 2])
    found = branches([wave], CODE)
    assert found.source.tolist() == [1, 1]
    assert found.target.tolist() == [0, 2]
    assert found.taken.tolist() == [1, 1]
    assert found.not_taken.tolist() == [1, 1]


def test_a_jump_at_the_end_of_a_wave_goes_nowhere_and_not_into_the_next_wave() -> None:
    ends, begins = build.wave("V|J", [0, 1], row=0), build.wave("V|J|V", [2, 1, 0], row=1)
    found = jumps([build.batch(ends, begins)], CODE)
    assert (found.source.tolist(), found.target.tolist(), found.taken.tolist()) == ([1], [0], [1])
    assert len(jumps([build.batch(ends, begins)], CODE, rows={0})) == 0


def test_writing_the_program_counter_is_a_jump_and_unknown_lines_are_not() -> None:
    found = branches([build.wave("S|V|S|V|J|V|V", [3, 2, 4, 2, -1, 0, -1])], CODE)
    assert (found.source.tolist(), found.target.tolist()) == ([3], [2])
    assert len(branches([build.wave("J|V", [1, -1])], CODE)) == 0
