"""Which waves of a large capture are read: whole shader engines, so that waves of a SIMD stay together."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from rcv_py.analysis.core.token_columns import batch_of
from rcv_py.model.waves import WaveBatch, WaveIndex

ENOUGH_BYTES = 48 << 20  # of wave files: about one and a half million tokens


def chosen_rows(index: WaveIndex, enough: int = ENOUGH_BYTES) -> list[int]:
    """Return index rows of the waves to look at: all, if their files are not larger than `enough` bytes.

    Else those of some shader engines, at least one: the engines whose mean wave lives most like the mean of
    all, for as long as they fit.
    """
    if int(index.size.sum()) <= enough:
        return list(range(len(index)))
    engines, of = np.unique(index.se, return_inverse=True)
    count = np.bincount(of)
    mean = np.bincount(of, index.end - index.begin) / count
    size = np.bincount(of, index.size)
    whole = float((index.end - index.begin).mean())
    order = np.argsort(np.abs(mean - whole), kind="stable")
    fits = max(1, int(np.searchsorted(np.cumsum(size[order]), enough, side="right")))
    return np.flatnonzero(np.isin(index.se, engines[order[:fits]])).tolist()


def only(batches: Iterable[WaveBatch], rows: Collection[int]) -> tuple[WaveBatch, ...]:
    """Return the batches with only the waves whose index row is in `rows`."""
    found = []
    for batch in batches:
        keep = [wave for wave in batch.waves if wave.row in rows]
        if len(keep) == len(batch.waves):
            found.append(batch)
        elif keep:
            found.append(batch_of(keep, tuple(gone for gone in batch.missing if gone[0] in rows)))
    return tuple(found)
