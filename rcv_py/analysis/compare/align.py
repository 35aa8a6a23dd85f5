"""Which instruction of one build is which of another: same, changed, moved, inserted or removed.

```
A                      B
0 s_mov_b32 s0, 0      0 s_mov_b32 s4, 0      changed: another register
1 v_add v1, v2, v3     1 v_add v1, v2, v3     same
2 s_nop 0                                     removed
                       2 v_mul v4, v5, v6     inserted
```

Programs with the same text are paired row by row.  Otherwise rows are paired in several ways, and the best
counts: in order over the whole program, or blocks first, rows inside of paired blocks second, what lies
between rows that are paired already last; each by shape, and by equal text before shape.  Of neighbours that
differ in registers alone only text can tell which one is gone; where registers were renamed, the pairs
themselves tell how, and texts are compared again with the new names.
What is left over at both sides is paired last, wherever it stands (`leftover.py`): pieces that were moved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from rcv_py.analysis.compare.lcs import common, heaviest_rising
from rcv_py.analysis.compare.leftover import pair_leftover
from rcv_py.analysis.compare.pair_blocks import Side, pair_blocks
from rcv_py.analysis.compare.renaming import Renaming, agreement, renamed, renaming
from rcv_py.analysis.compare.shapes import Keys, plain, shape
from rcv_py.analysis.program.blocks import blocks
from rcv_py.model.code import CodeTable


class Fate(IntEnum):
    """What became of an instruction of A, or where one of B comes from."""

    SAME = 0
    CHANGED = 1  # the same operation on other registers, numbers or places
    MOVED = 2  # paired, but its block stands elsewhere among the others
    INSERTED = 3  # only in B
    REMOVED = 4  # only in A


FATE_TEXT = {
    Fate.SAME: "same",
    Fate.CHANGED: "changed",
    Fate.MOVED: "moved",
    Fate.INSERTED: "inserted",
    Fate.REMOVED: "removed",
}


@dataclass(frozen=True, eq=False)
class Alignment:
    """Pairs of code rows of two programs, A and B."""

    to_b: np.ndarray  # int32 [rows of A], row of B, -1 if there is none
    to_a: np.ndarray  # int32 [rows of B], row of A, -1 if there is none
    fate_a: np.ndarray  # uint8 [rows of A], Fate
    fate_b: np.ndarray  # uint8 [rows of B], Fate
    is_same: bool  # both have the same instructions in the same order

    @cached_property
    def listing(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows (of A, of B) in the order of B, -1 where one side has nothing; int32.

        A removed row stands behind the row that it followed in A.
        """
        removed = np.flatnonzero(self.to_b < 0)
        stays = np.where((self.to_b >= 0) & (self.fate_a != Fate.MOVED), self.to_b, -1)
        anchor = np.maximum.accumulate(np.append(-1, stays))[:-1][removed]
        row_a = np.concatenate([self.to_a, removed]).astype(np.int32)
        row_b = np.concatenate([np.arange(len(self.to_a)), np.full(len(removed), -1)]).astype(np.int32)
        place = np.concatenate([np.arange(len(self.to_a)), anchor])
        order = np.lexsort((row_a, np.arange(len(place)) >= len(self.to_a), place))
        return row_a[order], row_b[order]


def align(a: CodeTable, b: CodeTable) -> Alignment:
    """Pair the rows of two programs; linear in the rows but for one big number a row."""
    if a.text == b.text:
        rows = np.arange(len(a), dtype=np.int32)
        same = np.zeros(len(a), dtype=np.uint8)
        return Alignment(rows, rows, same, same, True)
    keys = Keys()
    texts = [[plain(text) for text in code.text] for code in (a, b)]
    text_a, text_b, shape_a, shape_b = (keys.of(code, how) for how in (plain, shape) for code in (a, b))
    left, right = Side(blocks(a), text_a, shape_a), Side(blocks(b), text_b, shape_b)
    ways = [_paired(left, right, by_text=by_text, by_block=block) for by_text, block in _WAYS]
    registers = _renaming(_best(ways, texts), texts)
    if any(old != new for old, new in registers.items()):

        def told(text: str) -> str:
            return renamed(plain(text), registers)

        other = replace(left, text=keys.of(a, told, plain.__name__))
        ways += [_paired(other, right, by_text=True, by_block=block) for block in (True, False)]
    return _with_fates(_best(ways, texts), text_a, text_b)


_WAYS = ((True, True), (True, False), (False, True), (False, False))  # by text, by block
Way = tuple[np.ndarray, np.ndarray]  # row of B of each row of A, int32; which rows were moved, bool


def _best(ways: list[Way], texts: list[list[str]]) -> Way:
    return max(ways, key=lambda way: _likeness(way, texts))


