"""Who lived where and when."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.core.occupancy import all_resident, global_rows, residencies, resident
from rcv_py.model.device import WaveEvents
from rcv_py.model.ids import SlotId
from tests.analysis import build


def events(*slots: str) -> WaveEvents:
    """One text a slot: `(` a start, `)` an end, `x` an end and a start; the place is the time."""
    rows = []
    for slot, text in enumerate(slots):
        for time, letter in enumerate(text):
            rows += [(time, 0, 0, 1, 0, slot, 1)] * (letter in ")x")
            rows += [(time, 1, 0, 1, 0, slot, 1 + slot)] * (letter in "(x")
    return build.events(rows)


def lives(table: WaveEvents) -> list[tuple[int, int, int, bool, bool]]:
    """(slot, begin, end, open at the start, open at the end)."""
    found = residencies(table)
    columns = (found.slot, found.begin, found.end, found.is_open_start, found.is_open_end)
    return list(zip(*(column.tolist() for column in columns), strict=True))


LIVES = {  # drawings of slots, and their lives
    "a start and the next end": (
        ["( )  ( )", " (   ) "],
        [(0, 0, 2, False, False), (0, 5, 7, False, False), (1, 1, 5, False, False)],
    ),
    "a wave follows another at once": (["( x )"], [(0, 0, 2, False, False), (0, 2, 4, False, False)]),
    "a start closes what was there": (["( ( )"], [(0, 0, 2, False, True), (0, 2, 4, False, False)]),
    "a wave without an end": (["(", "  ( )"], [(0, 0, 4, False, True), (1, 2, 4, False, False)]),
    "a wave that was there before": (
        ["   )  ( )", "( )"],
        [(0, 0, 3, True, False), (0, 6, 8, False, False), (1, 0, 2, False, False)],
    ),
    "a second end in a row": (["( ) )"], [(0, 0, 2, False, False)]),
}


@pytest.mark.parametrize("name", LIVES)
def test_lives_are_those_of_the_drawing(name: str) -> None:
    slots, expected = LIVES[name]
    assert lives(events(*slots)) == expected


def test_a_wave_without_an_end_lasts_as_long_as_traced_waves_do() -> None:
    table = replace(events("(", "  ( )"), stop=9)
    assert lives(table) == [(0, 0, 9, False, True), (1, 2, 4, False, False)]


def test_a_wave_without_a_start_began_as_early_as_traced_waves_did() -> None:
    table = replace(events(" )", "  ( )"), start=-5)
    assert lives(table) == [(0, -5, 1, True, False), (1, 2, 4, False, False)]


def test_there_is_one_point_a_time() -> None:
    ours = all_resident(events("( x )", "(   )"))
    assert (ours.time.tolist(), ours.value.tolist()) == ([0, 2, 4], [2, 2, 0])
    assert [ours.at(time) for time in (-1, 0, 3, 4)] == [None, 2, 2, 0]


def test_curves_by_kernel_take_the_kernel_of_the_start() -> None:
    found = residencies(events("( )", "(    )"))
    curves = resident(found, found.kernel)
    assert {kernel: curve.area for kernel, curve in curves.items()} == {1: 2, 2: 5}


def test_nothing_happened() -> None:
    table = events()
    assert lives(table) == []
    assert all_resident(table) is None
    assert global_rows(residencies(table))[0] == ()


@st.composite
def any_events(draw: st.DrawFn) -> WaveEvents:
    """Starts and ends in no sensible order."""
    row = st.tuples(*(st.integers(0, most) for most in (30, 1, 2, 1, 0, 2)))
    return build.events([(*one, 1) for one in draw(st.lists(row, max_size=30))])


@given(any_events(), st.sampled_from(["se", "kernel"]))
def test_the_area_under_the_curves_is_the_length_of_all_lives(table: WaveEvents, by: str) -> None:
    found = residencies(table)
    assert (found.end >= found.begin).all()
    curves = resident(found, getattr(found, by)).values()
    area = sum(curve.area for curve in curves)
    assert area == int((found.end - found.begin).sum())
    assert all(curve.value[-1] == 0 and curve.value.min() >= 0 for curve in curves)


@given(any_events())
def test_lives_of_one_row_do_not_overlap_and_rows_are_sorted(table: WaveEvents) -> None:
    found = residencies(table)
    slots, row = global_rows(found)
    assert list(slots) == sorted(set(slots))
    for number in range(len(slots)):
        own = np.flatnonzero(row == number)
        assert (found.begin[own][1:] >= found.end[own][:-1]).all()
        assert {(found.se[i], found.slot[i]) for i in own} == {(slots[number].se, slots[number].slot)}


@pytest.mark.parametrize("slot", [0, 31, 4095])
def test_a_slot_is_named_in_full(slot: int) -> None:
    table = build.events([(0, 1, 3, 7, 2, slot, 1), (5, 0, 3, 7, 2, slot, 1)])
    assert global_rows(residencies(table))[0] == (SlotId(3, 0, 7, 2, slot),)
