"""Shares of pixels covered by boxes narrower than a pixel, such as the lives of short waves.

```
boxes        aaa  b  aa       a row, a pixel of 8 cycles
pixels    |        |        |
shares a    3/8      2/8      kept in 1/255, running over parts
       b    1/8
```
"""

from typing import NamedTuple

import numpy as np

from rcv_py.analysis.timeline.pixel_shares import FULL
from rcv_py.analysis.timeline.pixels import Pixels


class Parts(NamedTuple):
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
