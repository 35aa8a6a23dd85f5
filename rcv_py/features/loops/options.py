"""The options of `rcv loops`."""

from __future__ import annotations

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    Need,
    flag,
    has,
    is_one,
    option,
    pair,
    text,
)

LOOPS_BY = ("loops", "iterations", "phases", "first", "distance", "chains", "barriers", "segments")


class LoopsOptions(shared.OfWaves, shared.RowOptions, example="rcv loops FOLDER --by iterations --top 5"):
    """Show how long iterations of loops took, and what surrounds them."""

    needs = (
        Need("loop", is_one("by", "iterations"), "--by iterations"),
        Need("iterations_of outliers", has("loop"), "--loop HEAD:BRANCH"),
    )

    by: str = option(
        "what a row is: loops, their iterations, phases of waves, costs of first executions, distances from "
        "loads to their waits, chains of cross-lane operations, barriers, or segments between barriers "
        "(default loops)",
        "loops",
        choices=LOOPS_BY,
        old={"--show": None},
    )
    loop: tuple[int, int] | None = option(
        "with --by iterations: all iterations of one loop by time, including entry and last",
        read=pair,
        metavar="HEAD:BRANCH",
    )
    iterations_of: str | None = text(
        "with --loop: only iterations of this wave; outliers are judged over all waves",
        "ID",
        old={"--rounds-of": None},
    )
    outliers: bool = flag("with --loop: only iterations that took much longer than others")
