"""A measured range answers, two clicks measure from one instruction to another, and what a menu offers."""

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from rcv_py.analysis.iterations.segments import between_of
from rcv_py.analysis.overview.range_costs import range_costs_of
from rcv_py.base.text import nanoseconds
from rcv_py.features.range.panel import ClockRangePanel
from rcv_py.features.range.result import range_table
from rcv_py.features.time.compute_unit_panel import ComputeUnitPanel
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import MeasuredPair
from rcv_py.state.session import REVEAL_PX
from rcv_py.ui.app import App
from rcv_py.ui.core.times import Times
from tests.support.command_runs import run
from tests.ui.window import settle, show_panel


@pytest.fixture
def app(app: App) -> Iterator[App]:
    session = app.ui.session
    session.fit_all()
    app.window.workspace.show_panel("clock_range")
    show_panel(app, "compute_unit")
    yield app
    session.between.set(None)
    session.measure.set(None)
    app.ui.settings["timeline.units"] = "cycles"


def panel_of(app: App) -> ClockRangePanel:
    panel = app.window.workspace.docks["clock_range"].panel
    assert isinstance(panel, ClockRangePanel)
    return panel


def unit_of(app: App) -> ComputeUnitPanel:
    panel = app.window.workspace.docks["compute_unit"].panel
    assert isinstance(panel, ComputeUnitPanel)
    return panel


def middle(app: App) -> TimeWindow:
    span = app.ui.session.trace.value.span
    return TimeWindow(span.begin + span.width // 4, span.end - span.width // 4)


def first_tokens(app: App) -> tuple[int, int]:
    """Rows of two tokens of the selected wave that run known instructions, each more than once if any is."""
    line = app.ui.session.wave().tokens.line
    times = np.bincount(line[line >= 0])
    often = np.flatnonzero(times == times.max())
    return int(np.argmax(line == often[0])), int(np.argmax(line == often[-1]))


def test_a_dragged_range_brings_its_numbers_to_the_front(app: App) -> None:
    app.window.workspace.show_panel("token_details")
    plot = unit_of(app).timeline.plot
    y = round(plot.y_of(0))
    left, right = (QPoint(round(plot.x_of(time)), y) for time in (middle(app).begin, middle(app).end))
    viewport = plot.viewport()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, left)
    QTest.mouseMove(viewport, right)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, right)
    panel, session = panel_of(app), app.ui.session
    assert session.measure.value is not None
    settle(app)
    assert not panel.visibleRegion().isEmpty()
    assert panel.answered.costs.window == session.measure.value


@pytest.mark.parametrize("beside", [0, 90])
def test_the_numbers_are_those_of_the_analysis_and_of_the_command(app: App, beside: int) -> None:
    """Nothing is known of cycles beside the capture, where a drag may end: no unit was idle there."""
    session, window = app.ui.session, middle(app)
    if beside:
        window = TimeWindow(session.trace.value.span.begin, window.end)
    session.measure.set(TimeWindow(window.begin - beside, window.end))
    settle(app)
    panel = panel_of(app)
    rows = session.choice.rows
    found = range_costs_of(window).of(session.trace.value, session.store.batches, rows)
    table = range_table(session.trace.value, found)
    shown = panel.text.toPlainText()
    for name in table.plain("name"):
        assert name.rpartition("/")[2][:20] in shown, name
    sheet = panel.sheet()
    assert [list(row) for row in sheet.rows] == [list(row) for row in table.csv()[1]]
    words = panel.command_line()
    assert words[:2] == ("rcv", "range")
    assert run(*words[1:], "--csv").out.splitlines() == sheet.csv().splitlines()


def test_a_newer_range_takes_the_place_of_the_older(app: App) -> None:
    session, window = app.ui.session, middle(app)
    for begin in range(5):
        session.measure.set(TimeWindow(window.begin + begin, window.end))
        panel_of(app)._soon.now()
    settle(app)
    assert panel_of(app).answered.window == session.measure.value


def test_two_clicks_measure_from_one_instruction_to_another_over_all_iterations(app: App) -> None:
    session = app.ui.session
    wave, (a, b) = session.wave(), first_tokens(app)
    session.select_token(wave.id, a)
    session.measure_from()
    settle(app)
    assert "Click the instruction" in panel_of(app).text.toPlainText()
    session.select_token(wave.id, b)
    first, last = int(wave.tokens.line[a]), int(wave.tokens.line[b])
    begin = wave.tokens.span(a).begin
    assert session.between.value == MeasuredPair(first, last, begin)
    assert session.measure.value == TimeWindow(begin, wave.tokens.span(b).end)
    settle(app)
    found = panel_of(app).answered
    expected = between_of(first, last).of(session.trace.value, session.store.batches, session.choice.rows)
    assert found.steps == expected
    assert expected.count > 0
    assert f"--between={first}:{last}" in panel_of(app).command_line()
    QTest.keyClick(unit_of(app).timeline.plot, Qt.Key.Key_Escape)
    assert (session.between.value, session.measure.value) == (None, None)


