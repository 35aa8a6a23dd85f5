"""The key U: every text about time follows it, and fields read back what they show."""

from collections.abc import Iterator

import numpy as np
import pytest

from rcv_py.model.modes import LatencyMode
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Selection
from rcv_py.ui.app import App
from rcv_py.ui.core.times import Times
from rcv_py.ui.timeline.items import TimeAxis, TimeScale
from rcv_py.ui.timeline.time_overlay import Line
from rcv_py.ui.timeline.timeline_plot import near_lines
from tests.ui.window import settle, show_panel

NS = Times(ns_per_cycle=0.5, origin=1000, known_ns=0.5)
CYCLES = Times(origin=1000, known_ns=0.5)


@pytest.mark.parametrize(
    ("text", "in_cycles", "in_ns"),
    [
        ("2,000", 2000, 1000 + 4_000_000),  # without a unit: what is shown
        ("0.5", None, 2000),
        ("500 ns", 2000, 2000),
        ("0.5 µs", 2000, 2000),
        ("0.5us", 2000, 2000),
        ("0.001 ms", 3000, 3000),
        ("2,000 cycles", 2000, 2000),
        ("-1 µs", -1000, -1000),
        ("", None, None),
        ("µs", None, None),
        ("1e3 ns", None, None),
        ("nan", None, None),
        ("9" * 30 + " s", None, None),
        ("1.5 cycles", None, None),
    ],
)
def test_moments_are_read_as_people_write_them(text: str, in_cycles: int | None, in_ns: int | None) -> None:
    assert (CYCLES.moment(text), NS.moment(text)) == (in_cycles, in_ns)


def test_what_is_shown_is_read_back() -> None:
    times = Times(ns_per_cycle=1000 / 2050, origin=102_805, known_ns=1000 / 2050)
    for cycle in (102_805, 126_784, 287_539):
        assert abs(times.moment(times.at(cycle)) - cycle) <= 1, "as near as three digits after µs are"
    unknown = Times(origin=1000)
    assert (unknown.moment("5 ns"), unknown.moment("5")) == (None, 5), "without a known clock"


def test_events_near_the_mouse_follow() -> None:
    lines = (Line(2000, "accent", "SE0: flush", " (queue 1)", 100), Line(90_000, "accent", "SE0: far away"))
    for times, text in (
        (CYCLES, "SE0: flush at 2,000, for 100 cycles (queue 1)"),
        (NS, "SE0: flush at 0.500 µs, for 50 ns (queue 1)"),
    ):
        assert near_lines(lines, 2000, TimeWindow(2000, 2001), times) == [text]


def test_the_title_of_an_axis_follows(app: App) -> None:
    axis = TimeAxis(app.ui.theme)
    axis.resize(100, 22)
    axis.shown = TimeWindow(0, 16_000)
    assert axis.title() == "cycles · 1 px = 160 cycles"
    axis.scale_of_time = TimeScale(0, 0.5)
    assert axis.title() == "time since the trace began · 1 px = 80 ns"


@pytest.fixture
def app(app: App) -> Iterator[App]:
    """The sample in nanoseconds."""
    app.ui.settings["timeline.units"] = "ns"
    settle(app)
    yield app
    app.ui.settings["timeline.units"] = "cycles"
    app.ui.session.clock_range.set(None)


def test_the_fields_of_the_clock_range_follow(app: App) -> None:
    session, picker = app.ui.session, app.window.workspace.docks["wave_picker"].panel
    times = Times.of(session.trace.value, app.ui.settings)
    begin, end = session.trace.value.span.begin + 101, session.trace.value.span.begin + 5001
    session.clock_range.set(TimeWindow(begin, end))
    settle(app)
    assert (picker.begin.text(), picker.end.text()) == (times.at(begin), times.at(end))
    assert "time since the trace began" in picker.range_title.text()
    picker.end.setText("10 µs")
    picker.end.editingFinished.emit()
    assert session.clock_range.value.begin == begin, "what nobody wrote keeps its cycle"
    assert session.clock_range.value.end == round(
        session.trace.value.span.begin + 10_000 / times.ns_per_cycle
    )
    picker.end.setText("soon")
    picker.end.textEdited.emit("soon")
    assert "46.72 µs" in picker.end.toolTip()


