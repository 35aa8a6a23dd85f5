"""Replays the counters of all waves of a batch: which executed wait waited for which instructions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.analysis.waits.waitcnt.generations import (
    KIND_OF,
    KINDS,
    NOTHING,
    NUMBER_OF,
    UNORDERED,
    Effect,
    Generation,
    generation_of,
)
from rcv_py.model.code import CodeTable
from rcv_py.model.tokens import Waits
from rcv_py.model.waves import Wave, WaveBatch


@dataclass(frozen=True, eq=False)
class WaitLinks:
    """One row for each executed wait and counter that released something, in order of execution.

    Tokens are rows of the columns of the batch.  Row i waited for `producers[first[i]:first[i + 1]]`, in
    order of issue.
    """

    wave: np.ndarray  # int32 [n], place in `batch.waves`
    token: np.ndarray  # int64 [n], the wait
    counter: np.ndarray  # uint8 [n], number in `generations.COUNTERS`
    left: np.ndarray  # int32 [n], how many operations were allowed to stay outstanding
    first: np.ndarray  # int64 [n + 1]
    producers: np.ndarray  # int64, each token once a row
    newest: np.ndarray  # int64 [n], the last issued of the producers
    is_ordered: np.ndarray  # bool [n], what was outstanding comes back in order, so the newest came last

    def __len__(self) -> int:
        return len(self.token)

    @property
    def row_of(self) -> np.ndarray:
        """The row each producer belongs to, int64."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def of(self, row: int) -> np.ndarray:
        """The producers of one row."""
        return self.producers[self.first[row] : self.first[row + 1]]

    def newest_of_waits(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the token of each wait, and the newest it required on any counter (-1: none), int64."""
        begins = np.flatnonzero(np.append(True, self.token[1:] != self.token[:-1])[: len(self)])
        newest = np.maximum.reduceat(self.newest, begins) if len(begins) else self.newest
        return self.token[begins], newest

    def at(self, rows: np.ndarray, first: np.ndarray, producers: np.ndarray, newest: np.ndarray) -> WaitLinks:
        """Return some of the rows, with other producers."""
        columns = (self.wave[rows], self.token[rows], self.counter[rows], self.left[rows])
        return WaitLinks(*columns, first, producers, newest, self.is_ordered[rows])


def gathered(operations: np.ndarray, begin: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (first, producers) of rows of which each holds a range of the operations."""
    counts = np.maximum(stop - begin, 0)
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    inside = np.arange(int(first[-1])) - np.repeat(first[:-1], counts)
    return first, operations[np.repeat(begin, counts) + inside]


def without_repeats(first: np.ndarray, producers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Name an operation that raised a counter twice, so stands there twice in a row, once."""
    keep = np.ones(len(producers), dtype=bool)
    keep[1:] = producers[1:] != producers[:-1]
    if keep.all():
        return first, producers
    keep[first[:-1][np.diff(first) > 0]] = True
    return np.concatenate([[0], np.cumsum(keep)])[first], producers[keep]


@dataclass(frozen=True, eq=False)
class Operations:
    """What was issued to one counter, in order of issue."""

    row: np.ndarray  # int64, token; twice for an operation that raises the counter by two
    kind: np.ndarray  # uint8
    is_unordered: np.ndarray  # bool, its result may come back at any time

    def last_bad(self) -> np.ndarray:
        """Return, for each c from 0 to n, the last bad place before operation c; int64 [n + 1], -1 for none.

        An operation without order is bad itself; of two kinds in a row the first is.
        """
        place = np.arange(len(self.row), dtype=np.int64)
        changes = np.zeros(len(place), dtype=bool)
        changes[1:] = self.kind[1:] != self.kind[:-1]
        bad = np.where(self.is_unordered, place, np.where(changes, place - 1, -1))
        return np.maximum.accumulate(np.concatenate([[-1], bad]))


@dataclass(frozen=True, eq=False)
class WaitInputs:
    """Waits on one counter, in order of execution."""

    row: np.ndarray  # int64, token
    left: np.ndarray  # int64, how many operations may stay outstanding
    wave_first: np.ndarray  # int64, first token of the wave


@dataclass(frozen=True, eq=False)
class Released:
    """What each wait of `WaitInputs` released: operations `begin` to `stop - 1` of its counter."""

    begin: np.ndarray  # int64
    stop: np.ndarray  # int64
    is_ordered: np.ndarray  # bool, no outstanding operation could have overtaken another


def release(ops: Operations, asked: WaitInputs) -> Released:
    """Return what waits release by the rules of the hardware."""
    # Operations issued before each wait, and before its wave; both count through all waves.
    issued, base = np.searchsorted(ops.row, asked.row), np.searchsorted(ops.row, asked.wave_first)
    target = np.where(asked.left == 0, issued, issued - asked.left)
    free = _running(np.maximum(target, base), base)  # as if every wait told something
    is_disordered = ops.last_bad()[issued] >= _before(free, base)
    is_known = ~_so_far(is_disordered & (asked.left > 0), asked) | (asked.left == 0)
    stop = _running(np.maximum(np.where(is_known, issued - asked.left, base), base), base)
    return Released(_before(stop, base), stop, ~is_disordered)


def _running(value: np.ndarray, base: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum.accumulate(value), base)


def _before(after: np.ndarray, base: np.ndarray) -> np.ndarray:
    return np.maximum(np.concatenate([base[:1], after[:-1]]), base)


def _so_far(is_bad: np.ndarray, asked: WaitInputs) -> np.ndarray:
    """Whether this or an earlier wait is bad, counted anew after every wait for zero and in every wave."""
    place = np.arange(len(is_bad))
    opens = np.ones(len(is_bad), dtype=bool)
    opens[1:] = (asked.left[:-1] == 0) | (asked.wave_first[1:] != asked.wave_first[:-1])
    start = np.maximum.accumulate(np.where(opens, place, 0))
    return np.maximum.accumulate(np.where(is_bad, place, -1)) >= start


_IS_UNORDERED = np.array([name in UNORDERED for name in KINDS])


def replay(batch: WaveBatch | TokenColumns, code: CodeTable, gfxip: int, target: str = "") -> WaitLinks:
    """Return who waited for whom in all waves of a batch.

    `gfxip` is the major version of the graphics IP, `target` its full name if it is known: gfx1250 has
    counters that others of its generation lack.  A program with instructions of gfx1250 counts as one.
    """
    ran = _Ran(batch, code, generation_of(gfxip, target, code.text))
    found = []
    for counter in ran.rules.order:
        asked = ran.asked(counter)
        if not len(asked.row):
            continue
        ops = ran.operations(counter)
        found.append(_Found(counter, asked, release(ops, asked), ops.row))
    return _without_returned(_links(ran, found))


def waits_of(wave: Wave, code: CodeTable, gfxip: int, target: str = "") -> Waits:
    """Return what each executed wait of one wave waited for, as code rows.

    It is replayed; what the wave's file lists is by rules that are wrong in places, and is returned only if
    the replay knows none of the instructions.
    """
    piece = of_waves([wave])
    found = waits(replay(piece, code, gfxip, target), piece.line)
    return wave.waits if not len(found) and wave.waits is not None else found


def waits(links: WaitLinks, line: np.ndarray) -> Waits:
    """Return links as code rows, a code row that was released several times at once named once."""
    owner, producer = links.row_of, line[links.producers].astype(np.int64)
    _, kept = np.unique(owner << 32 | producer, return_index=True)
    kept.sort()
    counts = np.bincount(owner[kept], minlength=len(links))
    return Waits(
        line[links.token].astype(np.int32),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        producer[kept].astype(np.int32),
    )


@lru_cache(maxsize=1 << 15)
def _effect(text: str, effect: Callable[[str], Effect]) -> Effect:
    return effect(text)


class _Ran:
    """The tokens of a batch that do something to counters, and what they do."""

    def __init__(self, batch: WaveBatch | TokenColumns, code: CodeTable, rules: Generation) -> None:
        self.rules, self.first = rules, batch.first
        line = batch.line
        known = np.unique(np.clip(line, -1, len(code))) if len(line) else line
        known = known[(known >= 0) & (known < len(code))].tolist()
        all_of = {row: _effect(code.text[row], rules.effect) for row in known}
        self.effects = {row: effect for row, effect in all_of.items() if effect is not NOTHING}
        matters = np.zeros(len(code) + 1, dtype=bool)  # the last one is for lines that are not in the table
        matters[list(self.effects)] = True
        self.token = np.flatnonzero(matters[np.where((line >= 0) & (line < len(code)), line, len(code))])
        self.line = line[self.token].astype(np.int64)
        self.rows = len(code)

    @cached_property
    def _counters(self) -> dict[str, tuple[list[int], list[int], list[int]]]:
        """Of each counter: code rows that raise it, how often, and as what kind."""
        found: dict[str, tuple[list[int], list[int], list[int]]] = {}
        for row, effect in self.effects.items():
            for counter in {name for name, _ in effect.raises}:
                kinds = [kind for name, kind in effect.raises if name == counter]
                rows, times, kind = found.setdefault(counter, ([], [], []))
                rows.append(row)
                times.append(len(kinds))
                kind.append(KIND_OF[kinds[0]])
        return found

    def operations(self, counter: str) -> Operations:
        """Return what was issued to a counter."""
        rows, times, kinds = self._counters.get(counter, ([], [], []))
        of_row = np.zeros((2, self.rows), dtype=np.int64)
        of_row[0, rows], of_row[1, rows] = times, kinds
        count = of_row[0, self.line]
        place = (
            np.repeat(np.arange(len(count)), count) if len(times) and max(times) > 1 else count.nonzero()[0]
        )
        kind = of_row[1, self.line[place]].astype(np.uint8)
        return Operations(self.token[place], kind, _IS_UNORDERED[kind])

    def asked(self, counter: str) -> WaitInputs:
        """Return the waits on a counter."""
        left = {
            row: number
            for row, effect in self.effects.items()
            for name, number in effect.waits
            if name == counter
        }
        table = np.full(self.rows, -1, dtype=np.int64)
        table[list(left)] = list(left.values())
        value = table[self.line]
        chosen = np.flatnonzero(value >= 0)
        return WaitInputs(self.token[chosen], value[chosen], self.first[self.owner(self.token[chosen])])

    def owner(self, token: np.ndarray) -> np.ndarray:
        """Return the place of the wave of each token."""
        return np.searchsorted(self.first, token, side="right") - 1


def _without_returned(links: WaitLinks) -> WaitLinks:
    """Take out of waits for address translation what another counter had released by then.

    Who has its data had its address translated; only programs of gfx1250 have such waits.
    """
    is_late = links.counter == NUMBER_OF["x"]
    if not is_late.any():
        return links
    owner = links.row_of
    is_own = ~is_late[owner]
    returned = np.full(int(links.producers.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(returned, links.producers[is_own], links.token[owner[is_own]])
    keep = is_own | (returned[links.producers] > links.token[owner])
    counts = np.bincount(owner[keep], minlength=len(links))
    rows = np.flatnonzero(counts)
    producers = links.producers[keep]
    first = np.concatenate([[0], np.cumsum(counts[rows])])
    newest = np.maximum.reduceat(producers, first[:-1]) if len(rows) else links.newest[rows]
    return links.at(rows, first, producers, newest)


@dataclass(frozen=True, eq=False)
class _Found:
    """What the waits on one counter released."""

    counter: str
    asked: WaitInputs
    released: Released
    ops: np.ndarray  # int64, tokens


def _links(ran: _Ran, found: list[_Found]) -> WaitLinks:
    """Merge the counters: rows by token, then by the order in which a wait looks at counters."""
    if not found:
        none, narrow = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
        first = np.zeros(1, dtype=np.int64)
        return WaitLinks(narrow, none, none.astype(np.uint8), narrow, first, none, none, none.astype(bool))
    firsts, parts = [], []
    for one in found:
        first, producers = without_repeats(*gathered(one.ops, one.released.begin, one.released.stop))
        firsts.append(first)
        parts.append(producers)
    token = np.concatenate([one.asked.row for one in found])
    rank = np.repeat(np.arange(len(found)), [len(one.asked.row) for one in found])
    counts = np.concatenate([np.diff(first) for first in firsts])
    order = np.flatnonzero(counts)
    order = order[np.argsort(token[order] * len(found) + rank[order], kind="stable")]
    begin = np.concatenate([[0], np.cumsum(counts)])[:-1]
    first, producers = gathered(np.concatenate(parts), begin[order], (begin + counts)[order])
    number = np.array([NUMBER_OF[one.counter] for one in found], dtype=np.uint8)
    newest = np.maximum.reduceat(producers, first[:-1]) if len(order) else producers
    return WaitLinks(
        ran.owner(token[order]).astype(np.int32),
        token[order],
        number[rank[order]],
        np.concatenate([one.asked.left for one in found])[order].astype(np.int32),
        first,
        producers,
        newest,
        np.concatenate([one.released.is_ordered for one in found])[order],
    )
