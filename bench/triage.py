"""`rcv triage`, from the start of the process to its last line, and beside what parsing alone takes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.folders import large_folder
from bench.table import Options, Row, measure

LIMITS_S = {10: 1.0, 100: 4.0}  # seconds, by megabytes of wave files
RUNS = 3


@measure("triage")
def triage(options: Options) -> Iterator[Row]:
    """A small and a large capture; the ratio is to `orjson.loads` of all files in one process."""
    for megabytes, limit in LIMITS_S.items():
        with large_folder(megabytes) as folder:
            seconds = min(started(folder) for _ in range(RUNS))
            yield Row(f"rcv triage, {megabytes} MB, from process start", seconds, limit, "s")
            if megabytes > min(LIMITS_S):
                whole = min(started(folder, "--all") for _ in range(RUNS))
                yield Row(f"rcv triage --all, {megabytes} MB", whole, None, "s")
            parse = min(parsed(folder) for _ in range(RUNS))
            yield Row(f"  of orjson.loads of the same {megabytes} MB", seconds / parse, None, "×")


def started(folder: Path, *words: str) -> float:
    """Seconds of a process of its own."""
    command = [sys.executable, "-m", "rcv_py", "triage", str(folder), *words]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def parsed(folder: Path) -> float:
    """Seconds to read and parse all files, without making anything of them."""
    import orjson  # noqa: PLC0415 - only here

    began = time.perf_counter()
    for path in folder.glob("*.json"):
        orjson.loads(path.read_bytes())
    return time.perf_counter() - began
