"""Alignment of the instructions of two builds: same, changed, moved, inserted or removed.

```
A                      B
0 s_mov_b32 s0, 0      0 s_mov_b32 s4, 0      changed: another register
1 v_add v1, v2, v3     1 v_add v1, v2, v3     same
2 s_nop 0                                     removed
                       2 v_mul v4, v5, v6     inserted
```

Programs with the same text are paired row by row.  Otherwise rows are paired in several ways, and the best
result is kept: in order over the whole program; or blocks first, then rows inside paired blocks, then rows
between paired rows; each by shape alone, and by equal text before shape.  If neighbours differ only in
registers, only the text shows which of them was removed.  If registers were renamed, the pairs show how, and
texts are compared again with the new names.

Shape: the part of an instruction that does not depend on register allocation and addresses.

```
v_add_u32_e32 v22, s21, v7 // 000000001A2C     v_add_u32_e32 v,s,v
global_load_dwordx4 v[32:35], v18, s[4:5]      global_load_dwordx4 v4,v,s2
s_waitcnt vmcnt(3)                             s_waitcnt vmcnt
s_cbranch_scc1 65482                           s_cbranch_scc1
```
Renaming: the majority of paired instructions decides which register of B a register of A became.

Blocks: blocks with equal instructions are paired first, in order and then out of order; then, among the rest,
the pairs with most instructions in common.  A block has at most one partner.

Moved pieces: rows left over on both sides are paired last, at any position.  A compiler that moves a piece of
a block leaves a run of rows in A and a run in B; the runs with most rows in common are the same piece.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from enum import IntEnum
from functools import cached_property
from itertools import product
from operator import eq

import numpy as np

from rcv_py.analysis.compare.lcs import common, heaviest_rising
from rcv_py.analysis.program.blocks import Blocks, blocks
from rcv_py.base.record import Record, Value
from rcv_py.base.text import number
from rcv_py.model.code import CodeTable

ALIKE = 0.5  # share of instructions that two blocks must have in common
PLACE_WEIGHT = 0.3  # subtracted from a similarity if blocks are at opposite ends of the program
MIN_BLOCK = 3  # instructions: shorter blocks are not paired by similarity
MAX_BLOCKS = 300  # blocks of a side that are compared by similarity


class Side(Value):
    """A program cut into blocks: keys of its rows by text and by shape (int64)."""

    blocks: Blocks
    text: np.ndarray
    shape: np.ndarray

    def rows(self, block: int) -> np.ndarray:
        """The rows of a block."""
        return np.arange(self.blocks.first[block], self.blocks.stop[block])

    def parts(self, keys: np.ndarray) -> list[tuple[int, ...]]:
        """The keys of each block."""
        return [tuple(keys[self.rows(block)].tolist()) for block in range(len(self.blocks))]


def _pair_equal(partner: np.ndarray, a: Sequence[tuple[int, ...]], b: Sequence[tuple[int, ...]]) -> None:
    """Pair blocks with equal contents: first in the order of both programs, then at any position."""
    left, right = keys_of(a, b)
    _pair(partner, np.flatnonzero(partner < 0), _free(partner, len(b)), left, right)
    waiting: dict[int, list[int]] = defaultdict(list)
    for j in _free(partner, len(b)).tolist()[::-1]:
        waiting[right[j]].append(j)
    for i in np.flatnonzero(partner < 0).tolist():
        if len(a[i]) >= MIN_BLOCK and waiting[left[i]]:
            partner[i] = waiting[left[i]].pop()


def _free(to: np.ndarray, n: int) -> np.ndarray:
    """The unpaired of 0 to n - 1, ascending."""
    return np.setdiff1d(np.arange(n), to)


def _pair_alike(partner: np.ndarray, a: Side, b: Side) -> None:
    """Pair the remaining blocks by similarity, the best pair first."""
    free = (np.flatnonzero(partner < 0), _free(partner, len(b.blocks)))
    left, right = (
        rows[(side.blocks.stop - side.blocks.first)[rows] >= MIN_BLOCK][:MAX_BLOCKS]
        for rows, side in zip(free, (a, b), strict=True)
    )
    if not len(left) or not len(right):
        return
    shapes = int(max(a.shape.max(), b.shape.max())) + 1
    bag_a, bag_b = (
        np.array([np.bincount(side.shape[side.rows(block)], minlength=shapes) for block in chosen])
        for side, chosen in ((a, left), (b, right))
    )
    both = np.stack([np.minimum(bag, bag_b).sum(axis=1) for bag in bag_a])
    alike = 2 * both / np.add.outer(bag_a.sum(axis=1), bag_b.sum(axis=1))
    places_a, places_b = (  # of the middles of blocks, 0 to 1
        (table.first + table.stop) / 2 / max(int(table.stop[-1]), 1) for table in (a.blocks, b.blocks)
    )
    score = alike - PLACE_WEIGHT * np.abs(np.subtract.outer(places_a[left], places_b[right]))
    order = np.argsort(-score, axis=None, kind="stable")
    used = np.zeros(len(b.blocks), dtype=bool)
    for at in order[score.reshape(-1)[order] >= ALIKE].tolist():
        i, j = left[at // len(right)], right[at % len(right)]
        if partner[i] < 0 and not used[j]:
            partner[i], used[j] = j, True


_COMMENT = re.compile(r"\s*(//|;).*$")
_RANGE = re.compile(r"\b([vsa]|ttmp)\[(\d+):(\d+)\]")
_REGISTER = re.compile(r"\b([vsa]|ttmp)\[?\d+\]?(?![\w(])")
_NUMBER = re.compile(r"(?<![\w])-?(0x[0-9a-fA-F]+|\d+\.\d+|\d+)\b")
_SPACE = re.compile(r"[\s(),]+")
_JUMPS = ("s_branch", "s_cbranch", "s_call", "s_subvector_loop")
LABEL = ";"  # the shape of every label


def plain(text: str) -> str:
    """Return an instruction without comment and branch target."""
    bare = _COMMENT.sub("", text).strip()
    return bare.split(None, 1)[0] if bare.startswith(_JUMPS) else " ".join(bare.split())


def shape(text: str) -> str:
    """Return mnemonic, operand kinds and modifiers, without register numbers, offsets and literals."""
    bare = _RANGE.sub(lambda match: f"{match[1]}{number(match[3]) - number(match[2]) + 1}_", plain(text))
    bare = _NUMBER.sub("", _REGISTER.sub(r"\1_", bare))
    return _SPACE.sub(" ", bare).strip()


def keys_of(*programs: Sequence[Hashable]) -> list[np.ndarray]:
    """Return a number for each item of each program, the same for equal items; int64."""
    numbers: dict[Hashable, int] = {}
    return [
        np.array([numbers.setdefault(item, len(numbers)) for item in program], dtype=np.int64)
        for program in programs
    ]


_REGISTERS = re.compile(r"\b(v|s|a|ttmp)(?:\[(\d+):(\d+)\]|(\d+)\b)")

Renaming = dict[str, str]


def names(text: str) -> tuple[str, ...]:
    """Return the registers that an instruction names, in order; for a range its first register."""
    return tuple(f"{match[1]}{match[2] or match[4]}" for match in _REGISTERS.finditer(text))


def renaming(texts_a: list[str], texts_b: list[str]) -> Renaming:
    """Return the name in B of each register of A, by the majority of pairs of texts."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for (a, b), times in Counter(zip(texts_a, texts_b, strict=True)).items():
        mine, other = names(a), names(b)
        if len(mine) == len(other):
            for old, new in zip(mine, other, strict=True):
                votes[old][new] += times
    return {old: min(counts, key=lambda new: (-counts[new], new)) for old, counts in votes.items()}


