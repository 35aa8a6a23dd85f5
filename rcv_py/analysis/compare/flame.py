"""The flamegraph of a compared capture, with the cost difference of each frame from the baseline."""

import numpy as np

from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.flame.flame import METRICS, FlameTree, Metric, code_flame
from rcv_py.analysis.flame.flame_layout import FlameLayout, SiblingOrder, labels, layout
from rcv_py.model.trace import Trace

UNIT = "cycles per wave"
STEPS = (0.02, 0.1, 0.25)  # shares of a frame's cost at which its colour gets stronger

CompareFlame = tuple[FlameTree, FlameLayout, tuple[str, ...], np.ndarray, np.ndarray]


def compare_flame(trace: Trace, comparison: Comparison) -> CompareFlame | None:
    """Return tree, boxes and texts of B, the cost of each frame in A (int64), and a shade from -3 to 3.

    None if nothing could be compared; instructions that only A has are left out.
    """
    if comparison.kernel is None:
        return None
    rows, line = comparison.rows, comparison.listing[1]
    here = np.flatnonzero(line >= 0)
    own = np.zeros((len(trace.code), METRICS), dtype=np.int64)
    stall = comparison.b.sums("stall") / max(comparison.b.wave_count, 1)
    own[line[here], Metric.TOTAL.value] = np.rint(rows.cost_b[here])
    own[line[here], Metric.NONHIDDEN.value] = np.rint(rows.cost_a[here])
    own[:, Metric.STALL.value] = np.rint(stall)
    own[line[here], Metric.HITS.value] = rows.hits_b[here]
    noise = np.zeros(len(trace.code))
    noise[line[here]] = rows.noise[here]
    tree = code_flame(trace.code, own, UNIT)
    if not tree.whole(Metric.TOTAL):
        return None
    texts = labels(trace, tree)
    threshold = max(comparison.kernel.at_equal_hits.noise, STEPS[0])
    before, shade = _change(tree, noise, threshold)
    return tree, layout(tree, Metric.TOTAL, SiblingOrder.HEAVY), texts, before, shade


def _change(tree: FlameTree, noise: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the cost of frames in A and the colour of each, neutral where the difference may be noise.

    Noise of a frame is the noise of its rows, and at least the noise share of the whole kernel.
    """
    before = tree.total[:, Metric.NONHIDDEN.value]
    delta = (tree.total[:, Metric.TOTAL.value] - before).astype(float)
    is_row = tree.code_row >= 0
    square = np.where(is_row, noise[np.maximum(tree.code_row, 0)] ** 2, 0.0)
    for level in range(tree.levels - 1, 0, -1):
        here = slice(*np.searchsorted(tree.depth, [level, level + 1]))
        np.add.at(square, tree.parent[here], square[here])
    floor = np.where(is_row, 0.0, threshold * before)
    is_real = np.abs(delta) > np.maximum(np.sqrt(square), floor)
    share = np.abs(delta) / np.maximum(before, 1)
    level = np.searchsorted(STEPS, share, side="right")
    return (before, np.where(is_real, np.sign(delta) * np.maximum(level, 1), 0).astype(np.int64))
