"""Idle cycles: what a wave did between two instructions when neither was being issued."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.def_use import uses
from rcv_py.analysis.attribution.issue import claim_arbitration, claim_drain
from rcv_py.analysis.attribution.ledger import Ledger
from rcv_py.analysis.attribution.lines import BRANCH, SALU, VALU
from rcv_py.analysis.attribution.stream import Stream

SHORT = 3  # turns: gaps up to here between different units are the change itself
RESULT = 6  # turns that a scalar result of vector arithmetic takes at most
NEAR = 2  # instructions: how far back a scalar result is looked for


def gaps(stream: Stream) -> Ledger:
    """Return the idle cycles of all tokens with causes."""
    idle = stream.piece.idle
    token = np.flatnonzero(idle > 0)
    begin = stream.start[token] - np.minimum(idle[token], stream.start[token])
    ledger = Ledger(token, begin, stream.start[token], idle[token])
    is_first = token == stream.first[token]
    ledger.rest(np.flatnonzero(is_first), Cause.LAUNCH)
    claim_drain(stream, ledger)
    _claim_branches(stream, ledger)
    _claim_scalar_results(stream, ledger)
    _claim_changes(stream, ledger)
    _claim_lines(stream, ledger)
    claim_arbitration(stream, ledger)
    return ledger


def _claim_branches(stream: Stream, ledger: Ledger) -> None:
    """What follows a branch, taken or not, waits for its decision and for instructions."""
    rows = np.flatnonzero(ledger.left > 0)
    before = ledger.token[rows] - 1
    behind = stream.unit[before] == BRANCH
    ledger.rest(rows[behind], Cause.FETCH, before[behind])


def _claim_scalar_results(stream: Stream, ledger: Ledger) -> None:
    """Scalar results of arithmetic take some turns before other units see them."""
    rows = np.flatnonzero(ledger.left > 0)
    step = stream.lines.step
    rows = rows[ledger.left[rows] <= RESULT * step]
    token = ledger.token[rows]
    unit = stream.lines.unit
    found = uses(stream, token, (unit == VALU) | (unit == SALU))
    near = (token[found.row] - found.writer <= NEAR) & (
        stream.unit[found.writer] != stream.unit[token[found.row]]
    )
    row, first = np.unique(found.row[near], return_index=True)
    ledger.rest(rows[row], Cause.REGISTER, found.writer[near][first])


def _claim_changes(stream: Stream, ledger: Ledger) -> None:
    """Short gaps between instructions of different units."""
    rows = np.flatnonzero((ledger.left > 0) & (ledger.left <= SHORT * stream.lines.step))
    before = ledger.token[rows] - 1
    other = stream.unit[before] != stream.unit[ledger.token[rows]]
    ledger.rest(rows[other], Cause.SWITCH, before[other])


def _claim_lines(stream: Stream, ledger: Ledger) -> None:
    """A gap in front of an instruction on another cache line of code than the one before."""
    rows = np.flatnonzero(ledger.left > 0)
    line = stream.line[ledger.token[rows]]
    block = stream.lines.block
    new = block[line] != block[stream.line[ledger.token[rows] - 1]]
    ledger.rest(rows[new], Cause.FETCH)
