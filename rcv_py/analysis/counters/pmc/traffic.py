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
Numbers are means a dispatch.  Each ratio and number of bytes takes its counters from the same executions of
dispatches, and is left out where no execution recorded them together.  Where sizes were not recorded, bytes
are a range: every read of unknown size has at least 64 bytes (32 if 32-byte reads were not counted either)
and at most 128.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import isnan, nan

import numpy as np

from rcv_py.base.record import Value
from rcv_py.base.text import Message, byte_size, count, nanoseconds, percent
from rcv_py.model.device import PmcTable


class Role(Value):
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
    ("writes", "writes_64", "dram_reads", "reads"),
)


RATIOS = {"hit_rate": ("hits", "misses"), "partial": ("reads", "reads_32"), "dram": ("reads", "dram_reads")}
_SIZES = ("reads", "reads_32", "reads_64", "reads_96", "reads_128", "bubbles")


def _names(role: Role) -> list[str]:
    return [name for base in role.names for name in (f"{base}_sum", base)]


def role_values(table: PmcTable) -> dict[str, np.ndarray]:
    """Return the value of each execution by the key of its role, and `nanoseconds`.

    Columns are float64 [executions], NaN where nothing was recorded: 0 was recorded.
    """
    values = {"nanoseconds": table.nanoseconds}
    for role in ROLES:
        column = values[role.key] = np.full(len(table.of), nan)
        # A counter with "sum" in its name takes precedence over the counter without.
        for name in _names(role):
            if name in table.counters:
                rows = table.counter == table.counters.index(name)
                known = np.bincount(table.execution[rows], minlength=len(column)) > 0
                known &= np.isnan(column)
                column[known] = np.bincount(table.execution[rows], table.value[rows], len(column))[known]
    return values


def repeated(table: PmcTable) -> tuple[str, ...]:
    """Return the counters of roles that were recorded in several executions of a dispatch."""
    pairs = np.unique(np.stack([table.counter, table.execution]), axis=1)
    found = np.unique(np.stack([pairs[0], table.of[pairs[1]]]), axis=1, return_counts=True)
    names = {table.counters[counter] for counter in found[0][0, found[1] > 1].tolist()}
    return tuple(name for role in ROLES for name in _names(role) if name in names)


def counter_of(key: str, family: str = "TCC") -> str:
    """Return the counter to record for a role, in a family of names; "" if the family has none."""
    names, starts = _BY_KEY[key].names, (family, "TCP") if family == "TCC" else family
    return next((f"{name}_sum" for name in names if name.startswith(starts)), "")


def pmc_lines(keys: Iterable[str], family: str = "TCC") -> tuple[str, ...]:
    """Return the commands that record what is missing, each a pass of at most four counters of a block."""
    wanted = set(keys)
    lines = []
    for group in PASSES:
        if wanted & set(group):
            names = [name for name in (counter_of(key, family) for key in group) if name]
            wanted -= set(group)
            lines.append(f"rocprofv3 --pmc {' '.join(names)} -f csv -d OUT -- APPLICATION")
    return tuple(lines)


def family_of(table: PmcTable) -> str:
    """Return `GL2C` for GPUs with such counters, by their names, else by recorded counters; else `TCC`."""
    starts = {name.partition("_")[0] for name in table.counters}
    is_rdna = bool(starts & {"GL1C", "GL2C"}) and "TCC" not in starts
    if table.gpus:
        is_rdna = all(name.startswith("gfx1") for name in table.gpus)
    return "GL2C" if is_rdna else "TCC"


UNDER_FETCH = 0.95  # of the ideal bytes: fewer cannot be


class Range(Value):
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


class Traffic(Value):
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
    read_nanoseconds: float  # of the executions that recorded reads
    apart: tuple[str, ...]  # keys of `RATIOS` whose counters were never recorded in the same execution

    @property
    def read_rate(self) -> Range:
        """Bytes read per nanosecond (GB/s) while counters were recorded."""
        return self.read.times(1 / self.read_nanoseconds if self.read_nanoseconds else nan)


