"""The running shares of pixels: from tables of buckets, or from tokens and states themselves.

```
buckets  |  a  |  b  |  c  |      a pixel is the mean of the buckets that touch it, by how much they do
pixels    |   1   |   2   |

tokens   a---  b-----c--          what was spent before an edge is a sum up to the token that runs there;
edges    |   |   |   |   |        a pixel is the difference of two edges
```

The shares of a pixel, one byte each, lie side by side in larger numbers and are computed on together: they
are running shares and at most 255, and so no sum or difference of them carries over.  Times
become whole numbers of 1/255 of a pixel first: what a token loses by rounding its neighbour gains, and the
pixels of a row sum to its cycles.  Rows are worked on a few at a time, which keeps them in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from rcv_py.analysis.timeline.pixels import Pixels, Strip
from rcv_py.base.records import dataclass
from rcv_py.base.runs import borders
from rcv_py.model.activity import ACTIVITY_COUNT, ACTIVITY_OF, STATE_ORDER, STATE_PLACE
from rcv_py.model.tokens import States, Tokens

FULL = 255  # share of a pixel that is all of it
_CACHED = 1 << 19  # bytes of pixels and spans that are worked on at once

# By activity or state, the bytes of a pixel that grow with it: its own and all above.
_GROW = np.tril(np.ones((ACTIVITY_COUNT, ACTIVITY_COUNT), np.uint8)).T.copy().view(np.uint64)
# By word, what a stretch adds to its pixel: of a kind's stall, then of its execution; [words, kinds].
_TOKEN_UNITS = np.ascontiguousarray(np.concatenate([_GROW[of] for of in ACTIVITY_OF[::-1]]).T)
_IS_STATE = np.isin(np.arange(256), STATE_ORDER)
_STATE_UNITS = np.where(_IS_STATE, _GROW[STATE_PLACE, 0].astype(np.uint32), np.uint32(0))[None]


# By columns of a table: a number as wide as a row, which numpy takes at once.
_WIDE: dict[int, type[np.generic]] = {ACTIVITY_COUNT: np.complex128, len(STATE_ORDER): np.uint32}


@dataclass(frozen=True, slots=True, eq=False)
class SpanPart:
    """Tokens or states of one segment that may be in view, and the pixels of a picture that they fill."""

    spans: Tokens | States
    rows: slice  # sorted by start; each ends at the latest where the next begins, or is cut there
    row: int  # of the picture
    first: int  # pixels
    stop: int

    @property
    def weight(self) -> int:
        """Bytes to be worked on, about."""
        return 16 * (self.stop - self.first + self.rows.stop - self.rows.start)


@dataclass(frozen=True, slots=True, eq=False)
class TablePart:
    """A level of a table, and the pixels of a picture that its buckets fill."""

    table: np.ndarray  # uint8 [buckets, activities or states]
    number: int  # of its first bucket
    row: int  # of the picture
    first: int  # pixels
    stop: int

    @property
    def weight(self) -> int:
        """Bytes to be worked on: most pixels touch three buckets."""
        return 3 * (self.stop - self.first) * self.table.shape[1]


Part = TypeVar("Part", SpanPart, TablePart)


def put_spans(parts: Sequence[SpanPart], picture: np.ndarray, pixels: Pixels) -> None:
    """Add the shares of tokens (without sub-rows) or of states, exact to 1/255 of a pixel.

    A picture is uint8 [rows, width, activities or states] of running shares; what is there is added to.
    """
    for group in _groups([part for part in parts if part.rows.start < part.rows.stop]):
        _put_group(group, picture, pixels)


def put_table(parts: Sequence[TablePart], bits: int, picture: np.ndarray, pixels: Pixels) -> None:
    """Add the shares that tables with buckets of 2^bits cycles know."""
    buckets, size = pixels.buckets(bits), picture.shape[2]
    for group in _groups(parts):
        strips = [(part.first, part.stop) for part in group]
        found, places = _room(strips, len(buckets.weight), _WIDE[size])
        for part, place in zip(group, places, strict=True):
            _take(part, buckets.strip(part.first, part.stop), place)
        shares = _mean(found.view(np.uint16), buckets.weights(strips, size // 2)).view(np.uint8)
        _add_group(group, picture, shares.reshape(-1, size), 0)


def add_shares(shares: np.ndarray, new: np.ndarray) -> None:
    """Put shares into pixels, of which only the outermost may hold some already; uint8 [pixels, parts]."""
    begin, end = shares[0, -1], shares[-1, -1]
    if not begin and not end:
        shares[:] = new
        return
    old = shares[[0, -1]].astype(np.uint16)
    shares[:] = new
    for at in {0, len(shares) - 1}:
        shares[at] = np.minimum(old[min(at, 1)] + new[at], FULL)


def _add_group(group: Sequence[Part], picture: np.ndarray, new: np.ndarray, between: int) -> None:
    """Put the shares of a group, part after part with so many numbers between, into the picture."""
    rows, width, size = len(group), picture.shape[1], picture.shape[2]
    whole = picture[group[0].row : group[0].row + rows]
    at = [(group[0].row + i, 0, width) for i in range(rows)]
    if at == [(part.row, part.first, part.stop) for part in group] and not whole[:, [0, -1], -1].any():
        whole[:] = new[: rows * (width + between)].reshape(rows, width + between, size)[:, :width]
        return
    begin = 0
    for part in group:
        length = part.stop - part.first
        add_shares(picture[part.row, part.first : part.stop], new[begin : begin + length])
        begin += length + between


def _groups(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """The parts in order, cut where a group would outgrow the cache."""
    group, weight = list[Part](), 0
    for part in parts:
        if group and weight + part.weight > _CACHED:
            yield group
            group, weight = [], 0
        group.append(part)
        weight += part.weight
    if group:
        yield group


# -- tables ---------------------------------------------------------------------------------------------


def _room(
    strips: Sequence[tuple[int, int]], most: int, wide: type[np.generic]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Room for the buckets of strips of pixels, [most, strips, width], and that of each, [most, width].

    Where strips are of different pixels they lie in one row.  Else those of a strip lie side by side, as
    numpy wants them: what it takes into other places it copies there.
    """
    ends = borders([stop - first for first, stop in strips]).tolist()
    if len(set(strips)) == 1:
        found: np.ndarray = np.empty((len(strips), most, ends[1]), wide)
        return found.swapaxes(0, 1), [*found]
    found = np.empty((most, 1, ends[-1]), wide)
    return found, [found[:, 0, begin:end] for begin, end in pairwise(ends)]


