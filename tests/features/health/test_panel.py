"""The health of a capture in the window: cards, a button, and the headline where one is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from rcv_py.base.problems import Severity
from rcv_py.base.text import plural
from rcv_py.features.health.health_panel import FINE, HealthPanel, note_text
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.ui.core.context import UiContext
from tests.support import folders
from tests.support.opened import sample_trace
from tests.support.window_fixtures import Reused
from tests.support.yaml_subset import jobs
from tests.ui.window import SAMPLES, settle

Settled = Callable[[], None]


@pytest.fixture
def health(ui: UiContext, qtbot: object, settled: Settled) -> Iterator[HealthPanel]:
    panel = HealthPanel(ui)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    panel.resize(1280, 300)
    panel.show()
    yield panel
    settled()


def all_cards(panel: HealthPanel, qtbot: object) -> None:
    """Wait for the cards, each of which is made in a turn of its own."""
    qtbot.waitUntil(lambda: len(panel.cards) == len(panel.notes or ()))  # type: ignore[attr-defined]


@pytest.fixture
def show(health: HealthPanel, open_in: Callable, settled: Settled, qtbot: object) -> Callable:
    def opened(trace: object) -> HealthPanel:
        open_in(trace, [trace.reader.read(list(range(len(trace.waves))))] if len(trace.waves) else [])
        qtbot.waitUntil(lambda: health.notes is not None)  # type: ignore[attr-defined]
        all_cards(health, qtbot)
        settled()
        return health

    return opened


@pytest.fixture
def warned() -> Trace:
    """A capture with two warnings: its code is on one line, and waves of other units lived longer."""
    trace = sample_trace("matmul_small")
    code, events = trace.code, trace.occupancy
    begin = int(events.time.min())
    stretched = begin + 2 * (events.time - begin)
    time = np.where(np.isin(events.cu, trace.waves.cu), events.time, stretched)
    one_line = replace(code, chain_line=np.full_like(code.chain_line, 9), chain_file=0 * code.chain_file)
    return replace(trace, code=one_line, occupancy=replace(events, time=time))


def test_nothing_is_open(health: HealthPanel) -> None:
    assert "Ctrl+O" in health.empty.sentence.text()
    assert health.sheet() is None
    (command,) = health.declared.actions(health.ui, lambda: health, lambda: health)
    assert command.why_not() == "No capture is open."


def test_a_card_for_every_note(show: Callable, warned: Trace) -> None:
    panel = show(warned)
    by_severity = Counter(note.severity for note in panel.notes)
    warnings, notes = by_severity[Severity.WARNING], by_severity[Severity.INFO]
    assert panel.verdict.text() == f"{warnings} warnings, {plural(notes, 'note')}"
    assert warnings == 2 == len(panel.notes) - notes
    assert [card.note.name for card in panel.cards] == [note.name for note in panel.notes]
    assert panel.cards[0].accessibleName().startswith("Warning: 100.0 % of the instructions")
    for card in panel.cards:
        assert card.focusPolicy() & Qt.FocusPolicy.TabFocus
        assert card.accessibleDescription()
        assert card.width() <= panel.width()
    rows = list(panel.sheet().rows)
    assert len(rows) == sum(len(note.evidence) for note in panel.notes)


@pytest.mark.parametrize("width", [320, 700, 1280])
def test_cards_do_not_cut_their_text(show: Callable, warned: Trace, width: int) -> None:
    panel = show(warned)
    panel.resize(width, 300)
    QApplication.processEvents()
    for card in panel.cards:
        assert card.geometry().right() <= width
        assert card.height() >= card.heightForWidth(card.width())


def test_a_healthy_capture_says_what_was_looked_at(show: Callable, tmp_path: Path) -> None:
    panel = show(replace(folders.opened(tmp_path), gfxip=10, target="gfx10"))
    assert panel.empty.sentence.text() == FINE
    assert panel.cards == []
    assert FINE.startswith("No problems in this capture.")


def test_the_input_file_is_copied(show: Callable) -> None:
    panel = show(open_trace(SAMPLES / "placeholder"))
    panel.copy.click()
    (job,) = jobs(QGuiApplication.clipboard().text())
    assert job["advanced_thread_trace"] is True
    (command,) = panel.declared.actions(panel.ui, lambda: panel, lambda: panel)
    assert command.why_not() == ""


def test_a_card_can_be_copied_and_leads_to_its_wave(show: Callable, warned: Trace, ui: UiContext) -> None:
    panel = show(warned)
    card = next(card for card in panel.cards if card.note.name == "representative")
    QTest.keyClick(card, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == note_text(card.note)
    card.findChild(QPushButton).click()
    assert str(ui.session.selection.value.wave) == card.note.number("wave of median life")


def test_icons_follow_the_theme(show: Callable, ui: UiContext) -> None:
    panel = show(open_trace(SAMPLES / "placeholder"))
    before = panel.cards[0]._icon.pixmap().toImage()
    ui.theme.toggle()
    assert panel.cards[0]._icon.pixmap().toImage() != before


def test_another_capture_replaces_the_cards(show: Callable, warned: Trace) -> None:
    show(warned)
    panel = show(open_trace(SAMPLES / "placeholder"))
    assert panel.cards[0].note.name == "placeholder"


def test_cards_that_say_the_same_stay_while_waves_are_read(
    health: HealthPanel, show: Callable, warned: Trace, qtbot: object
) -> None:
    panel = show(warned)
    before, notes = list(panel.cards), panel.notes
    changed = replace(notes[1], title="Said anew")
    for now in ((notes[0], changed, *notes[2:]), (notes[0], changed)):
        panel.ui.results.cell("health").set(now)
        qtbot.waitUntil(  # type: ignore[attr-defined]
            lambda now=now: [card.note for card in panel.cards] == list(now)
        )
        assert panel.cards[0] is before[0]
    assert before[2] not in panel.cards


def test_the_chooser_tells_the_headline_of_each_capture(
    tmp_path: Path, qtbot: object, reused: Reused
) -> None:
    folders.write(tmp_path / "whole")
    folders.write(tmp_path / "cut", {folders.WAVE: None})
    with reused() as app:
        app.window.opener.open(tmp_path)
        settle(app, qtbot)
        chooser = app.window.chooser
        assert app.window.pages.currentWidget() is chooser
        qtbot.waitUntil(lambda: bool(chooser.known))  # type: ignore[attr-defined]
        column = next(column for column in chooser.model.columns if column.id == "note")
        said = dict(zip((entry.name for entry in chooser.entries), column.values, strict=True))
        assert said["whole"] == "healthy"
        assert said["cut"]


def test_what_was_looked_at_before_the_panel_was_made_is_shown(
    ui: UiContext, open_in: Callable, settled: Settled, qtbot: object
) -> None:
    trace = open_trace(SAMPLES / "matmul_tiled")
    open_in(trace, [trace.reader.read(list(range(len(trace.waves))))])
    ui.results.want("health")
    qtbot.waitUntil(lambda: ui.results.cell("health").value is not None)  # type: ignore[attr-defined]
    panel = HealthPanel(ui)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    panel.show()
    settled()
    all_cards(panel, qtbot)
    assert panel.notes == ui.results.cell("health").value
    assert len(panel.cards) == len(panel.notes)
