"""Load to use: how long before its wait an operation was issued, and how much work lay in between.

```
global_load ──┬── v_mfma ── v_mfma ── v_add ──┬── s_waitcnt
            issue        2 matrix, 1 vector   wait: its first attempt to issue
```
An operation that is waited for sooner than its memory takes to answer stalls the wave; more work in between,
or an earlier issue, would cover it.  Measured latencies are those of the same code line, told by waits that
stalled.  Only the first wait that required an operation counts as its use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.saturated import later, sums
from rcv_py.analysis.core.token_columns import TokenColumns, token_columns
from rcv_py.analysis.waits.wait_latency import LatencySamples, WaitLatency, latency_samples, wait_latency
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.model.columns import of_rows
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


@dataclass(frozen=True, eq=False)
class LoadToUse:
    """One row a code line whose results a wait asked for, most charged stall first; cycles.

    A rank of n sorted samples is the one at n // 10, n // 2 or 9 n // 10.
    """

    line: np.ndarray  # int32, code row of the operation
    n: np.ndarray  # int64, executions that a wait required
    p10: np.ndarray  # int64, distance from issue to wait
    median: np.ndarray  # int64
    p90: np.ndarray  # int64
    matrix: np.ndarray  # int64, matrix instructions in between, median
    vector: np.ndarray  # int64, vector instructions (no matrix ones) in between, median
    latency: np.ndarray  # float64, measured median, nan if no wait told it
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
    uses, samples = [], []
    for piece in token_columns(batches, rows):
        links = replay(piece, trace.code, trace.gfxip, trace.target)
        uses.append(_uses(piece, links, trace.gfxip))
        samples.append(latency_samples(piece, links, len(trace.code), trace.gfxip))
    table = np.concatenate([np.zeros((0, 6), dtype=np.int64), *uses])
    return _table(table, wait_latency(LatencySamples.joined(samples, len(trace.code))), len(trace.code))


def _uses(piece: TokenColumns, links: WaitLinks, gfxip: int) -> np.ndarray:
    """Return (line, distance, matrix, vector, stall charged, wait line) of each operation's first wait."""
    producer, token = links.producers, links.token[links.row_of]
    order = np.lexsort((token, producer))
    producer, token = producer[order], token[order]
    is_new = np.append(True, producer[1:] != producer[:-1])[: len(producer)]
    producer, token = producer[is_new], token[is_new]
    charged = np.zeros(len(piece), dtype=np.int64)
    waiting, newest = links.newest_of_waits()
    known = newest >= 0
    np.maximum.at(charged, newest[known], piece.stall[waiting[known]].astype(np.int64))
    issued = later(piece.start[producer], piece.stall[producer])
    if gfxip <= 9:
        issued = later(issued, piece.busy[producer])
    is_matrix = np.append(0, np.cumsum(piece.kind == TokenKind.MATRIX))
    is_vector = np.append(0, np.cumsum(piece.kind == TokenKind.VALU))
    columns = (
        piece.line[producer].astype(np.int64),
        np.maximum(0, piece.start[token] - issued),
        is_matrix[token] - is_matrix[producer],
        is_vector[token] - is_vector[producer],
        charged[producer],
        piece.line[token].astype(np.int64),
    )
    return np.stack(columns, axis=1)


def _table(table: np.ndarray, known: WaitLatency, rows: int) -> LoadToUse:
    line, n = np.unique(table[:, 0], return_counts=True)
    first = np.cumsum(n) - n

    ordered = {at: table[np.lexsort((table[:, at], table[:, 0])), at] for at in (1, 2, 3)}

    def ranked(column: int, rank: np.ndarray) -> np.ndarray:
        return ordered[column][first + rank]

    latency = np.full(rows + 1, np.nan)
    latency[known.line] = known.median
    # Waits are ranked as if they were numbers: the most frequent one is the longest run of equal values.
    pair, times = np.unique(table[:, 0] << 32 | table[:, 5], return_counts=True)
    best = np.lexsort((-times, pair >> 32))
    best = best[np.unique((pair >> 32)[best], return_index=True)[1]]
    sooner = table[:, 1] < latency[table[:, 0]]
    place = np.searchsorted(line, table[:, 0])
    stall = sums(place, table[:, 4], len(line))
    found = LoadToUse(
        line=line.astype(np.int32),
        n=n.astype(np.int64),
        p10=ranked(1, n // 10),
        median=ranked(1, n // 2),
        p90=ranked(1, 9 * n // 10),
        matrix=ranked(2, n // 2),
        vector=ranked(3, n // 2),
        latency=latency[line],
        short=np.bincount(place, sooner, len(line)).astype(np.int64),
        stall=stall,
        wait=(pair[best] & 0xFFFFFFFF).astype(np.int32),
    )
    return of_rows(found, np.lexsort((line, -stall)))
