"""The codes and states of pixels from tokens and states themselves: all rows of a picture in one go.

```
slot     0       1     2     3     4     a row's pixels, after one slot for what started earlier
starts   a             b,c         d     its pixel is arithmetic: no search
shows    -       a     b|c   c     d     the longest that starts, or what runs on if it fills more

edges    |       |       |       |       an edge's state is arithmetic: no search
states   I  E        W         S
cycles   0 in I..    ...                 what was in each state before an edge; a pixel is a difference
```

Numbers are 32 bits wide and the rows' tokens lie one after the other, because at a few tokens a pixel the
calls would cost more than the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rcv_py.analysis.core.step_curve import pixel_edges
from rcv_py.base.runs import borders, ends_run, run_starts
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.waves import NOTHING, STALLED
from rcv_py.model.window import TimeWindow

WIDE_PX = 3.0  # average width of a token from which on it is drawn as a rectangle
_LONGEST = (1 << 26) - 1  # cycles that fit into 32 bits with a code below them
_WIDEST = 1 << 30  # cycles of a window whose times fit into 32 bits


@dataclass(frozen=True, slots=True, eq=False)
class TokenPart:
    """Tokens of one segment that may be in view, and the part of its row's codes they belong to."""

    tokens: Tokens
    rows: slice
    first: int  # pixel of the window that codes[0] is
    codes: np.ndarray  # uint8, filled where it is NOTHING


