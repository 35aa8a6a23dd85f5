"""A user interface without a window: what panels are handed in tests."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from rcv_py.base.settings import OPTIONS
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.commands import Commands
from rcv_py.state.selection import SearchQuery
from rcv_py.state.session import Session
from rcv_py.ui.app import App
from rcv_py.ui.core import turns
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.core.theme import Theme
from tests.ui.window import SIZE, open_sample, settle, window

Reused = Callable[..., AbstractContextManager[App]]


@pytest.fixture(autouse=True)
def whole_turns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a key does is done when it was pressed, however slow the machine; test_turns is about the rest."""
    if not request.module.__name__.endswith("test_turns"):
        monkeypatch.setattr(turns, "TURN_S", float("inf"))


@pytest.fixture(autouse=True)
def released_keys(qapp: QApplication) -> Iterator[None]:
    """Qt remembers the Shift of a test's last click: without this it is held in the next test."""
    yield
    if qapp.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
        window = QWindow()
        QTest.mouseRelease(window, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(1, 1))
        assert qapp.keyboardModifiers() == Qt.KeyboardModifier.NoModifier


@pytest.fixture
def ui(qapp: QApplication) -> Iterator[UiContext]:
    """A context with nothing open; settings are forgotten afterwards."""
    outer = qapp.styleSheet()  # of a window that several tests share
    settings = Settings(None)
    settings["look.theme"] = "light"
    tasks = Tasks(1)
    errors: list[BaseException] = []
    tasks.failed.connect(lambda error, _: errors.append(error))
    theme = Theme(settings)
    session = Session()
    yield UiContext(session, tasks, theme, settings, Commands(), SharedResults(session, tasks))
    tasks.close()
    if (
        qapp.styleSheet() != outer
    ):  # Qt keeps rules by widget, also of widgets that have gone, and would follow them
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        qapp.setStyleSheet("")
        qapp.setStyleSheet(outer)
    assert not errors, errors


@pytest.fixture
def open_in(ui: UiContext, qtbot: object) -> Callable[[Trace, Iterable[WaveBatch]], None]:
    """Open a trace in the context, with the given waves loaded."""

    def open_trace(trace: Trace, batches: Iterable[WaveBatch] = ()) -> None:
        ui.session.open(trace)
        assert ui.session.store is not None
        for batch in batches:
            ui.session.store.add(batch)
        ui.session.wave_loaded()

    return open_trace


@pytest.fixture
def settled(ui: UiContext, qtbot: object) -> Callable[[], None]:
    """Wait until every task has delivered its answer."""

    def wait() -> None:
        qtbot.waitUntil(lambda: ui.tasks.idle, timeout=10_000)  # type: ignore[attr-defined]
        QApplication.processEvents()

    return wait


@pytest.fixture(scope="module")
def is_painted(request: pytest.FixtureRequest) -> bool:
    """Whether shared windows of a module are painted: a module says so with `IS_PAINTED`.

    Most tests ask a window what it shows, and nobody looks at its pixels.  All panels are painted, with every
    kind of capture, by the modules that do look, and where windows are their own.
    """
    return getattr(request.module, "IS_PAINTED", False)


@pytest.fixture(scope="module")
def empty_app(qapp: QApplication, is_painted: bool) -> Iterator[App]:
    """A window without a capture, for all tests of a module that only look at it."""
    with window() as app:
        app.window.setUpdatesEnabled(is_painted)
        yield app


@pytest.fixture(scope="module")
def _shared_app(qapp: QApplication, is_painted: bool) -> Iterator[App]:
    with window() as app:
        app.window.setUpdatesEnabled(is_painted)
        yield app


@pytest.fixture(scope="module")
def reused(qapp: QApplication, is_painted: bool) -> Iterator[Reused]:
    """As `window`, for tests that begin without a capture: the same window for all of a module."""
    with ExitStack() as stack:
        apps: list[App] = []

        @contextmanager
        def emptied(size: tuple[int, int] = SIZE) -> Iterator[App]:
            if not apps:
                apps.append(stack.enter_context(window()))
                apps[0].window.setUpdatesEnabled(is_painted)
            (app,) = apps
            session, workspace = app.ui.session, app.window.workspace
            app.window.resize(*size)
            app.window.show()
            app.window.activateWindow()
            workspace.reset_layout(app.window.size())
            QApplication.processEvents()
            yield app
            assert not app.window.shown_errors, app.window.shown_errors  # type: ignore[attr-defined]
            app.window.palette_.close()
            app.window.close_capture()
            session.baseline.set(None)
            session.query.set(SearchQuery())
            for option in OPTIONS:
                if app.ui.settings[option.name] != option.default:
                    app.ui.settings[option.name] = option.default

        yield emptied


@pytest.fixture
def sample_app(_shared_app: App, qtbot: object) -> Iterator[App]:
    """The window that the tests of a module share, with the sample open; what a test chose is undone."""
    app, session = _shared_app, _shared_app.ui.session
    if session.trace.value is None:
        open_sample(app, qtbot)
    app.window.activateWindow()
    workspace = app.window.workspace
    before, theme, layout = session.selection.value, app.ui.settings["look.theme"], workspace.saveState()
    yield app
    assert not app.window.shown_errors, app.window.shown_errors  # type: ignore[attr-defined]
    app.window.palette_.close()
    session.measure.set(None)
    session.clock_range.set(None)
    session.query.set(SearchQuery())
    session.selection.set(before)
    session.fit_all()
    app.ui.settings["look.theme"] = theme
    if workspace.saveState() != layout:
        workspace.reset_layout(workspace.size())
    settle(app, qtbot)
