"""Counters of L2 and memory: how to record them, and hit rate, requests and bytes of kernels or dispatches.

Names differ between generations: `TCC` is the L2 of gfx9, `GL2C` that of gfx10 and later; `EA` is the way
from L2 to memory.  A read of memory has 32, 64 or 128 bytes.  gfx942 counts those of 128 as `TCC_BUBBLE`,
which stays 0 on gfx950; there they have a counter of their own.

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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rcv_py.base.text import byte_size, count, nanoseconds, percent
from rcv_py.model.pmc import PmcTable


@dataclass(frozen=True, slots=True)
class Role:
    """What is counted, and the counters that do; the first that was recorded is taken."""

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
    Role(
        "dram_reads",
        ("TCC_EA0_RDREQ_DRAM", "TCC_EA_RDREQ_DRAM"),
        "reads that went to the memory of the device",
    ),
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
    """Return, by the key of a role, the number of each dispatch; and the roles that were recorded twice.

    Columns are float64 [dispatches], NaN where nothing was recorded.  Rows of one file add up; files are
    passes over the same dispatches, so their mean counts.
    """
    values, repeated = {}, []
    for role in ROLES:
        counter = _recorded(table, role)
        column = np.full(len(table.dispatches), np.nan)
        if counter >= 0:
            column, is_repeated = _by_dispatch(table, table.counter == counter)
            repeated += [table.counters[counter]] if is_repeated else []
        values[role.key] = column
    return values, tuple(repeated)


def counter_of(key: str, family: str = "TCC") -> str:
    """Return the counter to record for a role in a family of names; "" if the family has none."""
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


def _recorded(table: PmcTable, role: Role) -> int:
    """The counter to take: a sum goes before the same counter without the word."""
    known = {name: at for at, name in enumerate(table.counters)}
    names = (name for base in role.names for name in (f"{base}_sum", base))
    return next((known[name] for name in names if name in known), -1)


def _by_dispatch(table: PmcTable, rows: np.ndarray) -> tuple[np.ndarray, bool]:
    files, n = len(table.files), len(table.dispatches)
    # Only (dispatch, file) pairs that occur: many files of many dispatches would not fit otherwise.
    pair = table.dispatch[rows].astype(np.int64) * files + table.file[rows]
    pairs, place = np.unique(pair, return_inverse=True)
    sums = np.bincount(place.reshape(-1), table.value[rows], len(pairs))
    total = np.bincount(pairs // files, sums, n)
    seen = np.bincount(pairs // files, minlength=n)
    return np.where(seen > 0, total / np.maximum(seen, 1), np.nan), bool((seen > 1).any())


UNDER_FETCH = 0.95  # of the ideal bytes: less than that cannot be
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


def traffic_facts(found: Traffic) -> Iterator[tuple[str, str]]:
    """Yield what was counted, as name and value; what was not recorded is left out."""
    counted = found.counted
    if found.hit_rate is not None:
        yield "L2 hit rate", _hits(found)
    if counted["l1_reads"] is not None:
        yield "from L1", f"{whole(counted['l1_reads'])} reads that L1 requested from L2"
    if counted["reads"] is not None:
        parts = [whole(counted["reads"])]
        parts += [f"{share(found.partial)} of 32 bytes"] if found.partial is not None else []
        parts += [f"{share(found.dram)} went to this device's memory"] if found.dram is not None else []
        yield "reads of memory", "; ".join(parts)
    if found.read is not None:
        yield "read", _read_text(found, found.read)
    if found.over_fetch is not None:
        under = ": less than has to be read, so the ideal is too high or part was cached"
        low = under if found.over_fetch.most < UNDER_FETCH else ""
        yield "over-fetch", f"{span(found.over_fetch, ratio)} of the ideal bytes{low}"
    if found.written is not None:
        yield "written", span(found.written, byte_size)


def span(value: Range | None, write: Callable[[float], str]) -> str:
    """Return `4.5 GB to 8.9 GB`, one number if both ends look the same, "" for None."""
    if value is None:
        return ""
    least, most = write(value.least), write(value.most)
    return most if least == most else f"{least} to {most}"


def share(value: float | None) -> str:
    """Return `1.8 %` of 0.018, "" of None."""
    return "" if value is None else percent(value, 1)


def ratio(value: float) -> str:
    """Return a ratio with two digits behind the point."""
    return f"{value:.2f}"


def whole(value: float | None) -> str:
    """Return a mean of counts, rounded and grouped; "" of None."""
    return "" if value is None else count(round(value))


def _hits(found: Traffic) -> str:
    hits, misses = found.counted["hits"] or 0.0, found.counted["misses"] or 0.0
    text = f"{share(found.hit_rate)}: {whole(hits)} of {whole(hits + misses)} lookups"
    spread = found.hit_rates
    if spread is not None and share(spread.least) != share(spread.most):
        text += f"; {share(spread.least)} to {share(spread.most)} in single dispatches"
    return text


def _read_text(found: Traffic, read: Range) -> str:
    text = span(read, byte_size) + ("" if read.is_exact else " (sizes of reads were not all recorded)")
    if found.read_rate is not None and found.nanoseconds:
        text += f"; {span(found.read_rate, '{:,.0f}'.format)} GB/s in {nanoseconds(found.nanoseconds)}"
    return text
