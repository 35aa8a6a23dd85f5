"""L2 and memory counters: how to record them, and hit rate, requests and bytes of kernels or dispatches.

Names differ between generations: `TCC` is the L2 of gfx9, `GL2C` the L2 of gfx10 and later; `EA` is the path
from L2 to memory.  A memory read has 32, 64 or 128 bytes.  gfx942 counts reads of 128 bytes as `TCC_BUBBLE`,
which stays 0 on gfx950; there these reads have a counter of their own.

```
hit rate    hits / (hits + misses)
partial     reads of 32 bytes / all reads of memory
read        32 · reads of 32 + 64 · of 64 + 96 · of 96 + 128 · of 128
written     64 · writes of 64 + 32 · other writes
over-fetch  read / what the algorithm has to read
```
Numbers are means a dispatch, each over the dispatches with its counter.  Where sizes were not recorded, bytes
are a range: every read of unknown size has at least 64 bytes (32 if 32-byte reads were not counted either)
and at most 128.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from rcv_py.base.text import Message, byte_size, count, nanoseconds, percent
from rcv_py.model.device import PmcTable


class Role(NamedTuple):
    """A quantity and the counters for it; the first recorded counter is used."""

    key: str
    names: tuple[str, ...]
    meaning: str


ROLES = (
    Role("hits", ("TCC_HIT", "GL2C_HIT"), "requests that found their line in L2"),
    Role("misses", ("TCC_MISS", "GL2C_MISS"), "requests that did not"),
    Role("requests", ("TCC_REQ", "GL2C_REQ"), "requests of all kinds to L2"),
    Role("l1_reads", ("TCP_TCC_READ_REQ",), "reads that L1 requested from L2"),
    Role("reads", ("TCC_EA0_RDREQ", "TCC_EA_RDREQ", "GL2C_EA_RDREQ"), "reads that L2 requested from memory"),
    Role("reads_32", ("TCC_EA0_RDREQ_32B", "TCC_EA_RDREQ_32B", "GL2C_EA_RDREQ_32B"), "of 32 bytes"),
    Role("reads_64", ("TCC_EA0_RDREQ_64B", "GL2C_EA_RDREQ_64B"), "of 64 bytes"),
    Role("reads_96", ("GL2C_EA_RDREQ_96B",), "of 96 bytes"),
    Role("reads_128", ("TCC_EA0_RDREQ_128B", "GL2C_EA_RDREQ_128B"), "of 128 bytes"),
    Role("bubbles", ("TCC_BUBBLE",), "reads of 128 bytes, on gfx942"),
    Role("dram_reads", ("TCC_EA0_RDREQ_DRAM", "TCC_EA_RDREQ_DRAM"), "reads from the device's own memory"),
    Role("writes", ("TCC_EA0_WRREQ", "TCC_EA_WRREQ", "GL2C_EA_WRREQ"), "writes from L2 to memory"),
    Role("writes_64", ("TCC_EA0_WRREQ_64B", "TCC_EA_WRREQ_64B", "GL2C_EA_WRREQ_64B"), "of 64 bytes"),
)
_BY_KEY = {role.key: role for role in ROLES}
PASSES = (
    ("hits", "misses", "requests", "l1_reads"),
    ("reads", "reads_32", "reads_64", "reads_128"),
    ("writes", "writes_64", "dram_reads"),
)


def role_values(table: PmcTable) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """Return the value of each dispatch by the key of its role, and the roles that were recorded twice.

    Columns are float64 [dispatches], NaN where nothing was recorded.  Rows of a file are summed; files are
    passes over the same dispatches, so their mean is taken.
    """
    values, repeated = {}, []
    for role in ROLES:
        # A counter with "sum" in its name takes precedence over the counter without.
        names = [name for base in role.names for name in (f"{base}_sum", base) if name in table.counters]
        counter = table.counters.index(names[0]) if names else len(table.counters)
        values[role.key], files = _by_dispatch(table, table.counter == counter)
        repeated += names[:1] if files > 1 else []
    return values, tuple(repeated)


def counter_of(key: str, family: str = "TCC") -> str:
    """Return the counter to record for a role, in a family of names; "" if the family has none."""
    names = _BY_KEY[key].names
    return next((f"{name}_sum" for name in names if name.startswith((family, "TCP"))), "")


def pmc_lines(keys: Iterable[str], family: str = "TCC") -> tuple[str, ...]:
    """Return the commands that record what is missing, each a pass of at most four counters of a block."""
    wanted = set(keys)
    lines = []
    for group in PASSES:
        if wanted & set(group):
            names = [name for name in (counter_of(key, family) for key in group) if name]
            lines.append(f"rocprofv3 --pmc {' '.join(names)} -f csv -d OUT -- APPLICATION")
    return tuple(lines)


def family_of(table: PmcTable) -> str:
    """Return `GL2C` if only such counters were recorded, else `TCC`."""
    starts = {name.partition("_")[0] for name in table.counters}
    return "GL2C" if "GL2C" in starts and "TCC" not in starts else "TCC"


def _by_dispatch(table: PmcTable, rows: np.ndarray) -> tuple[np.ndarray, int]:
    """The mean over files of the sum of some rows by dispatch, and the largest number of files of any."""
    files, n = max(1, len(table.files)), len(table.dispatches)
    # Only (dispatch, file) pairs that occur: many files of many dispatches would not fit otherwise.
    pair = table.dispatch[rows].astype(np.int64) * files + table.file[rows]
    pairs, place = np.unique(pair, return_inverse=True)
    total = np.bincount(pairs // files, np.bincount(place.reshape(-1), table.value[rows], len(pairs)), n)
    seen = np.bincount(pairs // files, minlength=n)
    return np.where(seen > 0, total / np.maximum(seen, 1), np.nan), int(seen.max(initial=0))


UNDER_FETCH = 0.95  # of the ideal bytes: fewer cannot be


class Range(NamedTuple):
    """A number known to lie between two; NaN if unknown."""

    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether the number is known at all."""
        return not isnan(self.low)

    def times(self, factor: float) -> Range:
        """Return the range multiplied by a factor."""
        return Range(self.low * factor, self.high * factor)


