"""The numbers of `pmc_l2_analyzer.py`, by its rules, for comparison with old notes.

It sums everything, counts every read of other than 32 bytes as 64 bytes, and multiplies by a number of
channels.  `traffic` is more exact.
"""

from typing import NamedTuple

import numpy as np

from rcv_py.model.device import PmcTable

CHANNELS = 2  # its default factor


class OriginalNumbers(NamedTuple):
    """Sums over all matching dispatches; None where a counter is missing."""

    dispatches: int  # distinct ids
    hits: float | None
    misses: float | None
    l1_reads: float | None
    reads: float | None
    reads_32: float
    dram_reads: float
    channels: int
    ideal: float  # bytes a dispatch, 0 if not given

    @property
    def hit_rate(self) -> float:
        """Hits as a share of all lookups, 0 to 1."""
        whole = (self.hits or 0) + (self.misses or 0)
        return (self.hits or 0) / whole if whole else 0.0

    @property
    def partial(self) -> float:
        """Reads of 32 bytes as a share of all reads, 0 to 1."""
        return self.reads_32 / self.reads if self.reads else 0.0

    @property
    def read(self) -> float:
        """Bytes read, by its estimate."""
        return (64 * ((self.reads or 0) - self.reads_32) + 32 * self.reads_32) * self.channels

    @property
    def over_fetch(self) -> float:
        """Bytes read over the ideal bytes; 0 without the ideal."""
        whole = self.ideal * self.dispatches
        return self.read / whole if whole else 0.0


def original_numbers(
    table: PmcTable, kernel: str = "", channels: int = CHANNELS, ideal: float = 0.0
) -> OriginalNumbers:
    """Return the sums over the dispatches whose kernel has `kernel` in its name."""
    fits = np.array([kernel in one.kernel for one in table.dispatches], dtype=bool)
    ids = {one.number for one, is_one in zip(table.dispatches, fits, strict=True) if is_one}

    def total(name: str) -> float | None:
        if name not in table.counters:
            return None
        rows = (table.counter == table.counters.index(name)) & fits[table.of[table.execution]]
        return float(table.value[rows].sum()) if rows.any() else None

    return OriginalNumbers(
        dispatches=len(ids),
        hits=total("TCC_HIT_sum"),
        misses=total("TCC_MISS_sum"),
        l1_reads=total("TCP_TCC_READ_REQ_sum"),
        reads=total("TCC_EA0_RDREQ_sum"),
        reads_32=total("TCC_EA0_RDREQ_32B_sum") or 0.0,
        dram_reads=total("TCC_EA0_RDREQ_DRAM_sum") or 0.0,
        channels=channels,
        ideal=ideal,
    )
