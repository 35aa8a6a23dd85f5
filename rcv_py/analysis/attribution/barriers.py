"""Barriers: every wave of a workgroup waits for the one that arrives last.

The n-th barriers of the waves of a workgroup belong together (`analysis/waves/workgroups.py`), whichever
`s_barrier` each of them stands at.
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.ledger import Ledger
from rcv_py.analysis.attribution.stream import Stream


def claim_barriers(stream: Stream, ledger: Ledger) -> None:
    """Charge barriers to what the wave that arrived last did longest while this wave was waiting.

    The last to arrive waits for nobody: what the barrier itself takes is its own.  If all traced waves were
    there long before the release, an untraced one was last: the cause is still the barrier, without a
    producer.
    """
    is_barrier = stream.lines.is_barrier[stream.line]
    rows = ledger.open(is_barrier)
    if not len(rows):
        return
    at, met = stream.crossings, stream.meetings
    crossing = np.full(len(stream), -1, dtype=np.int64)
    crossing[at.signal] = crossing[at.token] = np.arange(len(at))
    mine = crossing[ledger.token[rows]]
    meeting = np.append(met.of, -1)[mine]
    is_known = (mine >= 0) & np.append(met.is_seen, False)[meeting]
    is_last = is_known & (np.append(at.arrived, 0)[mine] >= np.append(met.last_arrived, 0)[meeting])
    is_own = is_last | (stream.stall[ledger.token[rows]] <= stream.lines.step)
    ledger.rest(rows[is_own], Cause.OWN)
    blamed = np.full(len(rows), -1, dtype=np.int64)
    named = np.flatnonzero(is_known & ~is_own)
    last, left = met.last[meeting[named]], met.left[meeting[named]]
    wave = np.where(left >= 0, left, at.wave[last])
    stop = np.where(left >= 0, stream.piece.first[1:][left], at.signal[last])
    blamed[named] = longest_before(stream, wave, stop, at.waited[mine[named]] - stream.base)
    ledger.rest(rows[~is_own], Cause.BARRIER, blamed[~is_own])


def longest_before(stream: Stream, wave: np.ndarray, stop: np.ndarray, since: np.ndarray) -> np.ndarray:
    """Return the token that took longest of those a wave ran since a time and in front of its token `stop`.

    Of the token that was under way at that time only what came later counts.  Where there is none in front it
    is `stop`.
    """
    if not len(stop):
        return stop
    key = stream.start + stream.owner * stream.stride
    begin = np.searchsorted(key, since + wave * stream.stride, side="right") - 1
    begin = np.maximum(np.minimum(begin, stop - 1), stream.piece.first[wave])
    under_way = stream.end[begin] - np.maximum(stream.start[begin], since)
    length = stream.end - stream.start
    by_length = np.argsort(length, kind="stable")
    rank = np.empty(len(stream) + 1, dtype=np.int64)
    rank[by_length], rank[-1] = np.arange(len(stream)), -1
    pairs = np.column_stack([np.minimum(begin + 1, len(stream)), np.maximum(stop, begin + 1)])
    later = by_length[np.maximum.reduceat(rank, pairs.reshape(-1))[::2]]
    return np.where((begin + 1 < stop) & (length[later] > under_way), later, begin)
