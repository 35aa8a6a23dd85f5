"""All hits of a code line: their durations and the distribution of these.

```
time     ..lllLL......llllllllLL....lLL        one wave; the hits of a code line are marked
stall      |3|        |   8   |     1
idle      2          6           4
since                 11         14            start to start, within a wave; none for the first hit
```
"""

from collections.abc import Iterable, Sequence
from functools import cached_property, partial

import numpy as np

from rcv_py.analysis.core.median import median
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field, unchanged
from rcv_py.analysis.core.saturated import Sums
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending, ranges, run_starts, starts_run
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.modes import Which
from rcv_py.model.trace import Trace

MEASURE_TEXT = {
    "latency": "stall + issue of a hit",
    "stall": "stall cycles of a hit",
    "idle": "cycles between the end of what the wave did before and the start of a hit",
    "since": "cycles from the start of the hit before, in the same wave, to the start of a hit",
}
NEVER = -1  # `since` of the first hit of a wave


class LineHits(ColumnTable):
    """One row a hit of the line, ordered by wave as in the index, then by time."""

    wave: np.ndarray  # int64, row of the wave index
    token: np.ndarray  # int64, token row inside the wave
    hit: np.ndarray  # int64, number of the hit in its wave, from 0
    se: np.ndarray  # int64
    start: np.ndarray  # int64, cycles, aligned
    stall: np.ndarray  # int64, cycles
    busy: np.ndarray  # int64, cycles
    idle: np.ndarray  # int64, cycles; NEVER if not computed
    since: np.ndarray  # int64, cycles, NEVER for the first hit of a wave

    @property
    def latency(self) -> np.ndarray:
        """Stall plus busy, int64."""
        return self.stall + self.busy

    def measure(self, name: str) -> np.ndarray:
        """The column of one of MEASURES; NEVER marks hits that have no value."""
        return getattr(self, name)

    def row_of(self, wave: int, token: int) -> int:
        """The row of a token, -1 if it is not a hit."""
        rows = np.flatnonzero((self.wave == wave) & (self.token == token))
        return int(rows[0]) if len(rows) else -1


class Spread(Value):
    """Statistics of a set of times; p90 and p95 are times of actual hits."""

    hits: int
    min: int
    median: float  # an int if it is whole
    p90: int
    p95: int
    max: int
    mean: float
    total: int


class Histogram(Value):
    """Bin i holds the values `edges[i] <= v < edges[i + 1]`, whole cycles."""

    edges: np.ndarray  # int64 [bins + 1], ascending
    totals: np.ndarray  # int64 [bins], hits

    def place(self, value: float) -> float:
        """Position of a value if every bin has width 1: 2.5 is the middle of the third bin."""
        return float(np.interp(value, self.edges, np.arange(len(self.edges))))


def _in_order(parts: Sequence[LineHits]) -> LineHits:
    hits = joined([LineHits.empty(), *parts])
    return hits.at(np.lexsort((hits.token, hits.wave)))


def hits_of(line: int, *, has_idle: bool = True) -> Reduction[LineHits, LineHits]:
    """Return the reduction for all hits of a code row.

    Without the idle cycles before hits it reads only the hits, not all tokens of the waves.
    """
    return Reduction(partial(_hits, line=line, has_idle=has_idle), _in_order, unchanged)


def pick(hits: LineHits, which: Which, current: int = -1) -> int:
    """Return the row of an execution, -1 if there is none.

    MEDIAN is the hit whose latency is nearest to the median; ties go to the earliest begin, then to the
    lowest wave.  FASTER and SLOWER are the neighbours of the row `current` in order of latency, then time;
    if `current` is -1, the slowest.
    """
    latency = hits.latency
    if not len(latency):
        return -1
    if which in (Which.FASTER, Which.SLOWER):
        order = np.lexsort((hits.wave, hits.start, latency))
        at = np.flatnonzero(order == current)
        place = int(at[0]) + (1 if which is Which.SLOWER else -1) if len(at) else len(order) - 1
        return int(order[place]) if 0 <= place < len(order) else -1
    ends = {Which.FASTEST: np.min, Which.SLOWEST: np.max}
    off = np.abs(latency - ends.get(which, median)(latency))
    near = np.flatnonzero(off == off.min())
    return int(near[np.lexsort((hits.wave[near], hits.start[near]))[0]])


def spread(values: np.ndarray) -> Spread | None:
    """Return the statistics of some times, None if there are none."""
    return _spread(*np.unique(values, return_counts=True))


