"""Panels are made when they are first seen or needed; made late, they show what is open."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QComboBox, QWidget

from rcv_py.analysis.waves.populations import ALL
from rcv_py.features.counters.panel import CountersPanel
from rcv_py.features.loops.panel import LoopsPanel
from rcv_py.features.notes.search_panel import HistoryPanel
from rcv_py.model.modes import LatencyMode, SourceCost
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import SearchQuery
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import discover
from rcv_py.ui.shell.docks import BrokenPanel, Dock
from tests.ui.window import SAMPLE, box, open_sample, run_command, settings_in, settle, show_panel, window

WIDE = (1600, 900)  # px: the bottom is not folded
FIRST = {
    "overview", "compute_unit", "triage", "isa", "source", "wave_picker", "token_details",
}  # fmt: skip
BY_WIDTH = "--bars="  # as many as there is room for


def made(app: App) -> set[str]:
    return {name for name, dock in app.window.workspace.docks.items() if dock.made is not None}


class Windows(QObject):
    """Notes each widget that is shown as a window."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is not QEvent.Type.Show:  # most of them
            return False
        is_part = isinstance(watched, QWidget) and not isinstance(watched, Dock)
        if is_part and watched.isWindow():
            self.shown.append(repr(watched))
        return False


def test_only_what_is_seen_is_made() -> None:
    with window(size=WIDE) as app:
        workspace = app.window.workspace
        settle(app)
        assert made(app) == {"overview"}, "nothing of the workspace is in front yet"
        open_sample(app)
        assert made(app) == FIRST
        assert workspace.is_bottom_folded
        workspace.tab_bars()[-1].setCurrentIndex(1)
        settle(app)
        assert made(app) == FIRST, "of what is folded nothing is seen"
        workspace.fold("bottom", False)
        settle(app)
        assert made(app) == FIRST | {"why"}


def docks_by_tab(app: App) -> list[str]:
    """The docks in the order in which Tab visits them."""
    docks, visited, widgets = app.window.workspace.docks, [], []
    app.window.activateWindow()
    docks["isa"].take_focus()
    while (widget := app.qt.focusWidget()) not in widgets:
        widgets.append(widget)
        visited += [name for name, dock in docks.items() if dock.is_seen and dock.isAncestorOf(widget)]
        app.window.focusNextPrevChild(True)
    while len(visited) > 1 and visited[0] == visited[-1]:  # the walk began in the middle of a dock
        visited.pop()
    from_the_left = min(range(len(visited)), key=lambda at: box(app, visited[at]).x(), default=0)
    visited = visited[from_the_left:] + visited[:from_the_left]
    return [name for name, _ in groupby(visited)]


def test_tab_goes_by_the_places_on_screen_whenever_panels_were_made() -> None:
    with window(size=WIDE) as app:
        workspace = app.window.workspace
        open_sample(app)
        for name in ("hotspot", "why", "search", "hotspot"):
            show_panel(app, name)
            order = docks_by_tab(app)
            assert {name, "isa", "wave_picker"} <= set(order)
            places = [(box(app, one).x(), box(app, one).y()) for one in order]
            assert places == sorted(places), order
        workspace.move_panel("isa", "details")
        settle(app)
        order = docks_by_tab(app)
        assert order.index("source") < order.index("wave_picker") < order.index("isa")


# -- what is remembered -----------------------------------------------------------------------------


