"""What a frame of the compute unit timeline costs at every zoom, from a mouse event to the picture."""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import process_time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QApplication

from bench.table import Options, Row, measure
from rcv_py.analysis.timeline.lod import build
from rcv_py.analysis.timeline.raster import RowSegment, TokenRow
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.window import TimeWindow
from rcv_py.state.commands import Commands
from rcv_py.state.selection import Hover
from rcv_py.state.session import Session
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.scheduler import Scheduler
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.items import Rects
from rcv_py.ui.timeline.rows_item import RowName, RowShape
from rcv_py.ui.timeline.time_overlay import Marks, RowPart
from rcv_py.ui.timeline.timeline_plot import TimelinePlot
from rcv_py.ui.timeline.token_rows import TokenRows
from rcv_py.ui.timeline.token_tip import token_at

ROWS = 64
SIZE = QSize(1600, 800)
TOKENS = 100_000  # a row
COUNTS = (15_625, 937_500)  # tokens a row: 1 and 60 million in all
LIMITS = {1: 3.3, 2: 6.0}  # by device pixel ratio, in units of the time of `rectangles`
LEVELS = 14  # zooms, from everything to a few tokens
MOVES = 3  # of the mouse at each zoom, dragging and hovering
RECTANGLES = 20_000


class Guide:
    """Finds what the mouse is over, as a panel does, and has it outlined."""

    def __init__(self, source: TokenRows, session: Session) -> None:
        self._source, self._session = source, session
        self._place: RowPart | None = None

    def hovered(self, row: int, time: int) -> None:
        """Outline the token, and tell whoever follows the mouse."""
        self._place = None
        segment = self._source.rows[row].at(time) if row >= 0 else None
        if segment is not None and (token := token_at(segment, time, TimeWindow(time, time + 1))) >= 0:
            self._place = RowPart(row, segment.tokens.span(token))
            self._session.hover.set(Hover(time=time, line=int(segment.tokens.line[token])))

    def tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        return ""

    def marks(self) -> Marks:
        return Marks(hovered=self._place)


