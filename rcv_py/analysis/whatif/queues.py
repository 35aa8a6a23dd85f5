"""How memory units worked in a trace: what they refused, what queued, and when operations returned.

```
   issue        sent                  left                       back
   ──┤ pipe: hold ┤ queue: service ▒▒▒▒▒▒▒┤ latency ───────────────────┤
```
A pipe takes an operation while it holds less than `depth` cycles of work; otherwise the instruction stalls.
An operation that leaves the pipe waits until memory has served all earlier ones, which takes time by bytes.
It returns `latency` cycles after that, but not before older operations of its wave that return in order.

A capture records none of that.  It records when each operation issued, and when an operation returned that a
wait stalled for.  Distances between operations that stalled one after the other are how long each held the
pipe.  The rate is the bytes per cycle under which the rest, the latency of an instruction, varies least; if
no rate reduces the variation clearly, there was no queue.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.lines import LDS, MEMORY, VALU, VMEM
from rcv_py.analysis.attribution.stream import TokenStream
from rcv_py.analysis.attribution.waits import wait_ends
from rcv_py.analysis.latency.access_widths import access_width
from rcv_py.base.machine.compiled import kernel
from rcv_py.base.record import Record
from rcv_py.base.runs import starts_run
from rcv_py.model.columns import memoized

FINE = 256  # parts of a cycle in which service time is counted
CLASSES = 4  # return orders of a wave: none, loads, stores, LDS
FAR = 1 << 62
ENDLESS = 1 << 40  # cycles of work; a pipe of this depth refuses nothing
LDS_BYTES = 128  # a cycle
_RATES = (0.25, 256.0)  # bytes per cycle, the range searched for the memory rate
_EXACT = 0.0003  # precision of the slowest rate under which hardly an operation returns before it leaves
_FEW = 100  # one operation in this many may
_TRIED = 32  # rates tried above that
_CLEARLY = 0.85  # the largest share of the variation that may remain if there is a queue
_ENOUGH = 8  # returns of an instruction from which on they count
_RIVALS = 32  # waits of arithmetic for other waves' arithmetic that show how long it holds its SIMD
_LONGER = 512  # cycles by which an operation may hold its pipe longer than usual for its kind
_REFUSED = 3  # distances of stalled operations that show how long they held the pipe


class Seen(Record):
    """Estimates from a stream.  `hold`, `service`, `moves`, `order`: one entry per code row and one more."""

    hold: ndarray  # int64, cycles during which its pipe takes nothing else
    depth: dict[int, int]  # by unit: cycles of work a pipe holds before it refuses
    service: ndarray  # int64, parts of a cycle that memory is busy with it
    moves: ndarray  # int64, bytes per wave
    order: ndarray  # int64, of CLASSES


class QueueRows(NamedTuple):
    """Operations and other instructions that take a unit, in order of issue; int64."""

    unit: ndarray
    issue: ndarray
    ready: ndarray  # when only the unit held it back
    stretch: ndarray  # by how much longer its hold may be; 0: its form determines the hold


class UnitState(NamedTuple):
    """State of units, int64; all but `depth` are modified."""

    depth: ndarray
    free: ndarray
    since: ndarray  # since when it has refused without a gap
    last: ndarray  # what it took last, an index in Rows


class Taken(NamedTuple):
    """Results for each of Rows, int64."""

    hold: ndarray  # given, and corrected by the recorded issues
    sent: ndarray  # when the unit was done with it
    since: ndarray  # since when the unit refused until it took this one


@partial(kernel, begins_plain=True)
def take(rows: QueueRows, units: UnitState, taken: Taken) -> None:
    """Go through what units took, and correct how long each held its unit by the next issue.

    Nothing issues while its unit refuses, so an issue during a hold shows that the hold was shorter; an
    instruction that was ready earlier but issued a bit later shows that it was longer.
    """
    for at in range(len(rows.unit)):
        unit, issue = int(rows.unit[at]), int(rows.issue[at])
        last = int(units.last[unit])
        accepts = int(units.free[unit]) - int(units.depth[unit])
        if last >= 0:
            late = issue - accepts
            if late < 0 or (late > 0 and late <= int(rows.stretch[last]) and int(rows.ready[at]) <= accepts):
                taken.hold[last] += late
                taken.sent[last] += late
                units.free[unit] += late
                accepts = issue
        if last < 0 or accepts != issue:
            units.since[unit] = issue
        taken.since[at] = units.since[unit]
        units.free[unit] = max(int(units.free[unit]), issue) + int(taken.hold[at])
        taken.sent[at] = units.free[unit]
        units.last[unit] = at


def left(sent: ndarray, service: ndarray) -> ndarray:
    """When memory is done with operations, in parts of a cycle; it serves one at a time, in order.

    `sent` int64 in cycles, ascending.
    """
    done = np.cumsum(service)
    return done + np.maximum.accumulate(sent * FINE - (done - service))


@partial(kernel, begins_plain=True)
def serve_all(sent: ndarray, service: ndarray, latest: ndarray, gone: ndarray) -> None:
    """Like `left`, but no operation leaves later than it returns: then its service was shorter.

    `service` is corrected; `gone` is the output.
    """
    done = -FAR
    for at in range(len(sent)):
        begins = max(done, int(sent[at]) * FINE)
        service[at] = max(0, min(int(service[at]), int(latest[at]) * FINE - begins))
        done = begins + int(service[at])
        gone[at] = -(-done // FINE)


def serve(sent: ndarray, service: ndarray, latest: ndarray) -> tuple[ndarray, ndarray]:
    """Return when operations leave a queue, in cycles, and how long each was actually served, in parts."""
    gone, service = np.zeros_like(sent), service.copy()
    serve_all(sent, service, latest, gone)
    return gone, service


def cycles(parts: ndarray) -> ndarray:
    """Whole cycles in which the given parts are over."""
    return -(-parts // FINE)


@memoized
def returns(stream: TokenStream) -> tuple[ndarray, ndarray]:
    """Return the operations that a wait stalled for, int64, ascending, and when each returned, int64."""
    ends = wait_ends(stream)
    is_held = stream.tokens.stall[ends.token] > stream.lines.step
    token, back = ends.operation[is_held], stream.issue[ends.token[is_held]]
    rows = np.lexsort((back, token))
    token, back = token[rows], back[rows]
    first = starts_run(token)  # a later wait adds no information
    return token[first], back[first]


@memoized
def seen(stream: TokenStream) -> Seen:
    """Return the estimates for the pipes of a stream, and the order in which operations return."""
    lines = stream.lines
    lanes = 64 if lines.step == 4 else 32
    moves = np.array([max(access_width(text), 0) for text in lines.texts]) * lanes
    hold, depth = lines.hold.copy(), {}
    is_lds = lines.unit == LDS
    hold[is_lds] = np.maximum(hold, moves // LDS_BYTES)[is_lds]
    for unit in MEMORY:
        depth[unit] = _pipe(stream, unit, hold)
    _vector(stream, hold)
    writes = [text.startswith("global_wb") for text in lines.texts]
    is_store = ((lines.form == Cause.WAIT_STORE) | np.array(writes, dtype=bool)) & (lines.step < 4)
    order = np.where(lines.unit == VMEM, np.where(is_store, 2, 1), np.where(is_lds, 3, 0))
    service = _service(stream, np.where(lines.unit == VMEM, moves, 0), hold, depth[VMEM])
    return Seen(hold=hold, depth=depth, service=service, moves=moves, order=order)


def _pipe(stream: TokenStream, unit: int, hold: ndarray) -> int:
    """Fill in how long operations of a unit hold its pipe; return how much work the pipe takes."""
    token = in_time(stream, stream.of_unit(unit))
    issue, line = stream.issue[token], stream.line[token]
    if len(token) < _REFUSED:
        return ENDLESS
    stalls = np.append(False, stream.start[token[1:]] <= issue[:-1])
    both = np.flatnonzero(stalls[1:] & stalls[:-1])
    distance = issue[both + 1] - issue[both]
    for group in (hold, np.arange(len(hold))):  # first by the hold of their form, then each code row
        middle, count = medians(group[line[both]], distance, int(group.max()) + 1)
        is_known = (count >= _REFUSED)[group] & (stream.lines.unit == unit)
        hold[is_known] = middle[group][is_known]
    work = cycles(left(issue, hold[line] * FINE))
    ahead = work[:-1] - issue[1:]  # at the issue of the next one
    full = ahead[stalls[1:] & ~stalls[:-1]]
    full = full[full > 0]
    return int(np.median(full)) if len(full) >= _REFUSED else ENDLESS


def _vector(stream: TokenStream, hold: ndarray) -> None:
    """Raise how long arithmetic holds its SIMD to the minimum time that another wave waited for it."""
    token = in_time(stream, stream.of_unit(VALU))
    token = token[np.argsort(stream.simd[stream.owner[token]], kind="stable")]
    before, after = token[:-1], token[1:]
    owner = stream.owner
    is_pair = stream.simd[owner[before]] == stream.simd[owner[after]]
    is_pair &= (owner[before] != owner[after]) & (stream.start[after] <= stream.issue[before])
    before, after = before[is_pair], after[is_pair]
    form = hold[stream.line[before]]
    for held in np.unique(form)[::-1].tolist():
        distance = np.sort((stream.issue[after] - stream.issue[before])[form == held])
        if len(distance) >= _RIVALS:
            hold[(stream.lines.unit == VALU) & (hold == held)] = max(held, int(distance[len(distance) // 10]))


def _service(stream: TokenStream, moves: ndarray, hold: ndarray, depth: int) -> ndarray:
    """How long memory is busy with an operation of each code row, in parts of a cycle, int64."""
    nothing = np.zeros(len(moves), dtype=np.int64)
    token = in_time(stream, stream.of_unit(VMEM))
    line = stream.line[token]
    known, back = returns(stream)
    place = np.full(len(stream), -1)
    place[token] = np.arange(len(token))
    is_mine = place[known] >= 0
    at, back = place[known[is_mine]], back[is_mine]
    enough = np.bincount(line[at], minlength=len(moves)) >= _ENOUGH
    keep = enough[line[at]]
    at, back = at[keep], back[keep]
    if not len(at):
        return nothing
    own = np.zeros(len(token), dtype=np.int64)
    sent = pipe(own, stream.issue[token], stream.start[token], hold[line], [depth])[1]

    def at_rate(rate: float) -> ndarray:
        return np.rint(moves * FINE / rate).astype(np.int64)

    def rest_of(service: ndarray) -> ndarray:
        return back - cycles(left(sent, service[line]))[at]

    def early(service: ndarray) -> int:
        return int(np.count_nonzero(rest_of(service) < 0))

    def apart(service: ndarray) -> float:
        rest = rest_of(service)
        middle, _ = medians(line[at], rest, len(moves))
        return float(np.abs(rest - middle[line[at]]).sum() + 4 * np.maximum(-rest, 0).sum())

    allowed = early(nothing) + len(at) // _FEW

    # A queue that never empties shows its rate exactly: at a slightly slower rate, operations return before
    # they leave.
    slow, fast = _RATES
    while fast / slow > 1 + _EXACT:
        middle = float(np.sqrt(slow * fast))
        slow, fast = (middle, fast) if early(at_rate(middle)) > allowed else (slow, middle)
    choices = [at_rate(fast * (1 + more)) for more in (0.0, *np.geomspace(_EXACT, _RATES[1] / fast, _TRIED))]
    scores = [apart(service) for service in choices]
    best = int(np.argmin(scores))
    return choices[best] if scores[best] < _CLEARLY * apart(nothing) else nothing


def pipe(
    unit: ndarray, issue: ndarray, ready: ndarray, hold: ndarray, depth: Sequence[int] | ndarray
) -> tuple[ndarray, ndarray, ndarray]:
    """Return how long each row held its unit, when the unit was done with it, and since when it refused.

    All int64, rows in order of issue; `depth` is per unit: 0 for a unit that takes one operation at a time.
    """
    limit = np.array(depth, dtype=np.int64)
    longest = np.where(limit[unit] > 0, np.maximum(hold, _LONGER), 0)
    rows = QueueRows(unit.astype(np.int64), issue, ready, longest)
    units = UnitState(limit, np.full(len(limit), -FAR), np.full(len(limit), -FAR), np.full(len(limit), -1))
    taken = Taken(hold.copy(), np.zeros_like(issue), np.zeros_like(issue))
    take(rows, units, taken)
    return taken


def in_time(stream: TokenStream, token: ndarray) -> ndarray:
    """Tokens in order of issue."""
    return token[np.argsort(stream.issue[token], kind="stable")]


def medians(group: ndarray, value: ndarray, size: int) -> tuple[ndarray, ndarray]:
    """The lower median of the values of each group, 0 if empty, and the group's size; int64 [size]."""
    count = np.bincount(group, minlength=size)
    middle = np.zeros(size, dtype=np.int64)
    rows = np.lexsort((value, group))
    some = np.flatnonzero(count)
    first = (np.cumsum(count) - count)[some]
    middle[some] = value[rows[first + (count[some] - 1) // 2]]
    return middle, count
