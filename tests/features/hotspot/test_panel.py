"""The histogram over the program: exact bins, exact clicks, never blank while waves arrive."""

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from rcv_py.analysis.cost.hotspot import binned, static_bins
from rcv_py.features.hotspot.panel import HotspotPanel
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.panel import UiContext
from tests.support.code_samples import batch, code_table, trace, two_waves
from tests.support.mouse import left_click
from tests.support.traces import made_trace
from tests.support.window_fixtures import Settled, opened_fixture
from tests.ui.window import legend_names


@pytest.fixture
def hotspot(new_panel: Callable, ui: UiContext) -> HotspotPanel:
    ui.settings["hotspot.bins"] = 4
    return new_panel(HotspotPanel, 600, 240)


opened = opened_fixture("hotspot", lambda: (trace(), [two_waves()]))


def click(panel: HotspotPanel, bin_number: int) -> None:
    at = QPoint(round(panel.plot.x_of(bin_number + 0.5)), 100)
    left_click(panel.plot, at)


def wheel(panel: HotspotPanel, at: QPointF, notches: int) -> None:
    plot = panel.plot
    event = QWheelEvent(
        at, QPointF(plot.mapToGlobal(at.toPoint())), QPoint(), QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(plot, event)


def test_before_waves_are_read_the_code_table_speaks(hotspot: HotspotPanel, open_settled: Callable) -> None:
    assert "Ctrl+O" in hotspot.empty.sentence.text()
    open_settled(trace())
    assert hotspot.plot.bins.totals.tolist() == [40, 2300, 600, 60]
    assert "follow" in hotspot.note.text()
    assert legend_names(hotspot.legend) == ("SMEM", "LDS", "branch taken", "wait", "message", "MFMA/WMMA")


def test_waves_are_counted_as_they_come(
    hotspot: HotspotPanel, ui: UiContext, open_settled: Callable, settled: Settled, qtbot: object
) -> None:
    waves = two_waves().waves
    open_settled(trace(), [batch(waves[0])])
    assert hotspot.note.text() == "partial: 1 of 2 waves read"
    assert hotspot.plot.bins.totals.tolist() == [2, 15, 6, 3]
    ui.session.store.add(batch(waves[1]))
    ui.session.wave_loaded()
    qtbot.waitUntil(lambda: not hotspot.note.text())
    settled()
    assert hotspot.plot.bins.totals.tolist() == [4, 30, 12, 6]


def test_a_click_selects_exactly_the_rows_of_the_bar(opened: HotspotPanel) -> None:
    click(opened, 1)
    selection = opened.session.selection.value
    assert selection.lines == (2, 4)
    assert selection.line == 3
    assert opened.plot.selected == (1, 2)
    opened.session.select_line(7)
    assert opened.plot.selected == (3, 4)


def test_the_last_bar_ends_with_the_program(hotspot: HotspotPanel, open_settled: Callable) -> None:
    hotspot.ui.settings["hotspot.bins"] = 5
    open_settled(trace(), [two_waves()])
    click(hotspot, 3)
    assert hotspot.session.selection.value.lines == (6, 8)
    hotspot.plot.setFocus()
    QTest.keyClick(hotspot.plot, Qt.Key.Key_Right)
    assert hotspot.session.selection.value.lines == (6, 8), "the fifth bin holds no rows"


def test_the_keyboard_walks_over_the_bars(opened: HotspotPanel) -> None:
    for key, lines in (
        (Qt.Key.Key_Right, (0, 2)),
        (Qt.Key.Key_Right, (2, 4)),
        (Qt.Key.Key_End, (6, 8)),
        (Qt.Key.Key_Left, (4, 6)),
        (Qt.Key.Key_Home, (0, 2)),
    ):
        QTest.keyClick(opened.plot, key)
        assert opened.session.selection.value.lines == lines


def test_the_wheel_and_keys_zoom_into_the_program(opened: HotspotPanel) -> None:
    whole = opened.plot.bins
    plot = opened.plot
    assert (whole.first[0], whole.stop[-1]) == (0, 8)
    click(opened, 2)
    for _ in range(12):
        QTest.keyClick(plot, Qt.Key.Key_W)
    rows = (int(plot.bins.first[0]), int(plot.bins.stop[-1]))
    assert rows in ((4, 5), (5, 6)), "down to an instruction, in the chosen bar"
    assert plot.bins.step == 1
    QTest.keyClick(plot, Qt.Key.Key_0)
    np.testing.assert_array_equal(plot.bins.cycles, whole.cycles)
    at = QPointF(plot.x_of(1.5), 60)
    for notches in (1, 1, 1, -9):
        row = plot.bins.first[0] + (at.x() - plot.x_of(0)) / plot.bar_px * plot.bins.step
        wheel(opened, at, notches)
        after = plot.bins.first[0] + (at.x() - plot.x_of(0)) / plot.bar_px * plot.bins.step
        assert notches < 0 or abs(after - row) <= 1, "what the pointer is over stays there"
    np.testing.assert_array_equal(plot.bins.cycles, whole.cycles)


def test_the_clock_range_chooses_waves(hotspot: HotspotPanel, open_settled: Callable, qtbot: object) -> None:
    index = replace(trace().waves, se=np.array([0, 1], dtype=np.int16))
    first, second = two_waves().waves
    second = second._replace(id=index.id(1))
    open_settled(trace(waves=index), [batch(first, second)])
    hotspot.session.clock_range.set(TimeWindow(0, 600))
    qtbot.waitUntil(lambda: hotspot.plot.bins.totals.sum() == 26)
    hotspot.session.clock_range.set(None)
    qtbot.waitUntil(lambda: hotspot.plot.bins.totals.sum() == 52)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_have_the_colours_of_kinds_also_after_a_switch(
    hotspot: HotspotPanel, ui: UiContext, open_settled: Callable, theme: str
) -> None:
    ui.settings["look.theme"] = "dark" if theme == "light" else "light"
    open_settled(trace(), [two_waves()])
    ui.settings["look.theme"] = theme
    image = hotspot.plot.grab().toImage()
    x = round(hotspot.plot.x_of(1.5))
    colors = {image.pixelColor(x, y).rgb() for y in range(image.height())}
    assert ui.theme.kind(TokenKind.LDS).rgb() in colors
    assert ui.theme.kind(TokenKind.IMMED).rgb() in colors


def test_the_tip_says_rows_and_cycles(opened: HotspotPanel) -> None:
    assert opened.plot.tip(1).startswith("instructions 2 to 3\n30 cycles")
    assert "LDS: 12" in opened.plot.tip(1)
    assert opened.plot.unit == "cycles"


def test_samples_are_counted_where_there_are_no_cycles() -> None:
    table = code_table()
    nothing = np.zeros(8, dtype=np.int64)
    samples = np.array([0, 1, 2, 0, 5, 0, 0, 9])
    bins = binned(static_bins(replace(table, latency=nothing, samples_issued=samples)), 4)
    assert bins.totals.tolist() == [1, 2, 5, 9]


def test_an_empty_program_is_explained(hotspot: HotspotPanel, open_settled: Callable) -> None:
    open_settled(trace(code_table(())))
    assert hotspot.empty.is_empty
    assert hotspot.sheet() is None


def test_the_sheet_has_a_column_a_kind(opened: HotspotPanel) -> None:
    sheet = opened.sheet()
    rows = list(sheet.rows)
    assert rows[1][:3] == (2, 3, 30)
    assert sum(rows[1][3:]) == 30
    assert "LDS" in sheet.headers


def test_a_range_that_holds_nothing_and_another_capture_leave_no_bins_behind(
    opened: HotspotPanel, open_in: Callable, qtbot: object
) -> None:
    assert opened.sheet() is not None
    opened.session.clock_range.set(TimeWindow(10**6, 10**6 + 1))
    qtbot.waitUntil(lambda: opened.empty.is_empty)
    assert opened.sheet() is None
    opened.session.clock_range.set(None)
    qtbot.waitUntil(lambda: not opened.empty.is_empty)
    assert opened.sheet() is not None
    open_in(trace(code_table(())))
    assert opened.sheet() is None


TAIL = "|V" * 6  # a program of eight rows: two of them a bar


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_chosen_bar_is_marked_also_if_it_is_the_highest(
    hotspot: HotspotPanel, ui: UiContext, open_settled: Callable, theme: str
) -> None:
    ui.settings["look.theme"] = theme
    open_settled(trace())
    plot = hotspot.plot
    highest = int(plot.totals.argmax())
    click(hotspot, highest)
    image, accent = plot.grab().toImage(), ui.theme.role("accent").rgb()
    left, right = round(plot.x_of(highest)), round(plot.x_of(highest + 1)) - 1
    below, middle = round(plot.area.bottom()) + 2, round(plot.area.center().y())
    assert all(image.pixelColor(x, below).rgb() == accent for x in range(left + 1, right))
    assert accent in {image.pixelColor(x, middle).rgb() for x in range(left - 2, left + 2)}
    assert image.pixelColor(round(plot.x_of(0)) + 4, below).rgb() != accent


def test_bars_cover_what_ran_if_most_of_the_program_did_not(
    hotspot: HotspotPanel, ui: UiContext, open_settled: Callable
) -> None:
    rows = [("v_nop", TokenKind.VALU, 0, 0, 0, 0, ()) for _ in range(100)]
    rows[40:48] = [("v_add_u32 v0, v0, v0", TokenKind.VALU, 1, 10 * at, 0, 0, ()) for at in range(1, 9)]
    open_settled(trace(code_table(tuple(rows))))
    assert hotspot.plot.bins.first.tolist() == [40, 42, 44, 46]
    assert hotspot.plot.totals.tolist() == [30, 70, 110, 150]
    click(hotspot, 3)
    assert ui.session.selection.value.lines == (46, 48)
    assert hotspot.plot.selected == (3, 4)
    ui.session.select_line(3)
    assert hotspot.plot.selected is None


def two_engines() -> tuple[Trace, WaveBatch]:
    """A wave of engine 0 that spends its cycles in row 0, and a shorter one of engine 1 in row 1."""
    made, (both,) = made_trace(["v" * 90 + "|V" + TAIL, "V|" + "v" * 40 + TAIL])
    index = replace(made.waves, se=np.array([0, 1], dtype=np.int16))
    waves = tuple(wave._replace(id=index.id(row)) for row, wave in enumerate(both.waves))
    return replace(made, waves=index), replace(both, waves=waves)


def test_a_bar_of_a_clock_range_selects_an_execution_in_that_range(
    hotspot: HotspotPanel, ui: UiContext, open_settled: Callable, qtbot: object
) -> None:
    made, (both,) = made_trace(["v" * 30 + "|" + "v" * 60 + "|" + "v" * 20 + TAIL])
    tokens = replace(both.waves[0].tokens, line=np.array([0, 1, 0, *range(2, 8)], dtype=np.int32))
    both = replace(both, waves=(both.waves[0]._replace(tokens=tokens),), line=tokens.line)
    open_settled(made, [both])
    click(hotspot, 0)
    assert ui.session.selection.value.line == 1
    ui.session.clock_range.set(TimeWindow(85, 200))
    qtbot.waitUntil(lambda: hotspot.plot.bins.totals.sum() == 5 + 20 + 6)
    click(hotspot, 0)
    assert (ui.session.selection.value.line, ui.session.selection.value.hit) == (0, 1)


def test_a_low_panel_leaves_its_height_to_the_bars(opened: HotspotPanel, settled: Settled) -> None:
    assert opened.legend.isVisible()
    opened.resize(600, 110)
    settled()
    assert opened.legend.isHidden()
    assert opened.plot.height() >= 80
    assert "LDS: 12" in opened.plot.tip(1)
    opened.resize(600, 240)
    settled()
    assert opened.legend.isVisible()
