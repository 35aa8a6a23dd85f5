"""Sums over many spans of tokens at once, which may overlap: what is between two cuts is added up once."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.chosen import Piece
from rcv_py.model.kinds import KIND_COUNT, TokenKind


class SpanSums:
    """Sums of token columns over spans whose ends are among the given cuts (rows of the piece)."""

    def __init__(self, piece: Piece, cuts: np.ndarray) -> None:
        cut = np.sort(np.concatenate([[0, len(piece)], cuts]).astype(np.int64), kind="stable")
        self._cut = cut[np.append(True, cut[1:] != cut[:-1])]
        self._segment = np.repeat(np.arange(len(self._cut) - 1), np.diff(self._cut))
        kind = np.where(piece.kind < KIND_COUNT, piece.kind, TokenKind.NONE)
        size = (len(self._cut) - 1) * KIND_COUNT
        by_kind = np.bincount(self._segment * KIND_COUNT + kind, piece.duration, size)
        self._kinds = _before(by_kind.astype(np.int64).reshape(-1, KIND_COUNT))

    def sums(self, column: np.ndarray, first: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return the sum of a column over the tokens of each span, int64."""
        whole = _before(np.bincount(self._segment, column, len(self._cut) - 1).astype(np.int64))
        return whole[np.searchsorted(self._cut, stop)] - whole[np.searchsorted(self._cut, first)]

    def kinds(self, first: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return the cycles (stall and busy) of each kind of token in each span, int64 [spans, kinds]."""
        low, high = (np.searchsorted(self._cut, rows) for rows in (first, stop))
        return self._kinds[high] - self._kinds[low]


def _before(sums: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros((1, *sums.shape[1:]), dtype=np.int64), np.cumsum(sums, axis=0)])
