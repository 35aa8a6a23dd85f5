"""Curves over time: exact read-out, no lost peak, and the gestures of the timelines."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from rcv_py.model.device import Clock
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Selection
from rcv_py.ui.core import export
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.plot.curve_panel import CurvePlot, bounds, exact_text, ticks, value_text
from rcv_py.ui.plot.curves import Curve, CurveSet
from tests.support.traces import made_trace
from tests.ui.canvas_bot import CanvasBot
from tests.ui.window import legend_names

BEGIN = (1 << 41) + 8  # a time that 32 bits cannot hold, and float32 not tell from its neighbours
LENGTH = 48_000
SPAN = TimeWindow(BEGIN, BEGIN + LENGTH)
LOW = Curve("low", BEGIN + np.array([0, 10_000, 30_000]), np.array([2, 4, 1]), 0, "waves", "a low one")
HIGH = Curve("high", BEGIN + np.array([0, 20_000]), np.array([8, 6]), "accent", "waves")
Key = Qt.Key


def peaky() -> Curve:
    """Ones, and one value of 40 for 4 cycles in the middle."""
    time = BEGIN + 4 * np.arange(LENGTH // 4, dtype=np.int64)
    value = np.ones(len(time), np.int32)
    value[len(value) // 2] = 40
    return Curve("peaky", time, value, 2)


def show(plot: CurvePlot, *curves: Curve, stacked: bool = False) -> None:
    plot.show_curves(CurveSet(curves, stacked=stacked), "waves at a time")


@pytest.fixture
def plot(ui: UiContext, open_in: Callable, qtbot: Any) -> CurvePlot:
    """A plot of two curves over a trace with a wave; 1 cycle is 0.5 ns."""
    trace, batches = made_trace(("vvVVVV..llllLLLL" * 3000,), begin=BEGIN)
    open_in(replace(trace, clock=Clock(ticks_per_cycle=0.05)), batches)
    made = CurvePlot(ui, "Curves of a test")
    qtbot.addWidget(made)
    made.resize(900, 300)
    made.show()
    show(made, LOW, HIGH)
    ui.session.set_view(SPAN)
    made.setFocus()
    QApplication.processEvents()
    made.canvas.point_out("")  # wherever the pointer of the test machine is
    return made


@pytest.fixture
def bot(plot: CurvePlot) -> CanvasBot:
    return CanvasBot(plot.canvas)


# -- picture --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_curve_has_its_colour_where_its_value_is(plot: CurvePlot, bot: CanvasBot, theme: str) -> None:
    plot.canvas.ui.settings["look.theme"] = theme
    palette = plot.canvas.ui.theme
    assert bot.color(8, BEGIN + 5000) == palette.role("accent")
    assert bot.color(6, BEGIN + 40_000) == palette.role("accent")
    assert bot.color(4, BEGIN + 25_000) == palette.kernel(0)
    assert bot.color(7, BEGIN + 40_000) == palette.role("canvas")


def test_steps_are_vertical_not_slanted(plot: CurvePlot, bot: CanvasBot) -> None:
    plot.shown = {"high"}
    line = plot.canvas.ui.theme.role("accent")
    rise = [bot.color(7, BEGIN + 20_000 + shift) == line for shift in range(-600, 601, 50)]
    assert 1 <= sum(rise) <= 3  # a line of one or two pixels at the step, 54 cycles a pixel
    assert bot.color(8, BEGIN + 19_800) == line
    assert bot.color(6, BEGIN + 20_200) == line


def test_a_peak_narrower_than_a_pixel_is_drawn(plot: CurvePlot, bot: CanvasBot) -> None:
    show(plot, peaky())
    line = plot.canvas.ui.theme.kernel(2)
    middle = BEGIN + LENGTH // 2
    assert any(bot.color(39, middle + shift) == line for shift in range(-60, 61, 20))
    assert bot.color(20, middle - 3000) != line
    plot.canvas.session.set_view(TimeWindow(middle - 40, middle + 40))
    assert bot.color(40, middle + 2) == line  # exact when zoomed in
    assert bot.color(1, middle + 6) == line
    assert bot.color(1, middle + 2) != line


def test_the_axis_of_values_holds_what_is_in_view_from_zero(plot: CurvePlot) -> None:
    canvas = plot.canvas
    assert (canvas.values.low, canvas.values.high) == (0, 9)
    show(plot, LOW)
    assert (canvas.values.low, canvas.values.high) == (0, 4.5)
    canvas.session.set_view(TimeWindow(BEGIN + 35_000, BEGIN + 40_000))
    assert canvas.values.high < 2


def test_an_empty_plot_is_drawn(plot: CurvePlot) -> None:
    show(plot)
    plot.grab()
    nothing = Curve("none", np.zeros(0, np.int64), np.zeros(0))
    for stacked in (False, True):
        show(plot, nothing, LOW, stacked=stacked)
        plot.grab()
    assert plot.canvas.readings(BEGIN)[1][-1].value == "–"


def test_slopes_join_samples(plot: CurvePlot, bot: CanvasBot) -> None:
    ramp = Curve("ramp", BEGIN + np.array([0, LENGTH]), np.array([0.0, 10.0]), 1, is_step=False)
    show(plot, ramp)
    line = plot.canvas.ui.theme.kernel(1)
    y, x = plot.canvas.y_of(5), plot.canvas.x_of(BEGIN + LENGTH // 2)
    image = plot.canvas.grab().toImage()
    assert any(image.pixelColor(int(x), int(y) + shift) == line for shift in range(-2, 3))


# -- stacked --------------------------------------------------------------------------------------------


def test_areas_lie_on_each_other(plot: CurvePlot, bot: CanvasBot) -> None:
    show(plot, LOW, HIGH, stacked=True)
    theme = plot.canvas.ui.theme
    assert plot.canvas.values.high >= 12
    assert bot.color(1, BEGIN + 15_000) == theme.kernel(0)
    assert bot.color(5, BEGIN + 15_000) == theme.role("accent")
    assert [one.name for one in plot.canvas.readings(BEGIN + 15_000)[1]] == ["together", "high", "low"]
    assert plot.canvas.readings(BEGIN + 15_000)[1][0].value == "12 waves"


# -- mouse and keys -------------------------------------------------------------------------------------


def test_the_wheel_zooms_about_the_cursor(plot: CurvePlot, bot: CanvasBot) -> None:
    at = BEGIN + 12_000
    before = plot.canvas.x_of(at)
    bot.wheel(4, at, 3)
    view = plot.canvas.session.view.value
    assert view.width == pytest.approx(SPAN.width * 0.512, rel=0.01)
    assert plot.canvas.x_of(at) == pytest.approx(before, abs=1)


def test_a_drag_pans_shift_measures_and_alt_sets_the_clock_range(plot: CurvePlot, bot: CanvasBot) -> None:
    session = plot.canvas.session
    session.set_view(TimeWindow(BEGIN + 10_000, BEGIN + 20_000))
    bot.drag(4, BEGIN + 15_000, BEGIN + 12_000)
    assert session.view.value.begin == pytest.approx(BEGIN + 13_000, abs=15)
    assert session.window.value == session.view.value
    bot.drag(4, BEGIN + 14_000, BEGIN + 16_000, Qt.KeyboardModifier.ShiftModifier)
    measure = session.measure.value
    assert measure.width == pytest.approx(2000, abs=30)
    assert "low: mean 4" in plot.canvas._measure_text(measure)
    bot.drag(4, BEGIN + 14_000, BEGIN + 18_000, Qt.KeyboardModifier.AltModifier)
    assert session.clock_range.value.width == pytest.approx(4000, abs=30)
    bot.key(Key.Key_Escape)
    assert session.measure.value is None


def test_keys_move_as_in_the_timelines(plot: CurvePlot, bot: CanvasBot) -> None:
    session = plot.canvas.session
    bot.key(Key.Key_W)
    assert session.view.value.width == round(SPAN.width * 0.7)
    before = session.view.value
    bot.key(Key.Key_D)
    assert session.view.value.begin > before.begin
    bot.key(Key.Key_0)
    assert session.view.value.width >= SPAN.width


def test_hover_reads_exact_values_and_tells_the_other_views(plot: CurvePlot, bot: CanvasBot) -> None:
    bot.hover(4, BEGIN + 15_000)
    hover = plot.canvas.session.hover.value
    assert hover.time is not None
    assert abs(hover.time - BEGIN - 15_000) <= 60
    title, readings = plot.canvas.readings(BEGIN + 9_999)
    assert title == f"cycle {BEGIN + 9_999:,}"
    assert [(one.name, one.value) for one in readings] == [("low", "2 waves"), ("high", "8 waves")]
    assert [one.value for one in plot.canvas.readings(BEGIN + 10_000)[1]] == ["4 waves", "8 waves"]
    assert plot.canvas.readings(BEGIN - 1)[1][0].value == "–"


def test_the_curve_under_the_mouse_is_bold_and_a_click_tells_it(plot: CurvePlot, bot: CanvasBot) -> None:
    told: list[tuple[str, int, bool]] = []
    plot.clicked.connect(lambda *words: told.append(words))
    bot.hover(8, BEGIN + 5000)
    assert plot.canvas.curves.bold == "high"
    bot.hover(5, BEGIN + 5000)
    assert plot.canvas.curves.bold == ""
    bot.click(2, BEGIN + 5000)
    bot.double_click(5, BEGIN + 5000)
    assert [(name, twice) for name, _, twice in told] == [("low", False), ("", True)]
    assert abs(told[0][1] - BEGIN - 5000) <= 60


def test_times_are_written_in_nanoseconds_if_wanted(plot: CurvePlot) -> None:
    assert plot.canvas.axis.scale_of_time.unit == "cycles"
    plot.canvas.ui.settings["timeline.units"] = "ns"
    assert plot.canvas.axis.scale_of_time.ns_per_cycle == pytest.approx(0.5)
    assert plot.canvas.readings(BEGIN + 20_000)[0] == "10.00 µs"
    plot.grab()


# -- legend ---------------------------------------------------------------------------------------------


def test_a_name_in_the_legend_emphasizes_its_curve(plot: CurvePlot, bot: CanvasBot) -> None:
    assert legend_names(plot.legend) == ("low", "high")
    assert "low: a low one" in plot.legend.toolTip()
    plot.legend.pick("low")
    assert plot.canvas.curves.bold == "low"
    bot.hover(8, BEGIN + 5000)
    assert plot.canvas.curves.bold == "high", "under the mouse"
    bot.hover(5, BEGIN + 5000)
    assert plot.canvas.curves.bold == "low"
    plot.legend.pick("low")
    assert plot.canvas.curves.bold == ""


# -- marks, strip and pictures --------------------------------------------------------------------------


def test_the_selected_token_and_bookmarks_are_marked(plot: CurvePlot, bot: CanvasBot) -> None:
    session = plot.canvas.session
    wave = session.selection.value.wave
    session.select_token(wave, 1500)
    session.bookmarks.set((Selection(wave),))
    marks = plot.canvas._marks()
    assert marks.bookmarks == (BEGIN,)
    assert [line.time for line in marks.lines] == [session.token()[0].tokens.span(1500).begin]
    session.set_view(SPAN)
    plain, accent = bot.color(7, BEGIN + 40_000), bot.color(7, marks.lines[0].time)
    assert plain != accent


def test_a_picture_is_as_sharp_as_wanted_and_svg_has_shapes(plot: CurvePlot) -> None:
    theme = plot.canvas.ui.theme
    image = export.picture(plot, theme, "caption", 2)
    assert (image.width(), image.devicePixelRatio()) == (plot.width() * 2, 2)
    colors = {image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
    assert theme.role("accent").rgb() in colors
    svg = export.svg_bytes(plot, theme, "caption")
    assert svg.count(b"<path") > 2
    assert b"<image" not in svg
    assert b"waves at a time" in svg


# -- axis -----------------------------------------------------------------------------------------------


def test_ticks_are_round_and_whole_for_whole_numbers() -> None:
    assert ticks(0, 9, 200, True) == [0, 2, 4, 6, 8]
    assert ticks(0, 1.2, 400, True) == [0, 1]
    assert ticks(-3, 3, 110, False) == [-2, 0, 2]
    assert ticks(0, 18, 36, True) == [0, 10]  # never one number alone
    assert ticks(0, 4, 30, True) == [0, 4]
    assert value_text(0.5, 0.1) == "0.5"
    assert value_text(1234, 100) == "1,234"
    assert value_text(2_500_000, 500_000) == "2.50M"
    assert (exact_text(1234567), exact_text(0.1234567)) == ("1,234,567", "0.123457")


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 1), (3, 3), (-5, 5), (0, 1e9), (-7, -2), (0.2, 0.21)])
def test_bounds_hold_all_values_and_0(low: float, high: float) -> None:
    bottom, top = bounds(low, high)
    assert bottom <= low <= high <= top
    assert bottom < top
    assert bottom <= 0 <= top
