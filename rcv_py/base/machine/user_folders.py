"""Folders of the user's files on this machine, data such as notes and caches, and locks of files there."""

import os
import sys
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl


def data_folder(name: str) -> Path:
    """Return the folder of this name among the user's data; it may not exist."""
    return _folder("APPDATA", "Application Support", "XDG_DATA_HOME", ".local/share") / name


def cache_folder(name: str) -> Path:
    """Return the folder of this name among the user's caches; it may not exist."""
    return _folder("LOCALAPPDATA", "Caches", "XDG_CACHE_HOME", ".cache") / name


def _folder(windows: str, mac: str, variable: str, otherwise: str) -> Path:
    """Our folder where this system keeps such files: from a variable, else in the home folder."""
    if sys.platform == "win32":
        base = os.environ.get(windows, "")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / mac)
    else:
        base = os.environ.get(variable, "")
    return (Path(base) if base else Path.home() / otherwise) / "rcv"


def is_locked_here(file: IO[bytes]) -> bool:
    """Try to lock a file until it is closed, or its process ends; False if another process has locked it.

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
