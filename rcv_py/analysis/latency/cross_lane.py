"""Chains of cross-lane operations through LDS: each waits for the previous one, so their latencies add up.

```
ds_bpermute ─ s_waitcnt lgkmcnt(0) ─ v_add ─ ds_bpermute ─ s_waitcnt lgkmcnt(0) ─ v_add
╰────────────── one link ──────────────────╯╰────────────── the next ──────────────────╯
```
Reductions are often written like this.  A link begins with the first cross-lane operation after a wait and
ends with the next link, or with the end of its wait.  Links form a chain if there is vector arithmetic
between the wait of a link and the operation of the next, and no branch.  The analysis ignores what the
arithmetic computes, so a chain may be avoidable (DPP exchanges lanes of a row without LDS), but need not be.
"""

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.base.runs import ascending, starts_run
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable, memoized
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace

OPERATIONS = ("ds_bpermute", "ds_permute", "ds_swizzle")
MAX_DISTANCE = 64  # maximum tokens between a wait and the next operation
MIN_LINKS = 2  # minimum links of a chain


class CrossLaneChains(ColumnTable):
    """One row per chain of the program, most cycles first: same first and last line, same number of links."""

    first: np.ndarray  # int32, code row of its first operation
    last: np.ndarray  # int32, code row of its last wait
    links: np.ndarray  # int32
    times: np.ndarray  # int64, executions
    cycles: np.ndarray  # int64, of all executions
    stall: np.ndarray  # int64, stall of the waits

    @property
    def cycles_per_link(self) -> np.ndarray:
        """Mean cycles of one link, float64."""
        return self.cycles / np.maximum(1, self.links * self.times)


def _map(trace: Trace, parcel: Parcel) -> np.ndarray:
    """Return rows of first line, last line, links, executions, cycles and stall, int64 [n, 6]."""
    code, tokens = trace.code, parcel.own
    crossing = _is_cross(code)[tokens.code_rows(len(code))]
    if not crossing.any():
        return _NONE
    links = replay(tokens, code, trace.architecture)
    return _merge([np.insert(_chains(tokens, links, crossing), 3, 1, axis=1)])


@memoized
def _is_cross(code: CodeTable) -> np.ndarray:
    """Whether each code row is a cross-lane operation; False for tokens without one; bool [code rows + 1]."""
    return np.array([*(text.startswith(OPERATIONS) for text in code.text), False], dtype=bool)


def _merge(parts: Sequence[np.ndarray]) -> np.ndarray:
    table = np.concatenate([_NONE, *parts])
    key, place = np.unique(table[:, :3], axis=0, return_inverse=True)
    return np.column_stack([key, *(sums(place, table[:, i], len(key)) for i in (3, 4, 5))])


def _finish(trace: Trace, part: np.ndarray) -> CrossLaneChains:
    first, last, links = part[:, :3].astype(np.int32).T
    times, cycles, stall = part[:, 3:].T
    chains = CrossLaneChains(first=first, last=last, links=links, times=times, cycles=cycles, stall=stall)
    return chains.at(np.lexsort((first, -cycles)))


_NONE = np.zeros((0, 6), dtype=np.int64)
CROSS_LANE = Reduction(_map, _merge, _finish)


def _chains(piece: TokenColumns, links: WaitLinks, crossing: np.ndarray) -> np.ndarray:
    """Return (first line, last line, links, cycles, stall) of each executed chain.

    `crossing` marks the tokens that are cross-lane operations, bool.
    """
    row = np.flatnonzero(links.left == 0)
    row = row[crossing[links.newest[row]]]
    if not len(row):
        return np.zeros((0, 5), dtype=np.int64)
    wait = ascending(links.token[row])
    ops = np.flatnonzero(crossing)
    owner = piece.owner[wait]
    after_wait = np.maximum(np.append(0, wait[:-1] + 1), piece.first[owner])
    first = ops[np.minimum(np.searchsorted(ops, after_wait), len(ops) - 1)]  # after the last wait
    vector = np.append(0, np.cumsum(np.isin(piece.kind, (TokenKind.VALU, TokenKind.MATRIX))))
    leaves = np.append(0, np.cumsum(np.isin(piece.kind, (TokenKind.JUMP, TokenKind.NEXT))))
    follows = ~starts_run(owner)
    follows[1:] &= (
        (first[1:] - wait[:-1] <= MAX_DISTANCE)
        & (vector[first[1:]] > vector[wait[:-1]])
        & (leaves[wait[1:]] == leaves[wait[:-1]])
    )
    begins = np.flatnonzero(~follows)
    count = np.diff(begins, append=len(wait))
    last = begins + count - 1
    cycles = piece.issue[wait[last]] - piece.issue[first[begins]]
    stall = np.add.reduceat(piece.stall[wait].astype(np.int64), begins)
    chains = np.stack([piece.line[first[begins]], piece.line[wait[last]], count, cycles, stall], axis=1)
    return chains[count >= MIN_LINKS].astype(np.int64)
