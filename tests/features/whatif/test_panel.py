"""The What-if panel: experiments as rows, sliders, and the selected wave as it would run."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from rcv_py.analysis.whatif.asked import ChangeRequest
from rcv_py.features.whatif.panel import CANNOT, NOTHING, WhatIfPanel
from rcv_py.features.whatif.result import signed
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.ui.core.panel import UiContext
from rcv_py.work.whatif import with_predictions
from tests.support.early_waves import SAMPLE, only, waves_of
from tests.support.opened import whole_sample
from tests.support.samples import sample_path


@pytest.fixture
def shown(ui: UiContext, qtbot: QtBot, open_in: Callable[..., None]) -> WhatIfPanel:
    panel = WhatIfPanel(ui)
    qtbot.addWidget(panel)
    panel.resize(1200, 300)
    panel.show()
    assert panel.command_line() is None
    open_in(*whole_sample("matmul_small"))
    return panel


def text_of(panel: WhatIfPanel, column: str) -> list[str]:
    found = next(one for one in panel.view.table.columns if one.id == column)
    return [found.text(value) for value in found.values]


def is_played(panel: WhatIfPanel) -> bool:
    return bool(panel.experiments) and not panel._left() and not panel.ui.tasks.running


def test_remedies_are_played_in_turn(shown: WhatIfPanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: is_played(shown))
    qtbot.wait(0)
    qtbot.waitUntil(lambda: is_played(shown))
    played = [one for one in shown.experiments if one.changes]
    assert played
    for one in played:
        assert one.origin, "the finding whose remedy it is"
        assert shown.known[one.changes].low <= shown.known[one.changes].high
    assert CANNOT in text_of(shown, "why_not"), "what the launch decides is said to be beyond it"
    assert "not a promise" in shown.note.text()
    assert len(shown.sheet().headers) == len(next(iter(shown.sheet().rows)))


def test_the_best_row_of_a_finding_gains_what_findings_predict(shown: WhatIfPanel, qtbot: QtBot) -> None:
    """A finding without a remedy of its own has several limits, and Findings takes the best."""
    qtbot.waitUntil(lambda: is_played(shown))
    qtbot.wait(0)
    qtbot.waitUntil(lambda: is_played(shown))
    found = shown.ui.results.cell("findings").value
    trace = shown.session.trace.value
    predicted = with_predictions(trace, found, shown.session.store.batches)
    wanted = {one.title: one.predicted.gain for one in predicted.findings if one.predicted is not None}
    rows = [(one.origin, shown._of_kernel(one)) for one in shown.experiments if one.changes]
    best = {title: max(-known.share for origin, known in rows if origin == title) for title in wanted}
    assert any(len(one.trial.limits) > 1 for one in found.findings if one.trial and one.trial.is_limit)
    assert best == pytest.approx(wanted)


def test_remedies_have_a_command_before_one_is_chosen(shown: WhatIfPanel, qtbot: QtBot) -> None:
    """`rcv whatif` without experiments plays others."""
    qtbot.waitUntil(lambda: is_played(shown))
    assert shown._chosen is None
    assert shown.experiments[0].origin
    assert shown.command_line()[1] == "triage"
    assert "--predict" in shown.command_line()


def test_a_slider_is_an_experiment(shown: WhatIfPanel, qtbot: QtBot) -> None:
    shown.controls.sliders["vmem"].setValue(5)
    wanted = "latency of VMEM × 0.5"
    qtbot.waitUntil(lambda: bool(shown.experiments) and shown.experiments[0].text == wanted)
    qtbot.waitUntil(lambda: shown.experiments[0].changes in shown.known)
    assert shown.known[shown.experiments[0].changes].share < 0
    assert shown.command_line()[-1] == "--latency=vmem=0.5"
    qtbot.waitUntil(lambda: len(shown.source.rows) == 2)
    wave = shown.session.wave()
    recorded, predicted = (row.segments[0] for row in shown.source.rows)
    assert np.array_equal(recorded.tokens.start, wave.tokens.start)
    assert len(predicted.tokens) == len(wave.tokens)
    assert predicted.end < recorded.end
    assert "predicted" in shown.outcome.text()
    shown.keep.click()
    assert [one.words for one in shown.session.experiments.value] == [("--latency=vmem=0.5",)]
    assert shown.controls.asked is None, "the sliders are back"
    qtbot.waitUntil(lambda: [one.text for one in shown.experiments].count(wanted) == 1)


def test_unchanged_a_wave_would_run_as_it_ran(shown: WhatIfPanel, qtbot: QtBot) -> None:
    line = int(shown.session.wave().tokens.line[9])
    asked = ChangeRequest(latency=(("vmem", 1.0),))
    shown.session.add_experiment(asked)
    qtbot.waitUntil(lambda: bool(shown.experiments) and bool(shown.experiments[0].words))
    shown._choose(0)
    qtbot.waitUntil(lambda: len(shown.source.rows) == 2)
    tokens, would = shown.session.wave().tokens, shown.source.rows[1].segments[0].tokens
    assert np.array_equal(would.start, tokens.start)
    assert np.array_equal(would.stall, tokens.stall)
    assert np.array_equal(would.line, tokens.line)
    row = shown.timeline.plot.row_at(shown.timeline.plot.y_of(1))[0]
    shown.clicked(row, int(would.start[9]) + int(would.stall[9]), is_double=False)
    assert shown.session.selection.value.line == line
    assert shown.drawn.before == shown.drawn.after > 0
    assert "no change" in shown.outcome.text()
    shown.session.drop_experiment(asked)
    qtbot.waitUntil(lambda: not any(one.words for one in shown.experiments))


def test_what_is_refused_says_why(shown: WhatIfPanel, qtbot: QtBot) -> None:
    never = int(np.flatnonzero(shown.session.trace.value.code.hits == 0)[0])
    shown.session.add_experiment(ChangeRequest(free=(never,)))
    qtbot.waitUntil(lambda: bool(shown.experiments) and bool(shown.experiments[0].words))
    assert "never ran" in shown.experiments[0].why_not
    assert text_of(shown, "why_not")[0] == shown.experiments[0].why_not


def test_stop_and_go_on(shown: WhatIfPanel, qtbot: QtBot) -> None:
    shown.stop.click()
    qtbot.waitUntil(lambda: bool(shown.experiments) and not shown.ui.tasks.running)
    left = shown._left()[0]
    assert shown.stop.text() == "Replay"
    shown.stop.click()
    qtbot.waitUntil(lambda: left.changes in shown.known)


@pytest.fixture
def idle(tmp_path: Path) -> Trace:
    """A capture without findings, since all waves left early."""
    waves = waves_of(sample_path(SAMPLE), "early-exit")
    return open_trace(only(waves, tmp_path / "ui_output_agent_1_dispatch_1"))


def test_without_anything_to_try_it_says_how(ui: UiContext, qtbot: QtBot, open_in, idle: Trace) -> None:
    panel = WhatIfPanel(ui)
    qtbot.addWidget(panel)
    open_in(idle, [])
    qtbot.waitUntil(lambda: panel.empty.sentence.text() == NOTHING)


def test_a_slider_names_the_latency_and_the_first_column_the_finding(
    shown: WhatIfPanel, qtbot: QtBot
) -> None:
    shown.controls.sliders["vmem"].setValue(2)
    assert shown.controls.values["vmem"].text() == "VMEM latency × 0.2"
    assert shown.controls.values["lds"].text() == "LDS latency × 1.0"
    qtbot.waitUntil(lambda: len(shown.experiments) > 1)
    assert shown.view.table.columns[0].title == "finding"
    names = text_of(shown, "origin")
    assert names[0] == "your experiment"
    assert names[1:] == [one.origin for one in shown.experiments[1:]]


@pytest.mark.parametrize(
    ("share", "text"),
    [(-0.123, "−12.3 %"), (0.0005, "+0.1 %"), (-0.0004, "0.0 %"), (0.0004, "0.0 %"), (0.0, "0.0 %")],
)
def test_a_change_too_small_to_print_has_no_sign(share: float, text: str) -> None:
    assert signed(share) == text
