"""Arrows in the gutter of the instruction table: from waits to producers, from branches to targets.

```
x: label  slot 1   slot 0
             │        ┌──●  828 ds_read       the producer has a dot
             │        │     829 v_add
   ↑ 313     └────────└──▶  830 s_waitcnt     the waiting row has the head; an end out of sight has its number
```
"""

from __future__ import annotations

import numpy as np
from msgspec import field
from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from rcv_py.analysis.cost.place_text import numbered_text
from rcv_py.analysis.program.branches import branches
from rcv_py.analysis.waits.program_waits import ARROW_COLORS, arrows, program_waits, wait_pairs
from rcv_py.analysis.waits.waitcnt.replay import waits_of
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message, join_texts, percent, plural
from rcv_py.features.isa.program import ProgramStructure
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.kinds import TokenKind
from rcv_py.model.tokens import Waits
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.ui.core.plain_text import draw_text

MIN_PX, MAX_PX = 80, 200  # px of the gutter, which grows with the slots in view
BARE_PX = 30  # px of an empty gutter: its menu stays reachable
SLOT_PX = 6.0  # px from slot to slot where there is room
NEAR_SLOT_PX = 5.0  # px where the numbers need the slots' room
MIN_SLOT_PX = 3.0
HEAD_PX = 9  # px between the first slot and the right edge
EDGE_PX = 4  # px at the left
REACH_PX = 4  # maximum distance in px of a hit from an arrow
LABEL_SCALE = 0.82  # size of the font of numbers of rows out of sight
QUIET, DIM = 0.45, 0.16  # opacity of the other arrows, next to the selected row's or to the hovered arrow
BRANCH_COLOR = ARROW_COLORS  # the number after the numbers of waits


class ArrowRows(ColumnTable):
    """Arrows by data row, one entry per arrow."""

    source: np.ndarray  # int64, where it starts
    target: np.ndarray  # int64, where its head is
    slot: np.ndarray  # int64, slot counted from the code; negative: from the left edge, -1 first
    color: np.ndarray  # int64, number for `theme.arrow`
    group: np.ndarray  # int64, data row that isolates it

    def looks_like(self, other: ArrowRows) -> bool:
        """Return whether both are the same arrows."""
        return all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in self.__struct_fields__
        )


class Emphasis(Value):
    """What stands out: the hovered arrow, else those of the hovered row, else those of the selected row."""

    selected: int  # row
    hovered: int  # arrow
    hovered_row: int


class EndLabel(Value):
    """The number of a row out of sight, next to the visible row that an arrow connects it with."""

    row: int  # the target data row
    arrow: int
    text: str
    box: QRectF  # in the viewport


class Placed(Record):
    """Arrows that touch the visible rows, in viewport pixels."""

    number: np.ndarray  # int64, which arrow of `ArrowRows`
    x: np.ndarray  # float64, of the vertical part
    y_source: np.ndarray  # float64
    y_target: np.ndarray  # float64
    right: float  # where the horizontal parts end
    labels: tuple[EndLabel, ...] = ()
    needed_px: int = MIN_PX  # width of a gutter in which all slots have their full width


def place_arrows(
    arrows: ArrowRows,
    view_rows: np.ndarray,
    box: QRect,
    *,
    row_height: int,
    scroll: int,
    isolated: int | None,
    char_px: float,
) -> Placed:
    """Return the positions of arrows that cross `box`: the part of the gutter with visible rows.

    `view_rows` is the row each data row is shown at, `char_px` the width of a character.  Arrows with a
    hidden end, and all but the isolated ones if there is an isolated row, are left out.
    """
    if not len(view_rows):
        arrows = ArrowRows.empty()
    source, target = view_rows[arrows.source], view_rows[arrows.target]
    keep = (source >= 0) & (target >= 0)
    keep &= (source != target) | (arrows.source == arrows.target)  # else both ends are in the same folded row
    if isolated is not None:
        keep &= arrows.group == isolated
    y = np.array([source, target]) * row_height - scroll + row_height / 2
    keep &= (y.max(axis=0) >= box.top()) & (y.min(axis=0) <= box.bottom())
    number = np.flatnonzero(keep)
    ends = y[0, number], y[1, number]
    labels = _labels(arrows, number, ends, box, row_height=row_height, char_px=char_px * LABEL_SCALE)
    left = max((label.box.right() for label in labels), default=float(box.left())) + EDGE_PX
    inner = arrows.slot[number] >= 0  # from the right; other arrows from the left
    slot = np.where(inner, arrows.slot[number], -1 - arrows.slot[number])
    around = EDGE_PX + HEAD_PX + int(left) - box.left()
    if (_count(slot[inner]) + _count(slot[~inner])) * SLOT_PX + around > MAX_PX:
        for side in (inner, ~inner):  # no more slots than are used in view
            slot[side] = np.unique(slot[side], return_inverse=True)[1].reshape(-1)
    count = _count(slot[inner]) + _count(slot[~inner])
    if box.right() - HEAD_PX - left < NEAR_SLOT_PX * count:  # prefer numbers to wide slots
        left = float(box.left() + EDGE_PX)
    room = max(1.0, box.right() - HEAD_PX - left)
    pitch = min(SLOT_PX, max(MIN_SLOT_PX, room / max(1, count)))
    slot %= max(1, int(room / pitch))
    x = np.where(inner, box.right() - HEAD_PX - pitch * slot - 1.5, left + pitch * slot)
    needed_px = min(MAX_PX, max(MIN_PX, round(around + count * SLOT_PX)))
    right = box.right() - 1.0
    return Placed(
        number, x=x, y_source=ends[0], y_target=ends[1], right=right, labels=labels, needed_px=needed_px
    )


