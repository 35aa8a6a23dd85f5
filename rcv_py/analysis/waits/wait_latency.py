"""Waits of all waves together: their producers, their stalls, and the memory latencies that they show.

If the results of a counter return in order, a wait that stalls ends when the newest required operation is
done.  The latency is that time (start + stall of the wait) less the issue of the operation (its start +
stall; on gfx9, where a token's busy time is the time it took to issue, its end).  If the wait hardly stalls,
the operation was done before, and the same number is an upper bound.  A wait that required operations of two
counters gives only upper bounds, since either may have been the last.

The stall of a wait is charged to its newest required operation; where operations may return in another
order, the newest is still the likeliest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.median import MEDIAN, at_ranks
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field
from rcv_py.analysis.core.saturated import Sums, joined_sums, summed
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.waits.waitcnt.generations import NUMBER_OF, generation_of
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.base.runs import borders, ends_run, starts_run
from rcv_py.model.architecture import Architecture
from rcv_py.model.columns import ColumnTable, of_rows
from rcv_py.model.trace import Trace

ISSUE = 4  # cycles of a wait that does not stall
_SHIFT = 40  # bits of a latency in a key; one more says whether it is an upper bound
_MAX_CYCLES = (1 << _SHIFT) - 1  # cycles, nine minutes at 2 GHz; damaged files may hold more
_PAIR_SHIFT = 32  # bits of a producer in a key, below its wait
_NO_PRODUCER = (1 << _PAIR_SHIFT) - 1  # in place of a producer: the wait itself


@dataclass(frozen=True, eq=False)
class WaitLatency(ColumnTable):
    """One row per code line that any wait measured or bounded, most exact samples first; cycles.

    If `exact` is 0, only upper bounds are known and the statistics are nan.
    """

    line: np.ndarray  # int32
    exact: np.ndarray  # int64, samples
    censored: np.ndarray  # int64, upper bounds
    p10: np.ndarray  # float64, the sample at n // 10 of the sorted n
    median: np.ndarray  # float64
    p90: np.ndarray  # float64, the sample at 9 n // 10
    mean: np.ndarray  # float64


def measured(tokens: TokenColumns, links: WaitLinks) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows of links measure the latency of their newest producer, and which bound it, bool.

    It is at most the time from issue to the end of the wait.  Waits for address translation measure nothing.
    """
    is_any = links.is_ordered & (links.counter != NUMBER_OF["x"])
    is_alone = starts_run(links.token) & ends_run(links.token)
    is_exact = is_any & is_alone & (tokens.stall[links.token] > ISSUE)
    return is_exact, is_any & ~is_exact


def ages(tokens: TokenColumns, links: WaitLinks, architecture: Architecture) -> np.ndarray:
    """Return the cycles from the issue of each row's newest producer to the end of the wait, int64."""
    age = tokens.issue[links.token] - tokens.issue[links.newest]
    return age - tokens.busy[links.newest] if architecture.busy_is_issue else age


def latency_samples(tokens: TokenColumns, links: WaitLinks, architecture: Architecture) -> Sums:
    """Return keys (line, whether it is a bound, latency), and the number of samples of each."""
    is_exact, is_bound = measured(tokens, links)
    line = tokens.line[links.newest].astype(np.int64) << (_SHIFT + 1)
    latency = np.clip(ages(tokens, links, architecture), 0, _MAX_CYCLES)
    key = np.append((line | latency)[is_exact], (line | 1 << _SHIFT)[is_bound])
    return np.unique(key, return_counts=True)


def wait_latency(parts: Sequence[Sums]) -> WaitLatency:
    """Return the statistics of each line over the samples of several sets of waves."""
    key, times = joined_sums(parts)
    lines, place = np.unique(key >> (_SHIFT + 1), return_inverse=True)
    place, is_bound = place.reshape(-1), key >> _SHIFT & 1 == 1
    censored = saturated.sums(place[is_bound], times[is_bound], len(lines))
    place, times, latency = place[~is_bound], times[~is_bound], key[~is_bound] & _MAX_CYCLES
    exact = saturated.sums(place, times, len(lines))
    p10, median, p90 = at_ranks(place, latency, len(lines), ((1, 10), MEDIAN, (9, 10)), times)
    cycles = np.bincount(place, latency.astype(np.float64) * times, len(lines))
    mean = np.where(exact > 0, cycles / np.maximum(exact, 1), np.nan)
    table = WaitLatency(
        line=lines.astype(np.int32),
        exact=exact,
        censored=censored,
        p10=p10,
        median=median,
        p90=p90,
        mean=mean,
    )
    return of_rows(table, np.lexsort((lines, -exact)))


