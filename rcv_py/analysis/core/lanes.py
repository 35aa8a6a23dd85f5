"""Sub-rows for spans that overlap, so that none is painted over another.

```
spans   aaaaaaa            lane 0  aaaaaaa  ddd
           bbbbbb          lane 1     bbbbbb
             c   ddd       lane 2       c
```
"""

from __future__ import annotations

import numpy as np

MAX_LANES = 8  # lanes; what does not fit is put into the last one


def lanes(start: np.ndarray, end: np.ndarray, slack: int = 0) -> np.ndarray | None:
    """Return the lowest free lane of each span, uint8, or None if nothing overlaps.

    `start` must be sorted.  An overlap of at most `slack` cycles does not count: on gfx9 a token may
    start 4 cycles before its predecessor ends, which is trimmed when drawn.
    """
    start, end = np.asarray(start, np.int64), np.asarray(end, np.int64) - slack
    if len(start) < 2 or not np.any(start[1:] < np.maximum.accumulate(end)[:-1]):
        return None
    lane = np.zeros(len(start), np.uint8)
    left = _crowded(start, end)
    for number in range(1, MAX_LANES):
        left = np.delete(left, _chain(start[left], end[left]))
        if not len(left):
            break
        lane[left] = number
    return lane


def _crowded(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Rows of the spans that overlap any other."""
    latest = np.maximum.accumulate(end)
    group = np.cumsum(np.append(True, start[1:] >= latest[:-1]))
    return np.flatnonzero(np.bincount(group)[group] > 1)


def _chain(start: np.ndarray, end: np.ndarray) -> list[int]:
    """Return the spans one lane takes: the first, then always the first that starts after its end."""
    after = np.searchsorted(start, end, side="left")
    following = np.maximum(after, np.arange(1, len(start) + 1)).tolist()
    row, chain = 0, []
    while row < len(following):
        chain.append(row)
        row = following[row]
    return chain
