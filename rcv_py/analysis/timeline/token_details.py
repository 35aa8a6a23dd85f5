"""Details of a single executed instruction, and what other waves of the SIMD did while it stalled.

```
 this wave    ▓issue▓ · · · · stall · · · · ▓issue▓
 others           ▓VALU▓ ▓VALU▓    ▓MFMA▓       ▓VALU▓
 covered          └─────────┘      └────┘              covered part of the stall
```
"""

from collections.abc import Iterable

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import WaveState
from rcv_py.model.tokens import Waits
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow


class TokenDetails(Value):
    """A token: times, predecessors, wave states."""

    line: int  # code row, -1 if none matched
    hit: int  # earlier executions of the line by the wave
    hits: int  # all executions of the line by the wave
    start: int  # cycles, aligned
    stall: int
    busy: int
    idle: int  # cycles between the latest end so far in the wave (its begin for the first) and the start
    states: tuple[int, ...]  # cycles in each WaveState while the token lasted


class LineTotals(Value):
    """A code line over all traced waves, and the whole of its shares."""

    hits: int
    latency: int
    stall: int
    idle: int
    program_total: int  # latency + idle of all lines


def token_details(wave: TracedWave, row: int) -> TokenDetails:
    """Return the details of the token at `row`."""
    tokens, span = wave.tokens, wave.tokens.span(row)
    reached = int(tokens.end[:row].max()) if row else wave.begin
    hits = wave.executions(int(tokens.line[row]))
    return TokenDetails(
        line=int(tokens.line[row]),
        hit=hits.before(row),
        hits=len(hits),
        start=span.begin,
        stall=int(tokens.stall[row]),
        busy=int(tokens.busy[row]),
        idle=max(0, span.begin - reached),
        states=state_cycles(wave, span.begin, span.end),
    )


def state_cycles(wave: TracedWave, begin: int, end: int) -> tuple[int, ...]:
    """Return the cycles that a wave spent in each WaveState between two times."""
    start = wave.states.start
    inside = np.minimum(start + wave.states.duration, end) - np.maximum(start, begin)
    cycles = np.bincount(wave.states.state, np.maximum(inside, 0), minlength=len(WaveState))
    return tuple(int(value) for value in cycles[: len(WaveState)])


def line_totals(code: CodeTable, line: int) -> LineTotals:
    """Return the cost of a code line over all traced waves."""
    columns = (code.hits, code.latency, code.stall, code.idle)
    hits, latency, stall, idle = (int(column[line]) for column in columns)
    return LineTotals(hits, latency, stall, idle, int(code.latency.sum() + code.idle.sum()))


def producers(waits: Waits | None, line: int, hit: int | None, hits: int) -> tuple[int, ...]:
    """Return the code rows that a wait waited for in its n-th of `hits` executions, or in any of them.

    The list has entries only for executions that released something, and two for an execution that waited on
    two counters; so executions can be matched only if there are as many entries as executions.
    """
    if waits is None:
        return ()
    rows = np.flatnonzero(waits.line == line)
    if hit is not None and len(rows) == hits:
        rows = rows[hit : hit + 1]
    lines = [np.empty(0, dtype=np.int32), *(waits.producers(row) for row in rows[:4096].tolist())]
    return _distinct(np.concatenate(lines), line)


def waiters(waits: Waits | None, line: int) -> tuple[int, ...]:
    """Return the code rows of the waits that ever waited for a line."""
    if waits is None:
        return ()
    places = np.flatnonzero(waits.depends_on == line)
    return _distinct(waits.line[np.searchsorted(waits.first, places, side="right") - 1], line)


def _distinct(lines: np.ndarray, but: int) -> tuple[int, ...]:
    return tuple(line for line in ascending(lines).tolist() if line >= 0 and line != but)


class Meanwhile(Value):
    """Cycles in which other waves issued or executed, in a span of time."""

    covered: int  # cycles in which any of them issued or executed
    by_kind: tuple[tuple[int, int], ...]  # token kind and its cycles, most first; they may overlap
    line: int  # code row with most of them, -1: none
    waves: int  # number of these waves


NO_OTHER_WAVES = Meanwhile(0, (), -1, 0)


def meanwhile(wave: TracedWave, waves: Iterable[TracedWave], span: TimeWindow) -> Meanwhile:
    """Return what other waves on the SIMD of a wave issued within a span; `waves` may include any SIMD."""
    place = _place(wave)
    begins, ends, kinds, lines, count = [], [], [], [], 0
    for other in waves:
        if other.row == wave.row or _place(other) != place:
            continue
        if other.end <= span.begin or other.begin >= span.end:
            continue
        tokens = other.tokens
        rows = tokens.rows_in(span)
        issue = tokens.base + tokens.offset[rows].astype(np.int64) + tokens.stall[rows]
        begin = np.maximum(issue, span.begin)
        end = np.minimum(issue + tokens.busy[rows], span.end)
        met = np.flatnonzero(end > begin)
        count += bool(len(met))
        begins.append(begin[met])
        ends.append(end[met])
        kinds.append(tokens.kind[rows][met])
        lines.append(tokens.line[rows][met].astype(np.int64))
    if not count:
        return NO_OTHER_WAVES
    begin, end, kind, line = (np.concatenate(parts) for parts in (begins, ends, kinds, lines))
    cycles = np.bincount(kind, end - begin).astype(np.int64)
    by_kind = [(int(one), int(cycles[one])) for one in np.argsort(-cycles, kind="stable") if cycles[one]]
    known = line >= 0
    of_line = np.bincount(line[known], (end - begin)[known])
    most = int(of_line.argmax()) if len(of_line) else -1
    return Meanwhile(IntervalSet.of(begin, end).total, tuple(by_kind), most, count)


def _place(wave: TracedWave) -> tuple[int, int, int]:
    return wave.id.se, wave.cu, wave.id.simd
