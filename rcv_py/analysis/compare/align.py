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

Shape: what stays of an instruction when a compiler names its registers and places anew.

```
v_add_u32_e32 v22, s21, v7 // 000000001A2C     v_add_u32_e32 v,s,v
global_load_dwordx4 v[32:35], v18, s[4:5]      global_load_dwordx4 v4,v,s2
s_waitcnt vmcnt(3)                             s_waitcnt vmcnt
s_cbranch_scc1 65482                           s_cbranch_scc1
```
Renaming: the majority of paired instructions decides which register of A is which of B.

Blocks: first those with equal instructions, in order and then out of order; then, among the rest, the pairs
with most instructions in common.  A block has at most one partner.

Moved pieces: what is left over at both sides is paired last, wherever it stands.  A compiler that moves a
piece of a block leaves a run of rows in A and one in B; those with most rows in common are the same piece.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from rcv_py.analysis.compare.lcs import common, heaviest_rising
from rcv_py.analysis.program.blocks import Blocks, blocks
from rcv_py.base.numbers import number
from rcv_py.model.code import CodeTable

ALIKE = 0.5  # share of instructions that two blocks must have in common
PLACE_WEIGHT = 0.3  # what being at the other end of the program takes from a likeness
MIN_BLOCK = 3  # instructions of a block that is paired by likeness: shorter ones say too little
MAX_BLOCKS = 300  # blocks on a side that are compared with each other by likeness


@dataclass(frozen=True, eq=False)
class Side:
    """A program cut into blocks: keys of its rows by text and by shape (int64)."""

    blocks: Blocks
    text: np.ndarray
    shape: np.ndarray

    def parts(self, keys: np.ndarray) -> list[tuple[int, ...]]:
        """The keys of each block."""
        places = zip(self.blocks.first.tolist(), self.blocks.stop.tolist(), strict=True)
        flat = keys.tolist()
        return [tuple(flat[first:stop]) for first, stop in places]


def pair_blocks(a: Side, b: Side) -> np.ndarray:
    """Return the block of `b` that each block of `a` is, -1 for none; int32."""
    partner = np.full(len(a.blocks), -1, dtype=np.int32)
    for keys in ("text", "shape"):
        _equal(partner, a.parts(getattr(a, keys)), b.parts(getattr(b, keys)))
    _alike(partner, a, b)
    return partner


def _equal(partner: np.ndarray, a: Sequence[tuple[Hashable, ...]], b: Sequence[tuple[Hashable, ...]]) -> None:
    """Pair blocks with equal contents: in the order of both programs first, then wherever they are."""
    numbers: dict[Hashable, int] = {}
    left = [numbers.setdefault(part, len(numbers)) for part in a]
    right = [numbers.setdefault(part, len(numbers)) for part in b]
    free_a = np.flatnonzero(partner < 0).tolist()
    free_b = _free(partner, len(b)).tolist()
    for i, j in common([left[i] for i in free_a], [right[j] for j in free_b]):
        partner[free_a[i]] = free_b[j]
    waiting: dict[int, list[int]] = defaultdict(list)
    for j in _free(partner, len(b)).tolist()[::-1]:
        waiting[right[j]].append(j)
    for i in np.flatnonzero(partner < 0).tolist():
        if len(a[i]) >= MIN_BLOCK and waiting[left[i]]:
            partner[i] = waiting[left[i]].pop()


def _free(partner: np.ndarray, n: int) -> np.ndarray:
    taken = np.zeros(n, dtype=bool)
    taken[partner[partner >= 0]] = True
    return np.flatnonzero(~taken)


