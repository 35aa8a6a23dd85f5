"""A capture as one row of a library: what ran, what it cost, where, and whether to trust it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rcv_py.analysis.capture_health import HEALTHY, capture_health, headline, verdict
from rcv_py.analysis.capture_health.twins import LineCosts, fingerprint, line_costs, twin_noise
from rcv_py.analysis.occupancy import steps
from rcv_py.analysis.occupancy_curves import occupancy_numbers
from rcv_py.analysis.place_text import NO_PLACE, instruction_place
from rcv_py.base.text import short_kernel
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class LibraryRow:
    """One capture; numbers are 0 and texts "" where it does not tell.  `error`: why it cannot be opened."""

    path: Path
    name: str
    kernel: str = ""  # short
    waves: int = 0  # traced
    instructions: int = 0  # of the program, labels left out
    executed: int = 0  # of them ran
    mapped: int = 0  # of them have a source line
    hits: int = 0  # executions
    latency: int = 0  # cycles of all traced waves
    stall: int = 0  # cycles of it
    top: str = ""  # the instruction with most stall, or most samples
    top_line: int = -1  # its code line
    top_share: float = 0.0  # of all stall, 0 to 1
    top_source: str = ""  # file:line, "" if it has none
    mean_waves: float = 0.0  # resident on all compute units seen, weighted with time
    peak_waves: int = 0
    health: str = HEALTHY  # headline
    verdict: str = HEALTHY  # how many notes of each severity
    serious: int = 0  # errors and warnings
    twin: str = ""  # name of the first capture in the library with the same instructions
    noise: float = -1.0  # difference per execution from that twin, 0.05 is 5 %; -1 if unknown
    error: str = ""
    isa: str = ""  # fingerprint of the instructions
    costs: LineCosts | None = None  # to compare twins by


def library_row(trace: Trace) -> LibraryRow:
    """Return the row of an open capture, without reading its waves."""
    code = trace.code
    rows = ~code.is_label
    notes = capture_health(trace)
    top, share = _top(code)
    curve = steps(trace.occupancy).get(-1)
    numbers = None if curve is None else occupancy_numbers(curve)
    return LibraryRow(
        trace.path,
        trace.name,
        short_kernel(trace.kernel_name) if trace.kernel_name else "",
        len(trace.waves),
        int(np.count_nonzero(rows)),
        int(np.count_nonzero(code.hits[rows])),
        code.mapped_rows,
        int(code.hits.sum()),
        int(code.latency.sum()),
        int(code.stall.sum()),
        " ".join(code.text[top].split()) if top >= 0 else "",
        top,
        share,
        _source(trace, top),
        0.0 if numbers is None else numbers.mean,
        0 if numbers is None else numbers.peak,
        headline(notes),
        verdict(notes),
        sum(note.is_serious for note in notes),
        isa=fingerprint(code),
        costs=line_costs(code),
    )


def _top(code: CodeTable) -> tuple[int, float]:
    """The code line with most stall, -1 if nothing stalled, and its share of all stall."""
    stall = code.stall if code.stall.any() or code.samples_stalled is None else code.samples_stalled
    whole = int(stall.sum())
    if not whole:
        return -1, 0.0
    top = int(np.argmax(stall))
    return top, int(stall[top]) / whole


def _source(trace: Trace, line: int) -> str:
    place = instruction_place(trace, line)
    return "" if place == NO_PLACE else place


def with_twins(rows: Sequence[LibraryRow]) -> tuple[LibraryRow, ...]:
    """Name the captures that hold the same instructions, and tell by how much they differ per execution.

    The first of each group is what the others are compared with; a placeholder is nobody's twin.
    """
    first: dict[str, LibraryRow] = {}
    for row in rows:
        if row.isa and row.hits:
            first.setdefault(row.isa, row)
    return tuple(_with_twin(row, first.get(row.isa)) for row in rows)


def _with_twin(row: LibraryRow, other: LibraryRow | None) -> LibraryRow:
    if other is None or other is row or not row.hits or row.costs is None or other.costs is None:
        return row
    noise = twin_noise(other.costs, row.costs)
    return replace(row, twin=other.name, noise=-1.0 if noise is None else noise.per_hit)


# What programs get: a name and a value of plain types.
FIELDS: tuple[tuple[str, Callable[[LibraryRow], Any]], ...] = (
    ("capture", lambda row: row.name),
    ("path", lambda row: str(row.path)),
    ("kernel", lambda row: row.kernel),
    ("waves", lambda row: row.waves),
    ("instructions", lambda row: row.instructions),
    ("executed", lambda row: row.executed),
    ("mapped", lambda row: row.mapped),
    ("hits", lambda row: row.hits),
    ("latency", lambda row: row.latency),
    ("stall", lambda row: row.stall),
    ("stall_share", lambda row: round(row.stall / row.latency, 6) if row.latency else None),
    ("top_line", lambda row: row.top_line if row.top_line >= 0 else None),
    ("top_instruction", lambda row: row.top),
    ("top_stall_share", lambda row: round(row.top_share, 6)),
    ("top_source", lambda row: row.top_source),
    ("mean_waves", lambda row: round(row.mean_waves, 4)),
    ("peak_waves", lambda row: row.peak_waves),
    ("health", lambda row: row.health if not row.error else ""),
    ("verdict", lambda row: row.verdict if not row.error else ""),
    ("serious_notes", lambda row: row.serious),
    ("twin", lambda row: row.twin),
    ("twin_noise", lambda row: round(row.noise, 6) if row.noise >= 0 else None),
    ("error", lambda row: row.error),
)

# How to rank rows: what is compared, and whether the largest comes first.
ORDERS = {
    "latency": (lambda row: row.latency, True),
    "waves": (lambda row: row.waves, True),
    "stall": (lambda row: row.stall / row.latency if row.latency else 0.0, True),
    "health": (lambda row: (bool(row.error), row.serious), True),
    "occupancy": (lambda row: row.mean_waves, True),
    "kernel": (lambda row: row.kernel.lower(), False),
    "capture": (lambda row: str(row.path), False),
}


def ranked_rows(rows: Sequence[LibraryRow], order: str) -> tuple[LibraryRow, ...]:
    """Return the rows by one of `ORDERS`; equal ones stay as they were."""
    key, is_falling = ORDERS[order]
    return tuple(sorted(rows, key=key, reverse=is_falling))
