"""Every panel says which command prints what it shows, and the command prints the same numbers."""

import json
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.analysis.device.occupancy_curves import occupancy_numbers
from rcv_py.analysis.device.utilization import unit_title
from rcv_py.base.errors import UsageError
from rcv_py.base.text import percent
from rcv_py.cli.main import main
from rcv_py.features.notes.search_panel import SearchPanel
from rcv_py.model.kinds import TokenKind, WaveState
from rcv_py.model.modes import LatencyMode, SourceCost
from rcv_py.model.notes import Note
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import SearchQuery
from rcv_py.state.single_instance import OpenRequest
from rcv_py.ui.app import App, run, start
from rcv_py.ui.core.panel import Panel, discover
from rcv_py.ui.table.table_model import Column
from tests.support.command_runs import CACHE
from tests.support.samples import sample_path, write_sample
from tests.ui.window import SAMPLE, SAMPLES, open_sample, settle, show_panel, window

FIRST = 12  # rows that are compared of long tables
LINE = 113  # a wait of the sample that some waves ran often


@pytest.fixture(scope="module")
def app(qapp: QApplication) -> Iterator[App]:
    """A window with the sample open, made once; it is not painted, for nobody looks at its pixels."""
    with window() as made:
        yield made


@pytest.fixture
def shown(app: App) -> Iterator[Callable[..., Panel]]:
    """Bring a panel to the front, with nothing chosen but what a test chooses, and wait for it."""
    session = app.ui.session
    if session.trace.value is None:
        open_sample(app)

    def show(name: str, change: Callable[[Any], object] | None = None) -> Panel:
        app.window.workspace.show_panel(name)
        panel = app.window.workspace.panel(name)
        if isinstance(panel, SearchPanel):
            panel.choice.choose("matches")
        settle(app)
        if change is not None:
            change(panel)
            settle(app)
        return panel

    before = session.selection.value
    yield show
    session.clock_range.set(None)
    session.measure.set(None)
    session.query.set(SearchQuery())
    session.latency_mode.set(LatencyMode.SUM_ALL)
    session.source_cost.set(SourceCost.SELF)
    session.selection.set(before)
    app.ui.settings["isa.show_idle"] = True  # the next test waits for what follows from all this


@pytest.fixture
def emptied(app: App) -> Iterator[App]:
    """The same window without a capture, for one that has what the sample lacks."""
    app.window.close_capture()
    yield app
    app.ui.session.baseline.set(None)
    app.window.close_capture()


def printed(panel: Panel) -> dict[str, Any]:
    """Run the command of a panel with --json and return its document."""
    words = panel.command_line()
    assert words[0] == "rcv"
    out = StringIO()
    with redirect_stdout(out):
        assert main([*words[1:], "--json"], CACHE) == 0, words
    return dict(json.loads(out.getvalue()))


def column_of(view: Any, name: str) -> Column:
    """A column of a table by its id."""
    at = view.table.column_of(name)
    assert at >= 0, f"no column {name}"
    return view.table.columns[at]


def cells(view: Any, *names: str) -> list[tuple[Any, ...]]:
    """The values of some columns of a table as it is shown, its first rows."""
    columns = [np.asarray(column_of(view, name).values, dtype=object) for name in names]
    rows = view.table.data_rows.tolist()[:FIRST]
    return [tuple(column[row] for column in columns) for row in rows]


