"""Where on this machine the user's own data lie: notes, and what was kept of AMD's ISA files."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def data_folder(name: str) -> Path:
    """Return the folder of this name among the user's data; nobody made it yet."""
    if sys.platform == "win32":
        base = os.environ.get("APPDATA", "")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base else Path.home() / ".local" / "share") / "rcv" / name
