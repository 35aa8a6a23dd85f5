"""Texts of the frames of a flamegraph, and folded stacks for other viewers."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rcv_py.analysis.cost.place_text import beside, line_text, source_of
from rcv_py.analysis.flame.flame import FlameTree, Metric, What
from rcv_py.analysis.program.blocks import blocks
from rcv_py.base.text import short_kernel
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
