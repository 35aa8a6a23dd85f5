"""The options of `rcv flame`."""

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared

FLAME_METRICS = ("total", "nonhidden", "stall", "hits")


class FlameOptions(shared.OfAllWaves, example="rcv flame FOLDER --metric stall --folded > stacks.txt"):
    """Show costs as a tree of nested frames."""

    agents = opt.AgentTool("Use it for costs by call path and source.")
    needs = (
        opt.Need("order", opt.lacks("folded"), "a tree", "Stack lines have no order: leave it out."),
        opt.Need("least", lambda options: not options.folded and options.content != "sandwich", "a tree"),
        opt.Need(
            "waves wave se", opt.is_none("content", "markers", "both"), "--content source, kernel or sandwich"
        ),
        opt.Need("no_idle", opt.is_none("content", "markers"), "--content source, kernel, both or sandwich"),
        opt.Need(
            "clock",
            lambda options: options.content not in ("markers", "both") or options.metric == "nonhidden",
            "--content source, kernel or sandwich",
        ),
    )

    metric: str = opt.option(
        "what is measured (default total: latency and idle)", "total", choices=FLAME_METRICS
    )
    order: str = opt.option(
        "order of siblings (default heavy)", "heavy", choices=("heavy", "execution", "name")
    )
    content: str | None = opt.option(
        "what frames are; both: scopes of markers with sources and instructions (default source; markers for "
        "a capture of markers alone)",
        choices=("source", "kernel", "markers", "both", "sandwich"),
    )
    least: float = opt.option(
        "omit frames below this percentage of the total (default 1)", 1.0, read=opt.percent, metavar="PERCENT"
    )
    around: tuple[str, int] | None = opt.option(
        "the middle of --content sandwich: an instruction N, or a source line FILE:N",
        read=opt.element,
        metavar="PLACE",
    )
    no_idle: bool = shared.NO_IDLE
    clock: tuple[int, int] | None = opt.range_of(
        "only waves that touch a range of cycles; hidden cycles are then unknown", old="--clock"
    )
    folded: bool = shared.form("stack lines for flamegraph.pl and speedscope")
    csv: bool = shared.as_csv("one row per frame")
