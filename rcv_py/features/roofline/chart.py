"""The kernel and its loops as points below memory and compute roofs, both axes logarithmic."""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor, inf, isfinite, log10

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.analysis.overview.roofline import Scope
from rcv_py.base.record import Value
from rcv_py.base.text import Message, percent, some, translated
from rcv_py.features.roofline.result import compact
from rcv_py.ui.core.plain_text import MIDDLE_LEFT, MIDDLE_RIGHT, Rich, draw_text, joined, rich, show_tip
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.items import small_text

LEFT, RIGHT, TOP, BOTTOM = 64, 14, 12, 40  # px around the plot
ROOM = 2.0  # factor beyond the outermost point or roof
NEAR_PX = 9  # distance from the middle of a point
KERNEL_PX, LOOP_PX = 6.0, 4.5  # radius of a point
FINEST = (2, 5)  # lines between powers of ten
NAME_GAP = 4
ROUNDING = 0.01  # above the memory line by no more than that is on it
NAME = "Roofline: the kernel and its loops against the peaks of computing and memory"
X_NAME, Y_NAME = "FLOP per requested byte", "FLOP/cycle per compute unit"


class Point(Value):
    """The position of a scope."""

    scope: int  # index in the roofline
    intensity: float  # FLOP a byte
    rate: float  # FLOP a cycle and compute unit, of all types
    name: str


def points_of(scopes: Sequence[Scope]) -> list[Point]:
    """Return the scopes that compute and request bytes, the kernel first."""
    found = []
    for at, one in enumerate(scopes):
        rate = one.flop() / one.cycles if one.cycles else 0.0
        if rate > 0 and isfinite(one.intensity) and one.intensity > 0:
            name = Message("loop {0}–{1}", one.first, one.last) if one.is_loop else "kernel"
            found.append(Point(at, one.intensity, rate, name))
    return found


def roofs_of(scopes: Iterable[Scope]) -> dict[str, float]:
    """Return the peak rate of a compute unit by unit and type, for types that occur, the highest first."""
    known = (one for scope in scopes for one in scope.computed if isfinite(one.peak) and one.peak > 0)
    found = {f"{one.unit} {one.type}": one.peak for one in known}
    return dict(sorted(found.items(), key=lambda roof: -roof[1]))


class Axis(Value):
    """A logarithmic axis: the values at its ends, and their positions in px."""

    low: float
    high: float
    begin: float
    end: float

    def place(self, value: float) -> float:
        """Return the position of a value, in px; values beyond the ends are extrapolated."""
        share = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return self.begin + share * (self.end - self.begin)

    def lines(self) -> Iterator[tuple[float, bool]]:
        """Return the values with a line, and whether each is a power of ten."""
        for power in range(floor(log10(self.low)), ceil(log10(self.high)) + 1):
            for step in (1, *FINEST):
                value = step * 10.0**power
                if self.low <= value <= self.high:
                    yield value, step == 1


