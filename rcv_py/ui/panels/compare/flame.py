"""A flamegraph of the open capture, coloured by what each frame costs more or less than in the baseline."""

from __future__ import annotations

from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.flame import compare_flame
from rcv_py.analysis.flame.flame import Metric
from rcv_py.model.trace import Trace
from rcv_py.ui.flame.flame_scene import Change, FlameScene


def compare_scene(trace: Trace, found: Comparison) -> FlameScene | None:
    """Return the scene, None if nothing could be compared; instructions that only A has are not in it."""
    made = compare_flame(trace, found)
    if made is None:
        return None
    tree, boxes, texts, before, shade = made
    return FlameScene(trace, tree, boxes, texts, Metric.TOTAL, -1, Change(before, shade))
