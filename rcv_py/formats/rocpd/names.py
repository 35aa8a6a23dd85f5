"""Names of files with the profile of a run, independent of their contents."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = re.compile(r"(?:.*_)?results\.json")
_DATABASE = (".db", ".rocpd", ".sqlite", ".sqlite3")


def is_profile(path: Path) -> bool:
    """Whether a file has the name of a database or document of rocprofv3."""
    return path.suffix.lower() in _DATABASE or DOCUMENT.fullmatch(path.name) is not None
