"""One traced wave of a capture."""

from __future__ import annotations

from functools import cached_property

from rcv_py.analysis.core.token_columns import batch_of
from rcv_py.api import tables
from rcv_py.api.table import Table
from rcv_py.model import waves
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace


class Wave:
    """One traced wave with tables of what it did; `record` is the loader's object, with all its file says."""

    def __init__(self, trace: Trace, record: waves.Wave) -> None:
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
        """The number of its workgroup, -1 if it is not known."""
        return self.record.workgroup

    @property
    def cluster(self) -> int:
        """The number of its cluster, -1 if it is not known."""
        return self.record.cluster

    @cached_property
    def tokens(self) -> Table:
        """One row an executed instruction, in order of time."""
        return self._table("tokens")

    @cached_property
    def states(self) -> Table:
        """One row a segment of its timeline: what it was doing."""
        return self._table("states")

    @cached_property
    def waits(self) -> Table:
        """One row for each executed wait and each instruction that it waited for."""
        return self._table("waits")

    def _table(self, name: str) -> Table:
        return tables.of_batch(self._trace, name, batch_of([self.record]))

    def __repr__(self) -> str:
        return f"<Wave {self.id}: {len(self.record.tokens):,} instructions>"
