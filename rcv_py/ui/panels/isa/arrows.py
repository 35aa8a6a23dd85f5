"""Arrows in the gutter of the instruction table: what a wave waited for, where branches lead.

```
x:  slot 1   slot 0
      │        ┌──●  828 ds_read       the producer has a dot
      │        │     829 v_add
      └────────└──▶  830 s_waitcnt     the waiting row has the head
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.program.branches import branches
from rcv_py.analysis.waits.waitcnt.replay import waits_of
from rcv_py.analysis.waits.waits import ARROW_COLORS, arrows, wait_pairs
from rcv_py.base.records import dataclass
from rcv_py.base.text import percent, plural
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import joined
from rcv_py.model.kinds import TokenKind
from rcv_py.model.waves import Wave
from rcv_py.ui.panels.isa.program import Program

SLOT_PX = 5
HEAD_PX = 7  # between the first slot and the right edge
REACH_PX = 4  # how far from an arrow the mouse still hits it


@dataclass(frozen=True, eq=False)
class ArrowRows:
    """Arrows by data row, one entry an arrow."""

    source: np.ndarray  # int64, where it starts
    target: np.ndarray  # int64, where its head is
    slot: np.ndarray  # int64, how far from the code it runs; from -1 down: how far from the left edge
    color: np.ndarray  # int64, number for `theme.arrow`
    group: np.ndarray  # int64, data row that isolates it

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def none(cls) -> ArrowRows:
        """No arrows at all."""
        return cls(*np.zeros((5, 0), dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Which arrows stand out: of the isolated row alone, of the selected row, and the one under the mouse."""

    isolated: int | None = None
    selected: int = -1
    hovered: int = -1


@dataclass(frozen=True, eq=False)
class Placed:
    """Arrows that touch the visible rows, in viewport pixels."""

    number: np.ndarray  # int64, which arrow of `ArrowRows`
    x: np.ndarray  # float64, of the vertical part
    y_source: np.ndarray  # float64
    y_target: np.ndarray  # float64
    right: float  # where the horizontal parts end


