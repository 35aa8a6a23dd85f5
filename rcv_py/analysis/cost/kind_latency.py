"""Cycles of each code line by the kind of its tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.chosen import pieces
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.waves import WaveBatch


@dataclass(frozen=True, eq=False)
class KindLatency:
    """Sums over tokens."""

    cycles: np.ndarray  # int64 [code rows, KIND_COUNT], stall and busy


def kind_latency(batches: Iterable[WaveBatch], n: int) -> KindLatency:
    """Return the latency of each of `n` code lines by TokenKind.

    A branch is of two kinds: taken and not taken.  Kinds without a name count as NONE.
    """
    total = np.zeros(n * KIND_COUNT, dtype=np.int64)
    for piece in pieces(batches):
        known = (piece.line >= 0) & (piece.line < n)
        kind = np.where(piece.kind < KIND_COUNT, piece.kind, 0)[known]
        place = piece.line[known].astype(np.int64) * KIND_COUNT + kind
        weights = piece.duration[known].astype(np.float64)
        total += np.bincount(place, weights, minlength=len(total)).astype(np.int64)
    return KindLatency(total.reshape(n, KIND_COUNT))
