"""Markers, values, sibling and events in the timelines: what is painted, told, clicked and hidden."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from rcv_py.analysis.core.occupancy import waves_of_kernels
from rcv_py.features.notes.search_panel import MatchesPanel
from rcv_py.features.time.compute_unit_panel import PATH, ComputeUnitPanel
from rcv_py.features.time.device_rows import device_rows
from rcv_py.features.time.global_panel import GlobalTimelinePanel
from rcv_py.model.device import Dispatch, HardwareEvents, MarkerName, OtherSimd, ShaderData
from rcv_py.model.kinds import EventKind, MarkerKind, TokenKind
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import SearchQuery
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.timeline.token_rows import kernel_choices
from rcv_py.ui.timeline.unit_markers import LANE_PX
from tests.support.traces import CU, SE, made_trace
from tests.ui.canvas_bot import CanvasBot

DRAWINGS = ("vvVVVV..llllLLLLiiiiIIII" * 20, "sSsSsS..bbbbBBBBmmmmMMMM" * 20)
SPAN = TimeWindow(1000, 1480)
NAMES = (
    MarkerName(0, 1, "kernel", "main", "a.py:1"),
    MarkerName(0, 2, "function", "load"),
    MarkerName(0, 3, "point", "here"),
)
# In slot 1: main from 1010 to 1400, in it load from 1100 to 1200 and a point at 1160.
VALUES = ((1010, 6), (1100, 10), (1160, 12), (1200, 1), (1400, 1))


def shader_data(slot: int = 1) -> ShaderData:
    rows = np.array(VALUES)
    same = (np.full(len(rows), number, np.int16) for number in (CU, 0, slot, 0))
    return ShaderData(SE, rows[:, 0], rows[:, 1].astype(np.uint32), *same)


def hardware_events() -> HardwareEvents:
    kinds = (
        EventKind.CS_PARTIAL_FLUSH, EventKind.TT_STALL_BEGIN, EventKind.GC_RINSE, EventKind.CLUSTER_BARRIER,
    )  # fmt: skip
    n = len(kinds)
    small = [np.full(n, number, np.int16) for number in (SE, 1, 0)]
    kind = np.array(kinds, np.int16)
    time = np.arange(1050, 1050 + 100 * n, 100)
    return HardwareEvents(
        time, small[0], kind, small[1], small[2], np.zeros(n, np.int32), np.zeros(n, np.uint64)
    )


def sibling() -> OtherSimd:
    return OtherSimd(SE, -1, 1, np.array([1100, 1300]), np.array([50, 50]), np.array([3, 5], np.uint8))


def opened(open_in: Callable, settled: Callable, **more: Any) -> None:
    fields = {
        "markers": NAMES, "shader_data": (shader_data(),), "events": hardware_events(),
        "dispatches": (Dispatch(1005, SE, 1, "first", 0, 0, 96, 24),),
        "other_simd": (sibling(),),
    }  # fmt: skip
    trace, batches = made_trace(DRAWINGS, begin=SPAN.begin, **(fields | more))
    ones = np.zeros(len(trace.occupancy), np.int16)
    trace = replace(trace, code=replace(trace.code, codeobj=np.zeros(len(trace.code), np.int64)))
    trace = replace(trace, occupancy=replace(trace.occupancy, me=ones, pipe=ones))
    # Code object 0 stands for "unknown" in files, so the dictionary of these tests is that of object 5.
    trace = replace(
        trace,
        code=replace(trace.code, codeobj=trace.code.codeobj + 5),
        markers=tuple(replace(one, codeobj=5) for one in trace.markers),
    )
    open_in(trace, batches)


@pytest.fixture
def make(ui: UiContext, open_in: Callable, settled: Callable, qtbot: Any) -> Callable[..., Any]:
    """Show a panel with two waves, markers in slot 1, four events, a dispatch and a sibling."""

    def shown(kind: type, **more: Any) -> Any:
        opened(open_in, settled, **more)
        panel = kind(ui)
        qtbot.addWidget(panel)
        panel.resize(900, 300)
        panel.show()
        if more.get("shader_data", True):
            settled()
        panel._rebuild.now()
        settled()
        panel.session.set_view(SPAN)
        QApplication.processEvents()
        return panel

    return shown


def lane_y(panel: ComputeUnitPanel, lane: int) -> float:
    """How far below the middle of a row's spans the middle of a lane is."""
    shape = panel.source.shape
    return shape.spans / 2 + shape.strip + 1 + lane * LANE_PX + LANE_PX / 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_scopes_are_painted_below_their_wave_by_depth(make: Callable, theme: str) -> None:
    panel = make(ComputeUnitPanel)
    panel.ui.settings["look.theme"] = theme
    bot, colors = CanvasBot(panel.timeline.plot), panel.ui.theme
    assert bot.color(1, 1380, lane_y(panel, 0)) == colors.marker(MarkerKind.KERNEL, 0)
    assert bot.color(1, 1190, lane_y(panel, 1)) == colors.marker(MarkerKind.FUNCTION, 1)
    assert bot.color(1, 1160, lane_y(panel, 2)) == colors.marker(MarkerKind.POINT, 2)
    for time, lane in ((1380, 1), (1450, 0)):
        assert bot.color(1, time, lane_y(panel, lane)) in (colors.role("canvas"), colors.role("grid"))
    assert bot.color(0, 1380, lane_y(panel, 0)) != colors.marker(MarkerKind.KERNEL, 0), "it has none"
    assert bot.color(0, 1004) == colors.kind(TokenKind.VALU), "the tokens stay where they were"