def test_sums_of_instructions_and_the_duration_follow(app: App) -> None:
    trace, workspace = app.ui.session.trace.value, app.window.workspace
    show_panel(app, "triage")
    view, times = workspace.panel("isa").view, Times.of(trace, app.ui.settings)
    row = int(np.argmax(trace.code.latency))
    for name in ("latency", "stall", "idle"):
        column = view.table.columns[view.table.column_of(name)]
        shown = view.table.text(row, view.table.column_of(name))
        assert shown == (times.number(int(column.values[row])) if column.values[row] else "")
    assert view.table.text(row, view.table.column_of("latency")).endswith("s")
    assert view.table.text(row, view.table.column_of("hits")) == f"{trace.code.hits[row]:,}"
    duration = next(one for one in workspace.panel("triage").strip.numbers if one.id == "duration")
    alone = "matmul_tiled alone 98,436 cycles"
    assert (duration.text, duration.of) == ("52.2 µs", f"104,468 cycles; {alone}")
    app.ui.settings["timeline.units"] = "cycles"
    settle(app)
    duration = next(one for one in workspace.panel("triage").strip.numbers if one.id == "duration")
    assert duration.text == "104,468 cycles"
    assert view.table.text(row, view.table.column_of("latency")) == f"{trace.code.latency[row]:,}"


def test_the_large_distribution_follows(app: App) -> None:
    trace = app.ui.session.trace.value
    app.ui.session.select_line(int(np.argmax(trace.code.stall)))
    panel = show_panel(app, "distribution")
    times = Times.of(trace, app.ui.settings)
    slowest = times.number(int(panel.view.values[panel.shown[0]]))
    assert panel.table.table.text(0, panel.table.table.column_of("latency")) == slowest
    assert slowest.endswith(("ns", "µs"))
    assert panel.plot.range_text(0).endswith(("ns", "µs"))
    assert "cycles" not in panel.note.text()
    ticks = [tick * times.ns_per_cycle for tick in panel.plot._ticks()]
    assert len(ticks) > 2
    assert all(abs(tick - round(tick)) < 1e-6 for tick in ticks), "round numbers of nanoseconds"
    before = list(panel.sheet().rows)
    app.ui.settings["timeline.units"] = "cycles"
    assert panel.plot.range_text(0).endswith("cycles")
    assert list(panel.sheet().rows) == before, "tables are in cycles"
    app.window.workspace.docks["distribution"].close()


def test_the_table_of_events_follows(app: App) -> None:
    panel = show_panel(app, "events")
    table = panel.view.table
    if table.rowCount():
        assert table.text(0, table.column_of("start")).endswith("µs")
    headers = panel.sheet().headers if panel.sheet() else ("cycles",)
    assert "cycles" in headers


# -- hits are counted from 1 ----------------------------------------------------------------------------


def test_every_text_that_takes_a_hit_back_takes_the_number_it_printed(app: App) -> None:
    session, workspace = app.ui.session, app.window.workspace
    trace = session.trace.value
    session.select_line(int(np.argmax(trace.code.stall)))
    settle(app)
    session.select_hit(2)
    settle(app)
    wave, line = session.selection.value.wave, session.selection.value.line
    place = str(session.selection.value)
    assert place == f"{wave}:instruction {line} hit 3"
    assert Selection.parse(place) == Selection(wave, line, 2)
    assert Selection.parse(f"{wave}:instruction {line}#2") == Selection(wave, line, 2), "of older versions"
    details = workspace.panel("token_details")
    assert details.hit.text() == "3"
    details.hit.setText("2")
    details.hit.editingFinished.emit()
    assert session.selection.value.hit == 1
    session.latency_mode.set(LatencyMode.ITERATION)
    settle(app)
    isa = workspace.panel("isa")
    assert "--hit=2" in isa.command_line()
    assert f"Hit 2 of {wave}" in isa.caption()
    session.latency_mode.set(LatencyMode.SUM_ALL)
    panel = show_panel(app, "distribution")
    at = panel.sheet().headers.index("hit, from 1")
    own = [row[at] for row in panel.sheet().rows if row[0] == str(wave)]
    assert min(own) == 1
    workspace.docks["distribution"].close()


def test_one_cycle_is_singular() -> None:
    assert Times().span(1) == "1 cycle"
    assert CYCLES.both(1) == "1 cycle (0.5 ns)"
    assert Times().span(1200) == "1,200 cycles"
