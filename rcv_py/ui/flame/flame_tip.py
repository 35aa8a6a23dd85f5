"""What there is to say about a frame of a flamegraph: a tooltip, and one line for the bar."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.flame.flame import Metric, What, kind_mix
from rcv_py.analysis.flame.flame_text import source_text
from rcv_py.base.text import count, elide_left, elide_right, percent
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.ui.core.plain_text import Rich, lines_tip, rich
from rcv_py.ui.flame.flame_scene import FlameScene

MOST_KINDS = 5
METRIC_TEXT = {
    Metric.TOTAL: "total",
    Metric.NONHIDDEN: "not hidden",
    Metric.STALL: "stall",
    Metric.HITS: "executions",
}


def unit(scene: FlameScene) -> str:
    """What widths are counted in."""
    return "executions" if scene.metric is Metric.HITS else scene.tree.unit


def shares(scene: FlameScene, frame: int) -> list[str]:
    """The share of all and, below the roots, of the parent."""
    tree, width = scene.tree, scene.boxes.width
    parts = [f"{percent(int(width[frame]), scene.boxes.whole)} of all"]
    parent = int(tree.parent[frame])
    if parent >= 0:
        what = "of the place" if scene.boxes.row[frame] < 0 or parent == scene.place else "of its parent"
        parts.append(f"{percent(int(width[frame]), int(width[parent]))} {what}")
    return parts


def frame_line(scene: FlameScene, frame: int) -> str:
    """A frame in one line: name, cost, shares."""
    text = elide_right(scene.labels[frame], 60)
    more = f"; {change}" if (change := changed(scene, frame)) else ""
    cost = f"{count(int(scene.boxes.width[frame]))} {unit(scene)}"
    return f"{text}: {cost}, {', '.join(shares(scene, frame))}{more}"


def changed(scene: FlameScene, frame: int) -> str:
    """What a frame of a differential flamegraph costs in the baseline, "" in others."""
    if scene.change is None:
        return ""
    before, now = int(scene.change.before[frame]), int(scene.boxes.width[frame])
    mark = "beyond noise" if scene.change.shade[frame] else "within noise"
    share = f", {100 * (now - before) / before:+.1f} %" if before else ""
    return f"A {count(before)}, B {count(now)}{share}, {mark}"


def frame_tip(scene: FlameScene, frame: int) -> Rich:
    """Everything about a frame, in rich text."""
    tree = scene.tree
    lines: list[str] = [rich("<b>{}</b>", elide_right(scene.labels[frame], 90))]
    name = scene.full_name(frame)
    if name != scene.labels[frame]:
        lines.append(elide_left(name, 100))
    if tree.what[frame] == What.CODE:
        row = int(tree.second[frame])
        kind = KIND_TEXT[TokenKind(min(int(scene.trace.code.kind[row]), KIND_COUNT - 1))]
        lines.append(f"line {row}, {kind}")
    elif rows := scene.code_rows(frame):
        lines.append(f"lines {count(rows[0])} to {count(rows[1] - 1)}")
    elif text := source_text(scene.trace, tree, frame):
        lines.append(rich("<code>{}</code>", elide_right(text, 90)))
    if change := changed(scene, frame):
        lines.append(change)
    lines += _costs(scene, frame)
    lines += _kinds(scene, frame)
    return lines_tip(lines)


def _costs(scene: FlameScene, frame: int) -> list[str]:
    tree, at = scene.tree, scene.metric.value
    own, total = tree.own[frame], tree.total[frame]
    lines = [f"{count(int(total[at]))} {unit(scene)}: {', '.join(shares(scene, frame))}"]
    if 0 < own[at] < total[at]:
        lines.append(f"of them {count(int(own[at]))} itself")
    others = [Metric.TOTAL, Metric.STALL, Metric.HITS]
    if tree.has_hidden:
        others.insert(1, Metric.NONHIDDEN)
    told = [
        f"{METRIC_TEXT[metric]} {count(int(total[metric.value]))}"
        for metric in others
        if metric is not scene.metric
    ]
    if tree.unit == "samples":
        told = told[:-1]
    hidden = int(total[Metric.TOTAL.value] - total[Metric.NONHIDDEN.value])
    if tree.has_hidden:
        told.append(f"hidden {percent(hidden, int(total[Metric.TOTAL.value]))}")
    return [*lines, ", ".join(told)]


def _kinds(scene: FlameScene, frame: int) -> list[Rich]:
    if scene.tree.what[frame] == What.CODE or scene.boxes.row[frame] < 0:
        return []
    mix = kind_mix(scene.tree, frame, scene.trace.code.kind, scene.metric, KIND_COUNT)
    order = [kind for kind in np.argsort(-mix, kind="stable").tolist() if mix[kind]][:MOST_KINDS]
    whole = int(mix.sum())
    return [
        rich("&nbsp;&nbsp;{}: {}", KIND_TEXT[TokenKind(kind)], percent(int(mix[kind]), whole))
        for kind in order
    ]
