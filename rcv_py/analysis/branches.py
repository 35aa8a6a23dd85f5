"""Where jumps went: from which code line to which, and how often."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.chosen import Piece, of_waves, pieces
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import TokenKind
from rcv_py.model.waves import Wave, WaveBatch

_SETTERS = ("s_set", "s_swap")  # of the program counter, if the text says `pc`


@dataclass(frozen=True, eq=False)
class Branches:
    """One row a pair of code lines between which a jump went, sorted by (source, target)."""

    source: np.ndarray  # int32, code row of the branch
    target: np.ndarray  # int32, code row that ran next
    taken: np.ndarray  # int64, times it jumped there
    not_taken: np.ndarray  # int64, times the branch fell through (the same for all its targets)

    def __len__(self) -> int:
        return len(self.source)


def branches(
    waves: Wave | Iterable[WaveBatch], code: CodeTable, rows: Collection[int] | None = None
) -> Branches:
    """Return the jumps of one wave, or of the waves of batches whose index row is in `rows` (None: all).

    A jump is a token of kind JUMP, or one that writes the program counter; it went to the line of the next
    token of its wave.
    """
    chosen = [of_waves([waves])] if isinstance(waves, Wave) else pieces(waves, rows)
    jumps = [np.zeros(0, dtype=np.int64)]
    not_taken = np.zeros(len(code), dtype=np.int64)
    setters = _setters(code)
    for piece in chosen:
        jumps.append(_jumps(piece, setters))
        passed = piece.line[(piece.kind == TokenKind.NEXT) & (piece.line >= 0)]
        not_taken += np.bincount(passed, minlength=len(code))
    pairs, taken = np.unique(np.concatenate(jumps), return_counts=True)
    source = (pairs >> 32).astype(np.int32)
    target = (pairs & 0xFFFFFFFF).astype(np.int32)
    return Branches(source, target, taken.astype(np.int64), not_taken[source])


def _setters(code: CodeTable) -> np.ndarray:
    return np.array([text.startswith(_SETTERS) and "pc" in text for text in code.text], dtype=bool)


def _jumps(piece: Piece, setters: np.ndarray) -> np.ndarray:
    """Return source << 32 | target of each jump."""
    is_jump = (piece.kind == TokenKind.JUMP) & (piece.line >= 0)
    if setters.any():
        is_jump |= setters[piece.line] & (piece.line >= 0)
    at = np.flatnonzero(is_jump & ~piece.is_last)
    target = piece.line[at + 1].astype(np.int64)
    return (piece.line[at].astype(np.int64) << 32 | target)[target >= 0]
