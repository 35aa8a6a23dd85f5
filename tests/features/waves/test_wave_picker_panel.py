"""Wave, instruction, search, labels, history and problems: what they show and what a click does."""

import numpy as np
import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from rcv_py.analysis.timeline.token_details import (
    LineTotals,
    line_totals,
    producers,
    state_cycles,
    token_details,
    waiters,
)
from rcv_py.features.line.token_facts import FactsText, TokenFacts
from rcv_py.features.waves.wave_picker_panel import by_speed, changed, choices
from rcv_py.formats.open import open_trace
from rcv_py.model.ids import WaveId
from rcv_py.model.tokens import Waits
from rcv_py.model.waves import TracedWave, WaveIndex
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import SearchQuery
from rcv_py.ui.app import App
from rcv_py.ui.core.times import Times, cycles_in
from tests.support import drawing
from tests.ui.window import SAMPLE, settle, show_panel


def index(*ids: tuple[int, int, int, int], length: tuple[int, ...] = ()) -> WaveIndex:
    """A wave index of the given waves."""
    columns = np.array(ids, dtype=np.int64).T
    count = len(ids)
    zero = np.zeros(count, dtype=np.int64)
    return WaveIndex(
        *columns, begin=zero, end=np.array(length or (1,) * count), cu=zero, sa=zero, kernel=zero, size=zero,
        file=("",) * count,
    )  # fmt: skip


def wave(tokens: str, states: str, waits: Waits | None = None) -> TracedWave:
    """A wave of drawings."""
    lines = drawing.tokens(tokens, lines=[0, 1, 0, 2][: len(drawing.tokens(tokens))])
    return TracedWave(0, WaveId(0, 0, 0, 0), 1, 0, len(states), lines, drawing.states(states), waits)


def test_details_of_a_token() -> None:
    details = token_details(wave("vVV..lL|vV", "EEEWWSSEE"), 2)
    assert (details.line, details.hit, details.hits) == (0, 1, 2)
    assert (details.start, details.stall, details.busy, details.idle) == (7, 1, 1, 0)
    assert token_details(wave("vVV..lL|vV", "EEEWWSSEE"), 1).idle == 2
    assert token_details(wave("vVV..lL|vV", "EEEWWSSEE"), 1).states == (0, 0, 0, 0, 2)


def test_states_are_clipped_to_the_time_asked_for() -> None:
    assert state_cycles(wave("vV", "IIEEWWSS"), 1, 7) == (0, 1, 2, 2, 1)


def test_a_wait_lists_its_producers_and_they_list_it() -> None:
    waits = Waits(np.array([5, 5, 7]), np.array([0, 1, 3, 4]), np.array([1, 2, 3, 1]))
    assert producers(waits, 5, 0, hits=2) == (1,)
    assert producers(waits, 5, 1, hits=2) == (2, 3)
    assert producers(waits, 5, None, hits=2) == (1, 2, 3)
    assert producers(waits, 5, 1, hits=3) == (1, 2, 3)  # which of three released nothing is not known
    assert waiters(waits, 1) == (5, 7)
    assert waiters(None, 1) == producers(None, 1, 0, hits=1) == ()


def test_the_cascade_keeps_what_is_near() -> None:
    waves = index((0, 0, 1, 0), (0, 2, 4, 0), (1, 0, 0, 0), (1, 2, 3, 0), (1, 2, 3, 5), (1, 3, 4, 0))
    assert choices(waves, WaveId(1, 2, 3, 0)) == ([0, 1], [0, 2, 3], [3], [0, 5])
    assert changed(waves, WaveId(0, 2, 4, 0), "se", 1) == WaveId(1, 2, 3, 0)
    assert changed(waves, WaveId(1, 2, 3, 5), "simd", 3) == WaveId(1, 3, 4, 0)
    assert changed(waves, WaveId(1, 2, 3, 0), "wid", 5) == WaveId(1, 2, 3, 5)
    assert changed(waves, WaveId(1, 2, 3, 0), "se", 9) is None


def test_fastest_median_slowest() -> None:
    ranked = by_speed(index(*[(0, 0, slot, 0) for slot in range(4)], length=(40, 10, 30, 20)), 0)
    assert ranked == {"fastest": 1, "median": 3, "slowest": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("109,776", 109776),
        (" 12 000 ", 12000),
        ("-4", -4),
        ("", None),
        ("1e5", None),
        ("١٢", None),
        ("9" * 30, None),
    ],
)
def test_cycles_are_read_as_people_write_them(text: str, value: int | None) -> None:
    assert cycles_in(text) == value


def test_the_wave_panel_follows_and_leads(app: App) -> None:
    session, picker = app.ui.session, app.window.workspace.docks["wave_picker"].panel
    trace = session.trace.value
    last = trace.waves.id(len(trace.waves) - 1)
    session.select_wave(last)
    settle(app)
    assert [picker.boxes[name].currentText() for name in ("se", "simd", "slot", "wid")] == [
        str(value) for value in (last.se, last.simd, last.slot, last.wid)
    ]
    assert f"{trace.waves.span(len(trace.waves) - 1).width:,} cycles" in picker.length.text()
    assert "tokens" in picker.shares.text()
    picker.speeds["slowest"].click()
    row = trace.waves.row(session.selection.value.wave)
    assert (trace.waves.end - trace.waves.begin)[row] == (trace.waves.end - trace.waves.begin).max()