def told(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """The same of a document."""
    return [tuple(row[name] for name in names) for row in rows[:FIRST]]


# -- all panels -----------------------------------------------------------------------------------------

SILENT = {"compare", "search", "matches", "events"}  # a baseline, a text, and events: the sample has none


def test_every_panel_has_a_command_that_runs(app: App, shown: Any, qtbot: QtBot) -> None:
    """All in one: what is chosen is chosen, and followed by all that is in front, once."""
    app.ui.session.select_line(LINE)
    app.ui.session.measure.set(TimeWindow(80_000, 90_000))
    for name in (info.id for info in discover().values()):
        panel = shown(name)
        assert type(panel).command_line is not Panel.command_line, f"{name} does not say its command"
        if name in SILENT:
            assert panel.command_line() is None, name
            continue
        qtbot.waitUntil(lambda panel=panel: panel.command_line() is not None)
        words = panel.command_line()
        assert words[2] == str(SAMPLE.absolute()), name
        assert printed(panel)["schema"].startswith("rcv."), name


def test_the_action_copies_a_line_for_a_shell(app: App, shown: Any) -> None:
    panel = shown("bubbles")
    panel.copy_asked.emit()
    text = QApplication.clipboard().text()
    assert text == f"rcv bubbles {SAMPLE.absolute()} --sort=bubbles --top=0"
    assert text in app.window.statusBar().currentMessage()
    app.ui.session.query.set(SearchQuery("it's v_mul", is_case_sensitive=True))
    shown("search").copy_asked.emit()
    assert QApplication.clipboard().text().endswith("""'--match=it'"'"'s v_mul' --case""")


def test_the_key_copies_the_command_of_the_panel_with_the_focus(app: App, shown: Any, qtbot: QtBot) -> None:
    panel = shown("waits")
    app.window.activateWindow()
    panel.tree.setFocus()
    qtbot.waitUntil(lambda: app.window.exporter.current() == "why")
    app.ui.commands.run("export.copy_command")
    assert QApplication.clipboard().text().startswith("rcv waits")


# -- rankings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clock", [None, TimeWindow(80_000, 90_000)])
def test_the_histogram(clock: TimeWindow | None, app: App, shown: Any) -> None:
    app.ui.session.clock_range.set(clock)
    panel = shown("hotspot")
    document = printed(panel)
    bins = panel.plot.bins
    assert [(row["first_instruction"], row["total"]) for row in document["rows"]] == list(
        zip(bins.first.tolist(), bins.totals.tolist(), strict=True)
    )
    kinds = {TokenKind(kind).name: int(value) for kind, value in enumerate(bins.cycles.sum(axis=0)) if value}
    told_kinds: dict[str, int] = {}
    for row in document["rows"]:
        for kind, value in row["kinds"].items():
            told_kinds[kind] = told_kinds.get(kind, 0) + value
    assert told_kinds == kinds


@pytest.mark.parametrize("clock", [None, TimeWindow(80_000, 90_000)])
def test_a_source_file(clock: TimeWindow | None, app: App, shown: Any) -> None:
    app.ui.session.clock_range.set(clock)
    panel = shown("source")
    lines = panel.view.lines
    shown_costs = {int(n): int(c) for n, c in zip(lines.number, lines.cost, strict=True) if c}
    rows = printed(panel)["rows"]
    assert {row["source_line"]: row["cost"] for row in rows if row["cost"]} == shown_costs
    assert [row["source_line"] for row in rows] == sorted(row["source_line"] for row in rows)


@pytest.mark.parametrize(("how", "idle"), [(SourceCost.SELF, True), (SourceCost.INCLUSIVE, False)])
def test_the_tree_of_places(how: SourceCost, idle: bool, app: App, shown: Any) -> None:
    app.ui.session.source_cost.set(how)
    app.ui.settings["isa.show_idle"] = idle
    panel = shown("explorer")
    places = [place for place in panel.tree.rows.tree.root.walk() if place is not panel.tree.rows.tree.root]
    assert told(printed(panel)["rows"], "name", "cost") == [(one.name, one.cost) for one in places[:FIRST]]


# -- instructions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(LatencyMode))
def test_instructions_in_each_mode(mode: LatencyMode, app: App, shown: Any) -> None:
    app.ui.session.select_line(LINE)
    app.ui.session.select_hit(3)
    app.ui.session.latency_mode.set(mode)
    panel = shown("isa")
    rows = printed(panel)["rows"]
    names = ("hits", "latency", "stall", "idle")
    every = [tuple(row[name] for name in ("instruction", *names)) for row in rows]
    columns = [column_of(panel.view, name).values for name in ("instruction", *names)]
    shown_rows = [tuple(int(value) for value in row) for row in zip(*columns, strict=True)]
    # A table of the window has 0 for what a document does not know: costs of executions that did not happen.
    assert [tuple(value or 0 for value in row) for row in every] == shown_rows
    assert any(row["latency"] for row in rows)
    share = column_of(panel.view, "share_of_total").values
    real = ~app.ui.session.trace.value.code.is_label
    assert [
        (row["share_of_total"] or 0) * 100 for row, is_real in zip(rows, real, strict=True) if is_real
    ] == pytest.approx(share[real].tolist(), abs=1e-3)


@pytest.mark.parametrize("bars", [Annotation.NONHIDDEN, Annotation.CAUSES, Annotation.MEMORY_WAITS])
def test_bars_of_the_listing(bars: Annotation, shown: Any) -> None:
    panel = shown("isa", lambda panel: panel.set_annotation(bars))
    try:
        rows = printed(panel)["rows"]
        assert panel._rows.bars.mode is bars
        assert [row["bar"] for row in rows] == pytest.approx(panel._rows.bars.total.tolist(), abs=0.01)
    finally:
        panel.set_annotation(Annotation.TOTAL)


def test_a_filtered_and_sorted_listing(app: App, shown: Any) -> None:
    app.ui.session.query.set(SearchQuery("GLOBAL_load"))
    app.ui.session.clock_range.set(TimeWindow(80_000, 100_000))
    panel = shown("isa")
    panel.find_bar.filter.setChecked(True)
    panel.view.header.setSortIndicator(panel.view.table.column_of("stall"), Qt.SortOrder.DescendingOrder)
    panel = shown("isa")
    try:
        assert panel.view.table.is_filtered
        words = panel.command_line()
        assert {"--match=GLOBAL_load", "--sort=stall", "--clock=80000:100000"} <= set(words)
        rows = printed(panel)["rows"]
        assert cells(panel.view, "instruction", "stall", "latency") == told(
            rows, "instruction", "stall", "latency"
        )
        assert len(rows) == panel.view.table.rowCount() > 1
    finally:
        panel.find_bar.filter.setChecked(False)
        panel.view.header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)


