"""Where panels lie: places, and the named layouts that share them out.

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
from dataclasses import field

from PySide6.QtCore import QSize, Qt

from rcv_py.base.records import dataclass
from rcv_py.model.trace import Trace
from rcv_py.ui.core.text_size import grown

COMPACT_WIDTH = 1500  # px: below it the sides start folded
LEFT_PX, RIGHT_PX = 330, 300  # widths of the sides
WAVE_PX = 344  # height of the first panel at the right: all it shows
CODE_SHARE = 0.6  # of the width that instructions and source share
BELOW = 0.22  # of the height: a second time view
BOTTOM_PX = 320  # height of the open bottom tabs, at least
LEAST_CODE_PX, LEAST_TIME_PX = 250, 140  # heights that code and time keep when the bottom opens

_LEFT, _RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
_TOP, _BOTTOM = Qt.DockWidgetArea.TopDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea
OWN = "own:"  # before the name of a layout that the user saved
APART = "apart"  # the place of panels that are windows of their own, over the main one
APART_PX = QSize(860, 460)
DOWN, ACROSS = Qt.Orientation.Vertical, Qt.Orientation.Horizontal


@dataclass(frozen=True, slots=True)
class Place:
    """Where a group of tabs goes: below or beside the first group of `after` that exists, else the side."""

    area: str
    side: Qt.DockWidgetArea
    after: tuple[str, ...] = ()
    direction: Qt.Orientation = DOWN


PLACES = (
    Place("left", _LEFT),
    Place("wave", _RIGHT),
    Place("details", _RIGHT, ("wave",)),
    Place("strip", _TOP),
    Place("time", _TOP, ("strip",)),
    Place("time_below", _TOP, ("time", "strip")),
    Place("code", _BOTTOM),
    Place("bottom", _BOTTOM, ("code",)),
    Place("source", _BOTTOM, ("code",), ACROSS),
)
SIDES = {"left": ("left",), "right": ("wave", "details")}  # what folds away to icons, and its places


@dataclass(frozen=True, slots=True)
class Layout:
    """A way of sharing out the window.

    `time`, `below` and `bottom` are shares of the height, `bottom` 0 is folded; `left` and `right` are widths
    in px.  `front` comes to the front of its tabs, `moved` says which panels lie elsewhere than at home,
    `opens` which sides are shown even where there is little room.
    """

    id: str
    title: str
    tip: str
    time: float = 0.3
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
    """Pixels by place, of widths and heights."""

    widths: dict[str, int]
    code_widths: dict[str, int]
    heights: dict[str, int]


EMPTY_PX = {"source": 300, "time": 64}  # of a place that an open capture has nothing for
GETS = "code"  # what that leaves


def lacking(trace: Trace | None) -> frozenset[str]:
    """Return the places that a capture has nothing for: no source lines, nothing over time."""
    if trace is None or not len(trace.code):
        return frozenset()
    has_time = len(trace.waves) or len(trace.occupancy)
    lacks = {"source": not trace.code.mapped_rows, "time": not has_time}
    return frozenset(place for place, is_empty in lacks.items() if is_empty)


def shares(
    layout: Layout, size: QSize, folded: frozenset[str], empty: frozenset[str] = frozenset()
) -> Shares:
    """Return what each place gets in a workspace of that size.

    `folded` are the sides that are icons, `empty` the places that the open capture has nothing for.
    """
    left = 0 if "left" in folded else min(grown(layout.left), size.width() // 3)
    right = 0 if "right" in folded else grown(layout.right)
    middle, height = size.width() - left - right, size.height()
    bottom = 0 if "bottom" in folded else max(BOTTOM_PX, round((layout.bottom or 0.36) * height))
    time, below = round(layout.time * height), round(layout.below * height)
    wave = grown(WAVE_PX)
    time = min(time, grown(EMPTY_PX["time"])) if "time" in empty else time
    code = round(middle * CODE_SHARE)
    code = max(code, middle - grown(EMPTY_PX["source"])) if "source" in empty else code
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
    """Return heights of time and code once what is below them has so much more: code yields first."""
    left = max(min(code, grown(LEAST_CODE_PX)), code - more)
    return max(min(time, grown(LEAST_TIME_PX)), time - max(0, more - (code - left))), left
