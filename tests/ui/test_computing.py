"""What panels say while their numbers are being made: how far that is, and what can never be read."""

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from rcv_py.analysis.attribution.attribute import ATTRIBUTION
from rcv_py.base.progress import Stage
from rcv_py.features.why.panel import WhyPanel
from rcv_py.formats.open import open_trace
from rcv_py.state.incremental import AnswerFlag
from rcv_py.ui.core.computing import progress_text
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.shared_results import waves_note
from tests.support.opened import all_waves
from tests.ui.window import SAMPLE


def test_reading_is_told_first_and_then_computing_with_its_stage(ui: UiContext, open_in: Callable) -> None:
    trace = open_trace(SAMPLE)
    open_in(trace, [])
    session, rows = ui.session, list(range(len(trace.waves)))
    ui.session.busy.set((Stage("Reading waves"),))
    session.store.add(trace.reader.read(rows[:3]))
    assert progress_text(session, "causes") == f"Reading waves, 3 of {len(rows)}, for causes …"
    session.store.add(trace.reader.read(rows[3:]))
    ui.session.busy.set(())
    assert progress_text(session, "causes") == "Computing causes …"
    stages = [lambda: None, lambda: Stage("step 2, waves", 3, 16)]
    assert progress_text(session, "causes", stages) == "Computing causes … (step 2, waves 3 of 16)"


def test_a_wave_that_cannot_be_read_is_not_waited_for(ui: UiContext, open_in: Callable) -> None:
    trace = open_trace(SAMPLE)
    open_in(trace, [])
    count, store = len(trace.waves), ui.session.store
    store.missing[0] = "It is damaged."
    ui.session.busy.set((Stage("Reading waves"),))
    expected = f"Reading waves, 0 of {count - 1}, for causes … 1 wave cannot be read."
    assert progress_text(ui.session, "causes") == expected
    store.add(trace.reader.read(list(range(1, count))))
    ui.session.busy.set(())
    assert progress_text(ui.session, "causes") == "Computing causes … 1 wave cannot be read."
    assert "1 wave cannot be read" in waves_note(ui.session)
    assert "waves read" not in waves_note(ui.session), "that would be said for ever"


def test_an_analysis_says_how_many_waves_it_has_looked_at(ui: UiContext, open_in: Callable) -> None:
    told: list[Stage] = []

    class Flag(AnswerFlag):
        def report_progress(self, stage: Stage) -> None:
            super().report_progress(stage)
            told.append(stage)

    trace = open_trace(SAMPLE)
    open_in(trace, [all_waves(trace)])
    ui.session.snapshot().of_all(ATTRIBUTION, None, Flag())
    assert {stage.name for stage in told} == {"waves", "step 2, waves"}
    assert all(0 <= stage.done <= stage.total == len(trace.waves) for stage in told)
    done = [stage.done for stage in told if stage.name == "step 2, waves"]
    assert done == sorted(done)


@pytest.fixture
def causes(ui: UiContext, qtbot: QtBot) -> WhyPanel:
    panel = WhyPanel(ui)
    qtbot.addWidget(panel)
    panel.show()
    return panel


def test_a_panel_says_it_again_until_there_is_something(
    causes: WhyPanel, ui: UiContext, open_in: Callable, qtbot: QtBot
) -> None:
    trace = open_trace(SAMPLE)
    open_in(trace, [])
    assert causes.empty.sentence.text().startswith("Reading waves, 0 of")
    assert causes.computing.isActive()
    ui.session.store.missing[0] = "It is damaged."
    qtbot.waitUntil(lambda: "1 wave cannot be read" in causes.empty.sentence.text())
    ui.session.store.missing.clear()
    ui.session.store.add(trace.reader.read(list(range(len(trace.waves)))))
    ui.session.wave_loaded()
    qtbot.waitUntil(lambda: bool(causes.tree.rows.tree.root.children))
    assert not causes.computing.isActive()
    qtbot.waitUntil(lambda: not ui.tasks.running)