# -- waits and reasons ----------------------------------------------------------------------------------


def test_waits(shown: Any) -> None:
    panel = shown("waits")
    nodes = panel.tree.rows.tree.root.children
    rows = printed(panel)["waits"]
    assert nodes
    assert told(rows, "instruction", "hits", "stall") == [
        (one.line, one.times, one.stall) for one in nodes[:FIRST]
    ]
    for row, node in zip(rows[:FIRST], nodes, strict=False):
        assert {(by["instruction"], by["hits"], by["stall"]) for by in row["producers"]} == {
            (by.line, by.times, by.stall) for by in node.children
        }


def test_causes(shown: Any) -> None:
    panel = shown("causes")
    nodes = panel.tree.rows.tree.root.children
    assert nodes
    assert told(printed(panel)["rows"], "cause", "stall", "idle", "hits") == [
        (Cause(one.cause).name.lower(), one.stall, one.idle, one.times) for one in nodes[:FIRST]
    ]


def test_rounds_of_a_loop(shown: Any) -> None:
    panel = shown("loops")
    rows = printed(panel)["rows"]
    assert len(rows) == len(panel.rows) > 0
    names = ("wave", "iteration", "cycles", "stall", "idle", "start", "note")
    assert cells(panel.view, *names) == told(rows, *names)


def test_segments(shown: Any) -> None:
    panel = shown("loops", lambda panel: panel.listed.choose("segments"))
    names = ("first_instruction", "last_instruction", "waves", "hits", "cycles", "barrier_wait")
    rows = printed(panel)["rows"]
    assert cells(panel.segments, *names) == told(rows, *names)
    panel.listed.choose("loops")


def test_bubbles(shown: Any) -> None:
    panel = shown("bubbles")
    names = ("instruction", "bubbles", "stall", "idle", "drain")
    theirs = told(printed(panel)["rows"], *names)
    nodes = panel.tree.rows.tree.root.children[:FIRST]
    for node, told_of_it in zip(nodes, theirs, strict=True):
        mine = (node.line, node.cycles, node.stall, node.idle, node.drain)
        assert mine == pytest.approx(told_of_it, abs=0.001)


@pytest.mark.parametrize("kind", range(4))
def test_latency(kind: int, shown: Any) -> None:
    panel = shown("latency", lambda panel: panel.kind.setCurrentIndex(kind))
    rows = printed(panel)["rows"]
    names = (
        ("instruction", "total", "not_hidden", "hidden", "hidden_idle", "hidden_stall", "hidden_issue"),
        ("instruction", "exact", "median", "p90"),
        ("instruction", "width", "hits", "refused", "stall", "needed"),
        ("first_instruction", "last_instruction", "arrivals", "slow", "again", "cycles", "longest"),
    )[kind]
    assert cells(panel.view, *names) == told(rows, *names)
    panel.kind.setCurrentIndex(0)


# -- the capture as a whole -----------------------------------------------------------------------------


