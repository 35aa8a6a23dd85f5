"""Stalls for what arrives late: the other waves at a barrier, and instructions that were not there.

The n-th barriers of the waves of a workgroup belong together (`analysis/waves/workgroups.py`), whichever
`s_barrier` each of them stands at.

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
from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.waves.barriers import TokenCrossings
from rcv_py.base.runs import first_from, largest_in, ranges
from rcv_py.model.kinds import TokenKind


def claim_barriers(stream: Stream, ledger: Ledger) -> None:
    """Charge barriers to what the wave that arrived last did longest while this wave was waiting.

    The last to arrive waits for nobody: what the barrier itself takes is its own.  If all traced waves were
    there long before the release, an untraced one was last: the cause is still the barrier, without a
    producer.
    """
    rows = ledger.of_lines(stream.lines.is_barrier)
    if not len(rows):
        return
    at, met = stream.crossings, stream.meetings
    mine = _crossing(at, ledger.token[rows])
    meeting = np.append(met.of, -1)[mine]
    is_known = (mine >= 0) & np.append(met.is_seen, False)[meeting]
    is_last = is_known & (np.append(at.arrived, 0)[mine] >= np.append(met.last_arrived, 0)[meeting])
    is_own = is_last | (stream.tokens.stall[ledger.token[rows]] <= stream.lines.step)
    ledger.rest(rows[is_own], Cause.OWN)
    blamed = np.full(len(rows), -1, dtype=np.int64)
    named = np.flatnonzero(is_known & ~is_own)
    last, left = met.last[meeting[named]], met.left[meeting[named]]
    wave = np.where(left >= 0, left, at.wave[last])
    stop = np.where(left >= 0, stream.tokens.first[1:][left], at.signal[last])
    blamed[named] = longest_before(stream, wave, stop, at.waited[mine[named]] - stream.base)
    ledger.rest(rows[~is_own], Cause.BARRIER, blamed[~is_own])


def _crossing(at: TokenCrossings, token: np.ndarray) -> np.ndarray:
    """Return the crossing that each token signals or waits at, int64, -1: none."""
    waits, signals = (np.searchsorted(column, token) for column in (at.token, at.signal))
    is_wait, is_signal = (
        np.append(column, -1)[place] == token for column, place in ((at.token, waits), (at.signal, signals))
    )
    return np.where(is_wait, waits, np.where(is_signal, signals, -1))


def longest_before(stream: Stream, wave: np.ndarray, stop: np.ndarray, since: np.ndarray) -> np.ndarray:
    """Return the token that took longest of those a wave ran since a time and before its token `stop`.

    Of the token that was under way at that time only what came later counts.  Where there is none in front it
    is `stop`.
    """
    first = stream.tokens.first[wave]
    begin = np.maximum(first_from(stream.start, first, stop, since + 1) - 1, first)
    under_way = stream.ends(begin) - np.maximum(stream.start[begin], since)
    # Of all tokens only those behind it that any of the waves ran.
    meant = IntervalSet.of(begin + 1, stop)
    rows = ranges(meant.begin, meant.end - meant.begin)
    if not len(rows):
        return begin
    length = stream.ends(rows) - stream.start.take(rows)
    later = largest_in(length, *meant.covered_before_each(begin + 1, stop), is_last=True)
    return np.where((later >= 0) & (length[later] > under_way), rows[later], begin)


_INSIDE = (NONE, VALU, SALU)  # units of which every SIMD has its own
_LOOKED_AT = 8  # neighbours in time that are looked at


def claim_fetch(stream: Stream, ledger: Ledger) -> None:
    """Charge the stall of the first instruction of a wave and of those behind taken branches."""
    token = ledger.token
    is_first = stream.is_first(token)
    before = np.maximum(token - 1, 0)
    is_target = ~is_first & (stream.tokens.kind[before] == TokenKind.JUMP) & (ledger.left > 0)
    ledger.rest(np.flatnonzero(is_target), Cause.FETCH, before[is_target])
    ledger.rest(np.flatnonzero(is_first & (ledger.left > 0)), Cause.FETCH)


def claim_shared_fetch(stream: Stream, ledger: Ledger) -> None:
    """Charge stalls that began or ended within a turn of one on another SIMD in the same 64 bytes of code.

    Only what no other rule explains counts, and only instructions that use nothing outside of their SIMD;
    of tokens without a code line that is not known.
    """
    is_meant = np.isin(stream.lines.unit, _INSIDE)
    is_meant[-1] = False
    rows = ledger.of_lines(is_meant)
    if not len(rows):
        return
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
    has_near = np.zeros(len(rows), dtype=bool)
    for moment in (ends, ends - ledger.left[rows]):
        has_near |= _near(lane + moment, shift, stream.simd[owner], stream.lines.step)
    return has_near


def _near(moment: np.ndarray, shift: int, simd: np.ndarray, step: int) -> np.ndarray:
    """Return for which moments, shifted, there is a moment of another SIMD within a step, bool."""
    order = np.argsort(moment, kind="stable")
    low = np.searchsorted(moment[order], moment + shift - step, side="left")
    high = np.searchsorted(moment[order], moment + shift + step, side="right")
    has_near = np.zeros(len(moment), dtype=bool)
    for at in range(_LOOKED_AT):
        there = np.flatnonzero(low + at < high)
        has_near[there] |= simd[order[low[there] + at]] != simd[there]
    return has_near
