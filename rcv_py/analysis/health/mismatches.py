"""Instruction texts, executions and files that do not belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.token_columns import pieces
from rcv_py.analysis.health.note import HealthNote, Measured
from rcv_py.analysis.program.code_match import CONSEQUENCE, REMEDY, TITLE, code_match
from rcv_py.base.problems import Severity
from rcv_py.base.text import count, percent, plural
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

NOTABLE = 0.01  # of the cycles: more than that moves the ranking of lines


def wrong_code(trace: Trace, batches: Sequence[WaveBatch] | None = None) -> HealthNote | None:
    """Say so if executions went to other units than their instructions name."""
    found = code_match(trace, batches or ())
    if not found.is_wrong:
        return None
    share = percent(found.mismatched, found.judged)
    return HealthNote(
        name="wrong_code",
        severity=Severity.ERROR,
        title=TITLE,
        evidence=(
            Measured(
                "executions on another unit",
                found.mismatched,
                f"{count(found.mismatched)} of {count(found.judged)} ({share})",
            ),
            Measured("examples", len(found.examples), found.examples_text(trace.code).rstrip(".")),
        ),
        consequence=CONSEQUENCE,
        remedy=REMEDY,
    )


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Executed instructions that match no line of code.json."""

    executions: int
    all_executions: int
    cycles: int  # latency of the unmatched ones
    all_cycles: int
    waves: int  # with an unmatched one


def unmatched_executions(trace: Trace, batches: Iterable[WaveBatch]) -> Unmatched:
    """Return how many executions match no line, and their latency."""
    executions = cycles = total = waves = rows = 0
    for piece in pieces(batches):
        lost = (piece.line < 0) | (piece.line >= len(trace.code))
        rows += len(lost)
        total += int(piece.duration.sum())
        if lost.any():
            executions += int(np.count_nonzero(lost))
            cycles += int(piece.duration[lost].sum())
            before = np.append(0, np.cumsum(lost))
            waves += int(np.count_nonzero(np.diff(before[piece.first])))
    return Unmatched(executions=executions, all_executions=rows, cycles=cycles, all_cycles=total, waves=waves)


def unmatched(trace: Trace, batches: Sequence[WaveBatch] | None = None) -> HealthNote | None:
    """Say so if executed instructions match no line of code.json."""
    found = unmatched_executions(trace, batches or ())
    if not found.executions:
        return None
    share, latency = percent(found.executions, found.all_executions), percent(found.cycles, found.all_cycles)
    executions = f"{count(found.executions)} of {count(found.all_executions)} ({share})"
    return HealthNote(
        name="unmatched",
        severity=Severity.ERROR if found.cycles > NOTABLE * found.all_cycles else Severity.WARNING,
        title="Executed instructions match no line of the code",
        evidence=(
            Measured("instructions", found.executions, executions),
            Measured("their cycles", found.cycles, f"{count(found.cycles)} ({latency} of the latency)"),
            Measured("waves", found.waves, count(found.waves)),
        ),
        consequence="Their cycles are charged to no instruction and no source line.",
        remedy=(
            "The code object they ran in was not captured: let the profiler see it being loaded, so start "
            "the program under rocprofv3 rather than attaching to it, and keep the .out files beside the "
            ".att files."
        ),
    )


def lost_files(trace: Trace, batches: Sequence[WaveBatch] | None = None) -> HealthNote | None:
    """Say so if wave files that the index names are missing, empty or damaged."""
    gone = {int(row) for row in np.flatnonzero(trace.waves.size == 0)}
    gone |= {row for batch in batches or () for row, _ in batch.missing}
    if not gone:
        return None
    first = trace.waves.file[min(gone)]
    return HealthNote(
        name="lost_files",
        severity=Severity.ERROR,
        title="Wave files are missing or damaged",
        evidence=(
            Measured("files", len(gone), f"{count(len(gone))} of {count(len(trace.waves))}, such as {first}"),
        ),
        consequence=(
            f"Timelines and waits lack {plural(len(gone), 'wave')}, while the totals of code.json count them."
        ),
        remedy="Copy the whole capture folder again, or decode again; recording anew is not needed.",
    )
