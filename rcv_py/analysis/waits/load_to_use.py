"""Load to use: how long before its wait an operation was issued, and how much work lay in between.

```
global_load ──┬── v_mfma ── v_mfma ── v_add ──┬── s_waitcnt
            issue        2 matrix, 1 vector   wait: its first attempt to issue
```
An operation that is waited for sooner than its memory takes to answer stalls the wave; more work in between,
or an earlier issue, would cover it.  Measured latencies are those of the same code line, measured by waits
that stalled.  Only the first wait that required an operation counts as its use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.median import at_ranks
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.core.token_columns import TokenColumns, token_columns
from rcv_py.analysis.waits.wait_latency import NO_SAMPLES, WaitLatency, latency_samples, wait_latency
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.base.runs import starts_run
from rcv_py.model.columns import of_rows
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


@dataclass(frozen=True, eq=False)
class LoadToUse:
    """One row a code line whose results a wait required, most charged stall first; cycles.

    A rank of n sorted samples is the one at n // 10, n // 2 or 9 n // 10.
    """

    line: np.ndarray  # int32, code row of the operation
    n: np.ndarray  # int64, executions that a wait required
    p10: np.ndarray  # int64, distance from issue to wait
    median: np.ndarray  # int64
    p90: np.ndarray  # int64
    matrix: np.ndarray  # int64, matrix instructions in between, median
    vector: np.ndarray  # int64, vector instructions (no matrix ones) in between, median
    latency: np.ndarray  # float64, measured median, nan if no wait measured it
    short: np.ndarray  # int64, executions waited for sooner than that latency; 0 if it is not known
    stall: np.ndarray  # int64, stall of waits whose newest required operation it was
    wait: np.ndarray  # int32, code row of the wait that required it most often

    def __len__(self) -> int:
        return len(self.line)

    @property
    def is_short(self) -> np.ndarray:
        """Whether the median distance is shorter than the measured latency, bool."""
        return self.median < self.latency


def load_to_use(trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None) -> LoadToUse:
    """Return the distances in the waves whose index row is in `rows` (None: all), each wave once."""
    uses, samples = [np.zeros((0, 6), dtype=np.int64)], [NO_SAMPLES]
    for tokens in token_columns(batches, rows):
        links = replay(tokens, trace.code, trace.gfxip, trace.target)
        uses.append(_uses(tokens, links, trace.gfxip))
        samples.append(latency_samples(tokens, links, trace.gfxip))
    return _table(np.concatenate(uses), wait_latency(samples), len(trace.code))


def _uses(tokens: TokenColumns, links: WaitLinks, gfxip: int) -> np.ndarray:
    """Return (line, distance, matrix, vector, stall charged, wait line) of each operation's first wait."""
    producer, token = links.producers, links.token[links.row_of]
    order = np.lexsort((token, producer))
    order = order[starts_run(producer[order])]
    producer, token = producer[order], token[order]
    charged = np.zeros(len(tokens), dtype=np.int64)
    waiting, newest = links.newest_of_waits()
    np.maximum.at(charged, newest, tokens.stall[waiting].astype(np.int64))
    issued = (tokens.end if gfxip <= 9 else tokens.issue)[producer]
    before = (np.append(0, np.cumsum(tokens.kind == kind)) for kind in (TokenKind.MATRIX, TokenKind.VALU))
    columns = (
        tokens.line[producer].astype(np.int64),
        np.maximum(0, tokens.start[token] - issued),
        *(count[token] - count[producer] for count in before),
        charged[producer],
        tokens.line[token].astype(np.int64),
    )
    return np.stack(columns, axis=1)


def _table(uses: np.ndarray, known: WaitLatency, rows: int) -> LoadToUse:
    row, distance, matrix, vector, charged, wait = uses.T
    line, place, n = np.unique(row, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    middle = ((1, 2),)
    spread = at_ranks(place, distance, len(line), ((1, 10), *middle, (9, 10)))
    spread += (at_ranks(place, column, len(line), middle)[0] for column in (matrix, vector))
    p10, median, p90, matrix, vector = (column.astype(np.int64) for column in spread)
    latency = np.full(rows + 1, np.nan)
    latency[known.line] = known.median
    # The wait that required an operation most often, of equals the one with the lower row.
    pair, times = np.unique(row << 32 | wait, return_counts=True)
    best = np.lexsort((-times, pair >> 32))
    best = best[starts_run(pair[best] >> 32)]
    stall = sums(place, charged, len(line))
    table = LoadToUse(
        line=line.astype(np.int32),
        n=n.astype(np.int64),
        p10=p10,
        median=median,
        p90=p90,
        matrix=matrix,
        vector=vector,
        latency=latency[line],
        short=np.bincount(place, distance < latency[row], len(line)).astype(np.int64),
        stall=stall,
        wait=(pair[best] & 0xFFFFFFFF).astype(np.int32),
    )
    return of_rows(table, np.lexsort((line, -stall)))