def test_layout_theme_place_and_what_panels_remember_come_back(tmp_path: Path) -> None:
    """After one restart, and what a panel remembers that nobody sees after two."""
    ticks = {"SQ_BUSY": False}
    with window(settings_in(tmp_path), WIDE) as app:
        workspace, session = app.window.workspace, app.ui.session
        workspace.docks["counters"].panel.load_state({"ticks": ticks})
        open_sample(app)
        show_panel(app, "waits")
        app.ui.settings["look.theme"] = "dark"
        workspace.docks["search"].close()
        session.select_line(2)
        session.toggle_bookmark()
        place = session.selection.value
        begin = session.view.value.begin
        session.set_view(TimeWindow(begin + 100, begin + 500))
        view = session.view.value
    with window(settings_in(tmp_path), WIDE) as app:
        assert app.ui.theme.is_dark
        assert not app.window.workspace.is_shown("search")
        assert app.window.opener.recent == [SAMPLE]
        assert json.loads(app.ui.settings.memory("panels"))["counters"]["ticks"] == ticks
        open_sample(app)
        assert made(app) == FIRST | {"why"}, "the tab that was in front, and no other"
        assert app.window.workspace.docks["why"].made.chosen_part == "waits"
        assert str(app.ui.session.selection.value) == str(place)
        assert len(app.ui.session.bookmarks.value) == 1
        assert app.ui.session.view.value == view
    with window(settings_in(tmp_path)) as app:
        assert "counters" not in made(app)
        assert json.loads(app.ui.settings.memory("panels"))["counters"]["ticks"] == ticks
        assert app.window.workspace.docks["counters"].panel.save_state()["ticks"] == ticks


# -- who needs a panel ------------------------------------------------------------------------------


def test_a_command_makes_the_panel_that_it_needs_and_no_look_at_it_does(tmp_path: Path) -> None:
    """What was never seen can be shown, exported and searched."""
    with window() as app:
        shell, commands = app.window, app.ui.commands
        docks = shell.workspace.docks
        for name in ("triage", "isa", "search"):
            docks[name].close()
        open_sample(app)
        shell.actions_.update()
        titles = {item.title for item in shell.palette_._find("findings")}
        assert "Copy findings as Markdown" in titles
        before = made(app)
        assert not before & {"triage", "isa", "search", "counters", "distribution", "health"}
        assert commands["triage.copy"].why_not()
        shell.palette_.open("What to look at first")
        shell.palette_.choose()
        settle(app)
        assert made(app) == before | {"triage"}
        assert docks["triage"].made.isVisible()
        assert not commands["triage.copy"].why_not()
        shell.actions_["analyze.formulas"].trigger()
        assert made(app) == before | {"triage", "counters"}
        dialog = docks["counters"].made.dialog
        assert dialog.isVisible()
        dialog.close()
        shell.workspace.show_panel("history")
        settle(app)
        shell.exporter.save("history", tmp_path / "history.csv")
        assert len((tmp_path / "history.csv").read_text().splitlines()) > 1
        assert docks["isa"].made is None
        shell.workspace.show_panel("isa")
        shell.find_here()
        assert docks["isa"].made is not None


def test_panels_leave_out_what_they_cannot_have_saved(empty_app: App) -> None:
    nonsense: tuple[Any, ...] = (
        None,
        True,
        -1,
        10**20,
        "\x1b[31m<b>",
        [],
        {},
        [[]],
        {"columns": 1},
        [10**20, 1],
    )
    for dock in empty_app.window.workspace.docks.values():
        for panel in (dock.panel, *(dock.panel.part(part.id) for part in dock.parts)):
            before = panel.save_state()
            for name in before:
                for kept in nonsense:
                    panel.load_state({name: kept})
            assert panel.save_state().keys() == before.keys(), panel.declared.id


def test_a_panel_or_a_part_that_cannot_be_made_says_so_when_it_is_first_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("no luck")

    for kind in (LoopsPanel, CountersPanel, HistoryPanel):
        monkeypatch.setattr(kind, "__init__", fails)
    with window(size=WIDE) as app:
        docks, workspace = app.window.workspace.docks, app.window.workspace
        docks["loops"].load_state({"kept": 1})
        open_sample(app)
        assert docks["loops"].made is None
        show_panel(app, "loops")
        notice = docks["loops"].made
        assert isinstance(notice, BrokenPanel)
        assert notice.isVisible()
        assert "no luck" in notice.report
        assert docks["loops"].save_state() == {"kept": 1}
        run_command(app, "analyze.formulas")  # a command of another one: it says the same there
        assert isinstance(docks["counters"].made, BrokenPanel)
        assert docks["counters"].made.isVisible()
        workspace.show_panel("history")  # a part, which leaves the others
        settle(app)
        assert isinstance(workspace.panel("history"), BrokenPanel)
        assert workspace.panel("history").isVisible()
        show_panel(app, "notes")
        assert not isinstance(workspace.panel("notes"), BrokenPanel)
        assert workspace.panel("notes").isVisible()


