"""Rows drawn together look as each does alone, and as a slow look at their cycles."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.timeline import pixel_codes
from rcv_py.analysis.timeline.pixel_codes import Pixels, StatePart, TokenPart, put_shares
from rcv_py.model.tokens import States, Tokens, find
from rcv_py.model.waves import NOTHING
from rcv_py.model.window import TimeWindow

CELLS = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 0, 4, 900]),
        st.sampled_from([0, 1, 40, 70_000]),
        st.integers(0, 9),
        st.sampled_from([2, 5, 6, 99]),
    ),
    min_size=1,
    max_size=40,
)


@st.composite
def waves(draw: st.DrawFn) -> Tokens:
    gap, stall, busy, kind = (np.array(column) for column in zip(*draw(CELLS), strict=True))
    length = np.maximum(stall + busy, 1)
    offset = np.cumsum(gap + length) - length
    columns = (column.astype(np.int32) for column in (offset, stall, busy))
    return Tokens(draw(st.integers(0, 5000)), *columns, kind.astype(np.uint8), np.zeros(len(gap), np.int32))


@st.composite
def views(draw: st.DrawFn) -> tuple[Pixels, int, int]:
    """A view, and the pixels [first, stop) of a part of it."""
    width = draw(st.integers(1, 120))
    begin, cycles = draw(st.integers(0, 9000)), draw(st.integers(1, 200_000))
    first = draw(st.integers(0, width - 1))
    pixels = Pixels(TimeWindow(begin, begin + max(cycles, width)), width)
    return pixels, first, draw(st.integers(first + 1, width))


def pieces(made: list[Tokens], view: Pixels, first: int, stop: int) -> list[TokenPart]:
    parts = [(first, stop), (0, view.width_px)]
    cut = [parts[i % 2] for i in range(len(made))]
    return [
        TokenPart(
            tokens,
            tokens.rows_in(TimeWindow(int(view.edges[a]), int(view.edges[b]))),
            a,
            np.full(b - a, NOTHING, np.uint8),
        )
        for tokens, (a, b) in zip(made, cut, strict=True)
    ]


@given(st.lists(waves(), min_size=1, max_size=4), views())
def test_rows_drawn_together_look_as_each_alone(made: list[Tokens], where: tuple[Pixels, int, int]) -> None:
    together, alone = pieces(made, *where), pieces(made, *where)
    pixel_codes.put_codes(together, where[0])
    for piece in alone:
        if piece.rows.start < piece.rows.stop:
            pixel_codes.put_one(piece, where[0])
    for one, other in zip(together, alone, strict=True):
        assert one.codes.tolist() == other.codes.tolist()


def test_a_wave_longer_than_32_bits_of_cycles_is_drawn() -> None:
    columns = [np.array(column, np.int32) for column in ([0, 2_000_000_000], [0, 0], [9, 2_000_000_000])]
    tokens = Tokens(0, *columns, np.array([2, 5], np.uint8), np.zeros(2, np.int32))
    view = Pixels(TimeWindow(3_000_000_000, 3_000_001_000), 10)
    codes = np.full(10, NOTHING, np.uint8)
    pixel_codes.put_codes([TokenPart(tokens, slice(1, 2), 0, codes)], view)
    assert codes.tolist() == [5] * 10


TIMELINE = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 4)), min_size=1, max_size=30)


@given(st.lists(st.tuples(st.integers(0, 3000), TIMELINE), min_size=1, max_size=4), views())
def test_shares_are_the_cycles_of_each_state(
    made: list[tuple[int, list[tuple[int, int]]]], where: tuple[Pixels, int, int]
) -> None:
    view, first, stop = where
    timelines = [timeline(base, cells) for base, cells in made]
    parts = [
        StatePart(
            one,
            slice(0, find(one.offset, int(view.edges[stop]) - one.base + 1, "left")),
            first,
            np.zeros((stop - first, 4), np.uint8),
        )
        for one in timelines
    ]
    put_shares(parts, view)
    for one, part in zip(timelines, parts, strict=True):
        cycle = np.repeat(one.state, one.duration)  # of every cycle since the base
        for px, share in enumerate(part.shares.tolist(), first):
            begin, end = (int(edge) - one.base for edge in view.edges[px : px + 2])
            if view.window.width < 4 * view.width_px:
                end = begin + 1
            inside = cycle[max(0, begin) : max(0, end)]
            count = [int((inside == state).sum()) * 255 // (end - begin) for state in (1, 2, 3, 4)]
            assert share == count


def timeline(base: int, cells: list[tuple[int, int]]) -> States:
    length, state = (np.array(column) for column in zip(*cells, strict=True))
    offset = (np.cumsum(length) - length).astype(np.int32)
    return States(base, offset, state.astype(np.uint8), int(length.sum()))
