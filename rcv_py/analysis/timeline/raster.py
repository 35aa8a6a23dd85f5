"""Rows of tokens as shares of each pixel, at any zoom, at a cost proportional to pixels.

```
pixel wider than the finest bucket:  the mean of its buckets         O(pixels)
narrower:                            the tokens in view              O(pixels + tokens in view)
```

At that zoom there are at most a few tokens a pixel, as buckets have; if there are more than MAX_SPANS in
total, rows with many tokens show their finest buckets, wider than a pixel.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from math import inf
from operator import attrgetter

import numpy as np
from msgspec import field
from msgspec.structs import replace

from rcv_py.analysis.timeline.lod import build, joined
from rcv_py.analysis.timeline.pixels import (
    FULL,
    WIDE_PX,
    Pixels,
    SpanPart,
    TablePart,
    add_shares,
    put_spans,
    put_table,
)
from rcv_py.base.record import Record, Value
from rcv_py.model.activity import ACTIVITY_COUNT, STATE_ORDER
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.tokens import States, Tokens, find
from rcv_py.model.waves import WaveLod
from rcv_py.model.window import TimeWindow

MAX_SPANS = 120_000  # tokens or states that a picture may read individually
DETAIL_PX = 2  # largest width of a bucket of states for which the finest table is used


class RowSegment(Record):
    """A piece of a row: the life of a wave, or all work of a unit."""

    begin: int  # cycles, aligned
    end: int
    tokens: Tokens
    states: States
    lod: WaveLod
    key: int = -1  # identifies it for the row's owner, e.g. the row of the wave index

    @classmethod
    def of(
        cls, tokens: Tokens, states: States, lod: WaveLod | None, span: TimeWindow, key: int = -1
    ) -> RowSegment:
        """Make a segment; build its tables if they are not given."""
        return cls(span.begin, span.end, tokens, states, lod or build(tokens, states), key)

    @cached_property
    def reach(self) -> int:
        """The longest time before a window at which a token that reaches into it may start."""
        return 0 if self.tokens.lane is None else self.tokens.longest

    @cached_property
    def lanes(self) -> int:
        """Number of sub-rows that the tokens need."""
        return 1 if self.tokens.lane is None else int(self.tokens.lane.max(initial=0)) + 1

    def rows_in(self, window: TimeWindow) -> slice:
        """Token rows that may touch the window."""
        return self.tokens.rows_in(window, self.reach)


class Joined(Record):
    """Segments of a row in order of time, with a common table."""

    segments: tuple[RowSegment, ...]

    @cached_property
    def lod(self) -> WaveLod | None:
        """The common table, if there are several segments."""
        return joined([segment.lod for segment in self.segments]) if len(self.segments) > 1 else None

    def visible(self, window: TimeWindow) -> tuple[RowSegment, ...]:
        """The segments that touch a window."""
        first = bisect_right(self.segments, window.begin, key=attrgetter("end"))
        return self.segments[first : bisect_left(self.segments, window.end, key=attrgetter("begin"))]


class TokenRow(Record):
    """A row on screen: disjoint segments in order of time.

    `known` are its first segments, already joined: while waves arrive they are not joined again.
    """

    segments: tuple[RowSegment, ...]
    known: Joined | None = None

    @cached_property
    def parts(self) -> tuple[Joined, ...]:
        """All segments in order of time; the segments of a part share a table."""
        if self.known is None:
            return (Joined(self.segments),)
        return self.known, Joined(self.segments[len(self.known.segments) :])

    def visible(self, window: TimeWindow) -> tuple[RowSegment, ...]:
        """The segments that touch a window."""
        return Joined(self.segments).visible(window)

    def at(self, time: int) -> RowSegment | None:
        """The segment that holds a cycle."""
        segments = self.visible(TimeWindow(time, time + 1))
        return segments[-1] if segments else None


class DetailedSegment(Record):
    """A segment in view that is drawn from its tokens and states, not from its table."""

    row: int
    segment: RowSegment
    first: int  # the pixels it touches
    stop: int
    tokens: slice  # rows that may be in view

    @property
    def count(self) -> int:
        """Number of tokens that may be in view."""
        return self.tokens.stop - self.tokens.start

    def is_wide(self, cycles_per_px: float) -> bool:
        """Whether tokens are few and at least a pixel wide on average; narrower tokens show as shares."""
        if self.count * WIDE_PX >= self.stop - self.first:
            return False
        tokens, rows = self.segment.tokens, self.tokens
        cycles = tokens.stall[rows].sum(dtype=np.int64) + tokens.busy[rows].sum(dtype=np.int64)
        return bool(cycles >= self.count * cycles_per_px) or cycles_per_px <= 1


class View(Value):
    """The visible parts of some rows in a window, looked up once a picture."""

    rows: int
    pixels: Pixels
    tables: list[tuple[int, WaveLod]]  # row, and the table that is narrow enough
    pieces: list[DetailedSegment]

    def wide(self, most: float = inf) -> list[DetailedSegment]:
        """Pieces whose tokens are wide enough to be drawn individually; none if over `most` tokens."""
        if sum(piece.count for piece in self.pieces) > most:
            return []
        return [piece for piece in self.pieces if piece.is_wide(self.pixels.cycles_per_px)]


def visible_rows(rows: Sequence[TokenRow], pixels: Pixels) -> View:
    """Find the visible parts of each row."""
    view, window, cycles = View(len(rows), pixels, [], []), pixels.window, pixels.cycles_per_px
    for number, part in ((number, part) for number, row in enumerate(rows) for part in row.parts):
        if part.lod is not None and part.lod.level(cycles) >= 0:
            view.tables.append((number, part.lod))
            continue
        for segment in part.visible(window):
            if segment.lod.level(cycles) >= 0:
                view.tables.append((number, segment.lod))
                continue
            first, stop = pixels.part(segment.begin, segment.end)
            if first < stop:
                view.pieces.append(DetailedSegment(number, segment, first, stop, segment.rows_in(window)))
    return view


class Raster(Value):
    """The contents of each pixel of each row: running shares of its time in 1/255, from the bottom."""

    kind: np.ndarray  # uint8 [rows, width, ACTIVITY_COUNT], of `activity.ACTIVITIES`
    state: np.ndarray  # uint8 [rows, width, 4], of `activity.STATE_ORDER`; width 0 without states


class _Work(Value):
    """Parts to draw, grouped so that few calls suffice."""

    picture: Raster
    kinds: list[SpanPart] = field(default_factory=list)
    states: list[SpanPart] = field(default_factory=list)
    tables: dict[tuple[int, int], list[TablePart]] = field(default_factory=dict)  # by bits and columns


def raster(view: View, with_states: bool = True, without: Sequence[DetailedSegment] = ()) -> Raster:
    """Return the pictures of rows; for the pieces in `without` only the states."""
    width = view.pixels.width_px
    kind = _planes(view.rows, width, ACTIVITY_COUNT)
    state = _planes(view.rows, width if with_states else 0, len(STATE_ORDER))
    work, pixels = _Work(Raster(kind, state)), view.pixels
    both = (kind, state) if with_states else (kind,)
    for row, lod in view.tables:
        _look_up(lod, pixels, both, row, work)
    left_out = {id(piece) for piece in without}
    pieces = [piece for piece in view.pieces if id(piece) not in left_out]
    most = _most([piece.count for piece in pieces])
    for piece in pieces:  # tokens, or the finest buckets if there are too many tokens
        if piece.count > most:
            _look_up(piece.segment.lod, pixels, (kind,), piece.row, work)
        elif piece.segment.tokens.lane is None:
            place = piece.row, piece.first, piece.stop
            work.kinds.append(SpanPart(piece.segment.tokens, piece.tokens, *place))
        else:
            _put_lanes(piece, kind, pixels)
    if with_states:
        _state_rows(work, view.pieces, pixels)
    for (bits, size), tables in work.tables.items():
        put_table(tables, bits, kind if size == ACTIVITY_COUNT else state, pixels)
    put_spans(work.kinds, kind, pixels)
    put_spans(work.states, state, pixels)
    return work.picture


def _planes(rows: int, width: int, parts: int) -> np.ndarray:
    """uint8 [rows, width, parts], stored part by part, in the order in which `stack` reads them."""
    return np.zeros((parts, rows, width), np.uint8).transpose(1, 2, 0)


def tokens_in(segment: RowSegment, window: TimeWindow) -> int:
    """Number of tokens that touch a window, for example a pixel: tokens that start in it, and one before."""
    tokens = segment.tokens
    before = find(tokens.offset, window.begin - tokens.base, "left")
    started = find(tokens.offset, window.end - tokens.base, "left") - before
    return started + (before > 0 and tokens.span(before - 1).end > window.begin)


def shares_in(segment: RowSegment, window: TimeWindow) -> np.ndarray:
    """Return the share of a window that each kind executes and stalls in a segment, float64 [2, KIND_COUNT].

    Row 0 is execution, row 1 stall; tokens that overlap may sum to more than 1.
    """
    tokens, rows = segment.tokens, segment.rows_in(window)
    start = tokens.offset[rows].astype(np.int64) + (tokens.base - window.begin)
    issue = start + tokens.stall[rows]
    times = [np.clip(time, 0, window.width) for time in (start, issue, issue + tokens.busy[rows])]
    kind = np.where(tokens.kind[rows] < KIND_COUNT, tokens.kind[rows], 0)
    cycles = [np.bincount(kind, part, KIND_COUNT) for part in np.diff(times, axis=0)[::-1]]
    return np.array(cycles) / window.width


def _state_rows(work: _Work, pieces: Sequence[DetailedSegment], pixels: Pixels) -> None:
    """Choose states, or the finest buckets if these suffice or there are too many states."""
    rows = []
    for states in (piece.segment.states for piece in pieces):
        low = find(states.offset, pixels.window.begin - states.base, "right") - 1
        high = find(states.offset, pixels.window.end - states.base + 1, "left")
        rows.append(slice(max(0, low), max(0, high)))
    most = _most([part.stop - part.start for part in rows])
    for piece, part in zip(pieces, rows, strict=True):
        segment = piece.segment
        is_near = 1 << segment.lod.shift <= DETAIL_PX * pixels.cycles_per_px
        if is_near or part.stop - part.start > most:
            _look_up(segment.lod, pixels, (work.picture.state,), piece.row, work)
        elif part.start < part.stop:
            work.states.append(SpanPart(segment.states, part, piece.row, piece.first, piece.stop))


def _most(counts: list[int]) -> float:
    """Largest number of spans of a segment that keeps the total within MAX_SPANS."""
    return inf if sum(counts) <= MAX_SPANS else MAX_SPANS / len(counts)


def _put_lanes(piece: DetailedSegment, picture: np.ndarray, pixels: Pixels) -> None:
    """Sum overlapping tokens sub-row by sub-row; an overfilled pixel shows parts of the sum."""
    segment, tokens, rows = piece.segment, piece.segment.tokens, piece.tokens
    assert tokens.lane is not None
    shares = picture[piece.row, piece.first : piece.stop]
    total = np.zeros(shares.shape, np.uint16)
    for lane in range(segment.lanes):
        chosen = rows.start + np.flatnonzero(tokens.lane[rows] == lane)
        if len(chosen):
            part = np.zeros((1, *picture.shape[1:]), np.uint8)
            names = ("offset", "stall", "busy", "kind", "line")
            own = replace(tokens, lane=None, **{name: getattr(tokens, name)[chosen] for name in names})
            put_spans([SpanPart(own, slice(0, len(chosen)), 0, piece.first, piece.stop)], part, pixels)
            total += part[0, piece.first : piece.stop]
    over = total[:, -1:] > FULL
    scaled = total.astype(np.uint32) * FULL // np.maximum(total[:, -1:], 1)
    add_shares(shares, np.where(over, scaled, total).astype(np.uint8))


def _look_up(lod: WaveLod, pixels: Pixels, pictures: Sequence[np.ndarray], row: int, work: _Work) -> None:
    """Choose a level of the tables for these pictures, of kinds or states."""
    level = max(0, lod.level(pixels.cycles_per_px))
    bits = lod.shift + level
    number, count = lod.base >> bits, len(lod.kind[level])
    first, stop = pixels.part(number << bits, (number + count) << bits)
    for picture in pictures:
        size = picture.shape[2]
        table = (lod.kind if size == ACTIVITY_COUNT else lod.state)[level]
        if pixels.cycles_per_px < 2 << bits:
            if first < stop:
                work.tables.setdefault((bits, size), []).append(TablePart(table, number, row, first, stop))
            continue
        for i, bucket in enumerate(table, number):  # a top level: one or two, narrower than a pixel
            px, after = pixels.part(i << bits, (i + 1) << bits)
            if px < after:
                part = np.rint(bucket * ((1 << bits) / pixels.cycles_per_px))
                picture[row, px] = np.minimum(picture[row, px] + part, FULL)
