"""The options of `rcv latency`."""

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared


class LatencyOptions(shared.Ruled, example="rcv latency FOLDER --by memory"):
    """Show hidden latency, memory latency, and what delays accesses."""

    agents = opt.AgentTool("Use it to see if more waves would help, or with by=memory how slow memory is.")
    needs = (
        opt.Need(
            "waves wave se clock", opt.is_none("by", "memory", "address"), "--by hidden, access or fetch"
        ),
        opt.Need("no_idle", opt.is_one("by", "hidden"), "--by hidden"),
        opt.Need("rule", opt.is_none("by", "access", "fetch", "address"), "--by hidden or memory"),
        opt.Need("waits", opt.is_one("by", "memory"), "--by memory"),
    )

    by: str = opt.option(
        "what a row has: what other waves hide, how long memory takes by counters, how long accesses hold "
        "LDS and vector memory (bank conflicts, lanes apart), code that was not in the cache, or what the "
        "recorded addresses of lanes touch (default hidden)",
        "hidden",
        choices=("hidden", "memory", "access", "fetch", "address"),
        old={"--kind": None},
    )
    waits: bool = opt.flag(
        "with --by memory: also latencies that waits show, and instructions that only waits measure"
    )
    no_idle: bool = shared.NO_IDLE
    sort: str | None = shared.sort("cycles not hidden, or the mean")
