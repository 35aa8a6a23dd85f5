"""Layout of a flamegraph's frames in exact integers, their texts, and folded stacks for other viewers."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.cost.place_text import beside, line_text, source_of
from rcv_py.analysis.flame.flame import FlameTree, Metric, Stacks, What, code_stacks, fold
from rcv_py.analysis.program.blocks import blocks
from rcv_py.base.runs import borders, ranges, starts_run
from rcv_py.base.text import short_kernel
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.trace import Trace

NAMELESS = {What.NO_SOURCE: "<no source>", What.NO_KERNEL: "<no kernel>", What.NO_SCOPE: "<no scope>"}
EXPLAINED = {
    What.NO_SOURCE: "instructions without a source place",
    What.NO_KERNEL: "instructions before the first label",
    What.NO_SCOPE: "instructions outside of every marker",
}


def labels(trace: Trace, tree: FlameTree) -> tuple[str, ...]:
    """Return the label of each frame: `attn.py`, `attn.py:258`, an instruction, a kernel, a marker."""
    # The last part of each file's path, with the folder before it if two would be equal.
    parts = [source.path.replace("\\", "/").rstrip("/").split("/") for source in trace.sources]
    often = Counter(part[-1] for part in parts)
    files = ["/".join(part[-2:]) if often[part[-1]] > 1 else part[-1] for part in parts]
    kernels = [short_kernel(one.demangled) for one in trace.code.kernels]
    block_names: dict[int, str] = {}
    if (tree.what == What.BLOCK).any():
        table = blocks(trace.code)
        block_names = dict(zip(table.first.tolist(), table.name, strict=True))
        block_names |= {kernel.first: "entry" for kernel in trace.code.kernels}
    text_of: dict[int, Callable[[int, int], str]] = {
        What.FILE: lambda file, _: files[file],
        What.LINE: lambda file, line: f"{files[file]}:{line or '?'}",
        What.CODE: lambda _, row: trace.code.text[row],
        What.KERNEL: lambda _, kernel: kernels[kernel],
        What.BLOCK: lambda _, row: block_names[row],
        What.MARKER: lambda _, name: tree.names[name],
    }
    numbers = zip(tree.what.tolist(), tree.first.tolist(), tree.second.tolist(), strict=True)
    return tuple(
        text_of[what](first, second) if what in text_of else NAMELESS[What(what)]
        for what, first, second in numbers
    )


def full_name(trace: Trace, tree: FlameTree, frame: int, label: str) -> str:
    """Return the unabridged name of a frame: the whole path, the whole symbol, else its label."""
    what, first, second = int(tree.what[frame]), int(tree.first[frame]), int(tree.second[frame])
    if what == What.FILE:
        return trace.sources[first].path
    if what == What.LINE:
        return f"{trace.sources[first].path}:{second or '?'}"
    if what == What.KERNEL:
        return trace.code.kernels[second].demangled
    return EXPLAINED[What(what)] if what in EXPLAINED else label


def frame_source(trace: Trace, tree: FlameTree, frame: int) -> str:
    """Return `path:line` of a frame that is an instruction or a source line, "" for other frames."""
    if tree.what[frame] == What.CODE:
        return source_of(trace, int(tree.second[frame]))
    if tree.what[frame] == What.LINE:
        return f"{trace.sources[int(tree.first[frame])].path}:{int(tree.second[frame])}"
    return ""


def placed_labels(trace: Trace, tree: FlameTree, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the labels, with the source place appended for instructions."""
    rows = np.where(tree.what == What.CODE, tree.second, -1).tolist()
    return tuple(text + beside(trace, row) for text, row in zip(texts, rows, strict=True))


def source_text(trace: Trace, tree: FlameTree, frame: int) -> str:
    """Return the text of a frame's source line without its indentation; "" where there is none."""
    if tree.what[frame] != What.LINE:
        return ""
    return line_text(trace.sources, int(tree.first[frame]), int(tree.second[frame]))


def folded(trace: Trace, tree: FlameTree, metric: Metric) -> Iterator[str]:
    """Yield `outer;…;inner cost` for every frame with a cost of its own, as flamegraph tools read it.

    A semicolon inside a name becomes a comma, since it separates frames; equal stacks appear once.
    """
    texts = labels(trace, tree)
    if not (tree.what == What.LINE).any():  # else the parent of an instruction is its line
        texts = placed_labels(trace, tree, texts)
    names = [name.replace(";", ",").replace("\n", " ") for name in texts]
    costs: Counter[str] = Counter()
    for frame in np.flatnonzero(tree.own[:, metric.value] > 0).tolist():
        costs[";".join(names[one] for one in tree.ancestors(frame))] += int(tree.own[frame, metric.value])
    yield from (f"{stack} {cost}" for stack, cost in costs.items())