@dataclass(frozen=True, eq=False)
class Pixels:
    """A window cut into pixels: pixel i covers the cycles edges[i] up to edges[i + 1]."""

    window: TimeWindow
    width_px: int
    wide_px: float = WIDE_PX  # average width of a token from which on it is drawn one by one
    _buckets: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    @cached_property
    def edges(self) -> np.ndarray:
        """int64 [width + 1], cycles."""
        return pixel_edges(self.window, self.width_px)

    @property
    def cycles(self) -> int:
        """Whole cycles a pixel has at least."""
        return max(1, self.window.width // self.width_px)

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
        if bits not in self._buckets:
            last = np.maximum(self.edges[1:] - 1, self.edges[:-1]) >> bits
            self._buckets[bits] = np.minimum((self.edges[:-1] + ((1 << bits) - 1)) >> bits, last), last
        return self._buckets[bits]


def put_codes(pieces: Sequence[TokenPart], pixels: Pixels) -> None:
    """Fill the codes of all pieces: the longest token that starts in a pixel, or what runs on there.

    What runs on from before counts if it fills more of the pixel.
    """
    plain = []
    is_simple = pixels.width_px <= pixels.window.width < _WIDEST
    for piece in pieces:
        if piece.rows.start >= piece.rows.stop or not len(piece.codes):
            continue
        if is_simple and _is_plain(piece.tokens, pixels):
            plain.append(piece)
        else:
            put_one(piece, pixels)
    if plain:
        _put_all(plain, pixels)


def _is_plain(tokens: Tokens, pixels: Pixels) -> bool:
    columns = tokens.offset, tokens.stall, tokens.busy
    if tokens.lane is not None or any(column.dtype != np.int32 for column in columns):
        return False
    end = sum(int(column[-1]) for column in columns)
    return max(end, pixels.window.begin - tokens.base) < 1 << 31


# -- rows without lanes, together -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Tokens of all pieces, int32 [n], and which slot each starts in."""

    start: np.ndarray  # cycles since the window's begin
    stall: np.ndarray
    length: np.ndarray
    kind: np.ndarray  # uint8
    slot: np.ndarray
    before: np.ndarray  # by slot: tokens of the rows above


def _put_all(pieces: Sequence[TokenPart], pixels: Pixels) -> None:
    slots = np.array([len(piece.codes) + 1 for piece in pieces])
    batch = _batch(pieces, slots, pixels)
    first = run_starts(batch.slot)
    key = _keys(batch, pixels.cycles)
    longest = np.zeros(len(batch.before), np.int32)
    longest[batch.slot[first]] = np.maximum.reduceat(key, first)
    begun = np.zeros(len(batch.before) + 1, np.int32)  # by slot: tokens that started in slots before it
    begun[batch.slot[first] + 1] = np.append(first, len(batch.slot))[1:]
    np.maximum.accumulate(begun, out=begun)
    code = _chosen(batch, longest, begun[:-1], pieces, pixels)
    at = 1
    for piece in pieces:
        merge(piece.codes, code[at : at + len(piece.codes)])
        at += len(piece.codes) + 1


def _batch(pieces: Sequence[TokenPart], slots: np.ndarray, pixels: Pixels) -> _Batch:
    counts = np.array([piece.rows.stop - piece.rows.start for piece in pieces])
    start = np.concatenate([piece.tokens.offset[piece.rows] for piece in pieces])
    start -= np.repeat(
        np.array([pixels.window.begin - piece.tokens.base for piece in pieces], np.int32), counts
    )
    stall = np.concatenate([piece.tokens.stall[piece.rows] for piece in pieces])
    length = np.concatenate([piece.tokens.busy[piece.rows] for piece in pieces])
    length += stall
    np.maximum(length, 1, out=length)
    kind = np.concatenate([piece.tokens.kind[piece.rows] for piece in pieces])
    kind[kind >= KIND_COUNT] = 0
    # Pixel (t + 1) * pixels - 1 // cycles, plus one; the half keeps the quotient off whole numbers.
    scale = pixels.width_px / pixels.window.width
    place = start * scale
    place += scale - 0.5 / pixels.window.width + 1
    first = np.array([piece.first for piece in pieces])
    place -= np.repeat(first, counts)
    np.maximum(place, 0, out=place)
    slot = place.astype(np.int32)
    slot += np.repeat((np.cumsum(slots) - slots).astype(np.int32), counts)
    before = np.repeat((np.cumsum(counts) - counts).astype(np.int32), slots)
    return _Batch(start, stall, length, kind, slot, before)


def _keys(batch: _Batch, cycles: int) -> np.ndarray:
    """A number whose maximum finds the longest token and carries its code along."""
    key = np.minimum(batch.length, cycles)
    is_stalled = batch.stall > key >> 1
    np.minimum(batch.length, _LONGEST, out=key)
    key <<= 5
    key |= batch.kind
    key |= is_stalled.view(np.uint8) << np.uint8(4)
    return key


def _chosen(
    batch: _Batch, longest: np.ndarray, begun: np.ndarray, pieces: Sequence[TokenPart], pixels: Pixels
) -> np.ndarray:
    """uint8, the code of each slot."""
    edge = (pixels.edges - pixels.window.begin).astype(np.int32)
    end = np.concatenate([edge[piece.first : piece.first + len(piece.codes) + 1] for piece in pieces])
    begin = np.roll(end, 1)  # slot i + 1 of a row is its pixel i
    running = np.maximum(begun - 1, 0)
    covered = np.minimum((batch.start + batch.length)[running], end) - begin
    covered[begun <= batch.before] = 0
    seen = np.minimum(longest >> 5, pixels.cycles)
    code = (longest & 31).astype(np.uint8)
    code[longest == 0] = NOTHING
    slots = np.flatnonzero(np.maximum(covered, 1) > seen)
    slots = slots[covered[slots] > 0]
    token = running[slots]
    is_stalled = begin[slots] + pixels.cycles // 2 < (batch.start + batch.stall)[token]
    code[slots] = batch.kind[token] | (is_stalled.view(np.uint8) << np.uint8(4))
    return code


# -- any row, alone -------------------------------------------------------------------------------------


def put_one(piece: TokenPart, pixels: Pixels) -> None:
    """Do the same for one piece, also for tokens that overlap and pixels narrower than a cycle."""
    tokens, rows = piece.tokens, piece.rows
    edges = pixels.edges[piece.first : piece.first + len(piece.codes) + 1] - tokens.base
    offset = tokens.offset[rows].astype(np.int64)
    stall = tokens.stall[rows].astype(np.int64)
    length = np.maximum(stall + tokens.busy[rows], 1)
    kind = np.where(tokens.kind[rows] < KIND_COUNT, tokens.kind[rows], 0).astype(np.int64)
    is_point = pixels.window.width < pixels.width_px  # a pixel is part of a cycle: what runs there counts
    begun = np.searchsorted(offset, edges, side="right" if is_point else "left")
    has_start = np.zeros(0, np.int64) if is_point else np.flatnonzero(begun[1:] > begun[:-1])
    longest = np.zeros(len(piece.codes), np.int64)
    if len(has_start):
        key = (np.minimum(length, _LONGEST) << 5) | kind
        key |= np.where(2 * stall > np.minimum(length, pixels.cycles), STALLED, 0)
        longest[has_start] = np.maximum.reduceat(key[: begun[-1]], begun[has_start])
    running, covered = _running(tokens, offset, offset + length, edges, begun)
    stalled = np.where(edges[:-1] + pixels.cycles // 2 < (offset + stall)[running], STALLED, 0)
    seen = np.minimum(longest >> 5, pixels.cycles)
    code = np.where(seen >= np.maximum(covered, 1), longest & 31, kind[running] | stalled)
    code = np.where((covered <= 0) & (longest == 0), NOTHING, code)
    merge(piece.codes, code.astype(np.uint8))


def _running(
    tokens: Tokens, offset: np.ndarray, end: np.ndarray, edges: np.ndarray, begun: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which token runs on into each pixel, and for how many of its cycles (0 or less: none does)."""
    before = begun[:-1] - 1
    running = np.maximum(before, 0)
    if tokens.lane is not None:
        latest = np.maximum.accumulate(end)
        owner = np.maximum.accumulate(np.where(end == latest, np.arange(len(end)), 0))
        running = owner[running]
    covered = np.minimum(end[running], np.maximum(edges[1:], edges[:-1] + 1)) - edges[:-1]
    return running, np.where(before >= 0, covered, 0)


def merge(codes: np.ndarray, new: np.ndarray) -> None:
    """Put codes where there is nothing yet."""
    np.copyto(codes, new, where=codes == NOTHING)


FINE = 4.0  # cycles a pixel below which a pixel shows the state at its first cycle

_ONE_HOT = np.zeros(256, np.uint32)  # by state: 255 in the byte of its share
_ONE_HOT[1:5] = np.array([255 << 8 * i for i in range(4)], np.uint32)
_PACKED = np.zeros((2, 256), np.int64)  # by state: 1 in the half that counts it
_PACKED[0, 1], _PACKED[0, 2] = 1, 1 << 32
_PACKED[1, 3], _PACKED[1, 4] = 1, 1 << 32


@dataclass(frozen=True, slots=True, eq=False)
class StatePart:
    """States of a segment that begin before the last edge, and the part of its row's shares they fill."""

    states: States
    rows: slice
    first: int  # pixel of the window that shares[0] is
    shares: np.ndarray  # uint8 [pixels, 4], overwritten


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Which state holds each edge of each piece; a piece of n pixels has n + 1 edges."""

    state: np.ndarray  # uint8 [states]
    length: np.ndarray  # int64 [states], cycles
    row: np.ndarray  # int64 [edges], the state
    into: np.ndarray  # int64 [edges], cycles since it began, from 0 to its length
    is_in: np.ndarray  # bool [edges], whether the edge lies in it


def put_shares(pieces: Sequence[StatePart], pixels: Pixels) -> None:
    """Fill the shares of all pieces, in 1/255 of each pixel."""
    pieces = [piece for piece in pieces if piece.rows.start < piece.rows.stop and len(piece.shares)]
    if not pieces:
        return
    edges = _edges(pieces, pixels)
    shares = (
        _sampled(edges) if pixels.window.width < FINE * pixels.width_px else _counted(edges, pieces, pixels)
    )
    at = 0
    for piece in pieces:
        piece.shares[:] = shares[at : at + len(piece.shares)]
        at += len(piece.shares) + 1


def _sampled(edges: _Edges) -> np.ndarray:
    share = _ONE_HOT[edges.state][edges.row]
    share[~edges.is_in] = 0
    return share.view(np.uint8).reshape(-1, 4)


def _counted(edges: _Edges, pieces: Sequence[StatePart], pixels: Pixels) -> np.ndarray:
    """Two states share a 64-bit number, which halves the work: their differences never carry over."""
    width = np.diff(pixels.edges)
    scale = np.zeros(len(edges.row), np.float32)  # the last edge of a piece begins no pixel
    at = 0
    for piece in pieces:
        n = len(piece.shares)
        scale[at : at + n] = 255 / width[piece.first : piece.first + n]
        at += n + 1
    shares = np.zeros((len(scale), 4), np.uint8)
    for i, table in enumerate(_PACKED):
        is_in = table[edges.state]
        cycles = is_in * edges.length
        part = np.diff((np.cumsum(cycles) - cycles)[edges.row] + is_in[edges.row] * edges.into)
        halves = part.view(np.uint32).reshape(-1, 2)  # little end first
        shares[:-1, 2 * i : 2 * i + 2] = halves * scale[:-1, None] + np.float32(1e-3)
    return shares


def _edges(pieces: Sequence[StatePart], pixels: Pixels) -> _Edges:
    counts = np.array([piece.rows.stop - piece.rows.start for piece in pieces])
    slots = np.array([len(piece.shares) + 1 for piece in pieces])
    begins, ends = borders(counts)[:-1], borders(counts)[1:]
    origin = np.array([pixels.window.begin - piece.states.base for piece in pieces])
    start = np.concatenate([piece.states.offset[piece.rows] for piece in pieces]) - np.repeat(origin, counts)
    length = np.diff(start, append=0)
    after = np.array([_after(piece) for piece in pieces]) - origin
    length[ends - 1] = after - start[ends - 1]

    # The first edge at or behind each time: its pixels by cycles, rounded up; the half keeps the quotient off
    # whole numbers.
    scale = pixels.width_px / pixels.window.width
    slot = np.floor(start * scale + (1 - 0.5 / pixels.window.width)).astype(np.int64)
    slot -= np.repeat(np.array([piece.first for piece in pieces]), counts)
    slot = np.maximum(slot, 0) + np.repeat(np.cumsum(slots) - slots, counts)
    row = np.zeros(int(slots.sum()), np.int64)
    last = np.flatnonzero(ends_run(slot))
    row[slot[last]] = last
    row = np.maximum(np.maximum.accumulate(row), np.repeat(begins, slots))
    edge = pixels.edges - pixels.window.begin
    edge = np.concatenate([edge[piece.first : piece.first + len(piece.shares) + 1] for piece in pieces])
    into, limit = edge - start[row], length[row]
    is_in = (into >= 0) & (into < limit)
    state = np.concatenate([piece.states.state[piece.rows] for piece in pieces])
    return _Edges(state, length, row, np.clip(into, 0, limit), is_in)


def _after(piece: StatePart) -> int:
    states, row = piece.states, piece.rows.stop
    return states.length if row >= len(states) else int(states.offset[row])
