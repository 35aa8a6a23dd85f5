"""Markers and values of the waves in a timeline: their positions, texts and clicks."""

from collections.abc import Callable, Mapping

import numpy as np
from PySide6.QtGui import QColor, QPainter

from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base.runs import ascending
from rcv_py.model.columns import ColumnTable
from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import copy_text, joined
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.core.times import Times
from rcv_py.ui.timeline.items import NamePainter, fill, name_font, readable_on
from rcv_py.ui.timeline.rows_item import Frame, RowShape, marker_codes
from rcv_py.ui.timeline.time_overlay import RowPart
from rcv_py.ui.timeline.token_tip import value_lines

LANE_PX = 12  # px of a lane, including a pixel of distance
MAX_LANES = 6  # deeper scopes share the last lane
POINT_PX = 2  # width of a point
NEAR_PX = 3  # px: maximum distance of the mouse from a point


def lane_px() -> int:
    """Return the height of a lane at the current text size, including a pixel of distance."""
    return grown(LANE_PX)


class LaneSpans(ColumnTable):
    """Spans in the rows of a timeline, sorted by (row, lane, begin)."""

    row: np.ndarray  # int32, row on screen
    lane: np.ndarray  # int32
    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles
    is_point: np.ndarray  # bool
    code: np.ndarray  # uint8, code of its pixels
    span: np.ndarray  # int64, row of the marker spans


def lanes_of(spans: MarkerSpans, row: np.ndarray) -> LaneSpans:
    """Lay out the spans whose `row` on screen (int64, one per span) is not -1."""
    chosen = np.flatnonzero(row >= 0)
    lane = np.minimum(spans.depth[chosen].astype(np.int32), MAX_LANES - 1)
    order = np.lexsort((spans.begin[chosen], lane, row[chosen]))
    chosen, lane = chosen[order], lane[order]
    return LaneSpans(
        row=row[chosen].astype(np.int32), lane=lane, begin=spans.begin[chosen], end=spans.end[chosen],
        is_point=spans.is_point[chosen], code=marker_codes(spans.kind[chosen], spans.name_id[chosen]),
        span=chosen,
    )  # fmt: skip


