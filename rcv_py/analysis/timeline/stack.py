"""Columns of pixels filled from the bottom, each part with a height equal to its share.

```
shares of 1/3 and 1/3       column of 4     next columns, whose lines begin slightly lower or higher
                            .               .  .  b
                            b               b  b  b
                            b               a  b  a
                            a               a  a  a
```

A line of pixels is filled where a running share is above its threshold.  Thresholds vary evenly from column
to column (dithering), so that a run of pixels shows shares much finer than a line: a share of 1/100 is one
pixel in 100 at any column height.
"""

import numpy as np

from rcv_py.analysis.timeline.pixel_shares import FULL
from rcv_py.analysis.timeline.pixels import Pixels

_GOLDEN = 0.6180339887498949
_CACHED = 1 << 19  # pixels that are processed at once


def stacked(shares: np.ndarray, height: int, pixels: Pixels, lowest: int = 0) -> np.ndarray:
    """Return the part that fills each pixel, uint8 [rows, height, width]; line 0 is the top.

    `shares` is uint8 [rows, width, parts], running; an empty pixel gets the number of parts.  Numbers count
    from `lowest`.
    """
    rows, width, parts = shares.shape
    planes = shares.transpose(2, 0, 1).reshape(parts, -1)
    # The threshold of a column depends only on its time, so that panning does not change the picture.
    column = round(pixels.window.begin / pixels.cycles_per_px) + np.arange(width)
    place = np.arange(height)[:, np.newaxis] + column * _GOLDEN % 1.0
    at_once = min(rows, max(1, _CACHED // max(1, width * height)))
    limits = np.tile((place * (FULL / height)).astype(np.uint8), at_once)
    lines = np.full((height, rows * width), lowest, np.uint8)
    for first in range(0, rows * width, max(1, at_once * width)):
        some = slice(first, first + at_once * width)
        _count(planes[:, some], limits, lines[:, some])
    return lines[::-1].reshape(height, rows, width).transpose(1, 0, 2)


def _count(planes: np.ndarray, limits: np.ndarray, lines: np.ndarray) -> None:
    """Count the parts that end below each pixel of some rows; uint8 [parts, n], [height, n], [height, n]."""
    limits, steps = limits[:, : lines.shape[1]], 1
    for plane, after in zip(planes, [*planes[1:], None], strict=True):
        if after is not None and np.array_equal(plane, after):
            steps += 1  # an absent part: the next plane counts for it
            continue
        below = (plane <= limits).view(np.uint8)
        lines += below if steps == 1 else below * np.uint8(steps)
        steps = 1
