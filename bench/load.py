"""Reading waves: against orjson, per token, at its peak, and beside a living window."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from bench.folders import large_folder
from bench.table import Options, Row, measure
from bench.tree import environment
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.work.load import hold_memory, plan
from tests.support.opened import load_all

RATIO = 0.25  # of the time orjson.loads takes for the same bytes
SIZES = (100, 500)  # megabytes
FULL = 1500
TOKEN_BYTES = 30
PEAK = 500e6, 40  # bytes, and bytes a token
START = 2.5  # of the time Python takes to import numpy


@measure("load")
def load(options: Options) -> Iterator[Row]:
    """Time, memory and responsiveness of reading folders of several sizes."""
    for megabytes in (*SIZES, FULL) if options.full else SIZES:
        with large_folder(megabytes) as folder:
            yield from sized(folder, megabytes)


def sized(folder: Path, megabytes: int) -> Iterator[Row]:
    trace = open_trace(folder)
    ours, theirs = alternating(trace, plan(trace.waves))
    yield Row(f"waves to columns / orjson.loads, {megabytes} MB, 1 process", ours, RATIO)
    began = time.perf_counter()
    tokens = sum(len(batch.stall) for batch in load_all(trace, workers=2, lod=False))
    seconds = time.perf_counter() - began
    yield Row(f"waves to columns / orjson.loads, {megabytes} MB, 2 workers", seconds / theirs, RATIO)
    yield Row(f"  reading {megabytes} MB, 2 workers", seconds, None, "s")
    yield from memory(folder, megabytes, tokens)


def alternating(trace: Trace, jobs: list[list[int]]) -> tuple[float, float]:
    """Median ratio of the two times over jobs read in turn, and all the time orjson needs."""
    hold_memory()
    trace.reader.read(jobs[0])
    ratios, total = [], 0.0
    for rows in jobs:
        began = time.perf_counter()
        trace.reader.read(rows)
        ours = time.perf_counter() - began
        theirs = sum(orjson_seconds(trace.path / trace.waves.file[row]) for row in rows)
        ratios.append(ours / theirs)
        total += theirs
    return statistics.median(ratios), total


def orjson_seconds(path: Path) -> float:
    """Time of orjson.loads alone; reading the file is not counted against it."""
    data = path.read_bytes()
    began = time.perf_counter()
    orjson.loads(data)
    return time.perf_counter() - began


def memory(folder: Path, megabytes: int, tokens: int) -> Iterable[Row]:
    resident, own, child = in_child("peak", folder)
    fixed, each = PEAK
    yield Row(
        f"resident bytes a token, tables included, {megabytes} MB", resident / tokens, TOKEN_BYTES, "B", 1
    )
    yield Row(
        f"peak of a full load, 2 workers included, {megabytes} MB",
        (own + 2 * child) / 1e6,
        (fixed + each * tokens) / 1e6,
        "MB",
        0,
    )


@measure("start")
def start(options: Options) -> Iterator[Row]:
    """Start-up of a command, beside that of its largest import, in turn."""
    del options
    with large_folder(1) as folder:
        ours = [sys.executable, "-m", "rcv_py", "info", str(folder)]
        times = [(seconds_of(ours), seconds_of([sys.executable, "-c", "import numpy"])) for _ in range(9)][1:]
    info, unit = map(statistics.median, zip(*times, strict=True))
    yield Row("rcv info, 1 MB", 1000 * info, None, "ms", 0)
    yield Row("  the same / python -c 'import numpy'", info / unit, START)


def seconds_of(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment())
    return time.perf_counter() - began


def in_child(what: str, folder: Path) -> list[float]:
    """Run one of the measurements of `bench.child` in a fresh process."""
    command = [sys.executable, "-m", "bench.child", what, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
    return [float(word) for word in done.stdout.split()]
