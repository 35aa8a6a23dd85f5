"""Waits of all waves together: who made them wait and for how long, and what that tells about memory.

Where results of a counter come back in order, a wait that stalls ends when the newest operation it required
was done: latency is that moment (start + stall of the wait) less the moment the operation was issued (start
+ stall of the operation; on gfx9, where a token's busy time is the time it took to issue, its end).  If the
wait hardly stalls, the operation was done before, and the same number is an upper bound.  A wait that
required something of two counters tells only upper bounds, since either may have been the last.

The stall of a wait is charged to the newest of what it required; where operations may come back in another
order, the newest is still the likeliest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.saturated import later
from rcv_py.analysis.core.token_columns import TokenColumns, token_columns
from rcv_py.analysis.waits.waitcnt.generations import NUMBER_OF, generation_of
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.model.columns import of_rows
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

ISSUE = 4  # cycles a wait takes without waiting
_SHIFT = 40  # bits of a latency beside its line in a key
_LONGEST = (1 << _SHIFT) - 1  # cycles, nine minutes at 2 GHz; damaged files may hold more


@dataclass(frozen=True, eq=False)
class LatencySamples:
    """All samples of some waves, as counts of distinct values."""

    key: np.ndarray  # int64, line << 40 | latency, ascending
    count: np.ndarray  # int64, how often it was measured
    censored: np.ndarray  # int64 [code rows], upper bounds

    @classmethod
    def joined(cls, parts: Sequence[LatencySamples], rows: int) -> LatencySamples:
        """Return the samples of several sets of waves together, of a program of so many rows."""
        key = np.concatenate([np.zeros(0, dtype=np.int64), *(part.key for part in parts)])
        count = np.concatenate([np.zeros(0, dtype=np.int64), *(part.count for part in parts)])
        censored = sum((part.censored for part in parts), np.zeros(rows, dtype=np.int64))
        return cls(*counted(key, count), censored)


@dataclass(frozen=True, eq=False)
class WaitLatency:
    """One row a code line that any wait told about, most exact samples first; cycles.

    Where `exact` is 0 only upper bounds are known and the statistics are nan.
    """

    line: np.ndarray  # int32
    exact: np.ndarray  # int64, samples
    censored: np.ndarray  # int64, upper bounds
    p10: np.ndarray  # float64, the sample at n // 10 of the sorted n
    median: np.ndarray  # float64, the sample at n // 2, which the reference results demand
    p90: np.ndarray  # float64, the sample at 9 n // 10
    mean: np.ndarray  # float64

    def __len__(self) -> int:
        return len(self.line)


@dataclass(frozen=True, eq=False)
class Told:
    """Which rows of links tell the latency of their newest producer, bool."""

    is_exact: np.ndarray
    is_bound: np.ndarray  # it was at most the time between issue and end of the wait


def told(batch: TokenColumns, links: WaitLinks) -> Told:
    """Return which links tell something; waits for address translation do not."""
    tells = links.is_ordered & (links.counter != NUMBER_OF["x"]) & (links.newest >= 0)
    alone = np.ones(len(links), dtype=bool)
    same = links.token[1:] == links.token[:-1]
    alone[1:] &= ~same
    alone[:-1] &= ~same
    is_exact = tells & alone & (batch.stall[links.token] > ISSUE)
    return Told(is_exact, tells & ~is_exact)


def ages(batch: TokenColumns, links: WaitLinks, gfxip: int) -> np.ndarray:
    """Return the cycles from the issue of each row's newest producer to the end of the wait, int64."""
    moment = later(batch.start, batch.stall)
    age = moment[links.token] - moment[links.newest]
    return age - batch.busy[links.newest] if gfxip <= 9 else age


