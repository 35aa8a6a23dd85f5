"""A user interface without a window: what panels are handed in tests."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QWindow
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QWidget

from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.problems import Problem
from rcv_py.base.settings import OPTIONS
from rcv_py.features.source import panel as source_panel
from rcv_py.model.modes import LatencyMode, SourceCost
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.commands import Commands
from rcv_py.state.selection import History, SearchQuery, Visit
from rcv_py.state.session import Session
from rcv_py.ui.app import App
from rcv_py.ui.core import frame_budget
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.scheduler import Scheduler
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.shell import opener
from rcv_py.work.findings import FindingsInView, is_small
from tests.support import command_runs
from tests.ui.window import CALM, SAMPLE, SAMPLES, SIZE, open_sample, settle, window

Reused = Callable[..., AbstractContextManager[App]]
Settled = Callable[[], None]


@pytest.fixture(autouse=True)
def whole_turns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a key does is done when it was pressed, however slow the machine: but for test_frame_budget."""
    if not request.module.__name__.endswith("test_frame_budget"):
        monkeypatch.setattr(frame_budget, "FRAME_S", float("inf"))


@pytest.fixture(autouse=True)
def released_keys(qapp: QApplication) -> Iterator[None]:
    """Qt remembers the Shift of a test's last click: without this it is held in the next test.

    So is the button of a double click, which ends with its second press.
    """
    yield
    if (
        qapp.keyboardModifiers() != Qt.KeyboardModifier.NoModifier
        or qapp.mouseButtons() != Qt.MouseButton.NoButton
    ):
        window = QWindow()
        QTest.mouseRelease(window, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(1, 1))
        assert qapp.keyboardModifiers() == Qt.KeyboardModifier.NoModifier
        assert qapp.mouseButtons() == Qt.MouseButton.NoButton


@pytest.fixture(scope="session", autouse=True)
def found_once() -> Iterator[None]:
    """What there is to find in a capture that no test changes is looked for once, when all waves are there.

    Every window does when it opens it, and the answer is that of a pure function of the same files.  In large
    captures processes look, and do so anew: tests are about these, too.
    """
    find = FindingsInView.find
    known: dict[tuple[Path, str, tuple[Problem, ...]], Findings] = {}

    def remembered(
        self: FindingsInView,
        trace: Trace,
        batches: Sequence[WaveBatch],
        waves: str = WORKING,
        run_files: tuple[Path, ...] = (),
    ) -> Findings:
        is_kept = any(folder in trace.path.parents for folder in (SAMPLES, *command_runs.UNCHANGED))
        is_whole = sum(len(batch.waves) for batch in batches) == len(trace.waves)
        if run_files or not is_kept or not is_whole or not is_small(trace):
            return find(self, trace, batches, waves, run_files)
        key = trace.path, waves, trace.problems
        if key not in known:
            known[key] = find(self, trace, batches, waves, run_files)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FindingsInView, "find", remembered)
        yield


@pytest.fixture(scope="session", autouse=True)
def read_once() -> Iterator[None]:
    """What lies beside the sample, and the colours of a source, are found once a process."""
    look, colour = opener.find_captures, cache(source_panel.spans)

    @cache
    def beside_the_sample(depth: int) -> tuple[CaptureEntry, ...]:
        return look(SAMPLES, depth)

    def find(path: Path, depth: int) -> tuple[CaptureEntry, ...]:
        return beside_the_sample(depth) if path == SAMPLES else look(path, depth)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opener, "find_captures", find)
        patch.setattr(source_panel, "spans", lambda path, lines: colour(path, tuple(lines)))
        yield


@pytest.fixture
def ui(qapp: QApplication) -> Iterator[UiContext]:
    """A context with nothing open; settings are forgotten afterwards."""
    settings = Settings(None)
    settings["look.theme"] = "light"
    settings["findings.predict"] = False  # what comes when nobody waits any more is tested alone
    settings["findings.predict_on_battery"] = True  # where tests run does not matter
    tasks = Tasks(1)
    errors: list[BaseException] = []
    tasks.failed.connect(lambda error, _: errors.append(error))
    theme = Theme(settings)
    session = Session()
    scheduler = Scheduler(session, tasks)
    yield UiContext(session, scheduler, theme, settings, Commands(), SharedResults(session, scheduler))
    tasks.close()
    assert not errors, errors


@pytest.fixture
def open_in(ui: UiContext) -> Callable[[Trace, Iterable[WaveBatch]], None]:
    """Open a trace in the context, with the given waves loaded."""

    def open_trace(trace: Trace, batches: Iterable[WaveBatch] = ()) -> None:
        ui.session.open(trace)
        assert ui.session.store is not None
        for batch in batches:
            ui.session.store.add(batch)
        ui.session.wave_loaded()

    return open_trace


@pytest.fixture
def settled(ui: UiContext, qtbot: object) -> Settled:
    """Wait until nothing is computed or about to be, and every answer is shown."""

    def wait() -> None:
        for _ in range(2):  # what is delivered may ask for more
            qtbot.waitUntil(lambda: ui.scheduler.is_idle)  # type: ignore[attr-defined]
            QApplication.processEvents()

    return wait


@pytest.fixture
def open_settled(open_in: Callable[..., None], settled: Settled) -> Callable[..., None]:
    """Open a trace as `open_in`, and wait as `settled`."""

    def open_trace(*opened: Any) -> None:
        open_in(*opened)
        settled()

    return open_trace


@pytest.fixture
def new_panel(ui: UiContext, qtbot: Any, settled: Settled) -> Iterator[Callable[..., Any]]:
    """Make a panel and show it in a size; what it asked for is there when the test ends."""

    def make(kind: Callable[[UiContext], QWidget], width: int, height: int) -> QWidget:
        made = kind(ui)
        qtbot.addWidget(made)
        made.resize(width, height)
        made.show()
        return made

    yield make
    settled()


