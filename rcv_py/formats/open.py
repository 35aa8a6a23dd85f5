"""From a path to a trace, or to what there is to know of the captures below it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Problems
from rcv_py.base.text import short_kernel
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.locate import MAX_DEPTH, locate
from rcv_py.formats.uiout.code import read_code
from rcv_py.formats.uiout.folder import listing
from rcv_py.formats.uiout.index import read_index, rescued_index
from rcv_py.formats.uiout.load import open_folder
from rcv_py.model.trace import CaptureEntry, Trace


def open_trace(path: Path, cache: CaptureCache | None = None) -> Trace:
    """Open the capture at `path`: its folder, a file inside it, or a folder with exactly one capture below.

    `cache` keeps captures for as long as their files stay the same; None opens it anew.  Raises a TraceError
    whose text says what is wrong and whose hint says what to do.
    """
    folder = locate(Path(path)).capture()
    return open_folder(folder) if cache is None else cache.trace(folder, partial(open_folder, folder))


def find_captures(path: Path, depth: int = MAX_DEPTH) -> tuple[CaptureEntry, ...]:
    """Return what the capture at `path`, or each capture up to `depth` folders below it, holds; sorted.

    Reads the index and the code of each; `locate(path).captures(depth)` only lists them.
    """
    return tuple(map(capture_entry, locate(Path(path)).captures(depth)))


def capture_entry(path: Path) -> CaptureEntry:
    """Return the facts of one capture; one that cannot be opened has them in its note.  Never raises."""
    problems = Problems()
    try:
        files = listing(path)
        try:
            index = read_index(files, problems)
        except TraceError:
            index = rescued_index(files, problems)
            if not len(index.waves):
                raise
        code = read_code(files, index.gfxip, problems).table
    except TraceError as error:
        return CaptureEntry(
            path=path,
            name=path.name,
            kernel="",
            waves=0,
            instructions=0,
            executed=0,
            mapped=0,
            hits=0,
            latency=0,
            note=str(error),
        )
    note = "No wave ran on the traced compute unit; record with another --att-target-cu or a larger grid."
    if index.has_pc_samples or code.samples_issued is not None:
        note = "PC samples only."
    lines = ~code.is_label
    return CaptureEntry(
        path=path,
        name=path.name,
        kernel="" if code.main_kernel is None else short_kernel(code.main_kernel.demangled),
        waves=len(index.waves),
        instructions=int(np.count_nonzero(lines)),
        executed=int(np.count_nonzero(code.hits[lines])),
        mapped=code.mapped_rows,
        hits=int(code.hits.sum()),
        latency=int(code.latency.sum()),
        note=note if not len(index.waves) else problems[0].text if problems else "",
    )
