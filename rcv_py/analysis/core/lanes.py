"""Sub-rows (lanes) for spans that overlap, so that no span hides another.

```
spans   aaaaaaa            lane 0  aaaaaaa  ddd
           bbbbbb          lane 1     bbbbbb
             c   ddd       lane 2       c
```
"""

from itertools import pairwise

import numpy as np

MAX_LANES = 8  # spans that do not fit go into the last lane
FEW_GROUPS = 16  # up to this many groups, handling each alone is as fast
MAX_CYCLES = 1 << 61  # in all rows together


def lanes(start: np.ndarray, end: np.ndarray, slack: int = 0) -> np.ndarray | None:
    """Return the lowest free lane of each span, uint8, or None if nothing overlaps.

    `start` must be sorted.  An overlap of at most `slack` cycles does not count: on gfx9 a token may
    start 4 cycles before its predecessor ends, which is trimmed when drawn.
    """
    start, end = np.asarray(start, np.int64), np.asarray(end, np.int64) - slack
    if len(start) < 2 or not np.any(start[1:] < np.maximum.accumulate(end)[:-1]):
        return None
    lane = np.zeros(len(start), np.uint8)
    # Rows of the spans that overlap any other span
    latest = np.maximum.accumulate(end)
    group = np.cumsum(np.append(True, start[1:] >= latest[:-1]))
    left = np.flatnonzero(np.bincount(group)[group] > 1)
    for number in range(1, MAX_LANES):
        left = np.delete(left, _chain(start[left], end[left]))
        if not len(left):
            break
        lane[left] = number
    return lane


def lanes_of_rows(first: np.ndarray, start: np.ndarray, end: np.ndarray, slack: int = 0) -> np.ndarray:
    """Assign lanes as `lanes` does, for many rows of spans; uint8, 0 where nothing overlaps.

    Row i has the spans `first[i]:first[i + 1]`, sorted by start.  Groups of overlapping spans are processed
    in parallel: the n-th spans of all groups get their lanes together.
    """
    start, end = np.asarray(start, np.int64), np.asarray(end, np.int64) - slack
    lane = np.zeros(len(start), np.uint8)
    count = np.diff(first)
    own = first[:-1][count > 0]
    low, high = np.minimum.reduceat(start, own), np.maximum.reduceat(np.maximum(start, end), own)
    if np.sum(high.astype(float) - low) > MAX_CYCLES:  # not plausible
        for begin, stop in pairwise(first.tolist()):
            found = lanes(start[begin:stop], end[begin:stop])
            lane[begin:stop] = 0 if found is None else found
        return lane
    moved = np.repeat(np.cumsum(high - low) - high, count[count > 0])  # a row begins where the last one ends
    start, end = start + moved, end + moved
    latest = np.maximum.accumulate(end)
    heads = np.flatnonzero(np.append(True, start[1:] >= latest[:-1]))
    length = np.diff(heads, append=len(start))
    _fit(lane, start, end, heads[length > 1], length[length > 1])
    return lane


def _fit(lane: np.ndarray, start: np.ndarray, end: np.ndarray, heads: np.ndarray, length: np.ndarray) -> None:
    """Assign the lowest free lane to each span of the groups that begin at `heads`."""
    longest = np.argsort(-length, kind="stable")
    heads, length = heads[longest], length[longest]
    until = np.full((len(heads), MAX_LANES), np.iinfo(np.int64).min)
    step = 0
    while (groups := int(np.searchsorted(-length, -step))) >= FEW_GROUPS:
        rows = heads[:groups] + step
        is_free = until[:groups] <= start[rows][:, None]
        is_free[:, -1] = True
        taken = is_free.argmax(axis=1)
        lane[rows] = taken
        until[np.arange(groups), taken] = end[rows]
        step += 1
    for head, stop in zip(heads[:groups].tolist(), (heads + length)[:groups].tolist(), strict=True):
        lane[head:stop] = lanes(start[head:stop], end[head:stop])


def _chain(start: np.ndarray, end: np.ndarray) -> list[int]:
    """Return the spans of one lane: the first, then always the first that starts after the previous end."""
    after = np.searchsorted(start, end, side="left")
    following = np.maximum(after, np.arange(1, len(start) + 1)).tolist()
    row, chain = 0, []
    while row < len(following):
        chain.append(row)
        row = following[row]
    return chain
