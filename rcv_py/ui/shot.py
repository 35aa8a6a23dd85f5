"""A picture of a panel or the window, drawn without a display."""

import sys
from pathlib import Path

from PySide6.QtCore import QDeadlineTimer, QEventLoop, QSize, Qt, QTimer, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from rcv_py.base.errors import ExportError
from rcv_py.base.record import Value
from rcv_py.base.whole_files import whole_file
from rcv_py.ui.app import App, start
from rcv_py.ui.shell.exporter import WINDOW, PictureLook

FINDINGS = "triage"
WINDOW_SIZE = QSize(1600, 900)
PANEL_SIZE = QSize(1200, 600)
NOISE = ("propagateSizeHints", "raise()")  # messages of the offscreen platform about missing features
TIMEOUT_MS = 180_000
RESIZES = 5  # until a picture has its size: legend and caption may need other lines then
SETTLED_TURNS = 4  # turns of the event loop without anything being computed


class Shot(Value):
    """Describes a picture: panel `window` is the whole window; `size` in px before scaling."""

    path: Path
    panel: str
    out: Path
    size: tuple[int, int] | None = None
    theme: str = "light"
    scale: int = 1
    wave: str | None = None
    line: int | None = None
    range: tuple[int, int] | None = None
    baseline: Path | None = None
    replicate: Path | None = None
    run_files: tuple[Path, ...] = ()  # tables of the run; none: the tables next to the capture


def take(shot: Shot) -> None:
    """Draw the picture if its file can be written; raise RcvError with a sentence on failure."""
    with whole_file(shot.out, makes_folders=False) as file:
        file.write(_drawn(shot))


def _drawn(shot: Shot) -> bytes:
    qInstallMessageHandler(_print_message)
    app, errors = start(None), list[BaseException]()
    app.ui.session.run_files = shot.run_files
    app.window.opener.failed.connect(errors.append)
    app.ui.tasks.failed.connect(lambda error, _: errors.append(error))
    for failed in (app.window.opener.failed, app.ui.tasks.failed):
        failed.disconnect(app.window.errors.show)
    try:
        return _take(app, shot, errors)
    finally:
        app.close()
        qInstallMessageHandler(None)


def _take(app: App, shot: Shot, errors: list[BaseException]) -> bytes:
    app.window.exporter.check_name(shot.panel)
    app.ui.settings["look.theme"] = shot.theme
    app.ui.settings["findings.predict"] = shot.panel in (FINDINGS, WINDOW)  # others need not wait for it
    app.ui.settings["findings.predict_on_battery"] = True
    window = app.window
    window.looks_at_health = False
    window.resize(WINDOW_SIZE)
    window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    window.show()
    window.opener.open(shot.path)
    wait_until_idle(app, errors)
    if shot.baseline is not None:
        window.baseline.open(shot.baseline, shot.replicate)
        wait_until_idle(app, errors)
    _go(app, shot)
    wait_until_idle(app, errors)
    wanted = QSize(*shot.size) if shot.size else None
    size = wanted or (WINDOW_SIZE if shot.panel == WINDOW else PANEL_SIZE)
    room = QSize(size)
    for _ in range(RESIZES):
        _resize(app, shot, room)
        wait_until_idle(app, errors)
        drawn = window.exporter.size(shot.panel)
        if wanted is None or drawn == size:
            break
        # A table beside a chart takes a share of the width, a caption a part of the height.
        share = size.width() / max(1, drawn.width())
        room = QSize(round(room.width() * share), room.height() + size.height() - drawn.height())
    look = PictureLook(shot.scale, size=wanted)
    return window.exporter.content(shot.panel, shot.out.suffix, look)


def wait_until_idle(app: App, errors: list[BaseException]) -> None:
    """Let the window work until it is idle; raise any error that occurs."""
    deadline, quiet = QDeadlineTimer(TIMEOUT_MS), 0
    while quiet < SETTLED_TURNS:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        QApplication.sendPostedEvents()
        if errors:
            raise errors[0]
        quiet = quiet + 1 if app.window.idle and not app.ui.scheduler.has_background_work else 0
        if deadline.hasExpired():
            raise ExportError(
                "The picture did not get ready in three minutes.", hint="Try a smaller capture."
            )
        loop = QEventLoop()  # wait a moment for timers and threads
        QTimer.singleShot(25, loop.quit)
        loop.exec()


def _print_message(kind: QtMsgType, context: object, text: str) -> None:
    if not any(noise in text for noise in NOISE) and kind is not QtMsgType.QtDebugMsg:
        print(text, file=sys.stderr)


def _go(app: App, shot: Shot) -> None:
    session = app.ui.session
    trace = session.trace.value
    assert trace is not None
    if shot.wave is not None:
        session.select_wave(trace.waves.id(trace.wave_row(shot.wave)))
        wait_until_idle(app, [])
    if shot.line is not None:
        trace.check_line(shot.line)
        session.select_line(shot.line)
    if (window := trace.within(shot.range)) is not None:
        session.set_view(window)


def _resize(app: App, shot: Shot, size: QSize) -> None:
    window = app.window
    if shot.panel == WINDOW:
        window.resize(size)
        QApplication.processEvents()
        window.workspace.reset_layout()
        return
    panel = window.workspace.homes[shot.panel].panel
    if not panel.isWindow():
        window.workspace.show_panel(shot.panel)
        panel.setParent(window, Qt.WindowType.Window)  # alone, it can have any size
        panel.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    panel.resize(size)
    panel.show()