def _alike(partner: np.ndarray, a: Side, b: Side) -> None:
    """Pair the remaining blocks that have most in common, the best pair first."""
    left, right = np.flatnonzero(partner < 0), _free(partner, len(b.blocks))
    left = left[_lengths(a.blocks)[left] >= MIN_BLOCK][:MAX_BLOCKS]
    right = right[_lengths(b.blocks)[right] >= MIN_BLOCK][:MAX_BLOCKS]
    if not len(left) or not len(right):
        return
    score = _block_likeness(_bags(a, left, b, right)) - PLACE_WEIGHT * np.abs(
        _relative(a.blocks, left)[:, None] - _relative(b.blocks, right)[None, :]
    )
    order = np.argsort(-score, axis=None, kind="stable")
    order = order[score.reshape(-1)[order] >= ALIKE]
    used_a, used_b = np.zeros(len(left), dtype=bool), np.zeros(len(right), dtype=bool)
    for at in order.tolist():
        i, j = divmod(at, len(right))
        if not used_a[i] and not used_b[j]:
            used_a[i] = used_b[j] = True
            partner[left[i]] = right[j]


def _lengths(table: Blocks) -> np.ndarray:
    return table.stop - table.first


def _relative(table: Blocks, chosen: np.ndarray) -> np.ndarray:
    return (table.first[chosen] + table.stop[chosen]) / 2 / max(int(table.stop[-1]), 1)


