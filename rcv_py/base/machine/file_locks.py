"""A file as a lock between processes: it is free again when its process ends, whatever ends that."""

from __future__ import annotations

import sys
from typing import IO

if sys.platform != "win32":
    import fcntl


def is_locked_here(file: IO[bytes]) -> bool:
    """Try to have a file to ourselves until it is closed; False if another process has it.

    Raise OSError where files cannot be locked.  On Windows nothing is tried, and the answer is True: there a
    file that is open cannot be removed, which says the same.
    """
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
