"""Waits for counters and hazard nops: instructions whose stall says itself what it is for.

A counter whose operations return in order ends a wait with the newest one required.  Two cases leave a
choice: a wait on several counters, and scalar loads, which return in any order.  Then each operation is
judged as if it had been the last, by two facts: how likely it is to take exactly as long as it would have
taken, and how likely all others were back by then.

```
global_load ───────────────────────┐
        ds_read ─────┐             │    LDS never took as long: it was back before, so it was the load
               s_waitcnt ──────────┴ vmcnt(0) lgkmcnt(0)
```

Latencies are those of the same instruction, or kind of operation, where a wait left no choice.  Their
logarithm has a mean and a spread; the tails are those of Student's t, since memory now and then takes far
longer than usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.ledger import Ledger
from rcv_py.analysis.attribution.lines import MATRIX, SMEM, VALU
from rcv_py.analysis.attribution.stream import Stream, uses
from rcv_py.base.runs import ends_run, run_starts, starts_run

SURE = 0.9  # least probability of the likeliest operation; below it the producer is one of several
BEYOND = 1.25  # times the 99th percentile of LDS latencies: no access takes as long
SEEN = 3  # instructions whose LDS latencies are measured, from which on that is known of all
_USUAL = {  # cycles of an operation that no wait measured, by kind
    Cause.WAIT_LDS: 100,
    Cause.WAIT_CROSS_LANE: 100,
    Cause.WAIT_SCALAR: 250,
    Cause.WAIT_MESSAGE: 250,
    Cause.WAIT_EXPORT: 250,
}
_MEMORY = 800  # cycles of all other operations that no wait measured
_WIDE = 0.7  # spread of the logarithm of such a latency
_SPREAD, _WEIGHT = 0.25, 4  # spread before anything is measured, and how many samples it counts as
_OF_A_LINE = 4  # samples from which on an instruction is judged by its own latencies
_APART = 0.3  # spread of the logarithm from one instruction of a kind to another
_FREEDOM = 4.0  # of Student's t


@dataclass(frozen=True, eq=False)
class WaitEnds:
    """One row a wait that required something, in order of tokens."""

    token: np.ndarray  # int64, the wait
    operation: np.ndarray  # int64, token of the likeliest to have ended it
    is_guess: np.ndarray  # bool, another one fits as well


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Operations that may have ended a wait, in order of wait and issue."""

    token: np.ndarray  # int64, the wait
    operation: np.ndarray  # int64
    age: np.ndarray  # float64, cycles from its issue to the end of the wait, at least 1


def wait_ends(stream: Stream, gfxip: int) -> WaitEnds:
    """Return which operation ended each wait."""
    candidates = _candidates(stream, gfxip)
    first = run_starts(candidates.token)
    if not len(first):
        return WaitEnds(candidates.token, candidates.operation, np.zeros(0, dtype=bool))
    alone = starts_run(candidates.token) & ends_run(candidates.token)
    is_measured = alone & (stream.stall[candidates.token] > stream.lines.step)
    mean, spread = _latency(stream, candidates, is_measured)
    score = _score(candidates, mean, spread, stream.lines.step)
    score[_is_impossible(stream, candidates, is_measured) & ~alone] = -np.inf
    group = np.cumsum(starts_run(candidates.token)) - 1
    best = np.maximum.reduceat(score, first)
    nothing = ~np.isfinite(best)  # none is possible, so none is less possible than another
    score[nothing[group]], best[nothing] = 0.0, 0.0
    weight = np.exp(score - best[group])
    # Of equals the newest: candidates of a wait are in order of issue.
    chosen = np.lexsort((np.arange(len(score)), score, group))[ends_run(group)]
    sure = weight[chosen] / np.add.reduceat(weight, first)
    return WaitEnds(candidates.token[first], candidates.operation[chosen], sure < SURE)


def _candidates(stream: Stream, gfxip: int) -> _Candidates:
    """Of operations in order only the newest, of others of each kind, and of scalar loads each.

    An operation that two counters count (flat) is one candidate.
    """
    links = stream.links
    row, operation = links.row_of, links.producers
    form = stream.lines.form[stream.line[operation]].astype(np.int64)
    is_free = ~links.is_ordered[row]
    kind = np.where(is_free, 1 + form, 0)
    order = np.lexsort((operation, kind, row))
    row, operation, kind = row[order], operation[order], kind[order]
    keep = ends_run(row, kind) | ((kind > 0) & (stream.unit[operation] == SMEM))
    row, operation = row[keep], operation[keep]
    pairs = np.unique(np.column_stack([links.token[row], operation]), axis=0).reshape(-1, 2)
    token, operation = pairs[:, 0], pairs[:, 1]
    issued = stream.end[operation] if gfxip <= 9 else stream.issue[operation]
    return _Candidates(token, operation, np.maximum(stream.issue[token] - issued, 1).astype(np.float64))


