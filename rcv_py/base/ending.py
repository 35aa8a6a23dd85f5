"""Being ended from outside (SIGTERM, or a terminal that closes): work unwinds as it does after Ctrl+C."""

from __future__ import annotations

import signal
import threading
from types import FrameType

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(KeyboardInterrupt):
    """Somebody ends this process; unlike `SystemExit` nobody takes it for an answer of a command."""


def end_tidily() -> None:
    """Raise Ended in the main thread when the process is asked to end, so that nothing half is left behind.

    A signal that is ignored, as after `nohup`, stays ignored; in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # tidying up is not to be interrupted by the same wish
    raise Ended
