"""A whole window in a test, with a small capture in it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QEventLoop, QPoint, QRect, QSettings, QTimer
from PySide6.QtWidgets import QApplication, QMenu

from rcv_py.ui.app import App, start
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.shell.main_window import MainWindow
from rcv_py.ui.widgets.legend import Legend
from tests.support.limits import HANG_S

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces"
SAMPLE = SAMPLES / "matmul_tiled"
SIZE = (1600, 900)  # px: sides are open
CALM = {  # settings of windows in tests
    "findings.predict": False,  # what comes when nobody waits any more is tested alone
    "findings.predict_on_battery": True,  # where tests run does not matter
}
LOOK_MS = 10  # between looks at jobs that run
RESTS = 2  # looks in a row at which nothing was to be done


def menus_of(shell: MainWindow) -> dict[str, QMenu]:
    """The menus of the bar by path, opened as a user does: `View/Panels` inside `View`."""
    found: dict[str, QMenu] = {}
    waiting = [("", action) for action in shell.menu_bar.actions()]
    for above, action in waiting:  # grows
        menu = action.menu()
        if isinstance(menu, QMenu):
            menu.aboutToShow.emit()
            path = above + action.text().replace("&", "")
            found[path] = menu
            waiting += [(f"{path}/", inner) for inner in menu.actions()]
    return found


@contextmanager
def window(
    store: QSettings | None = None, size: tuple[int, int] | None = SIZE, *, is_painted: bool = False
) -> Iterator[App]:
    """Make, show and close the window; every error that reaches it fails the test.

    It is painted only for tests that look at pixels, or at what painting leaves.
    """
    gc.collect()
    gc.freeze()  # what is there now stays: closing this window need not look at it for garbage
    app = start(store)
    for name, value in CALM.items():
        app.ui.settings[name] = value
    errors: list[BaseException] = []

    def note(error: BaseException, owner: object = None) -> None:
        if not any(one is error for one in errors):  # the failure of a job comes both ways
            errors.append(error)

    app.window.errors.show = note
    app.ui.tasks.failed.connect(note)
    app.window.setUpdatesEnabled(is_painted)
    if size is not None:  # else that of the last time
        app.window.resize(*size)
    app.window.show()
    app.window.shown_errors = errors
    try:
        yield app
    finally:
        app.close()
        gc.collect()
    assert not errors, errors


def settings_in(folder: Path) -> QSettings:
    """Settings in a file of a folder, as they are kept from one start to the next."""
    return QSettings(str(folder / "rcv.ini"), QSettings.Format.IniFormat)


def settle(app: App) -> None:
    """Wait until nothing is left to do, and what is shown is painted."""
    end = monotonic() + HANG_S
    rests = 0
    while rests < RESTS:
        if app.window.idle:
            QApplication.processEvents()  # what is delivered here may ask for more
            rests += 1
        else:
            assert monotonic() < end, "the window does not come to rest"
            events = QEventLoop()
            QTimer.singleShot(LOOK_MS, events.quit)
            events.exec()
            rests = 0


def show_panel(app: App, name: str) -> Panel:
    """Show a panel, wait as `settle`, and return it."""
    app.window.workspace.show_panel(name)
    settle(app)
    return app.window.workspace.panel(name)


def legend_names(legend: Legend) -> tuple[str, ...]:
    """The names that a legend shows."""
    return tuple(one.name for one in legend.swatches)


def run_command(app: App, name: str) -> None:
    """Run a command of the window, and wait as `settle`."""
    app.ui.commands.run(name)
    settle(app)


def open_sample(app: App, path: Path = SAMPLE) -> None:
    """Open a capture and wait until it is all there."""
    app.window.opener.open(path)
    settle(app)
    assert app.ui.session.trace.value is not None


def box(app: App, name: str) -> QRect:
    """Where a panel is in the workspace; it is in front."""
    dock = app.window.workspace.docks[name]
    assert dock.is_seen, name
    return QRect(dock.mapTo(app.window.workspace, QPoint(0, 0)), dock.size())
