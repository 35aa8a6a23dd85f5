"""The waves of a capture: read when they are first needed, kept within a budget of memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

from rcv_py.analysis.core.token_columns import batch_of
from rcv_py.analysis.findings.engine_choice import only
from rcv_py.base.settings import BY_NAME
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work.load import batches

DEFAULT_GB = float(BY_NAME["load.budget_gb"].default)


class WaveCache:
    """Waves of a trace, each read once as long as all of them fit in `budget` bytes."""

    def __init__(self, trace: Trace, budget: float, workers: int | None) -> None:
        self._trace = trace
        self._budget = budget
        self._workers = workers  # processes that read large captures; None: 2, 0: none
        self._held: list[WaveBatch] = []
        self._known: set[int] = set()  # rows of waves that are held or cannot be read
        self._bytes = 0
        self.unreadable: dict[int, str] = {}  # row → why it could not be read

    def batches(self, rows: Collection[int] | None = None) -> Iterator[WaveBatch]:
        """Yield the waves of these rows of the index (None: all) in no particular order."""
        wanted = set(range(len(self._trace.waves)) if rows is None else rows)
        missing = sorted(wanted - self._known)
        held = tuple(self._held) if rows is None else only(self._held, wanted)
        yield from sorted(held, key=lambda batch: batch.waves[0].row)
        if not missing:
            return
        for batch in batches(self._trace, missing, workers=self._workers):
            self._hold(batch)
            yield batch

    def _hold(self, batch: WaveBatch) -> None:
        self.unreadable |= dict(batch.missing)
        self._known |= {row for row, _ in batch.missing}
        if batch.waves and self._bytes + _size(batch) <= self._budget:
            self._held.append(batch)
            self._bytes += _size(batch)
            self._known |= {wave.row for wave in batch.waves}


def in_order(batches: Iterable[WaveBatch]) -> tuple[WaveBatch, ...]:
    """Return batches whose waves follow each other as in the index; made anew if they were mixed."""
    found = sorted((batch for batch in batches if batch.waves), key=lambda batch: batch.waves[0].row)
    rows = [wave.row for batch in found for wave in batch.waves]
    if all(a < b for a, b in pairwise(rows)):
        return tuple(found)
    return (batch_of(sorted((wave for batch in found for wave in batch.waves), key=lambda wave: wave.row)),)


def _size(batch: WaveBatch) -> int:
    columns = (batch.stall, batch.busy, batch.kind, batch.line)
    return batch.nbytes or sum(column.nbytes for column in columns)
