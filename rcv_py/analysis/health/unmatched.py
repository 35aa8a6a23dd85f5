"""Instructions and files that are named but cannot be used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.health.note import HealthNote, Measured
from rcv_py.base.problems import Severity
from rcv_py.base.text import count, percent, plural
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

NOTABLE = 0.01  # of the cycles: more than that moves the ranking of lines


def unmatched(trace: Trace, batches: Sequence[WaveBatch] | None = None) -> HealthNote | None:
    """Say so if executed instructions match no line of code.json."""
    tokens = cycles = whole = waves = rows = 0
    for batch in batches or ():
        lost = (batch.line < 0) | (batch.line >= len(trace.code))
        duration = batch.stall.astype(np.int64) + batch.busy
        rows += len(lost)
        whole += int(duration.sum())
        if lost.any():
            tokens += int(np.count_nonzero(lost))
            cycles += int(duration[lost].sum())
            before = np.append(0, np.cumsum(lost))
            waves += int(np.count_nonzero(np.diff(before[batch.first])))
    if not tokens:
        return None
    return HealthNote(
        "unmatched",
        Severity.ERROR if cycles > NOTABLE * whole else Severity.WARNING,
        "Executed instructions match no line of the code",
        (
            Measured("instructions", tokens, f"{count(tokens)} of {count(rows)} ({percent(tokens, rows)})"),
            Measured("their cycles", cycles, f"{count(cycles)} ({percent(cycles, whole)} of the latency)"),
            Measured("waves", waves, count(waves)),
        ),
        "Their cycles are charged to no instruction and no source line.",
        "The code object they ran in was not captured: let the profiler see it being loaded, so start the "
        "program under rocprofv3 rather than attaching to it, and keep the .out files beside the .att files.",
    )


def lost_files(trace: Trace, batches: Sequence[WaveBatch] | None = None) -> HealthNote | None:
    """Say so if wave files that the index names are missing, empty or damaged."""
    gone = {int(row) for row in np.flatnonzero(trace.waves.size == 0)}
    gone |= {row for batch in batches or () for row, _ in batch.missing}
    if not gone:
        return None
    first = trace.waves.file[min(gone)]
    return HealthNote(
        "lost_files",
        Severity.ERROR,
        "Wave files are missing or damaged",
        (Measured("files", len(gone), f"{count(len(gone))} of {count(len(trace.waves))}, such as {first}"),),
        f"Timelines and waits lack {plural(len(gone), 'wave')}, while the totals of code.json count them.",
        "Copy the whole capture folder again, or decode again; recording anew is not needed.",
    )
