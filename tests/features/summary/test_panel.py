"""The capture on one page: true numbers, cards that fit, a table that sorts and copies."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip

from rcv_py.features.summary.panel import SummaryPanel
from rcv_py.features.summary.widgets import GAP
from rcv_py.formats.open import open_trace
from rcv_py.ui.core.panel import UiContext
from tests.analysis import build
from tests.support.opened import all_waves, whole_sample
from tests.support.pmc import write_long
from tests.support.window_fixtures import Settled, panel_fixture
from tests.ui.window import SAMPLE, SAMPLES

summary = panel_fixture(SummaryPanel, 1280, 300)


@pytest.fixture
def sample(summary: SummaryPanel, open_settled: Callable) -> SummaryPanel:
    trace = open_trace(SAMPLE)
    open_settled(trace, [all_waves(trace)])
    return summary


def test_counters_of_the_profiler_beside_the_capture(
    summary: SummaryPanel, open_settled: Callable, open_in: Callable, qtbot: object, tmp_path: Path
) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_3"
    shutil.copytree(SAMPLE, folder)
    trace = open_trace(folder)
    counters = {"TCC_HIT_sum": 45, "TCC_MISS_sum": 55, "TCC_EA0_RDREQ_sum": 50, "TCC_EA0_RDREQ_32B_sum": 0}
    write_long(tmp_path / "counters.csv", [(trace.kernel_name, 3, counters), ("another", 4, counters)])
    open_in(trace)
    qtbot.waitUntil(summary.card_of[summary.memory].isVisible)
    assert "L2 hit rate\t45.0 %: 45 of 100 lookups" in summary.memory.text()
    assert "branch\treusing" in summary.memory.text()
    open_settled(open_trace(SAMPLE))
    assert not summary.card_of[summary.memory].isVisible()


def test_cards_fill_as_waves_are_read(
    summary: SummaryPanel, ui: UiContext, open_settled: Callable, settled: Settled, qtbot: object
) -> None:
    trace = open_trace(SAMPLE)
    open_settled(trace)
    assert "partial: states and pipes of 0 of" in summary.note.text()
    assert not summary.card_of[summary.pipes].isVisible()
    assert summary.activity.isVisible()
    assert not summary.states.isVisible()
    ui.session.store.add(trace.reader.read(list(range(len(trace.waves)))))
    ui.session.wave_loaded()
    qtbot.waitUntil(lambda: not summary.note.text())
    settled()
    assert summary.card_of[summary.pipes].isVisible()
    assert summary.states.isVisible()


def test_numbers_say_their_whole_and_their_meaning(sample: SummaryPanel) -> None:
    text = sample.facts.text()
    assert "of the duration" in text
    assert any("SIMD-cycles" in meter.meaning for meter in sample.pipes.meters)
    assert "SIMD-cycles" not in text, "the meters show these shares"
    for fact in sample.facts.facts:
        assert fact.meaning, fact.id
    for meter in sample.pipes.meters:
        assert meter.meaning.endswith((".", "%", "more")), meter.name
    assert sum(meter.value for meter in sample.activity.meters) == pytest.approx(100)
    assert f"of {sample.summary.activity.total:,} cycles" in sample.activity.tip(0)
    assert sample.activity.tip(9) == ""


@pytest.mark.parametrize("width", [360, 700, 1280])
def test_what_a_number_is_of_is_never_cut(sample: SummaryPanel, width: int) -> None:
    sample.resize(width, 400)
    QApplication.processEvents()
    for fact, label in zip(sample.facts.facts, sample.facts._labels[2::3], strict=True):
        assert label.text() == fact.of
        assert label.height() >= label.heightForWidth(label.width())


@pytest.mark.parametrize("width", [700, 1000, 1280, 1920])
def test_cards_fit_at_every_width(sample: SummaryPanel, width: int) -> None:
    sample.resize(width, 300)
    QApplication.processEvents()
    boxes = [card.geometry() for card in sample.cards.cards]
    assert len(boxes) == 4
    for box in boxes:
        assert box.left() >= GAP
        assert box.right() < width
    for first in boxes:
        assert not any(first.intersects(second) for second in boxes if second is not first)
    if width >= 1280:
        assert len({box.top() for box in boxes}) == 1
        assert max(box.bottom() for box in boxes) < 300


def test_a_card_can_be_reached_and_copied(sample: SummaryPanel) -> None:
    for card in sample.cards.cards:
        assert card.focusPolicy() & Qt.FocusPolicy.TabFocus
        assert card.accessibleName()
    sample.card_of[sample.facts].setFocus()
    QTest.keyClick(sample.card_of[sample.facts], Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert "Waves traced" in QGuiApplication.clipboard().text()
    QTest.keyClick(sample.card_of[sample.activity], Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert "exec\t" in QGuiApplication.clipboard().text()


def test_the_mouse_explains_bars(sample: SummaryPanel) -> None:
    for widget, place, word in (
        (sample.pipes, QPoint(20, 4), "SIMD issuing"),
        (sample.states, QPoint(4, 4), "exec"),
        (sample.activity, QPoint(120, 4), "issue"),
    ):
        event = QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place))
        QApplication.sendEvent(widget, event)
        assert word in QToolTip.text(), word
    QToolTip.hideText()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_follow_the_theme(sample: SummaryPanel, ui: UiContext, theme: str) -> None:
    ui.settings["look.theme"] = "dark" if theme == "light" else "light"
    ui.settings["look.theme"] = theme
    image = sample.states.grab().toImage()
    seen = {image.pixelColor(x, y).rgb() for x in range(image.width()) for y in range(image.height())}
    assert {ui.theme.state(2).rgb(), ui.theme.state(3).rgb()} <= seen
    picture = sample.pipes.grab().toImage()
    colors = {picture.pixelColor(x, y).rgb() for x in range(picture.width()) for y in range(picture.height())}
    assert ui.theme.role("accent").rgb() in colors


def test_counters_have_bars(summary: SummaryPanel, open_settled: Callable) -> None:
    open_settled(*whole_sample("counters_units"))  # one of the units that were counted had no wave
    assert summary.card_of[summary.counters].isVisible()
    assert [meter.name for meter in summary.counters.meters][:4] == ["MFMA", "MFMA Peak", "VALU", "VALU Peak"]


def test_an_empty_capture_says_why(
    summary: SummaryPanel, open_in: Callable, settled: Settled, qtbot: object
) -> None:
    open_in(build.trace(build.code([]), [], occupancy=build.events([])))
    qtbot.waitUntil(lambda: summary.empty.is_empty)
    settled()
    assert "nothing to sum up" in summary.empty.sentence.text()


def test_reasons_have_the_colours_of_both_themes(
    summary: SummaryPanel, ui: UiContext, open_settled: Callable
) -> None:
    open_settled(open_trace(SAMPLES / "pc_sampling"))
    found = [reason for reason, _ in summary.summary.reasons.ranked()]
    for theme in ("light", "dark"):
        ui.settings["look.theme"] = theme
        image = summary.reasons.grab().toImage()
        seen = {image.pixelColor(x, y).rgb() for x in range(image.width()) for y in range(image.height())}
        assert ui.theme.reason(found[0]).rgb() in seen
        assert ui.theme.role("line").rgb() in seen, "issued"
