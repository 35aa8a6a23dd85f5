"""Mistakes nobody expected, in slots, paint events, timers, threads, jobs: the window tells and goes on."""

import gc
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakMethod

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from rcv_py.ui.app import App, start
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.shell.errors import catching
from tests.support.limits import HANG_S
from tests.ui.window import ROOT, SAMPLE, settle

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def caught() -> Iterator[App]:
    """A window with a capture, whose mistakes end where they end when it is started from the command line."""
    app = start(None)
    app.window.resize(1280, 800)
    try:
        with catching(lambda: app.window.errors):
            app.window.show()
            yield app
    finally:
        app.close()
        gc.collect()


@pytest.fixture(scope="module")
def _opened(qapp: QApplication) -> Iterator[App]:
    with caught() as made:
        yield made


@pytest.fixture
def app(_opened: App) -> Iterator[App]:
    """The window that these tests share, with a capture; what broke in it is mended, and forgotten."""
    if _opened.ui.session.trace.value is None:
        _opened.window.opener.open(SAMPLE)
        settle(_opened)
    with catching(lambda: _opened.window.errors):  # each test has hooks of its own around it
        yield _opened
        for part in _opened.window.findChildren(Faulty):
            part.hide()  # it may be painted once more before it goes
            part.deleteLater()
        for dock in _opened.window.workspace.docks.values():
            dock.mend()
        settle(_opened)
    _opened.window.errors.last = None
    _opened.window.errors._seen.clear()


def panel_of(app: App, name: str) -> Panel:
    app.window.workspace.show_panel(name)
    QApplication.processEvents()
    return app.window.workspace.docks[name].panel


def check_told(app: App, qtbot: QtBot, what: str) -> None:
    """A box with a sentence, what to do, and a report that can be copied."""
    qtbot.waitUntil(lambda: app.window.errors.last is not None)
    box = app.window.errors.last
    assert what in box.report
    assert "Traceback" in box.report
    assert "inside rcv" in box.sentence.text()
    details = box.findChild(QPlainTextEdit)
    assert details.isReadOnly()
    assert what in details.toPlainText()
    copy = next(one for one in box.findChildren(QPushButton) if one.text() == "Copy report")
    copy.click()
    assert what in QApplication.clipboard().text()
    box.close()


def check_goes_on(app: App) -> None:
    """What the window can do it still does."""
    app.ui.session.select_line(3)
    settle(app)
    assert app.ui.session.selection.value.line == 3
    assert app.window.isVisible()


class Faulty(QWidget):
    """Part of a panel; its paint event and its slot fail."""

    def __init__(self, parent: QWidget, paints_badly: bool) -> None:
        super().__init__(parent)
        self.paints_badly = paints_badly

    def paintEvent(self, event: object) -> None:
        if self.paints_badly:
            raise ZeroDivisionError("bad paint")

    def slot(self) -> None:
        raise ZeroDivisionError("bad slot")


def test_a_slot_that_fails_breaks_its_panel_alone(
    app: App, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    panel, dock = panel_of(app, "hotspot"), app.window.workspace.docks["hotspot"]
    button, part = QPushButton(panel), Faulty(panel, False)
    button.clicked.connect(part.slot)
    button.click()
    check_told(app, qtbot, "bad slot")
    assert "Hot" in dock.notice.sentence.text()
    assert "bad slot" in dock.notice.report
    assert panel.isHidden()
    others = [one for one in app.window.workspace.docks.values() if one.notice is not None]
    assert others == [dock]
    check_goes_on(app)
    next(one for one in dock.notice.findChildren(QPushButton) if one.text() == "Try again").click()
    assert dock.notice is None
    assert not panel.isHidden()
    assert "bad slot" in capsys.readouterr().err


def test_a_paint_event_that_fails_is_told_once_and_covered(
    app: App, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    panel, dock = panel_of(app, "hotspot"), app.window.workspace.docks["hotspot"]
    part = Faulty(panel, True)
    part.resize(panel.size())
    part.show()
    QTimer.singleShot(0, part, part.update)
    check_told(app, qtbot, "bad paint")
    assert dock.notice is not None
    assert not part.isVisible()
    check_goes_on(app)
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ZeroDivisionError")]
    assert len(told) == 1, "told once"
    assert told[0].endswith(": bad paint")


def test_timers_and_threads_are_heard(app: App, qtbot: QtBot, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(what: str) -> None:
        raise ZeroDivisionError(what)

    QTimer.singleShot(0, app.window, lambda: fail("bad timer"))
    check_told(app, qtbot, "bad timer")
    app.window.errors.last = None
    app.window.errors._seen.clear()
    thread = threading.Thread(target=lambda: fail("bad thread"))
    thread.start()
    thread.join()
    check_told(app, qtbot, "bad thread")
    broken = [name for name, dock in app.window.workspace.docks.items() if dock.notice is not None]
    assert not broken, "of no panel"
    check_goes_on(app)
    capsys.readouterr()


def test_a_job_that_fails_breaks_the_panel_that_asked(
    app: App, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    panel, dock = panel_of(app, "latency"), app.window.workspace.docks["latency"]
    app.ui.tasks.run(panel, lambda: 1 // 0, lambda _: None, "test")
    check_told(app, qtbot, "ZeroDivisionError")
    assert dock.notice is not None
    check_goes_on(app)
    app.ui.session.trace.notify()
    settle(app)
    assert dock.notice is None, "another capture is another try"
    capsys.readouterr()


def test_a_watcher_that_fails_does_not_keep_the_change_from_others(
    app: App, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    class Watcher:
        def look(self) -> None:
            raise ZeroDivisionError("bad watcher")

    watcher, heard = Watcher(), []
    selection = app.ui.session.selection
    look = WeakMethod(watcher.look)
    selection._watchers.insert(0, look)

    class Second:
        def look(self) -> None:
            heard.append(selection.value.line)

    second = Second()
    selection.watch(second.look)
    QTimer.singleShot(0, app.window, lambda: app.ui.session.select_line(5))
    check_told(app, qtbot, "bad watcher")
    assert heard == [5]
    selection._watchers.remove(look)  # what it raised holds the watcher until garbage is looked for
    capsys.readouterr()


def test_the_hooks_are_given_back() -> None:
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    with caught():
        assert sys.excepthook is not hooks[0]
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == hooks


SIGNALLED = """
import os, sys
from PySide6.QtCore import QTimer
from rcv_py.ui.app import closes, start

def be_signalled(number):
    app = start(None)
    app.window.show()
    with closes(app.window.close, app.window):
        QTimer.singleShot(0, app.window, lambda: os.kill(os.getpid(), number))
        QTimer.singleShot(30_000, app.window, lambda: app.qt.exit(1))
        code = app.qt.exec()
    print(code, app.window.isVisible(), flush=True)
    app.close()

for number in map(int, sys.argv[1:]):
    if not os.fork():
        be_signalled(number)
        sys.exit()
    assert os.wait()[1] == 0
"""


def test_a_signal_closes_the_window() -> None:
    """In a process of its own for each: Qt, once told to quit, starts no loop of a later test."""
    words = [sys.executable, "-c", SIGNALLED, *(str(int(number)) for number in SIGNALS)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert done.stdout.splitlines() == [f"{128 + number} False" for number in SIGNALS], done.stderr
    assert done.returncode == 0
