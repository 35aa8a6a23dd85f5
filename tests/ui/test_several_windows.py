"""Several windows of one program: each with its capture, all with the same settings."""

import gc
from collections.abc import Iterator
from weakref import ref

import pytest
from pytestqt.qtbot import QtBot

from rcv_py.base.settings import SYSTEM
from rcv_py.base.text import speak, spoken_language
from rcv_py.state.single_instance import OpenRequest
from rcv_py.ui.app import App, Windows
from tests.support.window_fixtures import Reused
from tests.ui.window import SAMPLE, SAMPLES, settle, window


@pytest.fixture
def app(reused: Reused) -> Iterator[App]:
    """The first window, with nothing open, and alone."""
    with reused() as made:
        assert not others(made)
        yield made
        for other in others(made):
            other.close()


def others(app: App) -> list[App]:
    return [one for one in app.windows.apps if one is not app]


def opened(app: App) -> str:
    settle(app)
    trace = app.ui.session.trace.value
    return "" if trace is None else trace.path.name


def test_another_start_opens_where_nothing_is_open_then_beside(app: App) -> None:
    app.windows.take(OpenRequest(path=str(SAMPLE)))
    assert opened(app) == SAMPLE.name
    assert not others(app)
    app.windows.take(OpenRequest(path=str(SAMPLES / "pc_sampling"), panel="isa"))
    (second,) = others(app)
    assert opened(second) == "pc_sampling"
    assert opened(app) == SAMPLE.name
    assert second.window.pos() != app.window.pos()


def test_a_new_window_has_the_same_settings_and_goes_alone(app: App, qtbot: QtBot) -> None:
    was_dark = app.ui.theme.is_dark
    app.ui.commands.run("file.new_window")
    (second,) = others(app)
    second.ui.commands.run("view.theme")
    assert app.ui.theme.is_dark is second.ui.theme.is_dark is not was_dark
    second.ui.commands.run("file.close_window")
    qtbot.waitUntil(lambda: not others(app))
    app.ui.commands.run("view.theme")  # widgets of the other one would break here
    assert app.ui.theme.is_dark is was_dark
    assert app.window.isVisible()


def test_a_language_chosen_meanwhile_waits_for_the_next_start(app: App) -> None:
    """What is shown later in the first window would be in the new one, beside its old texts."""
    before = spoken_language()
    app.ui.settings["look.language"] = "zh_CN"
    try:
        app.ui.commands.run("file.new_window")
        assert spoken_language() == before
    finally:
        app.ui.settings["look.language"] = SYSTEM
        speak(None)


def test_a_closed_window_is_freed_while_the_others_rest(app: App, qtbot: QtBot) -> None:
    """Also the one of the start, whose objects are frozen."""
    app.ui.commands.run("file.new_window")
    gc.freeze()
    settle(app)
    left = [(ref(one.window), ref(one.ui.session)) for one in others(app)]
    others(app)[0].ui.commands.run("file.close_window")
    qtbot.waitUntil(lambda: not any(part() for one in left for part in one))
    assert len(left) == 1


def test_quit_closes_every_window(qtbot: QtBot) -> None:
    with window() as app:
        app.ui.commands.run("file.new_window")
        (second,) = others(app)
        app.ui.commands.run("file.quit")
        assert not app.window.isVisible()
        qtbot.waitUntil(lambda: second not in app.windows.apps or not second.window.isVisible())
        second.close()


def test_a_mistake_is_told_in_the_window_of_its_panel(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    app.ui.commands.run("file.new_window")
    (second,) = others(app)
    second.windows.take(OpenRequest(path=str(SAMPLE)))
    settle(app)
    told: list[BaseException] = []
    monkeypatch.setattr(app.window.errors, "show", lambda error, owner=None: told.append(error))
    panel = app.window.workspace.docks["isa"].panel
    mistake = KeyError("mine")
    second.window.errors.show(mistake, panel)
    assert told == [mistake]


def test_what_names_no_panel_is_not_accepted(app: App) -> None:
    windows: Windows = app.windows
    assert windows.accepts(OpenRequest(panel="isa"))
    assert not windows.accepts(OpenRequest(panel="nothing"))
