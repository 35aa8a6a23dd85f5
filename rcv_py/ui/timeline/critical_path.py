"""The critical path over the rows of a compute unit: along its waves, and between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter

from rcv_py.analysis.whatif.path_line import PathLine
from rcv_py.base.record import Record
from rcv_py.base.runs import starts_run
from rcv_py.base.text import Message, count, plural
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.plain_text import Rich, rich
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.items import Rects
from rcv_py.ui.timeline.rows_item import RowShape

PATH = "path"  # key of the legend
HIGH_PX, HALO_PX, BETWEEN_PX = 3, 1, 2
OUTSIDE_PX = 4  # px outside of the view, within which a begin is still drawn
MEANING = "the chain that makes up the span: shortening anything else gains nothing"
COMPUTING, STREAMING = "computing the critical path …", "waves are still being read: no critical path yet"


class PathRows(Record):
    """Stretches of the path in order of time, one per wave; int64 columns."""

    row: np.ndarray  # on screen, -1: of a hidden wave
    begin: np.ndarray  # cycles, aligned
    end: np.ndarray

    @classmethod
    def of(cls, path: PathLine, row_of_wave: Mapping[int, int]) -> PathRows:
        """Return the rows of a path on a screen."""
        first = np.flatnonzero(starts_run(path.wave))
        last = np.append(first[1:], len(path))[: len(first)] - 1
        rows = np.full(int(path.wave.max(initial=-1)) + 1, -1, dtype=np.int64)
        for wave, row in row_of_wave.items():
            if wave < len(rows):
                rows[wave] = row
        return cls(rows[path.wave[first]], path.begin[first], path.end[last])

    def boxes(self, window: TimeWindow, width: float) -> tuple[np.ndarray, np.ndarray]:
        """Return what is in a window of a given width in px, float64.

        Stretches [n, 3]: row, left, right; steps between rows [m, 3]: x, upper row, lower row.  Duplicates
        within a pixel are merged.
        """
        first = int(np.searchsorted(self.end, window.begin, side="right"))
        stop = int(np.searchsorted(self.begin, window.end, side="left"))
        near = slice(max(0, first - 1), stop + 1)
        row, scale, far = self.row[near], width / window.width, width + OUTSIDE_PX
        left = np.clip(np.floor((self.begin[near] - window.begin) * scale), -OUTSIDE_PX, far)
        right = np.clip(np.ceil((self.end[near] - window.begin) * scale), -OUTSIDE_PX, far)
        right = np.maximum(right, left + 1)
        shown = np.flatnonzero(row >= 0)
        many = round(far) + 2 * OUTSIDE_PX
        key = (row[shown] * many + left[shown].astype(np.int64) + OUTSIDE_PX) * many
        _, once = np.unique(key + right[shown].astype(np.int64) + OUTSIDE_PX, return_index=True)
        shown = shown[once]
        stretches = np.stack([row[shown], left[shown], right[shown]], axis=1).astype(np.float64)
        steps = np.flatnonzero((row[1:] >= 0) & (row[:-1] >= 0) & (row[1:] != row[:-1]))
        x, upper = left[1:][steps], np.minimum(row[1:], row[:-1])[steps]
        lower = np.maximum(row[1:], row[:-1])[steps]
        order = np.argsort(x, kind="stable")
        x, upper, lower = x[order], upper[order], lower[order]
        heads = np.flatnonzero(starts_run(x))
        parts = (x[heads], np.minimum.reduceat(upper, heads), np.maximum.reduceat(lower, heads))
        return stretches, np.stack(parts, axis=1).astype(np.float64)


class CriticalPath:
    """Computes the path of a compute unit while it is wanted; `changed` is called for each news."""

    def __init__(self, panel: Panel, changed: Callable[[], None]) -> None:
        self.rows: PathRows | None = None  # what is drawn
        self._theme, self._rects = panel.ui.theme, Rects()
        self._key: tuple[object, ...] = ()
        self._boxes = (np.zeros((0, 3)), np.zeros((0, 3)))  # of the last window, for mouse moves
        self.said = ""  # reason if there is none yet
        self.path: PathLine | None = None
        self._panel, self._changed = panel, changed
        self._unit: tuple[int, ...] = ()
        self._row_of_wave: Mapping[int, int] = {}

    def swatches(self, theme: Theme) -> tuple[Swatch, ...]:
        """Return the meaning of the line, while a path is drawn."""
        return () if self.path is None else (Swatch(theme.role("text"), "critical path", MEANING, key=PATH),)

    def want(self, unit: Sequence[int], row_of_wave: Mapping[int, int]) -> None:
        """Show the path of the waves of a compute unit, rows of the wave index; none: no path."""
        session, key = self._panel.session, tuple(unit)
        trace, store = session.trace.value, session.store
        if not key or trace is None or store is None:
            self._forget("")
            return
        if session.is_streaming:
            self._forget(STREAMING)
            return
        is_moved, self._row_of_wave = row_of_wave is not self._row_of_wave, row_of_wave
        if key == self._unit:
            if is_moved:
                self._place()
            return
        self._forget(COMPUTING)
        self._unit = key
        recordings, held = self._panel.ui.results.recordings(trace), store.batches

        def take(path: PathLine) -> None:
            if key == self._unit:
                self.path = path
                self.said = Message("critical path: {0}", plural(path.cycles, "cycle")) if len(path) else ""
                self._place()
                self._changed()

        self._panel.run_job(lambda: recordings.path(held, key), take, PATH)

    def _place(self) -> None:
        self.rows = None if self.path is None else PathRows.of(self.path, self._row_of_wave)

    def _forget(self, said: str) -> None:
        self._unit, self.path, self.rows = (), None, None
        self.said = said

    def tip(self, wave: int, time: int) -> Rich:
        """Return how the path spends its cycles in a wave at a time, empty elsewhere."""
        at = -1 if self.path is None else self.path.piece_at(wave, time)
        if self.path is None or at < 0:
            return Rich()
        from rcv_py.analysis.whatif.critical_path import CAUSES, PathCause  # noqa: PLC0415 - a compiler

        name, meaning = CAUSES[PathCause(int(self.path.cause[at]))]
        cycles = int(self.path.end[at] - self.path.begin[at])
        return rich("<b>critical path:</b> {}, {} cycles<br>{}", name, count(cycles), meaning)

    def paint(
        self, painter: QPainter, window: TimeWindow, width: float, *, shape: RowShape, scroll: float
    ) -> None:
        """Draw the path along the upper edge of each row: the states of waves below are as dark."""
        if self.rows is None:
            return
        key = (id(self.rows), window, width)
        if key != self._key:
            self._key, self._boxes = key, self.rows.boxes(window, width)
        stretches, ways = self._boxes
        lines = np.zeros((len(stretches), 4))
        lines[:, 0], lines[:, 2] = stretches[:, 1], stretches[:, 2] - stretches[:, 1]
        lines[:, 1], lines[:, 3] = stretches[:, 0] * shape.pitch - scroll, HIGH_PX
        between = np.zeros((len(ways), 4))
        between[:, 0], between[:, 2] = ways[:, 0] - BETWEEN_PX / 2, BETWEEN_PX
        between[:, 1] = ways[:, 1] * shape.pitch - scroll
        between[:, 3] = (ways[:, 2] - ways[:, 1]) * shape.pitch + HIGH_PX
        painter.setPen(Qt.PenStyle.NoPen)
        halo = np.array([-HALO_PX, -HALO_PX, 2 * HALO_PX, 2 * HALO_PX])
        for role, grown_by in (("base", halo), ("text", 0 * halo)):
            painter.setBrush(self._theme.role(role))
            self._rects.draw(painter, between + grown_by)
            self._rects.draw(painter, lines + grown_by)
