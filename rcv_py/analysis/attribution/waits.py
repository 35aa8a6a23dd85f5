"""Waits for counters and hazard nops: instructions whose stall says itself what it is for."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.def_use import uses
from rcv_py.analysis.attribution.ledger import Ledger
from rcv_py.analysis.attribution.lines import MATRIX, VALU
from rcv_py.analysis.attribution.stream import Stream
from rcv_py.analysis.attribution.wait_ends import wait_ends


def claim_waits(stream: Stream, ledger: Ledger, gfxip: int) -> None:
    """Charge waits to the operation that ended them, by `wait_ends`.

    A wait that stalls no longer than one turn waited for nothing.
    """
    step = stream.lines.step
    rows = ledger.open(stream.lines.is_wait[stream.line])
    brief = stream.stall[ledger.token[rows]] <= step
    ledger.rest(rows[brief], Cause.OWN)
    rows = rows[~brief]
    ends = wait_ends(stream, gfxip)
    if not len(ends.token):
        return
    place = np.minimum(np.searchsorted(ends.token, ledger.token[rows]), len(ends.token) - 1)
    has = ends.token[place] == ledger.token[rows]
    blamed = ends.operation[place[has]]
    form = stream.lines.form[stream.line[blamed]]
    ledger.rest(rows[has], form, blamed, is_guess=ends.is_guess[place[has]])


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