class MarkerBand:
    """Paints and finds the boxes."""

    def __init__(self) -> None:
        self.spans: MarkerSpans | None = None
        self.lanes = LaneSpans.empty()
        self._names = NamePainter()

    @property
    def height(self) -> int:
        """Return the pixels that the lanes need."""
        return (int(self.lanes.lane.max()) + 1) * lane_px() + 1 if len(self.lanes) else 0

    def show(self, spans: MarkerSpans | None, row: np.ndarray | None = None) -> None:
        """Show other spans; `row` is the row on screen of each, -1 for none."""
        self.spans = spans
        self.lanes = LaneSpans.empty() if spans is None or row is None else lanes_of(spans, row)

    def at(self, row: int, lane: int, time: int, pixel: int) -> int:
        """Return a near point, else the innermost box, at a cycle of a lane; `pixel` in cycles; -1: none."""
        if not 0 <= lane < MAX_LANES:
            return -1
        lanes = self.lanes
        key = row * MAX_LANES + lane
        low, high = np.searchsorted(lanes.row * MAX_LANES + lanes.lane, [key, key + 1])
        begin, end, is_point = lanes.begin[low:high], lanes.end[low:high], lanes.is_point[low:high]
        reach = np.where(is_point, NEAR_PX * pixel, 0)
        fits = np.flatnonzero((begin - reach < time + pixel) & (np.maximum(end, begin + 1) + reach > time))
        if not len(fits):
            return -1
        points = fits[is_point[fits]]
        near = points[np.argmin(np.abs(begin[points] - time))] if len(points) else fits[-1]
        return int(lanes.span[low + near])

    def paint(self, frame: Frame) -> None:
        """Fill the pixels of the boxes in view; the longer of two boxes wins a pixel, points win over all."""
        lanes, seen = self.lanes, self._seen(frame)
        if not len(seen):
            return
        left, right = _pixels(frame, lanes, seen)
        order = np.lexsort((right - left, lanes.is_point[seen]))
        seen, left, right = seen[order], left[order], right[order]
        width = frame.pixels.width_px
        count = int(lanes.lane.max()) + 1
        strips = np.zeros(((frame.stop - frame.first) * count, width), np.uint8)
        place = (lanes.row[seen].astype(np.int64) - frame.first) * count + lanes.lane[seen]
        fill(strips, place, left, right, lanes.code[seen])
        for number in ascending(place).tolist():
            row, lane = divmod(number, count)
            part = frame.part(frame.first + row, self._top(frame, lane), round((lane_px() - 1) * frame.scale))
            if len(part):
                np.copyto(part, strips[number], where=strips[number] > 0)

    def paint_over(self, painter: QPainter, frame: Frame) -> None:
        """Write the names into wide boxes."""
        lanes, spans, seen = self.lanes, self.spans, self._seen(frame)
        seen = seen[~lanes.is_point[seen]]
        if spans is None or not len(seen):
            return
        left, right = _pixels(frame, lanes, seen)
        margin, height = 3 * frame.scale, round((lane_px() - 1) * frame.scale)

        def name(at: int) -> tuple[str, QColor, float, float]:
            box, span = int(seen[at]), int(lanes.span[seen[at]])
            top = frame.top(int(lanes.row[box])) + self._top(frame, int(lanes.lane[box]))
            return *marker_name(frame.theme, spans, span), float(left[at]) + margin, top + height / 2

        font = name_font(frame.theme, lane_px() - 3, frame.scale)
        self._names.paint(painter, font, right - left - 2 * margin, name)

    def _seen(self, frame: Frame) -> np.ndarray:
        lanes, window = self.lanes, frame.pixels.window
        low, high = np.searchsorted(lanes.row, [frame.first, frame.stop])
        begin, end = lanes.begin[low:high], lanes.end[low:high]
        return low + np.flatnonzero((np.maximum(end, begin + 1) > window.begin) & (begin < window.end))

    def _top(self, frame: Frame, lane: int) -> int:
        shape = frame.shape
        return round((shape.spans + shape.strip + 1 + lane * lane_px()) * frame.scale)


