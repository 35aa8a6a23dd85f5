"""Rows of tokens: a code per pixel, or named rectangles when zoomed in; assignment of waves to rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.timeline.long_tokens import Chosen, long_tokens
from rcv_py.analysis.timeline.pixels import Pixels
from rcv_py.analysis.timeline.raster import DetailedSegment, RowSegment, TokenRow, View, raster, visible_rows
from rcv_py.analysis.timeline.stack import stacked
from rcv_py.base.record import Record
from rcv_py.base.runs import ascending, distinct
from rcv_py.base.text import elide_right, short_kernel
from rcv_py.model.activity import ACTIVITY_COUNT, ACTIVITY_OF
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.filter_menu import FilterItem
from rcv_py.ui.timeline.items import NamePainter, Rects, box_lines, name_font, readable_on
from rcv_py.ui.timeline.rows_item import DIM, STRIP, TOKENS, Frame, RowName, RowShape, RowSource
from rcv_py.ui.timeline.time_overlay import soft
from rcv_py.ui.timeline.unit_markers import MarkerBand

MAX_RECTS = 5000  # maximum tokens drawn one by one in a picture
GAP_FROM_PX = 6  # minimum width of a token that keeps a pixel of distance to the next
MARGIN_PX = 4  # before and after a name
MIN_LETTERS = 3  # minimum characters of a name
UNDER_PX = 2  # px of a row that its letters leave free
LETTERS_PX = 6  # px of a row, below which no font fits at any scale
FONT_FITS = 0.8  # share of a font's height that letters need
_BY_KIND = np.arange(2 * KIND_COUNT) % KIND_COUNT + np.arange(2 * KIND_COUNT) // KIND_COUNT * 256
MORE = 2  # growth of the number of segments after which all of a row are joined again
NOTHING = 0xFF  # in a line of tokens: leave the pixel unchanged
HATCH_FROM_PX = 14  # minimum width of a stalled wait for hatching, which marks it besides its colour


class Pending(ColumnTable):
    """Stretches of rows whose tokens are not loaded (yet); int64 each."""

    row: np.ndarray
    begin: np.ndarray  # cycles, aligned
    end: np.ndarray  # cycles, aligned
    key: np.ndarray  # row of the wave index

    def key_at(self, row: int, time: int) -> int | None:
        """Return the key of the first stretch of a row that holds a cycle; None if there is none."""
        there = np.flatnonzero((self.row == row) & (self.begin <= time) & (time < self.end))
        return int(self.key[there[0]]) if len(there) else None

    def in_order(self) -> Pending:
        """Return the same, row by row in order of time."""
        return self.at(np.lexsort((self.begin, self.row)))


class TokenRows(RowSource):
    """The rows of waves or units."""

    def __init__(self, theme: Theme, shape: RowShape) -> None:
        super().__init__(theme, shape)
        self.rows: tuple[TokenRow, ...] = ()
        self.pending = Pending.empty()  # row by row in order of time
        self.texts: Sequence[str] = ()  # of the code lines, for names inside tokens
        self.band = MarkerBand()  # below the strips, if the shape has room
        self._rects, self._names = Rects(), NamePainter()
        self._named: Sequence[str] = ()  # texts whose mnemonics are cached
        self._mnemonics: dict[int, str] = {}  # by instruction
        self._wide: _Spans | None = None  # tokens of the frame that are drawn one by one
        self._long: list[Chosen] = []  # single tokens elsewhere that have room for a name

    def set_rows(
        self, rows: Sequence[TokenRow], names: Sequence[RowName], pending: Pending | None = None
    ) -> None:
        """Show other rows."""
        self.rows, self.names = tuple(rows), tuple(names)
        self.pending = Pending.empty() if pending is None else pending.in_order()
        self.version += 1

    def paint(self, frame: Frame) -> None:
        """Fill the rows' pixels from the raster; no token counts as wide while there are too many."""
        rows = self.rows[frame.first : frame.stop]
        self._wide, self._long, self.codes_over = None, [], frozenset()
        if not rows:
            return
        many, pixels = max(1, int(frame.scale)), frame.pixels  # a column of shares is a logical pixel wide
        columns = pixels if pixels.width_px % many else Pixels(pixels.window, pixels.width_px // many)
        view = visible_rows(rows, columns)
        wide = view.wide(MAX_RECTS)
        picture = raster(view, self.shape.strip > 0, wide)
        is_alone = not view.tables and len(wide) == len(view.pieces)
        if not is_alone:
            lines = stacked(picture.kind, frame.spans_px, view.pixels)
            frame.fill(lines, 0, ACTIVITY_COUNT)
            self._long = self._worth_a_name(frame, rows, view, wide, lines)
        if wide:
            self._wide = wide_spans(frame, wide)
            self._fill_wide(frame, self._wide, is_alone)
        if self.shape.strip:
            lines = stacked(picture.state, round(self.shape.strip * frame.scale), view.pixels, STRIP)
            frame.fill(lines, frame.spans_px, STRIP + picture.state.shape[2])
        if self.shape.band:
            self.band.paint(frame)

    def paint_over(self, painter: QPainter, frame: Frame) -> None:
        spans = [] if self._wide is None else [self._wide]
        if self._long:
            spans.append(wide_spans(frame, self._long))
        if (wide := self._wide) is not None:
            is_long = wide.issue - wide.left >= HATCH_FROM_PX
            waits = np.flatnonzero((wide.kind == TokenKind.IMMED) & is_long)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(hatch(self.theme.kind(TokenKind.IMMED), 90))
            self._rects.draw(painter, wide.box(waits, wide.left, wide.issue))
        if spans and len(self.texts):
            self._paint_mnemonics(painter, frame, joined(spans))
        if self.shape.band:
            self.band.paint_over(painter, frame)
        if len(self.pending):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(hatch(frame.theme.role("muted"), 110))
            for box in _missing(frame, self.pending).tolist():  # few; the first picture waits for no import
                painter.drawRect(QRectF(*box))

    def _worth_a_name(
        self,
        frame: Frame,
        rows: Sequence[TokenRow],
        view: View,
        wide: Sequence[DetailedSegment],
        lines: np.ndarray,
    ) -> list[Chosen]:
        """Return the tokens that have room for a name where tokens are not drawn one by one."""
        if not len(self.texts) or frame.shape.spans < LETTERS_PX:
            return []
        metrics = QFontMetricsF(self._font(frame))
        if frame.spans_px < metrics.height() * FONT_FITS:
            return []
        room = MIN_LETTERS * metrics.horizontalAdvance("0") + 2 * MARGIN_PX * frame.scale
        done = {id(piece.segment) for piece in wide}
        found = long_tokens(rows, view, lines, room * view.pixels.width_px / frame.pixels.width_px)
        return [piece for piece in found if id(piece.segment) not in done]

    def _mnemonic(self, line: int) -> str:
        if self._named is not self.texts:
            self._named, self._mnemonics = self.texts, {}
        if (found := self._mnemonics.get(line)) is None:
            found = self._mnemonics[line] = (self.texts[line].split(maxsplit=1) or [""])[0]
        return found

    def _font(self, frame: Frame) -> QFont:
        return name_font(frame.theme, frame.shape.spans - UNDER_PX, frame.scale)

    def _fill_wide(self, frame: Frame, spans: _Spans, is_alone: bool) -> None:
        """Put the two parts of each token into the canvas, over nothing else if they are alone."""
        code = np.stack([spans.kind + KIND_COUNT, spans.kind], axis=1).ravel()
        left = np.stack([spans.left, spans.issue], axis=1).ravel()
        right = np.stack([spans.issue, spans.right], axis=1).ravel()
        seen = np.flatnonzero(right > left)
        code = code[seen]
        self.codes_over = frozenset(ACTIVITY_OF.reshape(-1)[ascending(_BY_KIND[code])].tolist())
        tops = ascending(spans.top)
        boxes = tops.searchsorted(spans.top)[seen >> 1], left[seen], right[seen], TOKENS + code
        lines = box_lines(*boxes, lines=len(tops), width=frame.canvas.shape[1], nothing=NOTHING)
        height = np.zeros(len(tops))
        height[tops.searchsorted(spans.top)] = spans.height
        limit = len(frame.canvas)
        for line, top, below in zip(lines, tops.tolist(), (tops + height).tolist(), strict=True):
            place = frame.canvas[min(limit, max(0, int(top))) : min(limit, max(0, int(below)))]
            # Where tokens are alone, all pixel lines of a row are equal.
            ground = place[:1] if is_alone else place
            np.copyto(ground, line, where=line != NOTHING)
            if is_alone:
                place[1:] = ground

    def _ink(self, is_stall: int, kind: int) -> QColor:
        """Return the colour of a part of a token, almost invisible if it is dimmed."""
        theme = self.theme
        color = theme.stalled(kind) if is_stall else theme.kind(kind)
        is_dim = int(ACTIVITY_OF[int(is_stall), kind]) in self.dimmed
        return theme.soft(color, DIM) if is_dim else color

    def _paint_mnemonics(self, painter: QPainter, frame: Frame, spans: _Spans) -> None:
        """Write the mnemonic of each token into the wider of its two parts, up to the next token."""
        theme, margin = self.theme, MARGIN_PX * frame.scale
        font = self._font(frame)
        order = np.lexsort((spans.left, spans.top))
        here, after = order[:-1], order[1:]
        end = spans.right.copy()  # or where the next token begins at the same height
        is_level = spans.top[here] == spans.top[after]
        end[here] = np.minimum(end[here], np.where(is_level, spans.left[after], np.inf))
        issue = np.minimum(spans.issue, end)
        in_stall = issue - spans.left > end - issue
        left = np.maximum(np.where(in_stall, spans.left, issue), 0)
        right = np.minimum(np.where(in_stall, issue, end), frame.pixels.width_px)
        fits = (spans.line >= 0) & (spans.height >= QFontMetricsF(font).height() * FONT_FITS)
        # Looked up once for all: taking a number out of an array costs as much as writing a name.
        kinds, stalls, lines = spans.kind.tolist(), in_stall.tolist(), spans.line.tolist()
        lefts, middles = (left + margin).tolist(), (spans.top + spans.height / 2).tolist()
        ink: dict[tuple[int, bool], QColor] = {}

        def name(at: int) -> tuple[str, QColor, float, float]:
            key = kinds[at], stalls[at]
            if key not in ink:
                ink[key] = readable_on(theme, self._ink(key[1], key[0]))
            return self._mnemonic(lines[at]), ink[key], lefts[at], middles[at]

        room = np.where(fits, right - left - 2 * margin, 0)
        self._names.paint(painter, font, room, name, fewest=MIN_LETTERS, shorten=short_mnemonic)


def short_mnemonic(text: str, letters: int) -> str:
    """Return the mnemonic, where it does not fit without `s_` or `v_`, which the colour shows, and cut."""
    is_long = len(text) > letters and text.startswith(("s_", "v_"))
    return elide_right(text[2:] if is_long else text, letters)


def _missing(frame: Frame, there: Pending) -> np.ndarray:
    """Return rectangles of stretches in a frame, in integer pixels; touching rectangles of a row merge."""
    window, width = frame.pixels.window, frame.pixels.width_px
    row, begin, end = there.row, there.begin, there.end
    is_row = (row >= frame.first) & (row < frame.stop)
    seen = np.flatnonzero(is_row & (begin < window.end) & (end > window.begin))
    row = row[seen]
    left, right = (
        (np.clip(time[seen], window.begin, window.end) - window.begin) * (width / window.width)
        for time in (begin, end)
    )
    left = np.minimum(np.floor(left), width - 1)
    right = np.maximum(np.ceil(right), left + 1)
    # Each row is shifted to follow the previous row, so that one running maximum serves all rows.
    shift = row * (width + 2)
    reach = np.maximum.accumulate(right + shift)
    first = np.flatnonzero(np.append(True, left[1:] + shift[1:] > reach[:-1])[: len(row)])
    last = np.append(first[1:], len(row))[: len(first)] - 1
    top = np.array([frame.top(number) for number in row[first].tolist()], dtype=np.float64)
    right = reach[last] - shift[last]
    return np.column_stack([left[first], top, right - left[first], np.full(len(first), frame.spans_px)])


class _Spans(Record):
    """Wide tokens in device pixels; all float64 [n] but kind and line."""

    left: np.ndarray
    issue: np.ndarray
    right: np.ndarray
    top: np.ndarray
    height: np.ndarray
    kind: np.ndarray
    line: np.ndarray

    def box(self, rows: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return rectangles from `left` to `right` of some rows, for `Rects`."""
        columns = (left[rows], self.top[rows], right[rows] - left[rows], self.height[rows])
        return np.stack(columns, axis=1).astype(np.float64)


def wide_spans(frame: Frame, pieces: Sequence[DetailedSegment | Chosen]) -> _Spans:
    """Return the positions of segments' tokens in a frame: integer pixels, at least one wide, clipped."""
    window, width = frame.pixels.window, frame.pixels.width_px
    counts = [piece.count for piece in pieces]

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(piece.segment.tokens, name)[piece.tokens] for piece in pieces])

    start, stall, busy = column("offset").astype(np.int64), column("stall"), column("busy")
    start += np.repeat([piece.segment.tokens.base - window.begin for piece in pieces], counts)
    issue = start + stall
    left, middle, right = (  # positions far outside are clamped for Qt
        np.round(np.clip(time * (width / window.width), -4.0, width + 4.0))
        for time in (start, issue, issue + busy)
    )
    right = np.maximum(right, left + 1)
    right -= right - left >= GAP_FROM_PX
    middle = np.minimum(np.where(busy > 0, np.minimum(middle, right - 1), middle), right)
    top, height = _lanes(frame, pieces, counts)
    kind = column("kind")
    return _Spans(
        left=left, issue=np.maximum(middle, left), right=right, top=top, height=height,
        kind=np.where(kind < KIND_COUNT, kind, 0), line=column("line").astype(np.int32),
    )  # fmt: skip


