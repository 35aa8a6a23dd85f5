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

Boxes narrower than a pixel, such as the lives of short waves, fill a share of it:

```
boxes        aaa  b  aa       a row, a pixel of 8 cycles
pixels    |        |        |
shares a    3/8      2/8      kept in 1/255, running over parts
       b    1/8
```
"""

import numpy as np

from rcv_py.analysis.timeline.pixels import FULL, Pixels
from rcv_py.base.record import Value

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


class Parts(Value):
    """Boxes of rows, each a part of its pixels' time; boxes of a row do not overlap."""

    row: np.ndarray  # int [boxes], from 0 on
    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles
    part: np.ndarray  # int, from 0 on


def box_shares(boxes: Parts, shape: tuple[int, int], pixels: Pixels) -> np.ndarray:
    """Return running shares for `stacked`, uint8 [rows, width, parts]; `shape` is rows and parts."""
    rows, parts = shape
    width = pixels.width_px + 2  # an edge after the last pixel, and another pixel
    steps = np.zeros(rows * parts * width)
    first = (boxes.row.astype(np.int64) * parts + boxes.part) * width
    for time, sign in ((boxes.begin, 1.0), (boxes.end, -1.0)):
        inside = np.clip(time.astype(np.int64) - pixels.window.begin, 0, pixels.window.width)
        whole, rest = np.divmod(inside * pixels.width_px, pixels.window.width)
        later = rest / pixels.window.width * sign  # from the begin of its pixel on
        steps += np.bincount(first + whole, sign - later, len(steps))
        steps += np.bincount(first + whole + 1, later, len(steps))
    share = np.cumsum(steps.reshape(rows, parts, width), axis=2)[:, :, : pixels.width_px]
    running = np.cumsum(share, axis=1) * FULL
    return np.minimum(np.rint(running), FULL).astype(np.uint8).transpose(0, 2, 1)
