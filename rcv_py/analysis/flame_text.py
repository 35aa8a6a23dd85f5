"""The frames of a flamegraph in words, and as folded stacks that other viewers read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.flame import FlameTree, Metric
from rcv_py.analysis.flame_paths import What
from rcv_py.base.text import short_kernel
from rcv_py.model.trace import Trace

NAMELESS = {
    What.NO_SOURCE: "<no source>",
    What.NO_KERNEL: "<no kernel>",
    What.NO_SCOPE: "<no scope>",
}
EXPLAINED = {
    What.NO_SOURCE: "instructions without a source place",
    What.NO_KERNEL: "instructions in front of the first label",
    What.NO_SCOPE: "instructions outside of every marker",
}


def labels(trace: Trace, tree: FlameTree) -> tuple[str, ...]:
    """Return what stands on each frame: `attn.py`, `attn.py:258`, an instruction, a kernel, a marker."""
    return tuple(
        _label(trace, tree, *numbers)
        for numbers in zip(tree.what.tolist(), tree.first.tolist(), tree.second.tolist(), strict=True)
    )


def full_name(trace: Trace, tree: FlameTree, frame: int) -> str:
    """Return the unabridged name of a frame: the whole path, the whole symbol."""
    what, first, second = int(tree.what[frame]), int(tree.first[frame]), int(tree.second[frame])
    if what == What.FILE:
        return trace.sources[first].path
    if what == What.LINE:
        return f"{trace.sources[first].path}:{second or '?'}"
    if what == What.KERNEL:
        return trace.code.kernels[second].demangled
    if what in EXPLAINED:
        return EXPLAINED[What(what)]
    return _label(trace, tree, what, first, second)


def source_text(trace: Trace, tree: FlameTree, frame: int) -> str:
    """Return the text of a frame's source line without its indentation; "" where there is none."""
    if tree.what[frame] != What.LINE:
        return ""
    lines, at = trace.sources[int(tree.first[frame])].lines, int(tree.second[frame])
    return lines[at - 1].strip() if lines is not None and 1 <= at <= len(lines) else ""


def folded(trace: Trace, tree: FlameTree, metric: Metric) -> Iterator[str]:
    """Yield `outer;…;inner cost` for every frame that costs anything itself: the lines flamegraph tools read.

    A semicolon inside a name becomes a comma, since it separates frames; equal stacks appear once.
    """
    names = [name.replace(";", ",").replace("\n", " ") for name in labels(trace, tree)]
    sums: dict[str, int] = {}
    for frame in np.flatnonzero(tree.own[:, metric.value] > 0).tolist():
        stack = ";".join(names[one] for one in tree.ancestors(frame))
        sums[stack] = sums.get(stack, 0) + int(tree.own[frame, metric.value])
    for stack, cost in sums.items():
        yield f"{stack} {cost}"


def _label(trace: Trace, tree: FlameTree, what: int, first: int, second: int) -> str:
    match what:
        case What.FILE:
            name = _base(trace, first)
        case What.LINE:
            name = f"{_base(trace, first)}:{second or '?'}"
        case What.CODE:
            name = trace.code.text[second]
        case What.KERNEL:
            name = short_kernel(trace.code.kernels[second].demangled)
        case What.BLOCK:
            name = _block(trace, second)
        case What.MARKER:
            name = tree.names[second]
        case _:
            name = NAMELESS[What(what)]
    return name


def _base(trace: Trace, file: int) -> str:
    path = trace.sources[file].path.replace("\\", "/")
    return path.rstrip("/").rsplit("/", 1)[-1] or path


def _block(trace: Trace, row: int) -> str:
    code = trace.code
    if not code.is_label[row]:
        return f"block at line {row}"
    if any(kernel.first == row for kernel in code.kernels):
        return f"entry at line {row}"
    return code.text[row].lstrip("; ").rstrip(": ")
