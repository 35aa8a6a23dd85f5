"""The markers of waves, in a band below their rows: one lane a depth, outer scopes on top."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base import colors
from rcv_py.base.text import elide_right
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.rows_item import Frame, marker_codes

LANE_PX = 12  # height of a lane, a pixel of distance included
MOST_LANES = 6  # deeper scopes share the last one
POINT_PX = 2  # width of a point
NEAR_PX = 3  # how far from a point the mouse may be
MOST_NAMES = 300  # a picture
FEWEST = 2  # characters of a name that must fit


@dataclass(frozen=True, eq=False)
class Lanes:
    """Spans in the rows of a timeline, sorted by (row, lane, begin)."""

    row: np.ndarray  # int32, row on screen
    lane: np.ndarray  # int32
    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles
    is_point: np.ndarray  # bool
    code: np.ndarray  # uint8, of its pixels
    span: np.ndarray  # int64, row of the marker spans

    def __len__(self) -> int:
        return len(self.row)


def lanes_of(spans: MarkerSpans, row: np.ndarray) -> Lanes:
    """Lay out the spans whose `row` (int64, a span) on screen is not -1."""
    chosen = np.flatnonzero(row >= 0)
    lane = np.minimum(spans.depth[chosen].astype(np.int32), MOST_LANES - 1)
    order = np.lexsort((spans.begin[chosen], lane, row[chosen]))
    chosen, lane = chosen[order], lane[order]
    return Lanes(
        row[chosen].astype(np.int32),
        lane,
        spans.begin[chosen],
        spans.end[chosen],
        spans.is_point[chosen],
        marker_codes(spans.kind[chosen], spans.name_id[chosen]),
        chosen,
    )


def no_lanes() -> Lanes:
    """A band without any lane."""
    whole, wide = np.zeros(0, np.int32), np.zeros(0, np.int64)
    return Lanes(whole, whole, wide, wide, np.zeros(0, bool), np.zeros(0, np.uint8), wide)


class MarkerBand:
    """Paints and finds the boxes."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self.spans: MarkerSpans | None = None
        self.lanes = no_lanes()

    @property
    def height(self) -> int:
        """Pixels that the lanes need."""
        return (int(self.lanes.lane.max()) + 1) * LANE_PX + 1 if len(self.lanes) else 0

    def show(self, spans: MarkerSpans | None, row: np.ndarray | None = None) -> None:
        """Show other spans; `row` is the row on screen of each, -1 for none."""
        self.spans = spans
        self.lanes = no_lanes() if spans is None or row is None else lanes_of(spans, row)

    def at(self, row: int, lane: int, time: int, pixel: int) -> int:
        """The span at a cycle of a lane: a point that is near, else the innermost box; -1 if there is none.

        `pixel` is how many cycles share a pixel.
        """
        if not 0 <= lane < MOST_LANES:
            return -1
        lanes = self.lanes
        low, high = np.searchsorted(
            lanes.row * MOST_LANES + lanes.lane, [key := row * MOST_LANES + lane, key + 1]
        )
        begin, end, is_point = lanes.begin[low:high], lanes.end[low:high], lanes.is_point[low:high]
        reach = np.where(is_point, NEAR_PX * pixel, 0)
        fits = np.flatnonzero((begin - reach < time + pixel) & (np.maximum(end, begin + 1) + reach > time))
        if not len(fits):
            return -1
        far = np.abs(begin[fits] - time) + np.where(is_point[fits], 0, 1 << 60)
        points = is_point[fits]
        best = fits[np.argmin(far)] if points.any() else fits[-1]
        return int(lanes.span[low + best])

    # -- painting ---------------------------------------------------------------------------------------

    def paint(self, frame: Frame) -> None:
        """Fill the pixels of the boxes in view; the longer of two wins a pixel, points win over all."""
        lanes, seen = self.lanes, self._seen(frame)
        if not len(seen):
            return
        left, right = _pixels(frame, lanes, seen)
        order = np.lexsort((right - left, lanes.is_point[seen]))
        seen, left, right = seen[order], left[order], right[order]
        width = frame.pixels.width_px
        count = int(lanes.lane.max()) + 1
        strips = np.zeros(((frame.stop - frame.first) * count, width), np.uint8)
        length = right - left
        place = (lanes.row[seen].astype(np.int64) - frame.first) * count + lanes.lane[seen]
        at = np.repeat(place * width + left - np.cumsum(length) + length, length) + np.arange(
            int(length.sum())
        )
        strips.reshape(-1)[at] = np.repeat(lanes.code[seen], length)
        for number in np.unique(place).tolist():
            row, lane = divmod(number, count)
            part = frame.part(frame.first + row, self._top(frame, lane), round((LANE_PX - 1) * frame.scale))
            if len(part):
                np.copyto(part, strips[number], where=strips[number] > 0)

    def paint_over(self, painter: QPainter, frame: Frame) -> None:
        """Write the names into the wider boxes."""
        lanes, spans, seen = self.lanes, self.spans, self._seen(frame)
        seen = seen[~lanes.is_point[seen]]
        if spans is None or not len(seen):
            return
        font = QFont(frame.theme.mono_family)
        font.setPixelSize(max(7, round((LANE_PX - 3) * frame.scale)))
        metrics = QFontMetricsF(font)
        left, right = _pixels(frame, lanes, seen)
        room = (right - left - 6 * frame.scale) // metrics.horizontalAdvance("0")
        chosen = np.flatnonzero(room >= FEWEST)
        chosen = chosen[np.argsort(-room[chosen], kind="stable")][:MOST_NAMES]
        painter.setFont(font)
        down = (round((LANE_PX - 1) * frame.scale) + metrics.ascent() - metrics.descent()) / 2
        for place in chosen.tolist():
            box = int(seen[place])
            span = int(lanes.span[box])
            painter.setPen(readable_on_marker(frame.theme, int(spans.kind[span]), int(spans.name_id[span])))
            name = elide_right(spans.names[int(spans.name_id[span])], int(room[place]))
            top = frame.top(int(lanes.row[box])) + self._top(frame, int(lanes.lane[box]))
            draw_text(painter, QPointF(float(left[place]) + 3 * frame.scale, top + down), name)

    def _seen(self, frame: Frame) -> np.ndarray:
        lanes, window = self.lanes, frame.pixels.window
        low, high = np.searchsorted(lanes.row, [frame.first, frame.stop])
        begin, end = lanes.begin[low:high], lanes.end[low:high]
        return low + np.flatnonzero((np.maximum(end, begin + 1) > window.begin) & (begin < window.end))

    def _top(self, frame: Frame, lane: int) -> int:
        shape = frame.shape
        return round((shape.spans + shape.strip + 1 + lane * LANE_PX) * frame.scale)


def _pixels(frame: Frame, lanes: Lanes, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First pixel and the one behind the last of some boxes, at least one, inside the picture; int64."""
    window, width = frame.pixels.window, frame.pixels.width_px
    begin, end = np.maximum(lanes.begin[seen], window.begin), np.minimum(lanes.end[seen], window.end)
    per_cycle = width / window.width
    left = np.minimum(np.round((begin - window.begin) * per_cycle).astype(np.int64), width - 1)
    right = np.round((end - window.begin) * per_cycle).astype(np.int64)
    right -= (right - left >= 4).astype(np.int64)
    least = np.where(lanes.is_point[seen], max(1, round(POINT_PX * frame.scale)), 1)
    return left, np.minimum(np.maximum(right, left + least), width)


def readable_on_marker(theme: Theme, kind: int, name: int) -> QColor:
    """The darker or lighter of text and canvas, whichever is easier to read on the colour of a marker."""
    ground = theme.marker(kind, name).name()
    return max(
        (theme.role("text"), theme.role("canvas")), key=lambda one: colors.contrast(one.name(), ground)
    )
