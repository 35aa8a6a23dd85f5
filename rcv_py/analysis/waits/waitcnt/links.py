"""The result of a replay: who waited for whom, token by token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Part = tuple[np.ndarray, np.ndarray, np.ndarray]  # tokens of operations, begin and stop for each row


@dataclass(frozen=True, eq=False)
class WaitLinks:
    """One row for each executed wait and counter that released something, in order of execution.

    Tokens are rows of the columns of the batch.  Row i waited for `producers[first[i]:first[i + 1]]`, by our
    rules in order of issue.
    """

    wave: np.ndarray  # int32 [n], place in `batch.waves`
    token: np.ndarray  # int64 [n], the wait
    counter: np.ndarray  # uint8 [n], number in `effects.COUNTERS`
    left: np.ndarray  # int32 [n], how many operations were allowed to stay outstanding
    first: np.ndarray  # int64 [n + 1]
    producers: np.ndarray  # int64, each token once a row
    newest: np.ndarray  # int64 [n], the last issued of the producers; -1 if there is none
    is_ordered: np.ndarray  # bool [n], what was outstanding comes back in order, so the newest came last

    def __len__(self) -> int:
        return len(self.token)

    @property
    def row_of(self) -> np.ndarray:
        """The row each producer belongs to, int64."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def of(self, row: int) -> np.ndarray:
        """The producers of one row."""
        return self.producers[self.first[row] : self.first[row + 1]]


def gathered(parts: list[Part], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (first, producers) of rows that each hold a range of every part, one part after the other."""
    counts = [np.maximum(stop - begin, 0) for _, begin, stop in parts]
    whole = np.sum(counts, axis=0) if counts else np.zeros(rows, dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(whole)]).astype(np.int64)
    producers = np.empty(int(first[-1]), dtype=np.int64)
    at = first[:-1].copy()
    for (ops, begin, _), count in zip(parts, counts, strict=True):
        inside = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        producers[np.repeat(at, count) + inside] = ops[np.repeat(begin, count) + inside]
        at += count
    return first, producers


def without_repeats(first: np.ndarray, producers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Name an operation that raised a counter twice, so stands there twice in a row, once."""
    keep = np.ones(len(producers), dtype=bool)
    keep[1:] = producers[1:] != producers[:-1]
    if keep.all():
        return first, producers
    keep[first[:-1][np.diff(first) > 0]] = True
    return np.concatenate([[0], np.cumsum(keep)])[first], producers[keep]
