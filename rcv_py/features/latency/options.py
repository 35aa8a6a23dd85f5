"""The options of `rcv latency`."""

from __future__ import annotations

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    Need,
    flag,
    is_none,
    is_one,
    option,
)


class LatencyOptions(shared.Ruled, example="rcv latency FOLDER --by memory"):
    """Show hidden latency, memory latency, and what delays accesses."""

    needs = (
        Need("waves wave se clock", is_none("by", "memory"), "--by hidden, access or fetch"),
        Need("no_idle", is_one("by", "hidden"), "--by hidden"),
        Need("rule", is_none("by", "access", "fetch"), "--by hidden or memory"),
        Need("waits", is_one("by", "memory"), "--by memory"),
    )

    by: str = option(
        "what a row has: what other waves hide, how long memory takes by counters, how long accesses hold "
        "LDS and vector memory (bank conflicts, lanes apart), or code that was not in the cache "
        "(default hidden)",
        "hidden",
        choices=("hidden", "memory", "access", "fetch"),
        old={"--kind": None},
    )
    waits: bool = flag(
        "with --by memory: also latencies that waits show, and instructions that only waits measure"
    )
    no_idle: bool = shared.no_idle()
    sort: str | None = shared.sort("cycles not hidden, or the mean")
