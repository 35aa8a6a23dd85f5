"""Stalls for late arrivals: of other waves at a barrier, and of instructions that were not fetched yet.

The n-th barriers of the waves of a workgroup belong together (`analysis/waves/workgroups.py`), whichever
`s_barrier` each wave stands at.

SIMDs of a compute unit share little.  If arithmetic of two SIMDs stalls at the same place of the program at
the same time, only instruction delivery can be the common cause:

```
SIMD 0   line 1139  ████████████████████│      the same 64 bytes of code, released in the same turn:
SIMD 2   line 1139         █████████████│      the common cause is outside of either SIMD
```
"""

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.ledger import Ledger
from rcv_py.analysis.attribution.lines import NONE, SALU, VALU
from rcv_py.analysis.attribution.stream import TokenStream
from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.base.runs import first_from, largest_in, ranges
from rcv_py.model.kinds import TokenKind


def claim_barriers(stream: TokenStream, ledger: Ledger) -> None:
    """Charge barriers to what the last wave to arrive did longest while this wave was waiting.

    The last wave to arrive waits for no other: the cost of the barrier itself is charged to that wave.  If
    all traced waves arrived long before the release, an untraced wave was last: the cause is still the
    barrier, without a producer.
    """
    rows = ledger.of_lines(stream.lines.is_barrier)
    if not len(rows):
        return
    at, met, token = stream.crossings, stream.meetings, ledger.token[rows]
    waits, signals = (np.searchsorted(column, token) for column in (at.token, at.signal))
    is_wait, is_signal = np.append(at.token, -1)[waits] == token, np.append(at.signal, -1)[signals] == token
    mine = np.where(is_wait, waits, np.where(is_signal, signals, -1))  # the crossing of each, -1: none
    meeting = np.append(met.of, -1)[mine]
    is_known = (mine >= 0) & np.append(met.is_seen, False)[meeting]
    is_last = is_known & (np.append(at.arrived, 0)[mine] >= np.append(met.last_arrived, 0)[meeting])
    is_own = is_last | (stream.tokens.stall[token] <= stream.lines.step)
    ledger.rest(rows[is_own], Cause.OWN)
    blamed = np.full(len(rows), -1, dtype=np.int64)
    named = np.flatnonzero(is_known & ~is_own)
    last, left = met.last[meeting[named]], met.left[meeting[named]]
    wave = np.where(left >= 0, left, at.wave[last])
    stop = np.where(left >= 0, stream.tokens.first[1:][left], at.signal[last])
    blamed[named] = longest_before(stream, wave, stop, at.waited[mine[named]] - stream.base)
    ledger.rest(rows[~is_own], Cause.BARRIER, blamed[~is_own])


def longest_before(stream: TokenStream, wave: np.ndarray, stop: np.ndarray, since: np.ndarray) -> np.ndarray:
    """Return the longest token that a wave ran since a time and before its token `stop`.

    Only the later part of a token that was running at that time counts.  If there is no earlier token, the
    result is `stop`.
    """
    first = stream.tokens.first[wave]
    begin = np.maximum(first_from(stream.start, first, stop, since + 1) - 1, first)
    under_way = stream.ends(begin) - np.maximum(stream.start[begin], since)
    # Only tokens after `begin` that any of the waves ran.
    meant = IntervalSet.of(begin + 1, stop)
    rows = ranges(meant.begin, meant.end - meant.begin)
    if not len(rows):
        return begin
    length = stream.ends(rows) - stream.start.take(rows)
    later = largest_in(length, *meant.covered_before_each(begin + 1, stop), is_last=True)
    return np.where((later >= 0) & (length[later] > under_way), rows[later], begin)


_INSIDE = (NONE, VALU, SALU)  # units that every SIMD has for itself
_LOOKED_AT = 8  # neighbours in time that are compared


def claim_fetch(stream: TokenStream, ledger: Ledger) -> None:
    """Charge the stall of the first instruction of a wave and of instructions after taken branches."""
    token = ledger.token
    is_first = stream.is_first(token)
    before = np.maximum(token - 1, 0)
    is_target = ~is_first & (stream.tokens.kind[before] == TokenKind.JUMP) & (ledger.left > 0)
    ledger.rest(np.flatnonzero(is_target), Cause.FETCH, before[is_target])
    ledger.rest(np.flatnonzero(is_first & (ledger.left > 0)), Cause.FETCH)


def claim_shared_fetch(stream: TokenStream, ledger: Ledger) -> None:
    """Charge stalls that begin or end within a turn of a stall on another SIMD in the same 64 bytes of code.

    Only cycles that no other rule explains count, and only instructions that use nothing outside of their
    SIMD; tokens without a code line are left out.
    """
    is_meant = np.isin(stream.lines.unit, _INSIDE)
    is_meant[-1] = False
    rows = ledger.of_lines(is_meant)
    if not len(rows):
        return
    ledger.rest(rows[has_partner(stream, ledger, rows)], Cause.FETCH)


def has_partner(stream: TokenStream, ledger: Ledger, rows: np.ndarray, shift: int = 0) -> np.ndarray:
    """Return which rows share place and time with another SIMD of their compute unit, bool.

    With a `shift` (cycles) the partners are searched at another time: the matches found there show how often
    place and time agree by chance.
    """
    token = ledger.token[rows]
    owner = stream.owner[token]
    place = stream.cu[owner] << 44 ^ stream.lines.block[stream.line[token]]
    _, place = np.unique(place, return_inverse=True)
    lane = place.reshape(-1) * stream.stride
    ends = stream.issue[token]
    has_near = np.zeros(len(rows), dtype=bool)
    for moment in (ends, ends - ledger.left[rows]):
        has_near |= _near(lane + moment, shift, stream.simd[owner], stream.lines.step)
    return has_near


def _near(moment: np.ndarray, shift: int, simd: np.ndarray, step: int) -> np.ndarray:
    """Return which moments, shifted, are within a step of a moment of another SIMD, bool."""
    order = np.argsort(moment, kind="stable")
    low = np.searchsorted(moment[order], moment + shift - step, side="left")
    high = np.searchsorted(moment[order], moment + shift + step, side="right")
    has_near = np.zeros(len(moment), dtype=bool)
    for at in range(_LOOKED_AT):
        there = np.flatnonzero(low + at < high)
        has_near[there] |= simd[order[low[there] + at]] != simd[there]
    return has_near
