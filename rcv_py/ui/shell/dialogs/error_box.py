"""The boxes of errors, log and licences: a sentence, versions and facts, and a bug report to copy."""

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialogButtonBox, QPlainTextEdit, QWidget

from rcv_py import __version__
from rcv_py.base.errors import Cancelled, RcvError
from rcv_py.base.log import IN_REPORT, LOG, without_home
from rcv_py.base.problems import Severity
from rcv_py.base.text import Message, translated
from rcv_py.model.trace import Trace
from rcv_py.ui.core.layout import Dialog
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.plain_text import SELECTABLE, PlainLabel, copy_text, named

BUG = "Something went wrong inside rcv. What you see may be incomplete; the window keeps working."
BUG_HINT = (
    "Nothing is sent by itself. If you send the report below, read it first: it names captures and files and "
    "holds none of their contents."
)
LICENCES = (
    "Qt and PySide6: LGPL 3",
    "pyqtgraph: MIT",
    "numpy, pygments, numba: BSD",
    "orjson: MPL 2; simdjson, regex: Apache 2 or MIT",
    "pyelftools: public domain",
    "JetBrains Mono: Apache 2",
)
LOG_HINT = "Lines name files and captures, and hold nothing else of them. Nothing is sent by itself."
FAULT = "rcv was ended by a fault of the system when it ran last."
FAULT_HINT = (
    "Nothing was sent. The report below says where it was; read it before you send it. If it comes at every "
    "start, `rcv --safe` starts with the settings and the layout of a first start."
)


def report(error: BaseException, where: str = "") -> str:
    """Return versions, capture, traceback or detail and the last log lines; the home folder becomes `~`."""
    lines = [_versions()]
    if where:
        lines.append(f"capture: {where}")
    if isinstance(error, RcvError):
        lines.append(f"{type(error).__name__}: {error}")
        lines += [error.detail] if error.detail else []
    else:
        lines += traceback.format_exception(error)
    lines += ["", "log:", LOG.text(IN_REPORT)] if LOG.lines() else []
    return without_home("\n".join(line.rstrip() for line in lines))


def _versions() -> str:
    from rcv_py.base.versions import versions_text  # noqa: PLC0415 - it reads the installed packages

    return versions_text()


def fault(trace: str) -> RcvError:
    """Return the report shown at the start after a fault of the system; `trace` is the fault's trace."""
    return RcvError(FAULT, FAULT_HINT, trace)


class ReportBox(Dialog):
    """A non-blocking window: a sentence, what to do, and a text to copy, unless that is hidden."""

    def __init__(
        self, title: str, sentence: str, hint: str, text: str, *, parent: QWidget | None, has_text: bool
    ) -> None:
        super().__init__(title, parent)
        self.setMinimumWidth(460)
        self.report = text
        self.sentence = PlainLabel(sentence, role="heading", wordWrap=True, textInteractionFlags=SELECTABLE)
        items: list[QWidget | tuple[QWidget, int]] = [self.sentence]
        if hint:
            items.append(PlainLabel(hint, wordWrap=True, textInteractionFlags=SELECTABLE))
        copy = self.buttons.addButton(translated("Copy report"), QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: copy_text(self.report))
        if has_text:
            shown = named(QPlainTextEdit(text, readOnly=True), "Report")
            shown.setMinimumHeight(140)
            items.append((shown, 1))
        self.fill(*items)


class ErrorBox(ReportBox):
    """An error, what to do, and the report."""

    def __init__(self, error: BaseException, where: str = "", parent: QWidget | None = None) -> None:
        sentence, hint, detail = BUG, BUG_HINT, "traceback"
        if isinstance(error, RcvError):
            sentence, hint, detail = str(error), error.hint, error.detail
        text = report(error, where)
        super().__init__("rcv", sentence, hint, text, has_text=bool(detail), parent=parent)


class LogBox(ReportBox):
    """What the program did lately, line by line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        text = f"{_versions()}\n{LOG.text()}\n"
        super().__init__("Log", "Log", LOG_HINT, text, parent=parent, has_text=True)
        self.resize(860, 520)


class AboutBox(Dialog):
    """Shows the program, its version and its components."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("About rcv", parent)
        what = "A viewer of instruction-level thread traces of AMD GPUs."
        text = "\n\n".join((what, "\n".join(LICENCES), facts(None)))
        heading = PlainLabel(Message("rcv {0}", __version__), role="heading")
        self.fill(heading, PlainLabel(text, textInteractionFlags=SELECTABLE), spacing=6)


