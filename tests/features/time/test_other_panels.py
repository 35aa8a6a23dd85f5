"""Global, utilization and overview: exact answers, and the same window for all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter
from PySide6.QtWidgets import QApplication, QToolTip

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.features.time.device_rows import NO_LEVEL, issue_shares
from rcv_py.features.time.global_panel import GlobalTimelinePanel
from rcv_py.features.time.overview_panel import OverviewPanel
from rcv_py.features.waves.utilization_panel import UtilizationPanel
from rcv_py.model.device import Clock
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.timeline import rows_item
from rcv_py.ui.timeline.items import TimeScale, round_step
from rcv_py.ui.timeline.time_overlay import Grip
from tests.support.traces import made_trace
from tests.ui.canvas_bot import CanvasBot
from tests.ui.window import legend_names

DRAWINGS = ("vvVVVV..llllLLLLiiiiIIII" * 20, "sSsSsS..bbbbBBBBmmmmMMMM" * 20)
SPAN = TimeWindow(1000, 1480)


@pytest.fixture
def make(ui: UiContext, open_in: Callable, settled: Callable, qtbot: Any) -> Callable[[type], Any]:
    """Show a panel with two waves of slots 0 and 1."""

    def shown(kind: type) -> Any:
        open_in(*made_trace(DRAWINGS, begin=SPAN.begin))
        panel = kind(ui)
        qtbot.addWidget(panel)
        panel.resize(900, 44 if kind is OverviewPanel else 240)
        panel.show()
        if hasattr(panel, "_rebuild"):
            panel._rebuild.now()
        settled()
        return panel

    return shown


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_boxes_have_the_colour_of_their_kernel_and_detail_is_stronger(
    make: Callable, settled: Callable, theme: str
) -> None:
    panel = make(GlobalTimelinePanel)
    settled()
    panel.source.set_levels(None)
    panel.ui.settings["look.theme"] = theme
    bot = CanvasBot(panel.timeline.plot)
    assert [panel.source.names[row].group for row in range(4)] == ["SE2 CU1"] * 2 + ["SE2 CU7"] * 2
    assert bot.color(1, 1200) == panel.ui.theme.kernel(0)
    assert bot.color(2, 1200) == panel.ui.theme.soft(panel.ui.theme.kernel(1), 0.55)


def test_waves_with_instructions_are_coloured_by_their_time_without_issue(make: Callable, qtbot: Any) -> None:
    """A capital letter of the drawing is a cycle of issue; the capture is shorter than its parts."""
    panel = make(GlobalTimelinePanel)
    plot, theme = panel.timeline.plot, panel.ui.theme
    levels = {theme.without_issue(share).rgb() for share in np.arange(16) / 15}

    def shown() -> bool:
        image = plot.viewport().grab().toImage()
        return image.pixelColor(round(plot.x_of(1200)), round(plot.y_of(0))).rgb() in levels

    qtbot.waitUntil(shown)
    panel.show_legend()
    assert "50 % of time without issue" in legend_names(panel.legend)
    session = panel.session
    trace = session.trace.value
    made = issue_shares(trace, session.store, panel.all, session.outer(trace))
    assert made.level.shape == (2, session.outer(trace).width)
    # An instruction stalls before it issues.
    for row, drawn in enumerate(one.replace("sSsSsS", "sssSSS") for one in DRAWINGS):
        for cycle in range(0, len(drawn), 7):
            window = TimeWindow(SPAN.begin + cycle, SPAN.begin + cycle + 1)
            assert made.at(row, window, 1).tolist() == [0 if drawn[cycle].isupper() else 15], (row, cycle)
    assert made.at(2, SPAN, 9) is None, "a wave without instructions"
    period = TimeWindow(SPAN.begin, SPAN.begin + 24)
    lost = sum(not letter.isupper() for letter in DRAWINGS[0][:24])
    assert made.at(0, period, 1).tolist() == [round(15 * lost / 24)]
    before = made.at(0, TimeWindow(SPAN.begin - 2, SPAN.begin - 1), 1)
    assert before.tolist() == [NO_LEVEL]


def test_a_click_on_a_traced_wave_selects_it_and_a_double_click_fits_it(make: Callable) -> None:
    panel = make(GlobalTimelinePanel)
    bot = CanvasBot(panel.timeline.plot)
    bot.click(1, 1100)
    assert panel.session.selection.value.wave.slot == 1
    assert panel.source.selected_row == 1
    panel.session.set_view(TimeWindow(1000, 1100))
    bot.double_click(0, 1050)
    assert panel.session.view.value.width >= SPAN.width


def test_the_whole_capture_stays_in_view_and_the_visible_time_is_a_brush(make: Callable) -> None:
    panel = make(GlobalTimelinePanel)
    plot, session = panel.timeline.plot, panel.session
    outer = session.outer(session.trace.value)
    tenth = outer.width // 10
    assert plot.view == outer
    session.set_view(TimeWindow(outer.begin + 4 * tenth, outer.begin + 6 * tenth))
    assert plot.view == outer
    bot, theme = CanvasBot(plot), panel.ui.theme
    left = round(plot.x_of(session.view.value.begin))
    image = plot.viewport().grab().toImage()
    assert theme.role("accent").rgb() in {
        image.pixelColor(x, round(plot.y_of(0))).rgb() for x in range(left - 1, left + 2)
    }
    pixel = -(-outer.width // plot.plot_rect().width())
    bot.drag(0, outer.begin + 5 * tenth, outer.begin + 7 * tenth)
    assert abs(session.view.value.begin - (outer.begin + 6 * tenth)) <= 2 * pixel, "moved"
    assert session.view.value.width == 2 * tenth
    assert session.window.value == session.view.value, "and meant"
    bot.drag(0, session.view.value.begin, outer.begin + tenth)
    assert abs(session.view.value.begin - (outer.begin + tenth)) <= 2 * pixel, "longer"
    end = session.view.value.end
    bot.drag(0, end + tenth / 2, end + tenth)
    assert abs(session.view.value.begin - (end + tenth // 2)) <= 2 * pixel, "drawn anew"
    before = session.view.value
    bot.wheel(0, outer.middle, 2)
    assert plot.view.width < outer.width
    assert session.view.value == before, "the wheel looks closer, and moves no brush"
    bot.wheel(0, outer.middle, -9)
    assert plot.view == outer


def test_a_wave_elsewhere_says_why_it_has_no_detail(make: Callable) -> None:
    panel = make(GlobalTimelinePanel)
    before = panel.session.selection.value
    CanvasBot(panel.timeline.plot).click(3, 1100)
    assert panel.session.selection.value == before
    assert "did not run on the traced compute unit" in QToolTip.text()
    QToolTip.hideText()
    tip = panel.tip(3, 1100, TimeWindow(1100, 1101), False)
    assert "did not run on the traced compute unit" in tip
    assert "second" in tip
    assert "480 cycles" in tip


def test_units_show_their_share_of_the_view(make: Callable) -> None:
    panel = make(UtilizationPanel)
    names = [panel.source.names[row].label for row in range(len(panel.source))]
    assert names == ["VALU/MFMA0", "VMEM/LDS0", "SALU/SMEM0", "wait"]
    panel.session.set_view(SPAN)
    # VALU0: four cycles of VALU and four of MATRIX in a period of 24, in different waves.
    assert panel.source.values[names.index("VALU/MFMA0")] == "33.3 %"
    assert "issue time" in panel.caption()
    note = panel._note
    assert note.width() >= note.fontMetrics().horizontalAdvance(note.text()), "it is whole"


def test_the_name_of_a_unit_leaves_room_for_its_share(
    make: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, drawn = make(UtilizationPanel), []

    def note(painter: QPainter, rect: QRectF, side: Qt.AlignmentFlag, text: str) -> None:
        width = QFontMetricsF(painter.font()).horizontalAdvance(text)
        drawn.append(
            (text, rect.right() - width if side & Qt.AlignmentFlag.AlignRight else rect.left() + width)
        )

    panel.session.set_view(SPAN)
    monkeypatch.setattr(rows_item, "draw_text", note)
    panel.grab()
    names, shares = drawn[::2], drawn[1::2]
    assert [text for text, _ in shares] == list(panel.source.values)
    for (name, end), (share, begin) in zip(names, shares, strict=True):
        assert end < begin, (name, share)
    assert names[2][0].endswith("0"), "which of the units it is"


def test_a_bar_leads_to_its_instruction(make: Callable) -> None:
    panel = make(UtilizationPanel)
    panel.session.set_view(TimeWindow(1000, 1100))
    CanvasBot(panel.timeline.plot).click(0, 1003)
    wave, row = panel.session.token()
    assert (wave.id.slot, row) == (0, 0)


def test_overlapping_spans_are_covered_once() -> None:
    made = IntervalSet.of(np.array([0, 2, 10]), np.array([5, 4, 12]))
    assert made.inside(TimeWindow(0, 20)) == 7
    assert made.inside(TimeWindow(3, 11)) == 3
    assert made.inside(TimeWindow(5, 10)) == 0


def _mouse(panel: OverviewPanel, kind: QEvent.Type, x: float) -> None:
    at = QPointF(x, 20)
    held = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else Qt.MouseButton.LeftButton
    event = QMouseEvent(kind, at, at, Qt.MouseButton.LeftButton, held, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(panel.strip, event)


def _drag(panel: OverviewPanel, begin: int, end: int) -> None:
    _mouse(panel, QEvent.Type.MouseButtonPress, panel.strip.x_of(begin))
    _mouse(panel, QEvent.Type.MouseMove, panel.strip.x_of(end))
    _mouse(panel, QEvent.Type.MouseButtonRelease, panel.strip.x_of(end))


def test_the_overview_draws_moves_and_resizes_the_window(make: Callable) -> None:
    panel = make(OverviewPanel)
    _drag(panel, 1100, 1200)  # on the full strip: a new window
    view = panel.session.view.value
    assert abs(view.begin - 1100) <= 1
    assert abs(view.end - 1200) <= 1
    _drag(panel, 1150, 1250)  # inside: moved
    assert abs(panel.session.view.value.begin - 1200) <= 1
    assert panel.session.view.value.width == view.width
    _drag(panel, panel.session.view.value.end, 1400)  # an edge: resized
    assert abs(panel.session.view.value.end - 1400) <= 1
    assert abs(panel.session.view.value.begin - 1200) <= 1
    _drag(panel, 1050, 1050)  # a click: centred there
    assert panel.session.view.value.begin == panel.strip.outer.begin
    assert panel.session.window.value == panel.session.view.value


def test_the_overview_sums_the_states_of_all_waves(make: Callable) -> None:
    panel = make(OverviewPanel)
    middle = panel.strip.sums.state[450]
    assert middle[1] == pytest.approx(2.0, abs=0.05)
    assert panel.strip.sums.resident[450] == 4


def test_a_brush_over_everything_can_be_drawn_but_not_moved(make: Callable) -> None:
    strip = make(OverviewPanel).strip
    strip.outer = TimeWindow(0, 1000)
    strip.resize(100, strip.height())
    assert strip.grip_at(50, TimeWindow(0, 1000)) is Grip.NEW
    assert strip.grip_at(50, TimeWindow(400, 600)) is Grip.BODY
    assert strip.grip_at(40, TimeWindow(400, 600)) is Grip.BEGIN
    assert strip.grip_at(61, TimeWindow(400, 600)) is Grip.END


@pytest.mark.parametrize("kind", [GlobalTimelinePanel, UtilizationPanel, OverviewPanel])
def test_panels_live_without_a_trace_and_through_closing(make: Callable, kind: type) -> None:
    panel = make(kind)
    panel.session.close()
    QApplication.processEvents()
    panel.grab()
    if kind is not OverviewPanel:
        assert panel._page.is_empty
        assert panel._page.sentence.text().endswith((".", "here."))


def test_ticks_are_round_and_as_many_as_fit() -> None:
    window = TimeWindow(109_776, 286_056)
    times, step = TimeScale().ticks(window, 1200)
    assert step == 20_000
    assert times[0] == 120_000
    assert TimeScale().text(times[0], step) == "120,000"


def test_ticks_in_nanoseconds_count_from_the_traces_begin() -> None:
    clock = Clock(ticks_per_cycle=0.05)
    scale = TimeScale(1000, clock.ns(1.0))
    times, step = scale.ticks(TimeWindow(1000, 21_000), 1100)
    assert [scale.text(time, step) for time in times[:3]] == ["0 µs", "1 µs", "2 µs"]
    assert scale.unit == "time since the trace began"


@pytest.mark.parametrize(("wanted", "step"), [(0.7, 1), (1.0, 1), (1.1, 2), (3, 5), (7, 10), (1200, 2000)])
def test_steps_are_one_two_or_five(wanted: float, step: float) -> None:
    assert round_step(wanted) == step
