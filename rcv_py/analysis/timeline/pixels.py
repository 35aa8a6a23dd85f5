"""A window of time cut into pixels, and their running shares, from tables of buckets, tokens or states.

```
buckets  |  a  |  b  |  c  |      a pixel is the mean of the buckets that touch it, weighted by overlap
pixels    |   1   |   2   |

tokens   a---  b-----c--          cycles before an edge are a sum up to the token that runs there;
edges    |   |   |   |   |        a pixel is the difference of two edges
```

The shares of a pixel, one byte each, are packed into larger integers and computed together: running sums and
totals are at most 255, so no sum or difference of them carries over.  Times first become integers in units
of 1/255 of a pixel: what a token loses by rounding its neighbour gains, and the pixels of a row sum to its
cycles.  Rows are processed a few at a time, which keeps them in the cache.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from msgspec import field

from rcv_py.analysis.core.step_curve import pixel_edges
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import borders
from rcv_py.model.activity import ACTIVITY_COUNT, ACTIVITY_OF, STATE_ORDER, STATE_PLACE
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.window import TimeWindow

WIDE_PX = 3.0  # average width from which on tokens are drawn as rectangles
PARTS = 256  # sum of the weights of the buckets in a pixel


class Buckets(Value):
    """The buckets of a size that touch each pixel, with their weights."""

    numbers: np.ndarray  # int64 [most buckets in a pixel, width], from the bucket at the first cycle on
    weight: np.ndarray  # uint16, the same shape, share of the pixel in 1/PARTS


class Pixels(Record):
    """A window cut into pixels: pixel i covers the cycles edges[i] up to edges[i + 1]."""

    window: TimeWindow
    width_px: int
    _buckets: dict[int, Buckets] = field(default_factory=dict)

    @cached_property
    def edges(self) -> np.ndarray:
        """int64 [width + 1], cycles."""
        return pixel_edges(self.window, self.width_px)

    @property
    def cycles_per_px(self) -> float:
        """Cycles of a pixel."""
        return self.window.width / self.width_px

    def at(self, time: int) -> int:
        """The pixel that holds a cycle; may lie outside the picture."""
        return ((time - self.window.begin + 1) * self.width_px - 1) // self.window.width

    def part(self, begin: int, end: int) -> tuple[int, int]:
        """The pixels [first, stop) that a span touches; at least one if it touches the window."""
        if begin <= self.window.begin and end >= self.window.end:
            return 0, self.width_px
        after = -(-(begin - self.window.begin) * self.width_px // self.window.width)
        first = min(max(min(self.at(begin), after), 0), self.width_px)
        return first, min(max(self.at(max(begin, end - 1)) + 1, first), self.width_px)

    def buckets(self, bits: int) -> Buckets:
        """The buckets of 2^bits cycles that touch each pixel, and their shares of it, which sum to 1."""
        if bits not in self._buckets:
            begin, end = self.edges[:-1], np.maximum(self.edges[1:], self.edges[:-1] + 1)
            first = begin >> bits
            most = int((((end - 1) >> bits) - first).max()) + 1
            ends = np.stack([np.minimum((first + 1 + k) << bits, end) for k in range(most)])
            reached = (ends - begin) * PARTS // (end - begin)
            weight = np.diff(reached, axis=0, prepend=0).astype(np.uint16)
            self._buckets[bits] = Buckets(first + np.arange(most)[:, None], weight)
        return self._buckets[bits]


FULL = 255  # share of a whole pixel
_CACHED = 1 << 20  # bytes of pixels and spans that are processed at once

# By activity or state, the word with its byte: a word of executions, of stalls, or of states.
_BYTES = np.eye(ACTIVITY_COUNT, dtype=np.uint8).view(np.uint64)
_EXECUTION, _STALL = (_BYTES[of] for of in ACTIVITY_OF)
# A kind that is shown as stall alone is all stall.  One whose execution has no room in the first word counts
# as two tokens, of which the second, its execution, is the stall of a kind of its own.
_ALL_STALL = np.flatnonzero(np.all(_EXECUTION == _STALL, axis=1)).tolist()
_IS_APART = (_EXECUTION[:, 1] != 0) & np.any(_EXECUTION != _STALL, axis=1)
_APART = 256
_APART_UNITS = np.array([[0], [_EXECUTION[_IS_APART, 1].max()]], np.uint64)
_TOKEN_UNITS = np.hstack([np.stack([_EXECUTION[:, 0], _STALL[:, 1]]), _APART_UNITS])
_IS_STATE = np.isin(np.arange(256), STATE_ORDER)
_STATE_UNITS = np.where(_IS_STATE, _BYTES[STATE_PLACE, 0].astype(np.uint32), np.uint32(0))[None]
_ONES = {8: np.uint64(0x0101010101010101), 4: np.uint32(0x01010101)}  # by bytes of a word


# By columns of a table: an integer as wide as a row, which numpy copies at once.
_WIDE: dict[int, type[np.generic]] = {ACTIVITY_COUNT: np.complex128, len(STATE_ORDER): np.uint32}


class SpanPart(Value):
    """Tokens or states of a segment that may be in view, and the pixels of a picture that they fill."""

    spans: Tokens | States
    rows: slice  # sorted by start; each ends by the begin of the next, or is cut there
    row: int  # of the picture
    first: int  # pixels
    stop: int

    @property
    def weight(self) -> int:
        """Approximate bytes to process."""
        return 16 * (self.stop - self.first + self.rows.stop - self.rows.start)


class TablePart(Value):
    """A level of a table, and the pixels of a picture that its buckets fill."""

    table: np.ndarray  # uint8 [buckets, activities or states]
    number: int  # of its first bucket
    row: int  # of the picture
    first: int  # pixels
    stop: int

    @property
    def weight(self) -> int:
        """Approximate bytes to process: most pixels touch three buckets."""
        return 3 * (self.stop - self.first) * self.table.shape[1]


Part = TypeVar("Part", SpanPart, TablePart)


def put_spans(parts: Sequence[SpanPart], picture: np.ndarray, pixels: Pixels) -> None:
    """Add the shares of tokens (without sub-rows) or of states, exact to 1/255 of a pixel.

    A picture is uint8 [rows, width, activities or states] of running shares; new shares are added to it.
    """
    for group in _groups([part for part in parts if part.rows.start < part.rows.stop]):
        _put_group(group, picture, pixels)


def put_table(parts: Sequence[TablePart], bits: int, picture: np.ndarray, pixels: Pixels) -> None:
    """Add the shares from tables with buckets of 2^bits cycles."""
    buckets, size = pixels.buckets(bits), picture.shape[2]
    for group in _groups(parts):
        found = np.concatenate([_taken(part, buckets) for part in group], axis=1)
        weight = np.concatenate([buckets.weight[:, part.first : part.stop] for part in group], axis=1)
        total = np.full(found.shape[1], PARTS // 2, np.uint16)
        for shares, of in zip(found, weight, strict=True):
            total += shares * np.repeat(of, size)
        _add_group(group, picture, [(total // PARTS).astype(np.uint8).reshape(-1, size)], 0)


def _taken(part: TablePart, buckets: Buckets) -> np.ndarray:
    """The buckets in each pixel of a part, uint8 [buckets, pixels * size]; 0 beyond the ends of its table."""
    at = buckets.numbers[:, part.first : part.stop] - part.number
    wide = part.table.reshape(-1).view(_WIDE[part.table.shape[1]])  # numpy copies a row at once
    found = wide.take(at, mode="clip")
    found[(at < 0) | (at >= len(wide))] = 0
    return found.view(np.uint8)


def add_shares(shares: np.ndarray, new: np.ndarray) -> None:
    """Put shares into pixels; only the outermost may hold shares already; uint8 [pixels, parts]."""
    begin, end = shares[0, -1], shares[-1, -1]
    if not begin and not end:
        shares[:] = new
        return
    old = shares[[0, -1]].astype(np.uint16)
    shares[:] = new
    for at in {0, len(shares) - 1}:
        shares[at] = np.minimum(old[min(at, 1)] + new[at], FULL)


def _add_group(group: Sequence[Part], picture: np.ndarray, new: Sequence[np.ndarray], between: int) -> None:
    """Put the shares of a group into the picture; its parts are `between` numbers apart.

    `new` are uint8 [pixels, some of the activities or states] each.
    """
    rows, width = len(group), picture.shape[1]
    whole = picture[group[0].row : group[0].row + rows]
    at = [(group[0].row + i, 0, width) for i in range(rows)]
    if at == [(part.row, part.first, part.stop) for part in group] and not whole[:, [0, -1], -1].any():
        first = 0
        for some in new:
            lines = some[: rows * (width + between)].reshape(rows, width + between, -1)
            whole[:, :, first : first + some.shape[1]] = lines[:, :width]
            first += some.shape[1]
        return
    shares, begin = np.concatenate(new, axis=1), 0
    for part in group:
        length = part.stop - part.first
        add_shares(picture[part.row, part.first : part.stop], shares[begin : begin + length])
        begin += length + between


def _groups(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """The parts in order, in groups that fit the cache."""
    group, weight = list[Part](), 0
    for part in parts:
        if group and weight + part.weight > _CACHED:
            yield group
            group, weight = [], 0
        group.append(part)
        weight += part.weight
    if group:
        yield group


def _put_group(group: Sequence[SpanPart], picture: np.ndarray, pixels: Pixels) -> None:
    """Put all parts on one axis, in 1/255 of a pixel; each has room for its pixels and another edge.

    Cycles before an edge follow from the span that runs there: the sum up to the end of the span, minus its
    part after the edge.  Sums may overflow: only their differences count.
    """
    slots = borders([part.stop - part.first + 1 for part in group])
    axis = _axis(group, slots, pixels)
    edges = int(slots[-1])
    first = axis.begin + np.int32(FULL - 1)
    first //= FULL  # edge at or after the begin
    running = np.bincount(first, minlength=edges)
    running[0] -= 1
    np.cumsum(running, out=running)  # the last span that has begun; -1 before all
    ahead = axis.end.take(running)
    ahead -= np.arange(0, edges * FULL, FULL, dtype=np.int32)
    np.maximum(ahead, 0, out=ahead)  # the part of that span after the edge
    words = list[np.ndarray]()
    for number, (phase, table) in enumerate(zip(axis.phases, axis.units, strict=True)):
        in_phase = ahead
        if number + 1 < len(axis.phases):
            in_phase = np.minimum(phase.take(running), ahead)
            ahead -= in_phase
        total = table.take(axis.code)
        later = total.take(running)
        later *= in_phase.astype(table.dtype)
        total *= phase.astype(table.dtype)
        before = np.cumsum(total, out=total).take(running)
        before -= later
        before[: first[0]] = 0
        shares = later  # in the same buffer, which stays in the cache
        np.subtract(before[1:], before[:-1], out=shares[:-1])
        if words:
            shares += words[-1] >> 56  # the total of the previous word
        shares *= _ONES[table.itemsize]  # each byte plus all bytes before it
        words.append(shares)
    _add_group(group, picture, [shares.view(np.uint8).reshape(edges, -1) for shares in words], 1)


class _Axis(Value):
    """Spans of a group on its axis, sorted by begin."""

    begin: np.ndarray  # int32, 1/255 of a pixel
    end: np.ndarray  # int32
    phases: tuple[np.ndarray, ...]  # int32 each, lengths of phases, from the last to the first
    code: np.ndarray  # int64, kind or state
    units: np.ndarray  # [phases, codes], what a unit of the phase adds to its word


def _axis(group: Sequence[SpanPart], slots: np.ndarray, pixels: Pixels) -> _Axis:
    """Put the tokens, or the states, of a group on its axis."""
    counts = [part.rows.stop - part.rows.start for part in group]
    ends = borders(counts).tolist()
    scale = FULL * pixels.width_px / pixels.window.width
    # Times before a part count from its first edge, times after it up to its last edge.
    low = [part.first * FULL for part in group]
    high = [part.stop * FULL for part in group]
    bounds = (float(each[0]) if len(set(each)) == 1 else np.repeat(each, counts) for each in (low, high))
    lowest, highest = bounds
    time, moved, place = np.empty((3, ends[-1]))
    for number, part in enumerate(group):
        own = slice(ends[number], ends[number + 1])
        time[own] = pixels.window.begin - part.spans.base
        moved[own] = int(slots[number]) * FULL - low[number] + 0.5  # truncation rounds it
    np.subtract(_column(group, "offset"), time, out=time)

    def placed() -> np.ndarray:
        np.multiply(time, scale, out=place)
        place.clip(lowest, highest, out=place)
        np.add(place, moved, out=place)
        return place.astype(np.int32)

    begin = placed()
    if isinstance(group[0].spans, States):
        time[:-1] = time[1:]
        last = [_after(part) + part.spans.base - pixels.window.begin for part in group]
        time[np.array(ends[1:]) - 1] = last
        end = placed()
        np.maximum(end, begin, out=end)
        return _Axis(begin, end, (end - begin,), _column(group, "state").astype(np.intp), _STATE_UNITS)
    stall, busy, kind = (_column(group, name) for name in ("stall", "busy", "kind"))
    time += stall
    issue = placed()
    time += busy
    if not busy.all():
        time += (busy == 0) & (stall == 0)  # a token of no length counts as a cycle
    end = placed()
    np.minimum(end[:-1], begin[1:], out=end[:-1])
    np.minimum(issue, end, out=issue)
    for only in _ALL_STALL:
        held = np.flatnonzero(kind == only)
        issue[held] = end[held]
    code = kind.astype(np.intp)
    if (is_apart := _IS_APART.take(code)).any():
        columns = _split((begin, issue, end, code), np.flatnonzero(is_apart))
        begin, issue, end, code = columns
    return _Axis(begin, end, (end - issue, issue - begin), code, _TOKEN_UNITS)


def _split(columns: tuple[np.ndarray, ...], rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Split some tokens in two: the stall, and the execution as a stall of kind _APART.

    The columns are begin, issue, end and kind.
    """
    times = 1 + np.bincount(rows, minlength=len(columns[0]))
    begin, issue, end, kind = (column.repeat(times) for column in columns)
    stalls = rows + np.arange(len(rows))
    end[stalls] = begin[stalls + 1] = issue[stalls]
    issue[stalls + 1] = end[stalls + 1]
    kind[stalls + 1] = _APART
    return begin, issue, end, kind


def _column(group: Sequence[SpanPart], name: str) -> np.ndarray:
    return np.concatenate([getattr(part.spans, name)[part.rows] for part in group])


def _after(part: SpanPart) -> int:
    states, row = part.spans, part.rows.stop
    if row < len(states.offset):
        return int(states.offset[row])
    return states.length if isinstance(states, States) else 0
