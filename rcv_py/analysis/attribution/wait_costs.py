"""Waits of all waves together: what they waited for, and their stalls.

The stall of a wait is charged to the operation that ended it, by the rule of `waits.py`: the newest required
one if the counter returns in order, else the likeliest by the latencies of all waves.

Load to use is how long before its wait an operation was issued, and how much work ran in between:

```
global_load ──┬── v_mfma ── v_mfma ── v_add ──┬── s_waitcnt
            issue        2 matrix, 1 vector   wait: its first attempt to issue
```
An operation that is waited for before its memory answers stalls the wave; more work in between, or an earlier
issue, would cover the latency.  Measured latencies are for the same code line, from waits that stalled.  Only
the first wait that required an operation counts as its use.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.survey import SURVEY, Survey
from rcv_py.analysis.attribution.waits import WaitEnds, wait_ends_in
from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.median import MEDIAN, at_ranks
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, Staged, added, by_field
from rcv_py.analysis.core.saturated import Sums, summed, sums
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.waits.wait_latency import WaitLatency, latency_samples, measured, wait_latency
from rcv_py.analysis.waits.waitcnt.generations import generation_of
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.base.record import Value
from rcv_py.base.runs import borders, run_starts, starts_run
from rcv_py.model.architecture import Architecture
from rcv_py.model.columns import ColumnTable
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace

_PAIR_SHIFT = 32  # bits of a producer in a key, below its wait
_NO_PRODUCER = (1 << _PAIR_SHIFT) - 1  # in place of a producer: the wait itself


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
    guessed: np.ndarray  # int64, cycles of it that another operation may have caused as well

    @property
    def is_guess(self) -> np.ndarray:
        """Whether the producer is a guess in half of the charged cycles or more, bool."""
        return (self.guessed > 0) & (self.guessed >= self.charged - self.guessed)

    def producers(self, row: int) -> slice:
        """The slice of the producers of a wait."""
        return slice(int(self.first[row]), int(self.first[row + 1]))


def _sums(tokens: TokenColumns, links: WaitLinks, ends: WaitEnds, is_wait: np.ndarray) -> Sums:
    """Return keys (wait line, producer line or _NO_PRODUCER), and four sums of each.

    They are executions, stall, measured ends and guessed cycles.  `is_wait` marks the code rows that wait for
    a counter.
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
    wait = np.concatenate([own, line[token[order]], line[ends.token]]).astype(np.int64)
    producer = np.concatenate([np.full(len(own), _NO_PRODUCER), producer[order], line[ends.operation]])
    n, pairs = np.ones(len(order), dtype=np.int64), np.zeros(len(order), dtype=np.int64)
    charged = tokens.stall[ends.token]
    return summed(
        wait << _PAIR_SHIFT | producer,
        np.concatenate([hits[own], n, np.zeros(len(charged), dtype=np.int64)]),
        np.concatenate([stall[own], pairs, charged]),
        np.pad(blocked[own], (0, len(wait) - len(own))),
        np.pad(np.where(ends.is_guess, charged, 0), (len(wait) - len(charged), 0)),
    )


def _blocking(sums: Sums) -> Blocking:
    key, n, stall, blocked, guessed = sums
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
        guessed=guessed[pairs],
    )


class WaitSummary(NamedTuple):
    """Waits of the waves that were read."""

    blocking: Blocking
    latency: WaitLatency
    waves: int  # waves that were read
    of: int  # waves of the trace


class _Waits(Value):
    sums: Sums
    samples: Sums
    waves: int


def _map(survey: Survey, trace: Trace, parcel: Parcel) -> _Waits:
    tokens = parcel.own
    effect = generation_of(trace.architecture, trace.code.text).effect
    is_wait = [text.startswith("s_wait") and bool(effect(text).waits) for text in trace.code.text]
    links = replay(tokens, trace.code, trace.architecture)
    sums = _sums(tokens, links, wait_ends_in(tokens, links, trace, survey), np.array(is_wait, bool))
    return _Waits(sums, latency_samples(tokens, links, trace.architecture), len(tokens.waves))


def _finish(trace: Trace, part: _Waits) -> WaitSummary:
    latency = wait_latency(trace, part.samples)
    return WaitSummary(_blocking(part.sums), latency, part.waves, len(trace.waves))


_MERGE = by_field(_Waits, sums=added(4), samples=added(1), waves=sum)


def _waits_by(survey: Survey) -> Reduction[_Waits, WaitSummary]:
    return Reduction(partial(_map, survey), _MERGE, _finish)


WAITS = Staged(SURVEY, _waits_by)


class LoadToUse(ColumnTable):
    """One row per code line whose results a wait required, most charged stall first; cycles.

    `p10` and `p90` are the samples at n // 10 and 9 n // 10 of the sorted n.
    """

    line: np.ndarray  # int32, code row of the operation
    n: np.ndarray  # int64, executions that a wait required
    p10: np.ndarray  # float64, distance from issue to wait
    median: np.ndarray  # float64
    p90: np.ndarray  # float64
    matrix: np.ndarray  # float64, matrix instructions in between, median; nan if texts are unreadable
    vector: np.ndarray  # float64, vector instructions (without matrix ones) in between, as `matrix`
    latency: np.ndarray  # float64, measured median, nan if no wait measured it
    short: np.ndarray  # int64, executions waited for sooner than that latency; 0 if it is unknown
    stall: np.ndarray  # int64, stall of waits that it ended
    wait: np.ndarray  # int32, code row of the wait that required it most often

    @property
    def is_short(self) -> np.ndarray:
        """Whether the median distance is shorter than the measured latency, bool."""
        return self.median < self.latency