def test_the_summary(shown: Any) -> None:
    panel = shown("summary")
    document = printed(panel)
    assert [one["value"] for one in document["facts"]] == [one.value for one in panel.summary.facts]
    assert document["activity"]["stall"] == panel.summary.activity.stall


def test_triage(shown: Any) -> None:
    panel = shown("triage")
    assert told(printed(panel)["findings"], "title", "cycles") == [
        (one.title, one.cycles) for one in panel.findings.findings[:FIRST]
    ]


def test_health(shown: Any) -> None:
    panel = shown("trust")
    assert [note["title"] for note in printed(panel)["notes"]] == [note.title for note in panel.notes]


def test_a_search(app: App, shown: Any) -> None:
    app.ui.session.query.set(SearchQuery(r"ds_\w+|tile", is_regex=True))
    panel = shown("matches")
    rows = printed(panel)["rows"]
    assert rows
    assert [(row["where"], row["text"]) for row in rows] == list(
        zip(panel.hits.where, panel.hits.text, strict=True)
    )


def test_places_of_the_history_and_the_selected_instruction(app: App, shown: Any) -> None:
    app.ui.session.select_line(LINE)
    app.ui.session.select_hit(1)
    panel = shown("history")
    places = printed(panel)["places"]
    assert [one["argument"] for one in places] == list(
        dict.fromkeys(str(place.selection) for place in panel.places if str(place.selection))
    )[:24]
    panel = shown("token_details")
    one = printed(panel)["places"][0]
    token, facts = panel.facts.token, panel.facts
    assert (one["start"], one["stall"], one["issue"], one["idle"], one["hits_of_wave"]) == (
        token.start, token.stall, token.busy, token.idle, token.hits,
    )  # fmt: skip
    assert one["totals"]["latency"] == facts.totals.latency
    assert [(by["cause"], by["cycles"]) for by in one["causes"]] == [
        (by.cause.name.lower(), by.cycles) for by in facts.causes
    ]
    assert [by["instruction"] for by in one["waited_for"]] == [by.line for by in facts.waits.awaited]


