"""A whole window in a test, with a small capture in it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QSettings, QTimer
from PySide6.QtWidgets import QApplication

from rcv_py.ui.app import App, start
from rcv_py.ui.core.visibility import WHEN_IDLE

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces"
SAMPLE = SAMPLES / "matmul_tiled"
SIZE = (1600, 900)  # px: sides are open
LOOK_MS = 10  # between looks at jobs that run
PATIENCE_S = 60.0  # of a busy machine
SOON_MS = 100  # calls that come later are those of a slow job that rests, or end a message


@contextmanager
def window(store: QSettings | None = None, size: tuple[int, int] = SIZE) -> Iterator[App]:
    """Make, show and close the window; every error that reaches it fails the test."""
    around = QApplication.instance()
    outer = around.styleSheet() if isinstance(around, QApplication) else ""  # of a window around this one
    app = start(store)
    app.ui.settings["findings.predict"] = False  # what comes when nobody waits any more is tested alone
    errors: list[BaseException] = []

    def note(error: BaseException, owner: object = None) -> None:
        if not any(one is error for one in errors):  # the failure of a job comes both ways
            errors.append(error)

    app.window.errors.show = note  # type: ignore[method-assign]
    app.ui.tasks.failed.connect(note)
    app.window.resize(*size)
    app.window.show()
    app.window.shown_errors = errors  # type: ignore[attr-defined]
    try:
        yield app
    finally:
        app.close()
        gc.collect()
        if app.qt.styleSheet() != outer:
            app.qt.setStyleSheet("")
            app.qt.setStyleSheet(outer)  # after the widgets have gone: Qt keeps rules by widget
    assert not errors, errors


def is_at_rest(app: App, soon_ms: int = SOON_MS) -> bool:
    """Whether nothing is being read or computed, and no call is about to be made."""
    return _busy_ms(app, soon_ms) is None


def _busy_ms(app: App, soon_ms: int) -> int | None:
    """How long to wait before looking again whether all is at rest; None: it is."""
    if not app.window.idle:
        return LOOK_MS
    timers = (timer for timer in app.window.findChildren(QTimer) if timer.objectName() != WHEN_IDLE)
    left = [timer.remainingTime() for timer in timers]
    return min((max(1, one) for one in left if 0 <= one <= soon_ms), default=None)


def settle(app: App, qtbot: object, soon_ms: int = SOON_MS) -> None:
    """Wait until nothing is left to do within a time, and what is shown is painted."""
    end = monotonic() + PATIENCE_S
    for _ in range(3):  # what was delivered may ask for more
        while (left := _busy_ms(app, soon_ms)) is not None:
            assert monotonic() < end, "the window does not come to rest"
            qtbot.wait(left)  # type: ignore[attr-defined]
        QApplication.processEvents()


def open_sample(app: App, qtbot: object, path: Path = SAMPLE) -> None:
    """Open a capture and wait until it is all there."""
    app.window.opener.open(path)
    settle(app, qtbot)
    assert app.ui.session.trace.value is not None
