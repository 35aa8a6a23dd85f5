"""The waves of a capture: read when first needed, cached within a memory budget, and as tables."""

from __future__ import annotations  # the reference prints them as they are written

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from rcv_py.analysis.core.token_columns import batch_of
from rcv_py.analysis.waves.populations import only
from rcv_py.api.errors import TooLarge
from rcv_py.api.table import Table, joined
from rcv_py.api.timeline import Timeline, timeline
from rcv_py.base.text import Message
from rcv_py.export.table_files import NO_WAVES
from rcv_py.export.tables import TABLES, Column
from rcv_py.model import waves
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results.table import DictionaryColumn
from rcv_py.work.load import batches, plan

DEFAULT_GB = 4.0
OF_WAVES = tuple(name for name, table in TABLES.items() if table.part is not None)


class Wave:
    """One traced wave with tables of its activity; `record` is the loader's object with all data."""

    def __init__(self, trace: Trace, record: waves.TracedWave) -> None:
        self._trace = trace
        self.record = record

    @property
    def id(self) -> WaveId:
        """The name of the wave."""
        return self.record.id

    @property
    def row(self) -> int:
        """Its place in the table `waves`."""
        return self.record.row

    @property
    def cu(self) -> int:
        """The compute unit it ran on."""
        return self.record.cu

    @property
    def begin(self) -> int:
        """The cycle when it began."""
        return self.record.begin

    @property
    def end(self) -> int:
        """The cycle when it ended."""
        return self.record.end

    @property
    def workgroup(self) -> int:
        """The number of its workgroup, -1 if unknown."""
        return self.record.workgroup

    @property
    def cluster(self) -> int:
        """The number of its cluster, -1 if unknown."""
        return self.record.cluster

    @cached_property
    def tokens(self) -> Table:
        """One row per executed instruction, in order of time."""
        return batch_table(self._trace, "tokens", batch_of([self.record]))

    @cached_property
    def states(self) -> Table:
        """One row per segment of its timeline: what it was doing."""
        return batch_table(self._trace, "states", batch_of([self.record]))

    @cached_property
    def waits(self) -> Table:
        """One row for each executed wait and each instruction that it waited for."""
        return batch_table(self._trace, "waits", batch_of([self.record]))

    def __repr__(self) -> str:
        return Message("<Wave {0}: {1:,} instructions>", self.id, len(self.record.tokens))

    def timeline(self, *, width: int = 1000, row_height: int = 40) -> Timeline:
        """Return a picture of what the wave did over time."""
        return timeline(self._trace, [batch_of([self.record])], width=width, row_height=row_height)

    def _repr_png_(self) -> bytes:
        return self.timeline().png

    def _repr_html_(self) -> str:
        return self.timeline()._repr_html_()


class WaveCache:
    """Waves of a trace, each read once while all of them fit in `budget` bytes."""

    def __init__(self, trace: Trace, budget: float, workers: int | None) -> None:
        self._trace = trace
        self._budget = budget
        self._workers = workers  # processes that read large captures; None: as the machine has room, 0: none
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

    def in_turn(self, rows: Collection[int] | None = None) -> Iterator[WaveBatch]:
        """Yield the same in order of the index; waves not in memory are read in batches, and not kept."""
        for job in plan(self._trace.waves, None if rows is None else sorted(rows)):
            missing = [row for row in job if row not in self._known]
            read = [self._trace.reader.read(missing)] if missing else []
            self.unreadable |= {row: why for batch in read for row, why in batch.missing}
            yield from in_order([*only(self._held, set(job)), *read])

    @property
    def held(self) -> tuple[WaveBatch, ...]:
        """The waves that are in memory."""
        return tuple(self._held)

    def _hold(self, batch: WaveBatch) -> None:
        self.unreadable |= dict(batch.missing)
        self._known |= {row for row, _ in batch.missing}
        columns = (batch.stall, batch.busy, batch.kind, batch.line)
        size = batch.nbytes or sum(column.nbytes for column in columns)
        if batch.waves and self._bytes + size <= self._budget:
            self._held.append(batch)
            self._bytes += size
            self._known |= {wave.row for wave in batch.waves}


def in_order(batches: Iterable[WaveBatch]) -> tuple[WaveBatch, ...]:
    """Return batches whose waves are in index order; rebuilt if they were mixed."""
    ordered = sorted((batch for batch in batches if batch.waves), key=lambda batch: batch.waves[0].row)
    all_waves = [wave for batch in ordered for wave in batch.waves]
    if all(a.row < b.row for a, b in pairwise(all_waves)):
        return tuple(ordered)
    return (batch_of(sorted(all_waves, key=lambda wave: wave.row)),)


def batch_table(trace: Trace, name: str, batch: WaveBatch) -> Table:
    """Return `tokens`, `states` or `waits` of the waves of a batch."""
    table = TABLES[name]
    assert table.part is not None
    return Table({key: _tight(column) for key, column in table.part(trace, batch).items()}, spec=table.spec)


def wave_table(trace: Trace, name: str, batches: Iterable[WaveBatch], limit: float) -> Table:
    """Return the same of all batches; raise TooLarge if it would take more than `limit` bytes."""
    tables, size = [], 0
    for batch in batches:
        table = batch_table(trace, name, batch)
        columns = (table.raw(column) for column in table)
        size += sum(
            column.code.nbytes if isinstance(column, DictionaryColumn) else column.nbytes
            for column in columns
        )
        if size > limit:
            raise TooLarge(name, limit)
        tables.append(table)
    # Columns of a table without rows would widen the columns of the others.
    return joined(tables or [batch_table(trace, name, NO_WAVES)])


def _tight(column: Column) -> Column:
    """Store text codes in the smallest integer type."""
    if not isinstance(column, DictionaryColumn):
        return column
    kind = np.uint8 if len(column.texts) < 256 else np.int32
    return DictionaryColumn(column.texts, column.code.astype(kind))