_SHIFT = 40  # bits of a value in a key, below its line
_MAX_CYCLES = (1 << _SHIFT) - 1  # cycles, nine minutes at 2 GHz; damaged files may hold more


class _Uses(Value):
    """The uses in some waves: keys (line, value), and the number of operations for each."""

    distance: Sums  # cycles from issue to wait; and stall charged
    matrix: Sums  # matrix instructions in between
    vector: Sums
    wait: Sums  # code row of the wait
    samples: Sums  # `latency_samples`


def _map_uses(survey: Survey, trace: Trace, parcel: Parcel) -> _Uses:
    tokens = parcel.own
    links = replay(tokens, trace.code, trace.architecture)
    ends = wait_ends_in(tokens, links, trace, survey)
    line, distance, matrix, vector, charged, wait = _uses(tokens, links, ends, trace.architecture)
    once = np.ones(len(line), dtype=np.int64)

    def counts(value: np.ndarray) -> Sums:
        key = np.sort(_keys(line, value))
        first = run_starts(key)
        return key.take(first), np.diff(first, append=len(key))

    return _Uses(
        distance=summed(_keys(line, distance), once, charged),
        matrix=counts(matrix),
        vector=counts(vector),
        wait=counts(wait),
        samples=latency_samples(tokens, links, trace.architecture),
    )


def _keys(line: np.ndarray, value: np.ndarray) -> np.ndarray:
    """One number for a line and a value, int64."""
    return line << _SHIFT | np.minimum(value, _MAX_CYCLES)


def _uses(
    tokens: TokenColumns, links: WaitLinks, ends: WaitEnds, architecture: Architecture
) -> tuple[np.ndarray, ...]:
    """Return (line, distance, matrix, vector, stall charged, wait line) of each operation's first wait."""
    producer, token = links.producers, links.token.take(links.row_of)
    rows = np.lexsort((token, producer))
    rows = rows.take(run_starts(producer.take(rows)))
    producer, token = producer.take(rows), token.take(rows)
    charged = np.zeros(len(tokens), dtype=np.int64)
    np.maximum.at(charged, ends.operation, tokens.stall[ends.token].astype(np.int64))
    issued = tokens.ends_at(producer) if architecture.busy_is_issue else tokens.issue.take(producer)
    before = (borders(tokens.kind == kind) for kind in (TokenKind.MATRIX, TokenKind.VALU))
    return (
        tokens.line.take(producer).astype(np.int64),
        np.maximum(0, tokens.start.take(token) - issued),
        *(count.take(token) - count.take(producer) for count in before),
        charged.take(producer),
        tokens.line.take(token).astype(np.int64),
    )


def _uses_found(trace: Trace, part: _Uses) -> LoadToUse:
    key, times, charged = part.distance
    row, distance = key >> _SHIFT, key & _MAX_CYCLES
    line, place = np.unique(row, return_inverse=True)
    n, stall = sums(place, times, len(line)), sums(place, charged, len(line))
    p10, median, p90 = _at_ranks(line, part.distance, ((1, 10), MEDIAN, (9, 10)))
    known = wait_latency(trace, part.samples)
    latency = np.full(len(trace.code) + 1, np.nan)
    latency[known.line] = known.median
    # The wait that required an operation most often, on a tie the one with the lower row.
    pair, often = part.wait
    best = np.lexsort((-often, pair >> _SHIFT))
    best = best[starts_run(pair[best] >> _SHIFT)]
    is_short = distance < latency[row]
    matrix, vector = (_at_ranks(line, counts, (MEDIAN,))[0] for counts in (part.matrix, part.vector))
    code = trace.code
    if (code.is_unreadable & (code.hits > 0) & (code.kind == TokenKind.VALU)).any():  # may be matrix ones
        matrix, vector = np.full((2, len(line)), np.nan)
    table = LoadToUse(
        line=line.astype(np.int32),
        n=n,
        p10=p10,
        median=median,
        p90=p90,
        matrix=matrix,
        vector=vector,
        latency=latency[line],
        short=sums(place[is_short], times[is_short], len(line)),
        stall=stall,
        wait=(pair[best] & _MAX_CYCLES).astype(np.int32),
    )
    return table.at(np.lexsort((line, -stall)))


def _at_ranks(line: np.ndarray, values: Sums, ranks: Sequence[tuple[int, int]]) -> list[np.ndarray]:
    """Return the value at each rank of each given line, float64."""
    key, times, *_ = values
    return at_ranks(np.searchsorted(line, key >> _SHIFT), key & _MAX_CYCLES, len(line), ranks, times)


_COUNTS = dict.fromkeys(("matrix", "vector", "wait", "samples"), added(1))
_MERGE_USES = by_field(_Uses, distance=added(2), **_COUNTS)


def load_to_use_by(survey: Survey) -> Reduction[_Uses, LoadToUse]:
    """Return the analysis, given the survey of all waves of the capture."""
    return Reduction(partial(_map_uses, survey), _MERGE_USES, _uses_found)


LOAD_TO_USE = Staged(SURVEY, load_to_use_by)
