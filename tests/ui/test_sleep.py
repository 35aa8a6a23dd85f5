"""Panels behind tabs, folded or closed compute nothing, catch up when seen, and are awake for an export."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from rcv_py.ui.app import App
from rcv_py.ui.core.panel import Panel, UiContext, info_of
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.shell.layouts import APART
from rcv_py.ui.shot import Shot, take
from tests.ui.window import SAMPLE, open_sample, settle, show_panel, window

WIDE = (1600, 900)  # px: the bottom is not folded
BEHIND = ("hotspot", "explorer", "summary", "flamegraph", "why", "loops", "distribution", "trust")


@pytest.fixture
def panel(ui: UiContext, qtbot: QtBot) -> Panel:
    """A panel that may sleep and has not been shown."""
    made = Panel(ui)
    qtbot.addWidget(made)
    made.visibility.allow_sleep()
    return made


@pytest.fixture(scope="module")
def _wide(qapp: QApplication) -> Iterator[App]:
    with window(size=WIDE) as made:
        yield made


@pytest.fixture
def app(_wide: App) -> Iterator[App]:
    """The window of these tests, each time with no capture and every dock where it starts."""
    if _wide.ui.session.trace.value is not None:
        _wide.window.close_capture()
    _wide.window.workspace.reset_layout()
    settle(_wide)
    yield _wide
    assert not _wide.window.shown_errors, _wide.window.shown_errors


@pytest.fixture
def opened(_wide: App) -> Iterator[App]:
    """The same with the sample, of which panels may have computed something already."""
    if _wide.ui.session.trace.value is None:
        _wide.window.opener.open(SAMPLE)
    _wide.window.workspace.reset_layout()
    settle(_wide)
    yield _wide
    assert not _wide.window.shown_errors, _wide.window.shown_errors


class Watch:
    """Counts the jobs that panels run, by the panel's id."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.jobs: Counter[str] = Counter()
        run = Tasks.run

        def counted(tasks: Tasks, owner: Any, *others: Any, **options: Any) -> None:
            self.jobs[info_of(type(owner)).id if isinstance(owner, Panel) else type(owner).__name__] += 1
            run(tasks, owner, *others, **options)

        monkeypatch.setattr(Tasks, "run", counted)


def panel_of(app: App, name: str) -> Any:
    return app.window.workspace.panel(name)


# -- a panel alone ---------------------------------------------------------------------------------


def test_a_panel_without_a_dock_never_sleeps(ui: UiContext) -> None:
    assert not Panel(ui).visibility.is_asleep


def test_a_question_of_a_sleeping_panel_mutes_the_one_that_runs(panel: Panel, qtbot: QtBot) -> None:
    answers: list[str] = []
    panel.show()
    qtbot.waitUntil(lambda: not panel.visibility.is_asleep)
    panel.run_job(lambda: "old", answers.append)
    panel.hide()
    panel.run_job(lambda: "new", answers.append)
    qtbot.waitUntil(lambda: not panel.ui.tasks.running)
    assert answers == []
    panel.show()
    qtbot.waitUntil(lambda: answers == ["new"])


def test_what_was_put_off_last_is_done_last(panel: Panel) -> None:
    """A clock range is set, reset and set again: its job must not be muted by that of the whole capture."""
    done: list[str] = []
    requests = {name: panel.request(partial(done.append, name)) for name in ("range", "whole")}
    for name in ("range", "whole", "range"):
        requests[name].now()
    panel.visibility.wake()
    assert done == ["whole", "range"]


# -- the window ------------------------------------------------------------------------------------


def test_opening_and_reading_runs_no_job_of_a_panel_behind_a_tab(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch(monkeypatch)
    open_sample(app)
    app.ui.session.wave_loaded()
    settle(app)
    docks = app.window.workspace.docks
    asleep = {name for name, dock in docks.items() if dock.panel.visibility.is_asleep}
    assert asleep.issuperset(BEHIND)
    assert not asleep & {"compute_unit", "isa", "source", "overview", "triage", "wave_picker"}
    assert not asleep & set(watch.jobs), "a panel behind a tab ran a job"
    assert watch.jobs["isa"]
    for result in ("bubbles", "loops", "waits", "hidden", "memory"):
        assert app.ui.results.cell(result).value is None


@pytest.mark.parametrize(
    ("name", "jobs", "is_made"),
    [("summary", 3, False), ("flamegraph", 1, True)],  # summary: one for CSV files, one for registers
)
def test_raising_a_tab_runs_its_jobs_once_and_soon(
    name: str, jobs: int, is_made: bool, *, app: App, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_sample(app)
    if is_made:
        assert panel_of(app, name).visibility.is_asleep
    for _ in range(3):
        app.ui.session.wave_loaded()
        QApplication.processEvents()
    watch = Watch(monkeypatch)
    app.window.workspace.show_panel(name)
    qtbot.waitUntil(lambda: watch.jobs[name] == jobs)
    settle(app)
    assert watch.jobs[name] == jobs


def test_going_behind_a_tab_again_ends_it(opened: App, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened
    show_panel(app, "summary")
    show_panel(app, "hotspot")
    watch = Watch(monkeypatch)
    app.ui.session.wave_loaded()
    settle(app)
    assert watch.jobs["hotspot"], "what is seen looks again"
    assert not watch.jobs["summary"]


def test_a_closed_or_folded_panel_sleeps_until_it_is_back(opened: App, qtbot: QtBot) -> None:
    app, workspace = opened, opened.window.workspace
    workspace.show_panel("hotspot")
    for hide, show in (
        (workspace.docks["hotspot"].close, lambda: workspace.show_panel("hotspot")),
        (lambda: workspace.fold("bottom", True), lambda: workspace.fold("bottom", False)),
    ):
        hide()
        qtbot.waitUntil(lambda: panel_of(app, "hotspot").visibility.is_asleep)
        show()
        qtbot.waitUntil(lambda: not panel_of(app, "hotspot").visibility.is_asleep)
    assert not panel_of(app, "isa").visibility.is_asleep


def test_a_floating_panel_is_awake(opened: App, qtbot: QtBot) -> None:
    assert panel_of(opened, "summary").visibility.is_asleep
    opened.window.workspace.move_panel("summary", APART)
    qtbot.waitUntil(lambda: not panel_of(opened, "summary").visibility.is_asleep)


def test_a_sleeping_panel_says_that_it_reads_until_it_has_numbers(app: App) -> None:
    open_sample(app)
    bubbles = panel_of(app, "bubbles")
    assert bubbles.result is None
    said = bubbles.empty.sentence.text()  # with how far that is, if it takes long
    assert said.partition(" (")[0] == "Computing bubbles …"
    show_panel(app, "bubbles")
    assert bubbles.result is not None


# -- exporting -------------------------------------------------------------------------------------


def test_a_shot_of_a_panel_behind_a_tab_has_numbers(tmp_path: Path) -> None:
    take(Shot(SAMPLE, "causes", tmp_path / "causes.csv"))
    assert len((tmp_path / "causes.csv").read_text().splitlines()) > 2
