"""A capture as a row of a library: kernel, costs, hottest place, and health."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.compare.costs import launch_of, table_doubt, table_ns
from rcv_py.analysis.core.occupancy import all_resident
from rcv_py.analysis.cost.place_text import known_place
from rcv_py.analysis.device.occupancy_curves import occupancy_numbers
from rcv_py.analysis.device.occupancy_limits import occupancy_limits
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.health.capture_health import HEALTHY, headline, health_notes, verdict
from rcv_py.analysis.health.replicates import fingerprint, line_costs, replicate_noise
from rcv_py.analysis.health.traced_units import doubt
from rcv_py.base.record import Value
from rcv_py.base.text import joined_texts, short_kernel
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace


class LibraryRow(Value):
    """One capture; missing numbers are 0, missing texts "".  `error`: why it cannot be opened."""

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
    verdict: str = HEALTHY  # number of notes of each severity
    serious: int = 0  # errors and warnings
    replicate: str = ""  # name of the first capture in the library with the same instructions
    noise: float = -1.0  # difference per execution from that replicate, 0.05 is 5 %; -1 if unknown
    error: str = ""
    problems: tuple[str, ...] = ()  # of its files
    duration: int = -1  # cycles of the launch, -1 if unknown
    span: int = -1  # cycles from the first start of a wave to the last end, of all kernels; -1 if unknown
    duration_ns: float = -1.0  # the same in time, else from the table of launches; -1 if unknown
    bound: str = ""  # class such as memory-bound, if findings were requested
    finding: str = ""  # the first finding, if findings were requested
    fit: int = -1  # waves of a SIMD that fit, -1 if unknown
    most_fit: int = -1  # wave slots of a SIMD of the device
    limiter: str = ""  # occupancy limiter, "" if nothing limits
    doubt: str = ""  # why the duration in the tables of the run is not used
    has_occupancy: bool = False
    has_costs: bool = False  # the capture has executions and cycles
    isa: str = ""  # fingerprint of the instructions
    costs: np.ndarray | None = None  # to compare replicates by


def library_row(trace: Trace, facts: RunFacts | None = None, findings: Findings | None = None) -> LibraryRow:
    """Return the row of an open capture, without reading its waves.

    `facts` come from the tables of the run; `findings` from its waves, None if these were not read.
    """
    code = trace.code
    rows = ~code.is_label
    notes = health_notes(trace)
    stall = code.stall if code.stall.any() or code.samples_stalled is None else code.samples_stalled
    top = int(np.argmax(stall)) if stall.any() else -1
    curve = all_resident(trace.occupancy)
    numbers = None if curve is None or trace.clock.apart else occupancy_numbers(curve)
    launch = launch_of(trace)
    cycles = -1 if launch is None or launch.doubt else launch.duration
    ns = trace.clock.ns(cycles) if cycles >= 0 else None
    if ns is None:
        ns = -1 if facts is None else table_ns(launch, facts)
    limits = occupancy_limits(trace, facts) if len(code) else None
    bound = None if findings is None else findings.bound_class
    return LibraryRow(
        trace.path,
        trace.name,
        kernel=short_kernel(trace.kernel_name) if trace.kernel_name else "",
        waves=len(trace.waves),
        instructions=int(np.count_nonzero(rows)),
        executed=int(np.count_nonzero(code.hits[rows])),
        mapped=code.mapped_rows,
        hits=int(code.hits.sum()),
        latency=int(code.latency.sum()),
        stall=int(code.stall.sum()),
        top=" ".join(code.text[top].split()) if top >= 0 else "",
        top_line=top,
        top_share=int(stall[top]) / int(stall.sum()) if top >= 0 else 0.0,
        top_source=known_place(trace, top),
        mean_waves=0.0 if numbers is None else numbers.mean,
        peak_waves=0 if numbers is None else numbers.peak,
        health="not run" if trace.is_static else headline(notes),
        verdict=verdict(notes),
        serious=sum(note.is_serious for note in notes),
        problems=tuple(map(str, trace.problems)),
        isa=fingerprint(code),
        costs=line_costs(code),
        has_occupancy=numbers is not None,
        has_costs=bool(code.hits.any()),
        duration=cycles,
        span=-1 if numbers is None or doubt(trace) else numbers.end - numbers.begin,
        duration_ns=float(ns),
        doubt="" if facts is None else table_doubt(launch, facts),
        fit=-1 if limits is None else limits.waves,
        most_fit=-1 if limits is None else limits.cap,
        limiter="" if limits is None or limits.binding is None else limits.binding.name,
        bound="" if bound is None else bound.name,
        finding="" if findings is None else joined_texts(findings.headline, " ")[0],
    )


def with_replicates(rows: Sequence[LibraryRow]) -> tuple[LibraryRow, ...]:
    """Add the name of each capture's replicate, and their difference per execution.

    Captures with the same instructions form a group; all are compared with its first.  A placeholder is never
    a replicate.
    """
    first: dict[str, LibraryRow] = {}
    for row in rows:
        if row.isa and row.hits:
            first.setdefault(row.isa, row)
    found = []
    for row in rows:
        other, costs = first.get(row.isa, row), row.costs
        if other is row or not row.hits or costs is None or other.costs is None:
            found.append(row)
        else:
            noise = replicate_noise(other.costs, costs)
            found.append(replace(row, replicate=other.name, noise=-1.0 if noise is None else noise.per_hit))
    return tuple(found)


# Orders of rows: the sort key, and whether the largest comes first.
ORDERS = {
    # If no clock gives the length of a cycle, half a nanosecond is assumed.
    "duration": (lambda row: row.duration_ns if row.duration_ns >= 0 else row.duration / 2, True),
    "latency": (lambda row: row.latency, True),
    "waves": (lambda row: row.waves, True),
    "stall": (lambda row: row.stall / row.latency if row.latency else 0.0, True),
    "health": (lambda row: (bool(row.error), row.serious), True),
    "occupancy": (lambda row: row.mean_waves, True),
    "kernel": (lambda row: row.kernel.lower(), False),
    "capture": (lambda row: str(row.path), False),
}


def ranked_rows(rows: Sequence[LibraryRow], order: str) -> tuple[LibraryRow, ...]:
    """Return the rows sorted by one of `ORDERS`; equal rows keep their order."""
    key, is_falling = ORDERS[order]
    return tuple(sorted(rows, key=key, reverse=is_falling))