def _count(slot: np.ndarray) -> int:
    return int(slot.max(initial=-1)) + 1


def _labels(
    arrows: ArrowRows,
    number: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray],
    box: QRect,
    *,
    row_height: int,
    char_px: float,
) -> tuple[EndLabel, ...]:
    """Return a label per visible row and direction: the nearest row out of sight, and how many more."""
    seen = [(box.top() <= end) & (end <= box.bottom()) for end in ends]
    leads: dict[tuple[float, bool], list[tuple[float, int, int]]] = {}
    for at in np.flatnonzero(seen[0] != seen[1]).tolist():
        here, there = (1, 0) if seen[1][at] else (0, 1)
        row = (arrows.source, arrows.target)[there][number[at]]
        y, away = float(ends[here][at]), float(ends[there][at])
        leads.setdefault((y, away < y), []).append((abs(away - y), int(row), int(number[at])))
    labels: list[EndLabel] = []
    used: dict[float, float] = {}
    for (y, is_up), found in sorted(leads.items()):
        _, row, arrow = min(found)
        more = len({row for _, row, _ in found}) - 1
        text = f"{'↑' if is_up else '↓'}{row}" + (f"+{more}" if more else "")
        left, height = used.get(y, box.left() + 2.0), row_height - 3
        width = len(text) * char_px + 4
        labels.append(EndLabel(row, arrow, text, QRectF(left, y - height / 2, width, height)))
        used[y] = left + width + 1
    return tuple(labels)


def paint_arrows(
    painter: QPainter, arrows: ArrowRows, placed: Placed, colors: list[QColor], emphasis: Emphasis
) -> None:
    """Paint the placed arrows, quiet ones first, then the numbers of rows out of sight.

    The numbers are in the font of the painter and on its background.
    """
    number, strong, quiet = placed.number, np.zeros(len(placed.number), dtype=bool), 0.85
    of_rows = (_touches(arrows, number, row) for row in (emphasis.hovered_row, emphasis.selected))
    for chosen, others in zip((number == emphasis.hovered, *of_rows), (DIM, DIM, QUIET), strict=True):
        if chosen.any():
            strong, quiet = chosen, others
            break
    for at in np.argsort(strong, kind="stable").tolist():
        kind = int(arrows.color[number[at]])
        width = 2.2 if number[at] == emphasis.hovered else 1.3 + 0.5 * strong[at]
        pen = QPen(colors[kind % len(colors)], width)
        if kind == BRANCH_COLOR:
            pen.setDashPattern([4.0, 2.0])
        painter.setOpacity(1.0 if strong[at] else quiet)
        painter.setPen(pen)
        _paint_arrow(painter, placed, at, is_branch=kind == BRANCH_COLOR)
    number = np.array([label.arrow for label in placed.labels], dtype=np.int64)
    rows = emphasis.hovered_row if emphasis.hovered < 0 else -1
    strong = (number == emphasis.hovered) | _touches(arrows, number, rows)
    for label, is_strong in zip(placed.labels, strong.tolist(), strict=True):
        painter.setOpacity(1.0 if is_strong or not strong.any() else QUIET)
        painter.fillRect(label.box, painter.background())
        painter.setPen(colors[int(arrows.color[label.arrow]) % len(colors)])
        draw_text(painter, label.box, Qt.AlignmentFlag.AlignCenter, label.text)
    painter.setOpacity(1.0)


