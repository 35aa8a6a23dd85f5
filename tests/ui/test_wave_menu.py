"""View › Waves: panels that explain follow the choice, and the first wave shown is one that works."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from rcv_py.ui.app import App
from tests.support import mixed
from tests.support.captures import trace_path
from tests.ui.conftest import Reused
from tests.ui.window import open_sample, settle, window


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot) -> Iterator[App]:
    """A window with three waves that work behind one, the first, that left early."""
    folder = mixed.mixed(tmp_path, slice(0, 1))
    with window() as made:
        for name in ("causes", "waits", "loops", "bubbles", "latency", "summary", "triage"):
            made.window.workspace.show_panel(name)
        open_sample(made, qtbot, folder)
        yield made


def stall_of(folder: Path, chosen: slice) -> int:
    files = mixed.wave_files(folder)[chosen]
    return sum(one[2] for path in files for one in json.loads(path.read_text())["wave"]["instructions"])


def wanted(app: App, name: str, qtbot: QtBot) -> object:
    app.ui.results.want(name)
    settle(app, qtbot)
    return app.ui.results.cell(name).value


def test_panels_follow_and_the_window_says_which_waves_they_are_of(app: App, qtbot: QtBot) -> None:
    """One window for all of it, since a window takes seconds to make."""
    _a_wave_that_works_is_shown_first(app)
    _copied_commands_name_the_waves(app)
    _the_status_bar_and_the_menu_say_and_choose(app)
    _what_explains_follows_the_choice(app, qtbot)
    _a_choice_of_the_user_is_left_alone(app)


def _a_wave_that_works_is_shown_first(app: App) -> None:
    session = app.ui.session
    assert str(session.selection.value.wave) == "se3/simd1/slot0/wv0"
    assert session.choice is not None
    assert session.choice.text == "3 working waves of 4"


def _a_choice_of_the_user_is_left_alone(app: App) -> None:
    session = app.ui.session
    session.select_wave(session.trace.value.waves.id(0))
    found = session.populations.value
    session.take_populations(found)
    assert str(session.selection.value.wave) == "se3/simd0/slot0/wv0"


def _what_explains_follows_the_choice(app: App, qtbot: QtBot) -> None:
    session = app.ui.session
    folder = session.trace.value.path
    for name, chosen in (("working", slice(1, 4)), ("all", slice(0, 4)), ("early-exit", slice(0, 1))):
        session.waves.set(name)
        table = wanted(app, "attribution", qtbot)
        assert table.total_stall == stall_of(folder, chosen)
        assert wanted(app, "bubbles", qtbot).waves == chosen.stop - chosen.start
        assert wanted(app, "loops", qtbot).waves == chosen.stop - chosen.start
        assert wanted(app, "waits", qtbot).waves == chosen.stop - chosen.start
        found = wanted(app, "findings", qtbot)
        assert found.choice.waves == chosen.stop - chosen.start
        assert (found.bound_class is None) == (name == "early-exit"), "one population does not stand for all"
        note = app.window.workspace.panel("waits")
        assert "partial" not in note.note.text(), "all were read, and some were chosen"


def _the_status_bar_and_the_menu_say_and_choose(app: App) -> None:
    button = app.window.status.waves
    assert button.isVisible()
    assert button.text() == "3 working waves of 4"
    menu = app.window.menus["View/Waves"]
    menu.aboutToShow.emit()
    titles = [action.text() for action in menu.actions() if action.text()]
    assert titles[:3] == ["Working waves", "All waves", "Next population of waves"]
    assert titles[3:] == ["early exit, 1 wave"], "those that work have one entry, and one tick"
    next(action for action in menu.actions() if action.text() == "early exit, 1 wave").trigger()
    assert app.ui.session.waves.value == "early-exit"
    assert button.text() == "1 wave of 4 (early exit)"
    app.ui.commands.run("waves.all")
    assert button.text() == "all 4 waves"
    app.ui.commands.run("waves.next")
    assert app.ui.session.waves.value == "early-exit"
    menu.aboutToShow.emit()
    assert [action.text() for action in menu.actions() if action.text()] == titles


def _copied_commands_name_the_waves(app: App) -> None:
    panel = app.window.workspace.panel
    for name in ("causes", "waits", "loops", "bubbles", "latency", "summary", "triage"):
        words = panel(name).command_line()
        assert words is not None
        assert not any(word.startswith("--waves") for word in words)
    app.ui.session.waves.set("all")
    for name in ("causes", "waits", "loops", "bubbles", "latency", "summary", "triage"):
        assert "--waves=all" in panel(name).command_line()
    app.ui.session.waves.set("working")


def test_a_capture_without_working_waves_says_so(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        open_sample(app, qtbot, trace_path("pa_mqa_small"))
        assert not app.window.status.waves.isVisible()  # all waves work: there is nothing to say
        open_sample(app, qtbot, trace_path("mla_decode"))
        app.window.workspace.show_panel("triage")
        settle(app, qtbot)
        assert app.window.status.waves.text() == "no wave works"
        panel = app.window.workspace.docks["triage"].panel
        assert "All 32 traced waves left early: 17 of 4,948 instructions ran" in panel.empty.sentence.text()
        assert str(app.ui.session.selection.value.wave) == str(app.ui.session.trace.value.waves.id(0))
