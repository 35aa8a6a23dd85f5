"""Waits for counters, hazard nops, barriers and instructions that were not fetched yet.

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
from rcv_py.analysis.attribution.lines import MATRIX, NONE, SALU, VALU
from rcv_py.analysis.attribution.stream import TokenStream
from rcv_py.analysis.attribution.survey import Candidates, Survey, candidates, candidates_in
from rcv_py.analysis.attribution.uses import uses
from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks
from rcv_py.base.record import Value
from rcv_py.base.runs import borders, first_from, largest_in, ranges, run_starts, starts_run
from rcv_py.model.columns import memoized
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace

SURE = 0.9  # minimum probability of the likeliest operation; below it the producer is one of several
_FREEDOM = 4.0  # of Student's t


class WaitEnds(Value):
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
    engine = np.searchsorted(survey.engine, tokens.engines).take(tokens.owner.take(found.token))
    return _ends_of(found, survey, engine, line[found.operation], trace.architecture.base_clock)


def _ends_of(found: Candidates, survey: Survey, engine: np.ndarray, line: np.ndarray, step: int) -> WaitEnds:
    first = run_starts(found.token)
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
