"""Frames of a flamegraph: what there is to say about one, what a click selects, which show the selection."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.flame.flame import Metric, What, key, kind_mix
from rcv_py.analysis.flame.flame_text import source_text
from rcv_py.base.text import count, elide_left, elide_right, percent
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.state.selection import Hover, Selection
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import Rich, lines_tip, rich
from rcv_py.ui.flame.flame_scene import FlameScene

MAX_KINDS = 5
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
    unknown = {scene.metric}
    if tree.unit == "samples":
        unknown.add(Metric.HITS)
    if not tree.has_hidden:
        unknown.add(Metric.NONHIDDEN)
    others = [metric for metric in METRIC_TEXT if metric not in unknown]
    texts = [f"{METRIC_TEXT[metric]} {count(int(total[metric.value]))}" for metric in others]
    hidden = int(total[Metric.TOTAL.value] - total[Metric.NONHIDDEN.value])
    if tree.has_hidden:
        texts.append(f"hidden {percent(hidden, int(total[Metric.TOTAL.value]))}")
    return [*lines, ", ".join(texts)]


def _kinds(scene: FlameScene, frame: int) -> list[Rich]:
    if scene.tree.what[frame] == What.CODE or scene.boxes.row[frame] < 0:
        return []
    mix = kind_mix(scene.tree, frame, scene.trace.code.kind, scene.metric, KIND_COUNT)
    order = [kind for kind in np.argsort(-mix, kind="stable").tolist() if mix[kind]][:MAX_KINDS]
    total = int(mix.sum())
    return [
        rich("&nbsp;&nbsp;{}: {}", KIND_TEXT[TokenKind(kind)], percent(int(mix[kind]), total))
        for kind in order
    ]


def choose(session: Session, scene: FlameScene, frame: int) -> None:
    """Select what a frame stands for: an instruction, a source line, the lines of a block or kernel.

    A file stands for its most expensive line.  Scopes of markers stand for nothing in the code.
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
    """What the other views mark while the mouse is over a frame."""
    if frame < 0:
        return None
    first, second = int(scene.tree.first[frame]), int(scene.tree.second[frame])
    found = {What.CODE: Hover(line=second), What.LINE: Hover(source=(first, second))}
    return found.get(What(int(scene.tree.what[frame])))


def place_of(session: Session) -> int:
    """The element of the selected source line, else of the selected instruction; -1 if there is neither."""
    selection, trace = session.selection.value, session.trace.value
    if selection.source is not None:
        return int(key(What.LINE, *selection.source))
    if selection.line is not None and trace is not None and selection.line < len(trace.code):
        return int(key(What.CODE, 0, selection.line))
    return -1


def selected_frames(scene: FlameScene, selection: Selection) -> np.ndarray:
    """Return which frames are the selected instruction or its source line, bool."""
    tree = scene.tree
    found = np.zeros(len(tree), dtype=bool)
    if selection.line is not None:
        found |= tree.code_row == selection.line
    if selection.source is not None:
        found |= tree.element == key(What.LINE, *selection.source)
    return found
