"""What a flamegraph view shows, and where on the screen each frame of it is: numbers only, no Qt."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from rcv_py.analysis.flame.flame import FlameTree, Metric, What
from rcv_py.analysis.flame.flame_layout import FlameLayout
from rcv_py.analysis.flame.flame_text import full_name, source_text
from rcv_py.analysis.program.blocks import blocks
from rcv_py.model.trace import Trace

Row = TypeVar("Row", int, np.ndarray)

ROW_PX = 20
GAP_PX = 1  # between boxes


@dataclass(frozen=True, eq=False)
class Change:
    """What the frames of a differential flamegraph cost in the baseline, and how they are coloured."""

    before: np.ndarray  # int64
    shade: np.ndarray  # int64, -3 far fewer, 0 within noise, 3 far more


@dataclass(frozen=True, eq=False)
class FlameScene:
    """A tree with its boxes and the texts on them."""

    trace: Trace
    tree: FlameTree
    boxes: FlameLayout
    labels: tuple[str, ...]
    metric: Metric
    place: int = -1  # the frame in the middle of a sandwich
    change: Change | None = None  # of a differential flamegraph

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def low(self) -> int:
        """The lowest row; below zero in a sandwich."""
        return int(self.boxes.row.min(initial=0))

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.boxes.row.max(initial=-1)) - self.low + 1

    @cached_property
    def by_row(self) -> list[np.ndarray]:
        """The visible frames of each row from left to right, the lowest row first."""
        order = np.lexsort((self.boxes.begin, self.boxes.row))
        order = order[self.boxes.width[order] > 0]
        ends = np.searchsorted(self.boxes.row[order], np.arange(self.low, self.low + self.rows + 1))
        return [order[first:stop] for first, stop in pairwise(ends)]

    def label(self, frame: int, letters: int) -> str:
        """The text on a frame; without room for it, of a source line on its own file only the number."""
        text, tree, parent = self.labels[frame], self.tree, int(self.tree.parent[frame])
        if len(text) <= letters or parent < 0 or tree.what[frame] != What.LINE:
            return text
        is_same_file = tree.first[parent] == tree.first[frame]
        return f":{int(tree.second[frame]) or '?'}" if is_same_file else text

    @cached_property
    def search_texts(self) -> tuple[str, ...]:
        """What a search looks at, a frame: its label, its whole name, its source text."""
        texts = list(self.labels)
        for at in np.flatnonzero(self.tree.what != What.CODE).tolist():
            parts = (texts[at], self.full_name(at), source_text(self.trace, self.tree, at))
            texts[at] = "\n".join(parts)
        return tuple(texts)

    def full_name(self, frame: int) -> str:
        """The unabridged name of a frame."""
        return full_name(self.trace, self.tree, frame, self.labels[frame])

    def code_rows(self, frame: int) -> tuple[int, int] | None:
        """The code rows [first, stop) of a kernel or block; None for other frames."""
        what, second, code = int(self.tree.what[frame]), int(self.tree.second[frame]), self.trace.code
        if what == What.KERNEL:
            return code.kernels[second].first, code.kernels[second].stop
        if what == What.BLOCK:
            table = blocks(code)
            return second, int(table.stop[table.of_row[second]])
        return None

    def children(self, frame: int) -> np.ndarray:
        """The visible frames on a frame, heaviest first."""
        found = np.flatnonzero((self.tree.parent == frame) & (self.boxes.width > 0))
        return found[np.argsort(-self.boxes.width[found], kind="stable")]

    def frame_at(self, row: int, at: float) -> int:
        """The frame at a place of a row, -1 if there is none."""
        if not 0 <= row - self.low < self.rows:
            return -1
        frames = self.by_row[row - self.low]
        here = int(np.searchsorted(self.boxes.begin[frames], at, side="right")) - 1
        if here < 0:
            return -1
        frame = int(frames[here])
        return frame if at < self.boxes.begin[frame] + self.boxes.width[frame] else -1

    def find(self, path: tuple[int, ...]) -> int:
        """The frame whose ancestors and itself have these elements, -1 if it is gone."""
        frame = -1
        for element in path:
            here = np.flatnonzero((self.tree.parent == frame) & (self.tree.element == element))
            if not len(here):
                return -1
            frame = int(here[0])
        return frame

    def path(self, frame: int) -> tuple[int, ...]:
        """The elements from the root down to a frame."""
        return tuple(int(self.tree.element[one]) for one in self.tree.ancestors(frame))

    def share_of(self, matched: np.ndarray) -> int:
        """The cost of the frames in `matched` (bool), each cycle once though frames contain each other."""
        covered = np.zeros(len(self), dtype=bool)
        total = 0
        if self.place >= 0:  # the callers of a sandwich hold the same cycles as its callees
            matched = matched & (self.boxes.row >= 0)
        for level in range(int(self.tree.depth.max(initial=-1)) + 1):
            here = np.flatnonzero(self.tree.depth == level)
            parent = self.tree.parent[here]
            covered[here] = np.where(parent >= 0, covered[parent], False)
            new = here[matched[here] & ~covered[here]]
            total += int(self.boxes.width[new].sum())
            covered[new] = True
        return total


@dataclass(eq=False)
class Camera:
    """Which part of a scene is in view; x runs over costs, y over pixels from the top of the first row."""

    begin: float = 0.0
    end: float = 1.0
    width_px: float = 1.0
    height_px: float = 1.0
    scroll: int = 0  # pixels
    is_upward: bool = False
    row_px: int = ROW_PX
    whole: int = field(default=1)

    def fit(self, begin: float, end: float) -> None:
        """Show the part from `begin` to `end`, no more than there is and no less than a millionth of it."""
        least = max(self.whole * 1e-6, 1e-3)
        width = min(max(end - begin, least), float(self.whole))
        begin = min(max(begin, 0.0), self.whole - width)
        self.begin, self.end = begin, begin + width

    @property
    def scale(self) -> float:
        """Pixels a unit of cost."""
        return self.width_px / max(self.end - self.begin, 1e-9)

    def x(self, at: np.ndarray | float) -> np.ndarray | float:
        """The pixel of a cost."""
        return (at - self.begin) * self.scale

    def cost_at(self, x: float) -> float:
        """The cost at a pixel."""
        return self.begin + x / self.scale

    def content_px(self, scene: FlameScene) -> int:
        """Height of all rows."""
        return scene.rows * self.row_px

    def y(self, scene: FlameScene, row: Row) -> Row:
        """The top pixel of a row."""
        at = (row - scene.low) * self.row_px
        if self.is_upward:
            at = max(self.content_px(scene), int(self.height_px)) - self.row_px - at
        return at - self.scroll

    def row_at(self, scene: FlameScene, y: float) -> int:
        """The row at a pixel."""
        at = y + self.scroll
        if self.is_upward:
            at = max(self.content_px(scene), int(self.height_px)) - 1 - at
        return int(at // self.row_px) + scene.low

    def visible(self, scene: FlameScene) -> np.ndarray:
        """Frames of which anything is in view, bool."""
        boxes = scene.boxes
        top = self.y(scene, boxes.row)
        inside = (boxes.begin < self.end) & (boxes.begin + boxes.width > self.begin) & (boxes.width > 0)
        return inside & (top < self.height_px) & (top > -self.row_px)

    def rectangles(self, scene: FlameScene, frames: np.ndarray) -> np.ndarray:
        """Left, top, width and height in pixels of frames, cut to the view; float [n, 4]."""
        boxes = scene.boxes
        left = np.maximum(self.x(boxes.begin[frames]), -2.0)
        right = np.minimum(self.x(boxes.begin[frames] + boxes.width[frames]), self.width_px + 2.0)
        width = right - left
        width = np.where(width > 2 * GAP_PX + 1, width - GAP_PX, np.maximum(width, 0.5))
        top = self.y(scene, boxes.row[frames])
        height = np.full(len(frames), self.row_px - GAP_PX)
        return np.stack([left, top, width, height], axis=1).astype(float)
