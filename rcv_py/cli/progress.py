"""Progress of long work on the terminal: one line that is written over, and nothing where nobody looks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeVar

from rcv_py.base.progress import Report, Stage, silent
from rcv_py.base.text import visible
from rcv_py.cli.outlet import WIPE, code

EVERY_S = 0.1
Item = TypeVar("Item")


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


def watched(
    items: Iterable[Item], name: str, total: int, size: Callable[[Item], int] = lambda item: 1
) -> Iterator[Item]:
    """Yield the items, and show how many of `total` are done; `size` is what an item counts for."""
    done = 0
    with progress() as report:
        report(Stage(name, done, total))
        for item in items:
            done += size(item)
            report(Stage(name, done, total))
            yield item
