"""View › Waves: panels that explain follow the choice, and the wave shown first is one that works."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rcv_py.ui.app import App
from rcv_py.ui.table import command_text
from tests.support.command_runs import printed_json
from tests.support.early_waves import SAMPLE, only, waves_of
from tests.support.plain_capture import LABEL, PlainWave, plain
from tests.support.samples import sample_path
from tests.ui.window import menus_of, open_sample, settle, show_panel, window


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A capture whose first wave left early."""
    before = waves_of(sample_path(SAMPLE), "early-exit")[0]
    waves = plain(sample_path(SAMPLE)).waves
    return only(waves[waves.index(before) :], tmp_path / "ui_output_agent_1_dispatch_1")


@pytest.fixture
def idle(tmp_path: Path) -> Path:
    """A capture with the waves alone that left early."""
    return only(waves_of(sample_path(SAMPLE), "early-exit"), tmp_path / "ui_output_agent_1_dispatch_2")


@pytest.fixture
def app(folder: Path) -> Iterator[App]:
    """A window with waves that work after one, the first, that left early."""
    with window() as made:
        for name in ("causes", "waits", "loops", "bubbles", "latency", "summary", "triage"):
            made.window.workspace.show_panel(name)
        open_sample(made, folder)
        yield made


def wanted(app: App, name: str) -> object:
    app.ui.results.want(name)
    settle(app)
    return app.ui.results.cell(name).value


def test_panels_follow_and_the_window_says_which_waves_they_are_of(app: App) -> None:
    """One window for all of it, since a window takes seconds to make."""
    _a_wave_that_works_is_shown_first(app)
    _copied_commands_name_the_waves(app)
    _the_status_bar_and_the_menu_say_and_choose(app)
    _what_explains_follows_the_choice(app)
    _a_choice_of_the_user_is_left_alone(app)


def median_of(waves: list[PlainWave]) -> PlainWave:
    """The wave with the lifetime nearest to the median."""
    middle = float(np.median([wave.end - wave.begin for wave in waves]))
    return min(waves, key=lambda wave: (abs(wave.end - wave.begin - middle), wave.end - wave.begin))


def _counts(app: App) -> tuple[int, int, int]:
    """How many waves work, left early, and are there."""
    folder = app.ui.session.trace.value.path
    working, early, both = (len(waves_of(folder, kind)) for kind in ("working", "early-exit", "all"))
    assert 1 < early < working
    return working, early, both


def _a_wave_that_works_is_shown_first(app: App) -> None:
    session = app.ui.session
    folder = session.trace.value.path
    working = waves_of(folder, "working")
    assert str(session.selection.value.wave) == median_of(working).name
    assert session.selection.value.line in {token.line for token in median_of(working).tokens}
    working, _, both = _counts(app)
    assert session.choice.text == f"{working} working waves of {both}"


def _a_choice_of_the_user_is_left_alone(app: App) -> None:
    session = app.ui.session
    wave = session.trace.value.waves.id(0)
    session.select_wave(wave)
    session.take_populations(session.populations.value)
    assert session.selection.value.wave == wave


def _what_explains_follows_the_choice(app: App) -> None:
    session = app.ui.session
    for name in ("working", "all", "early-exit"):
        session.waves.set(name)
        waves = waves_of(session.trace.value.path, name)
        stall = sum(token.stall for wave in waves for token in wave.tokens)
        assert wanted(app, "attribution").total_stall == stall
        assert wanted(app, "bubbles").waves == len(waves)
        assert wanted(app, "loops").waves == len(waves)
        assert wanted(app, "waits").waves == len(waves)
        found = wanted(app, "findings")
        assert found.choice.waves == len(waves)
        assert (found.bound_class is None) == (name == "early-exit"), "one population does not stand for all"
        note = app.window.workspace.panel("waits")
        assert "partial" not in note.note.text(), "all were read, and some were chosen"


def _the_status_bar_and_the_menu_say_and_choose(app: App) -> None:
    button = app.window.status.waves
    working, early, both = _counts(app)
    assert button.isVisible()
    assert button.text() == f"{working} working waves of {both}"
    menu = menus_of(app.window)["View/Waves"]
    titles = [action.text() for action in menu.actions() if action.text()]
    assert titles[:3] == ["Working waves", "All waves", "Next population of waves"]
    choice = f"early exit, {early} waves"
    assert titles[3:] == [choice], "those that work have one entry, and one tick"
    next(action for action in menu.actions() if action.text() == choice).trigger()
    assert app.ui.session.waves.value == "early-exit"
    assert button.text() == f"{early} waves of {both} (early exit)"
    app.ui.commands.run("waves.all")
    assert button.text() == f"all {both} waves"
    app.ui.commands.run("waves.next")
    assert app.ui.session.waves.value == "early-exit"
    menu.aboutToShow.emit()
    assert [action.text() for action in menu.actions() if action.text()] == titles
    button.menu().aboutToShow.emit()
    assert [action.text() for action in button.menu().actions() if action.text()] == titles


def _copied_commands_name_the_waves(app: App) -> None:
    panel = app.window.workspace.panel
    for name in ("causes", "waits", "loops", "bubbles", "latency", "summary", "triage"):
        words = panel(name).command_line()
        assert words is not None
        assert not any(word.startswith("--waves") for word in words)
    app.ui.session.waves.set("all")
    for name in ("causes", "waits", "loops", "bubbles", "latency", "summary", "triage"):
        assert "--waves=all" in panel(name).command_line()
    for name, follows in (("roofline", True), ("hotspot", False), ("waves", False)):
        assert ("--waves=all" in (command_text.rcv(app.ui.session, name) or ())) == follows
    app.ui.session.waves.set("working")


def test_a_capture_without_working_waves_says_so(blank: App, idle: Path) -> None:
    read = plain(idle)
    ran = {token.line for wave in read.waves for token in wave.tokens}
    instructions = [row for row in read.code if not str(row[0]).startswith(LABEL)]
    open_sample(blank, sample_path("matmul_small"))
    assert not blank.window.status.waves.isVisible()  # all waves work: there is nothing to say
    open_sample(blank, idle)
    show_panel(blank, "triage")
    assert blank.window.status.waves.text() == "no wave works"
    panel = blank.window.workspace.docks["triage"].panel
    said = panel.empty.sentence.text()
    assert f"All {len(read.waves)} traced waves left early, so there is nothing to rank. " in said
    assert f"rank. {len(ran)} of {len(instructions):,} instructions ran" in said
    totals = printed_json("triage", idle)["totals"]
    assert 0 < totals["no_issue"] <= totals["simd_cycles"]
    assert str(blank.ui.session.selection.value.wave) == median_of(read.waves).name


def test_an_instruction_has_causes_without_findings(blank: App, idle: Path) -> None:
    open_sample(blank, idle)
    waits = [token for wave in plain(idle).waves for token in wave.tokens if token.stall]
    line = waits[0].line
    blank.ui.session.select_line(line)
    settle(blank)
    assert blank.ui.results.cell("findings").value.attribution is None
    panel = blank.window.workspace.docks["token_details"].panel
    cycles = sum(one.stall for one in waits if one.line == line)
    assert sum(cause.stall for cause in panel.causes) == cycles
    assert "Why, over all hits: of" in panel.all.toPlainText()
