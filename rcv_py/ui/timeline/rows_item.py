"""All rows of a timeline as one graphics item: a picture in device pixels, cached until its key changes."""

from collections.abc import Callable, Collection
from functools import cached_property
from itertools import groupby

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from rcv_py.analysis.timeline.pixels import Pixels
from rcv_py.base.colors import MARKER_TURNS
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import translated
from rcv_py.model.activity import ACTIVITIES, ACTIVITY_OF, STATE_ORDER
from rcv_py.model.kinds import KIND_COUNT, MarkerKind, TokenKind
from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import MIDDLE_LEFT, MIDDLE_RIGHT, draw_text
from rcv_py.ui.core.shapes import draws_shapes, paint_codes
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.items import TEXT_PX, BoxItem, PlainAxis, PlotBox
from rcv_py.ui.timeline.time_overlay import Marks, RowPart, TimeOverlay

# Codes of pixels besides the ACTIVITIES, whose codes are their numbers; the next code is nothing.
CANVAS, GRID, TINT = 0x20, 0x21, 0x22
STRIP = 0x28  # plus the index of a state in STATE_ORDER; the next code is nothing
KERNELS, FAINT_KERNELS = 0x40, 0x60  # plus the number of a kernel, modulo KERNEL_COLORS
KERNEL_COLORS = 12
ISSUE, LEVELS = 0x70, 16  # plus the share of time without issue, 0 for none of it
MARKERS = 0x80  # plus MARKER_COLORS times the kind of a marker, plus the number of its name
MARKER_COLORS = len(MARKER_TURNS)
TOKENS = 0xA0  # plus the kind of a token drawn on its own, plus KIND_COUNT for its stall
DIM = 0.82  # share of the background in dimmed colours
FAINT = 0.55  # share of the background in a box without details
STRIP_PX = 1 << 18  # pixels coloured at once
MAX_TICKS = 600  # maximum marks of the selected instruction in view; more would smear


def color_table(theme: Theme, dimmed: Collection[int] = ()) -> list[int]:
    """Return 0xffRRGGBB for every pixel code; codes that are `dimmed` are almost invisible."""
    table = np.full(256, theme.role("canvas").rgba(), np.uint32)
    for number, (kind, is_stall) in enumerate(ACTIVITIES):
        table[number] = (theme.stalled(kind) if is_stall else theme.kind(kind)).rgba()
    tint = theme.soft(theme.role("accent_soft"), 0.5)
    for code, color in ((CANVAS, theme.role("canvas")), (GRID, theme.role("grid")), (TINT, tint)):
        table[code] = color.rgba()
    for place, state in enumerate(STATE_ORDER):
        table[STRIP + place] = theme.state(state).rgba()
    for number in range(KERNEL_COLORS):
        table[KERNELS + number] = theme.kernel(number).rgba()
        table[FAINT_KERNELS + number] = theme.soft(theme.kernel(number), FAINT).rgba()
    without_issue = [theme.without_issue(level / (LEVELS - 1)).rgba() for level in range(LEVELS)]
    table[ISSUE : ISSUE + LEVELS] = without_issue
    for marker in MarkerKind:
        for name in range(MARKER_COLORS):
            table[MARKERS + marker * MARKER_COLORS + name] = theme.marker(marker, name).rgba()
    executed, stalled = ([color(kind).rgba() for kind in TokenKind] for color in (theme.kind, theme.stalled))
    table[TOKENS : TOKENS + 2 * KIND_COUNT] = executed + stalled
    alone = np.flatnonzero(np.isin(ACTIVITY_OF[:, :KIND_COUNT], list(dimmed)))
    for code in (*dimmed, *(TOKENS + alone).tolist()):
        table[code] = theme.soft(QColor.fromRgba(int(table[code])), DIM).rgba()
    return table.tolist()


def marker_codes(kind: np.ndarray, name: np.ndarray) -> np.ndarray:
    """Return the pixel codes of markers by kind and name, uint8."""
    return (MARKERS + kind.astype(np.int64) * MARKER_COLORS + name % MARKER_COLORS).astype(np.uint8)


