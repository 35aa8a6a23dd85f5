"""What a folder of captures holds, told without opening any wave."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Problem
from rcv_py.base.text import short_kernel
from rcv_py.formats.uiout.code import read_code
from rcv_py.formats.uiout.folder import listing
from rcv_py.formats.uiout.index import read_index, rescued_index
from rcv_py.model.trace import CaptureEntry


def capture_entry(path: Path) -> CaptureEntry:
    """Return the facts of one capture; one that cannot be opened has them in its note.  Never raises."""
    problems: list[Problem] = []
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
        return CaptureEntry(path, path.name, "", 0, 0, 0, 0, 0, 0, str(error))
    lines = ~code.is_label
    cost = [int(code.latency[kernel.first : kernel.stop].sum()) for kernel in code.kernels]
    kernel = code.kernels[int(np.argmax(cost))].demangled if cost else ""
    return CaptureEntry(
        path=path,
        name=path.name,
        kernel=short_kernel(kernel) if kernel else "",
        waves=len(index.waves),
        instructions=int(np.count_nonzero(lines)),
        executed=int(np.count_nonzero(code.hits[lines])),
        mapped=code.mapped_rows,
        hits=int(code.hits.sum()),
        latency=int(code.latency.sum()),
        note=_note(len(index.waves), index.has_pc_samples or code.samples_issued is not None, problems),
    )


def _note(waves: int, is_sampled: bool, problems: list[Problem]) -> str:
    if not waves and is_sampled:
        return "PC samples only."
    if not waves:
        return "No wave ran on the traced compute unit; record with another --att-target-cu or a larger grid."
    return problems[0].text if problems else ""
