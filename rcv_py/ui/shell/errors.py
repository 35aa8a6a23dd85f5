"""Errors of all threads, each shown once, and exceptions that nobody expected."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from rcv_py.base.errors import Cancelled, RcvError
from rcv_py.base.log import LOG
from rcv_py.base.problems import Severity
from rcv_py.ui.core.panel import Panel

if TYPE_CHECKING:
    from rcv_py.ui.shell.dialogs.error_box import ErrorBox

FAULT = "rcv was ended by a fault of the system when it ran last."
FAULT_HINT = (
    "Nothing was sent. The report below says where it was; read it before you send it. If it comes at every "
    "start, `rcv --safe` starts with the settings and the layout of a first start."
)


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
        from rcv_py.ui.shell.dialogs.error_box import ErrorBox, report  # noqa: PLC0415 - few windows meet an error

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

    def hear(mistake: threading.ExceptHookArgs | sys.UnraisableHookArgs) -> None:
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


def fault(trace: str) -> RcvError:
    """Return the report shown at the start after a fault of the system; `trace` is the fault's trace."""
    return RcvError(FAULT, FAULT_HINT, trace)