# -- the menu of an execution -------------------------------------------------------------------------------


def actions(app: App, row: int) -> dict[str, object]:
    session, panel = app.ui.session, unit_of(app)
    wave = session.wave()
    span = wave.tokens.span(row)
    session.set_view(span.padded(2))
    QApplication.processEvents()
    panel.timeline.plot.row_depth, panel.timeline.plot.band_y = 0.5, -1.0
    return dict(panel.actions_at(panel.source.selected_row, span.begin))


def test_the_menu_of_an_execution(app: App) -> None:
    session = app.ui.session
    wave, (a, _) = session.wave(), first_tokens(app)
    session.select_token(wave.id, a)
    line = int(wave.tokens.line[a])
    offered = actions(app, a)
    hits = int((wave.tokens.line == line).sum())
    titles = list(offered)
    assert titles[0] == "Copy the instruction"
    assert titles[-1] == "Copy as command"
    for title in (f"Go to instruction {line}", "Measure from here", "Bookmark"):
        assert title in titles
    offered["Copy the instruction"]()
    assert QApplication.clipboard().text() == session.trace.value.code.text[line]
    offered[f"Go to instruction {line}"]()
    settle(app)
    assert not app.window.workspace.docks["isa"].panel.visibleRegion().isEmpty()
    assert session.selection.value.line == line
    offered["Bookmark"]()
    assert session.bookmarks.value[-1].line == line
    every = next(title for title in titles if title.startswith("Show all"))
    assert str(hits) in every
    offered[every]()
    spans = [wave.tokens.span(int(at)) for at in np.flatnonzero(wave.tokens.line == line)]
    assert all(session.view.value.overlaps(span.begin, span.end) for span in spans)
    offered["Measure from here"]()
    assert session.between.value == MeasuredPair(line, None, wave.tokens.span(a).begin)
    assert any(title.startswith("Measure to here") for title in actions(app, a))
    session.bookmarks.set(())


# -- where a selected execution is shown --------------------------------------------------------------------


def shown_px(app: App) -> float:
    session = app.ui.session
    wave, row = session.token()
    return wave.tokens.span(row).width * session.plot_px / session.view.value.width


def test_an_execution_that_cannot_be_seen_is_shown_wide(app: App) -> None:
    session = app.ui.session
    wave = session.wave()
    assert session.plot_px == round(unit_of(app).timeline.plot.plot_width())
    far = session.outer(session.trace.value)
    short = int(np.argmin(np.where(wave.tokens.line >= 0, wave.tokens.duration, 1 << 40)))
    session.set_view(TimeWindow(far.begin, far.begin + 1_000 * far.width))
    session.show_token(wave.id, short)
    assert shown_px(app) >= REVEAL_PX * 0.9
    assert session.view.value.contains(wave.tokens.span(short).middle)
    before = session.view.value
    session.show_token(wave.id, short)
    assert session.view.value == before


def test_a_click_in_time_keeps_the_zoom_and_a_click_on_an_instruction_shows_it(app: App) -> None:
    session = app.ui.session
    wave, (a, _) = session.wave(), first_tokens(app)
    px, session.plot_px = session.plot_px, 2  # nothing can be seen at this width
    session.fit_all()
    before = session.view.value
    session.select_token(wave.id, a, stays=True)
    assert session.view.value == before
    session.select_line(int(wave.tokens.line[a]))
    assert session.view.value.width < before.width
    session.plot_px = px


# -- one way to write times ---------------------------------------------------------------------------------


def test_lengths_have_the_other_unit_behind_them(app: App) -> None:
    trace, settings = app.ui.session.trace.value, app.ui.settings
    ns = nanoseconds(1_000 * trace.clock.ns(1))
    assert Times.of(trace, settings).both(1_000) == f"1,000 cycles ({ns})"
    settings["timeline.units"] = "ns"
    assert Times.of(trace, settings).both(1_000) == f"{ns} (1,000 cycles)"
    assert Times().both(1_000) == "1,000 cycles"


def test_tips_follow_the_unit(app: App) -> None:
    session, panel = app.ui.session, unit_of(app)
    wave, (a, _) = session.wave(), first_tokens(app)
    session.select_token(wave.id, a)
    span = wave.tokens.span(a)

    def tip() -> str:
        plot = panel.timeline.plot
        plot.row_depth, plot.band_y = 0.5, -1.0
        return panel.tip(panel.source.selected_row, span.begin, TimeWindow(span.begin, span.begin + 1), False)

    assert f"at {span.begin:,} " in tip()
    app.ui.settings["timeline.units"] = "ns"
    assert f"at {span.begin:,} " not in tip()
    assert Times.of(session.trace.value, app.ui.settings).at(span.begin) in tip()
