"""The one way from a command to the terminal: whatever a text holds, only our own codes reach it as codes.

Text of a capture is printed in hundreds of places; none of them has to think of escapes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from rcv_py.base.text import visible

BOLD, UPRIGHT, WIPE = "\x1b[1m", "\x1b[0m", "\r\x1b[K"
_MARKS = {code: f"<{os.urandom(16).hex()}>" for code in (BOLD, UPRIGHT, WIPE)}  # no capture can know them


class Outlet:
    """A stream that shows what nobody could see as escapes; it is the stream below it in all else."""

    def __init__(self, below: TextIO) -> None:
        self.below = below

    def write(self, text: str) -> int:
        """Write the text; lines and tabs stay, and a mark of `code` becomes its code."""
        shown = visible(text, "\n\t")
        for code, mark in _MARKS.items() if "<" in shown else ():
            shown = shown.replace(mark, code)
        self.below.write(shown)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


def code(which: str, stream: TextIO) -> str:
    """Return what writes BOLD, UPRIGHT or WIPE to a stream: a mark where an outlet turns it into the code."""
    return _MARKS[which] if isinstance(stream, Outlet) else which


@contextmanager
def outlets() -> Iterator[None]:
    """Let nothing out but through outlets while the block runs."""
    streams = sys.stdout, sys.stderr
    try:
        sys.stdout, sys.stderr = (
            stream if isinstance(stream, Outlet) else cast(TextIO, Outlet(stream)) for stream in streams
        )
        yield
    finally:
        sys.stdout, sys.stderr = streams
