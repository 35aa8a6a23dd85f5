"""The compute unit timeline: colours where they belong, and one grammar of moving."""

from collections.abc import Callable
from threading import Event
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from shiboken6 import isValid

from rcv_py.analysis.timeline.raster import RowSegment
from rcv_py.features.time import compute_unit_panel as compute_unit
from rcv_py.features.time.compute_unit_panel import LEAST_PX, ComputeUnitPanel
from rcv_py.model.device import Dispatch
from rcv_py.model.kinds import TokenKind, WaveState
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.timeline.token_rows import wave_rows
from rcv_py.ui.timeline.token_tip import token_at
from tests.support.limits import HANG_S
from tests.support.traces import made_trace
from tests.ui.canvas_bot import CanvasBot

DRAWINGS = (
    "vvVVVV..llllLLLL|LLLLiiiiiiiiIIII" * 20,
    "sSsSsS..bbbbbbbbbbbbBBBBmmmmMMMM" * 20,
    "..............................vV" * 20,
)


@pytest.fixture
def shown(new_panel: Callable, ui: UiContext, open_in: Callable, settled: Callable) -> CanvasBot:
    """Three waves in rows 0, 1 and 2, from cycle 1000 on."""
    open_in(*made_trace(DRAWINGS, begin=1000))
    panel = new_panel(ComputeUnitPanel, 900, 240)
    panel._rebuild.now()
    settled()
    bot = CanvasBot(panel.timeline.plot)
    bot.panel, bot.ui = panel, ui
    return bot


def show(bot: CanvasBot, begin: int, end: int) -> None:
    bot.ui.session.set_view(TimeWindow(begin, end))
    QApplication.processEvents()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [40, 200, 600])