def latency_samples(batch: TokenColumns, links: WaitLinks, rows: int, gfxip: int) -> LatencySamples:
    """Return the samples of the waves of one batch."""
    found = told(batch, links)
    line = batch.line[links.newest].astype(np.int64)
    latency = np.clip(ages(batch, links, gfxip), 0, _LONGEST)[found.is_exact]
    key = line[found.is_exact] << _SHIFT | latency
    censored = np.bincount(line[found.is_bound], minlength=rows)
    return LatencySamples(*counted(key, np.ones(len(key), dtype=np.int64)), censored)


def wait_latency(samples: LatencySamples) -> WaitLatency:
    """Return the statistics of each line."""
    line, latency = samples.key >> _SHIFT, samples.key & _LONGEST
    rows = np.union1d(line, np.flatnonzero(samples.censored))
    exact = np.zeros(len(rows), dtype=np.int64)
    place = np.searchsorted(rows, line)
    np.add.at(exact, place, samples.count)
    before = np.cumsum(exact) - exact
    whole = np.bincount(place, weights=latency.astype(np.float64) * samples.count, minlength=len(rows))
    with np.errstate(invalid="ignore"):
        mean = whole / exact
    upto = np.cumsum(samples.count)
    ranks = (exact // 10, exact // 2, exact * 9 // 10)
    p10, median, p90 = (_at(latency, upto, before + rank, exact > 0) for rank in ranks)
    table = WaitLatency(
        line=rows.astype(np.int32),
        exact=exact,
        censored=samples.censored[rows],
        p10=p10,
        median=median,
        p90=p90,
        mean=mean,
    )
    return of_rows(table, np.lexsort((rows, -exact)))


def counted(key: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct keys, ascending, and the sum of the counts of each."""
    distinct, place = np.unique(key, return_inverse=True)
    whole = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(whole, place.reshape(-1), count)
    return distinct, whole


def _at(latency: np.ndarray, upto: np.ndarray, rank: np.ndarray, is_known: np.ndarray) -> np.ndarray:
    """The latency of the sample at a rank, where `upto` counts samples up to each distinct latency."""
    value = np.full(len(rank), np.nan)
    value[is_known] = latency[np.searchsorted(upto, rank[is_known], side="right")]
    return value


_PAIR_SHIFT = 32  # bits of a producer beside its wait in a key


@dataclass(frozen=True, eq=False)
class BlockingSums:
    """Sums over some waves."""

    hits: np.ndarray  # int64 [code rows], executions of each wait, 0 for other lines
    stall: np.ndarray  # int64 [code rows], cycles
    blocked: np.ndarray  # int64 [code rows], executions whose end tells the latency of the newest producer
    pair: np.ndarray  # int64, wait line << 32 | producer line, ascending
    n: np.ndarray  # int64 [pairs], executions of the wait that required the producer
    charged: np.ndarray  # int64 [pairs], cycles of stall

    @classmethod
    def joined(cls, parts: Sequence[BlockingSums], rows: int) -> BlockingSums:
        """Return the sums of several sets of waves together, of a program of so many rows."""
        none, empty = np.zeros(rows, dtype=np.int64), np.zeros(0, dtype=np.int64)
        keys = np.concatenate([empty, *(part.pair for part in parts)])
        pair, n = counted(keys, np.concatenate([empty, *(part.n for part in parts)]))
        charged = np.concatenate([empty, *(part.charged for part in parts)])
        return cls(
            sum((part.hits for part in parts), none),
            reduce(saturated.later, [none, *(part.stall for part in parts)]),
            sum((part.blocked for part in parts), none),
            pair,
            n,
            saturated.sums(np.searchsorted(pair, keys), charged, len(pair)),
        )


@dataclass(frozen=True, eq=False)
class Blocking:
    """One row a wait line that ran, most stall first; row i has the producers `first[i]:first[i + 1]`.

    Producers of a wait are sorted by charged stall, then by line.  What is not charged to any is stall of
    executions that had nothing outstanding as far as is known.
    """

    line: np.ndarray  # int32 [n], code row of the wait
    hits: np.ndarray  # int64 [n]
    stall: np.ndarray  # int64 [n], cycles
    blocked: np.ndarray  # int64 [n]
    first: np.ndarray  # int64 [n + 1]
    producer: np.ndarray  # int32, code row
    n: np.ndarray  # int64
    charged: np.ndarray  # int64, cycles

    def __len__(self) -> int:
        return len(self.line)

    def producers(self, row: int) -> slice:
        """Where the producers of a wait are."""
        return slice(int(self.first[row]), int(self.first[row + 1]))


def blocking_sums(batch: TokenColumns, links: WaitLinks, rows: int, is_wait: np.ndarray) -> BlockingSums:
    """Return the sums of one batch; `is_wait` says which of the code rows ask a counter for anything."""
    line = batch.line
    inside = np.flatnonzero((line >= 0) & (line < rows))
    waits = inside[is_wait[line[inside]]]
    hits = np.bincount(line[waits], minlength=rows)
    stall = saturated.sums(line[waits], batch.stall[waits], rows)
    exact = links.token[told(batch, links).is_exact]
    wait, producer = _distinct(links, line)
    charging, newest_token = links.newest_of_waits()
    newest = line[charging].astype(np.int64) << _PAIR_SHIFT | line[newest_token]
    pair, n = counted(
        np.concatenate([line[wait].astype(np.int64) << _PAIR_SHIFT | producer, newest]),
        np.concatenate([np.ones(len(wait), dtype=np.int64), np.zeros(len(newest), dtype=np.int64)]),
    )
    charged = saturated.sums(np.searchsorted(pair, newest), batch.stall[charging], len(pair))
    return BlockingSums(hits, stall, np.bincount(line[exact], minlength=rows), pair, n, charged)


def blocking(sums: BlockingSums) -> Blocking:
    """Return the ranking."""
    lines = np.flatnonzero(sums.hits)
    lines = lines[np.lexsort((lines, -sums.stall[lines]))]
    wait, producer = sums.pair >> _PAIR_SHIFT, sums.pair & ((1 << _PAIR_SHIFT) - 1)
    place = np.full(len(sums.hits), -1, dtype=np.int64)
    place[lines] = np.arange(len(lines))
    order = np.lexsort((producer, -sums.charged, place[wait]))
    counts = np.bincount(place[wait], minlength=len(lines))
    return Blocking(
        lines.astype(np.int32),
        sums.hits[lines],
        sums.stall[lines],
        sums.blocked[lines],
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        producer[order].astype(np.int32),
        sums.n[order],
        sums.charged[order],
    )


def _distinct(links: WaitLinks, line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (token of the wait, producer line) of every execution, each pair once."""
    token, producer = links.token[links.row_of], line[links.producers].astype(np.int64)
    order = np.lexsort((producer, token))
    token, producer = token[order], producer[order]
    is_new = np.ones(len(token), dtype=bool)
    is_new[1:] = (token[1:] != token[:-1]) | (producer[1:] != producer[:-1])
    return token[is_new], producer[is_new]


@dataclass(frozen=True, eq=False)
class WaitSummary:
    """The answer for the waves that were there."""

    blocking: Blocking
    latency: WaitLatency
    waves: int  # how many
    of: int  # waves of the trace


def wait_summary(
    trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> WaitSummary:
    """Return the waits of the waves whose index row is in `rows` (None: all), each wave once."""
    code, count = trace.code, len(trace.code)
    effect = generation_of(trace.gfxip, trace.target, code.text).effect
    is_wait = np.array(
        [text.startswith("s_wait") and bool(effect(text).waits) for text in code.text], dtype=bool
    )
    sums, samples, waves = [], [], 0
    for piece in token_columns(batches, rows):
        links = replay(piece, code, trace.gfxip, trace.target)
        sums.append(blocking_sums(piece, links, count, is_wait))
        samples.append(latency_samples(piece, links, count, trace.gfxip))
        waves += len(piece.waves)
    return WaitSummary(
        blocking(BlockingSums.joined(sums, count)),
        wait_latency(LatencySamples.joined(samples, count)),
        waves,
        len(trace.waves),
    )
