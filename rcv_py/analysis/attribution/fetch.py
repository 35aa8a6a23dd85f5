"""Stalls for instructions that were not there: at the start, behind branches, and together with other SIMDs.

SIMDs of a compute unit share little.  Arithmetic of two SIMDs that stalls at the same place of the program at
the same time had only the delivery of instructions in common:

```
SIMD 0   line 1139  ████████████████████│      the same 64 bytes of code, released in the same turn:
SIMD 2   line 1139         █████████████│      what held both is outside of either SIMD
```
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.ledger import Ledger
from rcv_py.analysis.attribution.lines import NONE, SALU, VALU
from rcv_py.analysis.attribution.stream import Stream
from rcv_py.model.kinds import TokenKind

_INSIDE = (NONE, VALU, SALU)  # units of which every SIMD has its own
_LOOKED_AT = 8  # neighbours in time that are looked at


def claim_fetch(stream: Stream, ledger: Ledger) -> None:
    """Charge the stall of the first instruction of a wave and of those behind taken branches."""
    token = ledger.token
    is_first = token == stream.first[token]
    before = np.maximum(token - 1, 0)
    is_target = ~is_first & (stream.piece.kind[before] == TokenKind.JUMP) & (ledger.left > 0)
    ledger.rest(np.flatnonzero(is_target), Cause.FETCH, before[is_target])
    ledger.rest(np.flatnonzero(is_first & (ledger.left > 0)), Cause.FETCH)


def claim_shared_fetch(stream: Stream, ledger: Ledger) -> None:
    """Charge stalls that began or ended within a turn of one on another SIMD in the same 64 bytes of code.

    Only what no other rule explains is asked, and only instructions that use nothing outside of their SIMD;
    of tokens without a code line that is not known.
    """
    is_known = stream.line < len(stream.lines.unit) - 1
    rows = ledger.open(is_known & np.isin(stream.unit, _INSIDE))
    ledger.rest(rows[has_partner(stream, ledger, rows)], Cause.FETCH)


def has_partner(stream: Stream, ledger: Ledger, rows: np.ndarray, shift: int = 0) -> np.ndarray:
    """Return which rows share place and time with another SIMD of their compute unit, bool.

    With a `shift` (cycles) the others are looked for at another time: how often they are found there is how
    often place and time are shared by chance.
    """
    token = ledger.token[rows]
    owner = stream.owner[token]
    place = stream.cu[owner] << 44 ^ stream.lines.block[stream.line[token]]
    _, place = np.unique(place, return_inverse=True)
    lane = place.reshape(-1) * stream.stride
    ends = stream.issue[token]
    found = np.zeros(len(rows), dtype=bool)
    for moment in (ends, ends - ledger.left[rows]):
        found |= _near(lane + moment, lane + moment + shift, stream.simd[owner], stream.lines.step)
    return found


def _near(moment: np.ndarray, asked: np.ndarray, simd: np.ndarray, step: int) -> np.ndarray:
    """Return for which times asked there is a moment of another SIMD within a step, bool."""
    order = np.argsort(moment, kind="stable")
    sorted_, of = moment[order], simd[order]
    low = np.searchsorted(sorted_, asked - step, side="left")
    high = np.searchsorted(sorted_, asked + step, side="right")
    found = np.zeros(len(asked), dtype=bool)
    for at in range(_LOOKED_AT):
        there = np.flatnonzero(low + at < high)
        if not len(there):
            break
        found[there] |= of[low[there] + at] != simd[there]
    return found
