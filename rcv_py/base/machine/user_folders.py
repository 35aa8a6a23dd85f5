"""Where on this machine the user's own files lie: data such as notes, and what can be made again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def data_folder(name: str) -> Path:
    """Return the folder of this name among the user's data; nobody made it yet."""
    return _folder("APPDATA", "Application Support", "XDG_DATA_HOME", ".local/share") / name


def cache_folder(name: str) -> Path:
    """Return the folder of this name among what may be removed at any time; nobody made it yet."""
    return _folder("LOCALAPPDATA", "Caches", "XDG_CACHE_HOME", ".cache") / name


def _folder(windows: str, mac: str, variable: str, otherwise: str) -> Path:
    """The folder of ours where this system keeps such files: a variable names the place, else one at home."""
    if sys.platform == "win32":
        base = os.environ.get(windows, "")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / mac)
    else:
        base = os.environ.get(variable, "")
    return (Path(base) if base else Path.home() / otherwise) / "rcv"
