"""The options of `rcv whatif` and `rcv schedule`."""

from functools import partial

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared

_pairs = partial(opt.option, repeated=True, read=opt.pair)  # of instructions, or of one and a number
_rows = partial(opt.option, repeated=True, read=opt.count, metavar="LINE")


class WhatifOptions(shared.OfCapture, example="rcv whatif FOLDER --latency vmem=0.5 --move 319:283"):
    """Predict what a change would gain, by replaying the recording."""

    agents = opt.AgentTool(
        "Use it before an edit: what the change would gain, or without options what is worth trying.",
        rare=("batch",),
    )
    needs = (opt.beside("path", "top"),)

    latency: list[tuple[str, float]] | None = opt.option(
        "latency of vmem, lds, smem, memory, or of an instruction, times a factor; may be repeated",
        repeated=True,
        read=opt.slower,
        metavar="WHAT=FACTOR",
    )
    move: list[tuple[int, int]] | None = _pairs(
        "move an instruction to right before another instruction; may be repeated", metavar="LINE:BEFORE"
    )
    batch: list[int] | None = _rows(
        "issue the loads below a wait before it, which leaves them outstanding; may be repeated"
    )
    relax: list[tuple[int, int]] | None = _pairs(
        "let a wait leave that many more operations outstanding; may be repeated", metavar="LINE:MORE"
    )
    only: list[tuple[int, int]] | None = _pairs(
        "let a wait wait for this load alone; may be repeated, also for more loads of one wait",
        metavar="LINE:LOAD",
    )
    dpp: list[int] | None = _rows(
        "turn a move across lanes into an operand of arithmetic (DPP); may be repeated"
    )
    merge: list[tuple[int, int]] | None = _pairs(
        "merge an access into another access, which becomes wider by as much; may be repeated",
        metavar="LINE:OTHER",
    )
    free: list[int] | None = _rows("let an instruction take no time of its own; may be repeated")
    no_barriers: bool = opt.flag("no wave waits at barriers")
    more_waves: int | None = opt.number("that many more waves on each SIMD", read=opt.at_most(32, 1))
    path: bool = opt.flag("instead: the critical path, which makes up the span, with the changes if any")
    top: int = shared.top(20, "instructions of the critical path")
    all: bool = opt.flag("replay all waves, even of a capture with more than 200,000 executed instructions")


class ScheduleOptions(shared.OfWaves, example="rcv schedule FOLDER"):
    """Show what a better order of instructions in hot blocks would gain."""

    agents = opt.AgentTool("Use it before reordering by hand: which loads pay when they are moved up.")

    mca: bool = opt.flag("also show the estimate of llvm-mca, which must be installed")
