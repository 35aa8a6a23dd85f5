"""How source places are written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from rcv_py.model.code import SourceFile


def place_text(sources: Sequence[SourceFile], file: int, line: int, full: bool = False) -> str:
    """Return `path:line` in full, or `name:line`; line 0 is code that the compiler made up."""
    path = sources[file].path if 0 <= file < len(sources) else "?"
    return f"{path if full else PurePosixPath(path).name}:{line or 'no line'}"