def _pixels(frame: Frame, lanes: LaneSpans, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first pixel and the pixel after the last of some boxes, at least one, clipped; int64."""
    window, width = frame.pixels.window, frame.pixels.width_px
    begin, end = np.maximum(lanes.begin[seen], window.begin), np.minimum(lanes.end[seen], window.end)
    per_cycle = width / window.width
    left = np.minimum(np.round((begin - window.begin) * per_cycle).astype(np.int64), width - 1)
    right = np.round((end - window.begin) * per_cycle).astype(np.int64)
    right -= (right - left >= 4).astype(np.int64)
    smallest = np.where(lanes.is_point[seen], max(1, round(POINT_PX * frame.scale)), 1)
    return left, np.minimum(np.maximum(right, left + smallest), width)


def marker_name(theme: Theme, spans: MarkerSpans, span: int) -> tuple[str, QColor]:
    """Return the name of a span, and a colour that is easy to read on the marker's colour."""
    name = int(spans.name_id[span])
    return spans.names[name], readable_on(theme, theme.marker(int(spans.kind[span]), name))


Values = tuple[tuple[int, np.ndarray], ...]


class UnitMarkers:
    """Connects the marker spans of a trace to the rows of its waves."""

    def __init__(self, session: Session, band: MarkerBand) -> None:
        self._session, self._band = session, band
        self.spans: MarkerSpans | None = None
        self._values: dict[int, np.ndarray] = {}  # row on screen: rows of the records, by time
        self.chosen = -1  # the clicked span
        self.hovered = -1
        self.has_spans = self.has_values = True  # whether they are shown

    def show(self, spans: MarkerSpans | None, row_of_wave: Mapping[int, int]) -> None:
        """Set other spans or other rows."""
        if spans is not self.spans:
            self.chosen = self.hovered = -1
        self.spans, self._values = spans, {}
        self._band.show(None)
        if spans is None or not len(spans.records):
            return
        size = 1 + max(*row_of_wave, *(int(c.max(initial=-1)) for c in (spans.wave, spans.records.wave)), 0)
        table = np.full(size + 1, -1, dtype=np.int64)  # the last row is for wave -1
        table[list(row_of_wave)] = list(row_of_wave.values())
        if self.has_spans:
            self._band.show(spans, table[spans.wave])
        if self.has_values:
            rows = table[spans.records.wave]
            order = np.lexsort((spans.records.time, rows))
            shown, first = np.unique(rows[order], return_index=True)
            parts = np.split(order, first[1:])
            self._values = {row: part for row, part in zip(shown.tolist(), parts, strict=True) if row >= 0}

    def values(self, window: TimeWindow, first: int, stop: int) -> Values:
        """Return rows on screen from `first` on and before `stop`, and the times of values in the window."""
        values = []
        for row in range(first, stop):
            if row in self._values and self.spans is not None:
                time = self.spans.records.time[self._values[row]]
                low, high = np.searchsorted(time, [window.begin, window.end])
                if low < high:
                    values.append((row, time[low:high]))
        return tuple(values)

    def value_tip(self, times: Times, row: int, time: int, pixel: TimeWindow) -> str:
        """Return the values whose ticks are near."""
        if self.spans is None or row not in self._values:
            return ""
        rows, near = self._values[row], NEAR_PX * pixel.width
        low, high = np.searchsorted(self.spans.records.time[rows], [time - near, time + near + 1])
        return joined("<br>", value_lines(times, self.spans, rows[low:high]))

    def at(self, row: int, band_y: float, time: int, pixel: TimeWindow) -> int:
        """Return the span at a position of the band, -1 if there is none."""
        if band_y < 0 or row < 0:
            return -1
        return self._band.at(row, int(max(0.0, band_y - 1) // lane_px()), time, pixel.width)

    def place(self, span: int, shape: RowShape) -> RowPart | None:
        """Return the place where a span is drawn, None if it is not drawn."""
        lanes = self._band.lanes
        box = np.flatnonzero(lanes.span == span)
        if span < 0 or not len(box) or self.spans is None:
            return None
        below = shape.spans + shape.strip + 1 + int(lanes.lane[box[0]]) * lane_px()
        return RowPart(int(lanes.row[box[0]]), span_window(self.spans, span), below, lane_px() - 1)

    def choose(self, span: int, is_double: bool = False) -> None:
        """Select the wave of a span and the instruction that began it; a double click also fits the span."""
        trace, spans = self._session.trace.value, self.spans
        if trace is None or spans is None:
            return
        self.chosen = span
        go_to_wave(self._session, int(spans.wave[span]), int(spans.begin[span]))
        if is_double:
            self._session.set_view(span_window(spans, span).padded(0.05))

    def actions(self, span: int) -> list[tuple[str, Callable[[], None]]]:
        """Return the actions for a span: title, call."""
        return [] if self.spans is None or span < 0 else span_actions(self._session, self.spans, span)


def span_window(spans: MarkerSpans, span: int) -> TimeWindow:
    """Return the cycles of a span, at least one."""
    begin = int(spans.begin[span])
    return TimeWindow(begin, max(begin + 1, int(spans.end[span])))


def span_actions(session: Session, spans: MarkerSpans, span: int) -> list[tuple[str, Callable[[], None]]]:
    """Return the menu entries of a span: title, call."""
    name, window = spans.names[int(spans.name_id[span])], span_window(spans, span)
    return [
        ("Zoom to this scope", lambda: session.set_view(window.padded(0.05))),
        ("Count only waves during this scope", lambda: session.clock_range.set(window)),
        ("Measure this scope", lambda: session.measure.set(window)),
        ("Copy its name", lambda: copy_text(name)),
    ]


def go_to_wave(session: Session, row: int, time: int) -> None:
    """Select the wave at an index row (-1: none) and its instruction at a time; show that time."""
    trace = session.trace.value
    if trace is None:
        return
    if 0 <= row < len(trace.waves):
        wave = None if session.store is None else session.store.wave(row)
        token = -1 if wave is None else wave.tokens.at(time)
        if token >= 0:
            session.select_token(trace.waves.id(row), token, stays=True)
        else:
            session.select_wave(trace.waves.id(row))
    view = session.view.value
    if not view.contains(time):
        session.set_view(view.moved(time - view.middle))
