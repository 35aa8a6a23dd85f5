"""Waits for counters and hazard nops: instructions that state what their stall is for.

If the operations of a counter return in order, the newest required one ends a wait.  Two cases leave a
choice: a wait on several counters, and scalar loads, which return in any order.  Then each operation is
judged as if it had been the last, by two probabilities: that it takes exactly as long as it would have
taken, and that all others were back by then.

```
global_load ───────────────────────┐
        ds_read ─────┐             │    LDS never took this long: it was back before, so the load was last
               s_waitcnt ──────────┴ vmcnt(0) lgkmcnt(0)
```

Latencies are measured for the same instruction, or kind of operation, at waits with one candidate (`survey`).
Their logarithm has a mean and a spread; the tails follow Student's t, since memory occasionally takes far
longer than usual.
"""

from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.ledger import Ledger
from rcv_py.analysis.attribution.lines import MATRIX, VALU
from rcv_py.analysis.attribution.stream import TokenStream
from rcv_py.analysis.attribution.survey import Candidates, Survey, candidates, candidates_in
from rcv_py.analysis.attribution.uses import uses
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks
from rcv_py.base.runs import borders, run_starts, starts_run
from rcv_py.model.columns import memoized
from rcv_py.model.trace import Trace

SURE = 0.9  # minimum probability of the likeliest operation; below it the producer is one of several
_FREEDOM = 4.0  # of Student's t


class WaitEnds(NamedTuple):
    """The end of each wait that required something, in order of tokens."""

    token: np.ndarray  # int64, the wait
    operation: np.ndarray  # int64, token of the likeliest operation to have ended it
    is_guess: np.ndarray  # bool, another operation fits as well


@memoized
def wait_ends(stream: TokenStream) -> WaitEnds:
    """Return which operation ended each wait; made once for all pieces of a parcel."""
    issued = stream.ends if stream.lines.step == 4 else stream.issue.take
    found = candidates(stream.links, stream.line, stream.lines, stream.issue, issued)
    engine = np.full(len(found.token), stream.engine)
    return _ends_of(found, stream.survey, engine, stream.line[found.operation], stream.lines.step)


def wait_ends_in(tokens: TokenColumns, links: WaitLinks, trace: Trace, survey: Survey) -> WaitEnds:
    """Return which operation ended each wait, of waves of any shader engines."""
    line = tokens.code_rows(len(trace.code))
    found = candidates_in(tokens, links, line, trace)
    engine = np.array([survey.place(wave.id.se) for wave in tokens.waves], dtype=np.int64)
    engine = engine.take(tokens.owner.take(found.token))
    return _ends_of(found, survey, engine, line[found.operation], trace.architecture.base_clock)


def _ends_of(found: Candidates, survey: Survey, engine: np.ndarray, line: np.ndarray, step: int) -> WaitEnds:
    first = run_starts(found.token)
    if not len(first):
        return WaitEnds(found.token, found.operation, np.zeros(0, dtype=bool))
    score = _score(found, survey, engine, line, step)
    group = borders(starts_run(found.token))[1:] - 1
    best = np.maximum.reduceat(score, first)
    nothing = ~np.isfinite(best)  # no candidate is possible, so all are equally likely
    score[nothing[group]], best[nothing] = 0.0, 0.0
    weight = np.exp(score - best[group])
    # On a tie the newest: candidates of a wait are in order of issue.
    chosen = np.maximum.reduceat(np.where(score == best[group], np.arange(len(score)), -1), first)
    sure = weight[chosen] / np.add.reduceat(weight, first)
    return WaitEnds(found.token[first], found.operation[chosen], sure < SURE)


def _score(found: Candidates, survey: Survey, at: np.ndarray, line: np.ndarray, step: int) -> np.ndarray:
    """Log likelihood that a candidate returned last, up to a term that all candidates of a wait share.

    That is the density of its latency divided by the probability that it was back before; the product of
    these probabilities over all candidates is the shared term.
    """
    mean, age = survey.mean[at, line], found.age.astype(np.float64)
    spread = survey.spread[at, line] + step / np.exp(mean)
    far = (np.log(age) - mean) / spread
    tail = np.log1p(far**2 / _FREEDOM)
    density = -np.log(age * spread) - (_FREEDOM + 1) / 2 * tail
    late = 0.5 * np.exp(-_FREEDOM / 2 * tail)
    score = density - np.log(np.where(far < 0, late, 1 - late))
    score[(age > survey.longest[at, line]) & ~found.is_alone] = -np.inf
    return score


def claim_waits(stream: TokenStream, ledger: Ledger) -> None:
    """Charge waits to the operation that ended them, by `wait_ends`.

    A wait that stalls for at most one turn waited for nothing.
    """
    step = stream.lines.step
    rows = ledger.of_lines(stream.lines.is_wait)
    brief = stream.tokens.stall[ledger.token[rows]] <= step
    ledger.rest(rows[brief], Cause.OWN)
    rows = rows[~brief]
    ends = wait_ends(stream)
    if not len(ends.token):
        return
    place = np.minimum(np.searchsorted(ends.token, ledger.token[rows]), len(ends.token) - 1)
    has = ends.token[place] == ledger.token[rows]
    blamed = ends.operation[place[has]]
    form = stream.lines.form[stream.line[blamed]]
    ledger.rest(rows[has], form, blamed, is_guess=ends.is_guess[place[has]])


def claim_nops(stream: TokenStream, ledger: Ledger) -> None:
    """Charge the turns of s_nop to the result it covers, and all of s_sleep to itself."""
    lines = stream.lines
    rows = ledger.of_lines(lines.is_nop)
    token = ledger.token[rows]
    if len(rows):
        ledger.take(rows, lines.nop[ledger.line[rows]], Cause.NOP, covered(stream, token))
    ledger.rest(ledger.of_lines(lines.is_sleep), Cause.SLEEP)


def covered(stream: TokenStream, nops: np.ndarray) -> np.ndarray:
    """Return the instruction whose result each s_nop covers, int64, -1: none found.

    It is the last vector or matrix instruction before the nop that writes a register that the first
    instruction after it reads; matrix instructions are preferred, since only they need more than a few turns.
    """
    reader = nops + 1
    limit = stream.tokens.first[1:][stream.owner[nops]]
    for _ in range(3):  # waits and other nops may be in between
        reader = reader + ((reader < limit) & (stream.unit[np.minimum(reader, len(stream) - 1)] == 0))
    there = np.flatnonzero(reader < limit)
    pairs = uses(stream.lines, stream.history, reader[there], (VALU, MATRIX))
    earlier = pairs.writer < nops[there[pairs.row]]
    row, writer = there[pairs.row[earlier]], pairs.writer[earlier]
    best = np.full(len(nops), -1, dtype=np.int64)
    np.maximum.at(best, row, np.where(stream.unit[writer] == MATRIX, len(stream), 0) + writer)
    return np.where(best >= 0, best % max(1, len(stream)), -1)