def _bags(a: Side, left: np.ndarray, b: Side, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each shape occurs in each chosen block, float32 [blocks, shapes] of both sides."""
    shapes = np.unique(np.concatenate([a.shape, b.shape]))

    def counts(side: Side, chosen: np.ndarray) -> np.ndarray:
        of = np.full(len(side.blocks), -1)
        of[chosen] = np.arange(len(chosen))
        block = of[side.blocks.of_row]
        rows = np.flatnonzero(block >= 0)
        cell = block[rows] * len(shapes) + np.searchsorted(shapes, side.shape[rows])
        size = len(chosen) * len(shapes)
        return np.bincount(cell, minlength=size).reshape(len(chosen), -1).astype(np.float32)

    return counts(a, left), counts(b, right)


def _block_likeness(bags: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the share of instructions in common, twice those in both over those of both; [left, right]."""
    left, right = bags
    size = left.sum(axis=1)[:, None] + right.sum(axis=1)[None, :]
    both = np.stack([np.minimum(row, right).sum(axis=1) for row in left])
    return 2 * both / np.maximum(size, 1)


_COMMENT = re.compile(r"\s*(//|;).*$")
_RANGE = re.compile(r"\b([vsa]|ttmp)\[(\d+):(\d+)\]")
_REGISTER = re.compile(r"\b([vsa]|ttmp)\[?\d+\]?(?![\w(])")
_NUMBER = re.compile(r"(?<![\w])-?(0x[0-9a-fA-F]+|\d+\.\d+|\d+)\b")
_SPACE = re.compile(r"[\s(),]+")
_JUMPS = ("s_branch", "s_cbranch", "s_call", "s_subvector_loop")
LABEL = ";"  # the shape of every label


def plain(text: str) -> str:
    """Return an instruction without comment and without where it jumps to."""
    bare = _COMMENT.sub("", text).strip()
    return bare.split(None, 1)[0] if bare.startswith(_JUMPS) else " ".join(bare.split())


def shape(text: str) -> str:
    """Return mnemonic, operand kinds and modifiers, without numbers of registers, offsets and literals."""
    bare = _RANGE.sub(lambda found: f"{found[1]}{number(found[3]) - number(found[2]) + 1}_", plain(text))
    bare = _NUMBER.sub("", _REGISTER.sub(r"\1_", bare))
    return _SPACE.sub(" ", bare).strip()


class Keys:
    """Numbers for texts, the same for equal texts, over both programs."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def of(self, code: CodeTable, how: Callable[[str], str], space: str = "") -> np.ndarray:
        """Return the key of each code row, int64; labels share one key.

        Keys are compared within a space, by default that of the function.
        """
        space = space or how.__name__
        cache: dict[str, int] = {}
        keys = np.empty(len(code), dtype=np.int64)
        is_label = code.is_label.tolist()
        for row, text in enumerate(code.text):
            if is_label[row]:
                keys[row] = self._number(space, LABEL)
            else:
                if text not in cache:
                    cache[text] = self._number(space, how(text))
                keys[row] = cache[text]
        return keys

    def _number(self, name: str, text: str) -> int:
        return self._numbers.setdefault((name, text), len(self._numbers))


_REGISTERS = re.compile(r"\b(v|s|a|ttmp)(?:\[(\d+):(\d+)\]|(\d+)\b)")

Renaming = dict[str, str]


def names(text: str) -> tuple[str, ...]:
    """Return the registers that an instruction names, in order; of a range the first."""
    return tuple(f"{one[1]}{one[2] or one[4]}" for one in _REGISTERS.finditer(text))


def renaming(texts_a: list[str], texts_b: list[str]) -> Renaming:
    """Return what most pairs of texts say each register of A is called in B."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for (a, b), times in Counter(zip(texts_a, texts_b, strict=True)).items():
        mine, other = names(a), names(b)
        if len(mine) == len(other):
            for old, new in zip(mine, other, strict=True):
                votes[old][new] += times
    return {old: min(counts, key=lambda new: (-counts[new], new)) for old, counts in votes.items()}


def renamed(text: str, registers: Renaming) -> str:
    """Return a text with its registers called as in B; unknown ones keep their name."""

    def name(found: re.Match[str]) -> str:
        file, first = found[1], found[2] or found[4]
        new = registers.get(f"{file}{first}", "")
        if not new.startswith(file):
            return found[0]
        first_new = number(new[len(file) :])
        return (
            f"{file}[{first_new}:{first_new + number(found[3]) - number(first)}]"
            if found[3] is not None
            else f"{file}{first_new}"
        )

    return _REGISTERS.sub(name, text)


def agreement(texts_a: list[str], texts_b: list[str], registers: Renaming) -> np.ndarray:
    """Return which pairs have equal texts once A is renamed, bool."""
    known = {text: renamed(text, registers) for text in set(texts_a)}
    return np.array([known[a] == b for a, b in zip(texts_a, texts_b, strict=True)], dtype=bool)


MIN_RUN = 4  # instructions in common: shorter runs are alike by chance
RUN_ALIKE = 0.75  # share of the shorter run that has to be in common
MAX_RUNS = 60  # runs of a side that are looked at, the longest


def pair_leftover(to_b: np.ndarray, key_a: np.ndarray, key_b: np.ndarray) -> np.ndarray:
    """Pair runs that are left over, the likest first; return the rows of A that were paired, bool.

    `to_b` (int32 [rows of A], -1 for none) is completed in place.
    """
    moved = np.zeros(len(to_b), dtype=bool)
    taken = np.zeros(len(key_b), dtype=bool)
    taken[to_b[to_b >= 0]] = True
    found = []
    runs_b = _runs(~taken)
    for rows_a in _runs(to_b < 0):
        for rows_b in runs_b:
            pairs = common(key_a[rows_a].tolist(), key_b[rows_b].tolist())
            if len(pairs) >= max(MIN_RUN, RUN_ALIKE * min(len(rows_a), len(rows_b))):
                found.append((len(pairs), rows_a, rows_b, pairs))
    for _, rows_a, rows_b, pairs in sorted(found, key=lambda one: -one[0]):
        i, j = np.array(pairs).T
        free = (to_b[rows_a[i]] < 0) & ~taken[rows_b[j]]
        if free.all():
            to_b[rows_a[i]] = rows_b[j]
            moved[rows_a[i]] = taken[rows_b[j]] = True
    return moved


def _runs(is_free: np.ndarray) -> list[np.ndarray]:
    """Return the rows of runs that are long enough, the longest ones."""
    edges = np.flatnonzero(np.diff(is_free.astype(np.int8), prepend=0, append=0))
    runs = [
        np.arange(first, stop)
        for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        if stop - first >= MIN_RUN
    ]
    return sorted(runs, key=len, reverse=True)[:MAX_RUNS]


class Fate(IntEnum):
    """What became of an instruction of A, or where one of B comes from."""

    SAME = 0
    CHANGED = 1  # the same operation on other registers, numbers or places
    MOVED = 2  # paired, but its block stands elsewhere among the others
    INSERTED = 3  # only in B
    REMOVED = 4  # only in A


FATE_TEXT = {fate: fate.name.lower() for fate in Fate}


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

        A removed row stands after the row that it followed in A.
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
    registers = renaming(*_pairs(_best(ways, texts), texts))
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
