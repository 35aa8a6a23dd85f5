"""A window of time cut into the pixels of a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rcv_py.analysis.core.step_curve import pixel_edges
from rcv_py.model.window import TimeWindow

WIDE_PX = 3.0  # average width of a token from which on it is drawn as a rectangle
PARTS = 256  # what the weights of the buckets in a pixel sum to


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """The buckets of a size that touch each pixel: `first[i]` and those after it, with their weights."""

    first: np.ndarray  # int64 [width], number of the bucket at the pixel's first cycle
    weight: np.ndarray  # uint16 [most buckets in a pixel, width], share of the pixel in 1/PARTS
    _words: dict[int, np.ndarray] = field(default_factory=dict)

    def words(self, kind: type[np.unsignedinteger], each: int) -> np.ndarray:
        """The weights in a wider type, each so many times."""
        if each not in self._words:
            self._words[each] = np.repeat(self.weight.astype(kind), each, axis=1)
        return self._words[each]


@dataclass(frozen=True, eq=False)
class Pixels:
    """A window cut into pixels: pixel i covers the cycles edges[i] up to edges[i + 1]."""

    window: TimeWindow
    width_px: int
    wide_px: float = WIDE_PX  # average width of a token from which on it is drawn one by one
    _buckets: dict[int, Buckets] = field(default_factory=dict)

    @cached_property
    def edges(self) -> np.ndarray:
        """int64 [width + 1], cycles."""
        return pixel_edges(self.window, self.width_px)

    @property
    def cycles_per_px(self) -> float:
        """How many cycles a pixel stands for."""
        return self.window.width / self.width_px

    def at(self, time: int) -> int:
        """The pixel that holds a cycle; may lie outside."""
        return ((time - self.window.begin + 1) * self.width_px - 1) // self.window.width

    def part(self, begin: int, end: int) -> tuple[int, int]:
        """The pixels [first, stop) that a span touches; at least one if it touches the window."""
        after = -(-(begin - self.window.begin) * self.width_px // self.window.width)
        first = min(max(min(self.at(begin), after), 0), self.width_px)
        return first, min(max(self.at(max(begin, end - 1)) + 1, first), self.width_px)

    def buckets(self, bits: int) -> Buckets:
        """Which buckets of 2^bits cycles touch each pixel, and for what share of it; the shares sum to 1."""
        if bits not in self._buckets:
            begin, end = self.edges[:-1], np.maximum(self.edges[1:], self.edges[:-1] + 1)
            first = begin >> bits
            most = int((((end - 1) >> bits) - first).max()) + 1
            ends = np.stack([np.minimum((first + 1 + k) << bits, end) for k in range(most)])
            reached = (ends - begin) * PARTS // (end - begin)
            self._buckets[bits] = Buckets(first, np.diff(reached, axis=0, prepend=0).astype(np.uint16))
        return self._buckets[bits]