@dataclass(frozen=True, eq=False)
class Blocking(ColumnTable):
    """One row per wait line that ran, most stall first; row i has the producers `first[i]:first[i + 1]`.

    Producers of a wait are sorted by charged stall, then by line.  Stall without a producer belongs to
    executions that had no known outstanding operations.
    """

    line: np.ndarray  # int32 [n], code row of the wait
    hits: np.ndarray  # int64 [n]
    stall: np.ndarray  # int64 [n], cycles
    blocked: np.ndarray  # int64 [n]
    first: np.ndarray  # int64 [n + 1]
    producer: np.ndarray  # int32, code row
    n: np.ndarray  # int64
    charged: np.ndarray  # int64, cycles

    def producers(self, row: int) -> slice:
        """The slice of the producers of a wait."""
        return slice(int(self.first[row]), int(self.first[row + 1]))


def blocking_sums(tokens: TokenColumns, links: WaitLinks, is_wait: np.ndarray) -> Sums:
    """Return keys (wait line, producer line or _NOBODY), and executions, stall and measured ends of each.

    `is_wait` marks the code rows that wait for a counter.
    """
    line, rows = tokens.line, len(is_wait)
    waits = np.flatnonzero((line >= 0) & (line < rows))
    waits = waits[is_wait[line[waits]]]
    hits = np.bincount(line[waits], minlength=rows)
    stall = saturated.sums(line[waits], tokens.stall[waits], rows)
    blocked = np.bincount(line[links.token[measured(tokens, links)[0]]], minlength=rows)
    own = np.flatnonzero(hits)
    token, producer = links.token[links.row_of], line[links.producers]
    order = np.lexsort((producer, token))
    order = order[starts_run(token[order], producer[order])]  # each producer once per execution
    charging, newest = links.newest_of_waits()
    wait = np.concatenate([own, line[token[order]], line[charging]]).astype(np.int64)
    producer = np.concatenate([np.full(len(own), _NO_PRODUCER), producer[order], line[newest]])
    n, pairs = np.ones(len(order), dtype=np.int64), np.zeros(len(order), dtype=np.int64)
    return summed(
        wait << _PAIR_SHIFT | producer,
        np.concatenate([hits[own], n, np.zeros(len(charging), dtype=np.int64)]),
        np.concatenate([stall[own], pairs, tokens.stall[charging]]),
        np.pad(blocked[own], (0, len(wait) - len(own))),
    )


def blocking(parts: Sequence[Sums]) -> Blocking:
    """Return the ranking over the sums of several sets of waves."""
    key, n, stall, blocked = joined_sums(parts)
    wait, producer = key >> _PAIR_SHIFT, key & _NO_PRODUCER
    own, pairs = np.flatnonzero(producer == _NO_PRODUCER), np.flatnonzero(producer != _NO_PRODUCER)
    own = own[np.lexsort((wait[own], -stall[own]))]
    place = np.empty(int(wait.max(initial=-1)) + 1, dtype=np.int64)
    place[wait[own]] = np.arange(len(own))
    pairs = pairs[np.lexsort((producer[pairs], -stall[pairs], place[wait[pairs]]))]
    return Blocking(
        line=wait[own].astype(np.int32),
        hits=n[own],
        stall=stall[own],
        blocked=blocked[own],
        first=borders(np.bincount(place[wait[pairs]], minlength=len(own))),
        producer=producer[pairs].astype(np.int32),
        n=n[pairs],
        charged=stall[pairs],
    )


@dataclass(frozen=True, eq=False)
class WaitSummary:
    """Waits of the waves that were read."""

    blocking: Blocking
    latency: WaitLatency
    waves: int  # waves that were read
    of: int  # waves of the trace


@dataclass(frozen=True, eq=False)
class _Waits:
    """Sums over the waits of some waves."""

    sums: Sums
    samples: Sums
    waves: int


def _map(trace: Trace, parcel: Parcel) -> _Waits:
    tokens = parcel.own
    effect = generation_of(trace.architecture, trace.code.text).effect
    is_wait = [text.startswith("s_wait") and bool(effect(text).waits) for text in trace.code.text]
    links = replay(tokens, trace.code, trace.architecture)
    sums = blocking_sums(tokens, links, np.array(is_wait, bool))
    return _Waits(sums, latency_samples(tokens, links, trace.architecture), len(tokens.waves))


def _finish(trace: Trace, part: _Waits) -> WaitSummary:
    return WaitSummary(blocking([part.sums]), wait_latency([part.samples]), part.waves, len(trace.waves))


WAITS = Reduction(_map, by_field(_Waits, sums=added(3), samples=added(1), waves=sum), _finish)
