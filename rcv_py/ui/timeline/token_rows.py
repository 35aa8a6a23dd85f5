"""Rows of tokens: from codes a pixel when zoomed out, as rectangles with names when zoomed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter

from rcv_py.analysis.timeline.pixel_codes import Pixels
from rcv_py.analysis.timeline.raster import Raster, Segment, TokenRow, is_joined, is_wide, raster
from rcv_py.model.columns import joined
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.waves import NOTHING, STALLED
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.items import Rects, name_font, paint_names, readable_on
from rcv_py.ui.timeline.rows_item import STRIP, STRIP_ORDER, Frame, RowName, RowShape, RowSource
from rcv_py.ui.timeline.time_overlay import soft
from rcv_py.ui.timeline.unit_markers import MarkerBand

MAX_RECTS = 5000  # tokens drawn one by one in a picture
GAP_FROM_PX = 6  # a token this wide keeps a pixel of distance to the next
MARGIN_PX = 4  # before and after a name
HATCH_FROM_PX = 14  # a stalled wait this wide is hatched, so that it is told by more than its colour


@dataclass(frozen=True, slots=True)
class Pending:
    """A stretch of a row whose tokens are not there (yet)."""

    row: int
    span: TimeWindow
    key: int  # row of the wave index


class TokenRows(RowSource):
    """The rows of waves or units."""

    def __init__(self, theme: Theme, shape: RowShape) -> None:
        super().__init__(theme, shape)
        self.rows: tuple[TokenRow, ...] = ()
        self.pending: tuple[Pending, ...] = ()
        self.texts: Sequence[str] = ()  # of the code lines, for names inside tokens
        self.band = MarkerBand(theme)  # below the strips, if the shape has room for it
        self._rects = Rects()
        self._pixels = Pixels(TimeWindow(0, 1), 1)

    def set_rows(
        self, rows: Sequence[TokenRow], names: Sequence[RowName], pending: Sequence[Pending] = ()
    ) -> None:
        """Show other rows."""
        self.rows, self.names, self.pending = tuple(rows), tuple(names), tuple(pending)
        self.version += 1

    def paint(self, frame: Frame) -> None:
        """Fill the rows' pixels from the raster."""
        rows = self.rows[frame.first : frame.stop]
        if not rows:
            return
        self._pixels = self._with_width(frame)
        picture = raster(rows, self._pixels, with_states=self.shape.strip > 0, with_wide=False)
        self._paint_codes(frame, picture)
        if self.shape.strip:
            self._paint_strips(frame, picture)
        if self.shape.band:
            self.band.paint(frame)

    def paint_over(self, painter: QPainter, frame: Frame) -> None:
        """Draw wide tokens, their names, and what is missing."""
        spans = [
            wide_spans(frame, row, segment)
            for row in range(frame.first, frame.stop)
            if not is_joined(self.rows[row], self._pixels)
            for segment in self.rows[row].visible(frame.pixels.window)
            if is_wide(segment, self._pixels)
        ]
        if spans:
            self._paint_wide(painter, frame, joined(spans))
        if self.shape.band:
            self.band.paint_over(painter, frame)
        for one in self.pending:
            if frame.first <= one.row < frame.stop and one.span.overlaps(
                frame.pixels.window.begin, frame.pixels.window.end
            ):
                paint_pending(painter, frame, one)

    def _with_width(self, frame: Frame) -> Pixels:
        """The frame's pixels; no token is wide while there are too many to draw one by one."""
        pixels = frame.pixels
        parts = [
            segment.rows_in(pixels.window)
            for row in self.rows[frame.first : frame.stop]
            if not is_joined(row, pixels)
            for segment in row.visible(pixels.window)
            if segment.lod.level(pixels.cycles_per_px) < 0
        ]
        if sum(part.stop - part.start for part in parts) > MAX_RECTS:
            return Pixels(pixels.window, pixels.width_px, float("inf"))
        return pixels

    # -- pixels -----------------------------------------------------------------------------------------

    def _paint_codes(self, frame: Frame, picture: Raster) -> None:
        is_nothing = picture.code == NOTHING
        for i, row in enumerate(range(frame.first, frame.stop)):
            part = frame.part(row)
            if len(part):
                part[:] = np.where(is_nothing[i], part[0], picture.code[i])

    def _paint_strips(self, frame: Frame, picture: Raster) -> None:
        steps = frame.strip_px
        running = [np.ascontiguousarray(picture.share[:, :, STRIP_ORDER[0] - 1])]
        for state in STRIP_ORDER[1:]:
            running.append(running[-1] + picture.share[:, :, state - 1])
        code = np.empty((len(picture.share), steps, picture.share.shape[1]), np.uint8)
        for step in range(steps):  # from the bottom: what fills more than this share of the height
            limit = np.uint8((step + 0.5) * 255 / steps)
            reached = [(level <= limit).view(np.uint8) for level in running]
            line = reached[0] + reached[1] + reached[2] + reached[3]
            np.add(line, np.uint8(STRIP), out=code[:, steps - 1 - step])
        has_gap = np.any(np.asarray(running[-1]) < 255, axis=1)
        for i, row in enumerate(range(frame.first, frame.stop)):
            part = frame.part(row, frame.spans_px, steps)
            above = max(0, -(frame.top(row) + frame.spans_px))
            new = code[i, above : above + len(part)]
            np.copyto(part, new, where=new < STRIP + len(STRIP_ORDER) if has_gap[i] else True)

    # -- rectangles -------------------------------------------------------------------------------------

    def _paint_wide(self, painter: QPainter, frame: Frame, spans: _Spans) -> None:
        theme = self.theme
        stall = np.flatnonzero(spans.issue > spans.left)
        busy = np.flatnonzero(spans.right > spans.issue)
        columns = np.concatenate(
            [spans.box(stall, spans.left, spans.issue), spans.box(busy, spans.issue, spans.right)]
        )
        code = np.concatenate([spans.kind[stall] | STALLED, spans.kind[busy]])
        self._rects.draw_by_code(
            painter, columns, code, lambda one: theme.stalled(one & 15) if one & STALLED else theme.kind(one)
        )
        wide = stall[
            (spans.kind[stall] == TokenKind.IMMED) & ((spans.issue - spans.left)[stall] >= HATCH_FROM_PX)
        ]
        painter.setBrush(hatch(theme.kind(TokenKind.IMMED), 90))
        self._rects.draw(painter, spans.box(wide, spans.left, spans.issue))
        if len(self.texts):
            self._paint_mnemonics(painter, frame, spans)

    def _paint_mnemonics(self, painter: QPainter, frame: Frame, spans: _Spans) -> None:
        """Write the mnemonic of each token into the wider of its two parts."""
        theme, margin = self.theme, MARGIN_PX * frame.scale
        font = name_font(theme, min(11.0, frame.shape.spans - 5) * frame.scale)
        in_stall = spans.issue - spans.left > spans.right - spans.issue
        left = np.maximum(np.where(in_stall, spans.left, spans.issue), 0)
        right = np.minimum(np.where(in_stall, spans.issue, spans.right), frame.pixels.width_px)
        fits = (spans.line >= 0) & (spans.height >= QFontMetricsF(font).height() * 0.8)
        ink: dict[tuple[int, bool], QColor] = {}

        def name(at: int) -> tuple[str, QColor, float, float]:
            key = int(spans.kind[at]), bool(in_stall[at])
            if key not in ink:
                ink[key] = readable_on(theme, theme.stalled(key[0]) if key[1] else theme.kind(key[0]))
            text = self.texts[spans.line[at]].split(maxsplit=1)
            middle = float(spans.top[at] + spans.height[at] / 2)
            return (text[0] if text else ""), ink[key], float(left[at]) + margin, middle

        paint_names(painter, font, np.where(fits, right - left - 2 * margin, 0), name, fewest=3)


