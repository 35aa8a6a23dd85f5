"""The options of `rcv loops`."""

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared

LOOPS_BY = ("loops", "iterations", "phases", "first", "distance", "chains", "barriers", "segments")


class LoopsOptions(shared.OfWaves, shared.RowOptions, example="rcv loops FOLDER --by iterations --top 5"):
    """Show how long iterations of loops took, and what surrounds them."""

    agents = opt.AgentTool("Use it when iterations differ, or to split prologue and loop.")
    needs = (
        opt.Need("loop", opt.is_one("by", "iterations"), "--by iterations"),
        opt.Need("iterations_of outliers", opt.has("loop"), "--loop HEAD:BRANCH"),
    )

    by: str = opt.option(
        "what a row is: loops, their iterations, phases of waves, costs of first executions, distances from "
        "loads to their waits, chains of cross-lane operations, barriers, or segments between barriers "
        "(default loops)",
        "loops",
        choices=LOOPS_BY,
        old={"--show": None},
    )
    loop: tuple[int, int] | None = opt.option(
        "with --by iterations: all iterations of one loop by time, including entry and last",
        read=opt.pair,
        metavar="HEAD:BRANCH",
    )
    iterations_of: str | None = opt.text(
        "with --loop: only iterations of this wave; outliers are judged over all waves",
        "ID",
        old={"--rounds-of": None},
    )
    outliers: bool = opt.flag("with --loop: only iterations that took much longer than others")
