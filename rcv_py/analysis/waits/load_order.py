"""Order of loads: waits that end late because the load they need was issued last.

```
 283  load a ─┐
 285  load b ─┼─ in order ─┐      a wait for `c` waits for `a` and `b` too, whose data is not used before the
 319  load c ─┘            │      next wait: it is inverted.  If `c` were issued before `a`, the wait could
 332  s_waitcnt ◄──────────┘      leave `a` and `b` outstanding, and end earlier by the time between
 333  uses c                      `a` and `c`, but by no more than its stall.
 360  s_waitcnt
 361  uses a, b
```
Only counters whose results return in order can be inverted.  The registers that executed instructions read or
overwrite between two waits for the counter show which loads are needed; a barrier needs all of them, since
other waves may overwrite after it what they read.  `hoisting` determines where a load may move.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field
from rcv_py.analysis.core.saturated import Sums, joined_sums, no_sums, summed
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.program.registers import BITS, registers, words
from rcv_py.analysis.waits.hoisting import Hoists, hoists, is_barrier, is_load
from rcv_py.analysis.waits.waitcnt.generations import COUNTERS, generation_of
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.base.record import Value
from rcv_py.base.runs import borders, numbered, ranges
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace

_BITS = 20  # of a code row in a key; larger programs are not analysed
_MAX_VALUE = (1 << _BITS) - 1
NOWHERE = -1
_ALL = (1 << BITS) - 1  # registers


class LoadOrder(ColumnTable):
    """One row per inverted wait and load that it waits for too late, the largest bound first."""

    wait: np.ndarray  # int32, code row
    load: np.ndarray  # int32, code row of the load that is needed
    before: np.ndarray  # int32, code row that it should precede; NOWHERE: it may not move
    hits: np.ndarray  # int64, executions of the wait that were inverted this way
    stall: np.ndarray  # int64, cycles of these executions
    bound: np.ndarray  # int64, maximum cycles that the move can save, summed over waves; 0 if it may not move
    registers: np.ndarray  # int32, additional vector registers that the move needs
    is_carried: np.ndarray  # bool, helps only after earlier waits leave loads outstanding
    limit: np.ndarray  # int32, code row that the load cannot be moved above
    why: tuple[str, ...]  # the reason for the limit, in words
    deferred: tuple[tuple[int, ...], ...]  # code rows of the loads that the wait could leave outstanding
    until: tuple[tuple[int, ...], ...]  # code rows of the waits that would wait for them instead
    cycles: int  # summed lives of all waves
    waves: int

    @property
    def share(self) -> np.ndarray:
        """The bound as a part of all cycles of waves, float64."""
        return self.bound / max(1, self.cycles)


class _Part(NamedTuple):
    """Sums of some waves by keys of (wait, load, place), and of (wait, deferred load, next wait)."""

    moves: Sums  # executions, stall, bound, number that need other registers, number that are carried
    deferred: Sums  # counts
    cycles: int
    waves: int


class _Program(Value):
    """Columns of code lines for this analysis; the last row is for tokens without a line."""

    is_load: np.ndarray  # bool
    touches: np.ndarray  # uint64 [rows, words], registers that are read or written
    writes: np.ndarray  # uint64 [rows, words]
    waits: np.ndarray  # bool [counters, rows], whether the line waits for the counter


@lru_cache(maxsize=2)
def _program(code: CodeTable, architecture: Architecture) -> _Program:
    texts = [*(text.strip() for text in code.text), ""]
    effect = generation_of(architecture, code.text).effect
    known = [registers(text) for text in texts]
    pairs = zip(texts, known, strict=True)
    touched = [_ALL if is_barrier(text) else one.writes | one.reads for text, one in pairs]
    waits = np.zeros((len(COUNTERS), len(texts)), dtype=bool)
    for row, text in enumerate(texts):
        for counter, _ in effect(text).waits:
            waits[COUNTERS.index(counter), row] = True
    return _Program(
        is_load=np.array([is_load(text) for text in texts], dtype=bool),
        touches=words(touched),
        writes=words([one.writes for one in known]),
        waits=waits,
    )


def _map(trace: Trace, parcel: Parcel) -> _Part:
    tokens, code = parcel.own, trace.code
    begin, end = tokens.lives
    part = _Part(no_sums(5), no_sums(1), int(np.maximum(end - begin, 0).sum()), len(tokens.waves))
    if len(code) > _MAX_VALUE or not len(tokens):
        return part
    program = _program(code, trace.architecture)
    links = replay(tokens, code, trace.architecture)
    known = hoists(code, trace.architecture)
    moves, deferred = [part.moves], [part.deferred]
    for counter in np.unique(links.counter[links.is_ordered]).tolist():
        pairs = _Pairs.of(tokens, tokens.code_rows(len(code)), links, counter, program)
        found = _inverted(pairs, known)
        moves.append(_moves(pairs, found, tokens))
        rows = np.flatnonzero(pairs.is_idle & (pairs.token >= found.place[pairs.seg]))
        seg = pairs.seg[rows]
        key = (pairs.wait_line[seg] << _BITS | pairs.line[rows]) << _BITS | pairs.until[seg]
        deferred.append(summed(key, np.ones(len(rows), dtype=np.int64)))
    return part._replace(moves=joined_sums(moves), deferred=joined_sums(deferred))


class _Pairs(ColumnTable):
    """One row per wait for a counter and operation, by wait and in order of issue.

    Operations are those that the wait released, and loads that earlier waits released and no instruction has
    used yet: they could still be outstanding.  `seg` are indices in `wait`.
    """

    seg: np.ndarray  # int64, number of the wait
    token: np.ndarray  # int64, the operation
    line: np.ndarray  # int64, its code row
    is_idle: np.ndarray  # bool, a load whose data no instruction uses before the next wait
    is_load: np.ndarray  # bool
    is_new: np.ndarray  # bool, this wait released it
    wait: np.ndarray  # int64 [waits], token
    wait_line: np.ndarray  # int64 [waits]
    until: np.ndarray  # int64 [waits], code row of the next wait of its wave, _MOST: none

    @classmethod
    def of(
        cls, tokens: TokenColumns, line: np.ndarray, links: WaitLinks, counter: int, program: _Program
    ) -> _Pairs:
        wait = np.flatnonzero(program.waits[counter].take(line))
        end = tokens.first[tokens.owner[wait] + 1]
        following = np.append(wait[1:], FAR)
        has_next = following < end
        touched = _touched(line, wait + 1, np.minimum(following, end), program)
        rows = np.flatnonzero(links.counter == counter)
        is_known = np.ones(len(wait), dtype=bool)  # outstanding operations return in order
        is_known[np.searchsorted(wait, links.token[rows])] = links.is_ordered[rows]
        counts = np.diff(links.first)[rows]
        token = links.producers[ranges(links.first[rows], counts)]
        seg = np.searchsorted(wait, np.repeat(links.token[rows], counts))
        columns = []
        for turn in range(CARRIED):
            is_there = is_known[seg]
            seg, token = seg[is_there], token[is_there]
            own = line[token]
            is_load = program.is_load[own]
            is_idle = is_load & ~(touched[seg] & program.writes[own]).any(axis=1)
            columns.append((seg, token, own, is_idle, is_load, np.full(len(seg), turn == 0)))
            goes_on = is_idle & has_next[seg]
            seg, token = seg[goes_on] + 1, token[goes_on]
        seg, token, own, is_idle, is_load, is_new = map(np.concatenate, zip(*columns, strict=True))
        order = np.lexsort((token, seg))
        return cls(
            seg=seg[order],
            token=token[order],
            line=own[order],
            is_idle=is_idle[order],
            is_load=is_load[order],
            is_new=is_new[order],
            wait=wait,
            wait_line=line[wait],
            until=np.where(has_next, np.append(line[wait[1:]], _MAX_VALUE), _MAX_VALUE),
        )

    def least(self, is_meant: np.ndarray) -> np.ndarray:
        """The first selected operation of each wait, FAR if there is none; int64 [waits]."""
        least = np.full(len(self.wait), FAR)
        np.minimum.at(least, self.seg[is_meant], self.token[is_meant])
        return least

    def any(self, is_meant: np.ndarray) -> np.ndarray:
        """Whether any operation of each wait is selected, bool [waits]."""
        found = np.zeros(len(self.wait), dtype=bool)
        found[self.seg[is_meant]] = True
        return found


CARRIED = 8  # waits at which an unused load is considered, including the wait that released it
FAR = 1 << 62


def _touched(line: np.ndarray, first: np.ndarray, stop: np.ndarray, program: _Program) -> np.ndarray:
    """Return the registers that tokens `first` to `stop - 1` of each range touch, uint64 [ranges, words]."""
    touched = np.zeros((len(first), program.touches.shape[1]), dtype=np.uint64)
    some = np.flatnonzero(stop > first)
    turn = np.cumsum(stop[some] - first[some]) // _PIECE
    for number in np.unique(turn).tolist():
        own = some[turn == number]
        counts = stop[own] - first[own]
        rows = program.touches[line[ranges(first[own], counts)]]
        touched[own] = np.bitwise_or.reduceat(rows, borders(counts)[:-1], axis=0)
    return touched


_PIECE = 1 << 16  # tokens whose registers are in memory at a time


class _Inverted(Value):
    """The inversion of each wait; tokens, int64 [waits]."""

    newest: np.ndarray  # the newest load that is needed and follows an idle load; -1: none
    place: np.ndarray  # token that the late loads may move before; FAR: none
    is_renamed: np.ndarray  # bool, with other destination registers
    is_carried: np.ndarray  # bool, earlier waits released all idle loads
    is_late: np.ndarray  # bool [pairs], a load that must move


def _inverted(pairs: _Pairs, known: Hoists) -> _Inverted:
    first_idle = pairs.least(pairs.is_idle)
    is_late = ~pairs.is_idle & (pairs.token > first_idle[pairs.seg])
    # An operation other than a load (a store, a copy to LDS) may be needed without a register that shows it.
    is_late &= ~pairs.any(is_late & ~pairs.is_load)[pairs.seg]
    newest = np.full(len(pairs.wait), -1)
    np.maximum.at(newest, pairs.seg[is_late], pairs.token[is_late])
    place = _places(pairs, is_late, newest, known, is_renamed=False)
    elsewhere = _places(pairs, is_late, newest, known, is_renamed=True)
    is_renamed = (place == FAR) & (elsewhere < FAR)
    place = np.where(is_renamed, elsewhere, place)
    moves = is_late & ((pairs.token > place[pairs.seg]) | (pairs.token == newest[pairs.seg]))
    is_carried = ~pairs.any(pairs.is_idle & pairs.is_new)
    return _Inverted(newest=newest, place=place, is_renamed=is_renamed, is_carried=is_carried, is_late=moves)


def _places(
    pairs: _Pairs, is_late: np.ndarray, newest: np.ndarray, known: Hoists, *, is_renamed: bool
) -> np.ndarray:
    """Return the first idle load of each wait that all late loads may move before, FAR if there is none."""
    late = np.flatnonzero(is_late)
    lines, number = numbered(pairs.line[late])
    ranges_up = map(known.of, lines.tolist())
    up = np.array([one.renamed_up if is_renamed else one.up for one in ranges_up], dtype=np.int64)[number]
    # The first idle load of the same wait that the late load may pass: rows are in order of wait and issue.
    step = int(pairs.token.max(initial=0)) + 2
    key = pairs.seg * step + pairs.token
    idle = np.flatnonzero(pairs.is_idle)
    at = np.searchsorted(key[idle], pairs.seg[late] * step + np.maximum(pairs.token[late] - up, 0))
    at = np.append(idle, len(pairs))[at]
    target = np.where(at < late, np.append(pairs.token, 0)[at], pairs.token[late])
    least = np.zeros(len(pairs.wait), dtype=np.int64)
    np.maximum.at(least, pairs.seg[late], target)
    first = pairs.least(pairs.is_idle & (pairs.token >= least[pairs.seg]))
    return np.where(first < newest, first, FAR)


def _moves(pairs: _Pairs, found: _Inverted, tokens: TokenColumns) -> Sums:
    late = np.flatnonzero(found.is_late)
    seg = pairs.seg[late]
    place = found.place[seg]
    has_place = place < FAR
    stall = tokens.stall[pairs.wait[seg]].astype(np.int64)
    target = np.where(has_place, place, found.newest[seg])
    apart = np.maximum(tokens.issue[found.newest[seg]] - tokens.issue[target], 0)
    rows = np.where(has_place, tokens.line[target].astype(np.int64), _MAX_VALUE)
    key = (pairs.wait_line[seg] << _BITS | pairs.line[late]) << _BITS | rows
    flags = (np.ones(len(late), dtype=bool), found.is_renamed[seg], found.is_carried[seg])
    once, renamed, carried = (column.astype(np.int64) for column in flags)
    return summed(key, once, stall, np.minimum(stall, apart), renamed, carried)


def _finish(trace: Trace, part: _Part) -> LoadOrder:
    order = np.lexsort((part.moves[0], -part.moves[2], -part.moves[3]))
    key, hits, stall, bound, renamed, carried = (column[order] for column in part.moves)
    wait, load, before = (_unpacked(key, place) for place in (2, 1, 0))
    known = hoists(trace.code, trace.architecture)
    of_load = [known.of(row) for row in load.tolist()]
    deferred, until = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
    for row, line, later in zip(*(_unpacked(part.deferred[0], at).tolist() for at in (2, 1, 0)), strict=True):
        deferred[row].add(line)
        until[row] |= {later} - {_MAX_VALUE}
    return LoadOrder(
        wait=wait.astype(np.int32),
        load=load.astype(np.int32),
        before=np.where(before == _MAX_VALUE, NOWHERE, before).astype(np.int32),
        hits=hits,
        stall=stall,
        bound=bound,
        registers=np.where(renamed > 0, [one.destination for one in of_load], 0).astype(np.int32),
        is_carried=carried == hits,
        limit=np.array([one.at for one in of_load], dtype=np.int32),
        why=tuple(one.limit.text for one in of_load),
        deferred=tuple(tuple(sorted(deferred[row])) for row in wait.tolist()),
        until=tuple(tuple(sorted(until[row])) for row in wait.tolist()),
        cycles=part.cycles,
        waves=part.waves,
    )


def _unpacked(key: np.ndarray, place: int) -> np.ndarray:
    return key >> place * _BITS & _MAX_VALUE


_MERGE = by_field(_Part, moves=added(5), deferred=added(1), cycles=sum, waves=sum)
LOAD_ORDER = Reduction(_map, _MERGE, _finish)
