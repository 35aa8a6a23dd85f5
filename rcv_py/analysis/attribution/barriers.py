"""Barriers: every wave of a workgroup waits for the one that arrives last.

Where the capture names no workgroups, a workgroup is the waves of one compute unit with the same slot and
the same number in it; the n-th barriers of its waves belong together.
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.ledger import Ledger
from rcv_py.analysis.attribution.stream import Stream

TOGETHER = (
    16  # turns between the last arrival and the release; later ones had another, untraced wave to wait for
)


def claim_barriers(stream: Stream, ledger: Ledger) -> None:
    """Charge barriers to what the wave that arrived last did longest while this wave was waiting.

    The last to arrive waits for nobody: its turn is the barrier's own.  If all traced waves were there long
    before the release, an untraced one was last: the cause is still the barrier, without a producer.
    """
    token = np.flatnonzero(stream.lines.is_barrier[stream.line])
    if not len(token):
        return
    last = _last_arrivals(stream, token)
    rows = ledger.open(stream.lines.is_barrier[stream.line])
    place = np.searchsorted(token, ledger.token[rows])
    mine, latest = token[place], last[place]
    step = stream.lines.step
    is_own = stream.stall[mine] <= step
    ledger.rest(rows[is_own], Cause.OWN)
    rows, mine, latest = rows[~is_own], mine[~is_own], latest[~is_own]
    is_known = (latest != mine) & (stream.issue[mine] - stream.start[latest] <= TOGETHER * step)
    blamed = np.full(len(rows), -1, dtype=np.int64)
    blamed[is_known] = longest_before(stream, latest[is_known], stream.start[mine[is_known]])
    ledger.rest(rows, Cause.BARRIER, blamed)


def longest_before(stream: Stream, arrival: np.ndarray, since: np.ndarray) -> np.ndarray:
    """Return the longest token that the wave of each arrival (token) ran since a time, before it arrived."""
    if not len(arrival):
        return arrival
    owner = stream.owner[arrival]
    key = stream.start + stream.owner * stream.stride
    begin = np.searchsorted(key, since + owner * stream.stride, side="right") - 1
    begin = np.minimum(np.maximum(begin, stream.first[arrival]), arrival - 1)
    begin = np.maximum(begin, stream.first[arrival])
    by_length = np.argsort(stream.end - stream.start, kind="stable")
    rank = np.empty(len(stream) + 1, dtype=np.int64)
    rank[by_length], rank[-1] = np.arange(len(stream)), -1
    ends = np.maximum(arrival, begin + 1)
    pairs = np.column_stack([begin, ends]).reshape(-1)
    return by_length[np.maximum.reduceat(rank, pairs)[::2]]


def _last_arrivals(stream: Stream, token: np.ndarray) -> np.ndarray:
    """Return the barrier of the wave of the same workgroup that arrived last, for each barrier."""
    owner = stream.owner[token]
    group = _groups(stream)[owner]
    begins = np.append(0, np.flatnonzero(owner[1:] != owner[:-1]) + 1)
    turn = np.arange(len(token)) - np.repeat(begins, np.diff(np.append(begins, len(token))))
    order = np.lexsort((stream.start[token], turn, group))
    same = np.flatnonzero((np.diff(group[order]) != 0) | (np.diff(turn[order]) != 0))
    ends = np.append(same, len(order) - 1)
    count = np.diff(np.append(-1, ends))
    last = np.empty(len(token), dtype=np.int64)
    last[order] = np.repeat(token[order[ends]], count)
    return last


def _groups(stream: Stream) -> np.ndarray:
    """Number the workgroups of the waves, int64."""
    names = [_name(wave.workgroup, wave.cu, wave.id.slot, wave.id.wid) for wave in stream.piece.waves]
    known: dict[tuple[int, ...], int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


def _name(workgroup: int, cu: int, slot: int, wid: int) -> tuple[int, ...]:
    return (cu, slot, wid) if workgroup < 0 else (cu, -1, workgroup)
