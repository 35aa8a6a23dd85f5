"""Memory latency of each code line, told from waits: no counters are needed.

Where results of a counter come back in order, a wait that stalls ends when the newest operation it required
was done: latency is that moment (start + stall of the wait) less the moment the operation was issued (start
+ stall of the operation; on gfx9, where a token's busy time is the time it took to issue, its end).  If the
wait hardly stalls, the operation was done before, and the same number is an upper bound.  A wait that
required something of two counters tells only upper bounds, since either may have been the last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.saturated import later
from rcv_py.analysis.core.token_columns import Piece
from rcv_py.analysis.waits.waitcnt.effects import NUMBER_OF
from rcv_py.analysis.waits.waitcnt.links import WaitLinks
from rcv_py.model.columns import of_rows

ISSUE = 4  # cycles a wait takes without waiting
_SHIFT = 40  # bits of a latency beside its line in a key
_LONGEST = (1 << _SHIFT) - 1  # cycles, nine minutes at 2 GHz; damaged files may hold more


@dataclass(frozen=True, eq=False)
class LatencySamples:
    """All samples of some waves, as counts of distinct values; adding joins those of two sets of waves."""

    key: np.ndarray  # int64, line << 40 | latency, ascending
    count: np.ndarray  # int64, how often it was measured
    censored: np.ndarray  # int64 [code rows], upper bounds

    @classmethod
    def none(cls, rows: int) -> LatencySamples:
        """No samples of a program of so many rows."""
        empty = np.zeros(0, dtype=np.int64)
        return cls(empty, empty, np.zeros(rows, dtype=np.int64))

    def __add__(self, other: LatencySamples) -> LatencySamples:
        key, count = counted(np.concatenate([self.key, other.key]), np.concatenate([self.count, other.count]))
        return LatencySamples(key, count, self.censored + other.censored)


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


def told(batch: Piece, links: WaitLinks) -> Told:
    """Return which links tell something; waits for address translation do not."""
    tells = links.is_ordered & (links.counter != NUMBER_OF["x"]) & (links.newest >= 0)
    alone = np.ones(len(links), dtype=bool)
    same = links.token[1:] == links.token[:-1]
    alone[1:] &= ~same
    alone[:-1] &= ~same
    is_exact = tells & alone & (batch.stall[links.token] > ISSUE)
    return Told(is_exact, tells & ~is_exact)


def ages(batch: Piece, links: WaitLinks, gfxip: int) -> np.ndarray:
    """Return the cycles from the issue of each row's newest producer to the end of the wait, int64."""
    moment = later(batch.start, batch.stall)
    age = moment[links.token] - moment[links.newest]
    return age - batch.busy[links.newest] if gfxip <= 9 else age


def latency_samples(batch: Piece, links: WaitLinks, rows: int, gfxip: int) -> LatencySamples:
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


def joined(parts: Iterable[LatencySamples], rows: int) -> LatencySamples:
    """Return the samples of several sets of waves together."""
    parts = list(parts)
    if not parts:
        return LatencySamples.none(rows)
    key, count = counted(
        np.concatenate([part.key for part in parts]), np.concatenate([part.count for part in parts])
    )
    return LatencySamples(key, count, np.sum([part.censored for part in parts], axis=0))


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