def from_1(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The same with the hit, the second value, as people count."""
    return [(wave, hit + 1, *rest) for wave, hit, *rest in rows]


@pytest.mark.parametrize("measure", [0, 1, 3])
def test_a_distribution(measure: int, app: App, shown: Any) -> None:
    def choose(panel: Any) -> None:
        panel.measure.setCurrentIndex(measure)
        panel._choices_changed()

    app.ui.session.select_line(LINE)
    panel = shown("distribution", choose)
    document = printed(panel)
    histogram = panel.view.histogram
    assert document["bins"]["edges"] == histogram.edges.tolist()
    assert document["bins"]["hits"] == histogram.totals.tolist()
    names = ("wave", "hit", "start", "latency", "stall", "idle", "token")
    assert cells(panel.table, *names) == from_1(told(document["slowest"], *names))
    panel._list_bin(int(np.argmax(histogram.totals)))
    assert cells(panel.table, *names) == from_1(told(printed(panel)["slowest"], *names))


# -- over time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", ["se", "all", "cu", "simd"])
def test_occupancy(group: str, shown: Any) -> None:
    panel = shown("occupancy", lambda panel: panel.remembered["group"].choose(group))
    rows = printed(panel)["rows"]
    rows = rows if group == "all" else rows[1:]
    numbers = [occupancy_numbers(one.steps) for one in panel._answer]
    assert [(row["peak"], row["area"], row["ramp"]) for row in rows] == [
        (one.peak, one.area, one.ramp) for one in numbers
    ]
    panel.remembered["group"].choose("se")


def test_occupancy_without_what_is_hidden(shown: Any) -> None:
    panel = shown("occupancy")
    first, second, *more = (one.curve.name for one in panel.rows)
    panel.filter.set_on([first, *more], False)
    try:
        assert [row["se"] for row in printed(panel)["rows"]] == ["all", second]
    finally:
        panel.filter.set_on([first, *more], True)


def test_kernels(shown: Any) -> None:
    panel = shown("occupancy", lambda panel: panel.remembered["group"].choose("kernel"))
    rows = printed(panel)["rows"][1:]
    assert [(row["ids"], row["peak"]) for row in rows] == [
        (list(one.ids), occupancy_numbers(one.steps).peak) for one in panel._answer
    ]
    panel.remembered["group"].choose("se")


def test_wave_states(shown: Any) -> None:
    panel = shown("occupancy", lambda panel: panel.remembered["group"].choose("state"))
    rows = {row["state"]: row for row in printed(panel)["rows"]}
    for one in panel.rows:
        state = WaveState[one.curve.name.upper()]
        assert rows[state.name]["peak"] == one.curve.value.max()
        share = panel._answer.shares[state]
        assert rows[state.name]["share_of_wave_cycles"] == pytest.approx(share, abs=1e-6)
    panel.remembered["group"].choose("se")


def test_waves_of_the_timelines(app: App, shown: Any) -> None:
    session = app.ui.session
    session.set_view(TimeWindow(90_000, 100_000))
    panel = shown("compute_unit")
    rows = printed(panel)["rows"]
    store = session.store
    view = session.window.value
    waves = {str(wave.id): wave for row in panel._row_of_wave if (wave := store.wave(row)) is not None}
    assert {row["wave"] for row in rows} == {
        name for name, wave in waves.items() if wave.begin < view.end and wave.end > view.begin
    }
    for row in rows[:FIRST]:
        states = waves[row["wave"]].states
        inside = np.minimum(states.start + states.duration, view.end) - np.maximum(states.start, view.begin)
        stall = np.maximum(inside, 0)[states.state == WaveState.STALL].sum()
        assert row["stall"] == stall
    panel = shown("global_timeline")
    boxes = panel.all.boxes
    seen = panel.all.life >= 0
    rows = printed(panel)["rows"]
    assert sorted((row["start"], row["end"]) for row in rows) == sorted(
        zip(boxes.begin[seen].tolist(), boxes.end[seen].tolist(), strict=True)
    )
    panel = shown("utilization")
    trace = session.trace.value
    span, layout = trace.span, trace.architecture.layout
    for view in (session.window.value, session.outer(trace), TimeWindow(span.begin - 90, span.begin + 900)):
        session.set_view(view)
        settle(app)
        rows = printed(panel)["rows"]
        titles = [unit_title(row["unit"], layout) for row in rows]
        counted = [(row["busy"], row["cycles"]) for row in rows]
        assert [(title, *two) for title, two in zip(titles, counted, strict=True)] == [
            row[:3] for row in panel.sheet().rows
        ], "the view reaches beyond the capture, where nothing is known"
        assert panel.source.values == tuple(percent(*two) for two in counted)


def test_the_selected_wave(app: App, shown: Any) -> None:
    session = app.ui.session
    session.clock_range.set(TimeWindow(90_000, 100_000))
    panel = shown("wave_picker")
    document, row = printed(panel), session.trace.value.waves.row(session.selection.value.wave)
    span = session.trace.value.waves.span(row)
    assert (document["start"], document["end"]) == (span.begin, span.end)
    assert panel.counted.text().startswith(f"{document['counted']:,} of")
    life = printed(panel)
    assert sum(life["states"].values()) >= span.width  # what is recorded may outlast the life by some cycles


@pytest.mark.parametrize(
    ("metric", "content"), [(0, "source"), (1, "source"), (2, "kernel"), (3, "kernel"), (0, "sandwich")]
)
def test_frames(metric: int, content: str, app: App, shown: Any) -> None:
    def choose(panel: Any) -> None:
        panel.choices.metrics.setCurrentIndex(metric)
        panel.choices.contents.choose(content)

    app.ui.session.select_line(LINE)
    panel = shown("flamegraph", choose)
    try:
        scene = panel.view.scene
        frames = printed(panel)["frames"]
        at = np.flatnonzero(scene.boxes.width > 0)
        assert sorted((one["depth"], one["name"], one["total"]) for one in frames) == sorted(
            (int(scene.boxes.row[i]), scene.labels[i], int(scene.boxes.width[i])) for i in at.tolist()
        )
    finally:
        choose_back = {"content": "source", "metric": "total"}
        panel.load_state(choose_back)


# -- with captures that have what the sample lacks ------------------------------------------------------


def test_nothing_is_copied_without_a_capture(emptied: App) -> None:
    for dock in emptied.window.workspace.docks.values():
        assert dock.panel.command_line() is None
    assert "capture" in emptied.ui.commands["export.copy_command"].why_not()


def test_counters(emptied: App) -> None:
    open_sample(emptied, sample_path("counters"))
    show_panel(emptied, "counters")
    panel = emptied.window.workspace.docks["counters"].panel
    rows = {row["name"]: row for row in printed(panel)["counters"]}
    drawn = [row for row in panel._listed() if row.name in panel._drawn]
    assert drawn
    assert set(rows) == {row.name for row in drawn}
    for row in drawn:
        assert rows[row.name]["max"] == pytest.approx(row.extent[2])
        assert rows[row.name]["points"] == len(row.curve.time)


def test_events_with_a_filter(emptied: App) -> None:
    open_sample(emptied, sample_path("markers"))
    show_panel(emptied, "events")
    panel = emptied.window.workspace.docks["events"].panel
    names = ("start", "kind", "name", "place", "detail")
    rows = printed(panel)["rows"]
    assert told(rows, *names) == [(row[0], *row[2:6]) for row in list(panel.sheet().rows)[:FIRST]]
    text = rows[0]["name"][:4].upper()
    panel.bar.show_query(SearchQuery(text))
    panel.bar.edited.emit(panel.bar.query)
    rows = printed(panel)["rows"]
    assert rows
    assert len(rows) == len(list(panel.sheet().rows))
    panel.view.header.setSortIndicator(panel.view.table.column_of("start"), Qt.SortOrder.DescendingOrder)
    times = [row["start"] for row in printed(panel)["rows"]]
    assert times == [row[0] for row in panel.sheet().rows]


def test_a_comparison(emptied: App, tmp_path: Path) -> None:
    again = tmp_path / "ui_output_agent_1_dispatch_2"
    write_sample("matmul_small", again, seed=1)
    open_sample(emptied, sample_path("matmul_small"))
    emptied.window.baseline.open(again)
    show_panel(emptied, "compare")
    panel = emptied.window.workspace.docks["compare"].panel
    for by in ("instruction", "source", "class", "listing"):
        panel.mode.setCurrentIndex(panel.mode.findData(by))
        panel._show_mode()
        settle(emptied)
        document = printed(panel)
        names = ("cycles_a", "cycles_b", "delta")
        for mine, theirs in zip(cells(panel.view, *names), told(document["rows"], *names), strict=True):
            assert mine == pytest.approx(theirs, abs=0.002)


def test_samples_have_commands_too(emptied: App) -> None:
    open_sample(emptied, SAMPLES / "pc_sampling")
    for name, dock in emptied.window.workspace.docks.items():
        show_panel(emptied, name)
        words = dock.panel.command_line()
        if words is not None:
            assert main([*words[1:], "--json"], CACHE) == 0, words
    isa = emptied.window.workspace.docks["isa"].panel
    rows = printed(isa)["rows"]
    assert cells(isa.view, "instruction", "samples", "stalled") == told(
        rows, "instruction", "latency", "stall"
    )


def test_all_samples_are_printed_in_the_order_of_the_panel(emptied: App) -> None:
    open_sample(emptied, SAMPLES / "pc_sampling")
    panel = show_panel(emptied, "samples")
    assert len(panel.view.table.data_rows) > 20, "what rcv samples prints of itself"
    for order in (Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder):
        panel.view.header.setSortIndicator(panel.view.table.column_of("stalled"), order)
        rows = printed(panel)["rows"]
        listed = panel.view.table.data_rows.tolist()
        stalled = np.asarray(column_of(panel.view, "stalled").values)
        assert [row["stalled"] for row in rows] == stalled[listed].tolist()
    panel.view.header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)


def test_all_notes_are_printed(app: App, shown: Any) -> None:
    notes = app.ui.session.notes
    before, many = notes.shown.value, tuple(Note(str(n), f"note {n:02}") for n in range(25))
    notes.shown.set(many)
    words = shown("notes").command_line()
    notes.shown.set(before)
    assert "--top=0" in words, "rcv notes prints 20 of itself"


def test_the_window_opens_on_a_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[App] = []

    def begin(store: object, **how: bool) -> App:
        made.append(start(None, **how))
        return made[-1]

    def leave() -> int:
        settle(made[-1])
        shown.append(not made[-1].window.workspace.docks["loops"].panel.visibility.is_asleep)
        return 0

    shown: list[bool] = []
    monkeypatch.setattr("rcv_py.ui.app.start", begin)
    monkeypatch.setattr("rcv_py.ui.app.QApplication.exec", staticmethod(leave))
    assert run(OpenRequest(path=str(SAMPLE), panel="loops")) == 0
    assert shown == [True]
    with pytest.raises(UsageError, match="no panel 'nothing'"):
        run(OpenRequest(path=str(SAMPLE), panel="nothing"))
