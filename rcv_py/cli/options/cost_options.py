"""The options of the commands that say what instructions cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import MAX_BINS, at_most, element, line_or_place, percent
from rcv_py.cli.options.option import (
    Need,
    Section,
    beside,
    flag,
    has,
    is_none,
    is_one,
    lacks,
    number,
    option,
    positional,
    range_of,
    text,
    without,
)
from rcv_py.cli.options.shared import ALL

RANKED_BY = ("instruction", "source", "kind", "class", "tree")
SORTED_BY = ("latency", "stall", "idle", "hits")
CHARGED = ("self", "inclusive")
CHARGED_SORT = ("cost", "share", "place", "text")
LIKE = ("old", "new")
LIKE_MODES = ("asm", "src", "both")
LISTED_BY = ("instruction", "block", "branch", "label")
MODES = ("sum", "mean", "hit", "wave-sum", "wave-mean", "wave-max")
BARS = ("nonhidden", "kinds", "causes", "reasons", "latency_stall", "memory", "memory_waits")
MEASURED = ("latency", "stall", "idle", "since")
COMPARED_BY = ("instruction", "source", "block", "class", "listing", "flame")
COMPARED = ("cost", "latency", "stall")
GATES = ("regression", "difference")
FLAME_METRICS = ("total", "nonhidden", "stall", "hits")
FLAME_ORDERS = ("heavy", "execution", "name")
FLAME_CONTENTS = ("source", "kernel", "markers", "both", "sandwich")

_LIKE = Section(
    "as hotspot_analyzer.py",
    "--like repeats the originals, also where they are wrong: the old rules divide 256 registers where "
    "gfx942 has 512; a program is taken for gfx942, with 64 KB of LDS, unless it names one of three "
    "forms of gfx950; only the first number of a range of registers counts; waits for two counters "
    "count as vector memory; gfx12 waits, ds_load, flat_store, scratch, atomics and s_nop are `other`; "
    "v_fma counts as matrix instruction.",
)


class HotspotOptions(
    shared.OfAllWaves, shared.WithRunFiles, example="rcv hotspot FOLDER --by source --sort stall"
):
    """What `rcv hotspot` takes."""

    needs: ClassVar[Sequence[Need]] = (
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

    top: int = shared.top(20, shown="20, of --like 15")
    by: str = option("what a row is (default instruction)", "instruction", choices=RANKED_BY)
    sort: str = option(
        "largest first (default latency; what only --charge knows: its own, default cost)",
        "latency",
        choices=(*SORTED_BY, *CHARGED_SORT),
    )
    ascending: bool = flag("smallest first")
    bins: int | None = number(
        "a histogram of N ranges of the program by kind instead", read=at_most(MAX_BINS, 1)
    )
    charge: str | None = option(
        "what places cost: latency and idle, charged to the innermost one or to all of an inline chain",
        choices=CHARGED,
    )
    file: str | None = text("with --charge: the lines of one source file", "SOURCE")
    no_idle: bool = shared.no_idle()
    like: str | None = option(
        "the tables of hotspot_analyzer.py, by its older or newer rules", choices=LIKE, section=_LIKE
    )
    mode: str | None = option(
        "instructions, source lines or both (default both)", choices=LIKE_MODES, section=_LIKE
    )
    detail: bool = flag("show the source around the first lines", section=_LIKE)
    context: int | None = number("lines above and below (default 3)", section=_LIKE)
    kernel: str | None = text(
        "part of the kernel's name in the kernel trace beside the capture", section=_LIKE
    )

    @property
    def usual_waves(self) -> str | None:
        """All of them; the scripts do not know waves."""
        return None if self.like else ALL


class IsaOptions(
    shared.OfAllWaves, shared.Matched, shared.Rows, example="rcv isa FOLDER --by block --top 10"
):
    """What `rcv isa` takes."""

    chosen_by = ("se", "clock")  # the wave is that of a mode
    needs: ClassVar[Sequence[Need]] = (
        Need("wave", is_none("mode", "sum", "mean"), "--mode hit, wave-sum, wave-mean or wave-max"),
        Need("hit", is_one("mode", "hit"), "--mode hit"),
        Need("clock se", is_one("mode", "sum", "mean"), "--mode sum or mean"),
        Need(
            "mode wave hit clock se",
            is_none("by", "branch"),
            "costs",
            "Branches are counted in all waves: leave it out.",
        ),
        Need(
            "bars no_idle",
            is_one("by", "instruction"),
            "the listing of instructions",
            "Leave --by out, or this.",
        ),
    )

    by: str = option(
        "what a row is; branch: taken and not taken, label: cycles up to the next one (default instruction)",
        "instruction",
        choices=LISTED_BY,
        old={"--blocks": "block", "--branches": "branch", "--labels": "label"},
    )
    top: int = number("only the N that cost most (default 0: all)", 0)
    mode: str = option("of all waves or of one (default sum)", "sum", choices=MODES)
    wave: str | None = shared.wave("whose numbers the modes of one wave show")
    hit: int = number("for --mode hit: which, from 0", 0)
    bars: str | None = option("add a column: the length of the bars of the window", choices=BARS)
    no_idle: bool = shared.no_idle()
    sort: str | None = shared.sort("program order")


class SourceOptions(shared.OfAllWaves, shared.Rows, example="rcv source FOLDER kernel.py:62 --context 5"):
    """What `rcv source` takes."""

    needs: ClassVar[Sequence[Need]] = (
        Need("context", has("place"), "FILE or FILE:LINE", "Name a source file, or leave it out."),
        Need(
            "sort", lambda options: options.place is None, "the ranking of files", "Leave FILE out, or this."
        ),
    )

    place: str | None = positional(
        "FILE[:LINE]",
        "a source file by the end of its path, or one of its lines (default: rank the files)",
        None,
        "?",
    )
    top: int = shared.top(20, shown="20 files, 10 lines, 20 instructions")
    sort: str | None = shared.sort("cost")
    context: int | None = number("lines above and below (default 3)")
    inlined: bool = flag("charge callers too with what was inlined into them")
    no_causes: bool = flag("do not read the waves, which the top cause takes")


class LineOptions(shared.OfWaves, example="rcv line FOLDER 62 --metric stall --top 5"):
    """What `rcv line` takes."""

    needs: ClassVar[Sequence[Need]] = (
        Need(
            "metric top log waves wave se clock bars bar",
            lambda options: isinstance(options.line, int),
            "an instruction",
            "Name its number, or leave it out.",
        ),
    )

    line: int | str = positional(
        "LINE",
        "an instruction by its number, or one execution or wave as the window copies it, "
        f"e.g. {shared.WAVE_ID}:instruction 62#0",
        line_or_place,
    )
    more: list[str] = positional("PLACE", "more executions or waves", None, "*")
    metric: str = option(
        "what is measured of an execution (default latency)", "latency", choices=MEASURED, old={"--by": None}
    )
    top: int = shared.top(10, "hits")
    log: bool = flag("bars that grow by a constant factor")
    bars: int | None = number("of the histogram (default 16)", read=at_most(MAX_BINS, 1))
    bar: int | None = number("list the hits of a bar, counted from 0, instead of the slowest")
    csv: bool = shared.as_csv("the slowest hits, or a row a fact")


class FlameOptions(shared.OfAllWaves, example="rcv flame FOLDER --metric stall --folded > stacks.txt"):
    """What `rcv flame` takes."""

    needs: ClassVar[Sequence[Need]] = (
        Need("order", lacks("folded"), "a tree", "Stack lines have no order: leave it out."),
        Need("least", lambda options: not options.folded and options.content != "sandwich", "a tree"),
        Need("waves wave se", is_none("content", "markers", "both"), "--content source, kernel or sandwich"),
        Need("no_idle", is_none("content", "markers"), "--content source, kernel, both or sandwich"),
        Need(
            "clock",
            lambda options: options.content not in ("markers", "both") or options.metric == "nonhidden",
            "--content source, kernel or sandwich",
        ),
    )

    metric: str = option("what is measured (default total: latency and idle)", "total", choices=FLAME_METRICS)
    order: str = option("of siblings (default heavy)", "heavy", choices=FLAME_ORDERS)
    content: str = option(
        "what frames are; both: scopes of markers with sources and instructions (default source)",
        "source",
        choices=FLAME_CONTENTS,
    )
    least: float = option(
        "leave out frames below this share of all in the tree (default 1)",
        1.0,
        read=percent,
        metavar="PERCENT",
    )
    around: tuple[str, int] | None = option(
        "in the middle of --content sandwich: an instruction N, or a source line FILE:N",
        read=element,
        metavar="PLACE",
    )
    no_idle: bool = shared.no_idle()
    clock: tuple[int, int] | None = range_of(
        "only waves that touch a range of cycles; then nothing is known of what is hidden", old="--clock"
    )
    folded: bool = shared.form("stack lines for flamegraph.pl and speedscope")
    csv: bool = shared.as_csv("a row a frame")


class CompareOptions(shared.Rows, example="rcv compare BEFORE AFTER --fail-on regression"):
    """What `rcv compare` takes."""

    needs: ClassVar[Sequence[Need]] = (
        without("junit", "a table", "top"),
        Need(
            "beyond_noise sort ascending", is_none("by", "flame"), "a list", "Leave out --by flame, or this."
        ),
        without("markdown junit", "a table", "beyond_noise sort ascending"),
        Need(
            "markdown junit",
            is_none("by", "listing", "flame"),
            "a ranking",
            "Use --by instruction, source, block or class.",
        ),
    )

    folder: Path = shared.folder("A", "the capture that is compared with, before the change")
    other: Path = positional("B", "the capture that is judged, after the change")
    twin: Path | None = shared.twin("another capture of the build of A: what it differs by is noise")
    by: str = option("what a row is (default instruction)", "instruction", choices=COMPARED_BY)
    metric: str = option(
        "cycles of what (default cost: latency and idle)", "cost", choices=COMPARED, old={"--measure": None}
    )
    fail_on: str | None = option(
        "exit with 3 if B takes more cycles beyond noise, or any other number of them", choices=GATES
    )
    least: float | None = option(
        "differences of the whole below it are noise (default 6, with a replicate 2)",
        read=percent,
        metavar="PERCENT",
    )
    seed: int = number("of the draws that measure the noise (default 0)", 0)
    waves: str | None = shared.waves()
    beyond_noise: bool = flag("only rows that are beyond noise")
    sort: str | None = shared.sort("beyond noise, then by difference")
    markdown: bool = shared.form("a summary for a pull request or a job's page")
    junit: bool = shared.form("a test report: the gate as one test case")
