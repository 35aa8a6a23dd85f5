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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.analysis.lod import build, joined
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.lod import NOTHING, STALLED, WaveLod
from rcv_py.model.tokens import States, Tokens, find
from rcv_py.model.window import TimeWindow

CROWDED = 6  # tokens a pixel from which on buckets are shown although they are wider than a pixel
NEAR_PX = 2  # how wide a bucket may be for the finest table to do
WIDE_PX = 3.0  # average width of a token from which on it is drawn as a rectangle

BLOCK_PX = 8  # how wide a bucket may be in the strip of states
FINE = 4.0  # cycles a pixel below which a pixel shows the state at its first cycle

_HIGH_BITS = np.uint32(0xFEFEFEFE)  # halves four bytes at once

_ONE_HOT = np.zeros(256, np.uint32)  # by state: 255 in the byte of its share
_ONE_HOT[1:5] = np.array([255 << 8 * i for i in range(4)], np.uint32)
_PACKED = np.zeros((2, 256), np.int64)  # by state: 1 in the half that counts it
_PACKED[0, 1], _PACKED[0, 2] = 1, 1 << 32
_PACKED[1, 3], _PACKED[1, 4] = 1, 1 << 32


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
        """How far in front of a window a token may start that reaches into it."""
        return 0 if self.tokens.lane is None else self.tokens.longest

    @cached_property
    def lanes(self) -> int:
        """How many sub-rows the tokens need."""
        return 1 if self.tokens.lane is None else int(self.tokens.lane.max(initial=0)) + 1

    def rows_in(self, window: TimeWindow) -> slice:
        """Token rows that may touch the window."""
        offset, base = self.tokens.offset, self.tokens.base
        first = find(offset, window.begin - base - self.reach, "right") - 1
        return slice(max(0, first), max(0, find(offset, window.end - base, "left")))


@dataclass(frozen=True, eq=False)
class TokenRow:
    """A row on screen: segments in order of time that do not overlap, and one table for all of them."""

    segments: tuple[Segment, ...]

    @cached_property
    def joined(self) -> WaveLod | None:
        """The table of the whole row, if it has several segments."""
        return joined([segment.lod for segment in self.segments]) if len(self.segments) > 1 else None

    @cached_property
    def _begins(self) -> list[int]:
        return [segment.begin for segment in self.segments]

    @cached_property
    def _ends(self) -> list[int]:
        return [segment.end for segment in self.segments]

    def visible(self, window: TimeWindow) -> tuple[Segment, ...]:
        """The segments that touch a window."""
        first, stop = bisect_right(self._ends, window.begin), bisect_left(self._begins, window.end)
        return self.segments[first:stop]

    def at(self, time: int) -> Segment | None:
        """The segment that holds a cycle."""
        found = self.visible(TimeWindow(time, time + 1))
        return found[-1] if found else None


