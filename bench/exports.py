"""Exports: a million instructions for Perfetto, and the report of the capture with most waves."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.folders import large_folder
from bench.table import Options, Row, measure
from rcv_py.export.perfetto import write_perfetto
from rcv_py.export.report_files import write_report
from rcv_py.export.report_inputs import ReportInputs
from rcv_py.export.targets import whole_file
from rcv_py.formats.open import open_trace
from rcv_py.work.load import batches, load_all

PERFETTO_S = 8.0  # seconds, reading and writing a million instructions
REPORT_S = 4.0  # seconds, from a loaded capture of 4,112 waves
GROWTH_MB = 400  # memory for ten million instructions
MANY_WAVES = "moe_reduce"


@measure("exports")
def exports(options: Options) -> Iterator[Row]:
    """A Perfetto trace of 1 M instructions (10 M with --full), and a report."""
    seconds, growth, size = perfetto(16)
    yield Row("Perfetto trace, 1 M instructions, reading them too", seconds, PERFETTO_S, "s")
    yield Row("  its size", size, None, "MB", 0)
    if options.full:
        seconds, growth, size = perfetto(160)
        yield Row("Perfetto trace, 10 M instructions", seconds, 10 * PERFETTO_S, "s")
        yield Row("  memory it takes", growth, GROWTH_MB, "MB", 0)
    shared = Path(os.environ.get("RCV_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    for folder in sorted((shared / "traces" / MANY_WAVES).glob("ui_output*")):
        trace = open_trace(folder)
        waves = load_all(trace)
        with tempfile.TemporaryDirectory(prefix="rcv-bench-") as place:
            began = time.perf_counter()
            write_report(ReportInputs(trace, waves), Path(place) / "report.html")
            yield Row(f"report, {MANY_WAVES}", time.perf_counter() - began, REPORT_S, "s")


def perfetto(megabytes: int) -> tuple[float, float, float]:
    """Seconds, growth of this process in MB, and MB of the file."""
    process = psutil.Process()
    with large_folder(megabytes) as folder, tempfile.TemporaryDirectory(prefix="rcv-bench-") as place:
        trace, path, most = open_trace(folder), Path(place) / "trace", 0
        before = process.memory_info().rss

        def look(stage: object) -> None:
            nonlocal most
            most = max(most, process.memory_info().rss)

        began = time.perf_counter()
        with whole_file(path) as target:
            write_perfetto(trace, batches(trace), target, report=look)
        return time.perf_counter() - began, (most - before) / 1e6, path.stat().st_size / 1e6
