"""Shares of pixels sum to the cycles of a row, at every zoom and by every way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.timeline.pixels import PARTS, Pixels, SpanPart, TablePart, put_spans, put_table
from rcv_py.analysis.timeline.raster import RowSegment, TokenRow, raster, shares_in, visible_rows
from rcv_py.analysis.timeline.stack import stacked
from rcv_py.model.activity import ACTIVITIES, ACTIVITY_COUNT, ACTIVITY_OF, STATE_ORDER
from rcv_py.model.kinds import TokenKind
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.window import TimeWindow
from tests.support.drawing import states, tokens

CHOICES = ([0, 0, 0, 4, 900], [0, 1, 40, 70_000], range(10), [2, 5, 6, 9, 13, 99])  # gap, stall, issue, kind
CELLS = st.lists(st.tuples(*map(st.sampled_from, CHOICES)), min_size=1, max_size=40)
NO_STATES = States(0, np.zeros(0, np.int32), np.zeros(0, np.uint8), 0)


@st.composite
def waves(draw: st.DrawFn, overlap: int = 0) -> Tokens:
    gap, stall, busy, kind = (np.array(column) for column in zip(*draw(CELLS), strict=True))
    length = np.maximum(stall + busy, 1)
    offset = np.cumsum(gap + length) - length
    offset = np.maximum.accumulate(np.maximum(offset - overlap, 0))
    columns = (column.astype(np.int32) for column in (offset, stall, busy))
    return Tokens(draw(st.integers(0, 5000)), *columns, kind.astype(np.uint8), np.zeros(len(gap), np.int32))


@st.composite
def views(draw: st.DrawFn) -> tuple[Pixels, int, int]:
    """A view, and the pixels [first, stop) of a part of it."""
    width = draw(st.integers(1, 120))
    begin, cycles = draw(st.integers(0, 9000)), draw(st.integers(1, 200_000))
    first = draw(st.integers(0, width - 1))
    return Pixels(TimeWindow(begin, begin + cycles), width), first, draw(st.integers(first + 1, width))


def slow(made: Tokens, begin: float, end: float) -> np.ndarray:
    """Cycles of each activity between two times, token by token; a token ends where the next one begins."""
    cycles = np.zeros(ACTIVITY_COUNT)
    for row in range(len(made)):
        start = made.base + int(made.offset[row])
        stop = start + max(1, int(made.stall[row]) + int(made.busy[row]))
        if row + 1 < len(made):
            stop = min(stop, made.base + int(made.offset[row + 1]))
        issue = min(start + int(made.stall[row]), stop)
        for is_stall, low, high in ((True, start, issue), (False, issue, stop)):
            cycles[ACTIVITY_OF[int(is_stall), made.kind[row]]] += max(0, min(high, end) - max(low, begin))
    return cycles


def row(made: Tokens, timeline: States = NO_STATES) -> TokenRow:
    end = max(int(made.end.max()), timeline.base + timeline.length)
    window = TimeWindow(made.base + int(made.offset[0]), end)
    return TokenRow((RowSegment.of(made, timeline, None, window),))


@given(waves() | waves(overlap=3), views())
def test_the_shares_of_tokens_are_their_cycles(made: Tokens, where: tuple[Pixels, int, int]) -> None:
    pixels, first, stop = where
    window = TimeWindow(int(pixels.edges[first]), int(pixels.edges[stop]) + 1)
    picture = np.zeros((1, pixels.width_px, ACTIVITY_COUNT), np.uint8)
    put_spans([SpanPart(made, made.rows_in(window), 0, first, stop)], picture, pixels)
    shares = picture[0, first:stop]
    assert shares.sum() == picture.sum()
    assert np.all(np.diff(shares.astype(int), axis=1) >= 0)
    each = pixels.cycles_per_px
    for px, running in enumerate(shares.astype(int), first):
        begin = pixels.window.begin + px * each
        wanted = 255 * np.cumsum(slow(made, begin, begin + each)) / each
        assert np.abs(running - wanted).max() <= 1.01 * ACTIVITY_COUNT / 2 + 0.01
        assert abs(running[-1] - wanted[-1]) <= 1.01 + len(made)
    total = np.cumsum(slow(made, pixels.window.begin + first * each, pixels.window.begin + stop * each))
    assert np.abs(shares.astype(int).sum(axis=0) - 255 * total / each).max() <= 1 + len(made)


def test_every_kind_shows_its_stall_and_its_execution() -> None:
    """Each number that a file may hold, with 4 cycles of stall and 8 of execution, at 4 cycles a pixel."""
    kind = np.arange(256)
    columns = (kind * 12, np.full(256, 4), np.full(256, 8))
    made = Tokens(0, *(column.astype(np.int32) for column in columns), kind.astype(np.uint8), kind)
    picture = np.zeros((1, 3 * 256, ACTIVITY_COUNT), np.uint8)
    pixels = Pixels(TimeWindow(0, 12 * 256), 3 * 256)
    put_spans([SpanPart(made, slice(0, 256), 0, 0, 3 * 256)], picture, pixels)
    execution, stall = ACTIVITY_OF
    shown = np.stack([stall, execution, execution], axis=1).reshape(-1, 1)
    assert picture[0].tolist() == np.where(np.arange(ACTIVITY_COUNT) >= shown, 255, 0).tolist()


def test_a_token_ends_where_the_next_one_begins() -> None:
    """Cut in its execution, cut in its stall, and whole."""
    columns = [[0, 8, 12], [2, 8, 0], [20, 8, 4]]
    columns = (np.array(column, np.int32) for column in columns)
    made = Tokens(0, *columns, np.full(3, 6, np.uint8), np.zeros(3, np.int32))
    picture = np.zeros((1, 10, ACTIVITY_COUNT), np.uint8)
    put_spans([SpanPart(made, slice(0, 3), 0, 0, 10)], picture, Pixels(TimeWindow(0, 20), 10))
    share = np.diff(picture[0].astype(int), axis=1, prepend=0)
    stalled, executed = (ACTIVITIES.index((TokenKind.VALU, is_stall)) for is_stall in (True, False))
    assert share[:, stalled].tolist() == [255, 0, 0, 0, 255, 255, 0, 0, 0, 0]
    assert share[:, executed].tolist() == [0, 255, 255, 255, 0, 0, 255, 255, 0, 0]
    assert share.sum() == 255 * 8


@given(st.lists(waves(), min_size=1, max_size=4), views())
def test_rows_drawn_together_look_as_each_alone(made: list[Tokens], where: tuple[Pixels, int, int]) -> None:
    pixels, first, stop = where
    bounds = [(first, stop), (0, pixels.width_px), (0, pixels.width_px)]
    parts = [
        SpanPart(one, one.rows_in(TimeWindow(int(pixels.edges[a]), int(pixels.edges[b]) + 1)), row, a, b)
        for row, (one, (a, b)) in enumerate(zip(made, bounds * 2, strict=False))
    ]
    together, alone = np.zeros((2, len(made), pixels.width_px, ACTIVITY_COUNT), np.uint8)
    put_spans(parts, together, pixels)
    for part in parts:
        put_spans([part], alone, pixels)
    assert together.tolist() == alone.tolist()


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), min_size=1, max_size=4), views())
def test_a_pixel_is_the_mean_of_buckets(made: list[tuple[int, int]], where: tuple[Pixels, int, int]) -> None:
    """Of tables that begin and end anywhere, in rows that fill the same pixels or others."""
    pixels, first, stop = where
    bits = max(0, int(pixels.cycles_per_px).bit_length() - 1)
    random, bounds = np.random.default_rng(len(made)), [(0, pixels.width_px)] * 2 + [(first, stop)] * 2
    begin = pixels.window.begin >> bits
    parts = [
        TablePart(random.integers(0, 256, (count, ACTIVITY_COUNT), np.uint8), begin + late - 20, row, a, b)
        for row, ((late, count), (a, b)) in enumerate(zip(made, bounds, strict=False))
    ]
    picture = np.zeros((len(made), pixels.width_px, ACTIVITY_COUNT), np.uint8)
    put_table(parts, bits, picture, pixels)
    buckets, wanted = pixels.buckets(bits), np.zeros(picture.shape, np.int64)
    for part in parts:
        for px in range(part.first, part.stop):
            for number, weight in zip(buckets.numbers[:, px], buckets.weight[:, px], strict=True):
                if 0 <= (at := int(number) - part.number) < len(part.table):
                    wanted[part.row, px] += int(weight) * part.table[at].astype(np.int64)
    assert picture.tolist() == ((wanted + PARTS // 2) // PARTS).tolist()


@given(st.integers(0, 5000), st.integers(1, 200_000), st.integers(1, 300), st.integers(5, 12))
def test_the_buckets_of_a_pixel_make_it_up(begin: int, cycles: int, width: int, bits: int) -> None:
    pixels = Pixels(TimeWindow(begin, begin + cycles), width)
    buckets = pixels.buckets(bits)
    assert np.all(buckets.weight.sum(axis=0) == PARTS)
    for px in range(width):
        low, high = int(pixels.edges[px]), max(int(pixels.edges[px + 1]), int(pixels.edges[px]) + 1)
        for k, weight in enumerate(buckets.weight[:, px].tolist()):
            number = int(buckets.numbers[0][px]) + k
            inside = max(0, min(high, (number + 1) << bits) - max(low, number << bits))
            assert abs(weight / PARTS - inside / (high - low)) <= 1 / PARTS


SPARSE = tokens("V" + "." * 99, scale=1)


def sparse(every: int = 100, count: int = 20_000) -> Tokens:
    """A cycle of VALU in each `every` cycles."""
    columns = [np.arange(count, dtype=np.int32) * every, np.zeros(count, np.int32), np.ones(count, np.int32)]
    return Tokens(7_000, *columns, np.full(count, 6, np.uint8), np.zeros(count, np.int32))


@pytest.mark.parametrize("every", [100, 1000])
@pytest.mark.parametrize("cycles", [2_000, 13_337, 50_000, 400_003, 1_990_000])
def test_a_wave_that_issues_a_cycle_in_many_looks_as_empty_as_it_is(every: int, cycles: int) -> None:
    """Both the shares and the pixels of a picture hold as much as the wave, at every zoom."""
    one = row(sparse(every, 2_000_000 // every))
    for width in (333, 1600):
        pixels = Pixels(TimeWindow(7_000, 7_000 + cycles), width)
        shares = raster(visible_rows([one], pixels)).kind
        filled = shares[0, :, -1].astype(int).mean() / 255
        assert abs(filled - 1 / every) <= 0.1 / every + 0.1 / 255
        for height in (6, 18, 36):
            lines = stacked(shares, height, pixels)
            drawn = np.count_nonzero(lines < ACTIVITY_COUNT) / lines.size
            assert abs(drawn - filled) <= 0.05 / every + 12 / lines.size


def test_every_kind_has_the_height_of_its_share() -> None:
    one = row(tokens("vV|MMMM|llLL..", scale=4).__class__(0, *_cycle(400)))
    for cycles in (400, 4_000, 16_000):
        pixels = Pixels(TimeWindow(0, cycles), 100)
        lines = stacked(raster(visible_rows([one], pixels)).kind, 36, pixels)
        for kind, is_stall, share in (
            (TokenKind.VALU, True, 0.1),
            (TokenKind.VALU, False, 0.1),
            (TokenKind.MATRIX, False, 0.4),
            (TokenKind.LDS, True, 0.2),
            (TokenKind.LDS, False, 0.1),
        ):
            drawn = np.count_nonzero(lines == ACTIVITIES.index((kind, is_stall))) / lines.size
            assert abs(drawn - share) <= 0.006
        assert abs(np.count_nonzero(lines == ACTIVITY_COUNT) / lines.size - 0.1) <= 0.006


def test_the_numbers_of_parts_begin_where_they_are_told() -> None:
    pixels = Pixels(TimeWindow(0, 4_000), 100)
    shares = raster(visible_rows([row(Tokens(0, *_cycle(400)))], pixels)).kind
    assert stacked(shares, 6, pixels, 40).tolist() == (stacked(shares, 6, pixels) + 40).tolist()


def _cycle(count: int) -> list[np.ndarray]:
    """Columns of a loop of 40 cycles: VALU 4 + 4, MATRIX 16, LDS 8 + 4, nothing for 4."""
    start = (np.arange(count)[:, None] * 40 + [0, 8, 24]).reshape(-1).astype(np.int32)
    stall, busy, kind = (np.tile(part, count) for part in ([4, 0, 8], [4, 16, 4], [6, 13, 5]))
    columns = (column.astype(np.int32) for column in (start, stall, busy))
    return [*columns, kind.astype(np.uint8), np.zeros(3 * count, np.int32)]


def test_a_picture_that_is_moved_by_whole_pixels_stays_the_same() -> None:
    one = row(Tokens(0, *_cycle(4000)))
    views = [Pixels(TimeWindow(at, at + 51_200), 400) for at in (12_800, 12_800 + 128 * 7)]
    pictures = [stacked(raster(visible_rows([one], view)).kind, 18, view) for view in views]
    assert np.mean(pictures[0][:, :, 7:] == pictures[1][:, :, :-7]) > 0.99


@given(st.integers(0, 400), st.integers(16, 900), st.integers(1, 300))
def test_states_have_their_shares(begin: int, cycles: int, width: int) -> None:
    drawing = "I" * 100 + "E" * 50 + "W" * 200 + "S" * 50 + "E" * 5 + "W" * 95
    pixels = Pixels(TimeWindow(begin, begin + cycles), width)
    running = raster(visible_rows([row(tokens("V" * 500), states(drawing))], pixels)).state[0].astype(int)
    share = np.diff(running, axis=1, prepend=0)
    for place, state in enumerate(STATE_ORDER):
        wanted = sum(letter == state.name[0] for letter in drawing[begin : begin + cycles])
        seen = share[:, place].sum() / 255 * pixels.cycles_per_px
        # A bucket of b cycles that is cut at an end of the window counts by its mean: off by b / 4 at most.
        bucket = max(64, pixels.cycles_per_px)
        assert abs(seen - wanted) <= 2 * bucket / 4 + 0.02 * cycles


def test_tokens_that_overlap_fill_a_pixel_at_most() -> None:
    columns = [np.array(column, np.int32) for column in ([0, 10, 20], [0, 0, 0], [100, 60, 40])]
    offset, _, length = columns
    kind, lane = np.array([5, 2, 2], np.uint8), lanes(offset, offset + length)
    made = Tokens(0, *columns, kind, np.zeros(3, np.int32), lane)
    one = row(made)
    running = raster(visible_rows([one], Pixels(TimeWindow(0, 100), 10))).kind[0].astype(int)
    share = np.diff(running, axis=1, prepend=0)
    assert np.all(share.sum(axis=1) >= 254)
    for px, kinds in ((0, {TokenKind.LDS: 1}), (4, {TokenKind.LDS: 1 / 3, TokenKind.SALU: 2 / 3})):
        for kind, part in kinds.items():
            assert abs(share[px, ACTIVITIES.index((kind, False))] - 255 * part) <= 3
    assert shares_in(one.segments[0], TimeWindow(0, 100))[0, TokenKind.SALU] == 1.0
