"""Hit rate of L2, and the requests and bytes between L2 and memory, of each kernel or dispatch.

```
hit rate    hits / (hits + misses)
partial     reads of 32 bytes / all reads of memory
read        32 · reads of 32 + 64 · of 64 + 96 · of 96 + 128 · of 128
written     64 · writes of 64 + 32 · other writes
over-fetch  read / what the algorithm has to read
```
Numbers are means of a dispatch, each over the dispatches for which its counter was recorded.  Where sizes
were not recorded, bytes are a range: every read of unknown size has at least 64 bytes (32 if those were not
counted either) and at most 128.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rcv_py.analysis.counters.pmc.counters import role_values
from rcv_py.model.pmc import PmcTable

BY = ("kernel", "dispatch")


@dataclass(frozen=True, slots=True)
class Range:
    """A number that lies between two."""

    least: float
    most: float

    @property
    def is_exact(self) -> bool:
        """Whether it is known."""
        return self.least == self.most

    def times(self, factor: float) -> Range:
        """Return it multiplied."""
        return Range(self.least * factor, self.most * factor)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Numbers of a dispatch (means, if of several); None where a counter is missing."""

    name: str  # of the kernel
    dispatch: str  # "" if of several
    dispatches: int
    counted: Mapping[str, float | None]  # by the key of a role
    hit_rate: float | None  # 0 to 1
    hit_rates: Range | None  # the lowest and highest of a dispatch
    partial: float | None  # 0 to 1
    dram: float | None  # share of reads that went to the device's memory, 0 to 1
    read: Range | None  # bytes
    written: Range | None  # bytes
    over_fetch: Range | None
    nanoseconds: float | None

    @property
    def read_rate(self) -> Range | None:
        """Bytes read a nanosecond, which is GB/s, while counters were recorded."""
        if self.read is None or not self.nanoseconds:
            return None
        return self.read.times(1 / self.nanoseconds)


def traffic(
    table: PmcTable, by: str = "kernel", kernel: str = "", ideal: float = 0.0, channels: float = 1.0
) -> tuple[Traffic, ...]:
    """Return a row a kernel or dispatch, those with most bytes read in all, then most lookups, first.

    `kernel` is a part of the name, `ideal` the bytes that a dispatch has to read (0: not known), `channels` a
    factor on bytes for counters that saw only a part of the memory channels.
    """
    values, _ = role_values(table)
    groups: dict[tuple[str, ...], list[int]] = {}
    for row, one in enumerate(table.dispatches):
        if kernel in one.kernel:
            key = (one.kernel,) if by == "kernel" else (one.kernel, one.agent, one.number)
            groups.setdefault(key, []).append(row)
    found = [_traffic(table, values, np.array(rows), by) for rows in groups.values()]
    found = [_scaled(one, ideal, channels) for one in found]
    return tuple(sorted(found, key=_weight))


def _weight(one: Traffic) -> tuple[float, float]:
    reads = one.read.most if one.read else 0.0
    return -reads * one.dispatches, -(_lookups(one.counted) or 0.0) * one.dispatches


def _lookups(counted: Mapping[str, float | None]) -> float | None:
    return _sum(counted["hits"], counted["misses"])


def _traffic(table: PmcTable, values: Mapping[str, np.ndarray], rows: np.ndarray, by: str) -> Traffic:
    counted = {key: _mean(column[rows]) for key, column in values.items()}
    first = table.dispatches[int(rows[0])]
    return Traffic(
        first.kernel,
        first.number if by == "dispatch" else "",
        len(rows),
        counted,
        _share(counted["hits"], _lookups(counted)),
        _hit_rates(values["hits"][rows], values["misses"][rows]),
        _share(counted["reads_32"], _all_reads(counted)),
        _share(counted["dram_reads"], _all_reads(counted)),
        _read(counted),
        _written(counted),
        None,
        _mean(table.nanoseconds[rows]),
    )


def _scaled(one: Traffic, ideal: float, channels: float) -> Traffic:
    read = None if one.read is None else one.read.times(channels)
    written = None if one.written is None else one.written.times(channels)
    over_fetch = read.times(1 / ideal) if read is not None and ideal else None
    return replace(one, read=read, written=written, over_fetch=over_fetch)


def _mean(column: np.ndarray) -> float | None:
    known = column[~np.isnan(column)]
    return float(known.mean()) if len(known) else None


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _sum(*parts: float | None) -> float | None:
    return None if None in parts else sum(part for part in parts if part is not None)


def _hit_rates(hits: np.ndarray, misses: np.ndarray) -> Range | None:
    known = hits + misses > 0
    rates = hits[known] / (hits + misses)[known]
    return Range(float(rates.min()), float(rates.max())) if len(rates) else None


def _sizes(counted: Mapping[str, float | None]) -> Sequence[tuple[int, float | None]]:
    """Bytes of a read, and how many reads had so many; `TCC_BUBBLE` tells nothing where it is 0."""
    wide = counted["reads_128"]
    wide = (counted["bubbles"] or None) if wide is None else wide
    return ((32, counted["reads_32"]), (64, counted["reads_64"]), (96, counted["reads_96"]), (128, wide))


def _all_reads(counted: Mapping[str, float | None]) -> float | None:
    if counted["reads"] is not None:
        return counted["reads"]
    three = _sum(counted["reads_32"], counted["reads_64"], counted["reads_128"])
    return None if three is None else three + (counted["reads_96"] or 0.0)


def _read(counted: Mapping[str, float | None]) -> Range | None:
    reads = _all_reads(counted)
    if reads is None:
        return None
    sizes = _sizes(counted)
    told = sum(bytes_ * (number or 0.0) for bytes_, number in sizes)
    rest = max(0.0, reads - sum(number or 0.0 for _, number in sizes))
    open_sizes = [bytes_ for bytes_, number in sizes if number is None and bytes_ != 96]
    if not rest or not open_sizes:
        return Range(told, told)
    return Range(told + rest * min(open_sizes), told + rest * max(open_sizes))


def _written(counted: Mapping[str, float | None]) -> Range | None:
    writes, full = counted["writes"], counted["writes_64"]
    if writes is None:
        return None
    if full is None:
        return Range(writes * 32, writes * 64)
    exact = 64 * full + 32 * max(0.0, writes - full)
    return Range(exact, exact)
