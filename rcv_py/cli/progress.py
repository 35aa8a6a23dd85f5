"""Progress of long work on the terminal: one line that is written over, and nothing where nobody looks."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rcv_py.base.progress import Report, Stage, silent
from rcv_py.base.text import visible
from rcv_py.cli.outlet import WIPE, code

EVERY_S = 0.1


@contextmanager
def progress(stream: TextIO | None = None) -> Iterator[Report]:
    """Give a function that shows stages on stderr while the block runs; silent unless that is a terminal."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield silent
        return
    shown = 0.0

    def show(stage: Stage) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown >= EVERY_S or (stage.total and stage.done >= stage.total):
            shown = now
            stream.write(f"{code(WIPE, stream)}{visible(str(stage))}")
            stream.flush()

    try:
        yield show
    finally:
        stream.write(code(WIPE, stream))
        stream.flush()