class Traffic(NamedTuple):
    """Numbers of a dispatch, or means of several; NaN where a counter is missing."""

    name: str  # of the kernel
    dispatch: str  # "" if of several
    dispatches: int
    counted: Mapping[str, float]  # by the key of a role
    hit_rate: float  # 0 to 1
    hit_rates: Range  # the lowest and highest of a dispatch
    partial: float  # 0 to 1
    dram: float  # share of reads that went to the device's memory, 0 to 1
    read: Range  # bytes
    written: Range  # bytes
    over_fetch: Range
    nanoseconds: float

    @property
    def read_rate(self) -> Range:
        """Bytes read per nanosecond (GB/s) while counters were recorded."""
        return self.read.times(1 / self.nanoseconds if self.nanoseconds else nan)


def traffic(
    table: PmcTable, by: str = "kernel", kernel: str = "", ideal: float = 0.0, channels: float = 1.0
) -> tuple[Traffic, ...]:
    """Return a row per kernel or dispatch, sorted by total bytes read, then by lookups, largest first.

    `kernel` is a part of the name, `ideal` the bytes that a dispatch must read (0: unknown), `channels` a
    factor on bytes for counters of only a part of the memory channels.
    """
    values, _ = role_values(table)
    groups: dict[tuple[str, ...], list[int]] = {}
    for row, one in enumerate(table.dispatches):
        if kernel in one.kernel:
            key = (one.kernel,) if by == "kernel" else (one.kernel, one.agent, one.number)
            groups.setdefault(key, []).append(row)

    def of(rows: np.ndarray) -> Traffic:
        counted = {key: _mean(column[rows]) for key, column in values.items()}
        first, reads = table.dispatches[int(rows[0])], _all_reads(counted)
        hits, lookups = values["hits"][rows], values["hits"][rows] + values["misses"][rows]
        rates = hits[lookups > 0] / lookups[lookups > 0]
        read = _read(counted, reads).times(channels)
        return Traffic(
            name=first.kernel,
            dispatch=first.number if by == "dispatch" else "",
            dispatches=len(rows),
            counted=counted,
            hit_rate=_share(counted["hits"], _lookups(counted)),
            hit_rates=Range(float(rates.min()), float(rates.max())) if len(rates) else Range(nan, nan),
            partial=_share(counted["reads_32"], reads),
            dram=_share(counted["dram_reads"], reads),
            read=read,
            written=_written(counted).times(channels),
            over_fetch=read.times(1 / ideal if ideal else nan),
            nanoseconds=_mean(table.nanoseconds[rows]),
        )

    def weight(one: Traffic) -> tuple[float, ...]:
        return tuple(np.nan_to_num([-one.read.high, -_lookups(one.counted)]) * one.dispatches)

    return tuple(sorted((of(np.array(group)) for group in groups.values()), key=weight))


