"""Level-of-detail tables of waves: activities in buckets of 2^k cycles.

```
cycles   0       32      64      96      128
tokens   vVVV..bbbbbbbbbbbbbB....................
level 0  stall, VALU, none | VMEM stall | VMEM, none | none          buckets of 32
level 1  stall, VALU, VMEM stall, none | VMEM, none                  buckets of 64
```

All levels come from sums of cycles, so that all are equally exact.  The tables of a batch of waves are built
together, in consecutive rows of one table: most waves are short, and the overhead of a call a wave would
exceed its work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rcv_py.base.record import Record, Value
from rcv_py.base.runs import borders, ranges, starts_run
from rcv_py.model.activity import ACTIVITY_COUNT, ACTIVITY_OF, STATE_ORDER, STATE_PLACE
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.waves import LodColumns, WaveColumns, WaveLod, facts_of

FINEST = 5  # buckets of 32 cycles; below that the tokens themselves are drawn
TOKENS_A_BUCKET = 8  # of the finest level, least average: with fewer, drawing tokens costs less
MIN_BUCKETS = 8  # buckets that a wave may have with any number of tokens
JOINED_BUCKETS = 128  # finest buckets a wave of a joined row may have on average
FULL = 255  # share of a whole bucket

_STATES = len(STATE_ORDER)
_IS_STATE = np.isin(np.arange(256), STATE_ORDER)
_EXECUTION, _STALL = (of.astype(np.uint8) for of in ACTIVITY_OF)
_PLACE = STATE_PLACE.astype(np.uint8)
_SPREAD = 159  # odd, about 256 by the golden ratio: remainders of buckets in a row are rounded up evenly
_NARROW = 1 << 30  # cycles for which 32-bit arithmetic suffices
_SUMMED = 1 << 22  # cycles of a bucket for which 32-bit arithmetic of shares suffices
Piece = tuple[np.ndarray, np.ndarray]  # numbers of a bucket's code (row * codes + code), and cycles


def build(tokens: Tokens, states: States) -> WaveLod:
    """Return the tables of one wave: at most about 5 bytes a token; see `tables`."""
    none = np.zeros(0, np.int32)
    wave = WaveColumns(
        facts=facts_of(1, base=tokens.base, state_base=states.base, length=states.length),
        token_first=borders([len(tokens)]),
        **{name: getattr(tokens, name) for name in ("offset", "stall", "busy", "kind", "line")},
        state_first=borders([len(states)]),
        state_offset=states.offset,
        state=states.state,
        wait_line=none,
        wait_first=none,
        depends_on=none,
    )
    return tables(wave).tables()[0]


def tables(waves: WaveColumns) -> LodColumns:
    """Return the tables of all waves of a batch: at most about 5 bytes a token.

    Tokens of no length count as one cycle.  If overlapping tokens overfill a bucket, it shows the share of
    each activity in their cycles.
    """
    executed, stalled = _token_spans(waves)
    lived = _state_spans(waves)
    base, state_base = waves.facts["base"], waves.facts["state_base"]
    grid = _Grid.over(*_extents(waves, executed), executed.count)
    kind = _running([(executed, base), (stalled, base)], grid, ACTIVITY_COUNT)
    state = _running([(lived, state_base)], grid, _STATES)
    return _grown(kind, state, grid, 1 << grid.shift)


def joined(lods: Sequence[WaveLod]) -> WaveLod:
    """Return a common table for the consecutive waves of a row, so that a row costs one look-up.

    Its finest level has about JOINED_BUCKETS buckets a wave.
    """
    begin = min(lod.base for lod in lods)
    end = max(((lod.base >> lod.shift) + len(lod.kind[0])) << lod.shift for lod in lods)
    wanted = _shift(np.array([end - begin]), np.array([JOINED_BUCKETS * len(lods)]))
    shift = max(int(wanted[0]), *(lod.shift for lod in lods))
    first, stop = begin >> shift, ((end - 1) >> shift) + 1
    kind = np.zeros((stop - first, ACTIVITY_COUNT), np.int32)  # 8 million waves would have to overlap
    state = np.zeros((stop - first, _STATES), np.int32)
    for lod in lods:
        _add(lod, shift, first, kind, state)
    row = _Grid(np.array([begin]), np.array([shift]), borders([stop - first]))
    return _grown(kind, state, row, np.array([FULL])).tables()[0]


class _Grid(Value):
    """The finest buckets of some waves, in consecutive rows of one table."""

    begin: np.ndarray  # int64 [waves], cycles
    shift: np.ndarray  # int64 [waves]
    first: np.ndarray  # int64 [waves + 1], rows

    @classmethod
    def over(cls, begin: np.ndarray, end: np.ndarray, tokens: np.ndarray) -> _Grid:
        """Buckets for waves from begin to end with these numbers of tokens, at least one a wave."""
        end = np.maximum(end, begin + 1)
        shift = _shift(end - begin, np.maximum(MIN_BUCKETS, tokens // TOKENS_A_BUCKET))
        return cls(begin, shift, borders(((end - 1) >> shift) - (begin >> shift) + 1))

    def origin(self, base: np.ndarray) -> np.ndarray:
        """Origin of times that count from these bases, on an axis on which bucket i begins at i << shift."""
        moved = base + ((self.first[:-1] - (self.begin >> self.shift)) << self.shift)
        last = int(self.first[-1]) << int(self.shift.max(initial=0))
        is_narrow = max(last, int(np.abs(moved).max(initial=0))) < _NARROW
        return moved.astype(np.int32) if is_narrow else moved

    def shifts(self, counts: np.ndarray) -> np.ndarray:
        """The shift of each span, for `counts` spans a wave; a single value if all are equal."""
        shift = self.shift.astype(np.int32)
        return shift[:1] if len(shift) and np.all(shift == shift[0]) else np.repeat(shift, counts)


class _Spans(Record):
    """Spans of an activity or state; begin and end count from the base of their wave."""

    begin: np.ndarray  # int [n]
    end: np.ndarray
    code: np.ndarray  # uint8 [n], activity or state
    count: np.ndarray  # int64 [waves], spans of each


def _shift(width: np.ndarray, buckets: np.ndarray) -> np.ndarray:
    """The finest shifts with at most `buckets` whole buckets."""
    shift: np.ndarray = np.full_like(width, FINEST)
    while np.any(more := width >> shift > buckets):
        shift += more
    return shift


def _token_spans(waves: WaveColumns) -> tuple[_Spans, _Spans]:
    """Spans of execution of tokens, and of stalls; a span of no length counts as a cycle."""
    highest = sum(int(column.max(initial=0)) for column in (waves.offset, waves.stall, waves.busy))
    issue = np.add(waves.offset, waves.stall, dtype=np.int32 if highest < _NARROW else np.int64)
    end = issue + waves.busy
    if not waves.busy.all():
        end += (waves.busy == 0) & (waves.stall == 0)
    held = np.flatnonzero(waves.stall != 0)  # of bools: several times as fast as of numbers
    until = issue[held]
    code = _STALL.take(waves.kind[held])
    stalls = np.diff(held.searchsorted(waves.token_first))
    return (
        _Spans(issue, end, _EXECUTION.take(waves.kind), np.diff(waves.token_first)),
        _Spans(until - waves.stall[held], until, code, stalls),
    )


def _state_spans(waves: WaveColumns) -> _Spans:
    first, begin, length = waves.state_first, waves.state_offset, waves.facts["length"]
    has = first[1:] > first[:-1]
    end = np.empty(len(begin), begin.dtype if int(length.max(initial=0)) < _NARROW else np.int64)
    end[:-1] = begin[1:]
    end[first[1:][has] - 1] = length[has]
    rows = np.flatnonzero((end > begin) & _IS_STATE.take(waves.state))
    if len(rows) == len(begin):
        return _Spans(begin, end, _PLACE.take(waves.state), np.diff(first))
    return _Spans(begin[rows], end[rows], _PLACE.take(waves.state[rows]), np.diff(rows.searchsorted(first)))


def _extents(waves: WaveColumns, executed: _Spans) -> tuple[np.ndarray, np.ndarray]:
    """First and last cycle of each wave by its tokens or states; its base if there are none."""
    base, state_base, length = (waves.facts[name] for name in ("base", "state_base", "length"))
    begin, end = base.copy(), base.copy()
    has = np.flatnonzero(executed.count)
    first = waves.token_first[has]
    begin[has] += waves.offset[first]
    if len(has):
        end[has] += np.maximum.reduceat(executed.end, first)
    lived = np.flatnonzero((length > 0) & (np.diff(waves.state_first) > 0))
    since = state_base[lived] + waves.state_offset[waves.state_first[lived]]
    until = state_base[lived] + length[lived]
    alone = executed.count[lived] == 0
    begin[lived] = np.where(alone, since, np.minimum(begin[lived], since))
    end[lived] = np.where(alone, until, np.maximum(end[lived], until))
    return begin, end


def _running(parts: Sequence[tuple[_Spans, np.ndarray]], grid: _Grid, codes: int) -> np.ndarray:
    """Cut spans of waves with these bases at the edges of buckets; return their cycles by bucket.

    The result is int [rows, codes], running over codes.
    """
    pieces = [piece for spans, base in parts for piece in _cut(spans, grid, base, codes)]
    index = np.concatenate([index for index, _ in pieces], dtype=np.intp)
    cycles = np.concatenate([cycles for _, cycles in pieces], dtype=np.float64)
    rows = int(grid.first[-1])
    # A span of no length may begin after the last bucket.  Sums below 2^53 are exact in doubles.
    sums = np.bincount(index, cycles, (rows + 1) * codes)[: rows * codes].reshape(rows, codes)
    running: np.ndarray = sums.astype(np.int32 if sums.max(initial=0) < _SUMMED / codes else np.int64)
    for code in range(1, codes):
        running[:, code] += running[:, code - 1]
    return running


def _cut(spans: _Spans, grid: _Grid, base: np.ndarray, codes: int) -> Iterator[Piece]:
    """The pieces of spans inside single buckets; their numbers fit 32 bits if times are _NARROW."""
    origin, shift = np.repeat(grid.origin(base), spans.count), grid.shifts(spans.count)
    begin, end = spans.begin + origin, spans.end + origin
    bucket, last = begin >> shift, (end - 1) >> shift
    cycles: np.ndarray = end - begin
    split = np.flatnonzero(last > bucket)
    if len(split):
        size = shift if len(shift) == 1 else shift[split]
        first, last, code = bucket[split] + 1, last[split], spans.code[split]
        cycles[split] = (first << size) - begin[split]
        yield last * codes + code, end[split] - (last << size)
        yield _between(first, last, code, grid, codes)
    yield bucket * codes + spans.code, cycles


def _between(first: np.ndarray, stop: np.ndarray, code: np.ndarray, grid: _Grid, codes: int) -> Piece:
    count, rows = stop - first, int(grid.first[-1])
    if int(count.sum(dtype=np.int64)) <= len(code) + codes * rows:
        row = ranges(first, count)
        index, times = row * codes + np.repeat(code, count), np.ones(1, np.int64)
    else:  # with this many overlaps, counting begins and ends is faster
        places = (row.astype(np.intp) * codes + code for row in (first, stop))
        edges = (np.bincount(place, minlength=rows * codes) for place in places)
        filled = np.subtract(*edges)[: rows * codes].reshape(rows, codes).cumsum(axis=0).ravel()
        index = np.flatnonzero(filled)
        row, times = index // codes, filled[index]
    shift = grid.shifts(np.diff(grid.first)).astype(np.int64)
    return index, np.broadcast_to(times << (shift if len(shift) == 1 else shift[row]), index.shape)


def _grown(kind: np.ndarray, state: np.ndarray, grid: _Grid, full: np.ndarray) -> LodColumns:
    """All levels from these running cycles, for each wave up to the first level with two buckets.

    `full` are the cycles of a finest bucket of each wave.
    """
    count = np.diff(grid.first)
    wave, number = np.repeat(np.arange(len(count)), count), ranges(grid.begin >> grid.shift, count)
    levels, full = np.zeros(len(count), np.int64), np.repeat(full, count)
    every: list[tuple[np.ndarray, ...]] = []
    while True:
        of_wave = np.bincount(wave, minlength=len(count))
        levels += of_wave > 0
        every.append((of_wave[of_wave > 0], number, full, kind, state))
        rows = np.flatnonzero((of_wave > 2)[wave])
        if not len(rows):
            break
        wave, number = wave[rows], number[rows] >> 1
        is_first = starts_run(wave, number)  # of the one or two buckets that form a bucket of the next level
        first, second = np.flatnonzero(is_first), np.flatnonzero(~is_first)
        place = second - np.arange(1, len(second) + 1)  # the bucket of the next level
        sums = []
        for running in (kind, state):
            dtype = np.int64 if int(running[:, -1].max(initial=0)) >= _NARROW else running.dtype
            sums.append(running.take(rows[first], axis=0).astype(dtype, copy=False))
            sums[-1][place] += running.take(rows[second], axis=0)
        (kind, state), full = sums, full[rows[first]] << 1
        wave, number = wave[first], number[first]
    size, number, full, *tables = map(np.concatenate, zip(*every, strict=True))
    facts = np.stack([grid.begin, grid.shift, levels], axis=1)
    return LodColumns(facts, size, *(_shares(running, number, full) for running in tables))


def _shares(running: np.ndarray, number: np.ndarray, full: np.ndarray) -> np.ndarray:
    """Running shares in 1/FULL, remainders rounded up in turn; uint8 [buckets, activities or states]."""
    room = np.maximum(running[:, -1], full)
    turn = (2 * (number * _SPREAD & 255) + 1) * room >> 9
    # Exact: a quotient of at most FULL is further from a whole number than doubles are from each other.
    return ((running * float(FULL) + turn[:, np.newaxis]) / room[:, np.newaxis]).astype(np.uint8)


def _add(lod: WaveLod, shift: int, first: int, kind: np.ndarray, state: np.ndarray) -> None:
    """Add a wave's running shares to the row's buckets, int64 [buckets, activities or states]."""
    level = min(shift - lod.shift, len(lod.kind) - 1)
    beyond = shift - lod.shift - level
    number = lod.base >> (lod.shift + level)
    for table, row in ((lod.kind[level], kind), (lod.state[level], state)):
        if beyond == 0:
            row[number - first : number - first + len(table)] += table
            continue
        for i, shares in enumerate(table):  # a wave shorter than a bucket: one or two buckets
            row[((number + i) >> beyond) - first] += shares >> min(beyond, 8)