def place_arrows(
    arrows: ArrowRows,
    view_rows: np.ndarray,
    box: QRect,
    *,
    row_height: int,
    scroll: int,
    isolated: int | None,
) -> Placed:
    """Return where the arrows that cross the viewport run; `box` is the gutter, as high as the viewport.

    `view_rows` is the row each data row is shown at.
    Arrows with a hidden end, and all but the isolated ones if there is an isolated row, are left out.
    """
    if not len(view_rows):
        arrows = ArrowRows.none()
    source, target = view_rows[arrows.source], view_rows[arrows.target]
    keep = (source >= 0) & (target >= 0)
    keep &= (source != target) | (arrows.source == arrows.target)  # else both ends are folded into one row
    if isolated is not None:
        keep &= arrows.group == isolated
    y_source = source * row_height - scroll + row_height / 2
    y_target = target * row_height - scroll + row_height / 2
    keep &= np.maximum(y_source, y_target) >= box.top()
    keep &= np.minimum(y_source, y_target) <= box.bottom()
    number = np.flatnonzero(keep)
    slots = max(1, (box.width() - HEAD_PX - 4) // SLOT_PX)
    x = box.right() - HEAD_PX - SLOT_PX * (arrows.slot[number] % slots) - 1.5
    return Placed(number, x, y_source[number], y_target[number], box.right() - 1.0)


def paint_arrows(
    painter: QPainter, arrows: ArrowRows, placed: Placed, colors: list[QColor], emphasis: Emphasis
) -> None:
    """Paint the placed arrows: quiet ones first, then those that stand out."""
    number = placed.number
    strong = number == emphasis.hovered
    if len(number):
        strong |= (arrows.source[number] == emphasis.selected) | (arrows.target[number] == emphasis.selected)
    quiet = 0.45 if strong.any() else 0.85
    for at in np.argsort(strong, kind="stable").tolist():
        color = colors[int(arrows.color[number[at]]) % len(colors)]
        painter.setOpacity(1.0 if strong[at] else quiet)
        painter.setPen(QPen(color, 2.4 if number[at] == emphasis.hovered else 1.3 + 0.5 * strong[at]))
        _paint_arrow(painter, placed, at, color)
    painter.setOpacity(1.0)


def _paint_arrow(painter: QPainter, placed: Placed, at: int, color: QColor) -> None:
    x, source, target = float(placed.x[at]), float(placed.y_source[at]), float(placed.y_target[at])
    right = placed.right
    painter.drawPolyline(
        [QPointF(right - 3, source), QPointF(x, source), QPointF(x, target), QPointF(right - 4, target)]
    )
    painter.setBrush(color)
    painter.drawPolygon(
        QPolygonF([QPointF(right, target), QPointF(right - 5, target - 3), QPointF(right - 5, target + 3)])
    )
    painter.drawEllipse(QPointF(right - 2.5, source), 1.6, 1.6)


def hit_arrow(placed: Placed, x: float, y: float) -> int:
    """Return the number of the arrow at a place, the nearest one; -1 if there is none."""
    if not len(placed.number):
        return -1
    top, bottom = np.minimum(placed.y_source, placed.y_target), np.maximum(placed.y_source, placed.y_target)
    along = np.hypot(placed.x - x, np.maximum(0, np.maximum(top - y, y - bottom)))
    left = np.maximum(0, placed.x - x)
    distance = np.minimum(
        along, np.hypot(left, np.minimum(abs(placed.y_source - y), abs(placed.y_target - y)))
    )
    best = int(np.argmin(distance))
    return int(placed.number[best]) if distance[best] <= REACH_PX else -1


def end_at(arrows: ArrowRows, placed: Placed, number: int, y: float, row_height: int) -> int:
    """Return the data row at the other end of an arrow whose end is at `y`; -1 if `y` is between them."""
    at = int(np.flatnonzero(placed.number == number)[0])
    at_source, at_target = (
        abs(place[at] - y) <= row_height / 2 for place in (placed.y_source, placed.y_target)
    )
    if at_source == at_target:
        return -1
    return int((arrows.target if at_source else arrows.source)[number])


BRANCH_COLOR = ARROW_COLORS  # the number after those of waits
MODES = {"waits": "Waits", "branches": "Branches", "both": "Both", "none": "No arrows"}
_OTHERS = "Click an end to go to the other, the middle to show this {} alone (Esc: all)."
_COUNTERS = {
    TokenKind.LDS: ("lgkmcnt", "dscnt"),
    TokenKind.SMEM: ("lgkmcnt", "kmcnt"),
    TokenKind.MSG: ("lgkmcnt", "kmcnt"),
    TokenKind.VMEM: ("vmcnt", "loadcnt", "vscnt", "storecnt"),
    TokenKind.FLAT: ("vmcnt", "loadcnt", "vscnt", "storecnt", "lgkmcnt", "dscnt"),
    TokenKind.BVH: ("vmcnt", "bvhcnt"),
}


@dataclass(frozen=True, eq=False)
class GutterArrows:
    """Arrows with a tooltip each, and a sentence why there are none."""

    note: str = ""
    rows: ArrowRows = field(default_factory=ArrowRows.none)
    tips: tuple[str, ...] = ()


def gutter_arrows(mode: str, wave: Wave | None, program: Program, gfxip: int) -> GutterArrows:
    """Return the arrows of a mode: waits of the wave, branches of all waves, both, or none."""
    trace, parts = program.trace, []
    if mode in ("waits", "both"):
        parts.append(wait_arrows(wave, trace.code, gfxip, partial(beside, trace)))
    if mode in ("branches", "both"):
        parts.append(branch_arrows(program, wave))
    if not parts:
        return GutterArrows("Arrows are switched off; choose them above the listing.")
    notes = dict.fromkeys(part.note for part in parts if part.note)
    tips = tuple(tip for part in parts for tip in part.tips)
    return GutterArrows("\n".join(notes), joined([part.rows for part in parts]), tips)


def _rows(*columns: np.ndarray) -> ArrowRows:
    return ArrowRows(*(column.astype(np.int64) for column in columns))


def wait_arrows(
    wave: Wave | None, code: CodeTable, gfxip: int, place: Callable[[int], str] = lambda row: ""
) -> GutterArrows:
    """Return arrows from producers to the waits of a wave, by its file or else by a replay.

    `place` says what tooltips put after the text of an instruction: its source place.
    """
    if wave is None:
        return GutterArrows("The selected wave is not read yet, so its waits are not known.")
    drawn = arrows(*wait_pairs(waits_of(wave, code, gfxip)))
    if not len(drawn):
        return GutterArrows(f"Wave {wave.id} waited for no instruction.")

    def tip(wait: int, producer: int) -> str:
        kind = int(code.kind[producer])
        names = _COUNTERS.get(TokenKind(kind), ()) if kind < len(TokenKind) else ()
        counter = next((name for name in names if name in code.text[wait]), "")
        through = f"\nthrough {counter}" if counter else ""
        waits, waited_for = (f"{row}  {code.text[row]}{place(row)}" for row in (wait, producer))
        return f"{waits}\nwaits for\n{waited_for}{through}\n{_OTHERS.format('wait')}"

    note = "" if wave.waits else "Found by replaying the wave's counters, since its file lists no waits."
    rows = _rows(drawn.producer, drawn.wait, drawn.slot, drawn.color, drawn.wait)
    return GutterArrows(note, rows, tuple(map(tip, drawn.wait.tolist(), drawn.producer.tolist())))


def branch_arrows(program: Program, wave: Wave | None) -> GutterArrows:
    """Return arrows from the branches that jumped, in any loaded wave; without waves, by their texts."""
    trace, jumps = program.trace, program.found
    if jumps is not None and len(jumps.ran):
        source, target, taken = jumps.source, jumps.target, jumps.taken
        note = "No loaded wave took a branch."
    elif trace.has_thread_trace:
        return GutterArrows("The waves are not read yet, so their branches are not known.")
    else:
        known = program.table.target >= 0
        source, target = program.table.row[known], program.table.target[known]
        taken = np.zeros(len(source), dtype=np.int64)
        note = "No branch says where it goes."
    if not len(source):
        return GutterArrows(note)
    times = _by_pair(source, target, taken)
    passed = dict(zip(program.table.row.tolist(), program.table.not_taken.tolist(), strict=True))
    own = None if wave is None else branches(wave, trace.code)
    here = {} if own is None else _by_pair(own.source, own.target, own.taken)

    def tip(start: int, goal: int) -> str:
        yes, no = times[start, goal], passed.get(start, 0)
        branch, leads_to = (f"{row}  {trace.code.text[row]}{beside(trace, row)}" for row in (start, goal))
        if not yes and not no:
            return f"{branch}\njumps to\n{leads_to}\nThe capture does not record how often."
        lines = [branch, f"jumped {plural(yes, 'time')} ({percent(yes, yes + no)}) to", leads_to]
        lines.append(f"not taken {plural(no, 'time')}")
        if wave is not None:
            lines.append(f"of these {here.get((start, goal), 0):,} in {wave.id}")
        return "\n".join([*lines, _OTHERS.format("branch")])

    placed = arrows(source, target)
    # From the left edge of the gutter, where branches seldom meet the arrows of waits.
    color = np.full(len(placed), BRANCH_COLOR)
    rows = _rows(placed.wait, placed.producer, -1 - placed.slot, color, placed.wait)
    return GutterArrows("", rows, tuple(map(tip, placed.wait.tolist(), placed.producer.tolist())))


def _by_pair(source: np.ndarray, target: np.ndarray, taken: np.ndarray) -> dict[tuple[int, int], int]:
    pairs = zip(source.tolist(), target.tolist(), strict=True)
    return dict(zip(pairs, taken.tolist(), strict=True))
