"""A window of time cut into the pixels of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.step_curve import pixel_edges
from rcv_py.model.window import TimeWindow

WIDE_PX = 3.0  # average width from which on tokens are drawn as rectangles
PARTS = 256  # sum of the weights of the buckets in a pixel


class Strip(NamedTuple):
    """The buckets that touch some pixels, counted from the first."""

    numbers: np.ndarray  # int64 [most buckets in a pixel, pixels]
    first: int  # number of the bucket at the first cycle
    last: int  # the highest of `numbers`


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """The buckets of a size that touch each pixel, with their weights."""

    numbers: np.ndarray  # int64 [most buckets in a pixel, width], from the bucket at the first cycle on
    weight: np.ndarray  # uint16, the same shape, share of the pixel in 1/PARTS
    _repeated: dict[int, np.ndarray] = field(default_factory=dict)
    _strips: dict[tuple[int, int], Strip] = field(default_factory=dict)

    @property
    def first(self) -> np.ndarray:
        """Number of the bucket at each pixel's first cycle, int64 [width]."""
        return self.numbers[0]

    def strip(self, first: int, stop: int) -> Strip:
        """The buckets that touch the pixels [first, stop)."""
        if (first, stop) not in self._strips:
            number = int(self.first[first])
            numbers = self.numbers[:, first:stop] - number
            self._strips[first, stop] = Strip(numbers, number, int(numbers[-1, -1]))
        return self._strips[first, stop]

    def weights(self, strips: Sequence[tuple[int, int]], each: int) -> np.ndarray:
        """The weights of strips [first, stop) of pixels, `each` times: uint16 [buckets, strips, n].

        Strips are concatenated into one, unless they are the same pixels: then there is one for all.
        """
        if each not in self._repeated:
            self._repeated[each] = np.repeat(self.weight, each, axis=1)
        own = strips[:1] if len(set(strips)) == 1 else strips
        parts = [self._repeated[each][:, first * each : stop * each] for first, stop in own]
        return (parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))[:, np.newaxis]


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
