"""Places of panels, and the named layouts that divide the window.

    bar  │ overview strip                          │ wave
    left │ time: tabs                              │ of the
    tabs │ time_below: a second view, if pinned    │ selection
         ├──────────────────┬──────────────────────┤ details
         │ code             │ source               │ of the
         ├──────────────────┴──────────────────────┤ instruction
         │ bottom: tabs, can be folded             │

Findings are left, time is in the middle, code below it, details are right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from PySide6.QtCore import QSize, Qt

from rcv_py.base.runs import distinct
from rcv_py.model.trace import Trace
from rcv_py.ui.core.text_size import grown

COMPACT_WIDTH = 1500  # px: below it the sides start folded
LEFT_PX, RIGHT_PX = 330, 300  # px: widths of the sides
WAVE_PX = 316  # height of the first panel at the right: enough for all of it
CODE_SHARE = 0.6  # share of the width: instructions and source
ROWS_PX = 540  # height of 18 rows of code, with everything around them but the time views
BELOW = 0.22  # share of the height: a second time view
BOTTOM_PX, LEAST_BOTTOM_PX = 320, 260  # height of the open bottom tabs; in a low window
FOLDED_PX = 1  # height of a folded dock below its tab; Qt complains about 0
LEAST_CODE_PX, LEAST_TIME_PX = 250, 140  # heights that code and time keep when the bottom opens

_LEFT, _RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
_TOP, _BOTTOM = Qt.DockWidgetArea.TopDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea
OWN = "own:"  # prefix of the id of a user's layout
APART = "apart"  # the place of panels in windows of their own, over the main window
APART_PX = QSize(860, 460)
DOWN, ACROSS = Qt.Orientation.Vertical, Qt.Orientation.Horizontal


@dataclass(frozen=True, slots=True)
class TabGroupPlace:
    """The place of a group of tabs: below or next to the first existing group of `after`, else the side."""

    area: str
    side: Qt.DockWidgetArea
    after: tuple[str, ...] = ()
    direction: Qt.Orientation = DOWN


PLACES = (
    TabGroupPlace("left", _LEFT),
    TabGroupPlace("wave", _RIGHT),
    TabGroupPlace("details", _RIGHT, ("wave",)),
    TabGroupPlace("strip", _TOP),
    TabGroupPlace("time", _TOP, ("strip",)),
    TabGroupPlace("time_below", _TOP, ("time", "strip")),
    TabGroupPlace("code", _BOTTOM),
    TabGroupPlace("bottom", _BOTTOM, ("code",)),
    TabGroupPlace("source", _BOTTOM, ("code",), ACROSS),
)
SIDES = {"left": ("left",), "right": ("wave", "details")}  # sides that fold to icons, and their places


@dataclass(frozen=True, slots=True)
class Layout:
    """A division of the window.

    `time`, `below` and `bottom` are shares of the height; `bottom` 0 is folded. `left` and `right` are widths
    in px.  Panels in `front` come to the front of their tabs, `moved` gives panels a place other than home,
    and `opens` names sides that are shown even where there is little room.
    """

    id: str
    title: str
    tip: str
    time: float = 0.27
    below: float = 0.0
    bottom: float = 0.0
    left: int = LEFT_PX
    right: int = RIGHT_PX
    front: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    opens: tuple[str, ...] = ()


LAYOUTS = (
    Layout("code", "Code", "Instructions and source over most of the window, time above them."),
    Layout(
        "time",
        "Time",
        "Two time views over most of the window: the compute unit, and the whole device below it.",
        time=0.36,
        below=0.28,
        moved={"global_timeline": "time_below"},
    ),
    Layout(
        "triage",
        "Triage",
        "Wide findings, and why instructions waited below the code.",
        time=0.2,
        bottom=0.36,
        left=480,
        front=("causes",),
        opens=("left",),
    ),
    Layout(
        "compare",
        "Compare",
        "The open capture beside its baseline over half of the window.",
        time=0.18,
        bottom=0.5,
        front=("compare",),
    ),
)
BY_ID = {layout.id: layout for layout in LAYOUTS}


@dataclass(frozen=True, slots=True)
class Shares:
    """Widths and heights in px, by place."""

    widths: dict[str, int]
    code_widths: dict[str, int]
    heights: dict[str, int]


EMPTY_PX = {"source": 170, "time": 64, "wave": 110}  # of a place for which the open capture has no data
# Which place gets the room that another leaves, and in which direction it lies.
ROOM_GOES_TO = {"source": ("code", ACROSS), "time": ("code", DOWN), "wave": ("details", DOWN)}
ROW_PX, HIGH_ROW_PX = 26, 40  # rows of a wave; with instructions that overlap while they execute
AROUND_ROWS_PX = 72  # px above and below the rows: choices, legend, times
LEAST_ROWS_PX = 190  # px of a time view with few rows: the tabs next to it need room, too


def most_px(trace: Trace | None) -> dict[str, int]:
    """Return the largest useful size of places for a capture, by place, in px of usual text.

    A place without data needs room for a sentence, and a compute unit with few concurrent waves for a few
    rows.
    """
    if trace is None or not len(trace.code):
        return {}
    has_time, has_waves = len(trace.waves) or len(trace.occupancy), len(trace.waves)
    lacks = {"source": not trace.code.mapped_rows, "time": not has_time, "wave": not has_waves}
    found = {place: EMPTY_PX[place] for place, is_empty in lacks.items() if is_empty}
    if has_waves and not trace.shader_data:  # markers lie in separate bands below the waves
        row_px = ROW_PX if trace.architecture.busy_is_issue else HIGH_ROW_PX
        found["time"] = max(LEAST_ROWS_PX, AROUND_ROWS_PX + row_px * rows_of_unit(trace))
    return found


def rows_of_unit(trace: Trace) -> int:
    """Return the largest number of rows of a compute unit: slots of its SIMDs that held a wave."""
    index = trace.waves
    slots, _ = distinct(index.se, index.sa, index.cu, index.simd, index.slot)
    _, unit = distinct(index.se[slots], index.sa[slots], index.cu[slots])
    return int(np.bincount(unit).max(initial=0))


def shares(
    layout: Layout, size: QSize, folded: frozenset[str], most: Mapping[str, int] = MappingProxyType({})
) -> Shares:
    """Return the size of each place in a workspace of that size.

    `folded` are the sides shown as icons, `most` the largest useful sizes for the open capture (`most_px`).
    """
    left = 0 if "left" in folded else min(grown(layout.left), size.width() // 3)
    right = 0 if "right" in folded else grown(layout.right)
    middle, height = size.width() - left - right, size.height()
    bottom = FOLDED_PX if "bottom" in folded else max(BOTTOM_PX, round((layout.bottom or 0.36) * height))
    time, below = round(layout.time * height), round(layout.below * height)
    wave = grown(most.get("wave", WAVE_PX))
    time = min(time, grown(most.get("time", time)), max(grown(LEAST_TIME_PX), height - grown(ROWS_PX)))
    code = round(middle * CODE_SHARE)
    code = max(code, middle - grown(most["source"])) if "source" in most else code
    return Shares(
        widths={"left": left, "wave": right},
        code_widths={"code": code, "source": middle - code},
        heights={
            "left": height,
            "time": time,
            "time_below": below,
            "code": max(0, height - time - below - bottom),
            "bottom": bottom,
            "wave": wave,
            "details": max(0, height - wave),
        },
    )


def room_above(time: int, code: int, more: int) -> tuple[int, int]:
    """Return heights of time and code after the area below them grew by a number of px: code yields first."""
    left = max(min(code, grown(LEAST_CODE_PX)), code - more)
    return max(min(time, grown(LEAST_TIME_PX)), time - max(0, more - (code - left))), left
