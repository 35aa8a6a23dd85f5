"""The options of the commands for a first look."""

from __future__ import annotations

from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    MAX_BINS,
    Need,
    Section,
    at_most,
    beside,
    flag,
    has,
    is_none,
    is_one,
    lacks,
    number,
    option,
    pair,
    path,
    percent,
    positional,
    range_of,
    text,
    without,
)
from rcv_py.cli.options.shared import ALL
from rcv_py.model.modes import SUMS

RANKED_BY = ("instruction", "source", "kind", "class", "tree")
LIKE = ("old", "new")
COMPARED_BY = ("instruction", "source", "block", "class", "listing", "flame", "work")
COMPARED = ("cost", "latency", "stall")
FAIL_ON = ("regression", "difference")

_LIKE = Section(
    "as hotspot_analyzer.py",
    "--like repeats the originals, also where they are wrong: the old rules divide 256 registers where "
    "gfx942 has 512; a program is taken for gfx942, with 64 KB of LDS, unless it names one of three "
    "forms of gfx950; only the first number of a range of registers counts; waits for two counters "
    "count as vector memory; gfx12 waits, ds_load, flat_store, scratch, atomics and s_nop are `other`; "
    "v_fma counts as matrix instruction.",
)


class ViewOptions(shared.WithRunFiles, shared.OfRawFiles, example="rcv ui_output_agent_1_dispatch_2"):
    """Open the window (what `rcv FOLDER` does)."""

    needs = (
        Need(
            "panel compare goto wave line cycle run_files",
            has("folder"),
            "a capture",
            "Name the capture first.",
        ),
    )

    folder: Path | None = positional("FOLDER", "a capture, or several of them", nargs="?")
    panel: str | None = text("bring a panel to the front, e.g. waits")
    compare: Path | None = shared.baseline()
    twin: Path | None = shared.twin()
    goto: str | None = text(
        "a place: an anchor of a report, e.g. line-118, or se0/simd2/slot1/wv0:instruction 118 hit 8@126704",
        "PLACE",
    )
    wave: str | None = shared.wave("select a wave")
    line: int | None = number("select an instruction")
    cycle: int | None = number("show this cycle")
    new_process: bool = flag("start a separate program, even if a running window could show the capture")
    safe: bool = flag(
        "start with default settings and layout, and save nothing: for when the window does not start"
    )
    log: Path | None = path("log what the program does, line by line, to a file", "FILE")


class TriageOptions(
    shared.OfCaptures, shared.WithRunFiles, shared.OverCaptures, example="rcv triage FOLDER --top 3"
):
    """Print what limits the kernel and what to do first, by gain."""

    folder: Path = shared.folder(help="a ui_output_* folder, or a folder with several of them")
    top: int | None = shared.top(None, "findings", "those with 2 %% of the kernel's duration to gain")
    all: bool = flag(
        "analyse every wave, even of a capture with more than 48 MB of wave files, and print every finding"
    )
    waves: str | None = shared.waves()
    predict: bool = flag("replay the recording with each remedy, and rank by the predicted gain")
    markdown: bool = shared.form("to paste into a ticket")


class CheckOptions(shared.OfCaptures, example="rcv check FOLDER --yaml > input.yaml"):
    """Check whether a capture can be trusted, and how to improve it."""

    twin: Path | None = path("a capture of the same instructions: measures the noise", "OTHER")
    strict: bool = flag("exit with 4 if there is an error or a warning")
    yaml: bool = shared.form("only the input file for rocprofv3 that improves it")
    csv: bool = shared.as_csv("a row for every piece of evidence")


class InfoOptions(shared.OfCaptures, example="rcv info ."):
    """Print what a capture holds, or list the captures of a folder."""

    check: bool = flag("read every wave and look for contradictions")
    read: bool = flag("read every wave, and name the waves that cannot be read")
    csv: bool = shared.as_csv("one row per fact, or per capture")


class SummaryOptions(shared.OfCaptures, shared.OfWaves, example="rcv summary FOLDER --json"):
    """Sum up activity, states, occupancy and busy units."""

    needs = (without("units", "the summary", "waves se"),)

    units: bool = flag("instead: how long each unit of a compute unit was busy, of --wave or the first one")
    wave: str | None = option(
        f"only one wave, or with --units its compute unit, e.g. {shared.WAVE_ID}",
        metavar="ID",
        old={"--of": None},
    )
    clock: tuple[int, int] | None = range_of(
        "only waves that touch a range of cycles, or with --units only these cycles", old="--within"
    )
    csv: bool = shared.as_csv("one number a row")


class RangeOptions(shared.OfWaves, example="rcv range FOLDER --from 120000 --to 126000"):
    """Sum up a range of cycles by cause, instruction, line and unit."""

    chosen_by = ("wave", "se")

    clock: tuple[int, int] | None = range_of("the range of cycles (default: the whole capture)")
    between: tuple[int, int] | None = option(
        "also how long it takes from one instruction to the next execution of another, over all iterations",
        read=pair,
        metavar="A:B",
    )
    top: int = shared.top(8, "rows of each part")
    csv: bool = shared.as_csv("one row per cause, instruction, source line or unit")


