"""Where waves waited for instructions: code lines that missed the instruction cache.

```
         line 7           line 8 (64 bytes each, 128 on gfx1250)
wave 0   ▓▓▓▓▓▓ ···········▓▓▓▓▓▓▓▓   a slow fetch: nothing ran for SLOW cycles or longer
wave 1      ▓▓▓▓▓▓ ········▓▓▓▓▓▓▓▓   waits for the same line
wave 2                         ▓▓▓▓▓▓▓▓▓▓▓▓▓▓   the line is cached
```
A wave executes nothing while it fetches, so a fetch is a gap before the first instruction of a code line, or
after a branch.  On gfx9 in real captures, a fetch from the cache takes up to 36 cycles, from beyond it
several hundred, and nothing in between.  The cache is shared with compute units that were not traced, and
its size is known from documents only.
"""

from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.lines import lines
from rcv_py.analysis.core.parcels import FOREVER, Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field, tables
from rcv_py.analysis.core.saturated import Sums, dense, summed, sums
from rcv_py.base.runs import numbered, starts_run
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace

SLOW = 64  # cycles of a gap from which on the line counts as missing in the cache


class CodeFetches(ColumnTable):
    """One row per code line that a wave had to wait for, most cycles first; int64 except `line`."""

    first: np.ndarray  # int32, its first code row
    last: np.ndarray  # int32, its last code row
    arrivals: np.ndarray  # times that a wave came to it from another line
    slow: np.ndarray  # times that it was not in the cache
    again: np.ndarray  # misses after a wave of the compute unit had already run it
    cycles: np.ndarray  # that waves waited
    longest: np.ndarray  # cycles
    elsewhere: int  # cycles of equally long gaps within lines, which have other causes
    capacity: int  # bytes of the cache; 0: unknown


class _Gaps(ColumnTable):
    """Slow fetches, one row each; int64."""

    line: np.ndarray  # code row
    cu: np.ndarray  # number of the compute unit
    start: np.ndarray  # cycles, aligned: when the instruction began
    cycles: np.ndarray


class _Part(NamedTuple):
    arrivals: Sums  # code row, how often a counted wave came to its line there
    gaps: _Gaps  # of counted waves
    earliest: _Gaps  # of all waves: when each line first ran on each unit; without cycles
    elsewhere: int


def _map(trace: Trace, parcel: Parcel) -> _Part:
    of_code, n, tokens = lines(trace.code, trace.architecture), len(trace.code), parcel.own
    row, is_first = tokens.code_rows(n), starts_run(tokens.owner)
    jumps = np.diff(row, prepend=row[:1]) != 1
    is_arrival = (starts_run(of_code.block[row]) | jumps) & ~is_first & (row < n)  # comes to another line
    at = np.flatnonzero(is_arrival)
    slow = at[(tokens.idle[at] >= SLOW) & ~of_code.is_end[row[at]]]  # not a wave's last operations
    long = (tokens.idle >= SLOW) & ~is_arrival & ~is_first
    begun, place = parcel.begun, parcel.begun.code_rows(n)
    first = np.flatnonzero(starts_run(begun.owner, of_code.block[place]) & (place < n))
    earliest = _Gaps(place[first], begun.units[begun.owner[first]], begun.start[first], 0 * first)
    idle = tokens.idle.astype(np.int64)
    return _Part(
        summed(row[at], np.ones(len(at), dtype=np.int64)),
        _Gaps(row[slow], tokens.units[tokens.owner[slow]], tokens.start[slow], idle[slow]),
        _first_of(trace, earliest),
        int(np.minimum(idle[long], 1 << 40).sum()),
    )


def _first_of(trace: Trace, gaps: _Gaps) -> _Gaps:
    """The earliest run of each line and unit, with the first row of the line that ran."""
    block = lines(trace.code, trace.architecture).block[gaps.line]
    order = np.lexsort((gaps.line, gaps.start, block, gaps.cu))
    kept = order[starts_run(gaps.cu[order], block[order])]
    return gaps.at(kept)


def _finish(trace: Trace, part: _Part) -> CodeFetches:
    of_code, count = lines(trace.code, trace.architecture), len(trace.code)
    gaps, earliest = part.gaps, _first_of(trace, part.earliest)
    known, block_of = numbered(of_code.block[:count])
    n = len(known)
    place = block_of[gaps.line]
    key, ran = gaps.cu * n + place, earliest.cu * n + block_of[earliest.line]
    order = np.argsort(ran)
    since = np.full(len(key), FOREVER)
    if len(ran):
        since = earliest.start[order[np.searchsorted(ran[order], key)]]
    is_again = since <= gaps.start - gaps.cycles
    longest = np.zeros(n, dtype=np.int64)
    np.maximum.at(longest, place, gaps.cycles)
    (arrivals,) = dense(part.arrivals, count + 1)
    instruction = np.flatnonzero(~trace.code.is_label)
    first, last = np.full(n, count, dtype=np.int64), np.zeros(n, dtype=np.int64)
    np.minimum.at(first, block_of[instruction], instruction)
    np.maximum.at(last, block_of[instruction], instruction)
    found = CodeFetches(
        first=first.astype(np.int32),
        last=last.astype(np.int32),
        arrivals=sums(block_of, arrivals[:count], n),
        slow=np.bincount(place, minlength=n),
        again=np.bincount(place[is_again], minlength=n),
        cycles=sums(place, gaps.cycles, n),
        longest=longest,
        elsewhere=part.elsewhere,
        capacity=trace.architecture.code_cache,
    )
    rows = np.flatnonzero(found.slow)
    return found.at(rows[np.lexsort((rows, -found.cycles[rows]))])


_GAPS = tables(_Gaps.empty())
_MERGE = by_field(_Part, arrivals=added(1), gaps=_GAPS, earliest=_GAPS, elsewhere=sum)
FETCHES = Reduction(_map, _MERGE, _finish)