def _spread(values: np.ndarray, times: np.ndarray) -> Spread | None:
    """Return the statistics of ascending values, each of which occurs `times` times."""
    if not len(values):
        return None
    upto = np.cumsum(times)
    n = int(upto[-1])
    p90, p95 = (max(0, -(-n * part // 100) - 1) for part in (90, 95))  # nearest rank
    total = int((values * times).sum())
    ranks = [(n - 1) // 2, n // 2, p90, p95]
    low, high, p90, p95 = values[np.searchsorted(upto, ranks, side="right")].tolist()
    least, most, middle = int(values[0]), int(values[-1]), median(np.array([low, high]))
    return Spread(n, least, middle, p90=p90, p95=p95, max=most, mean=total / n, total=total)


class SlowestHit(Value):
    """The hit of a line with most latency; of equals the earliest."""

    latency: int  # cycles
    start: int  # cycles, aligned
    wave: int  # row of the wave index
    hit: int  # which hit of its wave, from 0


class LatencySpread(Value):
    """The latencies of the hits of a line."""

    spread: Spread
    slowest: SlowestHit


class _Latencies(Value):
    """The latencies in some waves, in a form that can be merged with other waves."""

    values: Sums  # cycles, and how often
    slowest: SlowestHit | None


def _latencies_of(hits: LineHits) -> _Latencies:
    values, times = np.unique(hits.latency, return_counts=True)
    if not len(values):
        return _Latencies((values, times), None)
    at = np.lexsort((hits.token, hits.wave, hits.start, -hits.latency))[0]
    numbers = (hits.latency, hits.start, hits.wave, hits.hit)
    return _Latencies((values, times), SlowestHit(*(int(column[at]) for column in numbers)))


def _slowest(parts: Sequence[SlowestHit | None]) -> SlowestHit | None:
    known = (part for part in parts if part is not None)
    return min(known, key=lambda one: (-one.latency, one.start, one.wave, one.hit), default=None)


_latencies_joined = by_field(_Latencies, values=added(1), slowest=_slowest)


_OfLines = tuple[_Latencies, ...]  # of each line


def _latencies(lines: tuple[int, ...], trace: Trace, parcel: Parcel) -> _OfLines:
    return tuple(_latencies_of(_hits(trace, parcel, line=line)) for line in lines)


def _all_latencies(lines: tuple[int, ...], parts: Sequence[_OfLines]) -> _OfLines:
    return tuple(_latencies_joined([part[at] for part in parts]) for at in range(len(lines)))


def _spreads(lines: tuple[int, ...], _trace: Trace, part: _OfLines) -> dict[int, LatencySpread]:
    found = {}
    for line, one in zip(lines, part, strict=True):
        numbers = _spread(*one.values)
        if numbers is not None and one.slowest is not None:
            found[line] = LatencySpread(numbers, one.slowest)
    return found


def latency_spreads(lines: Iterable[int]) -> Reduction[_OfLines, dict[int, LatencySpread]]:
    """Return the reduction for the latency distributions of these lines, by line; only lines with hits."""
    wanted = tuple(lines)
    return Reduction(partial(_latencies, wanted), partial(_all_latencies, wanted), partial(_spreads, wanted))


def histogram(values: np.ndarray, bins: int, *, is_log: bool = False, step: int = 1) -> Histogram:
    """Count values (at least 0) in at most `bins` bins.

    `step` is the smallest difference of times (4 cycles on gfx9): bins are multiples of it, so that no bin
    is empty only because no time can fall into it.  With `is_log` bins grow by a constant factor, and zero
    has a bin of its own.
    """
    if not len(values):
        return Histogram(np.array([0, 1]), np.zeros(1, dtype=np.int64))
    low, high = int(values.min()), int(values.max())
    begin = low - low % step
    if is_log:
        first = max(begin, step)
        top = max(high + step - high % step, first + step)
        grown = np.geomspace(first, top, max(bins, 2))
        edges = ascending(np.append(np.ceil(grown / step - 1e-9).astype(np.int64) * step, [first, top]))
        edges = edges[(edges >= first) & (edges <= top)]
        edges = np.append(0, edges) if low < first else edges
    else:
        width = step * max(1, -(-(high + 1 - begin) // (bins * step)))
        edges = begin + width * np.arange(-(-(high + 1 - begin) // width) + 1, dtype=np.int64)
    place = np.searchsorted(edges, values, side="right") - 1
    return Histogram(edges, np.bincount(place, minlength=len(edges) - 1).astype(np.int64))


def _hits(_trace: Trace, parcel: Parcel, *, line: int, has_idle: bool = True) -> LineHits:
    tokens = parcel.own
    rows = np.flatnonzero(tokens.line == line)
    owner = np.searchsorted(tokens.first, rows, side="right") - 1
    start = tokens.start[rows] if has_idle else tokens.starts_at(rows, owner)
    return LineHits(
        wave=tokens.rows[owner],
        token=rows - tokens.first[owner],
        hit=ranges(0, np.diff(run_starts(owner), append=len(rows))),
        se=tokens.engines[owner],
        start=start,
        stall=tokens.stall[rows].astype(np.int64),
        busy=tokens.busy[rows].astype(np.int64),
        idle=tokens.idle[rows].astype(np.int64) if has_idle else np.full(len(rows), NEVER, dtype=np.int64),
        since=np.where(starts_run(owner), NEVER, start - np.roll(start, 1)),
    )


LISTED = 200  # hits in the table


class DistributionChoice(Value):
    """What to show: one of MEASURES, number of bars, and their scale."""

    measure: str = "latency"
    bins: int = 40
    is_log: bool = False


class DistributionView(Record):
    """What is shown; `values` has one value a row of `hits`, NEVER for hits without a value."""

    hits: LineHits
    wanted: DistributionChoice
    values: np.ndarray  # int64
    spread: Spread | None  # None if no hit has a value
    histogram: Histogram

    @cached_property
    def ranked(self) -> np.ndarray:
        """Rows of all hits with a value, the largest first, ties in order of time."""
        rows = np.flatnonzero(self.values != NEVER)
        return rows[np.lexsort((self.hits.start[rows], -self.values[rows]))]

    def in_bin(self, number: int) -> np.ndarray:
        """Rows of the hits in a bar, the largest first, ties in order of time."""
        low, high = (int(self.histogram.edges[at]) for at in (number, number + 1))
        values = self.values[self.ranked]
        return self.ranked[(values >= low) & (values < high)]


def distribution_view(hits: LineHits, wanted: DistributionChoice, step: int = 1) -> DistributionView:
    """Return what is shown of the hits; `step` is the smallest difference of times."""
    values = hits.measure(wanted.measure)
    known = values[values != NEVER]
    bars = histogram(known, wanted.bins, is_log=wanted.is_log, step=step)
    return DistributionView(hits=hits, wanted=wanted, values=values, spread=spread(known), histogram=bars)
