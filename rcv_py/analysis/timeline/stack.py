"""Columns of pixels filled from the bottom, each part as high as its share.

```
shares of 1/3 and 1/3       column of 4     the next ones, whose lines begin a little lower or higher
                            .               .  .  b
                            b               b  b  b
                            b               a  b  a
                            a               a  a  a
```

A line of pixels is filled where a running share is above its place.  The places differ from column to column,
spread evenly, so that a stretch of pixels holds the shares to far less than a line: a share of 1/100 is one
pixel in 100 even where no column is that high.
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.timeline.pixel_shares import FULL
from rcv_py.analysis.timeline.pixels import Pixels

_GOLDEN = 0.6180339887498949


def stacked(shares: np.ndarray, height: int, pixels: Pixels) -> np.ndarray:
    """Return the number of the part that fills each pixel, uint8 [rows, height, width]; line 0 is the top.

    `shares` is uint8 [rows, width, parts], running; where nothing is, the number is that of all parts.
    """
    rows, width, parts = shares.shape
    planes = np.ascontiguousarray(shares.transpose(2, 0, 1)).reshape(parts, -1)
    lines = np.zeros((height, rows * width), np.uint8)
    # The place of a column depends on its time alone, so that a picture that is moved stays the same.
    column = round(pixels.window.begin / pixels.cycles_per_px) + np.arange(width)
    place = column * _GOLDEN % 1.0
    limits = [np.tile(((line + place) * (FULL / height)).astype(np.uint8), rows) for line in range(height)]
    below = np.empty(rows * width, bool)
    before, steps = planes[0], 1
    for plane in planes[1:]:
        if np.array_equal(plane, before):
            steps += 1  # a part that occurs nowhere: the next plane counts for it
            continue
        _count(lines, before, limits, below, steps)
        before, steps = plane, 1
    _count(lines, before, limits, below, steps)
    return lines[::-1].reshape(height, rows, width).transpose(1, 0, 2)


def _count(
    lines: np.ndarray, plane: np.ndarray, limits: list[np.ndarray], below: np.ndarray, steps: int
) -> None:
    """Count the parts that end below each pixel."""
    added = below.view(np.uint8)
    for line, limit in zip(lines, limits, strict=True):
        np.less_equal(plane, limit, out=below)
        if steps > 1:
            added *= np.uint8(steps)
        np.add(line, added, out=line)