class SiblingOrder(Enum):
    """The order of siblings from left to right."""

    HEAVY = "heavy"  # the more expensive first
    EXECUTION = "execution"  # by code row or by time
    NAME = "name"  # alphabetical


class FlameLayout(ColumnTable):
    """One row a frame of the tree, as a box: `begin` to `begin + width` of `whole`, in row `row`.

    A frame that costs nothing in the metric has width 0.  Rows below zero hold the callers of a sandwich.
    """

    begin: np.ndarray  # int64
    width: np.ndarray  # int64, the frame's total in the metric
    row: np.ndarray  # int32
    whole: int  # width of all roots


def layout(
    tree: FlameTree, metric: Metric, order: SiblingOrder = SiblingOrder.HEAVY, labels: Sequence[str] = ()
) -> FlameLayout:
    """Return the boxes of a tree; `labels`, one a frame, are needed for the order by name.

    Equal siblings keep their order of appearance.
    """
    width = tree.total[:, metric.value]
    if order is SiblingOrder.HEAVY:
        rank = -width
    elif order is SiblingOrder.EXECUTION or not labels:
        rank = tree.order
    else:
        rank = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)[1]
    begin = np.zeros(len(tree), dtype=np.int64)
    for level in range(tree.levels):
        here = np.arange(*np.searchsorted(tree.depth, [level, level + 1]))
        here = here[np.lexsort((tree.order[here], rank[here], tree.parent[here]))]
        before = np.cumsum(width[here]) - width[here]
        parent = tree.parent[here]
        is_first = starts_run(parent)
        start = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
        begin[here] = np.where(parent >= 0, begin[parent], 0) + before - before[start]
    return FlameLayout(begin, width, tree.depth, tree.whole(metric))


def sandwich(stacks: Stacks, element: int, like: FlameTree) -> tuple[FlameTree, FlameTree]:
    """Return the trees of callees and of callers of an element, its only root; empty if no stack has it.

    Children of callers are their callers.  A stack in which the element occurs twice counts once, from its
    outermost occurrence.  `like` is the tree of all stacks, whose names and unit the result keeps.
    """
    at = np.flatnonzero(stacks.element == element)
    owner = np.searchsorted(stacks.first, at, side="right") - 1
    rows, once = np.unique(owner, return_index=True)
    at = at[once]
    below = _cut(stacks, rows, at, stacks.first[rows + 1] - at, +1)
    above = _cut(stacks, rows, at, at - stacks.first[rows] + 1, -1)
    fold_alike = partial(fold, names=like.names, unit=like.unit, has_hidden=like.has_hidden)
    return fold_alike(below), fold_alike(above)


def joined_frames(
    down: FlameTree, up: FlameTree, metric: Metric, order: SiblingOrder, labels: Sequence[Sequence[str]]
) -> tuple[FlameTree, FlameLayout]:
    """Merge callees and callers, the place once, with callers in rows -1, -2 …

    The frames of the callees come first; frames of callers (the root aside) have parents nearer to the place.
    """
    below, above = layout(down, metric, order, labels[0]), layout(up, metric, order, labels[1])
    callers = up.at(slice(1, None))
    parent = np.where(callers.parent > 0, callers.parent + len(down) - 1, 0).astype(np.int32)
    boxes = joined([below, replace(above.at(slice(1, None)), row=-above.row[1:])])
    return joined([down, replace(callers, parent=parent)]), boxes


def _cut(stacks: Stacks, rows: np.ndarray, at: np.ndarray, length: np.ndarray, step: int) -> Stacks:
    """Return the part of each stack that begins at `at` and goes inwards (+1) or outwards (-1)."""
    element = stacks.element[np.repeat(at, length) + step * ranges(0, length)]
    return Stacks(borders(length), element, stacks.own[rows], stacks.order[rows])


def sandwich_frames(
    trace: Trace, own: np.ndarray, like: FlameTree, element: int, *, metric: Metric, order: SiblingOrder
) -> tuple[FlameTree, FlameLayout, tuple[str, ...]] | None:
    """Merge both trees, with boxes and texts; None if no stack with a cost includes the place.

    `own` is int64 [code rows, metrics]; `like` is the tree of all stacks.
    """
    down, up = sandwich(code_stacks(trace.code, own), element, like)
    if not len(down) or not down.whole(metric):
        return None
    texts = labels(trace, down), labels(trace, up)
    tree, boxes = joined_frames(down, up, metric, order, texts)
    return tree, boxes, (*texts[0], *texts[1][1:])
