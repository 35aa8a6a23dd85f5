"""Where the window predicts: critical path, roofline, the selected one."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from rcv_py.analysis.overview.roofline import Computed, Scope
from rcv_py.analysis.program.live_registers import RegisterFile, live_registers
from rcv_py.analysis.program.operations import MATRIX, VECTOR
from rcv_py.analysis.whatif.path_line import PathLine
from rcv_py.features.isa.rows import HELD
from rcv_py.features.line.token_facts import described
from rcv_py.features.roofline.chart import RooflineChart, points_of, roofs_of
from rcv_py.features.summary.panel import held_facts
from rcv_py.features.time.compute_unit_panel import PATH
from rcv_py.model.window import TimeWindow
from rcv_py.ui.app import App
from rcv_py.ui.timeline.critical_path import PathRows
from tests.formats.test_isa_described import FILE
from tests.ui.window import open_sample, run_command, settle, window

IS_PAINTED = True
LINE = 113  # s_waitcnt vmcnt(3) of the sample
LEFT, NO_KEY = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture(scope="module")
def opened(qapp: object) -> Iterator[App]:
    with window(size=(1920, 1080), is_painted=IS_PAINTED) as app:
        yield app


@pytest.fixture
def app(opened: App) -> App:
    if opened.ui.session.trace.value is None:
        open_sample(opened)
    return opened


# -- on demand ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["whatif", "roofline"])
def test_it_is_a_standing_tab_that_stays_closed_where_it_was_closed(name: str, app: App) -> None:
    workspace = app.window.workspace
    dock = workspace.docks[name]
    workspace.reset_layout()
    assert dock.is_open
    run_command(app, f"view.panel_{name}")
    assert dock.is_seen
    dock.close()
    kept = workspace.save()
    workspace.reset_layout()
    assert dock.is_open
    workspace.load(kept)
    settle(app)
    assert not dock.is_open, "it stays away with the layout that had it not"
    workspace.reset_layout()


# -- the critical path ----------------------------------------------------------------------------------


def test_stretches_and_ways_of_a_path() -> None:
    def column(*values: int) -> np.ndarray:
        return np.array(values, dtype=np.int64)

    # wave 7 until 20, then wave 8 until 50, then one that is not shown, then wave 7 again
    path = PathLine(
        wave=column(7, 7, 8, 9, 7),
        line=column(1, 2, 3, 4, 5),
        cause=column(0, 1, 3, 0, 0),
        begin=column(0, 10, 20, 50, 60),
        end=column(10, 20, 50, 60, 100),
    )
    rows = PathRows.of(path, {7: 0, 8: 2})
    assert rows.row.tolist() == [0, 2, -1, 0]
    stretches, ways = rows.boxes(TimeWindow(0, 100), 200.0)
    assert stretches.tolist() == [[0.0, 0.0, 40.0], [0.0, 120.0, 200.0], [2.0, 40.0, 100.0]]
    assert ways.tolist() == [[40.0, 0.0, 2.0]], "from one row to the other, none to what is not shown"
    few, _ = rows.boxes(TimeWindow(0, 1_000_000), 100.0)
    assert len(few) == 2, "what falls into one pixel is drawn once"


def test_the_critical_path_is_drawn_when_it_is_switched_on(app: App, qtbot: QtBot) -> None:
    panel = app.window.workspace.panel("compute_unit")
    assert PATH in panel.filter.hidden
    assert panel.path is None, "nothing is computed before"
    panel.filter.set_on([PATH], True)
    qtbot.waitUntil(lambda: panel.path is not None and panel.path.path is not None)
    settle(app)
    path, index = panel.path.path, app.ui.session.trace.value.waves
    row = app.ui.session.wave_row
    unit = np.flatnonzero((index.se == index.se[row]) & (index.cu == index.cu[row]))
    assert path.cycles == int(index.end[unit].max() - index.begin[unit].min()), "its length is the span"
    qtbot.waitUntil(lambda: panel.legend.swatches[0].name == "critical path")
    at = len(path) // 2
    tip = panel.path.tip(int(path.wave[at]), int(path.begin[at]))
    assert "critical path" in tip
    panel.filter.set_on([PATH], False)
    settle(app)
    assert panel.path.path is None
    qtbot.waitUntil(lambda: panel.legend.swatches[0].name != "critical path")


# -- the roofline ---------------------------------------------------------------------------------------


def scope(*computed: Computed, first: int = 0, is_loop: bool = False, moved: float = 100.0) -> Scope:
    return Scope(
        first=first,
        last=first + 9,
        is_loop=is_loop,
        cycles=1000.0,
        computed=computed,
        bytes=moved,
        local_bytes=0.0,
        roof=10.0,
        matrix_busy=0.5,
    )


def computed(unit: str, flop: float, peak: float) -> Computed:
    return Computed(unit=unit, type="f16", flop=flop, rate=flop / 1000, peak=peak)


def test_points_and_roofs() -> None:
    scopes = (
        scope(computed(MATRIX, 50_000.0, 512.0), computed(VECTOR, 10_000.0, 64.0)),
        scope(computed(MATRIX, 50_000.0, 512.0), first=20, is_loop=True, moved=0.0),
        scope(first=40, is_loop=True),
    )
    (kernel,) = points_of(scopes)
    assert (kernel.scope, kernel.intensity, kernel.rate) == (0, 600.0, 60.0), "the others have no place"
    assert roofs_of(scopes) == {f"{MATRIX} f16": 512.0, f"{VECTOR} f16": 64.0}


def test_a_point_lies_where_its_numbers_are(qtbot: QtBot, app: App) -> None:
    chart = RooflineChart(app.ui.theme)
    qtbot.addWidget(chart)
    chart.resize(500, 300)
    chart.show_scopes((scope(computed(MATRIX, 50_000.0, 512.0)),))
    (point,) = chart.points
    across, up = chart.axes()
    spot = chart.place(point)
    assert chart.area.contains(spot)
    assert across.place(51.2) > across.place(20.0), "the ridge, 512 / 10, lies right of 20"
    # On a logarithmic axis equal ratios are equal lengths.
    assert across.place(100) - across.place(10) == pytest.approx(across.place(1000) - across.place(100))
    assert up.place(500) < up.place(50), "more is higher"
    chosen: list[int] = []
    chart.chosen.connect(chosen.append)
    QTest.mouseClick(chart, LEFT, NO_KEY, spot.toPoint())
    assert chosen == [0]
    assert "50 FLOP/cycle" in chart.tip(point)
    for theme in ("dark", "light"):
        app.ui.settings["look.theme"] = theme
        assert not chart.grab().isNull()


def test_the_roofline_panel_shows_what_the_command_prints(app: App, qtbot: QtBot) -> None:
    app.ui.commands.run("view.panel_roofline")
    panel = app.window.workspace.panel("roofline")
    qtbot.waitUntil(lambda: panel.roofline is not None)
    settle(app)
    assert panel.roofline.scopes
    assert len(list(panel.sheet().rows)) == len(panel.roofline.scopes)
    assert panel.command_line()[:2] == ("rcv", "roofline")
    assert panel.canvas() is panel.chart
    loop = next((at for at, one in enumerate(panel.roofline.scopes) if one.is_loop), None)
    assert loop is not None
    panel.table.chosen.emit(loop)
    assert app.ui.session.selection.value.line == panel.roofline.scopes[loop].first
    assert panel.chart.selected == loop
    app.window.workspace.docks["roofline"].close()


# -- registers ------------------------------------------------------------------------------------------


def test_registers_that_are_held_are_a_column_when_somebody_wants_it(app: App) -> None:
    view, code = app.window.workspace.panel("isa").view, app.ui.session.trace.value.code
    assert not view.table.has_column(HELD)
    run_command(app, "isa.registers")
    column = view.table.columns[view.table.column_of(HELD)]
    pressure = live_registers(code).pressure
    assert np.array_equal(column.values, pressure[:, RegisterFile.VGPR] + pressure[:, RegisterFile.AGPR])
    peak = int(column.values.argmax())
    assert f"instruction {peak}" in view.tip(peak, HELD)
    assert "VGPR" in view.tip(peak, HELD)
    assert not view.grab().isNull()
    run_command(app, "isa.registers")
    assert not view.table.has_column(HELD)


def test_the_summary_says_the_most_that_are_held(app: App) -> None:
    trace = app.ui.session.trace.value
    facts = {fact.name: fact for fact in held_facts(trace)}
    kernel = trace.code.main_kernel
    held = live_registers(trace.code).pressure[kernel.first : kernel.stop]
    for file in (RegisterFile.VGPR, RegisterFile.SGPR):
        assert facts[file.name].value == int(held[:, file].max())


# -- the selected instruction ---------------------------------------------------------------------------


def test_the_selected_instruction_says_what_it_does_and_who_hides_it(app: App) -> None:
    app.ui.session.select_line(LINE)
    settle(app)
    panel = app.window.workspace.panel("token_details")
    assert panel.facts.help.mnemonic == "s_waitcnt"
    assert panel.facts.help.what not in panel.head.toPlainText(), "the next line says it with its number"
    assert "waits until vmcnt is at most 3" in panel.head.toPlainText()
    assert "Hidden by" in panel.text.toPlainText()
    assert 0 <= panel.facts.hidden.covered <= panel.facts.token.stall


def test_a_file_of_amd_adds_its_words_and_one_that_is_none_says_so(tmp_path: Path) -> None:
    file = tmp_path / "isa.xml"
    file.write_text(FILE)
    assert described(str(file), "gfx942", "v_add_f32_e32") == "Add two floats & more."
    assert described(str(file), "gfx942", "v_unheard_of") == ""
    assert described("", "gfx942", "v_add_f32") == ""
    other = tmp_path / "other.xml"
    other.write_text("no XML")
    assert "other.xml" in described(str(other), "gfx942", "v_add_f32")


def test_an_instruction_is_tried_without_its_cost(app: App) -> None:
    app.ui.session.select_line(LINE)
    settle(app)
    panel = app.window.workspace.panel("token_details")
    assert "What if it took no time?" in panel.text.toPlainText()
    panel.text.anchorClicked.emit(QUrl("try:0"))
    settle(app)
    assert app.ui.session.experiments.value[0].free == (LINE,)
    assert app.window.workspace.docks["whatif"].is_seen
    app.ui.session.experiments.set(())
    app.window.workspace.docks["whatif"].close()
