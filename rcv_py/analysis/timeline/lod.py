"""The level-of-detail tables of a wave: which kind of token fills a bucket of 2^k cycles most.

```
cycles   0       32      64      96      128
tokens   vVVV..bbbbbbbbbbbbbB....................
level 0  VALU    VMEM+st VMEM+st NOTHING            buckets of 32
level 1  VMEM+stalled            NOTHING            buckets of 64
```

All levels come from sums of cycles, so they are exact; a bucket of idle cycles and one short token shows
the token.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rcv_py.base.runs import ranges
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.tokens import States, Tokens, find
from rcv_py.model.waves import NOTHING, STALLED, WaveLod
from rcv_py.model.window import TimeWindow

FINEST = 5  # buckets of 32 cycles; below that the tokens themselves are drawn
MIN_BUCKETS = 32  # buckets a wave may always have, however few tokens it has
JOINED_BUCKETS = 256  # finest buckets a wave of a joined row may have on average
CHUNK_BITS = 13  # 2^13 buckets are counted at once: their counters stay in the processor's cache

_STATES = 4  # IDLE, EXEC, WAIT, STALL: WaveState less one
_NARROW = 10  # up to this shift, 32 bits hold a chunk's cycles with the code below them
_SLACK = 2  # rows before a chunk that may reach into it though they have no lane


def build(tokens: Tokens, states: States) -> WaveLod:
    """Return the tables of one wave: at most about 5 bytes a token.

    Tokens of no length count as one cycle, so that they are drawn; kinds we do not know count as NONE.
    """
    span = _span(tokens, states)
    if span is None:
        nothing = np.full(1, NOTHING, np.uint8), np.zeros((1, _STATES), np.uint8)
        return WaveLod(tokens.base, FINEST, (nothing[0],), (nothing[1],))
    shift = _shift(span, max(MIN_BUCKETS, len(tokens) // 2))
    names = np.flatnonzero(np.bincount(_known(tokens.kind), minlength=1)).astype(np.uint8)
    names = names if len(names) else np.zeros(1, np.uint8)
    chunks, parts, tops = _chunks(span.begin >> shift, ((span.end - 1) >> shift) + 1), [], []
    for first, stop in chunks:
        window = TimeWindow(first << shift, stop << shift)
        counts = _token_cycles(tokens, window, shift, names), _state_cycles(states, window, shift)
        limit = CHUNK_BITS if len(chunks) > 1 else None
        levels, top = _grown(counts, first, shift, names, limit)
        parts.append(levels)
        tops.append(top)
    levels = [tuple(map(np.concatenate, zip(*level, strict=True))) for level in zip(*parts, strict=True)]
    if len(chunks) > 1:
        cycles, inside = (np.concatenate(part, axis=-1).astype(np.int64) for part in zip(*tops, strict=True))
        levels += _grown((cycles, inside), chunks[0][0] >> CHUNK_BITS, shift + CHUNK_BITS, names)[0]
    last = next(level for level, (codes, _) in enumerate(levels) if len(codes) <= 2)
    kinds, shares = zip(*levels[: last + 1], strict=True)
    for column in (*kinds, *shares):
        column.setflags(write=False)
    return WaveLod(span.begin, shift, kinds, shares)


def joined(lods: Sequence[WaveLod]) -> WaveLod:
    """Return one table for the waves of a row, which follow each other, so that a row costs one look-up.

    Its finest bucket is coarse enough for about JOINED_BUCKETS buckets a wave.  Where waves meet in a bucket
    of an upper level, the child that was resident longer gives the kind.
    """
    begin = min(lod.base for lod in lods)
    end = max(((lod.base >> lod.shift) + len(lod.kind[0])) << lod.shift for lod in lods)
    shift = _shift(TimeWindow(begin, end), JOINED_BUCKETS * len(lods))
    shift = max(shift, *(lod.shift for lod in lods))
    first, stop = begin >> shift, ((end - 1) >> shift) + 1
    kind = np.full(stop - first, NOTHING, np.uint8)
    state = np.zeros((stop - first, _STATES), np.uint8)
    for lod in lods:
        _paste(lod, shift, first, kind, state)
    kinds, shares = [kind], [state]
    while len(kinds[-1]) > 2:
        kind, state = _coarser(kinds[-1], shares[-1], first)
        kinds.append(kind)
        shares.append(state)
        first >>= 1
    return WaveLod(begin, shift, tuple(kinds), tuple(shares))


# -- building one wave ----------------------------------------------------------------------------------


Counts = tuple[np.ndarray, np.ndarray]  # cycles by kind, int [2, kinds, buckets], and state, int [4, buckets]


def _grown(
    counts: Counts, first: int, shift: int, names: np.ndarray, limit: int | None = None
) -> tuple[list[tuple[np.ndarray, ...]], Counts]:
    """Codes and shares of so many levels (None: up to the first with two buckets), and the counts above them.

    The counts are those of the buckets from number `first` on.
    """
    (cycles, inside), levels = counts, list[tuple[np.ndarray, ...]]()
    while limit is None or len(levels) < limit:
        levels.append((_kind_codes(cycles, names), _shares(inside, shift + len(levels))))
        if limit is None and cycles.shape[-1] <= 2:
            break
        cycles, inside, first = _halved(cycles, first), _halved(inside, first), first >> 1
    return levels, (cycles, inside)


def _known(kind: np.ndarray) -> np.ndarray:
    return np.where(kind < KIND_COUNT, kind, 0).astype(np.uint8)


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


def _token_cycles(tokens: Tokens, window: TimeWindow, shift: int, names: np.ndarray) -> np.ndarray:
    """int [2, kinds, buckets]: stalled and busy cycles of each kind in each bucket of the window."""
    rows = tokens.rows_in(window)
    rows = slice(max(0, rows.start - _SLACK), rows.stop)
    start = tokens.offset[rows].astype(np.int64) + (tokens.base - window.begin)
    issue = start + tokens.stall[rows]
    end = np.maximum(issue + tokens.busy[rows], start + 1)
    column = np.zeros(256, np.int64)
    column[names] = np.arange(len(names))
    kind = column[_known(tokens.kind[rows])]
    begins, ends = np.concatenate([start, issue]), np.concatenate([issue, end])
    code = np.concatenate([kind, kind + len(names)])
    cycles = _spread(begins, ends, code, shift, (2 * len(names), window.width >> shift))
    return cycles.reshape(2, len(names), -1)


def _state_cycles(states: States, window: TimeWindow, shift: int) -> np.ndarray:
    """int [4, buckets]: cycles in IDLE, EXEC, WAIT and STALL in each bucket of the window."""
    first = find(states.offset, window.begin - states.base, "right") - 1
    stop = find(states.offset, window.end - states.base, "left")
    rows = slice(max(0, first), max(0, stop))
    begin = states.offset[rows].astype(np.int64)
    after = states.length if rows.stop >= len(states) else int(states.offset[rows.stop])
    end = np.append(begin, after)[1:]
    state = states.state[rows].astype(np.int64) - 1
    known = (state >= 0) & (state < _STATES)
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


def _kind_codes(cycles: np.ndarray, names: np.ndarray) -> np.ndarray:
    """One maximum over cycles << 5 | stalled << 4 | kind finds the kind and carries its flag along."""
    total = cycles[0] + cycles[1]
    code = names[:, None] | ((2 * cycles[0] > total) * np.uint8(STALLED))
    largest = np.max((total << 5) | code, axis=0)
    return np.where(largest < 32, NOTHING, largest & 31).astype(np.uint8)


def _shares(cycles: np.ndarray, bits: int) -> np.ndarray:
    """Shares in 1/255; rounded on the running sum, so that a full bucket sums to exactly 255."""
    shares = np.empty((cycles.shape[1], _STATES), np.uint8)
    running = np.zeros(cycles.shape[1], np.int64)
    before = running.astype(np.uint8)
    for state in range(_STATES):
        running = running + cycles[state]
        rounded = np.minimum(running * 255 >> bits, 255).astype(np.uint8)
        shares[:, state] = rounded - before
        before = rounded
    return shares


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


def _paste(lod: WaveLod, shift: int, first: int, kind: np.ndarray, state: np.ndarray) -> None:
    level = min(shift - lod.shift, len(lod.kind) - 1)
    beyond = shift - lod.shift - level
    number = lod.base >> (lod.shift + level)
    codes, shares = lod.kind[level], lod.state[level]
    if beyond == 0:
        place = slice(number - first, number - first + len(codes))
        np.copyto(kind[place], codes, where=codes != NOTHING)
        np.maximum(state[place], shares, out=state[place])
        return
    for i in range(len(codes)):  # a wave shorter than a bucket: its top level has one or two
        at = ((number + i) >> beyond) - first
        if codes[i] != NOTHING:
            kind[at] = codes[i]
        state[at] += np.minimum(shares[i] >> min(beyond, 8), 255 - state[at])


def _coarser(kind: np.ndarray, state: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    front, back = first & 1, (first + len(kind)) & 1
    kind = np.pad(kind, (front, back), constant_values=NOTHING)
    state = np.pad(state, ((front, back), (0, 0)))
    left, right = kind[0::2], kind[1::2]
    a, b = state[0::2].astype(np.uint16), state[1::2].astype(np.uint16)
    use_right = (left == NOTHING) | ((right != NOTHING) & (b.sum(axis=1) > a.sum(axis=1)))
    return np.where(use_right, right, left), ((a + b) >> 1).astype(np.uint8)
