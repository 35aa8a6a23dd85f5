"""Pictures of rows: where lines go at any scale and scroll, how full a pixel is, and what an export holds."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from rcv_py.analysis.timeline.pixels import Pixels
from rcv_py.analysis.timeline.raster import RowSegment, TokenRow
from rcv_py.features.time.device_rows import NOTHING, Boxes, BoxRows
from rcv_py.model.activity import ACTIVITIES, ACTIVITY_COUNT
from rcv_py.model.kinds import TokenKind
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.core import export
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.timeline import items
from rcv_py.ui.timeline.items import box_lines
from rcv_py.ui.timeline.rows_item import CANVAS, DIM, GRID, TINT, Frame, RowName, RowShape, color_table
from rcv_py.ui.timeline.time_overlay import Marks
from rcv_py.ui.timeline.timeline_plot import TimelinePlot
from rcv_py.ui.timeline.token_rows import Pending, TokenRows, span_segment, wave_rows
from rcv_py.work.load import prepare
from tests.support.drawing import tokens as drawn
from tests.support.wave_folder import reader, trace, wave

SHAPE = RowShape(6, 3, 2)


class Nobody:
    """A guide that says nothing."""

    def hovered(self, row: int, time: int) -> None:
        pass

    def marks(self) -> Marks:
        return Marks()


def frame(ui: UiContext, size: tuple[int, int], **others: Any) -> Frame:
    height, width = size
    canvas = np.full((height, width), CANVAS, np.uint8)
    grid = np.arange(3, width, 7)
    canvas[:, grid] = GRID
    window = TimeWindow(0, 1000 * width)
    known = {"first": 0, "stop": 1, "scale": 1.0, "scroll_px": 0.0, "shape": SHAPE, **others}
    return Frame(canvas=canvas, pixels=Pixels(window, width), theme=ui.theme, grid=grid, **known)


LOOKS = st.fixed_dictionaries(
    {
        "scale": st.sampled_from([1.0, 1.25, 1.5, 2.0, 3.0]),
        "scroll_px": st.floats(0, 60),
        "tinted": st.integers(-1, 7),
    }
)


@given(LOOKS, st.integers(1, 90), st.integers(1, 3), st.integers(0, 6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_codes_lie_where_their_rows_are(
    ui: UiContext, look: dict[str, Any], height: int, many: int, below: int
) -> None:
    """At once for all rows as one by one for each; where nothing is, grid and tint are seen."""
    made = frame(ui, (height, 12 * many), first=1, stop=7, **look)
    lines = np.random.default_rng(height).integers(0, 5, (6, max(1, round(3 * made.scale)), 12))
    wanted = made.canvas.copy()
    for row in range(1, 7):
        for line, codes in enumerate(lines[row - 1]):
            if 0 <= (y := made.top(row) + below + line) < height:
                ground = TINT if row == made.tinted else wanted[y]
                wide = np.repeat(codes, many)
                wanted[y] = np.where(wide == 4, ground, wide)
    made.fill(lines.astype(np.uint8), below, 4)
    assert np.array_equal(np.where(made.canvas == 4, CANVAS, made.canvas), wanted)


@pytest.mark.parametrize(("busy", "height"), [(400, 8), (50, 1), (1, 1), (1000, 20)])
def test_a_pixel_of_short_waves_is_as_high_as_their_share(busy: int, height: int, ui: UiContext) -> None:
    """Of 1,000 cycles a pixel, in a row of 20 lines; a single cycle is a line."""
    source, count = BoxRows(ui.theme, RowShape(20, 0, 1)), 100
    begin = np.arange(count) * 1000
    columns = np.zeros(count, np.int32), begin, begin + busy, np.zeros(count, np.int32)
    source.set_boxes(Boxes(*columns, np.ones(count, bool)), [RowName("0-0")])
    made = frame(ui, (20, count), shape=source.shape)
    source.paint(made)
    filled = np.isin(made.canvas, (CANVAS, GRID, NOTHING), invert=True).sum(axis=0)
    assert filled.min() >= 1
    assert abs(filled.mean() - height) <= 0.15
    assert filled.max() - filled.min() <= 1


def test_a_wide_wave_is_a_box_and_a_short_one_beside_it_is_none(ui: UiContext) -> None:
    source = BoxRows(ui.theme, RowShape(20, 0, 1))
    begin, end = np.array([0, 20_100]), np.array([10_000, 20_300])
    number = np.zeros(2, np.int32)
    source.set_boxes(Boxes(number, begin, end, number, np.ones(2, bool)), [RowName("0-0")])
    made = frame(ui, (20, 40), shape=source.shape)
    source.paint(made)
    filled = np.isin(made.canvas, (CANVAS, GRID, NOTHING), invert=True).sum(axis=0).tolist()
    assert filled[:9] == [20] * 9
    assert filled[9:20] == [0] * 11  # a pixel of distance, and idle time
    assert 3 <= filled[20] <= 5
    assert not any(filled[21:])


@pytest.mark.parametrize("overlap", [0, 2])
@pytest.mark.parametrize("cycles", [20_000, 400_000, 3_000_000])
def test_a_unit_that_is_hardly_busy_is_drawn_hardly_filled(cycles: int, overlap: int, ui: UiContext) -> None:
    """5.6 % busy is 5.6 % of the pixels at every zoom; so are two bars at a time that overlap by little."""
    start = np.repeat(np.arange(3000) * 1000, 2) + np.tile([0, 28 - overlap], 3000)
    segment = span_segment(start, start + 28, np.full(6000, 6))
    source = TokenRows(ui.theme, RowShape(16, 0, 4))
    source.set_rows([TokenRow((segment,))], [RowName("VALU")])
    made = replace(frame(ui, (20, 400), shape=source.shape), pixels=Pixels(TimeWindow(0, cycles), 400))
    source.paint(made)
    filled = np.mean(made.canvas[:16] < ACTIVITY_COUNT)
    assert abs(filled - (0.056 - overlap / 1000)) <= 0.004


@pytest.mark.parametrize("scale", [2, 3])
def test_an_exported_timeline_is_painted_at_its_scale(scale: int, ui: UiContext, qtbot: QtBot) -> None:
    """A row whose share grows has a step at each of its lines, and more lines than a small picture."""
    offset = np.arange(0, 40_000, 10, dtype=np.int32)
    stall, busy = np.zeros(4000, np.int32), np.linspace(1, 10, 4000).astype(np.int32)
    made = Tokens(0, offset, stall, busy, np.full(4000, 6, np.uint8), np.zeros(4000, np.int16))
    states = States(0, np.zeros(1, np.int32), np.full(1, 2, np.uint8), 40_000)
    segment = RowSegment.of(made, states, None, TimeWindow(0, 40_000))
    source = TokenRows(ui.theme, RowShape(18, 5, 3))
    source.set_rows([TokenRow((segment,))], [RowName("0-0")])
    plot = TimelinePlot(ui, source, Nobody())
    qtbot.addWidget(plot)
    plot.resize(400, 80)
    plot.rows.shown = TimeWindow(0, 40_000)
    before = plot.grab().toImage()
    large = export.picture(plot, ui.theme, "", scale)
    large.setDevicePixelRatio(1)
    box = plot.plot_rect()
    lines = [
        large.copy(box.x() * scale, y, box.width() * scale, 1) for y in range(box.y() * scale, 40 * scale)
    ]
    steps = sum(one != other for one, other in pairwise(lines))
    assert steps > 18, "as many as a small picture has lines"
    assert plot.grab().toImage() == before, "the window shows its own again"


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_the_time_of_a_pixel_in_a_picture_is_of_its_own_pixels(
    scale: int, ui: UiContext, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot = TimelinePlot(ui, TokenRows(ui.theme, RowShape(18, 5, 3)), Nobody())
    qtbot.addWidget(plot)
    plot.resize(700, 80)
    plot.grab()  # lays it out
    plot.axis.shown = TimeWindow(0, 6000 * plot.plot_rect().width())
    drawn: list[str] = []
    monkeypatch.setattr(items, "draw_text", lambda painter, *where: drawn.append(where[-1]))
    export.picture(plot, ui.theme, "", scale)
    assert f"cycles · 1 px = {6000 // scale:,} cycles" in drawn


def test_an_axis_has_a_number_where_its_title_needs_most_of_it(
    ui: UiContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    axis, image, drawn = items.TimeAxis(ui.theme), QImage(330, 22, QImage.Format.Format_RGB32), list[str]()
    monkeypatch.setattr(items, "draw_text", lambda painter, *where: drawn.append(where[-1]))
    axis.shown = TimeWindow(102_805, 287_539)
    axis.resize(330, 22)
    with QPainter(image) as painter:
        axis.draw(painter, items.small_text(painter), 330, 22)
    assert drawn == ["200,000", "cycles"]


def names_of(ui: UiContext, drawing: str, texts: tuple[str, ...], busy: tuple[int, ...]) -> QImage:
    """The names in 40 px a cycle over nothing; the drawing says when tokens begin."""
    made = replace(drawn(drawing), busy=np.array(busy, np.int32))
    states = States(0, np.zeros(1, np.int32), np.full(1, 2, np.uint8), 20)
    source = TokenRows(ui.theme, RowShape(18, 0, 2))
    source.set_rows([TokenRow((RowSegment.of(made, states, None, TimeWindow(0, 20)),))], [RowName("0-0")])
    source.texts = texts
    picture = frame(ui, (20, 800), shape=source.shape)
    picture = replace(picture, pixels=Pixels(TimeWindow(0, 20), 800))
    source.paint(picture)
    image = QImage(800, 20, QImage.Format.Format_ARGB32)
    image.fill(0)
    with QPainter(image) as painter:
        source.paint_over(painter, picture)
    return image


def inked(image: QImage) -> list[int]:
    """The columns that have ink."""
    return [x for x in range(image.width()) if any(image.pixel(x, y) for y in range(image.height()))]


def test_a_name_ends_where_the_next_token_begins(ui: UiContext) -> None:
    long, after = "v_mfma_f32_32x32x16_bf16", "s_nop"
    alone = inked(names_of(ui, "V", (long,), (8,)))
    assert max(alone) > 120, "it needs more room than 2 cycles"
    both = names_of(ui, "VVS", (long, after), (8, 4))
    only = names_of(ui, "..S", (after,), (4,))
    second = both.copy(80, 0, 720, 20)
    assert second == only.copy(80, 0, 720, 20)
    assert 40 < max(x for x in inked(both) if x < 80) < 78


@pytest.mark.parametrize("prefix", ["s_", "v_"])
def test_a_narrow_token_keeps_what_its_colour_does_not_say(ui: UiContext, prefix: str) -> None:
    narrow, wide = 2, 8
    assert names_of(ui, "V", (f"{prefix}mov_b32_e32",), (narrow,)) == names_of(
        ui, "V", ("mov_b32_e32",), (narrow,)
    )
    assert names_of(ui, "V", (f"{prefix}mov_b32_e32",), (wide,)) != names_of(
        ui, "V", ("mov_b32_e32",), (wide,)
    )


def test_a_plot_in_sight_can_be_closed_by_itself(ui: UiContext) -> None:
    """Its scene went before its viewport, which asked for it: that ended the process."""
    plot = TimelinePlot(ui, TokenRows(ui.theme, RowShape(18, 5, 3)), Nobody())
    plot.show()
    QApplication.processEvents()
    plot.close()
    assert not plot.isVisible()
    plot.deleteLater()


def test_while_waves_arrive_a_row_is_joined_anew_when_it_is_twice_as_long(tmp_path: Path) -> None:
    """Else all that was joined before would be again, each time that some more are there."""
    files = reader(tmp_path, {f"{i}.json": wave(begin=100 * i, end=100 * i + 60) for i in range(9)})
    capture = trace(files)
    store, rows, known = WaveStore(capture), (), {}
    joined = []
    for arrived in ([0, 1, 2], [3], [4], [5, 6], [7], [8]):
        store.add(prepare(files, arrived))
        made = wave_rows(capture, store, np.arange(9), known, before=rows)
        rows = made.rows
        known.update({part.key: part for part in rows[0].segments})
        joined.append([len(part.segments) for part in rows[0].parts])
    assert joined == [[3], [3, 1], [3, 2], [7], [7, 1], [9]], "and all together when all are there"


def test_a_row_to_which_nothing_was_added_stays(tmp_path: Path) -> None:
    """What it joined lasts as long: most rows of a capture wait while others get their waves."""
    files = reader(tmp_path, {f"{i}.json": wave(begin=100 * i, end=100 * i + 60) for i in range(4)})
    capture = trace(files)
    capture = replace(capture, waves=replace(capture.waves, slot=np.array([0, 0, 0, 1])))
    store = WaveStore(capture)
    store.add(prepare(files, [0]))
    first = wave_rows(capture, store, np.arange(4), {}).rows
    known = {part.key: part for row in first for part in row.segments}
    store.add(prepare(files, [1]))
    second = wave_rows(capture, store, np.arange(4), known, before=first).rows
    known |= {part.key: part for row in second for part in row.segments}
    store.add(prepare(files, [3]))
    third = wave_rows(capture, store, np.arange(4), known, before=second).rows
    assert (second[0] is first[0], third[0] is second[0]) == (False, True)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 40)), max_size=30))
def test_boxes_in_lines_are_those_that_a_painter_would_draw(steps: list[tuple[int, int, int]]) -> None:
    """Wide ones in order of time, cut where the next would begin too early, thin ones on top."""
    gap, length, code = np.array(steps, np.int64).reshape(-1, 3).T
    right = np.cumsum(gap + length) - 5  # the first may begin before the picture, the last end behind it
    left, line = right - length, np.arange(len(steps)) * 3 // max(1, len(steps))
    wanted = np.full((3, 50), 99)
    for thin in (False, True):
        for i in np.argsort(code, kind="stable").tolist():
            if (length[i] < 2) == thin:
                wanted[line[i], max(0, left[i]) : max(0, right[i])] = code[i]
    edges = left.astype(float), right.astype(float)
    assert np.array_equal(box_lines(line, *edges, code, lines=3, width=50, nothing=99), wanted)


@pytest.mark.parametrize("dimmed", [frozenset(), frozenset({ACTIVITIES.index((TokenKind.VALU, False))})])
def test_a_token_alone_has_the_colours_of_its_kind(dimmed: frozenset[int], ui: UiContext) -> None:
    """Its stall and its execution, hardly seen where others are picked out; what is between stays."""
    source = TokenRows(ui.theme, RowShape(6, 0, 4))
    made = drawn("vvvVVVVV....llLLLL")
    states = States(0, np.zeros(1, np.int32), np.full(1, 2, np.uint8), 72)
    source.set_rows([TokenRow((RowSegment.of(made, states, None, TimeWindow(0, 72)),))], [RowName("0-0")])
    source.dimmed = dimmed
    canvas = frame(ui, (10, 180), shape=source.shape)
    source.paint(replace(canvas, pixels=Pixels(TimeWindow(0, 18), 180)))
    table = color_table(ui.theme, dimmed)
    valu = ui.theme.kind(TokenKind.VALU)
    wanted = [
        ui.theme.stalled(TokenKind.VALU),
        ui.theme.soft(valu, DIM) if dimmed else valu,
        ui.theme.role("canvas"),
        ui.theme.stalled(TokenKind.LDS),
        ui.theme.kind(TokenKind.LDS),
    ]
    for line in canvas.canvas[:6].tolist():
        assert [table[line[px]] for px in (11, 43, 91, 133, 151)] == [color.rgba() for color in wanted]
    assert set(canvas.canvas[6:].ravel().tolist()) == {CANVAS, GRID}
    kinds = {(TokenKind.VALU, True), (TokenKind.VALU, False), (TokenKind.LDS, True), (TokenKind.LDS, False)}
    assert {ACTIVITIES[code] for code in source.codes_over} == kinds


def test_stretches_that_are_missing_are_as_few_rectangles_as_they_cover(ui: UiContext) -> None:
    """Thousands of waves are not there at first: a rectangle each would hold up every picture."""
    spans = [(0, 10, 20), (0, 20, 30), (0, 50, 60), (1, 0, 500), (2, 20, 21), (2, 390, 400), (3, 0, 9)]
    source = TokenRows(ui.theme, SHAPE)
    row, begin, end = np.array(spans[::-1]).T
    lacking = Pending(row, begin, end, key=np.arange(len(spans)))
    source.set_rows([], [RowName(str(row)) for row in range(4)], lacking)
    made = replace(frame(ui, (50, 200), shape=SHAPE), pixels=Pixels(TimeWindow(0, 400), 200), stop=3)
    drawn: list[list[float]] = []

    class Recorder(QPainter):
        def drawRect(self, box: QRectF) -> None:
            drawn.append([box.left(), box.top(), box.width()])

    picture = QImage(200, 50, QImage.Format.Format_RGB32)
    with Recorder(picture) as painter:
        source.paint_over(painter, made)
    assert drawn == [
        [5, made.top(0), 10],
        [25, made.top(0), 5],
        [0, made.top(1), 200],
        [10, made.top(2), 1],
        [195, made.top(2), 5],
    ]
