"""The running shares of pixels: from tables of buckets, or from tokens and states themselves.

```
buckets  |  a  |  b  |  c  |      a pixel is the mean of the buckets that touch it, by how much they do
pixels    |   1   |   2   |

tokens   a---  b-----c--          what was spent before an edge is a sum up to the token that runs there;
edges    |   |   |   |   |        a pixel is the difference of two edges
```

The shares of a pixel, one byte each, lie side by side in numbers of 64 (or 32) bits, and are computed on
together: they are running shares and at most 255, and so no sum or difference of them carries over.  Times
become whole numbers of 1/255 of a pixel first: what a token loses by rounding its neighbour gains, and the
pixels of a row sum to its cycles.  Rows are worked on a few at a time, which keeps them in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from rcv_py.analysis.timeline.pixels import Pixels
from rcv_py.base.runs import borders
from rcv_py.model.activity import ACTIVITY_COUNT, ACTIVITY_OF, STATE_ORDER, STATE_PLACE
from rcv_py.model.tokens import States, Tokens

FULL = 255  # share of a pixel that is all of it
_CACHED = 1 << 15  # pixels and spans that are worked on at once

# By activity or state, the bytes of a pixel that grow with it: its own and all above.
_GROW = np.tril(np.ones((ACTIVITY_COUNT, ACTIVITY_COUNT), np.uint8)).T.copy().view(np.uint64)
_EXECUTION, _STALL = (tuple(np.ascontiguousarray(_GROW[of].T)) for of in ACTIVITY_OF)  # two words each
_IS_STATE = np.isin(np.arange(256), STATE_ORDER)
_STATES = np.where(_IS_STATE, _GROW[STATE_PLACE, 0] & np.uint64(0xFFFFFFFF), np.uint64(0))


# By columns of a table: a number as wide as a row, which numpy takes at once, and one to compute with.
_WIDE: dict[int, tuple[type[np.generic], type[np.unsignedinteger]]] = {
    ACTIVITY_COUNT: (np.complex128, np.uint64),
    len(STATE_ORDER): (np.uint32, np.uint32),
}


@dataclass(frozen=True, slots=True, eq=False)
class SpanPart:
    """Tokens or states of one segment that may be in view, and the pixels of its row that they fill."""

    spans: Tokens | States
    rows: slice  # sorted by start; each ends at the latest where the next begins, or is cut there
    first: int  # pixel of the window that shares[0] is
    shares: np.ndarray  # uint8 [pixels, activities or states], running; what is there is added to

    @property
    def weight(self) -> int:
        """Numbers to be worked on."""
        return len(self.shares) + self.rows.stop - self.rows.start


@dataclass(frozen=True, slots=True, eq=False)
class TablePart:
    """A level of a table, and the pixels of its row that its buckets fill."""

    table: np.ndarray  # uint8 [buckets, activities or states]
    number: int  # of its first bucket
    first: int
    shares: np.ndarray  # as above

    @property
    def weight(self) -> int:
        """Numbers to be worked on."""
        return 2 * len(self.shares)


Part = TypeVar("Part", SpanPart, TablePart)


def put_spans(parts: Sequence[SpanPart], pixels: Pixels) -> None:
    """Add the shares of tokens (without sub-rows) or of states, exact to 1/255 of a pixel."""
    for group in _groups([part for part in parts if len(part.shares) and part.rows.start < part.rows.stop]):
        _put_group(group, pixels)


def put_table(parts: Sequence[TablePart], bits: int, pixels: Pixels) -> None:
    """Add the shares that tables with buckets of 2^bits cycles know."""
    buckets = pixels.buckets(bits)
    for group in _groups([part for part in parts if len(part.shares)]):
        size = group[0].table.shape[1]
        row, word = _WIDE[size]
        ends = borders([len(part.shares) for part in group])
        found: np.ndarray = np.empty((len(buckets.weight), int(ends[-1])), row)
        for part, begin, end in zip(group, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            table: np.ndarray = np.ascontiguousarray(part.table).view(row)[:, 0]
            at = buckets.first[part.first : part.first + len(part.shares)] - part.number
            for k, own in enumerate(found[:, begin:end]):
                _take(table, at + k, own)
        words = found.view(word)
        each = size // np.dtype(word).itemsize
        weight = buckets.words(word, each)
        parts_of = [slice(each * part.first, each * (part.first + len(part.shares))) for part in group]
        mean = _mean(words, np.concatenate([weight[:, part] for part in parts_of], axis=1))
        shares = mean.view(np.uint8).reshape(-1, size)
        for part, begin, end in zip(group, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            add_shares(part.shares, shares[begin:end])


def add_shares(shares: np.ndarray, new: np.ndarray) -> None:
    """Put shares into pixels, of which only the outermost may hold some already."""
    begin, end = shares[0, -1], shares[-1, -1]
    if not begin and not end:
        shares[:] = new
        return
    old = shares[[0, -1]].astype(np.uint16)
    shares[:] = new
    for at in {0, len(shares) - 1}:
        shares[at] = np.minimum(old[min(at, 1)] + new[at], FULL)


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


def _take(table: np.ndarray, at: np.ndarray, out: np.ndarray) -> None:
    """Rows of a table, nothing for those beyond its ends; `at` is sorted."""
    table.take(at, mode="clip", out=out)
    if at[0] < 0:
        out[: np.searchsorted(at, 0)] = 0
    if at[-1] >= len(table):
        out[np.searchsorted(at, len(table)) :] = 0


def _mean(words: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weighted mean over the first axis of every byte, rounded to the nearest."""
    kind = words.dtype.type
    odd = kind(0x00FF00FF00FF00FF & np.iinfo(words.dtype).max)
    low = np.full(words.shape[1], odd & kind(0x0080008000800080 & np.iinfo(words.dtype).max))
    high = low.copy()
    for word, share in zip(words, weight, strict=True):
        part = word & odd
        part *= share
        low += part
        np.right_shift(word, kind(8), out=part)
        part &= odd
        part *= share
        high += part
    low >>= kind(8)
    low &= odd
    high &= ~odd
    low |= high
    return low