def spot(panel: ComputeUnitPanel, row: int, time: int, lane: int) -> QPointF:
    plot = panel.timeline.plot
    return QPointF(plot.x_of(time) + 0.5, plot.y_of(row) + lane_y(panel, lane))


def test_the_tip_tells_name_kind_duration_depth_and_source(make: Callable) -> None:
    panel = make(ComputeUnitPanel)
    plot = panel.timeline.plot
    plot._look_at(spot(panel, 1, 1110, 1).y())
    tip = panel.tip(1, 1110, TimeWindow(1110, 1111), False)
    assert "<b>load</b>" in tip
    assert "function, depth 1" in tip
    assert "1,100 … 1,200: 100 cycles" in tip
    plot._look_at(spot(panel, 1, 1110, 0).y())
    assert "a.py:1" in panel.tip(1, 1110, TimeWindow(1110, 1111), False)
    values = panel.tip(1, 1161, TimeWindow(1161, 1162), True)
    assert "shader data at 1,160: at here: 0x0000000c" in values


def test_a_click_on_a_scope_selects_wave_and_instruction_and_a_double_click_fits_it(make: Callable) -> None:
    panel = make(ComputeUnitPanel)
    bot, session = CanvasBot(panel.timeline.plot), panel.session
    below = QPointF(0, lane_y(panel, 1))
    bot.at = lambda row, time: (
        QPointF(panel.timeline.plot.x_of(time) + 0.5, panel.timeline.plot.y_of(row)) + below
    )
    bot.hover(1, 1180)
    assert panel.marks().hovered.span == TimeWindow(1100, 1200)
    bot.click(1, 1180)
    wave, token = session.token()
    assert wave.id.slot == 1
    assert wave.tokens.span(token).begin <= 1100 < wave.tokens.span(token + 1).begin
    assert panel.marks().selected.span == TimeWindow(1100, 1200)
    bot.double_click(1, 1180)
    assert session.view.value.begin <= 1100
    assert session.view.value.end >= 1200
    assert session.view.value.width < 130


def test_the_menu_of_a_scope_sets_the_clock_range(make: Callable) -> None:
    panel = make(ComputeUnitPanel)
    plot = panel.timeline.plot
    at = spot(panel, 1, 1180, 1).toPoint()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, plot.mapToGlobal(at))
    plot.contextMenuEvent(event)
    menu = plot.findChild(QMenu)
    next(action for action in menu.actions() if "Count only" in action.text()).trigger()
    menu.close()
    assert panel.session.clock_range.value == TimeWindow(1100, 1200)
    assert panel.actions_at(0, 1180) == [panel.copy_action]


def test_ticks_mark_the_values_of_the_wave_that_wrote_them(make: Callable) -> None:
    panel = make(ComputeUnitPanel)
    assert [(row, times.tolist()) for row, times in panel.marks().data] == [(1, [time for time, _ in VALUES])]


def test_the_menu_hides_markers_values_sibling_and_events(make: Callable, settled: Callable) -> None:
    panel = make(ComputeUnitPanel)
    assert [name.group for name in panel.source.names] == [
        "SE2 CU1", "SE2 CU1", "SIMD1",
    ]  # fmt: skip
    assert "sibling of the traced one" in panel.tip(2, 1110, TimeWindow(1110, 1111), False)
    assert {line.time for line in panel.marks().lines} == {1005, 1150, 1350}, (
        "no flush here, no rinse at first"
    )
    height = panel.source.shape.pitch
    panel.filter.set_on(["markers", "values", "sibling", "event:dispatch", "event:trace"], False)
    panel.filter.set_on(["event:rinse"], True)
    settled()
    assert (len(panel.source), panel.source.shape.band, panel.marks().data) == (2, 0, ())
    assert panel.source.shape.pitch < height
    assert [line.time for line in panel.marks().lines] == [1250, 1350]
    assert "5 off" in panel.filter.text()
    kept = panel.save_state()
    panel.filter.set_on(["markers"], True)
    panel.load_state(kept)
    assert "markers" in panel.filter.hidden
    panel.load_state({"filter": {"markers": "no", 3: True}})