def renamed(texts: Sequence[str], registers: Renaming) -> list[str]:
    """Return texts with their registers renamed as in B; unknown registers keep their names."""

    def name(match: re.Match[str]) -> str:
        file, first = match[1], match[2] or match[4]
        new = registers.get(f"{file}{first}", "")
        if not new.startswith(file):
            return match[0]
        start = number(new[len(file) :])
        last = "" if match[3] is None else f":{start + number(match[3]) - number(first)}]"
        return f"{file}[{start}{last}" if last else f"{file}{start}"

    known = {text: _REGISTERS.sub(name, text) for text in set(texts)}
    return [known[text] for text in texts]


MIN_RUN = 4  # instructions in common: shorter runs may match by chance
RUN_ALIKE = 0.75  # share of the shorter run that must be in common
MAX_RUNS = 60  # runs of a side that are compared, the longest


def pair_leftover(to_b: np.ndarray, key_a: np.ndarray, key_b: np.ndarray) -> np.ndarray:
    """Pair leftover runs, the most similar first; return the rows of A that were paired, bool.

    `to_b` (int32 [rows of A], -1 for none) is completed in place.
    """
    moved = np.zeros(len(to_b), dtype=bool)
    taken = np.isin(np.arange(len(key_b)), to_b)
    alike = []
    for rows_a, rows_b in product(_runs(to_b < 0), _runs(~taken)):
        pairs = common(key_a[rows_a].tolist(), key_b[rows_b].tolist())
        if len(pairs) >= max(MIN_RUN, RUN_ALIKE * min(len(rows_a), len(rows_b))):
            i, j = np.array(pairs).T
            alike.append((rows_a[i], rows_b[j]))
    for rows_a, rows_b in sorted(alike, key=lambda rows: -len(rows[0])):
        if (to_b[rows_a] < 0).all() and not taken[rows_b].any():
            to_b[rows_a] = rows_b
            moved[rows_a] = taken[rows_b] = True
    return moved