# -- made late --------------------------------------------------------------------------------------


def choose_much(app: App) -> None:
    """Change what panels follow, as a user does before looking at some panel."""
    session, settings = app.ui.session, app.ui.settings
    begin = session.view.value.begin
    session.select_line(113)
    session.step_hit(1)
    session.query.set(SearchQuery("global"))
    session.source_cost.set(SourceCost.INCLUSIVE)
    session.latency_mode.set(LatencyMode.MEAN_WAVE)
    session.waves.set(ALL)
    session.toggle_bookmark()
    session.clock_range.set(TimeWindow(begin + 20_000, begin + 60_000))
    session.isolated_wait.set(113)
    session.set_view(TimeWindow(begin + 5_000, begin + 50_000))
    settings["timeline.units"] = "ns"
    settings["isa.show_idle"] = False


def answer(panel: Any) -> Any:
    """What a panel says: its table, command and caption, and what is chosen in it."""
    boxes = [box.currentText() for box in panel.findChildren(QComboBox)]
    words = [word for word in panel.command_line() or () if not word.startswith(BY_WIDTH)]
    sheet = panel.sheet()
    return (None if sheet is None else (sheet.title, sheet.csv())), words, panel.caption(), boxes


@contextmanager
def chosen_in(prepare: Callable[[Dock], object]) -> Iterator[App]:
    """A window with the sample, in which much was chosen after something was done to each dock."""
    with window(size=WIDE) as app:
        for dock in app.window.workspace.docks.values():
            prepare(dock)
        open_sample(app)
        choose_much(app)
        settle(app)
        yield app


def said_by_early_ones() -> dict[str, Any]:
    """What panels say that were made before a capture was open, and are not seen."""
    answers = {}
    with chosen_in(lambda dock: dock.panel) as app:
        docks = app.window.workspace.docks
        assert made(app) == set(docks)
        for name, dock in docks.items():
            for part in (dock.panel.chosen_panel, dock.panel):
                part.visibility.wake()
            settle(app)
            answers[name] = answer(dock.panel)
    return answers


def test_each_panel_made_when_it_is_first_seen_says_what_one_made_early_says() -> None:
    """Each panel is painted by test_access; here are those in front, once all are made."""
    early, late = said_by_early_ones(), {}
    with chosen_in(Dock.close) as app:
        assert made(app) == {"overview"}
        workspace, windows = app.window.workspace, Windows()
        app.qt.installEventFilter(windows)
        for name, dock in workspace.docks.items():
            show_panel(app, name)
            assert not dock.made.visibility.is_asleep
            late[name] = answer(dock.made)
        app.qt.removeEventFilter(windows)
        assert not windows.shown, "a part of a panel was shown as a window of its own"
        assert made(app) == set(workspace.docks)
        live_through_much(app)
    assert early.keys() == late.keys() == {info.id for info in discover().values() if not info.within}
    for name, told in early.items():
        assert late[name] == told, name
    assert sum(told[0] is not None for told in early.values()) > len(early) // 2


def live_through_much(app: App) -> None:
    """Do to a capture what may happen to it, with all panels made and painted, and close it."""
    app.window.setUpdatesEnabled(True)
    session = app.ui.session
    session.select_line(1)
    session.step_hit(1)
    session.step_token(1)
    session.zoom(0.5)
    settle(app)
    app.window.close_capture()
    settle(app)
    assert app.window.pages.currentWidget() is app.window.pages.welcome
