"""Start the program in phases: application, fonts, then a window with its settings, context and loader.

Windows share only their settings; a second `rcv FOLDER` opens another window in the running program.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from PySide6 import QtCore
from PySide6.QtCore import QLibraryInfo, QObject, QSettings, QSocketNotifier, Qt, QTimer, QtMsgType
from PySide6.QtGui import QFontDatabase, QIcon
from PySide6.QtWidgets import QApplication

from rcv_py import __version__
from rcv_py.base import resources
from rcv_py.base.errors import UsageError
from rcv_py.base.log import LOG
from rcv_py.base.machine.ending import check_end
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.record import Value
from rcv_py.base.settings import SYSTEM, VARIABLE
from rcv_py.base.text import Message, is_english, spoken_language, visible
from rcv_py.state.commands import Commands
from rcv_py.state.selection import SelectedPlace
from rcv_py.state.session import Session
from rcv_py.state.single_instance import Listener, OpenRequest
from rcv_py.tuning import memory, processors
from rcv_py.ui.core.loader import Loader
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.place_go import Destination
from rcv_py.ui.core.scheduler import Scheduler
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.shell.errors import ErrorReporter, catching, fault
from rcv_py.ui.shell.exporter import WINDOW
from rcv_py.ui.shell.main_window import MainWindow
from rcv_py.work.ahead import Preload, SmallPreload

STYLE = "Fusion"
SAFE = "rcv, safe mode"
BESIDE = QtCore.QPoint(28, 28)  # px: offset of a new window from the previous window
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def closes(quit_: Callable[[], object], parent: QObject) -> Iterator[None]:
    """Quit on a signal while the block runs; the event loop ends with 128 plus the signal's number.

    Python handles a signal only while it runs, which it does not while Qt waits for events.  So the system
    writes the number to a socket that Qt also waits for.
    """
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    # Without a handler in Python the system would end the process.
    old = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
    wakeup = signal.set_wakeup_fd(far.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(near.fileno(), QSocketNotifier.Type.Read, parent)

    def end() -> None:
        if numbers := [number for number in near.recv(64) if number in _SIGNALS]:
            quit_()
            QApplication.exit(128 + numbers[0])

    notifier.activated.connect(end)
    try:
        check_end()  # while the window was being made, when Qt delivered no signals
        yield
    finally:
        notifier.setEnabled(False)
        signal.set_wakeup_fd(wakeup)
        for number, handler in old.items():
            signal.signal(number, handler)
        near.close()
        far.close()


class App(Value):
    """A window and the objects that live as long as it."""

    qt: QApplication
    ui: UiContext
    loader: Loader
    window: MainWindow
    windows: Windows

    def open(self, request: OpenRequest) -> None:
        """Show the window, with what a command asks to see."""
        window = self.window
        self.ui.session.run_files = tuple(map(Path, request.run_files))
        window.first_panel = request.panel
        if request.place is not None:
            Destination(self.ui.session, SelectedPlace.parse(request.place), window.errors.show, window)
        if request.path is None:
            window.show()
        elif window.isVisible():
            window.opener.open(request.path)
        else:
            window.show_with(request.path)
        if request.baseline is not None:
            window.baseline.open(request.baseline, request.replicate)

    def close(self) -> None:
        """Close the window, end its work and release the widgets; a second call does nothing."""
        if self not in self.windows.apps:
            return
        self.windows.apps.remove(self)
        self.window.close()
        self.ui.settings.leave()
        self.ui.results.findings.close()
        self.ui.tasks.close()
        self.window.deleteLater()
        self.qt.sendPostedEvents(self.window, QtCore.QEvent.Type.DeferredDelete)
        for other in self.windows.apps[:1]:
            other.ui.tasks.collect_closed()


class Windows(QObject):
    """The windows of the program, the oldest first."""

    def __init__(self, qt: QApplication, store: QSettings | None, program: str = "rcv") -> None:
        super().__init__()
        self._qt, self._store, self._program = qt, store, program
        self.apps: list[App] = []
        self._listener: Listener | None = None
        self._notifier: QSocketNotifier | None = None

    def make(self, *, has_capture: bool = False) -> App:
        """Make a hidden window; if a capture opens at once, make the panels that will be visible."""
        session = Session()
        settings = Settings(self._store, self.apps[0].ui.settings if self.apps else None)
        if not self.apps:  # else the windows that are open would be in two languages
            speak_as_set(self._qt, str(settings["look.language"]))
        scheduler, theme = Scheduler(session), Theme(settings)
        ui = UiContext(
            session=session, scheduler=scheduler, theme=theme, settings=settings, commands=Commands(),
            results=SharedResults(session, scheduler),
        )  # fmt: skip
        scheduler.importer.first_picture.shut()  # until the workspace was painted
        scheduler.importer.the_rest.shut()
        loader = Loader(session, settings)
        loader.finished.connect(memory.trim)
        window = MainWindow(ui, loader, self._program)
        if has_capture:
            window.workspace.make_first_panels(settings.memory("seen"))
        theme.dress(window)
        rejected = (Problem(Severity.INFO, "settings", sentence) for sentence in settings.rejected)
        session.problems.set(tuple(rejected))
        app = App(self._qt, ui, loader, window, self)
        self.apps.append(app)
        window.another_wanted.connect(lambda: self.take(OpenRequest()))
        window.quit_wanted.connect(self.quit)
        # A window that its user closed goes while others stay; `run` releases the last.
        window.closed.connect(
            lambda: QTimer.singleShot(0, self, lambda: app.close() if len(self.apps) > 1 else None)
        )
        return app

    def take(self, request: OpenRequest) -> None:
        """Open what another start requested: in a window without a capture, else in a new window."""
        empty = (app for app in self.apps if app.ui.session.trace.value is None and app.loader.idle)
        app = next(empty, None) if request.path is not None else None
        if app is None:
            corner = self.apps[-1].window.pos() + BESIDE if self.apps else None
            app = self.make(has_capture=request.path is not None)
            if corner is not None:
                app.window.move(corner)
        app.open(request)
        app.window.setWindowState(app.window.windowState() & ~Qt.WindowState.WindowMinimized)
        app.window.raise_()
        app.window.activateWindow()

    def listen(self, place: Path | None) -> None:
        """Listen for other starts of the program; do nothing without a place or if another listens."""
        if place is None:
            return
        with suppress(OSError):
            self._listener = Listener(place, self.accepts, self.take)
            self._notifier = QSocketNotifier(self._listener.fileno(), QSocketNotifier.Type.Read, self)
            self._notifier.activated.connect(self._listener.hear)

    def quit(self) -> None:
        """Close every window as its user would; this ends the program."""
        for app in tuple(self.apps):
            app.window.close()

    def close_all(self) -> None:
        """Close every window, end all work and stop listening."""
        if self._listener is not None and self._notifier is not None:
            self._notifier.setEnabled(False)
            self._listener.close()
            self._listener = self._notifier = None
        for app in tuple(self.apps):
            app.close()

    def accepts(self, request: OpenRequest) -> bool:
        """Return whether there is a window and it has the wanted panel."""
        try:
            for app in self.apps[:1]:
                app.window.exporter.check_name(request.panel or WINDOW)
        except UsageError:
            return False  # the command reports the error
        return bool(self.apps)

    @property
    def errors(self) -> ErrorReporter | None:
        """The window that reports errors; None without a window."""
        return self.apps[0].window.errors if self.apps else None


def run(
    request: OpenRequest,
    *,
    ahead: Preload | SmallPreload | None = None,
    door: Path | None = None,
    is_safe: bool = False,
) -> int:
    """Show a window with what is wanted; return the exit code once the last window is closed.

    `ahead` already reads the capture, and other starts of the program hand over at `door`.  If `is_safe`,
    stored settings, layout and own formulas are neither read nor written.  Raise UsageError, with nothing
    shown, for a panel that does not exist.
    """
    from rcv_py.base.machine.crash import left_faults, noted_faults  # noqa: PLC0415 - of a program, not of a window

    store = QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "rcv", "rcv")
    kept = Path(store.fileName()).parent
    app = start(None if is_safe else store, has_capture=request.path is not None, is_safe=is_safe)
    app.loader.ahead = ahead
    if isinstance(ahead, SmallPreload):
        app.ui.results.findings.ahead = ahead.findings
        if not app.ui.settings["findings.predict"]:
            ahead.findings.leave_out_predictions()
    windows = app.windows
    try:
        app.window.exporter.check_name(request.panel or WINDOW)
    except UsageError:
        windows.close_all()
        raise
    memory.end_start()
    LOG.add("start", Message("{0} {1}, settings in {2}", app.window.program, __version__, kept))
    QtCore.qInstallMessageHandler(_note_message)
    with catching(lambda: windows.errors), noted_faults(kept):
        app.open(request)
        with closes(windows.quit, windows):
            QTimer.singleShot(0, windows, lambda: windows.listen(door))
            for trace in left_faults(kept)[-1:]:  # the last fault that ended an earlier run
                QTimer.singleShot(0, windows, partial(app.window.errors.show, fault(trace)))
            code = app.qt.exec()
    windows.close_all()
    QtCore.qInstallMessageHandler(None)
    LOG.add("end", Message("with {0}", code))
    return int(code)


def _note_message(kind: QtMsgType, context: QtCore.QMessageLogContext, text: str) -> None:
    severity = Severity.INFO if kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) else Severity.WARNING
    LOG.add("Qt", text, severity)
    print(visible(text), file=sys.stderr)


def start(settings_store: QSettings | None, *, has_capture: bool = False, is_safe: bool = False) -> App:
    """Make application, context and window without showing it; without a store settings stay in memory.

    If a capture will be opened at once, make the panels that will be visible now.  If `is_safe`, titles say
    so.
    """
    memory.return_large_blocks()
    sys.setswitchinterval(processors.SWITCH_S)
    qt = application()
    load_fonts()
    return Windows(qt, settings_store, SAFE if is_safe else "rcv").make(has_capture=has_capture)


def application() -> QApplication:
    """Return the application, making it with its names and style if there is none."""
    existing = QApplication.instance()
    if not isinstance(existing, QApplication):
        qt = QApplication(sys.argv[:1])
        qt.setStyle(STYLE)
    elif (qt := existing).property("style") != STYLE:  # a style sheet hides the style; setting it twice
        qt.setStyle(STYLE)  # restyles every widget, and keeps rules of deleted widgets
    qt.setProperty("style", STYLE)
    qt.setOrganizationName("rcv")
    qt.setApplicationName("rcv")
    qt.setApplicationVersion(__version__)
    qt.setDesktopFileName("rcv")
    if qt.windowIcon().isNull() and (drawing := resources.resource("rcv.svg")) is not None:
        qt.setWindowIcon(QIcon(str(drawing)))
    return qt


def speak_as_set(qt: QApplication, language: str) -> None:
    """Show texts in a language while the program runs; `system` is the language of the desktop.

    The language given at the start, by --language or $RCV_LANGUAGE, takes precedence.
    """
    name = QtCore.QLocale.system().name() if language == SYSTEM else language
    if is_english() and not os.environ.get(VARIABLE) and not name.startswith(("en", "C")):
        from rcv_py.base.languages import language_of_system, use  # noqa: PLC0415 - English needs no catalogue

        use(language_of_system(name))
    if is_english() or qt.findChild(QtCore.QTranslator) is not None:
        return
    words = QtCore.QTranslator(qt)  # of Qt's own texts: buttons of dialogs, menus of text fields
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if words.load(f"qtbase_{spoken_language()}", folder):
        qt.installTranslator(words)


def load_fonts() -> None:
    """Register the bundled fonts with Qt."""
    folder = resources.resource("fonts")
    for path in sorted(folder.glob("*.ttf")) if folder is not None else ():
        QFontDatabase.addApplicationFont(str(path))
