"""Where the selected code line ran, in the rows in view, as long as that is cheap to find."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.timeline.raster import TokenRow
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Selection
from rcv_py.state.session import Session

MOST_TOKENS = 300_000  # that may be compared for one picture

Ticks = tuple[tuple[int, np.ndarray], ...]


class LineTicks:
    """Remembers the last answer: the overlay asks at every move of the mouse."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._key: tuple[object, ...] = ()
        self._ticks: Ticks = ()

    def line(self) -> int | None:
        """The line another view hovers, else the selected one."""
        hover = self._session.hover.value
        if hover is not None and hover.wave is None and hover.line is not None:
            return hover.line
        return self._session.selection.value.line

    def of(self, rows: Sequence[TokenRow], first: int, stop: int, window: TimeWindow, version: int) -> Ticks:
        """Times of the line's tokens by row; nothing if too many tokens are in view."""
        line = self.line()
        key = (line, first, stop, window, version)
        if key != self._key:
            self._key = key
            self._ticks = () if line is None else _ticks(rows, first, stop, window, line)
        return self._ticks

    def time_of(self, mark: Selection) -> int | None:
        """Begin of a bookmarked token or wave, if it is loaded."""
        store = self._session.store
        wave = None if store is None else store.wave_by_id(mark.wave)
        if wave is None:
            return None
        if mark.line is None or mark.hit is None:
            return wave.begin
        rows = np.flatnonzero(wave.tokens.line == mark.line)
        return wave.tokens.span(int(rows[mark.hit])).begin if mark.hit < len(rows) else None


def _ticks(rows: Sequence[TokenRow], first: int, stop: int, window: TimeWindow, line: int) -> Ticks:
    parts = [
        (row, segment.tokens, segment.rows_in(window))
        for row in range(first, min(stop, len(rows)))
        for segment in rows[row].visible(window)
    ]
    if sum(part.stop - part.start for _, _, part in parts) > MOST_TOKENS:
        return ()
    found = [
        (row, tokens.offset[part][tokens.line[part] == line].astype(np.int64) + tokens.base)
        for row, tokens, part in parts
    ]
    return tuple((row, times) for row, times in found if len(times))