class RowShape(Value):
    """Heights of a row, in logical pixels: spans, strip of states, band of markers, gap to the next row."""

    spans: int = 18
    strip: int = 5
    gap: int = 3
    band: int = 0

    @property
    def pitch(self) -> int:
        """Return the distance from a row to the next."""
        return self.spans + self.strip + self.band + self.gap


class Frame(Record):
    """A picture under construction.  All lengths are device pixels; row r begins at `top(r)`."""

    canvas: np.ndarray  # uint8 [height, width], codes of `color_table`
    pixels: Pixels
    first: int  # rows in view
    stop: int
    scale: float  # device pixels per logical pixel
    scroll_px: float  # logical
    shape: RowShape
    theme: Theme
    grid: np.ndarray  # int64, columns of the grid
    tinted: int = -1  # the tinted row

    def top(self, row: int) -> int:
        """Return the top of a row; may be negative."""
        return round((row * self.shape.pitch - self.scroll_px) * self.scale)

    @cached_property
    def tops(self) -> np.ndarray:
        """Return the tops of the rows in view, int64."""
        return np.array([self.top(row) for row in range(self.first, self.stop)], np.int64)

    @property
    def spans_px(self) -> int:
        """Return the height of the spans."""
        return max(1, round(self.shape.spans * self.scale))

    def part(self, row: int, below: int = 0, height: int | None = None) -> np.ndarray:
        """Return the visible pixels of a row as a view into the canvas: its spans by default."""
        top = self.top(row) + below
        stop = top + (self.spans_px if height is None else height)
        return self.canvas[max(0, top) : max(0, min(stop, len(self.canvas)))]

    def fill(self, lines: np.ndarray, below: int, nothing: int) -> None:
        """Put codes, uint8 [rows, height, width], into the rows in view, at an offset below their tops.

        A column of codes may cover several columns of the canvas.  Where codes are `nothing`, grid and tint
        stay.
        """
        many, height = self.canvas.shape[1] // lines.shape[2], lines.shape[1]
        canvas = self.canvas
        if many == 2:  # two bytes at once
            canvas = canvas.view(np.uint16)
        elif many > 2:
            lines = np.repeat(lines, many, axis=2)
        tops = self.tops + below
        whole = np.flatnonzero((tops >= 0) & (tops + height <= len(canvas)))
        steps = set(np.diff(tops[whole]).tolist())
        if len(steps) == 1:  # all rows at once
            strides = (steps.pop() * canvas.strides[0], *canvas.strides)
            shape = (len(whole), height, canvas.shape[1])
            inside = np.lib.stride_tricks.as_strided(canvas[tops[whole[0]] :], shape, strides)
            _put(lines[whole[0] : whole[-1] + 1], inside)
            tops[whole] = len(canvas)
        for number in np.flatnonzero((tops > -height) & (tops < len(canvas))).tolist():
            top = int(tops[number])
            _put(lines[number, max(0, -top) : len(canvas) - top], canvas[max(0, top) : top + height])
        if self.first <= self.tinted < self.stop:
            part = self.part(self.tinted, below, height)
            part[part == nothing] = TINT
        columns = self.canvas[:, self.grid]
        columns[columns == nothing] = GRID
        self.canvas[:, self.grid] = columns


def _put(codes: np.ndarray, place: np.ndarray) -> None:
    """Put codes, uint8, into an area of equal size, or each code twice into an area of pixel pairs."""
    place[:] = codes
    if place.dtype == np.uint16:
        place *= np.uint16(0x0101)


class RowName(Value):
    """The label next to a row."""

    label: str
    group: str = ""  # equal for neighbours in a group
    part: str = ""  # of the group, shown where rows are too low for their labels
    place: str = ""  # as texts write it, "" if the label is its name


class RowSource:
    """The content of a timeline: rows with names, which a subclass paints."""

    def __init__(self, theme: Theme, shape: RowShape) -> None:
        self.theme, self.shape = theme, shape
        self.version = 0  # grows when anything of the picture changes
        self.selected_row = -1  # -1: none
        self.names: tuple[RowName, ...] = ()
        self.values: tuple[str, ...] = ()  # a number next to each name
        self.dimmed: frozenset[int] = frozenset()  # codes of pixels that are dimmed
        self.codes_over: frozenset[int] = frozenset()  # of `ACTIVITIES`, which the picture shows otherwise

    def __len__(self) -> int:
        return len(self.names)

    def value(self, row: int) -> str:
        """Return the number next to the name, "" for none."""
        return self.values[row] if row < len(self.values) else ""

    def paint(self, frame: Frame) -> None:
        """Fill the rows' pixels."""

    def paint_over(self, painter: QPainter, frame: Frame) -> None:
        """Add single items: rectangles, names, hatching."""