def _touches(arrows: ArrowRows, number: np.ndarray, row: int) -> np.ndarray:
    return (arrows.source[number] == row) | (arrows.target[number] == row)


def _paint_arrow(painter: QPainter, placed: Placed, at: int, *, is_branch: bool) -> None:
    x, source, target = float(placed.x[at]), float(placed.y_source[at]), float(placed.y_target[at])
    right, pen = placed.right, painter.pen()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    way = [QPointF(right - 3, source), QPointF(x, source), QPointF(x, target), QPointF(right - 4, target)]
    painter.drawPolyline(way)
    pen.setStyle(Qt.PenStyle.SolidLine)
    painter.setPen(pen)
    head = [QPointF(right - 5, target - 3), QPointF(right, target), QPointF(right - 5, target + 3)]
    if is_branch:  # an open head
        painter.drawPolyline(head)
        return
    painter.setBrush(pen.color())
    painter.drawPolygon(QPolygonF(head))
    painter.drawEllipse(QPointF(right - 2.5, source), 1.6, 1.6)


def hit_arrow(placed: Placed, x: float, y: float) -> int:
    """Return the number of the nearest arrow at a point; -1 if there is none."""
    if not len(placed.number):
        return -1
    top, bottom = np.minimum(placed.y_source, placed.y_target), np.maximum(placed.y_source, placed.y_target)
    along = np.hypot(placed.x - x, np.maximum(0, np.maximum(top - y, y - bottom)))
    away = np.minimum(abs(placed.y_source - y), abs(placed.y_target - y))  # from the nearer horizontal part
    distance = np.minimum(along, np.hypot(np.maximum(0, placed.x - x), away))
    best = int(np.argmin(distance))
    return int(placed.number[best]) if distance[best] <= REACH_PX else -1


def end_at(arrows: ArrowRows, placed: Placed, number: int, y: float, row_height: int) -> int:
    """Return the data row at the other end of an arrow whose end is at `y`; -1 if `y` is between them."""
    at = int(np.flatnonzero(placed.number == number)[0])
    both = (placed.y_source, placed.y_target)
    at_source, at_target = (abs(ends[at] - y) <= row_height / 2 for ends in both)
    if at_source == at_target:
        return -1
    return int((arrows.target if at_source else arrows.source)[number])


MODES = {"waits": "Waits", "branches": "Branches", "both": "Both", "none": "No arrows"}
HEADINGS = {"waits": "waits", "branches": "branches", "both": "arrows", "none": "no arrows"}
LEGEND = (
    "A solid line leads from the instruction that was waited for (dot) to the wait (filled "
    "head), a dashed line from a branch to its target (open head). A number names a row out "
    "of sight: click it to go there."
)
_OTHERS = "Click an end to go to the other, the middle to show this {} alone (Esc: all)."
_COUNTERS = {
    TokenKind.LDS: ("lgkmcnt", "dscnt"),
    TokenKind.SMEM: ("lgkmcnt", "kmcnt"),
    TokenKind.MSG: ("lgkmcnt", "kmcnt"),
    TokenKind.VMEM: ("vmcnt", "loadcnt", "vscnt", "storecnt"),
    TokenKind.FLAT: ("vmcnt", "loadcnt", "vscnt", "storecnt", "lgkmcnt", "dscnt"),
    TokenKind.BVH: ("vmcnt", "bvhcnt"),
}


class GutterArrows(Record):
    """Arrows with tooltips, and the reason if there are none; `waits` are kept in every mode."""

    note: str = ""
    rows: ArrowRows = field(default_factory=ArrowRows.empty)
    tips: tuple[str, ...] = ()
    waits: ArrowRows = field(default_factory=ArrowRows.empty)
    no_waits: str = ""  # reason if there are none

    def producer(self, row: int) -> int:
        """Return the row that a wait waited for, the last above it if there are several; -1 for none."""
        return _nearest(self.waits.source[self.waits.target == row], row, -1)

    def waiter(self, row: int) -> int:
        """Return the row that waited for a row, the next below it if there are several; -1 for none."""
        return _nearest(self.waits.target[self.waits.source == row], row, 1)


def _nearest(rows: np.ndarray, row: int, direction: int) -> int:
    """Return the nearest row in a direction, wrapping around the end of a loop; -1 if there is none."""
    ahead = (rows - row) * direction
    rows = rows[np.lexsort((ahead, ahead <= 0))]
    return int(rows[0]) if len(rows) else -1


