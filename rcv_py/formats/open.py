"""From a path to a trace, or to what there is to know of the captures below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Problem, Problems, Severity
from rcv_py.base.progress import Report, silent
from rcv_py.base.text import short_kernel
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.locate import MAX_DEPTH, Shape, locate, shape_of
from rcv_py.formats.uiout.code import read_code
from rcv_py.formats.uiout.folder import listing
from rcv_py.formats.uiout.index import read_index, rescued_index
from rcv_py.formats.uiout.load import open_folder
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import CaptureEntry, Trace

if TYPE_CHECKING:  # what is decoded needs nothing of it
    from rcv_py.formats.raw.options import Jobs, RawOptions


def open_trace(
    path: Path,
    cache: CaptureCache | None = None,
    jobs: Jobs | None = None,
    options: RawOptions | None = None,
) -> Trace:
    """Open the capture at `path`: its folder, a file inside it, a packed capture, or the only one below it.

    `cache` keeps captures for as long as their files stay the same; None opens it anew.  `jobs` and `options`
    are about raw files (`open_capture`).  Raises a TraceError whose text says what is wrong and whose hint
    says what to do.
    """
    found = locate(Path(path)).capture()
    opener = partial(open_capture, found, jobs=jobs, options=options)
    is_usual = shape_of(found) is not Shape.RAW or _is_usual(options)
    return cache.trace(found, opener) if cache is not None and is_usual else opener()


def _is_usual(options: RawOptions | None) -> bool:
    """Whether raw files are decoded as usual: others are kept apart."""
    from rcv_py.formats.raw.options import RawOptions, chosen  # noqa: PLC0415 - of raw files alone

    return (options or chosen()) == RawOptions()


def open_capture(
    path: Path, report: Report = silent, jobs: Jobs | None = None, options: RawOptions | None = None
) -> Trace:
    """Open the capture that `locate` found at a path, in whatever shape it is; raise a TraceError.

    `jobs` gives processes that decode raw files; None: it is done here.  `options` are about raw files
    alone; None: as the environment says.
    """
    shape = shape_of(path)
    if shape is Shape.DECODED:
        return open_folder(path, report)
    if shape is Shape.PACKED:
        from rcv_py.formats.packed.read import open_packed  # noqa: PLC0415 - captures are folders mostly

        return open_packed(path)
    from rcv_py.formats.raw.open import open_raw  # noqa: PLC0415 - decoders take long to import
    from rcv_py.formats.raw.options import chosen  # noqa: PLC0415

    return open_raw(path, report, jobs, options or chosen())


def find_captures(path: Path, depth: int = MAX_DEPTH) -> tuple[CaptureEntry, ...]:
    """Return what the capture at `path`, or each capture up to `depth` folders below it, holds; sorted.

    Reads the index and the code of each; `locate(path).captures(depth)` only lists them.
    """
    return tuple(map(capture_entry, locate(Path(path)).captures(depth)))


def capture_entry(path: Path) -> CaptureEntry:
    """Return the facts of one capture; one that cannot be opened has them in its note.  Never raises."""
    try:
        return _ENTRIES[shape_of(path)](path)
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


def _folder_entry(path: Path) -> CaptureEntry:
    problems = Problems()
    files = listing(path)
    try:
        index = read_index(files, problems)
    except TraceError:
        index = rescued_index(files, problems)
        if not len(index.waves):
            raise
    code = read_code(files, index.gfxip, problems).table
    is_sampled = index.has_pc_samples or code.samples_issued is not None
    return _entry(path, len(index.waves), code, problems, is_sampled)


def _raw_entry(path: Path) -> CaptureEntry:
    """Of a raw capture; one that would take long to decode tells no more than names of files do."""
    from rcv_py.formats.raw.files import raw_capture  # noqa: PLC0415
    from rcv_py.formats.raw.open import is_quick  # noqa: PLC0415 - decoders take long to import
    from rcv_py.formats.raw.options import chosen  # noqa: PLC0415

    raw = raw_capture(path)
    if raw is None or is_quick(raw, chosen()):
        entry = _opened_entry(path)
    else:
        note = "Raw files: open it, and it is decoded."
        entry = CaptureEntry(
            path=path,
            name=path.name,
            kernel="",
            waves=0,
            instructions=0,
            executed=0,
            mapped=0,
            hits=0,
            latency=0,
            note=note,
        )
    return replace(entry, about=raw.text if raw else "")


def _opened_entry(path: Path) -> CaptureEntry:
    trace = open_capture(path)
    problems = [problem for problem in trace.problems if problem.severity is not Severity.INFO]
    return _entry(path, len(trace.waves), trace.code, problems, trace.has_pc_samples)


def _entry(
    path: Path, waves: int, code: CodeTable, problems: Sequence[Problem], is_sampled: bool
) -> CaptureEntry:
    note = "No wave ran on the traced compute unit; record with another --att-target-cu or a larger grid."
    if is_sampled:
        note = "PC samples only."
    lines = ~code.is_label
    return CaptureEntry(
        path=path,
        name=path.name,
        kernel="" if code.main_kernel is None else short_kernel(code.main_kernel.demangled),
        waves=waves,
        instructions=int(np.count_nonzero(lines)),
        executed=int(np.count_nonzero(code.hits[lines])),
        mapped=code.mapped_rows,
        hits=int(code.hits.sum()),
        latency=int(code.latency.sum()),
        note=note if not waves else problems[0].text if problems else "",
    )


_ENTRIES = {Shape.DECODED: _folder_entry, Shape.RAW: _raw_entry, Shape.PACKED: _opened_entry}
