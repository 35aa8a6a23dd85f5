"""A pixel shows what a slow look at its cycles would show, at every zoom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.timeline import raster as module
from rcv_py.analysis.timeline.pixels import Pixels
from rcv_py.analysis.timeline.raster import RowSegment, TokenRow, raster, shares_in, tokens_in, visible_rows
from rcv_py.analysis.timeline.stack import stacked
from rcv_py.model.activity import ACTIVITIES, ACTIVITY_COUNT, ACTIVITY_OF
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.window import TimeWindow
from tests.support.drawing import tokens


def row(*made: Tokens, timeline: States | None = None) -> TokenRow:
    parts = []
    for one in made:
        begin = one.base + int(one.offset[0])
        length = int(one.end.max()) - one.base
        given = timeline or States(one.base, np.zeros(1, np.int32), np.full(1, 2, np.uint8), length)
        parts.append(RowSegment.of(one, given, None, TimeWindow(begin, int(one.end.max()))))
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


@given(bursts(), WINDOWS, st.integers(1, 200))
def test_a_picture_holds_the_cycles_of_the_window(made: Tokens, window: tuple[int, int], width: int) -> None:
    pixels = Pixels(TimeWindow(window[0], window[0] + window[1]), width)
    running = raster(visible_rows([row(made)], pixels)).kind[0].astype(int)
    share = np.diff(running, axis=1, prepend=0).sum(axis=0)
    seen = shares_in(row(made).segments[0], pixels.window) * window[1]
    wanted = np.zeros(ACTIVITY_COUNT)
    np.add.at(wanted, ACTIVITY_OF[:, :KIND_COUNT], seen)
    # A bucket that the window cuts counts by its mean.
    slack = 2 * max(1 << row(made).segments[0].lod.shift, pixels.cycles_per_px)
    assert np.abs(share / 255 * pixels.cycles_per_px - wanted).max() <= slack + window[1] / 255


@given(bursts(), st.integers(10_000, 12_000), st.integers(4, 60), st.integers(1, 3))
def test_deep_in_every_pixel_is_exact(made: Tokens, begin: int, width: int, scale: int) -> None:
    """At a cycle a pixel or less there is no reduction: each pixel is full of the token of its cycle."""
    pixels = Pixels(TimeWindow(begin, begin + width), width * scale)
    lines = stacked(raster(visible_rows([row(made)], pixels)).kind, 4, pixels)[0]
    for px in range(width * scale):
        time = begin + px // scale
        at = made.at(time)
        if at < 0 or time >= made.end[at]:
            wanted = ACTIVITY_COUNT
        else:
            is_stalled = time < int(made.start[at]) + int(made.stall[at])
            wanted = int(ACTIVITY_OF[int(is_stalled), made.kind[at]])
        assert lines[:, px].tolist() == [wanted] * 4


@given(bursts(has_lanes=True), st.integers(10_000, 12_000), st.integers(4, 60))
def test_overlapping_tokens_are_never_seen_as_idle(made: Tokens, begin: int, width: int) -> None:
    shares = raster(visible_rows([row(made)], Pixels(TimeWindow(begin, begin + width), width))).kind[0]
    for px, running in enumerate(shares.astype(int)):
        here = (made.start <= begin + px) & (made.end > begin + px)
        assert (running[-1] >= 250) == bool(here.any())
        drawn = np.flatnonzero(np.diff(running, prepend=0))
        assert set(drawn.tolist()) <= set(ACTIVITY_OF[:, made.kind[here]].reshape(-1).tolist())


def test_many_waves_of_a_row_cost_one_look_up_and_are_all_there() -> None:
    many = row(*(tokens("vV" * 200, base=100_000 * i) for i in range(50)))
    filled = raster(visible_rows([many], Pixels(TimeWindow(0, 5_000_000), 1000))).kind[0, :, -1].astype(int)
    drawn = np.flatnonzero(filled)
    assert sorted({round(px / 20) for px in drawn.tolist()}) == list(range(50))
    assert abs(filled.sum() / 255 * 5000 - 50 * 400) <= 0.1 * 50 * 400


@pytest.mark.parametrize("most", [10, 10**6])
def test_too_many_tokens_show_buckets_of_the_same_shares(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SPANS", most)
    made = row(tokens("vvVVVV..llllLLLL" * 400))
    pixels = Pixels(TimeWindow(0, 6400), 1600)
    running = raster(visible_rows([made], pixels)).kind[0].astype(int)
    share = np.diff(running, axis=1, prepend=0).mean(axis=0) / 255
    expected = {(TokenKind.VALU, True): 2, (TokenKind.VALU, False): 4, (TokenKind.LDS, True): 4}
    for activity, part in expected.items():
        assert abs(share[ACTIVITIES.index(activity)] - part / 16) <= 1 / 255


def test_a_pixel_knows_how_many_tokens_it_holds() -> None:
    segment = row(tokens("V|V|V|V....llLL")).segments[0]
    windows = (TimeWindow(*ends) for ends in ((0, 4), (1, 3), (4, 8), (5, 9), (10, 11)))
    assert [tokens_in(segment, window) for window in windows] == [4, 2, 0, 1, 1]


def test_tokens_are_wide_when_zoomed_in() -> None:
    made = row(tokens("vvvvVVVVllllLLLL" * 50))
    near = visible_rows([made], Pixels(TimeWindow(0, 100), 400))
    far = visible_rows([made], Pixels(TimeWindow(0, 800), 100))
    assert near.wide() == near.pieces != []
    assert far.wide() == [] != far.pieces
    assert near.wide(most=5) == []
    assert not raster(near, without=near.pieces).kind.any()


@given(st.integers(-500, 500), st.integers(1, 5000), st.integers(1, 700), st.integers(-600, 5600))
def test_a_time_lies_between_the_edges_of_its_pixel(begin: int, width: int, width_px: int, time: int) -> None:
    pixels = Pixels(TimeWindow(begin, begin + width), width_px)
    px = pixels.at(time)
    if 0 <= px < width_px:
        assert pixels.edges[px] <= time < max(pixels.edges[px + 1], pixels.edges[px] + 1)


def test_a_row_that_grew_shows_what_it_would_show_if_it_were_joined_anew() -> None:
    parts = row(*(tokens("vV" * 200, base=100_000 * i) for i in range(40))).segments
    known = TokenRow(parts[:25]).parts[0]
    grown = TokenRow(parts, known)
    assert [len(part.segments) for part in grown.parts] == [25, 15]
    pixels = Pixels(TimeWindow(0, 4_000_000), 1000)
    view = visible_rows([grown], pixels)
    assert [lod for _, lod in view.tables] == [part.lod for part in grown.parts], "a look-up a part"
    anew, here = (raster(visible_rows([one], pixels)).kind[0].astype(int) for one in (TokenRow(parts), grown))
    assert np.abs(anew.sum(axis=0) - here.sum(axis=0)).max() <= 0.02 * anew[:, -1].sum()
    assert np.flatnonzero(anew[:, -1]).tolist() == np.flatnonzero(here[:, -1]).tolist()
    assert grown.visible(TimeWindow(400_000, 600_001)) == parts[4:7]
