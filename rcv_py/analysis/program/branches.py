"""Where jumps went: from which code line to which, how often, and how often a branch did not jump."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np

from rcv_py.analysis.core.token_columns import Piece, of_waves, pieces
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import TokenKind
from rcv_py.model.waves import Wave, WaveBatch

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
    chosen = [of_waves([waves])] if isinstance(waves, Wave) else pieces(waves, rows)
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


def _pairs(piece: Piece, is_jump: np.ndarray, n: int) -> np.ndarray:
    """Return source << 32 | target of each jump whose target is known."""
    at = np.flatnonzero(is_jump & ~piece.is_last)
    target = piece.line[at + 1].astype(np.int64)
    return (piece.line[at].astype(np.int64) << 32 | target)[(target >= 0) & (target < n)]