class HotspotOptions(
    shared.OfAllWaves, shared.WithRunFiles, example="rcv hotspot FOLDER --by source --sort stall"
):
    """Rank instructions, source lines, kinds or classes by cost."""

    needs = (
        Need(
            "by sort waves wave se ascending bins charge file no_idle clock",
            lacks("like"),
            "our own tables",
            "Leave --like out: it repeats the scripts, which do not know it.",
        ),
        without("bins", "the ranking", "top by sort ascending charge file no_idle run_files"),
        without("charge", "the ranking", "run_files"),
        Need("sort ascending", is_none("by", "tree"), "a list", "A tree has the order of its places."),
        beside("charge", "file no_idle", "Add --charge self or --charge inclusive."),
        Need("file", is_one("by", "source"), "--by source"),
        beside("like", "mode detail context kernel", "Add --like new or --like old."),
        Need("run_files kernel", lambda options: options.like in (None, "new"), "--like new"),
        Need(
            "detail",
            lambda options: not (options.json or options.csv) and options.mode != "asm",
            "the text of source lines",
        ),
        beside("detail", "context"),
    )

    top: int = shared.top(20, shown="20, with --like 15")
    by: str = option("what a row is (default instruction)", "instruction", choices=RANKED_BY)
    sort: str = option(
        "largest first (default latency; with --charge cost; cost, share, place and text need --charge)",
        "latency",
        choices=(*SUMS, "cost", "share", "place", "text"),
    )
    ascending: bool = flag("smallest first")
    bins: int | None = number(
        "a histogram of N ranges of the program by kind instead", read=at_most(MAX_BINS, 1)
    )
    charge: str | None = option(
        "cost of places: latency and idle, charged to the innermost place or to the whole inline chain",
        choices=("self", "inclusive"),
    )
    file: str | None = text("with --charge: the lines of one source file", "SOURCE")
    no_idle: bool = shared.no_idle()
    like: str | None = option(
        "the tables of hotspot_analyzer.py, by its older or newer rules", choices=LIKE, section=_LIKE
    )
    mode: str | None = option(
        "instructions, source lines or both (default both)", choices=("asm", "src", "both"), section=_LIKE
    )
    detail: bool = flag("show the source around the first lines", section=_LIKE)
    context: int | None = number("lines above and below (default 3)", section=_LIKE)
    kernel: str | None = text(
        "part of the kernel's name in the kernel trace next to the capture", section=_LIKE
    )

    @property
    def usual_waves(self) -> str | None:
        """All waves; the scripts do not distinguish waves."""
        return None if self.like else ALL


class CompareOptions(
    shared.Rows, shared.OverCaptures, example="rcv compare BEFORE AFTER --fail-on regression"
):
    """Compare two captures: which takes more cycles, and where."""

    needs = (
        without("junit", "a table", "top"),
        Need(
            "beyond_noise sort ascending",
            is_none("by", "flame", "work"),
            "a list",
            "Leave out --by flame or work, or this.",
        ),
        without("markdown junit", "a table", "beyond_noise sort ascending"),
        Need(
            "markdown junit",
            is_none("by", "listing", "flame", "work"),
            "a ranking",
            "Use --by instruction, source, block or class.",
        ),
    )

    folder: Path = shared.folder("A", "the baseline capture, from before the change")
    other: Path = positional(
        "B", "the capture to judge, from after the change, or a folder with several: one row each"
    )
    more: list[Path] = positional("B", "more captures, or folders with several", nargs="*")
    twin: Path | None = shared.twin("another capture of the build of A: its differences are noise")
    by: str = option(
        "what a row is; work: what an operation, a byte and the launch cost, even if tiles "
        "differ (default instruction)",
        "instruction",
        choices=COMPARED_BY,
    )
    metric: str = option(
        "which cycles (default cost: latency and idle)", "cost", choices=COMPARED, old={"--measure": None}
    )
    fail_on: str | None = option(
        "exit with 3 if B takes more cycles beyond noise, or any other number of them",
        choices=FAIL_ON,
    )
    least: float | None = option(
        "differences of the whole below this are noise (default 6, with a replicate 2)",
        read=percent,
        metavar="PERCENT",
    )
    seed: int = number("seed of the draws that measure the noise (default 0)", 0)
    waves: str | None = shared.waves()
    beyond_noise: bool = flag("only rows that are beyond noise")
    sort: str | None = shared.sort("beyond noise, then by difference")
    markdown: bool = shared.form("a summary for a pull request or a job's page")
    junit: bool = shared.form("a test report: the gate as one test case")


class ReportOptions(
    shared.Forms,
    shared.OfRawFiles,
    shared.WithRunFiles,
    shared.OverCaptures,
    example="rcv report FOLDER --out report.html",
):
    """Write a report of captures: a page of HTML or Markdown each."""

    needs = (
        Need("format", lacks("out"), "--out-dir", "The ending of --out sets the form: leave it out."),
        Need(
            "interactive",
            lambda options: "md" not in (options.format, str(options.out).lower().rpartition(".")[2]),
            "a page of HTML",
            "Leave Markdown out, or this.",
        ),
    )

    folders: list[Path] = positional("FOLDER", "captures, or folders that hold several", nargs="+")
    out: Path | None = path("a .html or .md file to write, for one capture", "FILE", one_of="where")
    out_dir: Path | None = path(
        "a folder to write into: one file per capture, and an index if there are several (default: here)",
        "DIR",
        one_of="where",
    )
    format: str = option("form of files in a folder (default html)", "html", choices=("html", "md"))
    waves: str | None = shared.waves()
    predict: bool = flag("replay recordings: what remedies would gain, and the critical path")
    interactive: bool = flag("an interactive page of HTML: timelines, listing, sources and findings")
