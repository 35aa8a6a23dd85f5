"""Wide tokens in a picture of mostly narrow ones: a long wait among thousands of short instructions.

Where few tokens share a pixel each token is checked.  Elsewhere wide tokens are found in the picture, so that
the cost depends on pixels, not tokens: a wide token leaves a run of columns full of one activity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil

import numpy as np

from rcv_py.analysis.timeline.raster import DetailedSegment, RowSegment, TokenRow, View
from rcv_py.base.record import Record
from rcv_py.base.runs import ascending, borders, ranges, run_starts
from rcv_py.model.activity import ACTIVITY_COUNT

FEW = 4  # tokens a pixel, up to which each is checked
AT_ONCE = 16  # pieces whose tokens are checked together, and stay in the cache
MANY = 2000  # tokens in a run of columns: they are short, or too many to search


class Chosen(Record):
    """Some tokens of a segment."""

    row: int
    segment: RowSegment
    tokens: np.ndarray  # int64, rows of its tokens

    @property
    def count(self) -> int:
        """Number of tokens."""
        return len(self.tokens)


def long_tokens(rows: Sequence[TokenRow], view: View, lines: np.ndarray, least_px: float) -> list[Chosen]:
    """Return the tokens in view whose stall or execution is `least_px` wide, by segment.

    `lines` is the picture of the rows from `stacked`, uint8 [rows, height, width].  Overlapping tokens are
    left out.
    """
    sparse = [piece for piece in view.pieces if piece.count <= FEW * (piece.stop - piece.first)]
    done = {id(piece.segment) for piece in sparse}
    others = {piece.row for piece in view.pieces if id(piece.segment) not in done}
    others |= {row for row, _ in view.tables}
    least = ceil(least_px * view.pixels.cycles_per_px)
    flat = [piece for piece in sparse if piece.segment.tokens.lane is None]
    found = [one for at in range(0, len(flat), AT_ONCE) for one in _of_pieces(flat[at : at + AT_ONCE], least)]
    for some in _runs(
        rows, sorted(others), view, lines, least_px - 2
    ):  # the outermost pixels may not be full
        tokens, at = some.segment.tokens, some.tokens
        if id(some.segment) not in done and tokens.lane is None:
            long = at[np.maximum(tokens.stall[at], tokens.busy[at]) >= least]
            found += [Chosen(some.row, some.segment, long)] if len(long) else []
    return found


def _of_pieces(pieces: Sequence[DetailedSegment], least: int) -> Iterator[Chosen]:
    """The tokens of pieces whose stall or execution has at least `least` cycles, in one search."""
    stall = np.concatenate([piece.segment.tokens.stall[piece.tokens] for piece in pieces])
    busy = np.concatenate([piece.segment.tokens.busy[piece.tokens] for piece in pieces])
    long = np.flatnonzero((stall >= least) | (busy >= least))
    ends = borders([piece.count for piece in pieces])
    found = long.searchsorted(ends)
    for number in np.flatnonzero(found[1:] > found[:-1]).tolist():
        piece, own = pieces[number], long[found[number] : found[number + 1]]
        yield Chosen(piece.row, piece.segment, own - ends[number] + piece.tokens.start)


def _runs(
    rows: Sequence[TokenRow], chosen: Sequence[int], view: View, lines: np.ndarray, least_px: float
) -> Iterator[Chosen]:
    """The tokens in runs of columns full of one activity, unless there are too many."""
    if not chosen:
        return
    low, high = lines[chosen, 0], lines[chosen, -1]
    full = np.pad(np.where(low == high, low, ACTIVITY_COUNT), ((0, 0), (0, 1)), constant_values=255)
    flat = full.reshape(-1)  # no run continues in the next row
    starts = run_starts(flat)
    length = np.diff(starts, append=len(flat))
    is_run = (flat[starts] < ACTIVITY_COUNT) & (length >= least_px)
    first, stop = starts[is_run], starts[is_run] + length[is_run]
    number, edges, width = first // full.shape[1], view.pixels.edges, full.shape[1]
    begin, end = edges[first % width], edges[stop - width * number]
    of_run = (
        (row, rows[chosen[row]].at((a + b) // 2), a, b)
        for row, a, b in zip(number.tolist(), begin.tolist(), end.tolist(), strict=True)
    )
    for (row, _), group in groupby(of_run, lambda run: (run[0], id(run[1]))):
        runs = list(group)
        segment = runs[0][1]
        if segment is None:
            continue
        offset, base = segment.tokens.offset, segment.tokens.base
        limits = np.iinfo(offset.dtype)
        times = np.clip(np.array([run[2:] for run in runs]) - base, limits.min, limits.max)
        times = times.astype(offset.dtype)  # else numpy would copy the column
        before = np.maximum(offset.searchsorted(times[:, 0], "right") - 1, 0)
        count = offset.searchsorted(times[:, 1], "left") - before
        count[count > MANY] = 0
        yield Chosen(chosen[row], segment, ascending(ranges(before, np.maximum(count, 0))))