class RowsItem(BoxItem):
    """Paints the rows in view."""

    covers = True

    def __init__(self, box: PlotBox, theme: Theme, source: RowSource) -> None:
        super().__init__(box, theme)
        self._key: tuple[object, ...] = ()
        self._image = QImage()  # cached from picture to picture, like the canvas: new memory is expensive
        self._frame: Frame | None = None  # last drawn picture, until the image holds it
        self._canvas = np.zeros((0, 0), np.uint8)
        self._strips: list[tuple[int, QImage]] = []  # of the canvas, and the start of each strip
        self._colors: list[int] = []  # of all codes; none until needed
        self._colored = False  # whether the strips have them
        self.source = source
        self.scroll_px = 0.0
        self.grid: Callable[[TimeWindow, int], np.ndarray] = lambda window, width: np.zeros(0, np.int64)
        self.drawn: Callable[[], None] = lambda: None  # called after a new picture

    def rows_in_view(self, height: float) -> tuple[int, int]:
        """Return the first row in view and the row after the last."""
        source = self.source
        first = int(self.scroll_px // source.shape.pitch)
        return max(0, first), min(len(source), int((self.scroll_px + height) // source.shape.pitch) + 1)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw the picture, remade only if it would differ."""
        rect = self.boundingRect()
        if rect.width() < 1 or rect.height() < 1:
            return
        # Not the widget's ratio: an exported picture has its own.  Not painter.device(): PySide6 6.11 crashes
        # when the wrapper of a window's backing store is deleted.
        scale = painter.deviceTransform().m11()
        if draws_shapes():
            self._paint_shapes(painter, rect, scale)
            return
        look = (self.source.version, self.source.selected_row, self.source.shape)
        key = (self.shown, rect.size().toTuple(), scale, self.scroll_px, look)
        painter.save()
        painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
        painter.scale(1 / scale, 1 / scale)
        if key == self._key:
            if self._frame is not None:  # keep the last picture, for whatever moves above it
                with QPainter(self._image) as kept:
                    self._draw(kept, self._frame)
                self._frame = None
            painter.drawImage(0, 0, self._image)
        else:  # moving pictures are each drawn once: directly to the screen
            self._frame, self._key = self._fill(rect, scale), key
            self._draw(painter, self._frame)
        painter.restore()
        if self._frame is not None:
            self.drawn()

    def _paint_shapes(self, painter: QPainter, rect: QRectF, scale: float) -> None:
        """Paint the same picture as paths and text, for a file that will be enlarged."""
        frame = self._fill(rect, scale)
        table = color_table(self._theme, self.source.dimmed)
        painter.save()
        painter.setClipRect(rect)
        painter.scale(1 / scale, 1 / scale)
        painter.fillRect(QRectF(0, 0, *frame.canvas.shape[::-1]), self._theme.role("canvas"))
        paint_codes(painter, frame.canvas, lambda code: QColor.fromRgba(table[code]), CANVAS)
        self.source.paint_over(painter, frame)
        painter.restore()
        self._key = ()

    def codes_in_sight(self) -> np.ndarray:
        """Return which codes the last picture contains, bool [256]."""
        seen = np.zeros(256, dtype=bool)
        seen[self._canvas] = True
        seen[list(self.source.codes_over)] = True
        return seen

    def forget(self) -> None:
        """Remake the picture at the next paint: the source or the colours changed."""
        self._key, self._colors, self._colored = (), [], False
        super().forget()

    def _fill(self, rect: QRectF, scale: float) -> Frame:
        source = self.source
        width, height = max(1, round(rect.width() * scale)), max(1, round(rect.height() * scale))
        if self._canvas.shape != (height, width):
            self._resize(width, height)
        first, stop = self.rows_in_view(rect.height())
        frame = Frame(
            canvas=self._canvas, pixels=Pixels(self.shown, width), grid=self.grid(self.shown, width),
            first=first, stop=stop, scale=scale, scroll_px=self.scroll_px, shape=source.shape,
            theme=self._theme, tinted=source.selected_row,
        )  # fmt: skip
        line = np.full(width, CANVAS, np.uint8)
        line[frame.grid] = GRID
        frame.canvas[:] = line
        if first <= source.selected_row < stop:
            below = -round(source.shape.gap * scale / 2)
            frame.part(source.selected_row, below, round(source.shape.pitch * scale))[:] = TINT
        source.paint(frame)
        return frame

    def _resize(self, width: int, height: int) -> None:
        self._canvas = np.empty((height, width), np.uint8)
        self._image = QImage(width, height, QImage.Format.Format_RGB32)
        step = max(1, STRIP_PX // width)
        self._strips, self._colored = [], False
        for top in range(0, height, step):
            lines = self._canvas[top : top + step]
            strip = QImage(lines.data, width, len(lines), width, QImage.Format.Format_Indexed8)
            self._strips.append((top, strip))

    def _draw(self, painter: QPainter, frame: Frame) -> None:
        """Draw a frame, in device pixels: its canvas, and the items over it.

        Codes become colours a few lines at a time, which stay in the processor's cache.
        """
        if not self._colored:
            self._colors = self._colors or color_table(self._theme, self.source.dimmed)
            for _, strip in self._strips:
                strip.setColorTable(self._colors)
            self._colored = True
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        for top, strip in self._strips:
            painter.drawImage(0, top, strip.convertToFormat(QImage.Format.Format_RGB32))
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        self.source.paint_over(painter, frame)


class Overlay(TimeOverlay):
    """The overlay of a timeline with rows."""

    def __init__(self, box: PlotBox, rows: RowsItem, session: Session, theme: Theme) -> None:
        super().__init__(box, session, theme)
        self._rows = rows
        self.below: Callable[[QPainter, RowsItem, TimeWindow], None] | None = None  # marks that a panel adds

    def paint_below(self, painter: QPainter, marks: Marks) -> None:
        """Paint the panel's marks, the ticks of values the kernel wrote and of the selected instruction."""
        if self.below is not None:
            self.below(painter, self._rows, self.shown)
        self._paint_ticks(painter, marks.data, "text", below=True)
        self._paint_ticks(painter, marks.ticks, "accent")

    def paint_above(self, painter: QPainter, marks: Marks) -> None:
        if marks.hovered is not None and marks.hovered != marks.selected:
            self._outline(painter, marks.hovered, self._theme.role("text"), 1.0)
        if marks.selected is not None:
            self._outline(painter, marks.selected, self._theme.role("accent"), 2.0)

    def _paint_ticks(
        self, painter: QPainter, ticks: tuple[tuple[int, np.ndarray], ...], role: str, below: bool = False
    ) -> None:
        source, window = self._rows.source, self.shown
        per_cycle = self._box.width() / window.width
        places = [(row, ascending(np.round((at - window.begin) * per_cycle)).tolist()) for row, at in ticks]
        if sum(len(at) for _, at in places) > MAX_TICKS:
            return
        color = self._theme.role(role)
        for row, at in places:
            top = row * source.shape.pitch - self._rows.scroll_px + (source.shape.spans if below else -2)
            for x in at:
                painter.fillRect(QRectF(x, top, 2, 3 if below else 2), color)

    def _outline(self, painter: QPainter, place: RowPart, color: QColor, width: float) -> None:
        source = self._rows.source
        if not place.span.overlaps(self.shown.begin, self.shown.end):
            return
        left, right = self.x_of(place.span.begin), self.x_of(place.span.end)
        top = place.row * source.shape.pitch - self._rows.scroll_px + place.below
        rect = QRectF(left, top, max(2.0, right - left), place.height or source.shape.spans)
        pen = QPen(color, width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(rect.adjusted(-width / 2, -width / 2, width / 2, width / 2))


WIDTH = 140  # the longest name of a unit next to its share
PART_SHARE, LOW_SHARE = 0.38, 0.48  # share of the room for names: labels of rows, of low rows


class RowLabels(PlainAxis):
    """Replaces the left axis; groups are sticky, long names are elided."""

    rows: RowsItem  # source of the names; set before the first paint

    def __init__(self, theme: Theme) -> None:
        super().__init__("left", theme, WIDTH)

    def draw(self, painter: QPainter, metrics: QFontMetricsF, width: float, height: float) -> None:
        rows, names = self.rows, self.rows.source.names
        painter.setClipRect(QRectF(0, 0, width, height))
        first, stop = rows.rows_in_view(height)
        for group, members in groupby(range(first, stop), lambda row: names[row].group):
            if group:
                self._paint_group(painter, metrics, group, list(members))
        if rows.source.shape.spans >= grown(TEXT_PX) - 2:
            for row in range(first, stop):
                self._paint_row(painter, metrics, row)
        else:
            parts = groupby(range(first, stop), lambda row: (names[row].group, names[row].part))
            for (_, part), members in parts:
                self._paint_part(painter, metrics, part, list(members))
        painter.fillRect(QRectF(width - 1, 0, 1, height), self._theme.role("line"))

    def _paint_group(self, painter: QPainter, metrics: QFontMetricsF, group: str, members: list[int]) -> None:
        rows, shape, width = self.rows, self.rows.source.shape, self.size().width()
        top = max(0.0, members[0] * shape.pitch - rows.scroll_px)
        bottom = (members[-1] + 1) * shape.pitch - rows.scroll_px
        if members[0] > 0 and rows.source.names[members[0] - 1].group != group:
            painter.setPen(self._theme.role("line"))
            painter.drawLine(0, round(top), round(width), round(top))
        if bottom - top < grown(TEXT_PX):
            return
        is_low = shape.spans < grown(TEXT_PX) - 2
        beside = PART_SHARE if not is_low else LOW_SHARE if rows.source.names[members[0]].part else 0.0
        room = (width - 14) * (1 - beside)
        painter.setPen(self._theme.role("muted"))
        text = metrics.elidedText(translated(group), Qt.TextElideMode.ElideRight, room)
        rect = QRectF(8, top, room, min(bottom - top, max(shape.spans, grown(TEXT_PX) + 3)))
        draw_text(painter, rect, MIDDLE_LEFT, text)

    def _paint_part(self, painter: QPainter, metrics: QFontMetricsF, part: str, members: list[int]) -> None:
        """Label a group's low rows together, if there is room next to the group."""
        rows, shape, width = self.rows, self.rows.source.shape, self.size().width()
        top = max(0.0, members[0] * shape.pitch - rows.scroll_px)
        bottom = (members[-1] + 1) * shape.pitch - rows.scroll_px
        if part and bottom - top >= grown(TEXT_PX):
            painter.setPen(self._theme.role("text"))
            room = (width - 16) * LOW_SHARE
            text = metrics.elidedText(translated(part), Qt.TextElideMode.ElideRight, room)
            rect = QRectF(width - 8 - room, top, room, bottom - top)
            draw_text(painter, rect, MIDDLE_RIGHT, text)

    def _paint_row(self, painter: QPainter, metrics: QFontMetricsF, row: int) -> None:
        source, width = self.rows.source, self.size().width()
        top = row * source.shape.pitch - self.rows.scroll_px
        is_selected = row == source.selected_row
        if is_selected:
            painter.fillRect(QRectF(width - 4, top, 3, source.shape.spans), self._theme.role("accent"))
        painter.setPen(self._theme.role("accent" if is_selected else "text"))
        group, value = translated(source.names[row].group), source.value(row)
        whole = width - 16
        room = max(whole * PART_SHARE, whole - metrics.horizontalAdvance(group) - 8) if group else whole
        rect = QRectF(width - 8 - room, top, room, source.shape.spans)
        beside = metrics.horizontalAdvance(value) + metrics.horizontalAdvance("0") if value else 0.0
        # Next to a number the middle is cut: units differ at the end of their names.
        where = Qt.TextElideMode.ElideMiddle if value else Qt.TextElideMode.ElideRight
        text = metrics.elidedText(translated(source.names[row].label), where, room - beside)
        draw_text(painter, rect, MIDDLE_RIGHT if group else MIDDLE_LEFT, text)
        if value:
            painter.setPen(self._theme.role("muted"))
            draw_text(painter, rect, MIDDLE_RIGHT, value)
