"""The content of a flamegraph view, the screen positions of its frames, and their texts."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from rcv_py.analysis.flame.flame import FlameTree, Metric, What, key, kind_mix
from rcv_py.analysis.flame.flame_layout import FlameLayout, full_name, source_text
from rcv_py.analysis.program.blocks import blocks
from rcv_py.base.record import Record
from rcv_py.base.text import Message, count, elide_left, elide_right, percent
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.state.selection import Hover, Selection
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import Rich, lines_tip, rich

Row = TypeVar("Row", int, np.ndarray)

ROW_PX = 20
GAP_PX = 1  # between boxes


class FlameScene(Record):
    """A tree with its boxes and the texts on them."""

    trace: Trace
    tree: FlameTree
    boxes: FlameLayout
    labels: tuple[str, ...]
    metric: Metric
    place: int = -1  # the frame in the middle of a sandwich

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def low(self) -> int:
        """Return the lowest row; below zero in a sandwich view."""
        return int(self.boxes.row.min(initial=0))

    @cached_property
    def rows(self) -> int:
        """Return how many rows there are."""
        return int(self.boxes.row.max(initial=-1)) - self.low + 1

    @cached_property
    def by_row(self) -> list[np.ndarray]:
        """Return the visible frames of each row from left to right, the lowest row first."""
        order = np.lexsort((self.boxes.begin, self.boxes.row))
        order = order[self.boxes.width[order] > 0]
        ends = np.searchsorted(self.boxes.row[order], np.arange(self.low, self.low + self.rows + 1))
        return [order[first:stop] for first, stop in pairwise(ends)]

    def label(self, frame: int, letters: int) -> str:
        """Return the text on a frame; a narrow source line on its own file shows only the number."""
        text, tree, parent = self.labels[frame], self.tree, int(self.tree.parent[frame])
        if len(text) <= letters or parent < 0 or tree.what[frame] != What.LINE:
            return text
        is_same_file = tree.first[parent] == tree.first[frame]
        return f":{int(tree.second[frame]) or '?'}" if is_same_file else text

    @cached_property
    def search_texts(self) -> tuple[str, ...]:
        """Return the searched text per frame: its label, its full name, its source text."""
        texts = list(self.labels)
        for at in np.flatnonzero(self.tree.what != What.CODE).tolist():
            parts = (texts[at], self.full_name(at), source_text(self.trace, self.tree, at))
            texts[at] = "\n".join(parts)
        return tuple(texts)

    def full_name(self, frame: int) -> str:
        """Return the full name of a frame."""
        return full_name(self.trace, self.tree, frame, self.labels[frame])

    def code_rows(self, frame: int) -> tuple[int, int] | None:
        """Return the code rows [first, stop) of a kernel or block; None for other frames."""
        what, second, code = int(self.tree.what[frame]), int(self.tree.second[frame]), self.trace.code
        if what == What.KERNEL:
            return code.kernels[second].first, code.kernels[second].stop
        if what == What.BLOCK:
            table = blocks(code)
            return second, int(table.stop[table.of_row[second]])
        return None

    def children(self, frame: int) -> np.ndarray:
        """Return the visible frames on a frame, heaviest first."""
        frames = np.flatnonzero((self.tree.parent == frame) & (self.boxes.width > 0))
        return frames[np.argsort(-self.boxes.width[frames], kind="stable")]

    def frame_at(self, row: int, at: float) -> int:
        """Return the frame at a position of a row, -1 if there is none."""
        begin, width = self.boxes.begin, self.boxes.width
        frames = self.by_row[row - self.low] if 0 <= row - self.low < self.rows else np.zeros(0, np.int64)
        here = frames[: np.searchsorted(begin[frames], at, side="right")]
        return int(here[-1]) if len(here) and at < begin[here[-1]] + width[here[-1]] else -1

    def find(self, path: tuple[int, ...]) -> int:
        """Return the frame whose path has these elements, -1 if it is gone."""
        frame = -1
        for element in path:
            here = np.flatnonzero((self.tree.parent == frame) & (self.tree.element == element))
            if not len(here):
                return -1
            frame = int(here[0])
        return frame

    def path(self, frame: int) -> tuple[int, ...]:
        """Return the elements from the root down to a frame."""
        return tuple(int(self.tree.element[above]) for above in self.tree.ancestors(frame))

    def share_of(self, matched: np.ndarray) -> int:
        """Return the cost of the frames in `matched` (bool), counting cycles of nested frames once."""
        covered, total = np.zeros(len(self), dtype=bool), 0
        if self.place >= 0:  # the callers in a sandwich view hold the same cycles as the callees
            matched = matched & (self.boxes.row >= 0)
        for level in range(int(self.tree.depth.max(initial=-1)) + 1):
            here = np.flatnonzero(self.tree.depth == level)
            parent = self.tree.parent[here]
            covered[here] = (parent >= 0) & covered[parent]
            new = here[matched[here] & ~covered[here]]
            total += int(self.boxes.width[new].sum())
            covered[new] = True
        return total


@dataclass(eq=False)
class Camera:
    """The visible part of a scene; x runs over costs, y over pixels from the top of the first row."""

    begin: float = 0.0
    end: float = 1.0
    width_px: float = 1.0
    height_px: float = 1.0
    scroll: int = 0  # pixels
    row_px: int = ROW_PX
    whole: int = 1

    def fit(self, begin: float, end: float) -> None:
        """Show the part from `begin` to `end`, at most the whole and at least a millionth of it."""
        smallest = max(self.whole * 1e-6, 1e-3)
        width = min(max(end - begin, smallest), float(self.whole))
        begin = min(max(begin, 0.0), self.whole - width)
        self.begin, self.end = begin, begin + width

    @property
    def scale(self) -> float:
        """Return pixels per unit of cost."""
        return self.width_px / max(self.end - self.begin, 1e-9)

    def x(self, at: np.ndarray | float) -> np.ndarray | float:
        """Return the pixel of a cost."""
        return (at - self.begin) * self.scale

    def cost_at(self, x: float) -> float:
        """Return the cost at a pixel."""
        return self.begin + x / self.scale

    def y(self, scene: FlameScene, row: Row) -> Row:
        """Return the top pixel of a row."""
        return (row - scene.low) * self.row_px - self.scroll

    def row_at(self, scene: FlameScene, y: float) -> int:
        """Return the row at a pixel."""
        return int((y + self.scroll) // self.row_px) + scene.low

    def visible(self, scene: FlameScene) -> np.ndarray:
        """Return which frames are at least partly in view, bool."""
        boxes = scene.boxes
        top = self.y(scene, boxes.row)
        inside = (boxes.begin < self.end) & (boxes.begin + boxes.width > self.begin) & (boxes.width > 0)
        return inside & (top < self.height_px) & (top > -self.row_px)

    def rectangles(self, scene: FlameScene, frames: np.ndarray) -> np.ndarray:
        """Return left, top, width and height in pixels of frames, cut to the view; float [n, 4]."""
        boxes = scene.boxes
        left = np.maximum(self.x(boxes.begin[frames]), -2.0)
        right = np.minimum(self.x(boxes.begin[frames] + boxes.width[frames]), self.width_px + 2.0)
        width = right - left
        width = np.where(width > 2 * GAP_PX + 1, width - GAP_PX, np.maximum(width, 0.5))
        top = self.y(scene, boxes.row[frames])
        height = np.full(len(frames), self.row_px - GAP_PX)
        return np.stack([left, top, width, height], axis=1).astype(float)


MAX_KINDS = 5
METRIC_TEXT = {
    Metric.TOTAL: "total", Metric.NONHIDDEN: "not hidden", Metric.STALL: "stall", Metric.HITS: "executions",
}  # fmt: skip


def unit(scene: FlameScene) -> str:
    """Return the unit of widths."""
    return "executions" if scene.metric is Metric.HITS else scene.tree.unit


def shares(scene: FlameScene, frame: int) -> list[str]:
    """Return the share of all and, below the roots, of the parent."""
    tree, width = scene.tree, scene.boxes.width
    parts: list[str] = [Message("{0} of all", percent(int(width[frame]), scene.boxes.whole))]
    parent = int(tree.parent[frame])
    if parent >= 0:
        what = "of the place" if scene.boxes.row[frame] < 0 or parent == scene.place else "of its parent"
        parts.append(Message("{0} {1}", percent(int(width[frame]), int(width[parent])), what))
    return parts


def frame_line(scene: FlameScene, frame: int) -> str:
    """Return a frame in one line: name, cost, shares."""
    text = elide_right(scene.labels[frame], 60)
    cost = f"{count(int(scene.boxes.width[frame]))} {unit(scene)}"
    return f"{text}: {cost}, {', '.join(shares(scene, frame))}"


def frame_tip(scene: FlameScene, frame: int) -> Rich:
    """Return all facts about a frame, as rich text."""
    tree = scene.tree
    lines: list[str] = [rich("<b>{}</b>", elide_right(scene.labels[frame], 90))]
    name = scene.full_name(frame)
    if name != scene.labels[frame]:
        lines.append(elide_left(name, 100))
    if tree.what[frame] == What.CODE:
        row = int(tree.second[frame])
        kind = KIND_TEXT[TokenKind(min(int(scene.trace.code.kind[row]), KIND_COUNT - 1))]
        lines.append(Message("instruction {0}, {1}", row, kind))
    elif rows := scene.code_rows(frame):
        lines.append(Message("lines {0} to {1}", count(rows[0]), count(rows[1] - 1)))
    elif text := source_text(scene.trace, tree, frame):
        lines.append(rich("<code>{}</code>", elide_right(text, 90)))
    lines += _costs(scene, frame)
    lines += _kinds(scene, frame)
    return lines_tip(lines)


def _costs(scene: FlameScene, frame: int) -> list[str]:
    tree, at = scene.tree, scene.metric.value
    own, total = tree.own[frame], tree.total[frame]
    lines = [f"{count(int(total[at]))} {unit(scene)}: {', '.join(shares(scene, frame))}"]
    if 0 < own[at] < total[at]:
        lines.append(Message("of them {0} itself", count(int(own[at]))))
    known = {Metric.HITS: tree.unit != "samples", Metric.NONHIDDEN: tree.has_hidden, scene.metric: False}
    others = [metric for metric in METRIC_TEXT if known.get(metric, True)]
    texts = [f"{METRIC_TEXT[metric]} {count(int(total[metric.value]))}" for metric in others]
    hidden = int(total[Metric.TOTAL.value] - total[Metric.NONHIDDEN.value])
    if tree.has_hidden:
        texts.append(Message("hidden {0}", percent(hidden, int(total[Metric.TOTAL.value]))))
    return [*lines, ", ".join(texts)]


def _kinds(scene: FlameScene, frame: int) -> list[Rich]:
    if scene.tree.what[frame] == What.CODE or scene.boxes.row[frame] < 0:
        return []
    mix = kind_mix(scene.tree, frame, scene.trace.code.kind, scene.metric, KIND_COUNT)
    order = [kind for kind in np.argsort(-mix, kind="stable").tolist() if mix[kind]][:MAX_KINDS]
    shares_of = ((KIND_TEXT[TokenKind(kind)], percent(int(mix[kind]), int(mix.sum()))) for kind in order)
    return [rich("&nbsp;&nbsp;{}: {}", name, share) for name, share in shares_of]


def choose(session: Session, scene: FlameScene, frame: int) -> None:
    """Select what a frame stands for: an instruction, a source line, the rows of a block or kernel.

    A file stands for its most expensive line.  Scopes of markers stand for no code.
    """
    tree = scene.tree
    what, first, second = int(tree.what[frame]), int(tree.first[frame]), int(tree.second[frame])
    if what == What.CODE:
        session.select_line(second)
    elif what == What.LINE:
        session.select_source(first, second)
    elif what == What.FILE:
        lines = [child for child in scene.children(frame).tolist() if tree.what[child] == What.LINE]
        if lines:
            choose(session, scene, lines[0])
    elif rows := scene.code_rows(frame):
        session.select_lines(*rows)


def hover_of(scene: FlameScene, frame: int) -> Hover | None:
    """Return what the other views mark while the mouse is over a frame."""
    if frame < 0:
        return None
    first, second = int(scene.tree.first[frame]), int(scene.tree.second[frame])
    hovers = {What.CODE: Hover(line=second), What.LINE: Hover(source=(first, second))}
    return hovers.get(What(int(scene.tree.what[frame])))


def place_of(session: Session) -> int:
    """Return the element of the selected source line, else of the selected instruction; -1 if none."""
    selection, trace = session.selection.value, session.trace.value
    if selection.source is not None:
        return int(key(What.LINE, *selection.source))
    if selection.line is not None and trace is not None and selection.line < len(trace.code):
        return int(key(What.CODE, 0, selection.line))
    return -1


def selected_frames(scene: FlameScene, selection: Selection) -> np.ndarray:
    """Return which frames show the selected instruction or its source line, bool."""
    tree = scene.tree
    is_selected = np.zeros(len(tree), dtype=bool)
    if selection.line is not None:
        is_selected |= tree.code_row == selection.line
    if selection.source is not None:
        is_selected |= tree.element == key(What.LINE, *selection.source)
    return is_selected
