"""What a click on a frame selects in every view, and which frames show what is selected."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.flame.flame import What, key
from rcv_py.state.selection import Hover, Selection
from rcv_py.state.session import Session
from rcv_py.ui.flame.flame_scene import FlameScene


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