def _paired(left: Side, right: Side, *, by_text: bool, by_block: bool) -> Way:
    """Pair rows in one way; what is left over last."""
    to_b = np.full(len(left.text), -1, dtype=np.int32)
    moved = np.zeros(len(to_b), dtype=bool)
    keys = (left.text, right.text) if by_text else (left.shape, right.shape)
    if by_block:
        _inside_blocks(to_b, pair_blocks(left, right), (left, right), keys)
        moved = _moved(to_b, left.blocks.of_row)
    else:
        _pair(to_b, np.arange(len(to_b)), np.arange(len(right.text)), *keys)
    _between(to_b, moved, left.shape, right.shape)
    moved |= pair_leftover(to_b, left.shape, right.shape)
    return to_b, moved


def _renaming(way: Way, texts: list[list[str]]) -> Renaming:
    return renaming(*_pairs(way, texts))


def _pairs(way: Way, texts: list[list[str]]) -> tuple[list[str], list[str]]:
    rows = np.flatnonzero(way[0] >= 0)
    return [texts[0][row] for row in rows.tolist()], [texts[1][row] for row in way[0][rows].tolist()]


def _likeness(way: Way, texts: list[list[str]]) -> int:
    """Return how many rows have a partner, twice those with the same text but for renamed registers."""
    a, b = _pairs(way, texts)
    return len(a) + int(np.count_nonzero(agreement(a, b, renaming(a, b))))


def _inside_blocks(
    to_b: np.ndarray, partner: np.ndarray, sides: tuple[Side, Side], keys: tuple[np.ndarray, np.ndarray]
) -> None:
    left, right = sides
    for i in np.flatnonzero(partner >= 0).tolist():
        j = int(partner[i])
        rows_a = np.arange(left.blocks.first[i], left.blocks.stop[i])
        rows_b = np.arange(right.blocks.first[j], right.blocks.stop[j])
        _pair(to_b, rows_a, rows_b, *keys)


def _pair(
    to_b: np.ndarray, rows_a: np.ndarray, rows_b: np.ndarray, key_a: np.ndarray, key_b: np.ndarray
) -> None:
    pairs = common(key_a[rows_a].tolist(), key_b[rows_b].tolist())
    if pairs:
        i, j = np.array(pairs).T
        to_b[rows_a[i]] = rows_b[j]


def _moved(to_b: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Return which rows of A belong to blocks that stand elsewhere in B: as few instructions as can be."""
    rows = np.flatnonzero(to_b >= 0)
    moved = np.zeros(len(to_b), dtype=bool)
    if not len(rows):
        return moved
    groups, first, size = np.unique(block[rows], return_index=True, return_counts=True)
    stays = heaviest_rising(to_b[rows[first]].tolist(), size.tolist())
    moved[rows] = ~np.isin(block[rows], groups[stays])
    return moved


def _between(to_b: np.ndarray, moved: np.ndarray, key_a: np.ndarray, key_b: np.ndarray) -> None:
    """Pair what lies between two rows that stay, where both sides have rows without a partner."""
    free_b = np.ones(len(key_b), dtype=bool)
    free_b[to_b[to_b >= 0]] = False
    free_a = to_b < 0
    fixed = np.flatnonzero((to_b >= 0) & ~moved)
    ends_a = np.concatenate([[-1], fixed, [len(to_b)]])
    ends_b = np.concatenate([[-1], to_b[fixed], [len(key_b)]])
    sum_a, sum_b = np.append(0, np.cumsum(free_a)), np.append(0, np.cumsum(free_b))
    has = (sum_a[ends_a[1:]] > sum_a[ends_a[:-1] + 1]) & (sum_b[ends_b[1:]] > sum_b[ends_b[:-1] + 1])
    for at in np.flatnonzero(has).tolist():
        rows_a = np.arange(ends_a[at] + 1, ends_a[at + 1])
        rows_b = np.arange(ends_b[at] + 1, ends_b[at + 1])
        _pair(to_b, rows_a[free_a[rows_a]], rows_b[free_b[rows_b]], key_a, key_b)


def _with_fates(way: Way, text_a: np.ndarray, text_b: np.ndarray) -> Alignment:
    to_b, moved = way
    rows = np.flatnonzero(to_b >= 0)
    to_a = np.full(len(text_b), -1, dtype=np.int32)
    to_a[to_b[rows]] = rows
    fate_a = np.full(len(to_b), Fate.REMOVED, dtype=np.uint8)
    fate_b = np.full(len(to_a), Fate.INSERTED, dtype=np.uint8)
    fate_a[rows] = np.where(text_a[rows] == text_b[to_b[rows]], Fate.SAME, Fate.CHANGED)
    fate_a[moved] = Fate.MOVED
    fate_b[to_b[rows]] = fate_a[rows]
    is_same = len(text_a) == len(text_b) and bool((fate_a == Fate.SAME).all())
    return Alignment(to_b, to_a, fate_a, fate_b, is_same)
