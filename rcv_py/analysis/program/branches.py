"""Which code lines may jump, where to by their text, and where jumps went when they ran.

A direct branch says how far it jumps: a signed 16-bit number of words of 4 bytes from the next instruction,
or the name of a label.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from rcv_py.analysis.core.token_columns import TokenColumns, of_waves, token_columns
from rcv_py.base.numbers import operand
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import TokenKind
from rcv_py.model.waves import Wave, WaveBatch

_WORD = 4  # bytes; a branch is one word
_ENDS = ("s_branch", "s_endpgm", "s_setpc", "s_rfe")  # nothing behind them runs next
_JUMPS = ("s_branch", "s_cbranch", "s_call", "s_setpc", "s_swappc", "s_subvector_loop", "s_rfe")
_COMMENT = re.compile(r"\s*(//|;).*$")


@dataclass(frozen=True, eq=False)
class Flow:
    """One row a code line."""

    is_branch: np.ndarray  # bool, it may jump
    falls: np.ndarray  # bool, the line behind it may run next
    target: np.ndarray  # int32, code row a direct branch jumps to; -1: it is none, or the text does not tell


_KNOWN: WeakKeyDictionary[CodeTable, Flow] = (
    WeakKeyDictionary()
)  # blocks, loops, populations ask for the same


def flow(code: CodeTable) -> Flow:
    """Return how control may leave each line, by texts and addresses alone; found once a table."""
    found = _KNOWN.get(code)
    if found is None:
        found = _KNOWN[code] = _flow(code)
    return found


def _flow(code: CodeTable) -> Flow:
    n = len(code)
    is_branch = np.array([text.startswith(_JUMPS) for text in code.text], dtype=bool) & ~code.is_label
    ends = np.array([text.startswith(_ENDS) for text in code.text], dtype=bool) & ~code.is_label
    target = np.full(n, -1, dtype=np.int32)
    places = _Places(code)
    for row in np.flatnonzero(is_branch).tolist():
        target[row] = places.of(row)
    continues = ~ends
    for column in (is_branch, continues, target):
        column.setflags(write=False)  # several analyses share them
    return Flow(is_branch, continues, target)


class _Places:
    """Finds rows by address or by label, inside the code object of the branch."""

    def __init__(self, code: CodeTable) -> None:
        self._code = code
        rows = np.flatnonzero(~code.is_label)
        address, objects = code.address[rows].astype(np.int64).tolist(), code.codeobj[rows].tolist()
        pairs = zip(objects, address, rows.tolist(), strict=True)
        self._at = {(codeobj, place): row for codeobj, place, row in reversed(list(pairs))}
        self._named = {
            (int(code.codeobj[row]), _label(code.text[row])): row
            for row in np.flatnonzero(code.is_label)[::-1].tolist()
        }

    def of(self, row: int) -> int:
        """The row a branch jumps to, -1 if its text does not tell."""
        words = _COMMENT.sub("", self._code.text[row]).replace(",", " ").split()
        last = words[-1] if len(words) > 1 else ""
        codeobj = int(self._code.codeobj[row])
        distance = operand(last)
        if distance is None:
            return self._named.get((codeobj, last.strip("<>")), -1)
        if not -0x8000 <= distance <= 0xFFFF:
            return -1
        distance -= 0x10000 if distance >= 0x8000 else 0
        following = int(self._code.address[row]) + _WORD
        if not self._is_dense(row, codeobj, following):
            return -1
        return self._at.get((codeobj, following + _WORD * distance), -1)

    def _is_dense(self, row: int, codeobj: int, following: int) -> bool:
        """Whether addresses are those of the machine: the line behind the branch is a word further."""
        later = row + 1
        while later < len(self._code) and self._code.is_label[later]:
            later += 1
        is_last = later >= len(self._code) or int(self._code.codeobj[later]) != codeobj
        return is_last or (codeobj, following) in self._at


def _label(text: str) -> str:
    return text.strip().lstrip(";").strip().rstrip(":").strip()


_SETTERS = ("s_set", "s_swap")  # of the program counter, if the text says `pc`


def _nothing() -> np.ndarray:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Branches:
    """One row a pair of code lines between which a jump went, sorted by (source, target).

    The last three columns have one row a code line and tell of all its executions, those too whose next token
    is not recorded.
    """

    source: np.ndarray  # int32, code row of the branch
    target: np.ndarray  # int32, code row that ran next
    taken: np.ndarray  # int64, times it jumped there
    not_taken: np.ndarray  # int64, times the branch fell through (the same for all its targets)
    jumped: np.ndarray = field(default_factory=_nothing)  # int64 [code rows], times it jumped anywhere
    passed: np.ndarray = field(default_factory=_nothing)  # int64 [code rows], times it fell through
    ran: np.ndarray = field(default_factory=_nothing)  # int64 [code rows], executions

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, eq=False)
class BranchTable:
    """One row a branch instruction, in program order, whether it ran or not."""

    row: np.ndarray  # int32, code row
    target: np.ndarray  # int32, code row it jumps to by its text, else where it jumped most; -1 if unknown
    taken: np.ndarray  # int64, times it jumped
    not_taken: np.ndarray  # int64, times it fell through
    elsewhere: np.ndarray  # int64, jumps to another row than `target`

    def __len__(self) -> int:
        return len(self.row)


def branches(
    waves: Wave | Iterable[WaveBatch], code: CodeTable, rows: Collection[int] | None = None
) -> Branches:
    """Return the jumps of one wave, or of the waves of batches whose index row is in `rows` (None: all).

    A jump is a token of kind JUMP, or one that writes the program counter; it went to the line of the next
    token of its wave.  Tokens that matched no code line count nowhere.
    """
    chosen = [of_waves([waves])] if isinstance(waves, Wave) else token_columns(waves, rows)
    n, setters = len(code), _setters(code)
    pairs = [_nothing()]
    jumped, passed, ran = (np.zeros(n, dtype=np.int64) for _ in range(3))
    for piece in chosen:
        known = (piece.line >= 0) & (piece.line < n)
        is_jump = known & (piece.kind == TokenKind.JUMP)
        if setters.any():
            is_jump |= known & setters[np.where(known, piece.line, 0)]
        pairs.append(_pairs(piece, is_jump, n))
        jumped += np.bincount(piece.line[is_jump], minlength=n)
        passed += np.bincount(piece.line[known & (piece.kind == TokenKind.NEXT)], minlength=n)
        ran += np.bincount(piece.line[known], minlength=n)
    pair, taken = np.unique(np.concatenate(pairs), return_counts=True)
    source = (pair >> 32).astype(np.int32)
    target = (pair & 0xFFFFFFFF).astype(np.int32)
    return Branches(source, target, taken.astype(np.int64), passed[source], jumped, passed, ran)


def branch_table(found: Branches, is_branch: np.ndarray, target: np.ndarray) -> BranchTable:
    """Return one row for each code line that may jump (`is_branch`) or was seen to.

    `target` are the rows that the texts tell (-1: unknown), see `analysis.flow`.
    """
    n = len(is_branch)
    jumped = found.jumped if len(found.jumped) == n else np.zeros(n, dtype=np.int64)
    passed = found.passed if len(found.passed) == n else np.zeros(n, dtype=np.int64)
    rows = np.flatnonzero(is_branch | (jumped > 0) | (passed > 0)).astype(np.int32)
    goal = target.astype(np.int32).copy()
    order = np.argsort(found.taken, kind="stable")  # the most frequent one is written last and stays
    unknown = goal[found.source[order]] < 0
    goal[found.source[order][unknown]] = found.target[order][unknown]
    there = np.zeros(n, dtype=np.int64)
    same = goal[found.source] == found.target
    np.add.at(there, found.source[same], found.taken[same])
    seen = np.zeros(n, dtype=np.int64)
    np.add.at(seen, found.source, found.taken)
    return BranchTable(rows, goal[rows], jumped[rows], passed[rows], (seen - there)[rows])


def _setters(code: CodeTable) -> np.ndarray:
    return np.array([text.startswith(_SETTERS) and "pc" in text for text in code.text], dtype=bool)


def _pairs(piece: TokenColumns, is_jump: np.ndarray, n: int) -> np.ndarray:
    """Return source << 32 | target of each jump whose target is known."""
    at = np.flatnonzero(is_jump & ~piece.is_last)
    target = piece.line[at + 1].astype(np.int64)
    return (piece.line[at].astype(np.int64) << 32 | target)[(target >= 0) & (target < n)]
