"""Starting the window, in phases: application, fonts, settings, context, loader, window."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QEvent, QSettings, QSocketNotifier
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication, QWidget

from rcv_py import __version__
from rcv_py.base import memory, resources
from rcv_py.base.errors import UsageError
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.records import dataclass
from rcv_py.state.commands import Commands
from rcv_py.state.selection import Place
from rcv_py.state.session import Session
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.loader import Loader
from rcv_py.ui.core.place_go import Destination
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.shell.exporter import WINDOW
from rcv_py.ui.shell.main_window import MainWindow
from rcv_py.work.ahead import Ahead

STYLE = "Fusion"
SWITCH_S = 0.001  # after which a job gives the interpreter back to the window, by default five times as long
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def closes(window: QWidget) -> Iterator[None]:
    """Close the window on a signal while the block runs; the event loop ends with 128 and its number.

    Python hears of a signal only when it runs, and while Qt waits for events it does not.  So the system
    writes the number into a socket that Qt waits for, too.
    """
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    # Without a handler in Python the system would end the process.
    old = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
    wakeup = signal.set_wakeup_fd(far.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(near.fileno(), QSocketNotifier.Type.Read, window)

    def end() -> None:
        if numbers := [number for number in near.recv(64) if number in _SIGNALS]:
            window.close()
            QApplication.exit(128 + numbers[0])

    notifier.activated.connect(end)
    try:
        yield
    finally:
        notifier.setEnabled(False)
        signal.set_wakeup_fd(wakeup)
        for number, handler in old.items():
            signal.signal(number, handler)
        near.close()
        far.close()


@dataclass(frozen=True, slots=True)
class App:
    """Everything that lives as long as the window."""

    qt: QApplication
    ui: UiContext
    loader: Loader
    window: MainWindow

    def close(self) -> None:
        """Close the window, end all work, and give the widgets back."""
        self.window.close()
        self.ui.results.close()
        self.ui.tasks.close()
        self.window.deleteLater()
        self.qt.sendPostedEvents(self.window, QEvent.Type.DeferredDelete)


def run(
    path: Path | str | None = None,
    baseline: Path | str | None = None,
    replicate: Path | str | None = None,
    panel: str | None = None,
    place: Place | None = None,
    *,
    run_files: Sequence[Path] = (),
    ahead: Ahead | None = None,
) -> int:
    """Show the window, with a capture or folder opened if there is one; return the exit code.

    `baseline` is the capture that the first one is compared with, `replicate` another of its build; `panel`
    comes to the front, and `place` is selected.  `run_files` are tables of the run, instead of
    those near each capture, and `ahead` reads the first one already.  Raise UsageError, with nothing shown,
    for a panel that does not exist.
    """
    store = QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "rcv", "rcv")
    app = start(store, has_capture=path is not None)
    app.ui.session.run_files = tuple(run_files)
    app.loader.ahead = ahead
    try:
        app.window.exporter.check_name(panel or WINDOW)
    except UsageError:
        app.close()
        raise
    memory.end_start()
    sys.setswitchinterval(SWITCH_S)
    with app.window.errors.catching():
        app.window.first_panel = panel
        if place is not None:
            Destination(app.ui.session, place, app.window.errors.show, app.window)
        if path is not None:
            app.window.show_with(path)
        else:
            app.window.show()
        if baseline is not None:
            app.window.baseline.open(baseline, replicate)
        with closes(app.window):
            code = app.qt.exec()
    app.close()
    return int(code)


def start(settings_store: QSettings | None, *, has_capture: bool = False) -> App:
    """Make application, context and window, without showing it; settings stay in memory without a store.

    If a capture will be opened at once, the panels that will be seen are made now.
    """
    memory.return_large_blocks()
    qt = application()
    load_fonts()
    settings = Settings(settings_store)
    theme = Theme(settings)
    session = Session()
    tasks = Tasks()
    ui = UiContext(
        session=session,
        tasks=tasks,
        theme=theme,
        settings=settings,
        commands=Commands(),
        results=SharedResults(session, tasks),
    )
    loader = Loader(session, settings)
    loader.finished.connect(memory.trim)
    window = MainWindow(ui, loader)
    if has_capture:
        window.make_first_panels()
    theme.apply()  # of the whole: under a style sheet each step of putting widgets together restyles them
    session.problems.set(
        tuple(Problem(Severity.INFO, "settings", sentence) for sentence in settings.rejected)
    )
    return App(qt, ui, loader, window)


def application() -> QApplication:
    """Return the application, made if there is none, with its names and its style."""
    existing = QApplication.instance()
    qt = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
    if qt.property("style") != STYLE:  # under a style sheet Qt does not tell; twice restyles every widget,
        qt.setStyle(STYLE)  # and keeps rules of widgets that are gone
        qt.setProperty("style", STYLE)
    qt.setOrganizationName("rcv")
    qt.setApplicationName("rcv")
    qt.setApplicationVersion(__version__)
    qt.setDesktopFileName("rcv")
    return qt


def load_fonts() -> None:
    """Give Qt the fonts that come with the program."""
    folder = resources.resource("fonts")
    for path in sorted(folder.glob("*.ttf")) if folder is not None else ():
        QFontDatabase.addApplicationFont(str(path))
