"""The options of the commands that say what instructions cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.common import MOST_BINS, at_most, count, element, percent
from rcv_py.cli.options.option import (
    Need,
    Options,
    Section,
    flag,
    has,
    is_none,
    is_one,
    lacks,
    option,
    positional,
)
from rcv_py.cli.options.shared import ALL

RANKED_BY = ("line", "source", "kind", "class", "tree")
SORTED_BY = ("latency", "stall", "idle", "hits")
CHARGED = ("self", "inclusive")
CHARGED_SORT = ("cost", "share", "place", "text")
LIKE = ("old", "new")
LIKE_MODES = ("asm", "src", "both")
MODES = ("sum", "mean", "hit", "wave-sum", "wave-mean", "wave-max")
BARS = ("nonhidden", "kinds", "causes", "reasons", "latency_stall", "memory", "memory_waits")
MEASURED = ("latency", "stall", "idle", "since")
COMPARED_BY = ("line", "source", "block", "class", "listing", "flame")
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
_WITH_LIKE = Need(has("like"), "--like", "Add --like new or --like old.")
_OURS = Need(
    lacks("like"), "our own tables", "Leave --like out: it repeats the scripts, which do not know it."
)
_RANKED = Need(lacks("bins"), "the ranking", "Leave out --bins, or this.")
_CHARGED = Need(has("charge"), "--charge", "Add --charge self or --charge inclusive.")
_LISTED = Need(is_none("by", "tree"), "a list", "A tree has the order of its places.")
_LIKE_NEW = Need(lambda options: options.like in (None, "new"), "--like new")
_SOURCE_TEXT = Need(
    lambda options: not (options.json or options.csv) and options.mode != "asm", "the text of source lines"
)


@dataclass(frozen=True, kw_only=True)
class HotspotOptions(Options):
    """What `rcv hotspot` takes."""

    example = "rcv hotspot FOLDER --by source --sort stall"

    folder: Path = shared.folder()
    top: int | None = shared.top(None, shown="20, of --like 15", needs=[_RANKED])
    by: str = option("what a row is (default line)", "line", choices=RANKED_BY, needs=[_OURS, _RANKED])
    sort: str = option(
        "largest first (default latency; what only --charge knows: its own, default cost)",
        "latency",
        choices=(*SORTED_BY, *CHARGED_SORT),
        needs=[_OURS, _RANKED, _LISTED],
    )
    waves: str | None = shared.waves(ALL, [_OURS])
    ascending: bool = shared.ascending(_OURS, _RANKED, _LISTED)
    bins: int | None = option(
        "a histogram of N ranges of the program by kind instead",
        read=at_most(MOST_BINS, 1),
        metavar="N",
        needs=[_OURS],
    )
    se: int | None = option(
        "with --bins: only waves of a shader engine",
        read=count,
        metavar="N",
        needs=[_OURS, Need(has("bins"), "--bins")],
    )
    charge: str | None = option(
        "what places cost: latency and idle, charged to the innermost one or to all of an inline chain",
        choices=CHARGED,
        needs=[_OURS, _RANKED],
    )
    file: str | None = option(
        "with --charge: the lines of one source file",
        metavar="SOURCE",
        needs=[_OURS, _RANKED, _CHARGED, Need(is_one("by", "source"), "--by source")],
    )
    no_idle: bool = shared.no_idle([_OURS, _RANKED, _CHARGED])
    clock: tuple[int, int] | None = shared.clock(needs=[_OURS])
    run_files: list[Path] | None = shared.run_files(
        needs=[_LIKE_NEW, _RANKED, Need(lacks("charge"), "the ranking", "Leave out --charge, or this.")]
    )
    json: bool = shared.as_json("rcv.hotspot")
    csv: bool = shared.as_csv()
    like: str | None = option(
        "the tables of hotspot_analyzer.py, by its older or newer rules", choices=LIKE, section=_LIKE
    )
    mode: str | None = option(
        "instructions, source lines or both (default both)",
        choices=LIKE_MODES,
        section=_LIKE,
        needs=[_WITH_LIKE],
    )
    detail: bool = flag(
        "show the source around the first lines", section=_LIKE, needs=[_WITH_LIKE, _SOURCE_TEXT]
    )
    context: int | None = option(
        "lines above and below (default 3)",
        read=count,
        metavar="N",
        section=_LIKE,
        needs=[_WITH_LIKE, Need(has("detail"), "--detail")],
    )
    kernel: str | None = option(
        "part of the kernel's name in the kernel trace beside the capture",
        metavar="NAME",
        section=_LIKE,
        needs=[_WITH_LIKE, _LIKE_NEW],
    )

    @property
    def usual_waves(self) -> str | None:
        """All of them; the scripts do not know waves."""
        return None if self.like else ALL


_ONE_WAVE = Need(is_none("mode", "sum", "mean"), "--mode hit, wave-sum, wave-mean or wave-max")
_COSTS = Need(lacks("branches"), "costs", "Branches are counted in all waves: leave it out.")
_LISTING = Need(
    lacks("blocks", "branches", "labels"),
    "the listing of instructions",
    "Leave out --blocks, --branches and --labels, or this.",
)


@dataclass(frozen=True, kw_only=True)
class IsaOptions(shared.OfAllWaves):
    """What `rcv isa` takes."""

    example = "rcv isa FOLDER --blocks --top 10"

    folder: Path = shared.folder()
    blocks: bool = flag("one row a basic block", one_of="rows")
    branches: bool = flag("one row a branch: taken and not taken", one_of="rows")
    top: int = option("only the N that cost most (default 0: all)", 0, read=count, metavar="N")
    waves: str | None = shared.waves(ALL, [shared.SEVERAL_WAVES])
    labels: bool = flag("one row a label: cycles up to the next one", one_of="rows")
    mode: str = option("of all waves or of one (default sum)", "sum", choices=MODES, needs=[_COSTS])
    wave: str | None = shared.wave("whose numbers the modes of one wave show", [_ONE_WAVE, _COSTS])
    hit: int = option(
        "for --mode hit: which, from 0",
        0,
        read=count,
        metavar="N",
        needs=[Need(is_one("mode", "hit"), "--mode hit"), _COSTS],
    )
    bars: str | None = option(
        "add a column: the length of the bars of the window", choices=BARS, needs=[_LISTING]
    )
    no_idle: bool = shared.no_idle([_LISTING])
    clock: tuple[int, int] | None = shared.clock(
        needs=[Need(is_one("mode", "sum", "mean"), "--mode sum or mean"), _COSTS]
    )
    match: str | None = shared.match()
    regex: bool = shared.regex()
    case: bool = shared.case()
    sort: str | None = shared.sort("program order")
    ascending: bool = shared.ascending()
    json: bool = shared.as_json("rcv.isa")
    csv: bool = shared.as_csv()


@dataclass(frozen=True, kw_only=True)
class SourceOptions(shared.OfAllWaves):
    """What `rcv source` takes."""

    example = "rcv source FOLDER kernel.py:62 --context 5"

    folder: Path = shared.folder()
    place: str | None = positional(
        "FILE[:LINE]",
        "a source file by the end of its path, or one of its lines (default: rank the files)",
        None,
        "?",
    )
    top: int | None = shared.top(None, shown="20 files, 10 lines, 20 instructions")
    context: int | None = option(
        "lines above and below (default 3)",
        read=count,
        metavar="N",
        needs=[Need(has("place"), "FILE or FILE:LINE", "Name a source file, or leave it out.")],
    )
    inlined: bool = flag("charge callers too with what was inlined into them")
    no_causes: bool = flag("do not read the waves, which the top cause takes")
    waves: str | None = shared.waves(ALL)
    json: bool = shared.as_json("rcv.source")
    csv: bool = shared.as_csv()


@dataclass(frozen=True, kw_only=True)
class LineOptions(shared.OfWorkingWaves):
    """What `rcv line` takes."""

    example = "rcv line FOLDER 62 --by stall --top 5"

    folder: Path = shared.folder()
    line: int = positional("LINE", "row of the program, as rcv hotspot names it", count)
    by: str = option("what is measured of a hit (default latency)", "latency", choices=MEASURED)
    top: int = shared.top(10, "hits")
    log: bool = flag("bars that grow by a constant factor")
    waves: str | None = shared.waves()
    bars: int | None = option("of the histogram (default 16)", read=at_most(MOST_BINS, 1), metavar="N")
    bar: int | None = option(
        "list the hits of a bar, counted from 0, instead of the slowest", read=count, metavar="N"
    )
    json: bool = shared.as_json("rcv.line")
    csv: bool = shared.as_csv("for spreadsheets: the slowest hits")


_TREE = Need(lambda options: not options.folded and options.content != "sandwich", "a tree")
_CODE_FRAMES = Need(is_none("content", "markers", "both"), "--content source, kernel or sandwich")


@dataclass(frozen=True, kw_only=True)
class FlameOptions(shared.OfAllWaves):
    """What `rcv flame` takes."""

    example = "rcv flame FOLDER --metric stall --folded > stacks.txt"

    folder: Path = shared.folder()
    metric: str = option("what is measured (default total: latency and idle)", "total", choices=FLAME_METRICS)
    order: str = option(
        "of siblings (default heavy)",
        "heavy",
        choices=FLAME_ORDERS,
        needs=[Need(lacks("folded"), "a tree", "Stack lines have no order: leave it out.")],
    )
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
        needs=[_TREE],
    )
    waves: str | None = shared.waves(ALL, [_CODE_FRAMES])
    around: tuple[str, int] | None = option(
        "in the middle of --content sandwich: a line N of the program, or a source line FILE:N",
        read=element,
        metavar="PLACE",
    )
    no_idle: bool = shared.no_idle(
        [Need(is_none("content", "markers"), "--content source, kernel, both or sandwich")]
    )
    clock: tuple[int, int] | None = shared.clock(
        "only waves that touch the cycles A to B; then nothing is known of what is hidden",
        [
            Need(
                lambda options: options.content not in ("markers", "both") or options.metric == "nonhidden",
                "--content source, kernel or sandwich",
            )
        ],
    )
    folded: bool = shared.form("stack lines for flamegraph.pl and speedscope")
    json: bool = shared.as_json("rcv.flame")
    csv: bool = shared.as_csv("for spreadsheets: a row a frame")


_LIST = Need(is_none("by", "flame"), "a list", "Leave out --by flame, or this.")
_TABLE = Need(lacks("markdown", "junit"), "a table", "Leave out --markdown and --junit, or this.")
_RANKING = Need(is_none("by", "listing", "flame"), "a ranking", "Use --by line, source, block or class.")


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Options):
    """What `rcv compare` takes."""

    example = "rcv compare BEFORE AFTER --fail-on regression"

    folder: Path = shared.folder("A", "the capture that is compared with, before the change")
    other: Path = positional("B", "the capture that is judged, after the change")
    twin: Path | None = shared.twin("another capture of the build of A: what it differs by is noise")
    by: str = option("what a row is (default line)", "line", choices=COMPARED_BY)
    measure: str = option("cycles of what (default cost: latency and idle)", "cost", choices=COMPARED)
    top: int = shared.top(
        20, needs=[Need(lacks("junit"), "a table", "Leave out --junit, which is about the whole, or this.")]
    )
    fail_on: str | None = option(
        "exit with 3 if B takes more cycles beyond noise, or any other number of them", choices=GATES
    )
    least: float | None = option(
        "differences of the whole below it are noise (default 6, with a twin 2)",
        read=percent,
        metavar="PERCENT",
    )
    seed: int = option("of the draws that measure the noise (default 0)", 0, read=count, metavar="N")
    waves: str | None = shared.waves()
    beyond_noise: bool = flag("only rows that are beyond noise", needs=[_LIST, _TABLE])
    sort: str | None = shared.sort("beyond noise, then by difference", [_LIST, _TABLE])
    ascending: bool = shared.ascending(_LIST, _TABLE, shared.WITH_SORT)
    json: bool = shared.as_json("rcv.compare")
    csv: bool = shared.as_csv()
    markdown: bool = shared.form("a summary for a pull request or a job's page", [_RANKING])
    junit: bool = shared.form("a test report: the gate as one test case", [_RANKING])