def _lanes(
    frame: Frame, pieces: Sequence[DetailedSegment | Chosen], counts: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return top and height of each token of pieces with this many lanes, float64."""
    top = np.repeat(frame.tops[[piece.row for piece in pieces]].astype(np.float64), counts)
    height = np.full(len(top), float(frame.spans_px))
    first = 0
    for piece, count in zip(pieces, counts, strict=True):
        lane, own = piece.segment.tokens.lane, slice(first, first + count)
        first += count
        if lane is not None:
            lanes = piece.segment.lanes
            edges = np.round(np.arange(lanes + 1) * frame.spans_px / lanes)
            top[own] += edges[lane[piece.tokens]]
            height[own] = np.maximum(1.0, np.diff(edges)[lane[piece.tokens]])
    return top, height


def hatch(color: QColor, alpha: int) -> QBrush:
    """Return a brush of thin diagonal lines in a colour."""
    return QBrush(soft(color, alpha), Qt.BrushStyle.BDiagPattern)


class WaveRows(Record):
    """The rows of a set of slots."""

    rows: tuple[TokenRow, ...]
    names: tuple[RowName, ...]
    pending: Pending
    row_of_wave: Mapping[int, int]  # row of the wave index to row on screen


def kernel_choices(trace: Trace | None, prefix: str, used: np.ndarray | None = None) -> list[FilterItem]:
    """Return the kernels of the waves (or with the ids in `used`) for a menu; none for a single kernel."""
    if trace is None:
        return []
    ids = ascending(trace.waves.kernel if used is None else used).tolist()
    names = {name: None for kernel in ids if (name := trace.occupancy.names.get(kernel))}
    if len(names) < 2:
        return []
    nice = {kernel.name: kernel.demangled for kernel in trace.code.kernels}
    return [FilterItem(prefix + name, short_kernel(nice.get(name, name)), tip=name) for name in names]


def wave_rows(
    trace: Trace,
    store: WaveStore,
    chosen: np.ndarray,
    known: Mapping[int, RowSegment],
    others: bool = True,
    *,
    before: Sequence[TokenRow] = (),
) -> WaveRows:
    """Return a row for every slot of the chosen waves, in order.

    `known` are segments made before, `before` rows: a row with the same segments stays.  When later waves are
    added to joined segments, the row is reused until there are MORE times as many waves, so that the total
    cost is a few times the last.
    """
    index = trace.waves
    columns = [column[chosen] for column in (index.se, index.sa, index.cu, index.simd, index.slot)]
    first, slot = distinct(*columns)
    keys = [*zip(*(column[first].tolist() for column in columns), strict=True)]
    row_of_wave = dict(zip(chosen.tolist(), slot.tolist(), strict=True))
    members: list[list[RowSegment]] = [[] for _ in keys]
    is_there = np.ones(len(chosen), dtype=bool)
    for i, (wave_row, row) in enumerate(row_of_wave.items()):
        segment = known.get(wave_row)
        if segment is None and (wave := store.wave(wave_row)) is not None:
            span, lod = TimeWindow(wave.begin, wave.end), store.lod(wave_row)
            segment = RowSegment.of(wave.tokens, wave.states, lod, span, wave_row)
        if segment is None:
            is_there[i] = False
        else:
            members[row].append(segment)
    lacking = chosen[~is_there]
    pending = Pending(slot[~is_there], index.begin[lacking], index.end[lacking], lacking)
    made = {row.segments[0]: row for row in before if row.segments}
    rows = []
    for member in members:
        segments = tuple(sorted(member, key=attrgetter("begin")))
        rows.append(_row(segments, made.get(segments[0]) if segments else None, store.is_complete))
    name = partial(place_name, unit=trace.architecture.unit_name)
    names = [RowName(f"simd{key[3]}/{key[4]}", name(*key[:3]), place=name(*key)) for key in keys]
    for other in trace.other_simd if others else ():
        # A unit that is unknown could be the unit of the instructions.
        units = {key[2] for key in keys if key[0] == other.se}
        if len(other.time) and units and (other.cu == -1 or units & {other.cu, -1}):
            end = other.time + np.maximum(other.duration, 1)
            rows.append(TokenRow((span_segment(other.time, end, other.kind),)))
            names.append(RowName("sibling", f"SIMD{other.simd if other.simd >= 0 else '?'}"))
    for part in (part for token_row in rows for part in token_row.parts):
        _ = part.lod  # built here, off the UI thread
    return WaveRows(tuple(rows), tuple(names), pending, row_of_wave)


def _row(segments: tuple[RowSegment, ...], before: TokenRow | None, is_last: bool) -> TokenRow:
    """Return a row of segments that extends an earlier row; `is_last`: no more come, so join all."""
    if before is None or (is_last and before.known is not None):
        return TokenRow(segments)
    if before.segments == segments:
        return before
    old = before.parts[0]
    is_enough = not is_last and len(segments) < MORE * len(old.segments)
    return TokenRow(segments, old if is_enough and segments[: len(old.segments)] == old.segments else None)


def span_segment(start: np.ndarray, end: np.ndarray, kind: np.ndarray, slack: int = 0) -> RowSegment:
    """Make a segment of plain spans, which have no code row."""
    order: Sequence[int] | np.ndarray = np.argsort(start, kind="stable")
    start, end, kind = start[order], end[order], kind[order]
    base = int(start[0])
    narrow = np.int32 if int((end - base).max()) < 1 << 31 else np.int64
    tokens = Tokens(
        base=base, offset=(start - base).astype(narrow), stall=np.zeros(len(start), narrow),
        busy=(end - start).astype(narrow), kind=kind.astype(np.uint8),
        line=np.full(len(start), -1, np.int32), lane=lanes(start, end, slack),
    )  # fmt: skip
    no_states = States(base, np.zeros(0, np.int32), np.zeros(0, np.uint8), 0)
    return RowSegment.of(tokens, no_states, None, TimeWindow(base, int(end.max())))
