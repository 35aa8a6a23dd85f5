"""Places of panels, the named layouts that divide the window, and the sizes that a layout gives.

    bar  │ overview strip                          │ wave
    left │ time: tabs                              │ of the
    tabs │ time_below: a second view, if pinned    │ selection
         ├──────────────────┬──────────────────────┤ details
         │ code             │ source               │ of the
         ├──────────────────┴──────────────────────┤ instruction
         │ bottom: tabs, can be folded             │

Findings are left, time is in the middle, code below it, details are right.  A size never depends on sizes
before it: the same layout in the same window gives the same pixels.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec import field
from msgspec.structs import replace
from PySide6.QtCore import QSize

from rcv_py.base.record import Value
from rcv_py.base.runs import distinct
from rcv_py.model.trace import Trace
from rcv_py.ui.core.panel import MAX_PX
from rcv_py.ui.core.text_size import grown

COMPACT_WIDTH = 1500  # px: below it the sides start folded
LOW_HEIGHT = 740  # px: a middle below it keeps fewer rows of code
CODE_PX, LOW_CODE_PX = 290, 215  # heights with 12 and 8 rows of code
LEAST_CODE_WIDTH = 430  # px: where there is little room the source gives way
WAVE_PX = 338  # height of the first place at the right: enough for all of the panel Wave
LEAST_PX = {"bottom": 285, "time": 165, "time_below": 165}  # heights below which places stop giving way
ROWS_PX = 450  # height of 18 rows of code, with everything around them but the time views
BELOW = 0.22  # share of the height: a second time view
MAX_BOTTOM = 0.5  # share of the height

STRIP = "strip"  # the place above the time views, without tabs
APART = "apart"  # the place of panels in windows of their own, over the main window
APART_PX = QSize(860, 460)
TITLES = {  # of the places that a panel can be moved to
    "left": "Left side", "time": "Time", "time_below": "Second time view", "code": "Code",
    "source": "Beside the code", "wave": "Right side, above", "details": "Right side, below",
    "bottom": "Bottom", APART: "A window of its own",
}  # fmt: skip
MIDDLE = ("time", "time_below", "code", "bottom")  # places in the middle, from above
CODE_AREAS = ("code", "source")
SIDES = {"left": ("left",), "right": ("wave", "details")}  # sides that fold to icons, and their places


class Layout(Value):
    """A division of the window.

    `time`, `below` and `bottom` are shares of the height, `code` is the share of the width that code and
    source have together; `left`, `right` and `wave` are px of usual text.  Panels in `front` come to the
    front of their tabs, `moved` gives panels a place other than home, and `opens` names the bottom, and sides
    that are shown even where there is little room.  `limited` are the sizes that a user gave to places for
    captures with little to show there.
    """

    id: str
    title: str
    tip: str
    time: float = 0.36
    below: float = BELOW
    bottom: float = 0.36
    code: float = 0.6
    left: int = 330
    right: int = 300
    wave: int = WAVE_PX
    front: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    opens: tuple[str, ...] = ()
    limited: Mapping[str, int] = field(default_factory=dict)


LAYOUTS = (
    Layout("code", "Code", "Instructions and source over most of the window, time above them."),
    Layout("time", "Time",
           "Two time views over most of the window: the compute unit, and the whole device below it.",
           time=0.4, below=0.28, moved={"global_timeline": "time_below"}),
    Layout("triage", "Triage", "Wide findings, and why instructions waited below the code.",
           time=0.2, left=480, front=("causes",), opens=("left", "bottom")),
    Layout("compare", "Compare", "The open capture beside its baseline over half of the window.",
           time=0.18, bottom=0.5, front=("compare",), opens=("bottom",)),
)  # fmt: skip
BY_ID = {layout.id: layout for layout in LAYOUTS}
SHARES = ("time", "below", "bottom", "code")  # fields that users change by dragging handles
PIXELS = ("left", "right", "wave")

EMPTY_PX = {"source": 170, "time": 88}  # of a place for which the open capture has no data
ROW_PX, HIGH_ROW_PX = 26, 40  # rows of a wave; with instructions that overlap while they execute
AROUND_ROWS_PX = 96  # px above and below the rows: tabs, choices, legend, times
LEAST_ROWS_PX = 214  # px of a time view with few rows: other tabs of the place need room, too


def most_px(trace: Trace | None) -> dict[str, int]:
    """Return the largest useful size of places for a capture, by place, in px of usual text.

    A place without data needs room for a sentence, and a compute unit with few concurrent waves for a few
    rows.
    """
    if trace is None or not len(trace.code):
        return {}
    lacks = {"source": not trace.code.mapped_rows, "time": not trace.has_times}
    found = {place: EMPTY_PX[place] for place, is_empty in lacks.items() if is_empty}
    if len(trace.waves) and not trace.shader_data:  # markers lie in separate bands below the waves
        row_px, index = ROW_PX if trace.architecture.busy_is_issue else HIGH_ROW_PX, trace.waves
        slots, _ = distinct(index.se, index.sa, index.cu, index.simd, index.slot)  # that held a wave
        _, unit = distinct(index.se[slots], index.sa[slots], index.cu[slots])
        most_slots = int(np.bincount(unit).max(initial=0))  # of a compute unit
        found["time"] = max(LEAST_ROWS_PX, AROUND_ROWS_PX + row_px * most_slots)
    return found


def without_data(trace: Trace | None) -> frozenset[str]:
    """Return the places whose own panels have nothing to show of a capture; they take no room."""
    if trace is None:
        return frozenset()
    has_data = {place: trace.has_times for place in (STRIP, "time")}
    has_data |= {"wave": len(trace.waves) > 0, "source": len(trace.code) > 0}
    return frozenset(place for place, is_there in has_data.items() if not is_there)


FIELDS = {"time_below": "below"}  # of a layout, for the places that do not have one of their name
GIVING = ("time", "time_below", "bottom")  # places that give way to the code, the first first


def fitted(layout: Layout, height: int) -> Layout:
    """Return a layout as it is first shown at a height in px: time leaves room for 18 rows of code."""
    most = max(grown(LEAST_PX["time"]), height - grown(ROWS_PX)) / max(1, height)
    return replace(layout, time=min(layout.time, most))


class Shown(Value):
    """What is shown: places; the most px that places need, from `most_px`; px of the folded bottom, or 0."""

    places: Collection[str]
    most: Mapping[str, int] = MappingProxyType({})
    folded_px: int = 0


def widths(layout: Layout, width: int, shown: Shown) -> tuple[int, ...]:
    """Return the widths in px of the left side, the middle and the right side; of a hidden side 0."""
    is_right = any(place in shown.places for place in SIDES["right"])
    left = min(grown(layout.left), width // 3) if "left" in shown.places else 0
    right = min(grown(layout.right), width // 3) if is_right else 0
    return left, width - left - right, right


def code_widths(layout: Layout, width: int, shown: Shown) -> tuple[int, ...]:
    """Return the widths in px of code and source, which share a width."""
    if not {*CODE_AREAS} <= {*shown.places}:
        return (width, 0) if "code" in shown.places else (0, width)
    source = _limited(layout, "source", round(width * (1 - layout.code)), shown.most)
    source = min(source, max(width - grown(LEAST_CODE_WIDTH), grown(EMPTY_PX["source"]), 0), width)
    return width - source, source


def right_heights(layout: Layout, height: int, shown: Shown) -> tuple[int, ...]:
    """Return the heights in px of the places at the right, which share a height."""
    if not {*SIDES["right"]} <= {*shown.places}:
        return (height, 0) if "wave" in shown.places else (0, height)
    wave = min(_limited(layout, "wave", grown(layout.wave), shown.most), height // 2)
    return wave, height - wave


def heights(layout: Layout, height: int, shown: Shown) -> tuple[int, ...]:
    """Return the heights in px of the places in the MIDDLE; the code takes the rest.

    The code keeps its least rows, at most half of the height: the other places give way, first down to their
    least heights in turn, then in proportion.
    """
    places, most = shown.places, shown.most
    folded = {"bottom": min(shown.folded_px, height)} if shown.folded_px and "bottom" in places else {}
    room = height - sum(folded.values())
    wanted = {place: round(getattr(layout, FIELDS.get(place, place)) * height) for place in GIVING}
    found = {place: px for place, px in wanted.items() if place in places and place not in folded}
    if "time" in found:
        found["time"] = _limited(layout, "time", found["time"], most)
    if "bottom" in found:
        most_bottom = round(MAX_BOTTOM * height)
        found["bottom"] = min(max(found["bottom"], grown(LEAST_PX["bottom"])), most_bottom)
    if any(place in places for place in CODE_AREAS):
        code = grown(LOW_CODE_PX if height < LOW_HEIGHT else CODE_PX)
        for place, px in found.items():
            lacking = code + sum(found.values()) - room
            found[place] = max(px - max(0, lacking), min(px, grown(LEAST_PX[place])))
        ratio = max(room - code, room // 2) / max(1, sum(found.values()))
        found = {place: round(px * min(1, ratio)) for place, px in found.items()}
        found["code"] = room - sum(found.values())
    elif found:  # the first place takes the rest
        first = next(iter(found))
        found[first] += room - sum(found.values())
    found |= folded
    return tuple(found.get(place, 0) for place in MIDDLE)


def _limited(layout: Layout, place: str, px: int, most: Mapping[str, int]) -> int:
    """Return a size, or the size for captures with little to show in a place if that is smaller."""
    if place not in most or grown(most[place]) >= px:
        return px
    return layout.limited.get(place, grown(most[place]))


def dragged(layout: Layout, place: str, px: int, room: int, most: Mapping[str, int]) -> Layout:
    """Return the layout with another size of a place, which a user gave to it; `room` is that of its row."""
    name, share = FIELDS.get(place, place), px / max(1, room)
    usual_share = getattr(layout, name, 0)
    if place == "source":
        name, share, usual_share = "code", 1 - share, 1 - layout.code
    if place in most:
        usual = layout.wave if place == "wave" else round(usual_share * room)
        if grown(most[place]) < max(usual, px):
            layout = replace(layout, limited={**layout.limited, place: px})
        if grown(most[place]) < usual:  # the size for captures with more to show stays
            return layout
    size = share if name in SHARES else round(px * 1000 / grown(1000))
    return resized(layout, {name: size}, layout.limited)


def resized(layout: Layout, sizes: Mapping[str, Any], limited: Mapping[str, Any]) -> Layout:
    """Return the layout with other sizes: by field; what does not fit is left out."""
    fits: dict[str, Any] = {name: sizes[name] for name in SHARES if _is_between(sizes.get(name), 0, 1)}
    fits |= {name: sizes[name] for name in PIXELS if _is_between(sizes.get(name), 1, MAX_PX)}
    limits = {place: px for place, px in limited.items() if place in TITLES and _is_between(px, 1, MAX_PX)}
    return replace(layout, **fits, limited=limits)


def _is_between(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
