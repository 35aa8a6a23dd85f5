"""Waits for counters and hazard nops: instructions whose stall says itself what it is for."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.def_use import uses
from rcv_py.analysis.attribution.ledger import Ledger
from rcv_py.analysis.attribution.lines import MATRIX, VALU
from rcv_py.analysis.attribution.stream import Stream
from rcv_py.analysis.wait_latency import ages, told


def claim_waits(stream: Stream, ledger: Ledger, gfxip: int) -> None:
    """Charge waits to the newest operation they required.

    A wait that stalls no longer than one turn waited for nothing.  If it asked several counters, the one is
    charged whose newest operation was due when the wait ended, by the mean latency of its code line.
    """
    step = stream.lines.step
    rows = ledger.open(stream.lines.is_wait[stream.line])
    brief = stream.stall[ledger.token[rows]] <= step
    ledger.rest(rows[brief], Cause.OWN)
    rows = rows[~brief]
    token, newest = _charged(stream, gfxip)
    if not len(token):
        return
    place = np.minimum(np.searchsorted(token, ledger.token[rows]), len(token) - 1)
    has = token[place] == ledger.token[rows]
    blamed = newest[place[has]]
    ledger.rest(rows[has], stream.lines.form[stream.line[blamed]], blamed)


def claim_asked(stream: Stream, ledger: Ledger) -> None:
    """Give s_nop its turns, charged to the result it covers, and s_sleep all it took."""
    lines = stream.lines
    rows = ledger.open(lines.is_nop[stream.line])
    token = ledger.token[rows]
    ledger.take(rows, lines.asked[stream.line[token]], Cause.NOP, covered(stream, token))
    ledger.rest(ledger.open(lines.is_sleep[stream.line]), Cause.SLEEP)


def covered(stream: Stream, nops: np.ndarray) -> np.ndarray:
    """Return the instruction whose result each s_nop covers, int64, -1 if none is seen.

    It is the last vector or matrix instruction in front of the nop that writes what the next instruction
    behind it reads; matrix instructions are preferred, since only they need more than a few turns.
    """
    blamed = np.full(len(nops), -1, dtype=np.int64)
    reader = nops + 1
    limit = np.append(stream.piece.first[1:], 0)[stream.owner[nops]] if len(nops) else nops
    for _ in range(3):  # waits and other nops may stand between
        moves = (reader < limit) & (stream.unit[np.minimum(reader, len(stream) - 1)] == 0)
        reader = reader + moves
    there = np.flatnonzero(reader < limit)
    unit = stream.lines.unit
    found = uses(stream, reader[there], (unit == VALU) | (unit == MATRIX))
    earlier = found.writer < nops[there[found.row]]
    row, writer = there[found.row[earlier]], found.writer[earlier]
    rank = np.where(stream.unit[writer] == MATRIX, len(stream), 0) + writer
    best = np.full(len(nops), -1, dtype=np.int64)
    np.maximum.at(best, row, rank)
    some = best >= 0
    blamed[some] = best[some] % max(1, len(stream))
    return blamed


def _charged(stream: Stream, gfxip: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the waits that required something, ascending, and the operation each is charged to."""
    links, piece = stream.links, stream.piece
    rows = np.flatnonzero(links.newest >= 0)
    if not len(rows):
        return rows, rows
    token, newest = links.token[rows], links.newest[rows]
    exact = told(piece, links).is_exact[rows]
    age = np.maximum(ages(piece, links, gfxip)[rows], 0)
    due = stream.issue[newest] + _usual(stream, newest, exact, age)
    surprise = np.abs(stream.issue[token] - due)  # a wait ends, but for chance, when the last one is due
    order = np.lexsort((newest, -surprise, token))
    is_last = np.append(token[order][1:] != token[order][:-1], True)
    chosen = order[is_last]
    return token[chosen], newest[chosen]


def _usual(stream: Stream, newest: np.ndarray, exact: np.ndarray, age: np.ndarray) -> np.ndarray:
    """Return what operations take on average: those of the code line, else of the kind, else 0; float64.

    Only waits that required something of one counter tell (`exact`); `age` is what they tell.
    """
    usual = np.zeros(len(newest))
    form = stream.lines.form[stream.line[newest]]
    for of, size in ((form, len(Cause)), (stream.line[newest], len(stream.lines))):
        count = np.bincount(of[exact], minlength=size)
        mean = np.bincount(of[exact], weights=age[exact], minlength=size) / np.maximum(count, 1)
        usual = np.where(count[of] > 0, mean[of], usual)
    return usual
