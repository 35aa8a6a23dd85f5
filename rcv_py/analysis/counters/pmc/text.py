"""The numbers of a kernel's traffic as names and sentences, for commands and panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rcv_py.analysis.counters.pmc.decision import UNDER_FETCH
from rcv_py.analysis.counters.pmc.traffic import Range, Traffic
from rcv_py.base.text import byte_size, count, nanoseconds, percent


def traffic_facts(found: Traffic) -> Iterator[tuple[str, str]]:
    """Yield what was counted, as name and value; what was not recorded is left out."""
    counted = found.counted
    if found.hit_rate is not None:
        yield "L2 hit rate", _hits(found)
    if counted["l1_reads"] is not None:
        yield "from L1", f"{whole(counted['l1_reads'])} reads that L1 asked L2 for"
    if counted["reads"] is not None:
        parts = [whole(counted["reads"])]
        parts += [f"{share(found.partial)} of 32 bytes"] if found.partial is not None else []
        parts += [f"{share(found.dram)} went to this device's memory"] if found.dram is not None else []
        yield "reads of memory", "; ".join(parts)
    if found.read is not None:
        yield "read", _read(found, found.read)
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


def _read(found: Traffic, read: Range) -> str:
    text = span(read, byte_size) + ("" if read.is_exact else " (sizes of reads were not all recorded)")
    if found.read_rate is not None and found.nanoseconds:
        text += f"; {span(found.read_rate, '{:,.0f}'.format)} GB/s in {nanoseconds(found.nanoseconds)}"
    return text
