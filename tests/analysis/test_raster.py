"""A pixel shows what a slow look at its cycles would show, at every zoom."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.timeline.pixel_codes import Pixels
from rcv_py.analysis.timeline.raster import Segment, TokenRow, is_wide, raster, tokens_in
from rcv_py.model.kinds import TokenKind, WaveState
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.waves import NOTHING, STALLED
from rcv_py.model.window import TimeWindow
from tests.support.drawing import states, tokens


def row(*made: Tokens, timeline: States | None = None) -> TokenRow:
    parts = []
    for one in made:
        begin = one.base + int(one.offset[0])
        length = int(one.end.max()) - one.base
        given = timeline or States(one.base, np.zeros(1, np.int32), np.full(1, 2, np.uint8), length)
        parts.append(Segment.of(one, given, None, TimeWindow(begin, int(one.end.max()))))
    return TokenRow(tuple(parts))


@st.composite
def bursts(draw: st.DrawFn, has_lanes: bool = False) -> Tokens:
    """Tokens with long gaps and long waits between bursts of short ones."""
    cell = st.tuples(st.sampled_from([0, 0, 0, 3, 900]), st.sampled_from([0, 1, 40, 700]), st.integers(1, 9))
    rows = draw(st.lists(cell, min_size=1, max_size=60))
    gap, stall, busy = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    length = stall + busy
    offset = np.cumsum(gap + (length // 3 if has_lanes else length)) - length // (3 if has_lanes else 1)
    lane = lanes(offset, offset + length) if has_lanes else None
    kind = draw(st.lists(st.sampled_from([2, 5, 6, 9]), min_size=len(rows), max_size=len(rows)))
    columns = (offset.astype(np.int32), stall.astype(np.int32), busy.astype(np.int32))
    return Tokens(10_000, *columns, np.array(kind, np.uint8), np.zeros(len(rows), np.int32), lane)


WINDOWS = st.tuples(st.integers(9_000, 60_000), st.integers(16, 60_000))


@given(st.lists(bursts(), min_size=1, max_size=1), WINDOWS, st.integers(1, 200))
def test_every_busy_pixel_is_drawn_and_no_idle_one_far_from_a_token(
    made: list[Tokens], window: tuple[int, int], width: int
) -> None:
    pixels = Pixels(TimeWindow(window[0], window[0] + window[1]), width)
    codes = raster([row(*made)], pixels).code[0]
    start, end = made[0].start, made[0].end
    # A bucket belongs to the pixel in which it starts: it is drawn within its own width of its tokens.
    reach = max(1 << row(*made).segments[0].lod.shift, int(pixels.cycles_per_px) + 1)
    for px, code in enumerate(codes.tolist()):
        low, high = int(pixels.edges[px]), max(int(pixels.edges[px + 1]), int(pixels.edges[px]) + 1)
        near = (start < high + reach) & (end > low - reach)
        if code != NOTHING:
            assert near.any()
            assert code & 15 in made[0].kind[(start < high + 2 * reach) & (end > low - 2 * reach)]
    slack = -(-reach // max(1, int(pixels.cycles_per_px))) + 1
    drawn = np.flatnonzero(codes != NOTHING)
    for begin, stop in zip(start.tolist(), end.tolist(), strict=True):
        first, last = pixels.part(begin, stop)
        if first < last and 0 <= pixels.at(begin) < width:
            assert np.any((drawn >= first - slack) & (drawn < last + slack)), "a token is not drawn"


@given(bursts(), st.integers(10_000, 12_000), st.integers(4, 60), st.integers(1, 3))
def test_deep_in_every_pixel_is_exact(made: Tokens, begin: int, width: int, scale: int) -> None:
    """At a cycle a pixel or less there is no reduction: each pixel shows the token of its cycle."""
    pixels = Pixels(TimeWindow(begin, begin + width), width * scale)
    codes = raster([row(made)], pixels).code[0]
    for px, code in enumerate(codes.tolist()):
        time = int(pixels.edges[px])
        at = made.at(time)
        if at < 0 or time >= made.end[at]:
            assert code == NOTHING
        else:
            is_stalled = time < int(made.start[at]) + int(made.stall[at])
            assert code == int(made.kind[at]) | (STALLED if is_stalled else 0)


@given(bursts(has_lanes=True), st.integers(10_000, 12_000), st.integers(4, 60))
def test_overlapping_tokens_are_never_seen_as_idle(made: Tokens, begin: int, width: int) -> None:
    codes = raster([row(made)], Pixels(TimeWindow(begin, begin + width), width)).code[0]
    for px, code in enumerate(codes.tolist()):
        running = (made.start <= begin + px) & (made.end > begin + px)
        assert (code != NOTHING) == bool(running.any())
        if code != NOTHING:
            assert code & 15 in made.kind[running]


def test_a_lone_token_of_a_long_row_is_drawn_at_every_zoom() -> None:
    lone = row(tokens("L" * 4, base=500_000), tokens("V" * 4, base=900_000))
    for width in (100, 1000, 10_000, 100_000, 1_000_000, 10_000_000):
        pixels = Pixels(TimeWindow(500_002 - width // 2, 500_002 + width - width // 2), 500)
        codes = raster([lone], pixels).code[0]
        assert TokenKind.LDS in codes
        assert abs(int(np.flatnonzero(codes == TokenKind.LDS)[0]) - pixels.at(500_000)) <= 32


def test_many_waves_of_a_row_cost_one_look_up_and_are_all_there() -> None:
    many = row(*(tokens("vV", base=100_000 * i) for i in range(50)))
    codes = raster([many], Pixels(TimeWindow(0, 5_000_000), 1000)).code[0]
    drawn = np.flatnonzero(codes != NOTHING)
    assert len(drawn) == 50
    assert np.abs(drawn - np.arange(0, 1000, 20)).max() <= 1  # a bucket is drawn where it starts


@given(st.integers(0, 400), st.integers(16, 900), st.integers(1, 300))
def test_state_shares_of_a_row_follow_its_states(begin: int, width: int, width_px: int) -> None:
    drawing = "I" * 100 + "E" * 50 + "W" * 200 + "S" * 50 + "E" * 5 + "W" * 95
    made = row(tokens("V" * 500), timeline=states(drawing))
    pixels = Pixels(TimeWindow(begin, begin + width), width_px)
    share = raster([made], pixels).share[0].astype(int)
    assert share.sum(axis=1).max() <= 255
    for state in (WaveState.WAIT, WaveState.EXEC):
        wanted = np.array([letter == state.name[0] for letter in drawing])[begin : begin + width].sum()
        seen = share[:, state - 1].sum() / 255 * pixels.cycles_per_px
        assert abs(seen - wanted) <= 4 * max(16, pixels.cycles_per_px) + 0.02 * width


def test_a_pixel_knows_how_many_tokens_it_holds() -> None:
    segment = row(tokens("V|V|V|V....llLL")).segments[0]
    assert [tokens_in(segment, TimeWindow(a, b)) for a, b in ((0, 4), (1, 3), (4, 8), (5, 9), (10, 11))] == [
        4,
        2,
        0,
        1,
        1,
    ]


def test_tokens_are_wide_when_zoomed_in() -> None:
    segment = row(tokens("vvvvVVVVllllLLLL" * 50)).segments[0]
    assert is_wide(segment, Pixels(TimeWindow(0, 100), 400))
    assert not is_wide(segment, Pixels(TimeWindow(0, 800), 100))


@given(st.integers(-500, 500), st.integers(1, 5000), st.integers(1, 700), st.integers(-600, 5600))
def test_a_time_lies_between_the_edges_of_its_pixel(begin: int, width: int, width_px: int, time: int) -> None:
    pixels = Pixels(TimeWindow(begin, begin + width), width_px)
    px = pixels.at(time)
    if 0 <= px < width_px:
        assert pixels.edges[px] <= time < max(pixels.edges[px + 1], pixels.edges[px] + 1)
