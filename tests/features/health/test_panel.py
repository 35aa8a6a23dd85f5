"""The health of a capture in the window: notes, a button, and the headline where one is chosen."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QUrl
from PySide6.QtGui import QGuiApplication

from rcv_py.base.problems import Problem, Severity
from rcv_py.base.text import plural
from rcv_py.features.health.panel import FINE, TrustPanel
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import UiContext
from tests.support import folders
from tests.support.opened import all_waves, sample_trace
from tests.support.window_fixtures import Settled, panel_fixture
from tests.support.yaml_subset import jobs
from tests.ui.window import SAMPLES, settle

health = panel_fixture(TrustPanel, 1280, 300)


@pytest.fixture
def show(health: TrustPanel, open_settled: Callable) -> Callable:
    def opened(trace: object) -> TrustPanel:
        open_settled(trace, [all_waves(trace)] if len(trace.waves) else [])
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


def test_nothing_is_open(health: TrustPanel) -> None:
    assert "Ctrl+O" in health.empty.sentence.text()
    assert health.sheet() is None
    (command,) = health.declared.actions(health.ui, lambda: health, lambda: health)
    assert command.why_not() == "No capture is open."


def test_every_note_says_evidence_impact_and_fix(show: Callable, warned: Trace) -> None:
    panel = show(warned)
    by_severity = Counter(note.severity for note in panel.notes)
    warnings, notes = by_severity[Severity.WARNING], by_severity[Severity.INFO]
    assert panel.verdict.text() == f"{warnings} warnings, {plural(notes, 'note')}"
    assert warnings == 2 == len(panel.notes) - notes
    shown = panel.text.toPlainText()
    assert "Warning · 100.0 % of the instructions" in shown
    for note in panel.notes:
        for text in (note.title, note.evidence_text, note.consequence, note.remedy):
            assert text in shown, note.name
    rows = list(panel.sheet().rows)
    assert len(rows) == sum(len(note.evidence) for note in panel.notes)


def test_a_healthy_capture_says_what_was_looked_at(show: Callable, tmp_path: Path) -> None:
    panel = show(replace(folders.opened(tmp_path), gfxip=10, target="gfx10"))
    assert panel.empty.sentence.text() == FINE
    assert FINE.startswith("No problems in this capture.")


def test_the_input_file_is_copied(show: Callable) -> None:
    panel = show(open_trace(SAMPLES / "placeholder"))
    panel.copy.click()
    (job,) = jobs(QGuiApplication.clipboard().text())
    assert job["advanced_thread_trace"] is True
    (command,) = panel.declared.actions(panel.ui, lambda: panel, lambda: panel)
    assert command.why_not() == ""


def test_a_note_leads_to_its_wave(show: Callable, warned: Trace, ui: UiContext) -> None:
    panel = show(warned)
    note = next(note for note in panel.notes if note.name == "representative")
    name = note.number("wave of median life")
    assert f"Select {name}" in panel.text.toPlainText()
    panel.text.anchorClicked.emit(QUrl("wave:" + ":".join(re.findall(r"\d+", name))))
    assert str(ui.session.selection.value.wave) == name


def test_colours_follow_the_theme(show: Callable, ui: UiContext) -> None:
    panel = show(open_trace(SAMPLES / "placeholder"))
    for _ in range(2):
        assert ui.theme.role("error").name() in panel.text.toHtml()
        ui.theme.toggle()


def test_problems_come_first_and_the_worst_of_them(show: Callable, warned: Trace, ui: UiContext) -> None:
    panel = show(warned)
    ui.session.problems.set(
        (
            Problem(Severity.INFO, "a", "A is odd."),
            Problem(Severity.ERROR, "b.json", "b.json is lost.", "Copy it again."),
        )
    )
    shown = panel.text.toPlainText()
    assert shown.startswith("Error · b.json is lost.")
    places = [shown.index(text) for text in ("Copy it again.", "A is odd.", panel.notes[0].title)]
    assert places == sorted(places)


def test_another_capture_replaces_the_notes(show: Callable, warned: Trace) -> None:
    title = show(warned).notes[0].title
    panel = show(open_trace(SAMPLES / "placeholder"))
    assert title not in panel.text.toPlainText()
    assert panel.notes[0].title in panel.text.toPlainText()


def test_the_chooser_tells_the_headline_of_each_capture(blank: App, tmp_path: Path, qtbot: object) -> None:
    folders.write(tmp_path / "whole")
    folders.write(tmp_path / "cut", {folders.WAVE: None})
    blank.window.opener.open(tmp_path)
    settle(blank)
    chooser = blank.window.pages.chooser
    assert blank.window.pages.currentWidget() is chooser
    qtbot.waitUntil(lambda: bool(chooser.known))
    column = next(column for column in chooser.model.columns if column.id == "note")
    said = dict(zip((entry.name for entry in chooser.entries), column.values, strict=True))
    assert said["whole"] == "healthy"
    assert said["cut"]


def test_what_was_looked_at_before_the_panel_was_made_is_shown(
    ui: UiContext, open_in: Callable, settled: Settled, qtbot: object
) -> None:
    trace = open_trace(SAMPLES / "matmul_tiled")
    open_in(trace, [all_waves(trace)])
    ui.results.want("health")
    qtbot.waitUntil(lambda: ui.results.cell("health").value is not None)
    panel = TrustPanel(ui)
    qtbot.addWidget(panel)
    panel.show()
    settled()
    assert panel.notes == ui.results.cell("health").value
    assert panel.notes[0].title in panel.text.toPlainText()
