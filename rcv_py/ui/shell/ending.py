"""Ctrl+C and SIGTERM close the window as its button does: nothing half-written, no process left."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from PySide6.QtCore import QSocketNotifier
from PySide6.QtWidgets import QApplication, QWidget

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
    old = {number: signal.signal(number, _ignore) for number in _SIGNALS}
    wakeup = signal.set_wakeup_fd(far.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(near.fileno(), QSocketNotifier.Type.Read, window)

    def end() -> None:
        numbers = [number for number in near.recv(64) if number in _SIGNALS]
        if numbers:
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


def _ignore(number: int, frame: FrameType | None) -> None:
    """Be there: without a handler in Python the system would end the process."""
