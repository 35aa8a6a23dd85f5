"""How files with the profile of a run are called; what is in them is another matter."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = re.compile(r"(?:.*_)?results\.json")
_DATABASE = (".db", ".rocpd", ".sqlite", ".sqlite3")


def is_profile(path: Path) -> bool:
    """Whether a file is called as the databases and documents of rocprofv3 are."""
    return path.suffix.lower() in _DATABASE or DOCUMENT.fullmatch(path.name) is not None
