"""rcv as a library: open a capture, read its tables as numpy columns, and run every analysis.

``` import rcv_py capture = rcv_py.open("ui_output_agent_1_dispatch_2") capture.hotspot().head() ``` Imports
no Qt.  docs/api.md shows how to use it; errors are RcvError with a sentence and a hint.
"""

from __future__ import annotations  # the reference prints them as they are written

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from rcv_py.analysis.overview.library import LibraryRow, ranked_rows, with_replicates
from rcv_py.api.capture import Capture
from rcv_py.api.capture_tables import checked_word
from rcv_py.api.errors import MissingPackage, NoColumn, NoRow, TooLarge, UnequalColumns
from rcv_py.api.table import Answer, Table
from rcv_py.api.waves import DEFAULT_GB, Timeline, Wave
from rcv_py.base.errors import (
    BrokenFile,
    ExportError,
    MissingFile,
    NotATrace,
    RcvError,
    TraceError,
    UsageError,
)
from rcv_py.features.compare.library_result import library_table
from rcv_py.formats.locate import MAX_DEPTH, locate
from rcv_py.formats.open import find_captures
from rcv_py.model.modes import LIBRARY_ORDERS, LibraryOrder
from rcv_py.model.trace import CaptureEntry
from rcv_py.work.library import library_rows

__all__ = [
    "Answer", "BrokenFile", "Capture", "CaptureEntry", "ExportError", "MissingFile", "MissingPackage",
    "NoColumn", "NoRow", "NotATrace", "RcvError", "Table", "Timeline", "TooLarge", "TraceError",
    "UnequalColumns", "UsageError", "Wave", "find", "library", "open",
]  # fmt: skip
PathOrEntry = str | PathLike[str] | CaptureEntry


def open(
    path: PathOrEntry,
    *,
    memory_gb: float = DEFAULT_GB,
    workers: int | None = None,
    run_files: str | PathLike[str] | Iterable[str | PathLike[str]] = (),
) -> Capture:
    """Open a capture: its folder, a file inside it, or a folder with exactly one capture below.

    Waves are read when needed: for large captures by `workers` processes (None: as many as the machine has
    room for, 0: none), of which `memory_gb` gigabytes are kept.  `run_files` are tables of the run, or
    folders with them; by default the tables near the capture are used.  Raises TraceError with a sentence.
    """
    return Capture(path, memory_gb=memory_gb, workers=workers, run_files=run_files)


def find(path: str | PathLike[str], depth: int = MAX_DEPTH) -> tuple[CaptureEntry, ...]:
    """Return the captures at a path or up to `depth` folders below it, sorted by path; `open` takes them.

    An entry has path, name, kernel, waves, instructions, executed, mapped, hits, latency and note.
    """
    return find_captures(Path(path), depth)


def library(
    path: str | PathLike[str],
    sort: LibraryOrder = "duration",
    *,
    depth: int = 6,
    jobs: int | None = None,
    cluster: str | None = None,
    findings: bool = False,
) -> Answer[tuple[LibraryRow, ...]]:
    """Return one row per capture below a folder, ranked, as in `rcv index`; `jobs` processes open them.

    `cluster` is the address of a Dask scheduler, such as `tcp://HOST:8786`, whose workers open them instead;
    paths are absolute then.

    A capture that cannot be opened has a row whose `error` says why.  `findings` reads the waves too, for the
    bound class and the first finding.
    """
    checked_word("sort", sort, LIBRARY_ORDERS)
    paths = locate(Path(path) if cluster is None else Path(path).absolute()).captures(depth)
    found = library_rows(paths, jobs, cluster=cluster, has_findings=findings)
    rows = ranked_rows(with_replicates(list(found)), sort)
    return Answer.of(library_table(rows), rows)