def test_a_range_that_nobody_chose_is_what_was_recorded(app: App) -> None:
    session, picker = app.ui.session, app.window.workspace.docks["wave_picker"].panel
    trace = session.trace.value
    times = np.concatenate([trace.occupancy.time, trace.waves.begin, trace.waves.end])
    session.clock_range.set(None)
    settle(app)
    assert (picker.begin.text(), picker.end.text()) == (f"{times.min():,}", f"{times.max():,}")


def test_the_clock_range_is_checked(app: App) -> None:
    session, picker = app.ui.session, app.window.workspace.docks["wave_picker"].panel
    begin = session.trace.value.span.begin
    picker.begin.setText(f"{begin:,}")
    picker.end.setText(str(begin - 5))
    picker.end.editingFinished.emit()
    assert session.clock_range.value is None
    assert picker.end.property("invalid")
    picker.end.setText(str(begin + 100))
    picker.end.editingFinished.emit()
    assert session.clock_range.value == TimeWindow(begin, begin + 100)
    settle(app)
    assert not picker.end.property("invalid")
    assert "count" in picker.counted.text()
    picker.reset.click()
    assert session.clock_range.value is None
    picker.use_view.click()
    assert session.clock_range.value == session.view.value


def test_the_instruction_panel_tells_hits_waits_and_totals(app: App) -> None:
    session, panel = app.ui.session, app.window.workspace.docks["token_details"].panel
    code = session.trace.value.code
    tokens = session.wave().tokens
    line = int(np.bincount(tokens.line[tokens.line >= 0]).argmax())
    session.select_line(line)
    session.select_hit(0)
    settle(app)
    assert code.text[line] in panel.head.toPlainText()
    assert f"{int(code.hits[line]):,}" in panel.all.toPlainText()
    assert panel.of.text() == f"of {session.hits():,}"
    panel.after.click()
    settle(app)
    assert session.selection.value.hit == 1
    panel.hit.setText("1")
    panel.hit.editingFinished.emit()
    assert session.selection.value.hit == 0
    totals = line_totals(code, line)
    assert totals.program_total == int(code.latency.sum() + code.idle.sum())
    panel.text.anchorClicked.emit(QUrl("line:2"))
    assert session.selection.value.line == 2
    panel.text.anchorClicked.emit(QUrl("file:///etc/passwd"))
    assert session.selection.value.line == 2


def test_small_shares_are_text_not_markup() -> None:
    trace = open_trace(SAMPLE)
    totals = LineTotals(hits=1, latency=4, stall=0, idle=0, program_total=100_000)
    html = FactsText(trace, TokenFacts(1, totals), Times()).of_all(None, (), "")
    document = QTextDocument()
    document.setHtml(html)
    assert "<0.1 %" in document.toPlainText()


def test_a_search_makes_the_panel_no_wider(app: App, qtbot: QtBot) -> None:
    panel = app.window.workspace.panel("search")
    matches = app.window.workspace.panel("matches")
    show_panel(app, "matches")
    before = panel.minimumSizeHint().width()
    app.ui.session.query.set(SearchQuery("v_"))
    qtbot.waitUntil(lambda: bool(len(matches.hits.lines)))
    assert panel.bar.down.isEnabled()
    assert panel.minimumSizeHint().width() == before


def test_search_counts_walks_and_marks(app: App, qtbot: QtBot) -> None:
    session, panel = app.ui.session, app.window.workspace.panel("matches")
    bar = app.window.workspace.panel("search").bar
    app.window.workspace.show_panel("matches")
    code = session.trace.value.code
    expected = [row for row, text in enumerate(code.text) if "v_" in text.casefold()]
    session.query.set(SearchQuery("v_"))
    qtbot.waitUntil(lambda: len(panel.hits.lines) >= len(expected))
    assert [line for line in panel.hits.lines if line >= 0] == expected
    panel.step(1)
    settle(app)
    assert session.selection.value.line == expected[0]
    assert bar.count.text() == f"1 of {len(panel.hits.lines):,}"
    app.ui.commands.run("search.next")
    assert session.selection.value.line == expected[1]
    session.query.set(SearchQuery("(", is_regex=True))
    qtbot.waitUntil(lambda: bool(panel.hits.problem))
    assert panel.empty.is_empty
    session.query.set(SearchQuery("no such thing"))
    qtbot.waitUntil(lambda: "no such thing" in panel.empty.sentence.text())


def test_history_and_bookmarks(app: App) -> None:
    session, workspace = app.ui.session, app.window.workspace
    history = workspace.panel("history")
    session.select_line(4)
    view = session.view.value
    session.toggle_bookmark()
    session.select_line(6)
    session.zoom(0.5)
    show_panel(app, "history")
    show_panel(app, "history")
    assert history.places[0].visit == -1
    row = next(
        at for at, place in enumerate(history.places) if place.visit >= 0 and place.selection.line == 4
    )
    history.view.chosen.emit(row)
    assert session.selection.value.line == 4
    assert session.view.value == view
    assert next(iter(history.sheet().rows))[0] == "bookmark"


def test_waves_that_could_not_be_read_are_not_said_to_count(app: App) -> None:
    session, picker = app.ui.session, app.window.workspace.docks["wave_picker"].panel
    waves = len(session.trace.value.waves)
    assert picker.counted.text() == f"All {waves} waves count."
    session.store.missing[0] = "0.json is missing."
    session.wave_loaded()
    settle(app)
    assert picker.counted.text() == f"{waves - 1} of {waves} waves count. 1 wave could not be read."
    session.store.missing.clear()
    session.wave_loaded()