@dataclass(frozen=True, eq=False)
class Pixels:
    """A window cut into pixels: pixel i covers the cycles edges[i] up to edges[i + 1]."""

    window: TimeWindow
    width_px: int
    wide_px: float = WIDE_PX  # average width of a token from which on it is drawn one by one

    @cached_property
    def edges(self) -> np.ndarray:
        """int64 [width + 1], cycles."""
        steps = np.arange(self.width_px + 1, dtype=np.int64)
        return steps * self.window.width // self.width_px + self.window.begin

    @property
    def cycles_per_px(self) -> float:
        """How many cycles a pixel stands for."""
        return self.window.width / self.width_px

    def at(self, time: int) -> int:
        """The pixel that holds a cycle; may lie outside."""
        return ((time - self.window.begin + 1) * self.width_px - 1) // self.window.width

    def part(self, begin: int, end: int) -> tuple[int, int]:
        """The pixels [first, stop) that a span touches; at least one if it touches the window."""
        after = -(-(begin - self.window.begin) * self.width_px // self.window.width)
        first = min(max(min(self.at(begin), after), 0), self.width_px)
        return first, min(max(self.at(max(begin, end - 1)) + 1, first), self.width_px)

    def buckets(self, bits: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the first and the last bucket of 2^bits cycles that start in each pixel.

        A pixel in which none starts has the bucket that holds it.  With buckets no wider than a pixel
        and more than half as wide, these two are all there are.
        """
        known = self._buckets.get(bits)
        if known is None:
            last = np.maximum(self.edges[1:] - 1, self.edges[:-1]) >> bits
            first = np.minimum((self.edges[:-1] + ((1 << bits) - 1)) >> bits, last)
            known = self._buckets[bits] = (first, last)
        return known

    @cached_property
    def _buckets(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        return {}


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """What each pixel of each row shows."""

    code: np.ndarray  # uint8 [rows, width]: TokenKind, plus STALLED, or NOTHING
    share: np.ndarray  # uint8 [rows, width, 4]: IDLE, EXEC, WAIT, STALL in 1/255


def raster(
    rows: Sequence[TokenRow], pixels: Pixels, with_states: bool = True, with_wide: bool = True
) -> Raster:
    """Return the pictures of rows; without `with_wide`, segments that `is_wide` are left out."""
    code = np.full((len(rows), pixels.width_px), NOTHING, np.uint8)
    share = np.zeros((len(rows), pixels.width_px if with_states else 0, 4), np.uint8)
    for row, codes, shares in zip(rows, code, share, strict=True):
        _draw(row, pixels, codes, shares if with_states else None, with_wide)
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
    if not before:
        return started
    end = tokens.base + int(tokens.offset[before - 1])
    end += int(tokens.stall[before - 1]) + int(tokens.busy[before - 1])
    return started + (end > window.begin)


# -- one row --------------------------------------------------------------------------------------------


def _draw(
    row: TokenRow, pixels: Pixels, codes: np.ndarray, shares: np.ndarray | None, with_wide: bool
) -> None:
    if is_joined(row, pixels):
        _look_up(row.joined, pixels, codes, shares)
        return
    for segment in row.visible(pixels.window):
        _draw_segment(segment, pixels, codes, shares, with_wide)


def _draw_segment(
    segment: Segment, pixels: Pixels, codes: np.ndarray, shares: np.ndarray | None, with_wide: bool
) -> None:
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
        _exact_codes(segment, rows, pixels.edges[first : stop + 1], codes[first:stop])
    if shares is not None:
        _state_shares(segment, pixels, first, stop, shares)


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
    _merge(codes[first:stop], _taken(table, left, NOTHING))
    _merge(codes[first:stop], _taken(table, right, NOTHING))
    at_edge = (pixels.window.begin >> bits) - number  # the bucket that reaches in from the left
    if first == 0 and 0 <= at_edge < len(table):
        _merge(codes[:1], table[at_edge : at_edge + 1])
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


def _merge(codes: np.ndarray, new: np.ndarray) -> None:
    """Put codes where there is nothing yet."""
    np.copyto(codes, new, where=codes == NOTHING)


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


# -- exact ----------------------------------------------------------------------------------------------


def _exact_codes(segment: Segment, rows: slice, edges: np.ndarray, codes: np.ndarray) -> None:
    """The longest token that starts in a pixel, or what runs on from before if that fills more of it."""
    tokens = segment.tokens
    if rows.start >= rows.stop:
        return
    edges = edges - tokens.base
    offset = tokens.offset[rows].astype(np.int64)
    stall = tokens.stall[rows].astype(np.int64)
    length = np.maximum(stall + tokens.busy[rows], 1)
    kind = np.where(tokens.kind[rows] < KIND_COUNT, tokens.kind[rows], 0).astype(np.int64)
    width = max(1, int(edges[-1] - edges[0]) // len(codes))
    is_point = int(edges[-1] - edges[0]) < len(codes)  # a pixel is part of a cycle: what runs there counts
    begun = np.searchsorted(offset, edges, side="right" if is_point else "left")
    has_start = np.zeros(0, np.int64) if is_point else np.flatnonzero(begun[1:] > begun[:-1])
    longest = np.zeros(len(codes), np.int64)
    if len(has_start):
        seen = np.minimum(length, width)
        key = (seen << 32) | (np.minimum(length, (1 << 26) - 1) << 5) | kind
        key |= np.where(2 * stall > seen, STALLED, 0)
        longest[has_start] = np.maximum.reduceat(key[: begun[-1]], begun[has_start])
    running, covered = _running(segment, offset, offset + length, edges, begun)
    stalled = np.where(edges[:-1] + width // 2 < (offset + stall)[running], STALLED, 0)
    code = np.where((longest >> 32) >= np.maximum(covered, 1), longest & 31, kind[running] | stalled)
    code = np.where((covered <= 0) & (longest == 0), NOTHING, code)
    _merge(codes, code.astype(np.uint8))


def _running(
    segment: Segment, offset: np.ndarray, end: np.ndarray, edges: np.ndarray, begun: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which token runs on into each pixel, and for how many of its cycles (0 or less: none does)."""
    before = begun[:-1] - 1
    running = np.maximum(before, 0)
    if segment.tokens.lane is not None:
        latest = np.maximum.accumulate(end)
        owner = np.maximum.accumulate(np.where(end == latest, np.arange(len(end)), 0))
        running = owner[running]
    covered = np.minimum(end[running], np.maximum(edges[1:], edges[:-1] + 1)) - edges[:-1]
    return running, np.where(before >= 0, covered, 0)


def _state_shares(segment: Segment, pixels: Pixels, first: int, stop: int, shares: np.ndarray) -> None:
    states = segment.states
    edges = pixels.edges[first : stop + 1] - states.base
    low = max(0, find(states.offset, int(edges[0]), "right") - 1)
    high = find(states.offset, int(edges[-1]) + 1, "left")
    if low >= high:
        return
    is_fine = 1 << segment.lod.shift <= BLOCK_PX * pixels.cycles_per_px
    if is_fine or high - low > CROWDED * (stop - first):
        scratch = np.zeros(len(shares), np.uint8)
        _look_up(segment.lod, pixels, scratch, shares)
        return
    offset = np.append(states.offset[low:high].astype(np.int64), _end_of(states, high))
    if pixels.cycles_per_px < FINE:
        row = np.searchsorted(offset, edges[:-1], side="right") - 1
        row[(row < 0) | (row >= high - low)] = high - low
        one_hot = np.append(_ONE_HOT[states.state[low:high]], np.uint32(0))
        shares[first:stop] = one_hot[row].view(np.uint8).reshape(-1, 4)
        return
    inside = _cycles_inside(offset, states.state[low:high], edges)
    shares[first:stop] = (inside * 255 // np.maximum(np.diff(edges), 1)).T


def _end_of(states: States, row: int) -> int:
    return states.length if row >= len(states) else int(states.offset[row])


def _cycles_inside(offset: np.ndarray, state: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Cycles in IDLE, EXEC, WAIT and STALL between neighbouring edges, int64 [4, edges - 1].

    Two states share a 64-bit number, which halves the work: sums and differences never carry over.
    """
    time = np.minimum(np.maximum(edges, offset[0]), offset[-1])
    row = np.minimum(np.searchsorted(offset, time, side="right") - 1, len(offset) - 2)
    into = time - offset[row]
    length = np.diff(offset)
    result = np.empty((4, len(edges) - 1), np.int64)
    for i, table in enumerate(_PACKED):
        is_in = table[state]
        before = np.cumsum(is_in * length) - is_in * length
        part = np.diff(before[row] + is_in[row] * into)
        result[2 * i], result[2 * i + 1] = part & 0xFFFFFFFF, part >> 32
    return result
