"""Packed captures beside their folders: opening, all waves, and size."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from bench.folders import large_folder
from bench.table import Options, Row, measure
from rcv_py.formats.open import open_trace
from rcv_py.work.packing import columns_of, pack
from tests.support.opened import load_all

MEGABYTES = 100
ROUNDS = 5
NO_SLOWER = 1.0  # of the time that the folder takes
SMALLER = 0.2  # of the bytes


@measure("packed")
def packed(_: Options) -> Iterable[Row]:
    """Ratios of processor time, median of pairs measured in turn."""
    with large_folder(MEGABYTES) as folder, tempfile.TemporaryDirectory() as place:
        file = Path(place) / "it.rcvz"
        trace = open_trace(folder)
        pack(trace, file, columns_of(trace))
        opened, read = zip(*(ratios(file, folder) for _ in range(ROUNDS)), strict=True)
        size = sum(one.stat().st_size for one in folder.iterdir())
        yield Row(f"packed / folder of {MEGABYTES} MB: opening", statistics.median(opened), NO_SLOWER)
        yield Row(f"packed / folder of {MEGABYTES} MB: all waves", statistics.median(read), NO_SLOWER)
        yield Row(f"packed / folder of {MEGABYTES} MB: bytes", file.stat().st_size / size, SMALLER)


def ratios(file: Path, folder: Path) -> tuple[float, float]:
    """How much longer the file takes than the folder, to open and to read all waves in one process."""
    ours, theirs = spent(file), spent(folder)
    return ours[0] / theirs[0], ours[1] / theirs[1]


def spent(path: Path) -> tuple[float, float]:
    """Seconds of processor time to open a capture, and to read all its waves."""
    began = time.process_time()
    trace = open_trace(path)
    there = time.process_time()
    load_all(trace, workers=0)
    return there - began, time.process_time() - there
