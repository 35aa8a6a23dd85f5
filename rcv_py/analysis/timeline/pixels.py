"""A window of time cut into the pixels of a picture."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.step_curve import pixel_edges
from rcv_py.model.window import TimeWindow

WIDE_PX = 3.0  # average width from which on tokens are drawn as rectangles
PARTS = 256  # sum of the weights of the buckets in a pixel


class Buckets(NamedTuple):
    """The buckets of a size that touch each pixel, with their weights."""

    numbers: np.ndarray  # int64 [most buckets in a pixel, width], from the bucket at the first cycle on
    weight: np.ndarray  # uint16, the same shape, share of the pixel in 1/PARTS


@dataclass(frozen=True, eq=False)
class Pixels:
    """A window cut into pixels: pixel i covers the cycles edges[i] up to edges[i + 1]."""

    window: TimeWindow
    width_px: int
    _buckets: dict[int, Buckets] = field(default_factory=dict)

    @cached_property
    def edges(self) -> np.ndarray:
        """int64 [width + 1], cycles."""
        return pixel_edges(self.window, self.width_px)

    @property
    def cycles_per_px(self) -> float:
        """Cycles of a pixel."""
        return self.window.width / self.width_px

    def at(self, time: int) -> int:
        """The pixel that holds a cycle; may lie outside the picture."""
        return ((time - self.window.begin + 1) * self.width_px - 1) // self.window.width

    def part(self, begin: int, end: int) -> tuple[int, int]:
        """The pixels [first, stop) that a span touches; at least one if it touches the window."""
        if begin <= self.window.begin and end >= self.window.end:
            return 0, self.width_px
        after = -(-(begin - self.window.begin) * self.width_px // self.window.width)
        first = min(max(min(self.at(begin), after), 0), self.width_px)
        return first, min(max(self.at(max(begin, end - 1)) + 1, first), self.width_px)

    def buckets(self, bits: int) -> Buckets:
        """The buckets of 2^bits cycles that touch each pixel, and their shares of it, which sum to 1."""
        if bits not in self._buckets:
            begin, end = self.edges[:-1], np.maximum(self.edges[1:], self.edges[:-1] + 1)
            first = begin >> bits
            most = int((((end - 1) >> bits) - first).max()) + 1
            ends = np.stack([np.minimum((first + 1 + k) << bits, end) for k in range(most)])
            reached = (ends - begin) * PARTS // (end - begin)
            weight = np.diff(reached, axis=0, prepend=0).astype(np.uint16)
            self._buckets[bits] = Buckets(first + np.arange(most)[:, None], weight)
        return self._buckets[bits]
