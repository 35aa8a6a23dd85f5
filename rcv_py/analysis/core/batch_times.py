"""Times and owners of all tokens of a batch, as columns beside those the batch has already."""

from __future__ import annotations

import numpy as np

from rcv_py.model.waves import WaveBatch


def batch_starts(batch: WaveBatch) -> np.ndarray:
    """Return the start of every token of a batch in aligned cycles, int64, in the order of its columns."""
    if not batch.waves:
        return np.zeros(0, dtype=np.int64)
    base = np.array([wave.tokens.base for wave in batch.waves], dtype=np.int64)
    offsets = np.concatenate([wave.tokens.offset for wave in batch.waves])
    return offsets + np.repeat(base, np.diff(batch.first))


def batch_owners(batch: WaveBatch) -> np.ndarray:
    """Return the place in `batch.waves` of the wave each token belongs to, int32."""
    return np.repeat(np.arange(len(batch.waves), dtype=np.int32), np.diff(batch.first))
