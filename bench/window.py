"""The whole window: how soon it shows a capture, and how long it does not answer while waves stream in."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from bench.folders import large_folder
from bench.load import FULL, GAP_MS, in_child
from bench.table import Options, Row, measure

READY_MS = 1500  # from the start of the process, warm
TIMES_SMALLEST = 2
SMALLEST = 1  # megabytes
RUNS = 3


@measure("window")
def window(options: Options) -> Iterator[Row]:
    """From the start of a process to Global, ISA and Explorer on screen, and gaps of the event loop."""
    with large_folder(SMALLEST) as folder:
        small, _, _ = measured(folder)
    yield Row(f"window shows {SMALLEST} MB", small, READY_MS, "ms", 0)
    for megabytes in (500, FULL) if options.full else (500,):
        with large_folder(megabytes) as folder:
            ready, first, gap = measured(folder)
        yield Row(f"window shows {megabytes} MB", ready, READY_MS, "ms", 0)
        yield Row(f"  the same / {SMALLEST} MB", ready / small, TIMES_SMALLEST)
        yield Row(f"  longest gap of the first picture, {megabytes} MB", first, None, "ms", 0)
        yield Row(f"longest gap while waves stream in, {megabytes} MB", gap, GAP_MS, "ms", 0)


def measured(folder: Path) -> tuple[float, ...]:
    """Medians of several runs, behind one that warms the caches, of what `bench.child` says of a window."""
    runs = [in_child("window", folder) for _ in range(RUNS + 1)][1:]
    return tuple(statistics.median(column) for column in zip(*runs, strict=True))
