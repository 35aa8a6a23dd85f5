"""Rows of tokens as one code a pixel, at any zoom, for the price of the pixels.

```
pixel wider than the finest bucket:  look the bucket up          O(pixels)
narrower:                            the longest token in it     O(pixels log tokens + tokens in view)
```

Tokens in view are at most a few a pixel there, because buckets are; where a burst has more, the finest
buckets are shown, wider than a pixel.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import numpy as np

from rcv_py.analysis.timeline.lod import build, joined
from rcv_py.analysis.timeline.pixel_codes import Pixels, StatePart, TokenPart, merge, put_codes, put_shares
from rcv_py.model.tokens import States, Tokens, find
from rcv_py.model.waves import NOTHING, WaveLod
from rcv_py.model.window import TimeWindow

CROWDED = 6  # tokens a pixel from which on buckets are shown although they are wider than a pixel
NEAR_PX = 2  # how wide a bucket may be for the finest table to do

BLOCK_PX = 8  # how wide a bucket may be in the strip of states

_HIGH_BITS = np.uint32(0xFEFEFEFE)  # halves four bytes at once


@dataclass(frozen=True, eq=False)
class Segment:
    """One piece of a row: the life of a wave, or everything a unit did."""

    begin: int  # cycles, aligned
    end: int
    tokens: Tokens
    states: States
    lod: WaveLod
    key: int = -1  # what the row's owner knows it by, e.g. the row of the wave index

    @classmethod
    def of(
        cls, tokens: Tokens, states: States, lod: WaveLod | None, span: TimeWindow, key: int = -1
    ) -> Segment:
        """Make a segment, with its tables built here if nobody has built them."""
        return cls(span.begin, span.end, tokens, states, lod or build(tokens, states), key)

    @cached_property
    def reach(self) -> int:
        """How far before a window a token may start that reaches into it."""
        return 0 if self.tokens.lane is None else self.tokens.longest

    @cached_property
    def lanes(self) -> int:
        """How many sub-rows the tokens need."""
        return 1 if self.tokens.lane is None else int(self.tokens.lane.max(initial=0)) + 1

    def rows_in(self, window: TimeWindow) -> slice:
        """Token rows that may touch the window."""
        return self.tokens.rows_in(window, self.reach)


@dataclass(frozen=True, eq=False)
class TokenRow:
    """A row on screen: segments in order of time that do not overlap, and one table for all of them."""

    segments: tuple[Segment, ...]

    @cached_property
    def joined(self) -> WaveLod | None:
        """The table of the whole row, if it has several segments."""
        return joined([segment.lod for segment in self.segments]) if len(self.segments) > 1 else None

    def visible(self, window: TimeWindow) -> tuple[Segment, ...]:
        """The segments that touch a window."""
        first = bisect_right(self.segments, window.begin, key=attrgetter("end"))
        return self.segments[first : bisect_left(self.segments, window.end, key=attrgetter("begin"))]

    def at(self, time: int) -> Segment | None:
        """The segment that holds a cycle."""
        segments = self.visible(TimeWindow(time, time + 1))
        return segments[-1] if segments else None


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """What each pixel of each row shows."""

    code: np.ndarray  # uint8 [rows, width]: TokenKind, plus STALLED, or NOTHING
    share: np.ndarray  # uint8 [rows, width, 4]: IDLE, EXEC, WAIT, STALL in 1/255


def raster(
    rows: Sequence[TokenRow], pixels: Pixels, with_states: bool = True, with_wide: bool = True
) -> Raster:
    """Return the pictures of rows; without `with_wide`, segments that `is_wide` are left out.

    What tables know is drawn first, then what needs the tokens.
    """
    code = np.full((len(rows), pixels.width_px), NOTHING, np.uint8)
    share = np.zeros((len(rows), pixels.width_px if with_states else 0, 4), np.uint8)
    pieces: list[TokenPart | StatePart] = []
    for row, codes, shares in zip(rows, code, share, strict=True):
        own = shares if with_states else None
        if row.joined is not None and is_joined(row, pixels):
            _look_up(row.joined, pixels, codes, own)
            continue
        for segment in row.visible(pixels.window):
            pieces += _draw_segment(segment, pixels, codes, own, with_wide)
    put_codes([piece for piece in pieces if isinstance(piece, TokenPart)], pixels)
    put_shares([piece for piece in pieces if isinstance(piece, StatePart)], pixels)
    return Raster(code, share)


def is_joined(row: TokenRow, pixels: Pixels) -> bool:
    """Whether the row is drawn from its one table rather than segment by segment."""
    return row.joined is not None and row.joined.level(pixels.cycles_per_px) >= 0


def is_wide(segment: Segment, pixels: Pixels) -> bool:
    """Whether the tokens in view are wide enough to be drawn one by one."""
    if segment.lod.level(pixels.cycles_per_px) >= 0:
        return False
    rows = segment.rows_in(pixels.window)
    first, stop = pixels.part(segment.begin, segment.end)
    return (rows.stop - rows.start) * pixels.wide_px < stop - first


def tokens_in(segment: Segment, window: TimeWindow) -> int:
    """How many tokens touch a window, for example a pixel: those that start in it, and one before."""
    tokens = segment.tokens
    before = find(tokens.offset, window.begin - tokens.base, "left")
    started = find(tokens.offset, window.end - tokens.base, "left") - before
    return started + (before > 0 and tokens.span(before - 1).end > window.begin)


# -- one row --------------------------------------------------------------------------------------------


def _draw_segment(
    segment: Segment, pixels: Pixels, codes: np.ndarray, shares: np.ndarray | None, with_wide: bool
) -> Iterator[TokenPart | StatePart]:
    if segment.lod.level(pixels.cycles_per_px) >= 0:
        _look_up(segment.lod, pixels, codes, shares)
        return
    first, stop = pixels.part(segment.begin, segment.end)
    if first >= stop:
        return
    window = TimeWindow(int(pixels.edges[first]), int(pixels.edges[stop]))
    rows = segment.rows_in(window)
    is_near = 1 << segment.lod.shift <= NEAR_PX * pixels.cycles_per_px
    if not with_wide and is_wide(segment, pixels):
        pass
    elif is_near or rows.stop - rows.start > CROWDED * (stop - first):
        _look_up(segment.lod, pixels, codes, None)
    else:
        yield TokenPart(segment.tokens, rows, first, codes[first:stop])
    if shares is not None:
        states = _state_piece(segment, pixels, first, stop, shares)
        if states is not None:
            yield states


def _look_up(lod: WaveLod, pixels: Pixels, codes: np.ndarray, shares: np.ndarray | None) -> None:
    level = max(0, lod.level(pixels.cycles_per_px))
    bits = lod.shift + level
    table, number = lod.kind[level], lod.base >> (lod.shift + level)
    first, stop = pixels.part(number << bits, (number + len(table)) << bits)
    if pixels.cycles_per_px >= 2 << bits:  # a top level: one or two buckets, narrower than a pixel
        _put_dots(lod, pixels, codes, shares)
        return
    if first >= stop:
        return
    low, high = pixels.buckets(bits)
    left, right = low[first:stop] - number, high[first:stop] - number
    merge(codes[first:stop], _taken(table, left, NOTHING))
    merge(codes[first:stop], _taken(table, right, NOTHING))
    at_edge = (pixels.window.begin >> bits) - number  # the bucket that reaches in from the left
    if first == 0 and 0 <= at_edge < len(table):
        merge(codes[:1], table[at_edge : at_edge + 1])
    if shares is not None:
        packed = lod.state[level].view(np.uint32)[:, 0]
        a, b = _taken(packed, left, 0), _taken(packed, right, 0)
        mean = ((a & _HIGH_BITS) >> 1) + ((b & _HIGH_BITS) >> 1)
        before = shares[first:stop].view(np.uint32)[:, 0]
        np.copyto(before, mean, where=before == 0)


def _taken(table: np.ndarray, at: np.ndarray, nothing: int) -> np.ndarray:
    """Rows of a table; only the outermost pixels can look beyond its ends."""
    taken = table.take(at, mode="clip")
    if at[0] < 0:
        taken[0] = nothing
    if at[-1] >= len(table):
        taken[-1] = nothing
    return taken


def _put_dots(lod: WaveLod, pixels: Pixels, codes: np.ndarray, shares: np.ndarray | None) -> None:
    level = len(lod.kind) - 1
    bits = lod.shift + level
    number = lod.base >> bits
    for i, code in enumerate(lod.kind[level].tolist()):
        px, stop = pixels.part((number + i) << bits, (number + i + 1) << bits)
        if px >= stop:
            continue
        if codes[px] == NOTHING:
            codes[px] = code
        if shares is not None:
            new = lod.state[level][i]
            shares[px] = (shares[px] >> 1) + (new >> 1) if shares[px].any() else new


def _state_piece(
    segment: Segment, pixels: Pixels, first: int, stop: int, shares: np.ndarray
) -> StatePart | None:
    """The states of pixels too fine for the table; draws the others from it."""
    states = segment.states
    low = max(0, find(states.offset, int(pixels.edges[first]) - states.base, "right") - 1)
    high = find(states.offset, int(pixels.edges[stop]) - states.base + 1, "left")
    if low >= high:
        return None
    is_fine = 1 << segment.lod.shift <= BLOCK_PX * pixels.cycles_per_px
    if not is_fine and high - low <= CROWDED * (stop - first):
        return StatePart(states, slice(low, high), first, shares[first:stop])
    scratch = np.zeros(len(shares), np.uint8)
    _look_up(segment.lod, pixels, scratch, shares)
    return None
