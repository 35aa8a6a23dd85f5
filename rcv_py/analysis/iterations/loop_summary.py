"""What is told about loops, all at once: iterations, phases, and costs of first executions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rcv_py.analysis.iterations.loop_iterations import LoopIterations, loop_iterations
from rcv_py.analysis.iterations.phases import FirstHits, Phases, first_hits, phases
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


@dataclass(frozen=True, eq=False)
class LoopSummary:
    """The answer for the waves that were there."""

    found: LoopIterations
    phases: Phases
    hits: FirstHits
    of: int  # waves of the trace

    @property
    def waves(self) -> int:
        """How many waves were looked at."""
        return self.found.waves


def loop_summary(
    trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> LoopSummary:
    """Return the loops of the waves whose index row is in `rows` (None: all), each wave once."""
    batches = list(batches)
    found = loop_iterations(trace, batches, rows)
    return LoopSummary(
        found,
        phases(found, batches, rows),
        first_hits(batches, len(trace.code), rows),
        len(trace.waves),
    )