class RooflineChart(QWidget):
    """Points and roofs; a click chooses a point."""

    chosen = Signal(int)  # index of a scope

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.scopes: tuple[Scope, ...] = ()
        self.points: list[Point] = []
        self.roofs: dict[str, float] = {}
        self.memory = inf  # bytes that memory delivers per compute unit and cycle; inf: unknown
        self.selected = -1
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(translated(NAME))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(420, 260)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 120)

    def show_scopes(self, scopes: Sequence[Scope]) -> None:
        """Show other scopes, none marked."""
        self.scopes = tuple(scopes)
        self.points, self.roofs = points_of(scopes), roofs_of(scopes)
        known = [one.roof for one in scopes if isfinite(one.roof) and one.roof > 0]
        self.memory = known[0] if known else inf
        self.selected = -1
        self.update()

    def select(self, scope: int) -> None:
        """Mark the point of a scope; -1: none."""
        self.selected = scope
        self.update()

    @property
    def area(self) -> QRectF:
        """Return the area of the points."""
        width, height = self.width() - LEFT - RIGHT, self.height() - TOP - BOTTOM
        return QRectF(LEFT, TOP, max(1, width), max(1, height))

    def axes(self) -> tuple[Axis, Axis]:
        """Return the axes of intensity and of rate, wide enough for all points, ridges and roofs."""
        area, known = self.area, isfinite(self.memory)
        across = [one.intensity for one in self.points]
        across += [peak / self.memory for peak in self.roofs.values() if known]
        up = [one.rate for one in self.points] + [*self.roofs.values()]
        low, high = min(across, default=0.1) / ROOM, max(across, default=10.0) * ROOM
        bottom, top = min(up, default=1.0) / ROOM, max(up, default=10.0) * ROOM
        return Axis(low, high, area.left(), area.right()), Axis(bottom, top, area.bottom(), area.top())

    def place(self, point: Point) -> QPointF:
        """Return the position of a point."""
        across, up = self.axes()
        return QPointF(across.place(point.intensity), up.place(point.rate))

    def point_at(self, position: QPointF) -> Point | None:
        """Return the point nearest to a position, None if none is near."""
        far = [((self.place(one) - position).manhattanLength(), at) for at, one in enumerate(self.points)]
        nearest = min(far, default=(inf, -1))
        return self.points[nearest[1]] if nearest[0] <= 2 * NEAR_PX else None

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(self.rect(), self._theme.role("canvas"))
            metrics = small_text(painter)
            if self.points or self.roofs:
                across, up = self.axes()
                self._paint_grid(painter, metrics, across, up)
                self._paint_roofs(painter, metrics, across, up)
                self._paint_points(painter, metrics)
                self._paint_why(painter, metrics)

    def _paint_grid(self, painter: QPainter, metrics: QFontMetricsF, across: Axis, up: Axis) -> None:
        area, role = self.area, self._theme.role
        last = -inf
        for value, _ in across.lines():
            x = across.place(value)
            painter.setPen(role("grid"))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            text = compact(value)
            width = metrics.horizontalAdvance(text)
            if x - width / 2 > last + NAME_GAP:
                painter.setPen(role("muted"))
                box = QRectF(x - width / 2 - 2, area.bottom() + 2, width + 4, metrics.height())
                draw_text(painter, box, Qt.AlignmentFlag.AlignCenter, text)
                last = x + width / 2
        last = inf
        for value, _ in up.lines():
            y = up.place(value)
            painter.setPen(role("grid"))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            if y < last - metrics.height():
                painter.setPen(role("muted"))
                box = QRectF(0, y - metrics.height() / 2, LEFT - NAME_GAP, metrics.height())
                draw_text(painter, box, MIDDLE_RIGHT, compact(value))
                last = y
        painter.setPen(role("line"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(area)
        painter.setPen(role("muted"))
        below = QRectF(area.left(), area.bottom() + metrics.height() + 2, area.width(), metrics.height() + 2)
        draw_text(painter, below, Qt.AlignmentFlag.AlignCenter, X_NAME)
        painter.save()
        painter.translate(metrics.height() / 2 + 2, area.center().y())
        painter.rotate(-90)
        side = QRectF(-area.height() / 2, -metrics.height() / 2, area.height(), metrics.height())
        draw_text(painter, side, Qt.AlignmentFlag.AlignCenter, Y_NAME)
        painter.restore()

    def _paint_roofs(self, painter: QPainter, metrics: QFontMetricsF, across: Axis, up: Axis) -> None:
        area, highest = self.area, max(self.roofs.values(), default=up.high)
        painter.setClipRect(area)
        known = isfinite(self.memory)
        if known:
            ridge = highest / self.memory
            painter.setPen(QPen(self._theme.role("hidden"), 2))
            ends = (across.low / 10, ridge)
            painter.drawLine(*(QPointF(across.place(at), up.place(at * self.memory)) for at in ends))
        good = self._theme.role("good")
        for peak in dict.fromkeys(self.roofs.values()):  # several types may have the same
            names = ", ".join(name for name, own in self.roofs.items() if own == peak)
            y, from_x = up.place(peak), across.place(peak / self.memory) if known else area.left()
            painter.setPen(QPen(good, 2))
            painter.drawLine(QPointF(from_x, y), QPointF(area.right(), y))
            text = translated(f"{names}, {compact(peak)}")
            width, height = metrics.horizontalAdvance(text), metrics.height()
            painter.setPen(good)
            box = QRectF(area.right() - width - NAME_GAP, y - 2 - height, width, height)
            draw_text(painter, box, MIDDLE_LEFT, text)
        if known:
            at = max(across.low * 1.1, up.low / self.memory * 1.4)
            text = translated(Message("memory, {0} bytes/cycle", compact(self.memory)))
            painter.setPen(self._theme.role("hidden"))
            spot = QPointF(across.place(at) + 12, up.place(at * self.memory))
            width = metrics.horizontalAdvance(text) + NAME_GAP
            y = min(spot.y(), area.bottom() - metrics.height())
            draw_text(painter, QRectF(spot.x(), y, width, metrics.height()), MIDDLE_LEFT, text)
        painter.setClipping(False)

    @property
    def why_above(self) -> str:
        """Return why points lie above the memory line, with their names; "" if none does."""
        above = [one.name for one in self.points if one.rate > one.intensity * self.memory * (1 + ROUNDING)]
        return "" if not above else Message("{0} above the memory line: caches served bytes", some(above, 2))

    def _paint_why(self, painter: QPainter, metrics: QFontMetricsF) -> None:
        """Say at the top left, where no point can be, why points lie above the memory line."""
        if why := translated(self.why_above):
            area = self.area
            text = metrics.elidedText(why, Qt.TextElideMode.ElideMiddle, area.width() - 2 * NAME_GAP)
            box = QRectF(area.left() + NAME_GAP, area.top() + 2, area.width(), metrics.height())
            painter.setPen(self._theme.role("muted"))
            draw_text(painter, box, MIDDLE_LEFT, text)

    def _paint_points(self, painter: QPainter, metrics: QFontMetricsF) -> None:
        area, role = self.area, self._theme.role
        taken: list[QRectF] = []
        for one in sorted(self.points, key=lambda point: point.scope != self.selected):
            spot, is_loop = self.place(one), self.scopes[one.scope].is_loop
            radius = LOOP_PX if is_loop else KERNEL_PX
            is_selected = one.scope == self.selected
            painter.setPen(QPen(role("text" if is_selected else "base"), 2.0 if is_selected else 1.2))
            painter.setBrush(role("accent" if not is_loop else "measure"))
            painter.drawEllipse(spot, radius, radius)
            width = metrics.horizontalAdvance(one.name)
            x = spot.x() + radius + NAME_GAP
            x = x if x + width < area.right() else spot.x() - radius - NAME_GAP - width
            box = QRectF(x, spot.y() - metrics.height() / 2, width, metrics.height())
            if not any(box.intersects(other) for other in taken):
                painter.setPen(role("text"))
                draw_text(painter, box, MIDDLE_LEFT, one.name)
                taken.append(box)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        point = self.point_at(event.position())
        if point is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(point.scope)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            point = self.point_at(QPointF(event.pos()))
            show_tip(event.globalPos(), "" if point is None else self.tip(point), self)
            return True
        return super().event(event)

    def tip(self, point: Point) -> Rich:
        """Return the numbers of a point: its rate, and its share of each roof."""
        scope = self.scopes[point.scope]
        rate, intensity = compact(point.rate), compact(point.intensity)
        lines = [
            rich("<b>{}</b>", point.name),
            Message("{0} FLOP/cycle per compute unit, {1} FLOP/byte", rate, intensity),
        ]
        for one in scope.computed:
            if isfinite(one.share):
                share = percent(one.share, 1)
                lines.append(Message("{0} of the peak of {1} {2}", share, one.unit, one.type))
        if isfinite(self.memory):
            rate, share = compact(scope.byte_rate), percent(scope.byte_rate / self.memory, 1)
            lines.append(Message("requests {0} bytes/cycle: {1} of what memory delivers", rate, share))
        return joined("<br>", lines)