def gutter_arrows(mode: str, wave: TracedWave | None, program: ProgramStructure) -> GutterArrows:
    """Return the arrows of a mode: waits of the wave, branches of all waves, both, or none."""
    trace, parts = program.trace, []
    if trace.is_static:
        waits = _drawn_waits(program_waits(trace.code, trace.architecture), trace)
    else:
        waits = wait_arrows(wave, trace)
    why = "" if len(waits.rows) else waits.note
    if mode in ("waits", "both"):
        parts.append(waits)
    if mode in ("branches", "both"):
        parts.append(branch_arrows(program, wave))
    if not parts:
        note = "Arrows are switched off; choose them in the header of this column."
        return GutterArrows(note, waits=waits.rows, no_waits=why)
    notes = dict.fromkeys(part.note for part in parts if part.note)
    tips = tuple(tip for part in parts for tip in part.tips)
    return GutterArrows(join_texts("\n", notes), joined([part.rows for part in parts]), tips, waits.rows, why)


def _rows(*columns: np.ndarray) -> ArrowRows:
    return ArrowRows(*(column.astype(np.int64) for column in columns))


def wait_arrows(wave: TracedWave | None, trace: Trace) -> GutterArrows:
    """Return arrows from producers to the waits of a wave, from its file or else from a replay."""
    if wave is None:
        return GutterArrows("The selected wave is not read yet, so its waits are not known.")
    found = _drawn_waits(waits_of(wave, trace.code, trace.architecture), trace)
    if not len(found.rows):
        return GutterArrows(Message("Wave {0} waited for no instruction.", wave.id))
    note = "" if wave.waits else "Found by replaying the wave's counters, since its file lists no waits."
    return replace(found, note=note)


def _drawn_waits(waits: Waits, trace: Trace) -> GutterArrows:
    """Return arrows from producers to waits, with tips."""
    code, drawn = trace.code, arrows(*wait_pairs(waits))

    def tip(wait: int, producer: int) -> str:
        kind = int(code.kind[producer])
        names = _COUNTERS.get(TokenKind(kind), ()) if kind < len(TokenKind) else ()
        counter = next((name for name in names if name in code.text[wait]), "")
        through = Message("\nthrough {0}", counter) if counter else ""
        waits, waited_for = (numbered_text(trace, row) for row in (wait, producer))
        return Message("{0}\n→ {1}{2}\n{3}", waited_for, waits, through, Message(_OTHERS, "wait"))

    rows = _rows(drawn.producer, drawn.wait, drawn.slot, drawn.color, drawn.wait)
    return GutterArrows("", rows, tuple(map(tip, drawn.wait.tolist(), drawn.producer.tolist())))


def branch_arrows(program: ProgramStructure, wave: TracedWave | None) -> GutterArrows:
    """Return arrows from branches that jumped in any loaded wave; without waves, from the branches' texts."""
    trace, jumps = program.trace, program.branches
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
    own = None if wave is None else branches([wave], trace.code)
    here = {} if own is None else _by_pair(own.source, own.target, own.taken)

    def tip(start: int, goal: int) -> str:
        yes, no = times[start, goal], passed.get(start, 0)
        branch, leads_to = (numbered_text(trace, row) for row in (start, goal))
        if not yes and not no:
            return Message("{0}\njumps to\n{1}\nThe capture does not record how often.", branch, leads_to)
        jumped = Message("jumped {0} ({1}) to", plural(yes, "time"), percent(yes, yes + no))
        lines = [branch, jumped, leads_to, Message("not taken {0}", plural(no, "time"))]
        if wave is not None:
            lines.append(Message("of these {0:,} in {1}", here.get((start, goal), 0), wave.id))
        return join_texts("\n", [*lines, Message(_OTHERS, "branch")])

    placed = arrows(source, target)
    # From the left edge of the gutter, where branches seldom cross the arrows of waits.
    color = np.full(len(placed), BRANCH_COLOR)
    rows = _rows(placed.wait, placed.producer, -1 - placed.slot, color, placed.wait)
    return GutterArrows("", rows, tuple(map(tip, placed.wait.tolist(), placed.producer.tolist())))


def _by_pair(source: np.ndarray, target: np.ndarray, taken: np.ndarray) -> dict[tuple[int, int], int]:
    pairs = zip(source.tolist(), target.tolist(), strict=True)
    return dict(zip(pairs, taken.tolist(), strict=True))
