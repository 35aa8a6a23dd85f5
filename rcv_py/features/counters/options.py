"""The options of `rcv counters` and `rcv pmc`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared

_numbers = partial(opt.option, read=opt.count, repeated=True, metavar="N")


class CountersOptions(
    shared.OfCapture,
    example="rcv counters FOLDER --formula 'busy := sum[BUSY_CU_CYCLES, axis=[XCC, SE, CU]]'",
):
    """Summarise hardware counters and formulas over them."""

    agents = opt.AgentTool(
        "Use it when the capture has counters (list shows them).", rare=("array", "wgp", "instance")
    )
    needs = (
        opt.without("list", "the values", "raw formula file se cu array wgp instance simd only"),
        opt.without("raw", "formulas", "formula file"),
    )

    list: bool = opt.flag("names only, with where and how often recorded")
    raw: bool = opt.flag("counters of the hardware only, no formulas")
    formula: Sequence[str] = opt.option(
        "add a formula such as 'total := sum[BUSY_CU_CYCLES]'; may be repeated",
        [],
        repeated=True,
        metavar="TEXT",
    )
    file: Sequence[Path] = opt.path("add formulas from a file", "DEFS", [], repeated=True)
    se: Sequence[int] | None = _numbers("only this shader engine")
    cu: Sequence[int] | None = _numbers("only this compute unit")
    array: Sequence[int] | None = _numbers("only streamed counters of this shader array")
    wgp: Sequence[int] | None = _numbers("only streamed counters of this work-group processor")
    instance: Sequence[int] | None = _numbers("only this instance of streamed counters")
    simd: int | None = opt.number("only raw counters that count this SIMD")
    only: Sequence[str] | None = shared.only("only this counter")
    csv: bool = shared.as_csv("the curves: name, time, value")


class PmcOptions(shared.Forms, example="rcv pmc FOLDER --kernel attn --ideal-mb 8590"):
    """Show how L2 and memory were used, from rocprofv3 --pmc files."""

    agents = opt.AgentTool("Use it on CSV files of rocprofv3 --pmc, next to a capture.", left_out=("like",))
    needs = (
        opt.Need("by top", opt.lacks("like"), "our own table", "Leave out --like, which adds up everything."),
    )

    paths: list[Path] = opt.positional(
        "PATH",
        "CSV files of rocprofv3 --pmc, folders with such files, or a capture next to such files",
        nargs="+",
    )
    kernel: str = opt.option("only kernels with this in their name (default: all)", "", metavar="NAME")
    by: str = opt.option("what a row is (default kernel)", "kernel", choices=("kernel", "dispatch"))
    ideal_mb: float | None = opt.option(
        "minimum of megabytes (10^6) that a dispatch has to read: shows the excess",
        read=opt.positive,
        metavar="MB",
    )
    channels: int | None = opt.number(
        "factor for bytes, for counters that cover part of the channels (default 1, with --like 2)",
        read=opt.positive_count,
    )
    top: int = shared.top(10)
    like: bool = opt.flag(
        "the text of pmc_l2_analyzer.py, which adds up everything and counts each read as 64 bytes"
    )
