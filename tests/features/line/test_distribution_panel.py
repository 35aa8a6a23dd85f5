"""The hits of a line: bars that count, an outlier that leads to its token, never of another line."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from rcv_py.features.line.distribution_panel import MEASURE_NAMES, DistributionPanel
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.state.selection import Selection
from rcv_py.ui.core.panel import UiContext
from tests.support.code_samples import batch, trace, two_waves
from tests.support.mouse import left_click
from tests.support.opened import all_waves
from tests.support.window_fixtures import Settled, panel_fixture
from tests.ui.window import SAMPLE

LDS = 2  # the line that both waves of the sample run twice


panel = panel_fixture(DistributionPanel, 1100, 280)


@pytest.fixture
def real(
    panel: DistributionPanel, ui: UiContext, open_in: Callable, settled: Settled, qtbot: object
) -> Trace:
    found = open_trace(SAMPLE)
    open_in(found, [all_waves(found)])
    line = int(np.argmax(found.code.stall))
    ui.session.select_line(line)

    def is_shown() -> bool:  # with as many bars as there is room for
        return panel.view is not None and panel.view.wanted == panel._want() and not ui.tasks.running

    qtbot.waitUntil(is_shown)
    settled()
    return found


def click(panel: DistributionPanel, bar: int) -> None:
    view = panel.view
    x = panel.plot.x_of_value((view.histogram.edges[bar] + view.histogram.edges[bar + 1]) / 2)
    left_click(panel.plot, QPoint(round(x), 90))


def test_it_says_what_to_do(panel: DistributionPanel, open_in: Callable, qtbot: object) -> None:
    assert "Ctrl+O" in panel.empty.sentence.text()
    open_in(trace(), [two_waves()])
    qtbot.waitUntil(lambda: "Select an instruction" in panel.empty.sentence.text())
    assert panel.sheet() is None


def test_bars_hold_every_hit_of_the_line(panel: DistributionPanel, real: Trace, ui: UiContext) -> None:
    line = ui.session.selection.value.line
    assert int(panel.view.histogram.totals.sum()) == int(real.code.hits[line])
    assert panel.view.spread.total == int(real.code.latency[line])
    rows = list(panel.sheet().rows)
    assert len(rows) == int(real.code.hits[line])
    assert dict(zip(panel.sheet().headers, rows[0], strict=True))["latency"] == panel.view.spread.max
    assert str(line) in panel.title.text()
    assert "median" in panel.plot.accessibleDescription()


def test_a_bar_lists_its_hits_and_a_row_leads_to_the_token(panel: DistributionPanel, real: Trace) -> None:
    full = np.flatnonzero(panel.view.histogram.totals)
    click(panel, int(full[-1]))
    rows = panel.view.in_bin(int(full[-1]))
    assert panel.shown.tolist() == rows.tolist()
    panel.table.chosen.emit(0)
    wave, token = panel.session.token()
    hits = panel.view.hits
    assert (wave.row, token) == (int(hits.wave[rows[0]]), int(hits.token[rows[0]]))
    assert panel.plot.token == panel.view.spread.max
    assert panel.table.current == 0
    assert panel.plot.selected == (int(full[-1]), int(full[-1]) + 1), "choosing a hit keeps the bar"


def test_a_line_that_is_selected_again_is_shown_again(
    panel: DistributionPanel, real: Trace, ui: UiContext, qtbot: object
) -> None:
    line = ui.session.selection.value.line
    ui.session.select(Selection(ui.session.selection.value.wave))
    qtbot.waitUntil(lambda: panel.view is None)
    ui.session.select_line(line)
    qtbot.waitUntil(lambda: panel.view is not None)
    hits = panel.view.hits.start[panel.view.ranked]
    longest = panel.view.values[panel.view.ranked]
    assert (np.diff(longest) <= 0).all()
    assert (np.diff(hits)[np.diff(longest) == 0] >= 0).all(), "equal ones in order of time"


def test_keys_walk_over_bars_with_hits(panel: DistributionPanel, real: Trace) -> None:
    full = np.flatnonzero(panel.view.histogram.totals).tolist()
    for key, bar in (
        (Qt.Key.Key_Right, full[0]),
        (Qt.Key.Key_End, full[-1]),
        (Qt.Key.Key_Left, full[-2]),
        (Qt.Key.Key_Home, full[0]),
    ):
        QTest.keyClick(panel.plot, key)
        assert panel.plot.selected == (bar, bar + 1)
        assert panel.shown.tolist() == panel.view.in_bin(bar)[:200].tolist()


def test_the_tip_says_range_and_count(panel: DistributionPanel, real: Trace) -> None:
    bar = int(np.argmax(panel.view.histogram.totals))
    tip = panel.plot.tip(bar)
    assert f"{int(panel.view.histogram.totals[bar])} hit" in tip
    assert "cycles" in tip
    assert panel.plot.tip(-1) == ""


def choose(panel: DistributionPanel, qtbot: object, box: str, at: int) -> None:
    before = panel.view
    widget = getattr(panel, box)
    widget.setCurrentIndex(at)
    qtbot.waitUntil(lambda: panel.view is not before)


def test_what_is_measured_can_be_chosen(panel: DistributionPanel, real: Trace, qtbot: object) -> None:
    for at, name in enumerate(MEASURE_NAMES):
        if at:
            choose(panel, qtbot, "measure", at)
        assert panel.view.wanted.measure == name
        assert panel.table.table.columns[0].id == name
    assert panel.save_state()["measure"] == name


def test_another_line_is_another_distribution(
    panel: DistributionPanel, ui: UiContext, open_in: Callable, qtbot: object
) -> None:
    open_in(trace(), [two_waves()])
    ui.session.select_line(LDS)
    qtbot.waitUntil(lambda: panel.view is not None and len(panel.view.hits) == 4)
    ui.session.select_line(7)
    qtbot.waitUntil(lambda: panel.view is not None and len(panel.view.hits) == 2)
    ui.session.select_line(5)
    qtbot.waitUntil(lambda: panel.empty.is_empty)
    assert "ran this instruction" in panel.empty.sentence.text()


def test_a_line_that_ran_once_a_wave_has_no_time_between(
    panel: DistributionPanel, ui: UiContext, open_in: Callable, qtbot: object
) -> None:
    open_in(trace(), [two_waves()])
    ui.session.select_line(7)
    qtbot.waitUntil(lambda: panel.view is not None)
    panel.measure.setCurrentIndex(3)
    qtbot.waitUntil(lambda: panel.empty.is_empty)
    assert "twice" in panel.empty.sentence.text()
    panel.measure.setCurrentIndex(0)
    qtbot.waitUntil(lambda: not panel.empty.is_empty)


def test_it_is_partial_while_waves_are_read(
    panel: DistributionPanel, ui: UiContext, open_in: Callable, qtbot: object
) -> None:
    waves = two_waves().waves
    open_in(trace(), [batch(waves[0])])
    ui.session.select_line(LDS)
    qtbot.waitUntil(lambda: panel.view is not None)
    assert panel.note.text().startswith("partial: 1 of 2 waves read · 2 hits")
    ui.session.store.add(batch(waves[1]))
    ui.session.wave_loaded()
    qtbot.waitUntil(lambda: panel.note.text().startswith("4 hits"))


def test_bars_follow_the_width(panel: DistributionPanel, real: Trace, qtbot: object) -> None:
    wide = panel.view.wanted.bins
    panel.resize(600, 280)
    qtbot.waitUntil(lambda: panel.view.wanted.bins < wide)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_have_the_accent_of_the_theme(panel: DistributionPanel, real: Trace, theme: str) -> None:
    panel.ui.settings["look.theme"] = "dark" if theme == "light" else "light"
    panel.ui.settings["look.theme"] = theme
    bar = int(np.argmax(panel.view.histogram.totals))
    image = panel.plot.grab().toImage()
    x = round(
        (
            panel.plot.x_of_value(panel.view.histogram.edges[bar])
            + panel.plot.x_of_value(panel.view.histogram.edges[bar + 1])
        )
        / 2
    )
    colors = {image.pixelColor(x, y).rgb() for y in range(image.height())}
    assert panel.ui.theme.role("accent").rgb() in colors
    assert panel.ui.theme.role("canvas").rgb() in {
        image.pixelColor(2, y).rgb() for y in range(image.height())
    }
