"""Health of a capture whose waves are in memory."""

from collections.abc import Sequence

from rcv_py.analysis.health.capture_health import health_notes
from rcv_py.analysis.health.note import HealthNote
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


def capture_health(
    trace: Trace, batches: Sequence[WaveBatch] | None = None, other: Trace | None = None
) -> tuple[HealthNote, ...]:
    """Return the notes, with those about the waves of `batches` if there are any."""
    if not batches:
        return health_notes(trace, other=other)
    unread = [row for batch in batches for row, _ in batch.missing]
    return health_notes(trace, lambda reduction: reduction.of(trace, batches), unread, other)
