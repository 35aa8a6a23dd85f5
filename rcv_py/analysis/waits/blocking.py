"""Who made waits wait: every wait line with what it waited for, its stall charged to the newest of them.

A wait ends when the last of what it required is there.  Operations come back in order of issue, so the stall
is charged to the newest; where they may not, the newest is still the likeliest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.token_columns import Piece
from rcv_py.analysis.waits.wait_latency import counted, told
from rcv_py.analysis.waits.waitcnt.links import WaitLinks

_SHIFT = 32  # bits of a producer beside its wait in a key


@dataclass(frozen=True, eq=False)
class BlockingSums:
    """Sums over some waves; adding joins two sets of waves."""

    hits: np.ndarray  # int64 [code rows], executions of each wait, 0 for other lines
    stall: np.ndarray  # int64 [code rows], cycles
    blocked: np.ndarray  # int64 [code rows], executions whose end tells the latency of the newest producer
    pair: np.ndarray  # int64, wait line << 32 | producer line, ascending
    n: np.ndarray  # int64 [pairs], executions of the wait that required the producer
    charged: np.ndarray  # int64 [pairs], cycles of stall

    def __add__(self, other: BlockingSums) -> BlockingSums:
        return joined((self, other), len(self.hits))


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


def blocking_sums(batch: Piece, links: WaitLinks, rows: int, is_wait: np.ndarray) -> BlockingSums:
    """Return the sums of one batch; `is_wait` says which of the code rows ask a counter for anything."""
    line = batch.line
    inside = np.flatnonzero((line >= 0) & (line < rows))
    waits = inside[is_wait[line[inside]]]
    hits = np.bincount(line[waits], minlength=rows)
    stall = saturated.sums(line[waits], batch.stall[waits], rows)
    exact = links.token[told(batch, links).is_exact]
    wait, producer = _distinct(links, line)
    newest, of_newest = _charged_pairs(batch, links)
    pair, n = counted(
        np.concatenate([line[wait].astype(np.int64) << _SHIFT | producer, newest]),
        np.concatenate([np.ones(len(wait), dtype=np.int64), np.zeros(len(newest), dtype=np.int64)]),
    )
    charged = saturated.sums(np.searchsorted(pair, newest), of_newest, len(pair))
    return BlockingSums(hits, stall, np.bincount(line[exact], minlength=rows), pair, n, charged)


def blocking(sums: BlockingSums) -> Blocking:
    """Return the ranking."""
    lines = np.flatnonzero(sums.hits)
    lines = lines[np.lexsort((lines, -sums.stall[lines]))]
    wait, producer = sums.pair >> _SHIFT, sums.pair & ((1 << _SHIFT) - 1)
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


def joined(parts: Iterable[BlockingSums], rows: int) -> BlockingSums:
    """Return the sums of several sets of waves together."""
    parts = list(parts)
    if not parts:
        none, empty = np.zeros(rows, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return BlockingSums(none, none, none, empty, empty, empty)
    keys = np.concatenate([part.pair for part in parts])
    pair, n = counted(keys, np.concatenate([part.n for part in parts]))
    charged = saturated.sums(
        np.searchsorted(pair, keys), np.concatenate([part.charged for part in parts]), len(pair)
    )
    hits, blocked = (np.sum([getattr(part, name) for part in parts], axis=0) for name in ("hits", "blocked"))
    stall = reduce(saturated.later, [part.stall for part in parts])
    return BlockingSums(hits, stall, blocked, pair, n, charged)


def _distinct(links: WaitLinks, line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (token of the wait, producer line) of every execution, each pair once."""
    token, producer = links.token[links.row_of], line[links.producers].astype(np.int64)
    order = np.lexsort((producer, token))
    token, producer = token[order], producer[order]
    is_new = np.ones(len(token), dtype=bool)
    is_new[1:] = (token[1:] != token[:-1]) | (producer[1:] != producer[:-1])
    return token[is_new], producer[is_new]


def _charged_pairs(batch: Piece, links: WaitLinks) -> tuple[np.ndarray, np.ndarray]:
    """Return the pair and the stall of each execution: of several counters the newest producer of all."""
    if not len(links):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    begins = np.flatnonzero(np.append(True, links.token[1:] != links.token[:-1]))
    newest, token = np.maximum.reduceat(links.newest, begins), links.token[begins]
    pair = batch.line[token].astype(np.int64) << _SHIFT | batch.line[newest]
    return pair, batch.stall[token].astype(np.int64)