def _latency(stream: Stream, candidates: _Candidates, is_measured: np.ndarray) -> Sequence[np.ndarray]:
    """Mean and spread of the logarithm of the latencies of each candidate's line, else kind, else usual."""
    line = stream.line[candidates.operation]
    form = stream.lines.form[line].astype(np.int64)
    usual = np.array([float(_USUAL.get(Cause(cause), _MEMORY)) for cause in range(len(Cause))])
    mean, spread = np.log(usual)[form], np.full(len(form), _WIDE)
    sample = np.log(candidates.age[is_measured])
    lines = np.unique(np.column_stack([form, line])[is_measured], axis=0)[:, 0]
    others = _APART / np.sqrt(np.maximum(np.bincount(lines, minlength=len(Cause)), 1))[form]
    for of, needed, more in ((form, 1, others), (line, _OF_A_LINE, 0.0)):
        size = int(of.max()) + 1
        own = of[is_measured]
        count = np.bincount(own, minlength=size)
        middle = np.bincount(own, sample, size) / np.maximum(count, 1)
        apart = np.bincount(own, (sample - middle[own]) ** 2, size)
        width = np.sqrt((apart + _WEIGHT * _SPREAD**2) / (count + _WEIGHT))
        is_known = (count >= needed)[of]
        mean = np.where(is_known, middle[of], mean)
        spread = np.where(is_known, np.hypot(width[of], more), spread)
    return mean, spread


def _score(candidates: _Candidates, mean: np.ndarray, spread: np.ndarray, step: int) -> np.ndarray:
    """Logarithm of the likelihood that a candidate was the last, but for what all of a wait have in common.

    That is the density of its latency by the probability that it was back before, which all others have.
    """
    spread = spread + step / np.exp(mean)
    far = (np.log(candidates.age) - mean) / spread
    tail = np.log1p(far**2 / _FREEDOM)
    density = -np.log(candidates.age * spread) - (_FREEDOM + 1) / 2 * tail
    late = 0.5 * np.exp(-_FREEDOM / 2 * tail)
    return density - np.log(np.where(far < 0, late, 1 - late))


def _is_impossible(stream: Stream, candidates: _Candidates, is_measured: np.ndarray) -> np.ndarray:
    """LDS operations that would have taken longer than any that was measured, bool.

    What a single instruction took says nothing of others, which may stand behind more accesses in the queue.
    """
    form = stream.lines.form[stream.line[candidates.operation]]
    beyond = np.zeros(len(form), dtype=bool)
    for cause in (Cause.WAIT_LDS, Cause.WAIT_CROSS_LANE):
        rows = is_measured & (form == cause)
        sample = np.sort(candidates.age[rows])
        if len(np.unique(stream.line[candidates.operation[rows]])) >= SEEN:
            limit = BEYOND * sample[min(len(sample) - 1, len(sample) * 99 // 100)]
            beyond |= (form == cause) & (candidates.age > limit)
    return beyond


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


def claim_nops(stream: Stream, ledger: Ledger) -> None:
    """Give s_nop its turns, charged to the result it covers, and s_sleep all it took."""
    lines = stream.lines
    rows = ledger.open(lines.is_nop[stream.line])
    token = ledger.token[rows]
    ledger.take(rows, lines.nop[stream.line[token]], Cause.NOP, covered(stream, token))
    ledger.rest(ledger.open(lines.is_sleep[stream.line]), Cause.SLEEP)


def covered(stream: Stream, nops: np.ndarray) -> np.ndarray:
    """Return the instruction whose result each s_nop covers, int64, -1 if none is seen.

    It is the last vector or matrix instruction before the nop that writes what the next instruction
    behind it reads; matrix instructions are preferred, since only they need more than a few turns.
    """
    reader = nops + 1
    limit = stream.tokens.first[1:][stream.owner[nops]]
    for _ in range(3):  # waits and other nops may stand between
        reader = reader + ((reader < limit) & (stream.unit[np.minimum(reader, len(stream) - 1)] == 0))
    there = np.flatnonzero(reader < limit)
    pairs = uses(stream, reader[there], np.isin(stream.lines.unit, (VALU, MATRIX)))
    earlier = pairs.writer < nops[there[pairs.row]]
    row, writer = there[pairs.row[earlier]], pairs.writer[earlier]
    best = np.full(len(nops), -1, dtype=np.int64)
    np.maximum.at(best, row, np.where(stream.unit[writer] == MATRIX, len(stream), 0) + writer)
    return np.where(best >= 0, best % max(1, len(stream)), -1)