@dataclass(frozen=True, eq=False)
class _Spans:
    """Wide tokens in device pixels; all float64 [n] but kind and line."""

    left: np.ndarray
    issue: np.ndarray
    right: np.ndarray
    top: np.ndarray
    height: np.ndarray
    kind: np.ndarray
    line: np.ndarray

    def box(self, rows: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Rectangles from `left` to `right` of some rows, for `Rects`."""
        return np.stack(
            [left[rows], self.top[rows], right[rows] - left[rows], self.height[rows]], axis=1
        ).astype(np.float64)


def wide_spans(frame: Frame, row: int, segment: Segment) -> _Spans:
    """Where the tokens of a segment are in a frame: whole pixels, at least one wide, clipped to the view."""
    tokens, window = segment.tokens, frame.pixels.window
    rows = segment.rows_in(window)
    start = tokens.offset[rows].astype(np.int64) + (tokens.base - window.begin)
    issue = start + tokens.stall[rows]
    left, middle, right = (_to_px(frame, time) for time in (start, issue, issue + tokens.busy[rows]))
    right = np.maximum(right, left + 1)
    right -= right - left >= GAP_FROM_PX
    middle = np.minimum(np.where(tokens.busy[rows] > 0, np.minimum(middle, right - 1), middle), right)
    middle = np.maximum(middle, left)
    top, height = _lanes(frame, row, segment, rows)
    kind = np.where(tokens.kind[rows] < KIND_COUNT, tokens.kind[rows], 0)
    return _Spans(left, middle, right, top, height, kind, tokens.line[rows].astype(np.int32))


def _to_px(frame: Frame, time: np.ndarray) -> np.ndarray:
    """Whole pixels of times since the window's begin; what lies far outside is brought near for Qt."""
    width = frame.pixels.width_px
    return np.round(np.clip(time * (width / frame.pixels.window.width), -4.0, width + 4.0))


def _lanes(frame: Frame, row: int, segment: Segment, rows: slice) -> tuple[np.ndarray, np.ndarray]:
    count = rows.stop - rows.start
    top, height = float(frame.top(row)), float(frame.spans_px)
    if segment.tokens.lane is None:
        return np.full(count, top), np.full(count, height)
    edges = np.round(np.arange(segment.lanes + 1) * height / segment.lanes)
    number = segment.tokens.lane[rows]
    return top + edges[number], np.maximum(1.0, np.diff(edges)[number])


def hatch(color: QColor, alpha: int) -> QBrush:
    """Thin diagonal lines of a colour."""
    return QBrush(soft(color, alpha), Qt.BrushStyle.BDiagPattern)


def paint_pending(painter: QPainter, frame: Frame, one: Pending) -> None:
    """Hatch the life of a wave whose tokens are not there."""
    first, stop = frame.pixels.part(one.span.begin, one.span.end)
    rect = QRectF(first, frame.top(one.row), max(1, stop - first), frame.spans_px)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(hatch(frame.theme.role("muted"), 110))
    painter.drawRect(rect)