def traffic(
    table: PmcTable, by: str = "kernel", kernel: str = "", ideal: float = 0.0, channels: float = 1.0
) -> tuple[Traffic, ...]:
    """Return a row per kernel or dispatch, sorted by total bytes read, then by lookups, largest first.

    `kernel` is a part of the name, `ideal` the bytes that a dispatch must read (0: unknown), `channels` a
    factor on bytes for counters of only a part of the memory channels.
    """
    values = role_values(table)
    groups: dict[str | int, list[int]] = {}
    for row, one in enumerate(table.dispatches):
        if kernel in one.kernel:
            groups.setdefault(one.kernel if by == "kernel" else row, []).append(row)

    def of(rows: list[int], runs: np.ndarray) -> Traffic:
        first, dispatch = table.dispatches[rows[0]], table.of[runs]
        mine = {key: column[runs] for key, column in values.items()}
        counted = {key: _mean(column, dispatch) for key, column in mine.items()}
        pairs = {name: next(_together(mine, dispatch, keys)) for name, keys in RATIOS.items()}
        sizes = max(_together(mine, dispatch, _SIZES), key=lambda one: _read(one).is_known)
        writes = next(_together(mine, dispatch, ("writes", "writes_64")))
        lacks = {
            name: any(isnan(found[key]) and not isnan(counted[key]) for key in RATIOS[name])
            for name, found in pairs.items()
        }
        apart = [
            name
            for name, keys in RATIOS.items()
            if lacks[name] and not isnan(sum(counted[key] for key in keys))
        ]
        for one in (writes, sizes, pairs["hit_rate"]):
            counted |= {key: value for key, value in one.items() if key in _BY_KEY and not isnan(value)}
        partial = pairs["partial"]
        partial = sizes if isnan(partial["reads"] + partial["reads_32"]) else partial
        both = mine["hits"] + mine["misses"]
        lookups = np.bincount(dispatch - dispatch.min(), np.nan_to_num(both))
        hits = np.bincount(dispatch - dispatch.min(), np.where(np.isnan(both), 0, mine["hits"]))
        rates = hits[lookups > 0] / lookups[lookups > 0]
        read = _read(sizes).times(channels)
        return Traffic(
            name=first.kernel,
            dispatch=first.number if by == "dispatch" else "",
            dispatches=len(rows),
            counted=counted,
            hit_rate=_share(pairs["hit_rate"]["hits"], _lookups(pairs["hit_rate"])),
            hit_rates=Range(float(rates.min()), float(rates.max())) if len(rates) else Range(nan, nan),
            partial=_share(partial["reads_32"], _all_reads(partial)),
            dram=_share(pairs["dram"]["dram_reads"], pairs["dram"]["reads"]),
            read=read,
            written=_written(writes).times(channels),
            over_fetch=read.times(1 / ideal if ideal and read.high else nan),
            nanoseconds=counted.pop("nanoseconds"),
            read_nanoseconds=sizes["nanoseconds"],
            apart=tuple(apart),
        )

    def weight(one: Traffic) -> tuple[float, ...]:
        return tuple(np.nan_to_num([-one.read.high, -_lookups(one.counted)]) * one.dispatches)

    group_of = np.full(len(table.dispatches), -1)
    for at, group in enumerate(groups.values()):
        group_of[group] = at
    order = np.argsort(group_of[table.of], kind="stable")
    ends = np.searchsorted(group_of[table.of][order], np.arange(len(groups) + 1))
    runs = (order[begin:end] for begin, end in pairwise(ends.tolist()))
    return tuple(sorted(map(of, groups.values(), runs), key=weight))


def _lookups(counted: Mapping[str, float]) -> float:
    return counted["hits"] + counted["misses"]


def _together(
    values: Mapping[str, np.ndarray], of: np.ndarray, keys: Sequence[str]
) -> Iterator[dict[str, float]]:
    """Yield means of dispatches, of executions that recorded the same of some roles, most roles first."""
    known = sum(~np.isnan(values[key]) << bit for bit, key in enumerate(keys))
    sets = Counter(known.tolist())
    for roles in sorted(sets, key=lambda roles: (-roles.bit_count(), -sets[roles])):
        is_in = (known & roles) == roles
        found = ["nanoseconds", *(key for bit, key in enumerate(keys) if roles >> bit & 1)]
        yield dict.fromkeys(keys, nan) | {key: _mean(values[key][is_in], of[is_in]) for key in found}


def _mean(column: np.ndarray, of: np.ndarray) -> float:
    """The mean of dispatches, each the mean of its executions; NaN is left out."""
    is_known = ~np.isnan(column)
    if len(of) == 1:
        return float(column[0])
    _, row, count = np.unique(of[is_known], return_inverse=True, return_counts=True)
    return float((column[is_known] / count[row]).sum() / len(count)) if len(count) else nan


def _share(part: float, whole: float) -> float:
    return part / whole if whole else nan


def _all_reads(counted: Mapping[str, float]) -> float:
    if not isnan(counted["reads"]):
        return counted["reads"]
    sizes = counted["reads_32"] + counted["reads_64"] + counted["reads_128"]
    return sizes if isnan(counted["reads_96"]) else sizes + counted["reads_96"]


def _read(counted: Mapping[str, float]) -> Range:
    reads, wide = _all_reads(counted), counted["reads_128"]
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
    if text := _hits(row):
        yield "L2 hit rate", text
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
    for name in row.apart:
        both = " and ".join(_BY_KEY[key].names[0] for key in RATIOS[name])
        yield "no ratio", Message("{0}: recorded, but never in the same pass", both)


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
    if isnan(row.hit_rate):
        return "" if hits + misses != 0 else "none: hits and misses were recorded, and are 0"
    text = Message("{0}: {1} of {2} lookups", share(row.hit_rate), _count(hits), _count(hits + misses))
    low, high = share(row.hit_rates.low), share(row.hit_rates.high)
    return text if low == high else Message("{0}; {1} to {2} in single dispatches", text, low, high)


def _read_text(row: Traffic) -> str:
    is_exact = row.read.low == row.read.high
    text = span(row.read, byte_size) + ("" if is_exact else " (sizes of reads were not all recorded)")
    if row.read_rate.is_known:
        rate = span(row.read_rate, lambda rate: f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}")
        text += Message("; {0} GB/s in {1}", rate, nanoseconds(row.read_nanoseconds))
    return text
