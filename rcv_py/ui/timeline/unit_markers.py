"""The markers and values of the waves in a timeline: where they are, what they are, what a click does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import copy_text, joined
from rcv_py.ui.timeline.marker_band import LANE_PX, NEAR_PX, MarkerBand
from rcv_py.ui.timeline.marker_tip import marker_tip, value_lines
from rcv_py.ui.timeline.overlay import Place
from rcv_py.ui.timeline.rows_item import RowShape

Values = tuple[tuple[int, np.ndarray], ...]


class UnitMarkers:
    """Ties the marker spans of a trace to the rows of its waves."""

    def __init__(self, session: Session, band: MarkerBand) -> None:
        self._session, self._band = session, band
        self._spans: MarkerSpans | None = None
        self._row_of_wave: Mapping[int, int] = {}
        self._values: dict[int, np.ndarray] = {}  # row on screen: rows of the records, by time
        self.chosen = -1  # span that was clicked
        self.hovered = -1
        self.has_spans = self.has_values = True  # whether they are shown

    def show(self, spans: MarkerSpans | None, row_of_wave: Mapping[int, int]) -> None:
        """Take other spans or other rows."""
        if spans is not self._spans:
            self.chosen = self.hovered = -1
        self._spans, self._row_of_wave = spans, row_of_wave
        self._values = {}
        self._band.show(None)
        if spans is None or not len(spans.records):
            return
        size = 1 + max(*row_of_wave, *(int(c.max(initial=-1)) for c in (spans.wave, spans.records.wave)), 0)
        table = np.full(size + 1, -1, dtype=np.int64)  # the last one answers for wave -1
        table[list(row_of_wave)] = list(row_of_wave.values())
        if self.has_spans:
            self._band.show(spans, table[spans.wave])
        if self.has_values:
            rows = table[spans.records.wave]
            order = np.lexsort((spans.records.time, rows))
            shown, first = np.unique(rows[order], return_index=True)
            parts = np.split(order, first[1:])
            self._values = {row: part for row, part in zip(shown.tolist(), parts, strict=True) if row >= 0}

    # -- values -----------------------------------------------------------------------------------------

    def values(self, window: TimeWindow, first: int, stop: int) -> Values:
        """Rows on screen from `first` on and before `stop`, and the times of values in the window."""
        found = []
        for row in range(first, stop):
            if row in self._values and self._spans is not None:
                time = self._spans.records.time[self._values[row]]
                low, high = np.searchsorted(time, [window.begin, window.end])
                if low < high:
                    found.append((row, time[low:high]))
        return tuple(found)

    def value_tip(self, row: int, time: int, pixel: TimeWindow) -> str:
        """The values whose ticks are near."""
        if self._spans is None or row not in self._values:
            return ""
        rows, near = self._values[row], NEAR_PX * pixel.width
        times = self._spans.records.time[rows]
        low, high = np.searchsorted(times, [time - near, time + near + 1])
        return joined("<br>", value_lines(self._spans, rows[low:high]))

    # -- spans ------------------------------------------------------------------------------------------

    def at(self, row: int, band_y: float, time: int, pixel: TimeWindow) -> int:
        """The span at a place of the band, -1 if there is none."""
        if band_y < 0 or row < 0:
            return -1
        return self._band.at(row, int(max(0.0, band_y - 1) // LANE_PX), time, pixel.width)

    def tip(self, trace: Trace, span: int) -> str:
        """What a span is."""
        return "" if self._spans is None else marker_tip(trace, self._spans, span)

    def place(self, span: int, shape: RowShape) -> Place | None:
        """Where a span is drawn, None if it is not."""
        lanes = self._band.lanes
        box = np.flatnonzero(lanes.span == span)
        if span < 0 or not len(box):
            return None
        below = shape.spans + shape.strip + 1 + int(lanes.lane[box[0]]) * LANE_PX
        return Place(int(lanes.row[box[0]]), self.window(span), below, LANE_PX - 1)

    def window(self, span: int) -> TimeWindow:
        """The cycles of a span, at least one."""
        assert self._spans is not None
        return span_window(self._spans, span)

    def choose(self, span: int, is_double: bool = False) -> None:
        """Select the wave of a span and the instruction that began it; a double click also fits the span."""
        trace, spans = self._session.trace.value, self._spans
        if trace is None or spans is None:
            return
        self.chosen = span
        go_to_wave(self._session, int(spans.wave[span]), int(spans.begin[span]))
        if is_double:
            self._session.set_view(self.window(span).padded(0.05))

    def actions(self, span: int) -> list[tuple[str, Callable[[], None]]]:
        """What can be done with a span: title, call."""
        return [] if self._spans is None or span < 0 else span_actions(self._session, self._spans, span)


def span_window(spans: MarkerSpans, span: int) -> TimeWindow:
    """The cycles of a span, at least one."""
    begin = int(spans.begin[span])
    return TimeWindow(begin, max(begin + 1, int(spans.end[span])))


def span_actions(session: Session, spans: MarkerSpans, span: int) -> list[tuple[str, Callable[[], None]]]:
    """What the menu of a span offers: title, call."""
    name, window = spans.names[int(spans.name_id[span])], span_window(spans, span)
    return [
        ("Zoom to this scope", lambda: session.set_view(window.padded(0.05))),
        ("Count only waves during this scope", lambda: session.set_clock_range(window)),
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
            session.select_token(trace.waves.id(row), token)
        else:
            session.select_wave(trace.waves.id(row))
    view = session.view.value
    if not view.contains(time):
        session.set_view(view.moved(time - view.middle))
