"""Exports: a million instructions for Perfetto, and the report of the capture with most waves."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.folders import large_folder, recorded
from bench.load import in_child
from bench.table import Options, Row, measure
from rcv_py.analysis.core.reduction import InMemory
from rcv_py.export.report.files import write_report
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.formats.open import open_trace
from tests.support.opened import load_all

PERFETTO_S = 3.0  # seconds a million instructions, reading and writing
REPORT_S = 4.0  # seconds, from a loaded capture of 4,112 waves
GROWTH_MB = 400  # memory, however many instructions there are
MEGABYTES = (32, 320)  # of wave files: 1 M and 10 M instructions
MANY_WAVES = "moe_reduce"


@measure("exports")
def exports(options: Options) -> Iterator[Row]:
    """A Perfetto trace of 1 M instructions (and of 10 M with --full), and a report."""
    for megabytes in MEGABYTES if options.full else MEGABYTES[:1]:
        with large_folder(megabytes) as folder:
            seconds, tokens, growth, size = in_child("perfetto", folder)
        millions = tokens / 1e6
        name = f"Perfetto trace, {millions:.1f} M instructions, reading them too"
        yield Row(name, seconds, PERFETTO_S * millions, "s")
        yield Row("  memory it takes", growth / 1e6, GROWTH_MB, "MB", 0)
        yield Row("  its size", size / 1e6, None, "MB", 0)
    for folder in recorded(MANY_WAVES):
        trace = open_trace(folder)
        waves = load_all(trace, lod=False)
        with tempfile.TemporaryDirectory(prefix="rcv-bench-") as place:
            began = time.perf_counter()
            write_report(ReportInputs(InMemory(trace, waves)), Path(place) / "report.html")
            yield Row(f"report, {MANY_WAVES}", time.perf_counter() - began, REPORT_S, "s")