def _take(part: TablePart, strip: Strip, out: np.ndarray) -> None:
    """The buckets in each pixel of a part, nothing for those beyond the ends of its table."""
    table, skipped = part.table.reshape(-1).view(out.dtype), strip.first - part.number
    if 0 <= skipped < len(table) - strip.last:
        table[skipped:].take(strip.numbers, None, out, "clip")
        return
    at = strip.numbers + skipped
    table.take(at, None, out, "clip")
    out[(at < 0) | (at >= len(table))] = 0


def _mean(pairs: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weighted mean over the first axis of both bytes of every number, rounded to the nearest; uint16."""
    low = np.full(pairs.shape[1:], 0x80, np.uint16)
    high = low.copy()
    part = np.empty_like(low)
    for pair, share in zip(pairs, weight, strict=True):
        np.bitwise_and(pair, 0xFF, out=part)
        part *= share
        low += part
        np.right_shift(pair, 8, out=part)
        part *= share
        high += part
    low >>= 8
    high &= 0xFF00
    low |= high
    return low


# -- tokens and states ----------------------------------------------------------------------------------


def _put_group(group: Sequence[SpanPart], picture: np.ndarray, pixels: Pixels) -> None:
    """All parts on one axis, in 1/255 of a pixel: each has room for its pixels, and an edge more.

    What was spent before an edge is known from the stretch that runs there: the sum of all up to its end,
    without what of it lies behind the edge.  Sums may overflow: only their differences count.
    """
    slots = borders([part.stop - part.first + 1 for part in group])
    begin, length, codes = _stretches(group, slots, pixels)
    units: np.ndarray = _STATE_UNITS if isinstance(group[0].spans, States) else _TOKEN_UNITS
    word = units.dtype
    edges = np.arange(0, int(slots[-1]) * FULL, FULL, dtype=np.int32)
    first = begin + np.int32(FULL - 1)
    first //= FULL  # edge at or behind the begin
    begun = np.bincount(first, minlength=len(edges))
    begun[0] -= 1
    running = np.cumsum(begun, out=begun)  # the last one that has begun
    ahead = begin.take(running)
    ahead += length.take(running)
    ahead -= edges
    np.maximum(ahead, 0, out=ahead)  # of that one, what lies behind the edge
    left, length = ahead.astype(word), length.astype(word)
    codes = codes.astype(np.intp)
    shares: np.ndarray = np.empty((len(edges), len(units)), word)
    for number, table in enumerate(units):
        unit = table.take(codes)
        later = unit.take(running)
        later *= left
        unit *= length  # in the same room, which stays in the cache
        total = np.cumsum(unit, out=unit).take(running)
        total -= later
        np.subtract(total[1:], total[:-1], out=shares[:-1, number])
    _add_group(group, picture, shares.view(np.uint8), 1)


def _stretches(
    group: Sequence[SpanPart], slots: np.ndarray, pixels: Pixels
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where stretches of one kind begin, how long they are, and their numbers in the table of units.

    All int32, sorted by begin; the first one is nothing, at 0.  A token is a stretch of stall and one of
    execution.
    """
    counts = [part.rows.stop - part.rows.start for part in group]
    ends = borders(counts)
    scale = FULL * pixels.width_px / pixels.window.width
    # What is before its part counts from the first edge, what is behind it to the last one.
    low = [part.first * FULL for part in group]
    high = [part.stop * FULL for part in group]
    moved = np.repeat((slots[:-1] * FULL - np.array(low)).astype(np.int32), counts)
    bounds = (float(each[0]) if len(set(each)) == 1 else np.repeat(each, counts) for each in (low, high))
    lowest, highest = bounds
    place = np.empty(len(moved))

    def placed(time: np.ndarray) -> np.ndarray:
        np.multiply(time, scale, out=place)
        np.add(place, 0.5, out=place)
        place.clip(lowest, highest, out=place)
        whole = place.astype(np.int32)
        whole += moved
        return whole

    time = np.empty(len(moved))
    for part, first, stop in zip(group, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        origin = float(pixels.window.begin - part.spans.base)
        np.subtract(part.spans.offset[part.rows], origin, out=time[first:stop])
    begin = placed(time)
    tokens = [(part.spans, part.rows) for part in group if isinstance(part.spans, Tokens)]
    states = [(part.spans, part.rows) for part in group if isinstance(part.spans, States)]
    if not tokens:
        stop = np.append(time[1:], 0.0)
        last = [pixels.window.begin - part.spans.base for part in group]
        stop[ends[1:] - 1] = np.array([_after(part) for part in group], np.float64) - last
        end = placed(stop)
        np.maximum(end, begin, out=end)
        state = np.concatenate([spans.state[rows] for spans, rows in states])
        return _in_turn(begin), _in_turn(end - begin), _in_turn(state)
    stall = np.concatenate([spans.stall[rows] for spans, rows in tokens])
    busy = np.concatenate([spans.busy[rows] for spans, rows in tokens])
    kind = np.concatenate([spans.kind[rows] for spans, rows in tokens])
    time += stall
    issue = placed(time)
    time += np.maximum(busy, stall == 0)  # what takes no time counts as a cycle
    end = placed(time)
    np.minimum(end[:-1], begin[1:], out=end[:-1])
    np.minimum(issue, end, out=issue)
    lengths = _in_turn(issue - begin, end - issue)
    return _in_turn(begin, issue), lengths, _in_turn(kind, kind + np.int32(256))


def _in_turn(*columns: np.ndarray) -> np.ndarray:
    """0, and the numbers of the columns in turn; int32."""
    made: np.ndarray = np.empty(1 + len(columns) * len(columns[0]), np.int32)
    made[0] = 0
    for at, column in enumerate(columns, 1):
        made[at :: len(columns)] = column
    return made


def _after(part: SpanPart) -> int:
    states, row = part.spans, part.rows.stop
    if row < len(states.offset):
        return int(states.offset[row])
    return states.length if isinstance(states, States) else 0
