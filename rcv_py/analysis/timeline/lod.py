"""The level-of-detail tables of a wave: what the cycles of a bucket of 2^k cycles were spent on.

```
cycles   0       32      64      96      128
tokens   vVVV..bbbbbbbbbbbbbB....................
level 0  stall, VALU, none | VMEM stall | VMEM, none | none          buckets of 32
level 1  stall, VALU, VMEM stall, none | VMEM, none                  buckets of 64
```

All levels come from sums of cycles, so that none is less exact than another.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rcv_py.base.runs import ranges
from rcv_py.model.activity import ACTIVITY_COUNT, ACTIVITY_OF, STATE_ORDER, STATE_PLACE
from rcv_py.model.tokens import States, Tokens, find
from rcv_py.model.waves import WaveLod
from rcv_py.model.window import TimeWindow

FINEST = 5  # buckets of 32 cycles; below that the tokens themselves are drawn
TOKENS_A_BUCKET = 8  # of the finest level on average, at least: below that a pixel costs less from tokens
MIN_BUCKETS = 8  # buckets a wave may always have, however few tokens it has
JOINED_BUCKETS = 128  # finest buckets a wave of a joined row may have on average
CHUNK_BITS = 13  # 2^13 buckets are counted at once: their counters stay in the processor's cache
FULL = 255  # share of a bucket that is all of it

_STATES = len(STATE_ORDER)
_NARROW = 10  # up to this shift, the cycles of a bucket are counted in 32 bits
_SLACK = 2  # rows before a chunk that may reach into it though they have no lane
_SPREAD = 159  # odd, about 256 by the golden ratio: remainders of buckets in a row are rounded up evenly


def build(tokens: Tokens, states: States) -> WaveLod:
    """Return the tables of one wave: at most about 5 bytes a token.

    Tokens of no length count as one cycle.  Where tokens overlap, a bucket that they would overfill shows
    what share of their cycles each activity has.
    """
    span = _span(tokens, states)
    if span is None:
        nothing = np.zeros((1, ACTIVITY_COUNT), np.uint8), np.zeros((1, _STATES), np.uint8)
        return _frozen(tokens.base, FINEST, [nothing])
    shift = _shift(span, max(MIN_BUCKETS, len(tokens) // TOKENS_A_BUCKET))
    used = np.unique(ACTIVITY_OF[:, np.flatnonzero(np.bincount(tokens.kind, minlength=1))])
    chunks, parts, above = _chunks(span.begin >> shift, ((span.end - 1) >> shift) + 1), [], []
    for first, stop in chunks:
        window = TimeWindow(first << shift, stop << shift)
        counts = _token_cycles(tokens, window, shift, used), _state_cycles(states, window, shift)
        limit = CHUNK_BITS if len(chunks) > 1 else None
        levels, rest = _grown(counts, first, 1 << shift, used, limit)
        parts.append(levels)
        above.append(rest)
    levels = [tuple(map(np.concatenate, zip(*level, strict=True))) for level in zip(*parts, strict=True)]
    if len(chunks) > 1:
        cycles, inside = (np.concatenate(part, axis=-1).astype(np.int64) for part in zip(*above, strict=True))
        top = shift + CHUNK_BITS
        levels += _grown((cycles, inside), chunks[0][0] >> CHUNK_BITS, 1 << top, used)[0]
    last = next(level for level, (kind, _) in enumerate(levels) if len(kind) <= 2)
    return _frozen(span.begin, shift, levels[: last + 1])


def joined(lods: Sequence[WaveLod]) -> WaveLod:
    """Return one table for the waves of a row, which follow each other, so that a row costs one look-up.

    Its finest bucket is coarse enough for about JOINED_BUCKETS buckets a wave.
    """
    begin = min(lod.base for lod in lods)
    end = max(((lod.base >> lod.shift) + len(lod.kind[0])) << lod.shift for lod in lods)
    shift = _shift(TimeWindow(begin, end), JOINED_BUCKETS * len(lods))
    shift = max(shift, *(lod.shift for lod in lods))
    first, stop = begin >> shift, ((end - 1) >> shift) + 1
    kind = np.zeros((ACTIVITY_COUNT, stop - first), np.int64)
    state = np.zeros((_STATES, stop - first), np.int64)
    for lod in lods:
        _add(lod, shift, first, kind, state)
    counts = np.diff(kind, axis=0, prepend=0), np.diff(state, axis=0, prepend=0)
    return _frozen(begin, shift, _grown(counts, first, FULL, np.arange(ACTIVITY_COUNT))[0])


def _frozen(base: int, shift: int, levels: Sequence[tuple[np.ndarray, ...]]) -> WaveLod:
    kinds, states = zip(*levels, strict=True)
    for column in (*kinds, *states):
        column.setflags(write=False)
    return WaveLod(base, shift, kinds, states)


# -- building one wave ----------------------------------------------------------------------------------


Counts = tuple[np.ndarray, np.ndarray]  # cycles by activity and by state, int [activities, buckets]


def _grown(
    counts: Counts, first: int, full: int, used: np.ndarray, limit: int | None = None
) -> tuple[list[tuple[np.ndarray, ...]], Counts]:
    """Tables of so many levels (None: up to the first with two buckets), and the counts above them.

    The counts are those of the buckets from number `first` on, of which each can hold `full`.
    """
    (cycles, inside), levels = counts, list[tuple[np.ndarray, ...]]()
    places = np.searchsorted(used, np.arange(ACTIVITY_COUNT), side="right")
    while limit is None or len(levels) < limit:
        kind, state = _running(cycles, first, full)[places], _running(inside, first, full)[1:]
        levels.append((np.ascontiguousarray(kind.T), np.ascontiguousarray(state.T)))
        if limit is None and cycles.shape[-1] <= 2:
            break
        cycles, inside, first, full = _halved(cycles, first), _halved(inside, first), first >> 1, 2 * full
    return levels, (cycles, inside)


def _running(counts: np.ndarray, first: int, full: int) -> np.ndarray:
    """uint8 [activities + 1, buckets]: 0, and running shares in 1/FULL, the remainder rounded up in turn."""
    parts, buckets = counts.shape
    running = np.zeros((parts + 1, buckets), np.int64)
    np.cumsum(counts, axis=0, out=running[1:])
    total = np.maximum(running[-1], full)
    turn = (2 * (np.arange(first, first + buckets) * _SPREAD & 255) + 1) * total >> 9
    running *= FULL
    running += turn
    if full & (full - 1) or np.any(total > full):  # of tokens that overlap
        running //= total
    else:
        running >>= full.bit_length() - 1
    return running.astype(np.uint8)


def _span(tokens: Tokens, states: States) -> TimeWindow | None:
    ends = []
    if len(tokens):
        end = tokens.offset.astype(np.int64) + np.maximum(tokens.duration, 1)
        ends.append((tokens.base + int(tokens.offset[0]), tokens.base + int(end.max())))
    if len(states) and states.length > 0:
        ends.append((states.base + int(states.offset[0]), states.base + states.length))
    if not ends:
        return None
    return TimeWindow(min(begin for begin, _ in ends), max(end for _, end in ends))


def _shift(span: TimeWindow, buckets: int) -> int:
    shift = FINEST
    while (span.width >> shift) > buckets:
        shift += 1
    return shift


def _chunks(first: int, stop: int) -> list[tuple[int, int]]:
    """Bucket numbers cut at multiples of the chunk size, so that pairs never cross a cut."""
    size = 1 << CHUNK_BITS
    cuts = [first, *range((first // size + 1) * size, stop, size), stop]
    return list(pairwise(cuts))


def _token_cycles(tokens: Tokens, window: TimeWindow, shift: int, used: np.ndarray) -> np.ndarray:
    """int [used activities, buckets]: cycles of each in each bucket of the window."""
    rows = tokens.rows_in(window)
    rows = slice(max(0, rows.start - _SLACK), rows.stop)
    start = tokens.offset[rows].astype(np.int64) + (tokens.base - window.begin)
    issue = start + tokens.stall[rows]
    end = np.maximum(issue + tokens.busy[rows], start + 1)
    place = np.searchsorted(used, ACTIVITY_OF)
    kind = tokens.kind[rows]
    begins, ends = np.concatenate([start, issue]), np.concatenate([issue, end])
    code = np.concatenate([place[1][kind], place[0][kind]])
    return _spread(begins, ends, code, shift, (len(used), window.width >> shift))


def _state_cycles(states: States, window: TimeWindow, shift: int) -> np.ndarray:
    """int [4, buckets]: cycles in the states of STATE_ORDER in each bucket of the window."""
    first = find(states.offset, window.begin - states.base, "right") - 1
    stop = find(states.offset, window.end - states.base, "left")
    rows = slice(max(0, first), max(0, stop))
    begin = states.offset[rows].astype(np.int64)
    after = states.length if rows.stop >= len(states) else int(states.offset[rows.stop])
    end = np.append(begin, after)[1:]
    state = STATE_PLACE[states.state[rows]]
    known = np.isin(states.state[rows], STATE_ORDER)
    moved = states.base - window.begin
    spans = begin[known] + moved, end[known] + moved
    return _spread(*spans, state[known], shift, (_STATES, window.width >> shift))


def _spread(
    begin: np.ndarray, end: np.ndarray, code: np.ndarray, shift: int, shape: tuple[int, int]
) -> np.ndarray:
    """Cut spans at bucket edges; return the cycles of each code in each bucket, in `shape`."""
    codes, buckets = shape
    begin, end = np.maximum(begin, 0), np.minimum(end, buckets << shift)
    real = end > begin
    begin, end, code = begin[real], end[real], code[real] * buckets
    bucket, last = begin >> shift, (end - 1) >> shift
    split = np.flatnonzero(last > bucket)
    if len(split):
        parts = (last - bucket)[split]
        more = ranges(bucket[split] + 1, parts)
        cycles = np.minimum(np.repeat(end[split], parts) - (more << shift), 1 << shift)
        end = np.minimum(end, (bucket + 1) << shift)
        code, bucket = np.append(code, np.repeat(code[split], parts)), np.append(bucket, more)
        length = np.append(end - begin, cycles)
    else:
        length = end - begin
    # Sums below 2^53 are exact in the doubles that bincount adds up.
    sums = np.bincount(code + bucket, weights=length, minlength=codes * buckets)
    return sums.astype(np.int32 if shift <= _NARROW else np.int64).reshape(codes, buckets)


def _halved(cycles: np.ndarray, first: int) -> np.ndarray:
    """Sum pairs of buckets; bucket number `first` decides who is whose partner."""
    n = cycles.shape[-1]
    front, back = first & 1, (first + n) & 1
    if front or back:
        padded = np.zeros((*cycles.shape[:-1], front + n + back), cycles.dtype)
        padded[..., front : front + n] = cycles
        cycles = padded
    return cycles[..., 0::2] + cycles[..., 1::2]


# -- joining waves --------------------------------------------------------------------------------------


def _add(lod: WaveLod, shift: int, first: int, kind: np.ndarray, state: np.ndarray) -> None:
    """Add a wave's running shares to those of the row's buckets, int64 [activities, buckets]."""
    level = min(shift - lod.shift, len(lod.kind) - 1)
    beyond = shift - lod.shift - level
    number = lod.base >> (lod.shift + level)
    for table, row in ((lod.kind[level], kind), (lod.state[level], state)):
        if beyond == 0:
            row[:, number - first : number - first + len(table)] += table.T
            continue
        for i, shares in enumerate(table):  # a wave shorter than a bucket: its top level has one or two
            row[:, ((number + i) >> beyond) - first] += shares >> min(beyond, 8)
