"""Load to use: how long before its wait an operation was issued, and how much work ran in between.

```
global_load ──┬── v_mfma ── v_mfma ── v_add ──┬── s_waitcnt
            issue        2 matrix, 1 vector   wait: its first attempt to issue
```
An operation that is waited for before its memory answers stalls the wave; more work in between, or an earlier
issue, would cover the latency.  Measured latencies are for the same code line, from waits that stalled.  Only
the first wait that required an operation counts as its use.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.survey import SURVEY, Survey
from rcv_py.analysis.attribution.waits import WaitEnds, wait_ends_in
from rcv_py.analysis.core.median import MEDIAN, at_ranks
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, Staged, added, by_field
from rcv_py.analysis.core.saturated import Sums, summed, sums
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.waits.wait_latency import latency_samples, wait_latency
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.base.runs import borders, run_starts, starts_run
from rcv_py.model.architecture import Architecture
from rcv_py.model.columns import ColumnTable, of_rows
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace


@dataclass(frozen=True, eq=False)
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


class _Uses(NamedTuple):
    """The uses in some waves: keys (line, value), and the number of operations for each."""

    distance: Sums  # cycles from issue to wait; and stall charged
    matrix: Sums  # matrix instructions in between
    vector: Sums
    wait: Sums  # code row of the wait
    samples: Sums  # `latency_samples`


def _map(survey: Survey, trace: Trace, parcel: Parcel) -> _Uses:
    tokens = parcel.own
    links = replay(tokens, trace.code, trace.architecture)
    ends = wait_ends_in(tokens, links, trace, survey)
    line, distance, matrix, vector, charged, wait = _uses(tokens, links, ends, trace.architecture)
    once = np.ones(len(line), dtype=np.int64)
    size = int(min(distance.max(initial=0), _MAX_CYCLES)) + 1
    # Small numbers make sorting rows faster.
    key, times, stall = summed(line * size + np.minimum(distance, _MAX_CYCLES), once, charged)

    def counts(value: np.ndarray) -> Sums:
        key = np.sort(_keys(line, value))
        first = run_starts(key)
        return key.take(first), np.diff(first, append=len(key))

    return _Uses(
        distance=(_keys(*np.divmod(key, size)), times, stall),
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


def _finish(trace: Trace, part: _Uses) -> LoadToUse:
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
    return of_rows(table, np.lexsort((line, -stall)))


def _at_ranks(line: np.ndarray, values: Sums, ranks: Sequence[tuple[int, int]]) -> list[np.ndarray]:
    """Return the value at each rank of each given line, float64."""
    key, times, *_ = values
    return at_ranks(np.searchsorted(line, key >> _SHIFT), key & _MAX_CYCLES, len(line), ranks, times)


_MERGE = by_field(_Uses, distance=added(2), matrix=added(1), vector=added(1), wait=added(1), samples=added(1))


def load_to_use_by(survey: Survey) -> Reduction[_Uses, LoadToUse]:
    """Return the analysis, given the survey of all waves of the capture."""
    return Reduction(partial(_map, survey), _MERGE, _finish)


LOAD_TO_USE = Staged(SURVEY, load_to_use_by)