def panel_fixture(kind: Callable[[UiContext], QWidget], width: int, height: int, rows: str = "") -> Any:
    """A fixture: a panel of this size, shown.

    `rows` leads from the panel to its model, such as `tree.rows`: Qt's tester watches that.
    """

    @pytest.fixture
    def panel(new_panel: Callable[..., Any]) -> QWidget:
        made = new_panel(kind, width, height)
        if rows:
            model = attrgetter(rows)(made)
            QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
        return made

    return panel


def opened_fixture(panel: str, opened: Callable[[], Iterable[Any]]) -> Any:
    """A fixture: the panel of another one, with what this opens: a trace, and the batches that are read."""

    @pytest.fixture
    def shown(request: pytest.FixtureRequest, open_settled: Callable[..., None]) -> QWidget:
        made = request.getfixturevalue(panel)
        open_settled(*opened())
        return made

    return shown


@pytest.fixture(scope="module")
def is_painted(request: pytest.FixtureRequest) -> bool:
    """Whether shared windows of a module are painted: a module says so with `IS_PAINTED`.

    Most tests ask a window what it shows, and nobody looks at its pixels.  All panels are painted, with every
    kind of capture, by the modules that do look.
    """
    return getattr(request.module, "IS_PAINTED", False)


@pytest.fixture(scope="module")
def empty_app(qapp: QApplication, is_painted: bool) -> Iterator[App]:
    """A window without a capture, for all tests of a module that only look at it."""
    with window(is_painted=is_painted) as app:
        yield app


@pytest.fixture(scope="module")
def reused(qapp: QApplication, is_painted: bool) -> Iterator[Reused]:
    """As `window`: the same window for all of a module, laid out as at first, with default settings.

    Without `sample` a test begins without a capture.  With it the sample is open, at the place where opening
    it leads; from one such test to the next it stays open.
    """
    with ExitStack() as stack:
        apps: list[App] = []
        laid_out: list[tuple[Any, ...]] = []  # size and layout a test began with, while they may still be so

        @contextmanager
        def emptied(size: tuple[int, int] = SIZE, *, sample: bool = False) -> Iterator[App]:
            if not apps:
                apps.append(stack.enter_context(window(is_painted=is_painted)))
            (app,) = apps
            if not sample and app.ui.session.trace.value is not None:
                app.window.close_capture()
            lay_out(app, size, laid_out)
            laid_out.clear()
            if sample:
                show_sample(app)
                laid_out.append((size, app.window.workspace.save()))
            yield app
            assert not app.window.shown_errors, app.window.shown_errors  # type: ignore[attr-defined]
            undo(app, keeps_sample=sample)

        yield emptied


def lay_out(app: App, size: tuple[int, int], already: Collection[tuple[Any, ...]]) -> None:
    """Show the window in a size, with every dock where it is at first; `already`: states that are so."""
    app.window.resize(*size)
    app.window.show()
    app.window.activateWindow()
    workspace = app.window.workspace
    if (size, workspace.save()) not in already:
        workspace.reset_layout()
    QApplication.processEvents()


def show_sample(app: App) -> None:
    """Wait until the sample is there; open it unless it is."""
    if app.ui.session.trace.value is None:
        open_sample(app)
    else:
        settle(app)


def undo(app: App, *, keeps_sample: bool) -> None:
    """Undo what a test chose, and close the capture unless the sample is to stay, and is there."""
    session, settings = app.ui.session, app.ui.settings
    if "palette_" in vars(app.window):
        app.window.palette_.close()
    session.baseline.set(None)
    session.query.set(SearchQuery())
    if keeps_sample and is_sample_shown(app):
        undo_choices(app)
    else:
        app.window.close_capture()
    for option in OPTIONS:
        usual = CALM.get(option.name, option.default)
        if settings[option.name] != usual:
            settings[option.name] = usual


def is_sample_shown(app: App) -> bool:
    """Whether the window shows the sample, of which all was read."""
    trace, store = app.ui.session.trace.value, app.ui.session.store
    is_open = trace is not None and trace.path == SAMPLE and store is not None and store.is_complete
    return is_open and app.window.pages.currentWidget() is app.window.workspace


def undo_choices(app: App) -> None:
    """Go to the place where opening the capture that is open led, and forget what was chosen in it."""
    session = app.ui.session
    trace = session.trace.value
    assert trace is not None
    for cell, value in (
        (session.executions.sought, None),
        (session.hover, None),
        (session.measure, None),
        (session.between, None),
        (session.isolated_wait, None),
        (session.clock_range, None),
        (session.bookmarks, ()),
        (session.latency_mode, LatencyMode.SUM_ALL),
        (session.source_cost, SourceCost.SELF),
        (session.waves, WORKING),
        (session.selection, session.history.visits[0].selection),
        (session.view, session.outer(trace)),
        (session.window, session.outer(trace)),
    ):
        cell.set(value)
    session.history = History()
    session.history.push(Visit(session.selection.value, session.view.value))
    session.visited.set(session.visited.value + 1)
    session.report()


@pytest.fixture
def size() -> tuple[int, int]:
    """The size of the window that the tests of a module share; modules and tests may have another one."""
    return SIZE


@pytest.fixture
def app(reused: Reused, size: tuple[int, int]) -> Iterator[App]:
    """The window that the tests of a module share, with the sample open; what a test chose is undone."""
    with reused(size, sample=True) as made:
        yield made


@pytest.fixture
def blank(reused: Reused, size: tuple[int, int]) -> Iterator[App]:
    """The same window without a capture."""
    with reused(size) as made:
        yield made