def _lookups(counted: Mapping[str, float]) -> float:
    return counted["hits"] + counted["misses"]


def _mean(column: np.ndarray) -> float:
    known = column[~np.isnan(column)]
    return float(known.mean()) if len(known) else nan


def _share(part: float, whole: float) -> float:
    return part / whole if whole else nan


def _all_reads(counted: Mapping[str, float]) -> float:
    if not isnan(counted["reads"]):
        return counted["reads"]
    sizes = counted["reads_32"] + counted["reads_64"] + counted["reads_128"]
    return sizes if isnan(counted["reads_96"]) else sizes + counted["reads_96"]


def _read(counted: Mapping[str, float], reads: float) -> Range:
    wide = counted["reads_128"]
    wide = (counted["bubbles"] or nan) if isnan(wide) else wide  # a `TCC_BUBBLE` of 0 means nothing
    sizes = {32: counted["reads_32"], 64: counted["reads_64"], 96: counted["reads_96"], 128: wide}
    numbers = {size: number for size, number in sizes.items() if not isnan(number)}
    rest = reads - sum(numbers.values())
    exact = sum(size * number for size, number in numbers.items())
    open_sizes = sizes.keys() - numbers.keys() - {96}
    if isnan(rest):
        return Range(nan, nan)
    if rest <= 0 or not open_sizes:
        return Range(exact, exact)
    return Range(exact + rest * min(open_sizes), exact + rest * max(open_sizes))


def _written(counted: Mapping[str, float]) -> Range:
    writes, full = counted["writes"], counted["writes_64"]
    if isnan(writes) or isnan(full):
        return Range(writes * 32, writes * 64)
    exact = 64 * full + 32 * max(0.0, writes - full)
    return Range(exact, exact)


def traffic_facts(row: Traffic) -> Iterator[tuple[str, str]]:
    """Yield name and value of each recorded quantity."""
    counted = row.counted
    if not isnan(row.hit_rate):
        yield "L2 hit rate", _hits(row)
    if not isnan(counted["l1_reads"]):
        yield "from L1", Message("{0} reads that L1 sent to L2", _count(counted["l1_reads"]))
    if not isnan(counted["reads"]):
        parts = [_count(counted["reads"])]
        parts += [] if isnan(row.partial) else [Message("{0} of 32 bytes", share(row.partial))]
        parts += [] if isnan(row.dram) else [Message("{0} went to this device's memory", share(row.dram))]
        yield "reads of memory", "; ".join(parts)
    if row.read.is_known:
        yield "read", _read_text(row)
    if row.over_fetch.is_known:
        under = ": less than has to be read, so the ideal is too high or part was cached"
        low = under if row.over_fetch.high < UNDER_FETCH else ""
        yield "over-fetch", Message("{0} of the ideal bytes{1}", span(row.over_fetch, ratio), low)
    if row.written.is_known:
        yield "written", span(row.written, byte_size)


def span(value: Range, write: Callable[[float], str]) -> str:
    """Return `4.5 GB to 8.9 GB`, a single number if both ends look the same, "" if unknown."""
    if not value.is_known:
        return ""
    low, high = write(value.low), write(value.high)
    return high if low == high else Message("{0} to {1}", low, high)


def share(value: float | None) -> str:
    """Return `1.8 %` for 0.018, "" if unknown."""
    return "" if value is None or isnan(value) else percent(value, 1)


def ratio(value: float) -> str:
    """Return a ratio with two decimals."""
    return f"{value:.2f}"


def _count(value: float) -> str:
    return count(round(value))


def _hits(row: Traffic) -> str:
    hits, misses = row.counted["hits"], row.counted["misses"]
    text = Message("{0}: {1} of {2} lookups", share(row.hit_rate), _count(hits), _count(hits + misses))
    low, high = share(row.hit_rates.low), share(row.hit_rates.high)
    return text if low == high else Message("{0}; {1} to {2} in single dispatches", text, low, high)


def _read_text(row: Traffic) -> str:
    is_exact = row.read.low == row.read.high
    text = span(row.read, byte_size) + ("" if is_exact else " (sizes of reads were not all recorded)")
    if row.read_rate.is_known:
        text += Message(
            "; {0} GB/s in {1}", span(row.read_rate, "{:,.0f}".format), nanoseconds(row.nanoseconds)
        )
    return text