def test_a_capture_without_markers_has_rows_as_before(make: Callable) -> None:
    panel = make(ComputeUnitPanel, shader_data=(), markers=(), other_simd=(), events=None, dispatches=())
    assert (panel.source.shape.band, panel.source.shape.pitch) == (0, 26)
    assert [one.id for one in panel.filter.choices] == [PATH], "which every thread trace has"
    assert panel.path is None


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_device_has_scopes_above_the_slot_that_marked_them(
    make: Callable, settled: Callable, theme: str
) -> None:
    panel = make(GlobalTimelinePanel)
    settled()
    panel.source.set_levels(None)
    panel.ui.settings["look.theme"] = theme
    names = [
        (panel.source.names[row].group, panel.source.names[row].label) for row in range(len(panel.source))
    ]
    scopes = [("SE2 CU1", "scopes"), ("SE2 CU1", ""), ("SE2 CU1", "")]
    assert names == [
        ("SE2 CU1", "simd0/0"), *scopes, ("SE2 CU1", "simd0/1"),
        ("SE2 CU7", "simd0/0"), ("SE2 CU7", "simd0/1"),
    ]  # fmt: skip
    bot, colors = CanvasBot(panel.timeline.plot), panel.ui.theme
    assert bot.color(1, 1375) == colors.marker(MarkerKind.KERNEL, 0)
    assert bot.color(2, 1175) == colors.marker(MarkerKind.FUNCTION, 1)
    assert bot.color(4, 1175) == colors.kernel(0)
    assert "<b>load</b>" in panel.tip(2, 1175, TimeWindow(1175, 1176), False)
    panel.ui.settings["timeline.global_row_height"] = 16
    panel.grab()


def test_a_scope_of_the_device_leads_to_its_wave(make: Callable) -> None:
    panel = make(GlobalTimelinePanel)
    bot = CanvasBot(panel.timeline.plot)
    bot.click(2, 1175)
    assert panel.session.selection.value.wave.slot == 1
    assert panel.source.selected_row == 4
    bot.double_click(2, 1175)
    assert panel.session.view.value.width < 130


def test_the_wave_tells_the_registers_of_its_dispatch(make: Callable) -> None:
    panel = make(
        GlobalTimelinePanel, dispatches=(Dispatch(990, SE, 1, "k", 0, 0, 96, 24), Dispatch(2000, SE, 1, "k"))
    )
    assert "96 VGPRs, 24 SGPRs" in panel.tip(0, 1175, TimeWindow(1175, 1176), False)
    assert "VGPRs" not in make(GlobalTimelinePanel, dispatches=()).tip(0, 1175, TimeWindow(1175, 1176), False)


def test_the_device_hides_kernels_and_markers(make: Callable, settled: Callable) -> None:
    panel = make(GlobalTimelinePanel)
    assert [line.time for line in panel.marks().lines] == [1005, 1050, 1150, 1350]
    panel.filter.set_on(["kernel:second", "markers", "event:flush"], False)
    settled()
    assert len(panel.source) == 2
    assert {panel.source.names[row].group for row in range(2)} == {"SE2 CU1"}
    assert [line.time for line in panel.marks().lines] == [1005, 1150, 1350]
    assert panel.save_state() == {"filter": {"markers": False, "event:flush": False}}
    panel.filter.set_on(["kernel:first"], False)
    settled()
    assert len(panel.source) == 0
    panel.grab()


def test_the_filter_menu_closes_after_a_choice_and_works_by_keyboard(make: Callable, qtbot: Any) -> None:
    button = make(GlobalTimelinePanel).filter
    menu = button.menu()
    menu.popup(QPoint(0, 0))
    action = next(action for action in menu.actions() if action.text() == "Markers")
    menu.setActiveAction(action)
    qtbot.keyClick(menu, Qt.Key.Key_Space)
    assert button.hidden >= {"markers"}
    assert menu.isVisible()
    place = menu.actionGeometry(action).center()
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, pos=place)
    assert not button.hidden >= {"markers"}
    assert menu.isVisible(), "Ctrl keeps it open"
    menu.setActiveAction(action)
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=place)
    assert button.hidden >= {"markers"}
    assert not menu.isVisible(), "a choice closes it"
    assert button.accessibleName()


def test_the_search_finds_markers_by_name(
    ui: UiContext, make: Callable, settled: Callable, qtbot: Any
) -> None:
    make(ComputeUnitPanel)
    panel = MatchesPanel(ui)
    qtbot.addWidget(panel)
    ui.session.query.set(SearchQuery("load"))
    panel._soon.now()
    settled()
    assert panel.hits.text == ["load (1 time)"]
    ui.session.set_view(TimeWindow(1300, 1400))
    panel._go(0)
    assert ui.session.selection.value.wave.slot == 1
    assert ui.session.view.value.contains(1100)


def test_waves_of_hidden_kernels_have_no_rows() -> None:
    trace, _ = made_trace(DRAWINGS)
    trace = replace(trace, waves=replace(trace.waves, kernel=np.array([1, 2], np.int32)))
    rows = np.arange(2)
    assert waves_of_kernels(trace, rows, {"second"}).tolist() == [0]
    assert waves_of_kernels(trace, rows, set()).tolist() == [0, 1]
    assert [choice.id for choice in kernel_choices(trace, "kernel:")] == ["kernel:first", "kernel:second"]
    assert kernel_choices(trace, "kernel:", np.array([1, 1])) == []


def test_an_engine_is_hidden_with_its_events(make: Callable) -> None:
    panel = make(GlobalTimelinePanel)
    made = device_rows(panel.session.trace.value, None, frozenset({f"engine:{SE}"}))
    assert (len(made.names), len(made.boxes.row), made.lines) == (0, 0, ())
