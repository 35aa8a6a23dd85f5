"""A process that ends with the one that started it, however that one ends.

`kill -9` gives nobody a chance to stop its children, and a child that computes does not look up.  So the
kernel is asked to tell: the pipe by which multiprocessing knows of its parent signals its reader when the
other end goes, and nobody handles that signal.  That works even while a C function keeps Python to itself.
Where pipes do not signal, a thread waits for the same end.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import wait


def end_with_parent() -> None:
    """End this process when its parent does; to be called first thing in one that multiprocessing started."""
    parent = parent_process()
    if parent is None:
        return
    if isinstance(parent.sentinel, int):
        with suppress(OSError, ImportError):
            _let_it_signal(parent.sentinel)
    if wait([parent.sentinel], timeout=0):  # it went while we started: nothing will signal any more
        os._exit(1)
    threading.Thread(target=_watch, args=(parent.sentinel,), name="rcv-lifeline", daemon=True).start()


def _let_it_signal(pipe: int) -> None:
    """Have SIGIO, which ends a process, sent to us when the pipe's other end is closed."""
    import fcntl  # noqa: PLC0415 - Windows has none

    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