def _runs(is_free: np.ndarray) -> list[np.ndarray]:
    """Return the rows of the longest runs of at least MIN_RUN rows."""
    edges = np.flatnonzero(np.diff(is_free.astype(np.int8), prepend=0, append=0))
    runs = [
        np.arange(first, stop)
        for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        if stop - first >= MIN_RUN
    ]
    return sorted(runs, key=len, reverse=True)[:MAX_RUNS]


class Fate(IntEnum):
    """The fate of an instruction of A, or the origin of an instruction of B."""

    SAME = 0
    CHANGED = 1  # the same operation on other registers, numbers or places
    MOVED = 2  # paired, but its block is elsewhere in the order of blocks
    INSERTED = 3  # only in B
    REMOVED = 4  # only in A


class Alignment(Record):
    """Pairs of code rows of two programs, A and B."""

    to_b: np.ndarray  # int32 [rows of A], row of B, -1 if there is none
    to_a: np.ndarray  # int32 [rows of B], row of A, -1 if there is none
    fate_a: np.ndarray  # uint8 [rows of A], Fate
    fate_b: np.ndarray  # uint8 [rows of B], Fate
    is_same: bool  # both have the same instructions in the same order

    @cached_property
    def listing(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows (of A, of B) in the order of B, -1 where a side has none; int32.

        A removed row comes after the row that it followed in A.
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
    """Pair the rows of two programs; linear time except for a big integer a row."""
    if a.text == b.text:
        rows = np.arange(len(a), dtype=np.int32)
        same = np.zeros(len(a), dtype=np.uint8)
        return Alignment(rows, rows, same, same, True)
    texts = [[plain(text) for text in code.text] for code in (a, b)]
    left, right = _sides((a, b), texts)
    ways = [_paired(left, right, by_text=by_text, by_block=block) for by_text, block in _WAYS]
    registers = renaming(*_pairs(_best(ways, texts), texts))
    if any(old != new for old, new in registers.items()):
        others = _sides((a, b), [renamed(texts[0], registers), texts[1]])
        ways += [_paired(*others, by_text=True, by_block=block) for block in (True, False)]
    return _with_fates(_best(ways, texts), left.text, right.text)


def _sides(codes: tuple[CodeTable, CodeTable], texts: Sequence[Sequence[str]]) -> tuple[Side, Side]:
    """Both programs with these texts; all labels are alike."""
    shapes = {text: shape(text) for text in {*texts[0], *texts[1]}}
    named = [
        [LABEL if is_label else text for text, is_label in zip(own, code.is_label.tolist(), strict=True)]
        for own, code in zip(texts, codes, strict=True)
    ]
    by_text = keys_of(*named)
    by_shape = keys_of(*([shapes.get(text, LABEL) for text in own] for own in named))
    left, right = (Side(blocks(code), *keys) for code, *keys in zip(codes, by_text, by_shape, strict=True))
    return left, right


_WAYS = ((True, True), (True, False), (False, True), (False, False))  # by text, by block
Way = tuple[np.ndarray, np.ndarray]  # row of B of each row of A, int32; which rows were moved, bool


def _best(ways: list[Way], texts: list[list[str]]) -> Way:
    """The way with most paired rows; pairs that differ only in register names count twice."""
    pairs = [_pairs(way, texts) for way in ways]
    likeness = [len(a) + sum(map(eq, renamed(a, renaming(a, b)), b)) for a, b in pairs]
    return ways[likeness.index(max(likeness))]


def _paired(left: Side, right: Side, *, by_text: bool, by_block: bool) -> Way:
    """Pair rows in one way, leftover rows last."""
    to_b = np.full(len(left.text), -1, dtype=np.int32)
    moved = np.zeros(len(to_b), dtype=bool)
    keys = (left.text, right.text) if by_text else (left.shape, right.shape)
    if by_block:
        partner = np.full(len(left.blocks), -1, dtype=np.int32)  # the block of the other program
        _pair_equal(partner, left.parts(left.text), right.parts(right.text))
        _pair_equal(partner, left.parts(left.shape), right.parts(right.shape))
        _pair_alike(partner, left, right)
        for i, j in enumerate(partner.tolist()):
            if j >= 0:
                _pair(to_b, left.rows(i), right.rows(j), *keys)
        moved = _moved(to_b, left.blocks.of_row)
    else:
        _pair(to_b, np.arange(len(to_b)), np.arange(len(right.text)), *keys)
    _between(to_b, moved, left.shape, right.shape)
    moved |= pair_leftover(to_b, left.shape, right.shape)
    return to_b, moved


def _pairs(way: Way, texts: list[list[str]]) -> tuple[list[str], list[str]]:
    rows = np.flatnonzero(way[0] >= 0)
    return [texts[0][row] for row in rows.tolist()], [texts[1][row] for row in way[0][rows].tolist()]


def _pair(
    to_b: np.ndarray, rows_a: np.ndarray, rows_b: np.ndarray, key_a: np.ndarray, key_b: np.ndarray
) -> None:
    pairs = common(key_a[rows_a].tolist(), key_b[rows_b].tolist())
    if pairs:
        i, j = np.array(pairs).T
        to_b[rows_a[i]] = rows_b[j]


def _moved(to_b: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Return which rows of A belong to blocks that moved in B, with the fewest instructions moved."""
    rows = np.flatnonzero(to_b >= 0)
    moved = np.zeros(len(to_b), dtype=bool)
    groups, first, size = np.unique(block[rows], return_index=True, return_counts=True)
    stays = heaviest_rising(to_b[rows[first]].tolist(), size.tolist())
    moved[rows] = ~np.isin(block[rows], groups[stays])
    return moved


def _between(to_b: np.ndarray, moved: np.ndarray, key_a: np.ndarray, key_b: np.ndarray) -> None:
    """Pair rows between two rows that did not move, where both sides have unpaired rows."""
    fixed = np.flatnonzero((to_b >= 0) & ~moved)
    free_a, free_b = np.flatnonzero(to_b < 0), _free(to_b, len(key_b))
    gap_a, gap_b = np.searchsorted(fixed, free_a), np.searchsorted(to_b[fixed], free_b)
    for gap in np.intersect1d(gap_a, gap_b).tolist():
        rows_a = free_a[slice(*np.searchsorted(gap_a, [gap, gap + 1]))]
        rows_b = free_b[slice(*np.searchsorted(gap_b, [gap, gap + 1]))]
        _pair(to_b, rows_a, rows_b, key_a, key_b)


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
