"""Workgroups: which waves meet at barriers.

```
wave 0  ──b░░░░│─────b░░│──    released together, every time: one workgroup
wave 4  ──────b│──b░░░░░│──    in another slot, at another s_barrier: still the same workgroup
wave 1  ───b░░░░░░│────b│──    released at other times: another workgroup of the same compute unit
```
If the capture has a workgroup number, it decides.  Most captures have none; then the barriers decide: the
hardware counts arrivals, so the n-th barriers of all waves of a workgroup open at once, whichever `s_barrier`
each wave executes.  Waves without barriers are grouped if they started in one burst, which is a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy import ndarray

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.waves.barriers import RELEASE, Crossings, crossings, last_ends
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending, borders, distinct, run_starts, starts_run
from rcv_py.base.text import TextEnum
from rcv_py.model.columns import ColumnTable, field_names, joined
from rcv_py.model.trace import Trace

BURST = 12  # cycles: maximum distance between starts in a workgroup, one after the other on the next SIMD
TURN = 4  # cycles: additional distance for each SIMD that is not traced
SIMDS = 4
MAX_BY_CHANCE = 2  # barriers: up to this many may open together by chance in two workgroups
CLOSE = 64  # cycles: a wave whose barriers fit two workgroups started no further from its own


class KnownBy(TextEnum):
    """How a workgroup is known."""

    CAPTURE = 0, "the capture numbers them"
    BARRIERS = 1, "barriers always opened for all of their waves at once"
    STARTS = 2, "a guess by the starts of their waves"


class Workgroups(Record):
    """The workgroups of a capture, numbered by shader engine, compute unit and first start."""

    number: ndarray  # int32 [waves of the trace], workgroup of each row of the wave index; -1: not read
    waves: ndarray  # int32 [workgroups], number of its waves that were read
    known_by: ndarray  # uint8 [workgroups], KnownBy: the weakest source for its waves

    def __len__(self) -> int:
        return len(self.waves)

    @property
    def is_guess(self) -> bool:
        """Whether any workgroup is inferred only from the starts of its waves."""
        return bool(np.any(self.known_by == KnownBy.STARTS))


class GroupFacts(ColumnTable):
    """Recorded facts of waves about their workgroups, one row per wave."""

    row: ndarray  # int64, of the wave index
    se: ndarray  # int64
    cu: ndarray  # int64
    simd: ndarray  # int64
    begin: ndarray  # int64, cycles
    end: ndarray  # int64, cycles
    workgroup: ndarray  # int64, number in the files, -1 if they have none
    last_end: ndarray  # int64, cycles: when its last token ended, its begin if it has none


class Barriers(Value):
    """Waves in order of the wave index, and all their barriers, from which workgroups are derived."""

    waves: GroupFacts
    at: Crossings

    def of_engine(self, se: int) -> Barriers:
        """Return the barriers of the waves of a shader engine."""
        is_there = self.waves.se == se
        place = np.cumsum(is_there, dtype=np.int32) - 1
        at = self.at.at(is_there[self.at.wave])
        return Barriers(self.waves.at(is_there), replace(at, wave=place[at.wave]))


def barriers_of(trace: Trace, parcel: Parcel) -> Barriers:
    """Return the barriers of the waves that begin in the slab of a parcel, chosen or not."""
    tokens = parcel.begun
    found = crossings(tokens, trace.code)
    at = Crossings(**{name: getattr(found, name) for name in field_names(Crossings)})
    line, wave, nth = (column.astype(np.int32) for column in (at.line, at.wave, at.nth))
    names, begun = field_names(GroupFacts)[:-1], tokens.waves
    facts = [(one.row, one.id.se, one.cu, one.id.simd, one.begin, one.end, one.workgroup) for one in begun]
    columns = np.array(facts, dtype=np.int64).reshape(-1, len(names)).T
    waves = GroupFacts(**dict(zip(names, columns, strict=True)), last_end=last_ends(tokens))
    return Barriers(waves, replace(at, line=line, wave=wave, nth=nth))


def joined_barriers(parts: Sequence[Barriers]) -> Barriers:
    """Return several disjoint sets of waves and their barriers as one."""
    parts = [_NO_BARRIERS, *parts]
    firsts = borders([len(part.waves) for part in parts])[:-1].astype(np.int32)
    waves = joined([part.waves for part in parts])
    at = [replace(part.at, wave=part.at.wave + first) for part, first in zip(parts, firsts, strict=True)]
    crossed = joined(at)
    order = np.argsort(waves.row, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    crossed = replace(crossed, wave=place[crossed.wave])
    return Barriers(waves.at(order), crossed.at(np.lexsort((crossed.nth, crossed.wave))))


_NO_BARRIERS = Barriers(
    GroupFacts.empty(), Crossings.empty(line=np.int32, wave=np.int32, nth=np.int32, is_held=bool)
)


class WaveStarts(Value):
    """Where and when waves started, one row per wave."""

    place: ndarray  # int64, number of its compute unit
    begin: ndarray  # int64, cycles
    pause: ndarray  # int64, cycles: a longer pause separates two bursts

    def is_apart(self, order: ndarray) -> ndarray:
        """Whether each of these waves, sorted by time, follows a pause or another unit; bool."""
        begin = self.begin[order]
        return starts_run(self.place[order]) | (np.diff(begin, prepend=begin[:1]) > self.pause[order])


def _workgroups(trace: Trace, found: Barriers) -> Workgroups:
    number, known_by = grouped(found.waves, found.at)
    count = int(number.max(initial=-1)) + 1
    weakest = np.zeros(count, dtype=np.uint8)
    np.maximum.at(weakest, number, known_by)
    of_row = np.full(len(trace.waves), -1, dtype=np.int32)
    of_row[found.waves.row] = number
    return Workgroups(of_row, np.bincount(number, minlength=count).astype(np.int32), weakest)


WORKGROUPS = Reduction(barriers_of, joined_barriers, _workgroups)


def grouped(waves: GroupFacts, at: Crossings) -> tuple[ndarray, ndarray]:
    """Return the workgroup of each wave, int64, counted from 0, and its source (KnownBy), uint8."""
    n, begin, end, said = len(waves), waves.begin, waves.end, waves.workgroup
    place, simd = distinct(waves.se, waves.cu)[1], waves.simd
    seen = place[distinct(place, simd)[0]]  # once per SIMD
    pause = BURST + TURN * np.maximum(SIMDS - np.bincount(seen), 0)
    starts = WaveStarts(place, begin, pause[place])
    group = np.full(n, -1, dtype=np.int64)
    known_by = np.full(n, KnownBy.STARTS, dtype=np.uint8)
    numbered = np.flatnonzero(said >= 0)
    group[numbered] = _by_number(distinct(place[numbered], said[numbered])[1], begin[numbered], end[numbered])
    known_by[numbered] = KnownBy.CAPTURE
    use = (said < 0)[at.wave]
    meets = ascending(at.wave[use])
    by_barrier = _by_barriers(at, use, starts)
    group[meets] = by_barrier[meets] + group.max(initial=-1) + 1
    known_by[meets] = KnownBy.BARRIERS
    if (known_by == KnownBy.STARTS).any():
        _by_starts(group, np.flatnonzero(said < 0), starts)
    return _in_order(group, place, begin), known_by


def _by_number(key: ndarray, begin: ndarray, end: ndarray) -> ndarray:
    """Group waves by number; the hardware reuses a number after all its waves have ended."""
    order = np.lexsort((begin, key))
    # Ranks instead of times: small enough that ranks of different keys can be separated by shifts.
    rank = distinct(np.concatenate([begin, np.maximum(begin, end)]))[1]
    start, stop = rank[: len(key)][order], rank[len(key) :][order]
    shift = key[order] * (len(rank) + 1)
    reach = np.maximum.accumulate(stop + shift)
    is_new = np.append(True, start[1:] + shift[1:] >= reach[:-1])[: len(order)]
    group = np.empty(len(key), dtype=np.int64)
    group[order] = np.cumsum(is_new) - 1
    return group


def _by_barriers(at: Crossings, use: ndarray, starts: WaveStarts) -> ndarray:
    """Return a number for each wave, equal for waves that were released together at every shared barrier.

    All waves of a place begin with the same number.  Turn by turn, the waves of a number are divided by their
    releases; waves that had fewer barriers (they left early, or the recording ended) keep the previous
    number, and later join one of the numbers split from it.
    """
    key = starts.place.copy()
    rows = np.flatnonzero(use)
    if not len(rows):
        return key
    parent: dict[int, int] = {}
    rows = rows[np.argsort(at.nth[rows], kind="stable")]
    fresh = int(key.max(initial=-1)) + 1
    bounds = np.append(run_starts(at.nth[rows]), len(rows))
    turn, ahead = 0, 1
    while turn < len(bounds) - 1:  # few turns divide a number: those between them are looked at together
        until = min(turn + ahead, len(bounds) - 1)
        some = rows[bounds[turn] : bounds[until]]
        of = np.repeat(np.arange(until - turn), np.diff(bounds[turn : until + 1])) * fresh
        of += key[at.wave[some]]
        cluster = _clusters(of, at, some)
        divided = _divided(of, cluster)
        if not len(divided):
            turn, ahead = until, 2 * ahead
            continue
        first = int(divided[0]) // fresh
        here = np.flatnonzero(of // fresh == first)
        turn, ahead = turn + first + 1, 1
        fresh = _renumbered(key, at.wave[some[here]], cluster[here], parent, fresh)
    met = ascending(at.wave[rows])
    _settle(key, met, parent, starts.begin)
    _split_by_start(key, met, at, rows, starts)
    return key


def _clusters(key: ndarray, at: Crossings, turn: ndarray) -> ndarray:
    """Return for each barrier of some turns its opening, numbered over all keys; -1: unknown.

    A key is of one turn.
    """
    released, is_held = at.released[turn], at.is_held[turn]
    cluster = np.full(len(turn), -1, dtype=np.int64)
    held = np.flatnonzero(is_held)
    order = held[np.lexsort((released[held], key[held]))]
    is_late = np.diff(released[order], prepend=released[order][:1]) > RELEASE
    cluster[order] = np.cumsum(starts_run(key[order]) | is_late) - 1
    free = np.flatnonzero(~is_held)
    if not len(free) or not len(order):
        return cluster
    # A wave that was not held arrived after the opening and had signalled before it.
    rank = distinct(np.concatenate([released[order], released[free] + RELEASE]))[1]
    opened = rank[: len(order)] + key[order] * len(rank)
    nearest = np.searchsorted(opened, rank[len(order) :] + key[free] * len(rank), side="right") - 1
    near = order[np.maximum(nearest, 0)]
    fits = (nearest >= 0) & (key[near] == key[free]) & (released[near] >= at.arrived[turn][free] - RELEASE)
    is_alone = ~np.isin(key[free], key[order])
    other = int(cluster.max()) + 1 + distinct(key[free])[1]
    cluster[free] = np.where(fits, cluster[near], np.where(is_alone, -1, other))
    return cluster


def _divided(of: ndarray, cluster: ndarray) -> ndarray:
    """Return the numbers whose waves are in several clusters, ascending; int64."""
    known = np.flatnonzero(cluster >= 0)
    order = known[np.lexsort((cluster[known], of[known]))]
    is_more = ~starts_run(of[order]) & starts_run(of[order], cluster[order])
    return ascending(of[order[is_more]])


def _renumbered(key: ndarray, wave: ndarray, cluster: ndarray, parent: dict[int, int], fresh: int) -> int:
    """Give new numbers to the waves of keys that have several clusters; return the next free number."""
    known = np.flatnonzero(cluster >= 0)
    of, one = key[wave[known]], cluster[known]
    first, at = distinct(of, one)
    number = of[first]
    several = np.isin(number, number[1:][np.diff(number) == 0])
    new = np.where(several, fresh + np.cumsum(several) - 1, number)
    parent.update(zip(new[several].tolist(), number[several].tolist(), strict=True))
    key[wave[known]] = new[at]
    return fresh + int(several.sum())


def _settle(key: ndarray, met: ndarray, parent: dict[int, int], begin: ndarray) -> None:
    """Assign waves with few barriers that fit several workgroups to the workgroup that started with them."""
    is_open = np.isin(key[met], list(set(parent.values())))
    below: dict[int, list[int]] = {}
    for wave in met[~is_open].tolist():
        number = parent.get(int(key[wave]))
        while number is not None:
            below.setdefault(number, []).append(wave)
            number = parent.get(number)
    for wave in met[is_open].tolist():
        others = np.array(below.get(int(key[wave]), []), dtype=np.int64)
        away = np.abs(begin[others] - begin[wave])
        if len(others) and int(away.min()) <= CLOSE:
            key[wave] = key[others[int(np.argmin(away))]]


def _split_by_start(key: ndarray, met: ndarray, at: Crossings, rows: ndarray, starts: WaveStarts) -> None:
    """Divide workgroups whose barriers opened together by chance, where their starts show it.

    Either the releases of a number are further apart than in one workgroup, in a chain of neighbours; or
    there were only one or two barriers, and the parts that started apart are each as large as most
    workgroups.
    """
    order = met[np.lexsort((starts.begin[met], key[met]))]
    is_first = starts_run(key[order])
    is_burst = is_first | starts.is_apart(order)
    burst = np.cumsum(is_burst) - 1
    number = np.cumsum(is_first) - 1
    size, parts = np.bincount(number), np.bincount(number, weights=is_burst).astype(np.int64)
    usual = _most_common(size)
    part_size = np.bincount(burst)
    odd = np.bincount(number[is_burst], weights=part_size != usual)
    of_wave = np.zeros(len(key), dtype=np.int64)
    of_wave[order] = number
    turns, is_chain = np.zeros(len(size), dtype=np.int64), np.zeros(len(size), dtype=bool)
    np.maximum.at(turns, of_wave[at.wave[rows]], at.nth[rows] + 1)
    held = rows[at.is_held[rows]]
    opening = of_wave[at.wave[held]], at.nth[held]
    by_time = np.lexsort((at.released[held], *opening))
    first = run_starts(*(column[by_time] for column in opening))
    released = at.released[held[by_time]]
    last = np.append(first[1:], len(held)) - 1
    is_chain[opening[0][by_time[first]][released[last] - released[first] > RELEASE]] = True
    is_chance = (turns <= MAX_BY_CHANCE) & (odd == 0)
    moved = ((parts > 1) & (is_chance | is_chain))[number]
    key[order[moved]] = int(key.max(initial=0)) + 1 + burst[moved]


def _by_starts(group: ndarray, free: ndarray, starts: WaveStarts) -> None:
    """Assign waves without barriers to the workgroup that started with them, or make a new one of them.

    If workgroups start without a pause, a burst is several times as long as most, and is cut evenly.
    """
    order = free[np.lexsort((starts.begin[free], starts.place[free]))]
    is_new = starts.is_apart(order)
    burst = np.cumsum(is_new) - 1
    size = np.bincount(burst)
    usual = _most_common(size)
    turn = np.arange(len(order)) - np.flatnonzero(is_new)[burst]
    step = np.where(size[burst] % usual == 0, usual, size[burst])
    chunk = distinct(burst, turn // step)[1]
    here = group[order]
    mine = np.where(here >= 0, np.arange(len(order)), -1)
    later = np.where(here >= 0, mine, len(order))
    after = np.minimum.accumulate(later[::-1])[::-1]
    for near in (np.maximum.accumulate(mine), np.where(after < len(order), after, -1)):
        fits = (here < 0) & (near >= 0) & (chunk[near] == chunk)
        here = np.where(fits, group[order[near]], here)
    group[order] = np.where(here >= 0, here, int(group.max(initial=-1)) + 1 + chunk)


def _most_common(sizes: ndarray) -> int:
    """The most common size, the smallest on a tie; 1 if there are none."""
    return int(np.argmax(np.bincount(sizes))) if len(sizes) else 1


def _in_order(group: ndarray, place: ndarray, begin: ndarray) -> ndarray:
    """Number groups by place and first start."""
    order = np.lexsort((begin, place))
    _, first, of = np.unique(group[order], return_index=True, return_inverse=True)
    number = np.empty_like(group)
    number[order] = np.argsort(np.argsort(first))[of]
    return number