def segment(tokens: int, seed: int) -> RowSegment:
    """Build a wave of short instructions with waits between, 28 cycles an instruction on average."""
    random = np.random.default_rng(seed)
    length = random.integers(1, 12, tokens) * 4
    stall = (length * random.random(tokens)).astype(np.int64) // 4 * 4
    offset = np.cumsum(length + random.integers(0, 3, tokens) * 4) - length
    end = int(offset[-1] + length[-1])
    kind = random.choice([2, 3, 5, 6, 6, 6, 9, 13], tokens).astype(np.uint8)
    starts, stalls, busy = (column.astype(np.int32) for column in (offset, stall, length - stall))
    made = Tokens(0, starts, stalls, busy, kind, np.zeros(tokens, np.int16))
    edges = np.append(0, np.sort(random.integers(1, end, tokens // 2))).astype(np.int32)
    states = States(0, edges, random.integers(1, 5, len(edges)).astype(np.uint8), end)
    return RowSegment(0, end, made, states, build(made, states))


class Everywhere(Session):
    """A session without a capture, whose view may be anywhere."""

    def set_view(self, window: TimeWindow, commit: bool = True) -> None:
        self.view.set(window)


class Screen:
    """A timeline of made-up waves under a mouse, as large as a window."""

    def __init__(self, tokens: int, ratio: int, distinct: int = 8) -> None:
        """Rows repeat after `distinct`, to save memory."""
        settings, self.session = Settings(None), Everywhere()
        self.tasks = Tasks(1)
        scheduler = Scheduler(self.session, self.tasks)
        results = SharedResults(self.session, scheduler)
        context = UiContext(self.session, scheduler, Theme(settings), settings, Commands(), results)
        made = [segment(tokens, seed) for seed in range(distinct)]
        source = TokenRows(context.theme, RowShape(6, 5, 1))
        rows = [TokenRow((made[i % distinct],)) for i in range(ROWS)]
        source.set_rows(rows, [RowName(f"{i // 16}-{i % 16}", "SE0 CU0") for i in range(ROWS)])
        source.texts = ["v_add_f32 v0, v1, v2"]
        self.plot = TimelinePlot(context, source, Guide(source, self.session))  # type: ignore[arg-type]
        self.plot.resize(SIZE)
        self.plot.show()
        self.end = made[0].end
        self.picture = QImage(SIZE * ratio, QImage.Format.Format_RGB32)
        self.picture.setDevicePixelRatio(ratio)

    def close(self) -> None:
        """Take it apart."""
        self.plot.close()
        self.plot.deleteLater()
        self.tasks.close()

    def show(self, window: TimeWindow) -> None:
        """Begin at a window."""
        plot = self.plot
        plot.rows.shown = plot.axis.shown = plot.overlay.shown = window
        self.session.view.set(window)
        self.paint()

    def paint(self) -> None:
        """Paint the whole view."""
        with QPainter(self.picture) as painter:
            self.plot.viewport().render(painter, QPoint())

    def frame(self, event: QMouseEvent | QWheelEvent) -> float:
        """Milliseconds of processor from an event to its picture: other programs do not count."""
        start = process_time()
        QApplication.sendEvent(self.plot.viewport(), event)
        self.paint()
        return (process_time() - start) * 1e3


def mouse(kind: QEvent.Type, x: float, held: Qt.MouseButton = Qt.MouseButton.NoButton) -> QMouseEvent:
    """An event of the left button, or of none, in the middle of the rows."""
    moves = kind == QEvent.Type.MouseMove
    button = Qt.MouseButton.NoButton if moves else Qt.MouseButton.LeftButton
    at = QPointF(x, SIZE.height() / 2)
    return QMouseEvent(kind, at, at, button, held, Qt.KeyboardModifier.NoModifier)


def turn(x: float, notches: int) -> QWheelEvent:
    """A turn of the wheel."""
    at, delta = QPointF(x, SIZE.height() / 2), QPoint(0, 120 * notches)
    buttons, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    return QWheelEvent(at, at, QPoint(), delta, buttons, keys, Qt.ScrollPhase.NoScrollPhase, False)


def frame_times(tokens: int, ratio: int, distinct: int = 8) -> dict[str, list[float]]:
    """Milliseconds of processor from an event to its frame, by gesture, over every zoom."""
    application = QApplication.instance() or QApplication([])
    screen = Screen(tokens, ratio, distinct)
    times: dict[str, list[float]] = {"zoom": [], "drag": [], "hover": []}
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    for width in np.geomspace(screen.end * 0.9, 160, LEVELS).astype(int).tolist():
        begin = (screen.end - width) // 2
        screen.show(TimeWindow(begin, begin + width))
        application.processEvents()
        times["zoom"] += [screen.frame(turn(700, way)) for way in (1, -1)]
        QApplication.sendEvent(screen.plot.viewport(), mouse(QEvent.Type.MouseButtonPress, 800, left))
        moved = [mouse(QEvent.Type.MouseMove, 800 - 17 * (i + 1), left) for i in range(MOVES)]
        times["drag"] += [screen.frame(event) for event in moved]
        QApplication.sendEvent(screen.plot.viewport(), mouse(QEvent.Type.MouseButtonRelease, 700, none))
        over = [mouse(QEvent.Type.MouseMove, 500 + 9 * i) for i in range(MOVES)]
        times["hover"] += [screen.frame(event) for event in over]
    screen.close()
    return times


def rectangles() -> float:
    """Milliseconds of `QPainter.drawRects` of 20,000 rectangles into a picture of the same size, the unit."""
    picture, random = QImage(SIZE, QImage.Format.Format_RGB32), np.random.default_rng(1)
    columns = np.empty((RECTANGLES, 4))
    columns[:, 0] = random.integers(0, SIZE.width(), RECTANGLES)
    columns[:, 1] = random.integers(0, SIZE.height(), RECTANGLES)
    columns[:, 2:] = 4, 6
    array, times = Rects(), []
    for _ in range(9):
        with QPainter(picture) as painter:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor("red"))
            start = process_time()
            array.draw(painter, columns)
            times.append((process_time() - start) * 1e3)
    return float(np.median(times))


def beside_the_unit(ratio: int) -> tuple[float, dict[str, list[float]]]:
    """The mean of the unit before and after, and the times of frames."""
    before, times = rectangles(), frame_times(TOKENS, ratio)
    return (before + rectangles()) / 2, times


@measure("frame")
def frames(options: Options) -> Iterator[Row]:
    """Each in turn with the unit, and the better of two runs: other programs only ever make it slower."""
    frame_times(100, 1, 1)  # fonts and the like
    for ratio, limit in LIMITS.items():
        runs = [beside_the_unit(ratio) for _ in range(2)]
        name = f"frame p95, {ROWS} rows x {TOKENS:,} tokens, ratio {ratio}"
        changed = [(unit, np.percentile(made["zoom"] + made["drag"], 95)) for unit, made in runs]
        yield Row(name, min(p95 / unit for unit, p95 in changed), limit, "P")
        for gesture in runs[0][1]:
            best = min(float(np.percentile(made[gesture], 95)) for _, made in runs)
            yield Row(f"  {gesture}, ratio {ratio}, p95", best, None, "ms", 1)
    few, many = (
        min(float(np.median(np.concatenate(list(frame_times(count, 1).values())))) for _ in range(2))
        for count in COUNTS
    )
    name = f"frame, {COUNTS[0] * ROWS / 1e6:.0f} M -> {COUNTS[1] * ROWS / 1e6:.0f} M tokens"
    yield Row(name, many / few, 2.0, "×")
