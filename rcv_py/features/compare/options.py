"""The options of `rcv compare`, `rcv index` and `rcv trend`."""

from pathlib import Path

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared
from rcv_py.model.modes import LIBRARY_ORDERS

COMPARED_BY = ("instruction", "source", "block", "class", "listing", "flame", "work")
COMPARED = ("cost", "latency", "stall")
FAIL_ON = ("regression", "difference")
BUILDS_FAIL_ON = (*FAIL_ON, "registers", "spills", "waves")


class CompareOptions(
    shared.RowOptions, shared.OverCaptures, example="rcv compare BEFORE AFTER --fail-on regression"
):
    """Compare two captures: which takes more cycles, and where."""

    agents = opt.AgentTool("Use it after a change: folder is before, other is after.")
    needs = (
        opt.without("junit", "a table", "top"),
        opt.Need(
            "beyond_noise sort ascending",
            opt.is_none("by", "flame", "work"),
            "a list",
            "Leave out --by flame or work, or this.",
        ),
        opt.without("markdown junit", "a table", "beyond_noise sort ascending"),
        opt.Need(
            "markdown junit",
            opt.is_none("by", "listing", "flame", "work"),
            "a ranking",
            "Use --by instruction, source, block or class.",
        ),
    )

    folder: Path = opt.positional("A", "the baseline capture or build, from before the change")
    other: Path = opt.positional(
        "B", "the capture or build to judge, from after the change, or a folder with several: one row each"
    )
    more: list[Path] = opt.positional("B", "more captures, or folders with several", nargs="*")
    twin: Path | None = opt.path("another capture of the build of A: its differences are noise", "C")
    by: str = opt.option(
        "what a row is; work: what an operation, a byte and the launch cost, even if tiles "
        "differ (default instruction)",
        "instruction",
        choices=COMPARED_BY,
    )
    metric: str = opt.option(
        "which cycles (default cost: latency and idle)", "cost", choices=COMPARED, old={"--measure": None}
    )
    fail_on: str | None = opt.option(
        "exit with 3 if B takes more cycles beyond noise, or any other number of them; if B is a build, "
        "if it has more registers, more spills or fewer waves (regression: any of these)",
        choices=BUILDS_FAIL_ON,
    )
    least: float | None = opt.option(
        "differences of the whole below this are noise (default 6, with a replicate 2)",
        read=opt.percent,
        metavar="PERCENT",
    )
    seed: int = opt.number("seed of the draws that measure the noise (default 0)", 0)
    waves: str | None = shared.waves()
    beyond_noise: bool = opt.flag("only rows that are beyond noise")
    sort: str | None = shared.sort("beyond noise, then by difference")
    markdown: bool = shared.form("a summary for a pull request or a job's page")
    junit: bool = shared.form("a test report: the gate as one test case")


class IndexOptions(
    shared.OfCaptures, shared.OverCaptures, example="rcv index captures --sort health --markdown > README.md"
):
    """Rank all captures below a folder by cost or health."""

    agents = opt.AgentTool(
        "Use it to see which captures there are; no argument lists the root.",
        left_out=("out",),
        defaults={"folder": "."},
        optional=("folder",),
    )

    folder: Path = opt.positional("DIR", "a folder with captures at any place below it")
    more: list[Path] = opt.positional("DIR", "more folders", nargs="*")
    sort: str = opt.option("what ranks captures (default duration)", "duration", choices=LIBRARY_ORDERS)
    findings: bool = opt.flag("read waves too, for the bound class and the first finding")
    depth: int = opt.number(
        "folders looked into below DIR (default 6)", 6, read=opt.at_most(opt.MAX_DEPTH, 1)
    )
    limit: int = opt.number("captures at most; 0 for all (default 1000)", 1000)
    markdown: bool = shared.form("a table for a README")
    html: bool = shared.form("a page that needs nothing else")
    out: Path | None = opt.path("write to this file instead of printing", "FILE")


class TrendOptions(
    shared.OfCaptures,
    shared.OverCaptures,
    example="rcv trend nightly --fail-on regression --cluster tcp://HOST:8786",
):
    """Compare each capture of a folder with the previous one, by time."""

    agents = opt.AgentTool("Use it on captures of several builds: which one became slower.")

    folder: Path = opt.positional("DIR", "a folder with captures of several builds")
    more: list[Path] = opt.positional("DIR", "more captures or folders", nargs="*")
    sort: str = opt.option(
        "order of captures: by the time they were written, or by path", "time", choices=("time", "path")
    )
    metric: str = opt.option("which cycles (default cost: latency and idle)", "cost", choices=COMPARED)
    least: float | None = opt.option(
        "differences of the whole below this are noise (default 6)", read=opt.percent, metavar="PERCENT"
    )
    fail_on: str | None = opt.option(
        "exit with 3 if the last capture of a kernel takes more cycles than the previous "
        "one, beyond noise, or any other number of them",
        choices=FAIL_ON,
    )
    waves: str | None = shared.waves()
    markdown: bool = shared.form("a table for a job's page")