def test_a_token_has_the_colour_of_its_kind_at_every_zoom(shown: CanvasBot, theme: str, width: int) -> None:
    shown.ui.settings["look.theme"] = theme
    show(shown, 1000, 1000 + width)
    colors = shown.ui.theme
    assert shown.color(0, 1004) == colors.kind(TokenKind.VALU)
    assert shown.color(0, 1014) == colors.kind(TokenKind.LDS)
    assert shown.color(1, 1013, below=5) == colors.stalled(TokenKind.VMEM)
    assert shown.color(2, 1010) in (colors.role("canvas"), colors.role("grid"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_strip_shows_the_state_below_the_tokens(shown: CanvasBot, theme: str) -> None:
    shown.ui.settings["look.theme"] = theme
    for width in (40, 300, 600):
        show(shown, 1000, 1000 + width)
        assert shown.color(1, 1010, below=11) == shown.ui.theme.state(WaveState.EXEC)


@given(time=st.integers(1000, 1640), width=st.sampled_from([20, 64, 300, 640]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hover_finds_the_token_of_a_cycle_exactly(shown: CanvasBot, time: int, width: int) -> None:
    """The session hears of the token under the mouse, whatever a pixel shows."""
    shown.ui.session.set_view(TimeWindow(time - width // 2, time + width - width // 2))
    tokens = shown.ui.session.store.wave(0).tokens
    at = shown.plot.time_at(shown.at(0, time).x())
    row = tokens.at(at)
    shown.hover(0, time)
    hover = shown.ui.session.hover.value
    assert hover.time == at
    if row >= 0 and at < tokens.end[row]:
        assert hover.line == tokens.line[row]


def test_a_click_selects_the_token_and_the_tip_tells_it(shown: CanvasBot) -> None:
    show(shown, 1000, 1100)
    shown.click(0, 1013)
    selection = shown.ui.session.selection.value
    assert (selection.wave.slot, selection.line, selection.hit) == (0, 1, 0)
    tip = shown.panel.tip(0, 1013, TimeWindow(1013, 1014), False)
    assert "stall 4 + issue 4" in tip
    assert "hit 1 of 1" in tip
    assert "(+8 since the wave began)" in tip


def test_the_tip_stays_while_the_mouse_rests(shown: CanvasBot, qtbot: object) -> None:
    show(shown, 1000, 1100)
    shown.hover(0, 1013)
    tip, place = QToolTip.text(), shown.at(0, 1013).toPoint()
    assert "stall 4 + issue 4" in tip
    rests = QHelpEvent(QEvent.Type.ToolTip, place, shown.plot.viewport().mapToGlobal(place))
    assert QApplication.sendEvent(shown.plot.viewport(), rests)
    qtbot.wait(400)  # Qt takes a tip away with a delay
    assert QToolTip.isVisible()
    assert QToolTip.text() == tip


def test_a_plot_that_is_closed_stays_whole_until_it_is_deleted(shown: CanvasBot) -> None:
    plot = shown.panel.timeline.plot
    parts = (plot.box, plot.axis, plot.left_axis, plot.rows, plot.overlay, plot.viewport(), plot.scene())
    plot.close()
    assert all(map(isValid, parts))
    assert not plot.isVisible()
    plot.show()
    show(shown, 1000, 1100)
    shown.hover(0, 1013)
    assert shown.ui.session.hover.value.line == 1


def test_a_pixel_tells_how_many_tokens_it_holds(shown: CanvasBot) -> None:
    tip = shown.panel.tip(0, 1000, TimeWindow(1000, 1016), False)
    assert "This pixel holds 2 tokens" in tip
    assert "VALU 25.0 % · LDS stall 25.0 % · LDS 25.0 % · VALU stall 12.5 % · nothing 12.5 %" in tip


def test_a_double_click_fits_the_token(shown: CanvasBot) -> None:
    show(shown, 1000, 1640)
    shown.double_click(1, 1110)
    view, token = shown.ui.session.view.value, shown.ui.session.token()
    assert view.contains(token[0].tokens.span(token[1]).begin)
    assert view.width < 640


@pytest.mark.parametrize("time", [1040, 1200, 1500])
def test_the_wheel_keeps_the_cycle_under_the_cursor(shown: CanvasBot, time: int) -> None:
    show(shown, 1000, 1600)
    before = shown.plot.x_of(time)
    for _ in range(5):
        shown.wheel(0, time, 1)
    assert shown.ui.session.view.value.width < 250
    assert abs(shown.plot.x_of(time) - before) <= 2 * 800 / shown.ui.session.view.value.width + 1


def test_a_drag_takes_the_cycle_along(shown: CanvasBot) -> None:
    show(shown, 1200, 1400)
    shown.drag(0, 1350, 1250)
    assert abs(shown.ui.session.view.value.begin - 1300) <= 2
    assert shown.ui.session.window.value == shown.ui.session.view.value


def test_rows_are_lower_where_that_shows_all_of_them(shown: CanvasBot) -> None:
    source, plot = shown.panel.source, shown.panel.timeline.plot
    assert source.shape.spans == 18
    shown.panel.resize(900, 26 + 22 + 3 * 16)  # head, ruler, rows
    QApplication.processEvents()
    assert LEAST_PX <= source.shape.spans < 18
    assert plot.content_height() <= plot.box.height()
    shown.ui.settings["timeline.row_height"] = 19
    assert source.shape.spans == 19
    shown.ui.settings["timeline.row_height"] = 18
    shown.panel.resize(900, 240)
    QApplication.processEvents()
    assert source.shape.spans == 18


def test_a_sideways_wheel_pans_and_shift_scrolls_rows(shown: CanvasBot) -> None:
    show(shown, 1200, 1400)
    shown.wheel(0, 1300, -1, sideways=True)
    assert shown.ui.session.view.value.begin > 1200
    assert shown.ui.session.view.value.width == 200
    shown.ui.settings["timeline.row_height"] = 20  # rows stay as high as they were wished
    shown.panel.resize(900, 110)
    QApplication.processEvents()
    shown.wheel(0, 1300, -1, Qt.KeyboardModifier.ShiftModifier)
    assert shown.plot.rows.scroll_px > 0


def test_a_row_out_of_sight_gets_to_the_middle_and_one_in_sight_stays(shown: CanvasBot) -> None:
    plot = shown.plot
    shown.ui.settings["timeline.row_height"] = 44
    shown.panel.resize(900, 100)
    QApplication.processEvents()
    pitch, height = plot.rows.source.shape.pitch, plot.box.height()
    limit = plot.content_height() - height
    far = round(plot.content_height() / pitch) - 2
    assert far * pitch >= height, "else the row is in sight at first"
    plot.set_scroll(0)
    plot.reveal_row(0)
    assert plot.rows.scroll_px == 0
    plot.reveal_row(far)
    assert plot.rows.scroll_px == min(limit, (far + 0.5) * pitch - height / 2)
    plot.set_scroll(plot.rows.scroll_px - 1)
    before = plot.rows.scroll_px
    plot.reveal_row(far)
    assert before <= plot.rows.scroll_px <= before + pitch / 2


def test_shift_drag_measures_until_escape(shown: CanvasBot) -> None:
    show(shown, 1000, 1200)
    shown.drag(0, 1000, 1100, Qt.KeyboardModifier.ShiftModifier)
    measure = shown.ui.session.measure.value
    assert abs(measure.begin - 1000) <= 1
    assert abs(measure.width - 100) <= 2
    assert "tokens in SE2 CU1 SIMD0 slot 0" in shown.plot.overlay.measure_text(measure)
    assert f"{measure.width:,} cycles" in shown.plot.overlay.measure_text(measure)
    shown.key(Qt.Key.Key_Escape)
    assert shown.ui.session.measure.value is None


def test_alt_drag_sets_the_clock_range(shown: CanvasBot) -> None:
    show(shown, 1000, 1200)
    shown.drag(0, 1020, 1120, Qt.KeyboardModifier.AltModifier)
    chosen = shown.ui.session.clock_range.value
    assert abs(chosen.begin - 1020) <= 1
    assert abs(chosen.end - 1120) <= 1
    assert shown.ui.session.measure.value is None


def test_keys_move_in_time(shown: CanvasBot) -> None:
    session = shown.ui.session
    show(shown, 1200, 1400)
    shown.key(Qt.Key.Key_W)
    assert session.view.value.width == 140
    shown.key(Qt.Key.Key_S)
    assert session.view.value.width == 200
    shown.key(Qt.Key.Key_D)
    assert session.view.value.begin > 1200
    shown.key(Qt.Key.Key_A)
    assert session.view.value.begin == 1200
    shown.key(Qt.Key.Key_Home)
    assert session.view.value.begin == session.outer(session.trace.value).begin
    shown.key(Qt.Key.Key_End)
    assert session.view.value.end == session.outer(session.trace.value).end
    shown.key(Qt.Key.Key_0)
    assert session.view.value == session.outer(session.trace.value)


def test_comma_and_period_walk_the_tokens(shown: CanvasBot) -> None:
    session = shown.ui.session
    session.select_token(session.store.wave(0).id, 5)
    shown.key(Qt.Key.Key_Period)
    assert session.token()[1] == 6
    shown.key(Qt.Key.Key_Comma)
    assert session.token()[1] == 5


def test_the_theme_switch_keeps_everything(shown: CanvasBot) -> None:
    session = shown.ui.session
    shown.click(0, 1013)
    show(shown, 1003, 1077)
    before = (session.view.value, session.selection.value, shown.plot.rows.scroll_px)
    shown.ui.theme.toggle()
    QApplication.processEvents()
    assert (session.view.value, session.selection.value, shown.plot.rows.scroll_px) == before
    assert shown.color(0, 1004) == shown.ui.theme.kind(TokenKind.VALU)


def test_waves_that_are_not_read_are_hatched_and_say_so(
    ui: UiContext, open_in: Callable, settled: Callable, qtbot: object
) -> None:
    trace, batches = made_trace(DRAWINGS, begin=1000)
    open_in(trace)
    panel = ComputeUnitPanel(ui)
    qtbot.addWidget(panel)
    panel.resize(900, 240)
    assert panel._progress.text() == "", "no rows are no waves yet"
    panel._rebuild.now()
    settled()
    assert panel._progress.text() == "reading waves 0 of 3"
    assert "still being read" in panel.tip(1, 1100, TimeWindow(1100, 1101), False)
    for batch in batches:
        ui.session.store.add(batch)
    panel._rebuild.now()
    settled()
    assert panel._progress.text() == "3 waves"


def test_rows_are_shown_while_waves_arrive_faster_than_rows_are_made(
    ui: UiContext, open_in: Callable, settled: Callable, qtbot: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, asked, run = Event(), [], ui.tasks.run

    def slow(*given: Any, **named: Any) -> Any:
        assert may_end.wait(HANG_S)
        return wave_rows(*given, **named)

    monkeypatch.setattr(compute_unit, "wave_rows", slow)
    monkeypatch.setattr(ui.tasks, "run", lambda *given, **named: asked.append(given) or run(*given, **named))
    open_in(*made_trace(DRAWINGS, begin=1000))
    panel = ComputeUnitPanel(ui)
    qtbot.addWidget(panel)
    panel.show()
    panel._rebuild.now()
    for _ in range(20):
        ui.session.wave_loaded()
        QApplication.processEvents()
    assert sum(owner is panel for owner, *_ in asked) == 1, "a newer job would mute the one that runs"
    assert panel._rebuild.is_pending
    may_end.set()
    settled()
    assert len(panel.source) == 3
    assert not panel._rebuild.is_pending


def test_a_picture_is_made_once_for_one_view(shown: CanvasBot) -> None:
    show(shown, 1000, 1200)
    shown.plot.grab()
    image = shown.plot.rows._image
    shown.hover(0, 1050)
    shown.plot.grab()
    assert shown.plot.rows._image is image
    assert np.array_equal(shown.plot.rows.source.rows[0].segments[0].tokens.line[:2], [0, 1])


def test_of_overlapping_tokens_the_one_under_the_mouse_is_meant() -> None:
    columns = [np.array(column, np.int32) for column in ([0, 10], [0, 0], [100, 20])]
    lane = np.array([0, 1], np.uint8)
    made = Tokens(1000, *columns, np.array([5, 2], np.uint8), np.zeros(2, np.int32), lane)
    idle = States(1000, np.zeros(1, np.int32), np.full(1, 2, np.uint8), 100)
    segment = RowSegment.of(made, idle, None, TimeWindow(1000, 1100))
    assert [token_at(segment, 1015, depth=depth) for depth in (0.1, 0.9, -1.0)] == [0, 1, 1]
    assert token_at(segment, 1050, depth=0.9) == 0


def test_a_dispatch_is_told_over_the_waves(ui: UiContext, open_in: Callable, qtbot: object) -> None:
    open_in(*made_trace(DRAWINGS, begin=1000, dispatches=(Dispatch(1100, 2, 1, "first_kernel"),)))
    panel = ComputeUnitPanel(ui)
    qtbot.addWidget(panel)
    assert [line.time for line in panel.marks().lines] == [1100]
    assert "first_kernel dispatched" in panel.tip(5, 1101, TimeWindow(1101, 1102), False)
    assert panel.tip(5, 1200, TimeWindow(1200, 1201), False) == ""
