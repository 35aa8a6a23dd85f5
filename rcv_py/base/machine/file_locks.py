"""A file as a lock between processes: released when its process ends for any reason."""

import sys
from typing import IO

if sys.platform != "win32":
    import fcntl


def is_locked_here(file: IO[bytes]) -> bool:
    """Try to lock a file until it is closed; False if another process has locked it.

    Raise OSError if files cannot be locked.  On Windows always True: an open file cannot be removed there,
    which serves the same purpose.
    """
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