class ErrorReporter(QObject):
    """Shows errors of any thread, each once; `broke` is of the panel whose code failed, and the report."""

    broke = Signal(object, str)
    _raised = Signal(object)  # an error, possibly from another thread

    def __init__(self, parent: QWidget, where: Callable[[], str]) -> None:
        super().__init__(parent)
        self._parent, self._where = parent, where
        self._seen: set[tuple[object, ...]] = set()
        self._is_showing = False
        self.last: ErrorBox | None = None
        self._raised.connect(self.show, Qt.ConnectionType.QueuedConnection)

    def show(self, error: BaseException, owner: object = None) -> None:
        """Show an error of a job of `owner`, unless it is a cancellation or a bug that was shown before."""
        if isinstance(error, (Cancelled, KeyboardInterrupt)):
            return
        if not isinstance(error, RcvError):
            panel = broken_panel(error, owner)
            other = None if panel is None else panel.window().findChild(ErrorReporter)
            if other not in (None, self):  # the panel is in another window
                other.show(error, owner)
                return
            if panel is not None:
                self.broke.emit(panel, report(error, self._where()))
            frames = traceback.extract_tb(error.__traceback__)
            key = (type(error).__name__, *((frames[-1].filename, frames[-1].lineno) if frames else ()))
            if key in self._seen:
                return
            self._seen.add(key)
            traceback.print_exception(error, file=sys.stderr)
            LOG.add("mistake", "".join(traceback.format_exception_only(error)), Severity.ERROR)
        else:
            LOG.add("told", str(error), Severity.WARNING)
        self.last = ErrorBox(error, self._where(), self._parent)
        self.last.open()

    def excepthook(self, kind: type[BaseException], error: BaseException, trace: object) -> None:
        """Replace `sys.excepthook`: exceptions in slots, timers and events of Qt arrive here."""
        if issubclass(kind, KeyboardInterrupt) or self._is_showing:  # an exception while another is shown
            sys.__excepthook__(kind, error, None)
            return
        self._is_showing = True
        try:
            self.show(error)
        finally:
            self._is_showing = False

    def hear(self, error: BaseException | None) -> None:
        """Show an error of any thread."""
        if error is not None and not isinstance(error, SystemExit):
            self._raised.emit(error)


@contextmanager
def catching(find: Callable[[], ErrorReporter | None]) -> Iterator[None]:
    """Show every unexpected exception in a window during the block, including exceptions of threads.

    `find` returns the reporter at that moment.  None means that no window is left; the exception is then
    printed.
    """
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        reporter = find()
        (hooks[0] if reporter is None else reporter.excepthook)(kind, error, trace)

    def hear(mistake: "threading.ExceptHookArgs | sys.UnraisableHookArgs") -> None:
        if (reporter := find()) is not None:
            reporter.hear(mistake.exc_value)

    sys.excepthook, threading.excepthook, sys.unraisablehook = show, hear, hear
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook, sys.unraisablehook = hooks


def broken_panel(error: BaseException, owner: object) -> Panel | None:
    """Return the panel whose code, or whose widgets' code, raised an exception; None if no panel did."""
    owners = [frame.f_locals.get("self") for frame, _ in traceback.walk_tb(error.__traceback__)]
    for known in (owner, *reversed(owners)):
        part = known
        while isinstance(part, QObject) and not isinstance(part, Panel):
            part = part.parent()
        if isinstance(part, Panel):
            return part
    return None


def facts(trace: Trace | None) -> str:
    """Return versions, and the kind of capture without its contents."""
    lines = _versions().splitlines()
    if trace is not None:
        version, waves = trace.version or "unknown", len(trace.waves)
        lines += [
            Message("format {0}, {1}, {2:,} waves", version, trace.target, waves),
            Message("{0:,} code lines, {1:,} sources", len(trace.code), len(trace.sources)),
            *(f"{problem.severity}: {problem.text}" for problem in trace.problems),
        ]
    return "\n".join(lines)
