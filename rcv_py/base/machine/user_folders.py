"""Folders of the user's files on this machine: data such as notes, and caches."""

import os
import sys
from pathlib import Path


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
