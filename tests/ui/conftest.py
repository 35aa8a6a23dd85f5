"""A user interface without a window: what panels are handed in tests."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.commands import Commands
from rcv_py.state.session import Session
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.core.theme import Theme


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
    tasks.failed.connect(errors.append)
    theme = Theme(settings)
    session = Session()
    yield UiContext(session, tasks, theme, settings, Commands(), SharedResults(session, tasks))
    tasks.close()
    if (
        qapp.styleSheet() != outer
    ):  # Qt keeps rules by widget, also of widgets that have gone, and would follow them
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
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