# -- tokens and states ----------------------------------------------------------------------------------


def _put_group(group: Sequence[SpanPart], pixels: Pixels) -> None:
    """Spans begin at the first edge (or later) of their part, and the last one ends where it ends."""
    counts = np.array([part.rows.stop - part.rows.start for part in group])
    slots = np.array([len(part.shares) + 2 for part in group])  # edges, and one for what starts behind them
    first_span, first_slot = borders(counts), borders(slots)
    origin = np.repeat([float(pixels.window.begin - part.spans.base) for part in group], counts)
    scale = FULL * pixels.width_px / pixels.window.width
    begin, steps = _times(group, first_span, origin, scale)
    lengths = np.diff([begin, *steps], axis=0)

    # The first edge at or behind each begin; the last span of an edge is the one that runs there.
    slot = -(-begin // FULL)
    slot -= np.repeat([part.first for part in group], counts)
    np.clip(slot, 0, np.repeat(slots - 1, counts), out=slot)
    slot += np.repeat(first_slot[:-1], counts)
    running = np.zeros(int(first_slot[-1]), np.int64)
    running[slot] = np.arange(len(slot))
    running[first_slot[:-1]] = np.maximum(running[first_slot[:-1]], first_span[:-1])
    np.maximum.accumulate(running, out=running)
    edge = np.concatenate([np.arange(part.first, part.first + len(part.shares) + 2) for part in group])
    left = np.maximum(edge * FULL - begin[running], 0)

    units = _units(group)
    spent = [np.zeros(len(begin), np.uint64) for _ in units[0]]  # up to each span's begin
    reached = [np.zeros(len(left), np.uint64) for _ in units[0]]  # from there to the edge
    for length, unit in zip(lengths, units, strict=True):
        inside = np.minimum(length[running], left)
        left -= inside
        for word, grow in enumerate(unit):
            spent[word] += length.view(np.uint64) * grow
            reached[word] += inside.view(np.uint64) * grow[running]
    size = group[0].shares.shape[1]
    shares = np.empty((len(left) - 1, len(spent)), np.uint64)
    for word, (sums, rest) in enumerate(zip(spent, reached, strict=True)):
        total = (np.cumsum(sums) - sums)[running]
        total += rest
        np.subtract(total[1:], total[:-1], out=shares[:, word])
    flat = shares.view(np.uint8)[:, :size]
    for part, at in zip(group, first_slot.tolist(), strict=False):
        add_shares(part.shares, flat[at : at + len(part.shares)])


def _times(
    group: Sequence[SpanPart], first: np.ndarray, origin: np.ndarray, scale: float
) -> tuple[np.ndarray, list[np.ndarray]]:
    """In 1/255 of a pixel: where spans begin, and where each of their parts ends; int64 [spans]."""
    start = np.concatenate([part.spans.offset[part.rows] for part in group]) - origin
    begin = _whole(start, scale)
    after = np.empty_like(begin)
    after[:-1] = begin[1:]
    last = first[1:] - 1
    tokens = [(part.spans, part.rows) for part in group if isinstance(part.spans, Tokens)]
    if not tokens:
        ends = [_after(part) for part in group]
        after[last] = _whole(np.array(ends) - origin[last], scale)
        return begin, [np.maximum(after, begin)]
    stall = np.concatenate([spans.stall[rows] for spans, rows in tokens])
    busy = np.concatenate([spans.busy[rows] for spans, rows in tokens])
    start += stall
    issue = _whole(start, scale)
    start += np.maximum(busy, stall == 0)  # what takes no time counts as a cycle
    end = _whole(start, scale)
    after[last] = end[last]
    np.minimum(end, after, out=end)
    np.minimum(issue, end, out=issue)
    return begin, [issue, end]


def _whole(time: np.ndarray, scale: float) -> np.ndarray:
    place = time * scale
    place += 0.5
    return np.floor(place, out=place).astype(np.int64)


def _units(group: Sequence[SpanPart]) -> list[list[np.ndarray]]:
    """By part of a span and by word, what each span adds to the bytes of its pixel a 1/255; uint64."""
    if isinstance(group[0].spans, States):
        state = np.concatenate(
            [part.spans.state[part.rows] for part in group if isinstance(part.spans, States)]
        )
        return [[_STATES[state]]]
    kind = np.concatenate([part.spans.kind[part.rows] for part in group if isinstance(part.spans, Tokens)])
    return [[word[kind] for word in table] for table in (_STALL, _EXECUTION)]


def _after(part: SpanPart) -> int:
    states, row = part.spans, part.rows.stop
    if row < len(states.offset):
        return int(states.offset[row])
    return states.length if isinstance(states, States) else 0
