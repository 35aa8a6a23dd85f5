"""The commands that analyse what instructions cost, and what each takes."""

from __future__ import annotations

import argparse
from pathlib import Path

from rcv_py.cli.options import view_options
from rcv_py.cli.options.common import (
    Command,
    count,
    folder,
    forms,
    percent,
    positive,
    positive_count,
    run_files,
    top,
    waves,
)

RANKED_BY = ("line", "source", "kind", "class", "tree")
KNOWN_WRONG = (
    "--like repeats the originals, also where they are wrong: the old rules divide 256 registers where "
    "gfx942 has 512; a program is taken for gfx942, with 64 KB of LDS, unless it names one of three "
    "forms of gfx950; only the first number of a range of registers counts; waits for two counters "
    "count as vector memory; gfx12 waits, ds_load, flat_store, scratch, atomics and s_nop are `other`; "
    "v_fma counts as matrix instruction."
)
LIKE = ("old", "new")
LIKE_MODES = ("asm", "src", "both")
MEASURED = ("latency", "stall", "idle", "since")
SORTED_BY = ("latency", "stall", "idle", "hits")
LATENCY_KINDS = ("hidden", "memory")
RULES = ("ours", "reference")
CAUSES_BY = ("cause", "line", "producer")
LOOPS_SHOWN = ("loops", "iterations", "phases", "first", "distance", "chains", "barriers")
COMPARED_BY = ("line", "source", "block", "class", "listing", "flame")
COMPARED = ("cost", "latency", "stall")
GATES = ("regression", "difference")
COUNTED_BY = ("kernel", "dispatch")
FLAME_METRICS = ("total", "nonhidden", "stall", "hits")
FLAME_ORDERS = ("heavy", "execution", "name")
FLAME_CONTENTS = ("source", "kernel", "markers", "both", "sandwich")


def _hotspot(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument("--top", type=count, metavar="N", help="rows; 0 for all (default 20, of --like 15)")
    parser.add_argument("--by", choices=RANKED_BY, default="line", help="what a row is (default line)")
    parser.add_argument(
        "--sort",
        choices=(*SORTED_BY, *view_options.CHARGED_SORT),
        default="latency",
        help="largest first (default latency; what only --charge knows: its own, default cost)",
    )
    waves(parser, "all")
    view_options.hotspot(parser)
    run_files(parser)
    forms(parser, "rcv.hotspot")
    like = parser.add_argument_group("as hotspot_analyzer.py", KNOWN_WRONG)
    like.add_argument(
        "--like", choices=LIKE, help="the tables of hotspot_analyzer.py, by its older or newer rules"
    )
    like.add_argument("--mode", choices=LIKE_MODES, help="instructions, source lines or both (default both)")
    like.add_argument("--detail", action="store_true", help="show the source around the first lines")
    like.add_argument("--context", type=count, metavar="N", help="lines above and below (default 3)")
    like.add_argument(
        "--kernel", metavar="NAME", help="part of the kernel's name in the kernel trace beside the capture"
    )


def _isa(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--blocks", action="store_true", help="one row a basic block")
    what.add_argument("--branches", action="store_true", help="one row a branch: taken and not taken")
    parser.add_argument(
        "--top", type=count, default=0, metavar="N", help="only the N that cost most (default 0: all)"
    )
    waves(parser, "all")
    view_options.isa(parser, what)
    forms(parser, "rcv.isa")


def _waits(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    top(parser, 20, "waits")
    parser.add_argument("--wave", metavar="ID", help="of one wave only, e.g. se0/simd2/slot1/wv0")
    parser.add_argument(
        "--latency", action="store_true", help="the memory latency of each instruction instead"
    )
    waves(parser)
    view_options.waits(parser)
    forms(parser, "rcv.waits")


def _causes(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "--by",
        choices=CAUSES_BY,
        default="cause",
        help="what a row is; producer: who is to blame (default cause)",
    )
    top(parser, 12)
    waves(parser)
    view_options.causes(parser)
    forms(parser, "rcv.causes", "for spreadsheets: a row a line, cause and producer")


def _loops(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "--show",
        choices=LOOPS_SHOWN,
        default="loops",
        help="loops, their iterations, phases of waves, costs of first executions, distances from loads to"
        " their waits, chains of cross-lane operations, or barriers (default loops)",
    )
    parser.add_argument("--wave", metavar="ID", help="of one wave only, e.g. se0/simd2/slot1/wv0")
    top(parser, 20)
    waves(parser)
    view_options.loops(parser)
    forms(parser, "rcv.loops")


def _bubbles(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    top(parser, 20, "lines")
    parser.add_argument(
        "--rule",
        choices=RULES,
        default="ours",
        help="ours (default): time under s_endpgm is drain, and cycles in which the matrix unit works are no "
        "bubbles; reference: time under s_endpgm is issue, and matrix passes do not count as work",
    )
    waves(parser)
    view_options.bubbles(parser)
    forms(parser, "rcv.bubbles")


def _line(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "line", type=count, metavar="LINE", help="row of the program, as rcv hotspot names it"
    )
    parser.add_argument(
        "--by", choices=MEASURED, default="latency", help="what is measured of a hit (default latency)"
    )
    top(parser, 10, "hits")
    parser.add_argument("--log", action="store_true", help="bars that grow by a constant factor")
    waves(parser)
    view_options.line(parser)
    forms(parser, "rcv.line", "for spreadsheets: the slowest hits")


def _source(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "place",
        nargs="?",
        metavar="FILE[:LINE]",
        help="a source file by the end of its path, or one of its lines (default: rank the files)",
    )
    parser.add_argument(
        "--top", type=count, metavar="N", help="rows; 0 for all (default 20 files, 10 lines, 20 instructions)"
    )
    parser.add_argument("--context", type=count, metavar="N", help="lines above and below (default 3)")
    parser.add_argument(
        "--inlined", action="store_true", help="charge callers too with what was inlined into them"
    )
    parser.add_argument(
        "--no-causes", action="store_true", help="do not read the waves, which the top cause takes"
    )
    waves(parser, "all")
    forms(parser, "rcv.source")


def _latency(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "--kind",
        choices=LATENCY_KINDS,
        default="hidden",
        help="what other waves hide, or how long memory takes by counters (default hidden)",
    )
    parser.add_argument(
        "--rule", choices=RULES, default="ours", help="our estimate or the reference viewer's (default ours)"
    )
    top(parser, 20)
    waves(parser)
    view_options.latency(parser)
    forms(parser, "rcv.latency")


def _counters(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument("--list", action="store_true", help="names only, with where and how often recorded")
    parser.add_argument("--raw", action="store_true", help="counters of the hardware only, no formulas")
    parser.add_argument(
        "--formula",
        action="append",
        default=[],
        metavar="TEXT",
        help="add a formula such as 'total := sum[BUSY_CU_CYCLES]'; may be repeated",
    )
    parser.add_argument(
        "--file", action="append", default=[], type=Path, metavar="DEFS", help="add formulas from a file"
    )
    parser.add_argument("--se", type=count, action="append", metavar="N", help="only this shader engine")
    parser.add_argument("--cu", type=count, action="append", metavar="N", help="only this compute unit")
    view_options.counters(parser)
    forms(parser, "rcv.counters", "the curves: name, time, value")


def _pmc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        type=Path,
        nargs="+",
        metavar="PATH",
        help="CSV files of rocprofv3 --pmc, folders with such files, or a capture beside which they lie",
    )
    parser.add_argument(
        "--kernel", default="", metavar="NAME", help="only kernels with this in their name (default: all)"
    )
    parser.add_argument("--by", choices=COUNTED_BY, default="kernel", help="what a row is (default kernel)")
    parser.add_argument(
        "--ideal-mb",
        type=positive,
        metavar="MB",
        help="megabytes (10^6) that a dispatch has to read at least: tells how much too much is read",
    )
    parser.add_argument(
        "--channels",
        type=positive_count,
        metavar="N",
        help="factor on bytes, for counters that see a part of the channels (default 1, of --like 2)",
    )
    top(parser, 10)
    forms(parser, "rcv.pmc")
    parser.add_argument(
        "--like",
        action="store_true",
        help="the text of pmc_l2_analyzer.py, which adds up everything and takes reads for 64 bytes",
    )


def _flame(parser: argparse.ArgumentParser) -> None:
    folder(parser)
    parser.add_argument(
        "--metric",
        choices=FLAME_METRICS,
        default="total",
        help="what is measured (default total: latency and idle)",
    )
    parser.add_argument("--order", choices=FLAME_ORDERS, default="heavy", help="of siblings (default heavy)")
    parser.add_argument(
        "--content",
        choices=FLAME_CONTENTS,
        default="source",
        help="what frames are; both: scopes of markers with sources and instructions (default source)",
    )
    parser.add_argument(
        "--least",
        type=percent,
        default=1.0,
        metavar="PERCENT",
        help="leave out frames below this share of all in the tree (default 1)",
    )
    waves(parser, "all")
    view_options.flame(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--folded", action="store_true", help="stack lines for flamegraph.pl and speedscope")
    form.add_argument("--json", action="store_true", help="for programs: schema rcv.flame")
    form.add_argument("--csv", action="store_true", help="for spreadsheets: a row a frame")


def _compare(parser: argparse.ArgumentParser) -> None:
    folder(parser, "A", "the capture that is compared with, before the change")
    parser.add_argument("other", type=Path, metavar="B", help="the capture that is judged, after the change")
    parser.add_argument(
        "--twin",
        type=Path,
        metavar="C",
        help="another capture of the build of A: what it differs by is noise",
    )
    parser.add_argument("--by", choices=COMPARED_BY, default="line", help="what a row is (default line)")
    parser.add_argument(
        "--measure",
        choices=COMPARED,
        default="cost",
        help="cycles of what (default cost: latency and idle)",
    )
    top(parser, 20)
    parser.add_argument(
        "--fail-on",
        choices=GATES,
        help="exit with 3 if B takes more cycles beyond noise, or any other number of them",
    )
    parser.add_argument(
        "--least",
        type=percent,
        metavar="PERCENT",
        help="differences of the whole below it are noise (default 6, with a twin 2)",
    )
    parser.add_argument(
        "--seed", type=count, default=0, metavar="N", help="of the draws that tell the noise (default 0)"
    )
    waves(parser)
    view_options.compare(parser)
    form = forms(parser, "rcv.compare")
    form.add_argument("--markdown", action="store_true", help="a summary for a pull request or a job's page")
    form.add_argument("--junit", action="store_true", help="a test report: the gate as one test case")


ANALYSIS_COMMANDS = (
    Command(
        "hotspot",
        "rank instructions, source lines, kinds or classes by cost",
        _hotspot,
        "rcv hotspot FOLDER --by source --sort stall",
    ),
    Command(
        "isa",
        "list instructions, basic blocks or branches",
        _isa,
        "rcv isa FOLDER --blocks --top 10",
    ),
    Command(
        "waits",
        "tell what waits waited for, and how long memory took",
        _waits,
        "rcv waits FOLDER --top 5",
    ),
    Command(
        "causes",
        "tell why waves stalled and idled, and which instruction is to blame",
        _causes,
        "rcv causes FOLDER --by producer --top 5",
    ),
    Command(
        "loops",
        "tell how long iterations of loops took, and what is around them",
        _loops,
        "rcv loops FOLDER --show iterations --top 5",
    ),
    Command(
        "bubbles",
        "rank instructions by the cycles in which nothing happened on a SIMD while waves waited in them",
        _bubbles,
        "rcv bubbles FOLDER --top 10",
    ),
    Command(
        "line",
        "show how long the hits of an instruction took, and the slowest",
        _line,
        "rcv line FOLDER 62 --by stall --top 5",
    ),
    Command(
        "source",
        "show what source files and lines cost, and the instructions of a line",
        _source,
        "rcv source FOLDER kernel.py:62 --context 5",
    ),
    Command(
        "latency",
        "tell what of the latency other waves hide, or how long memory takes",
        _latency,
        "rcv latency FOLDER --kind memory",
    ),
    Command(
        "counters",
        "summarise hardware counters and formulas over them",
        _counters,
        "rcv counters FOLDER --formula 'busy := sum[BUSY_CU_CYCLES, axis=[XCC, SE, CU]]'",
    ),
    Command(
        "pmc",
        "tell how L2 and memory were used, from the CSV files of rocprofv3 --pmc",
        _pmc,
        "rcv pmc FOLDER --kernel attn --ideal-mb 8590",
    ),
    Command(
        "compare",
        "tell whether B takes more or fewer cycles than A, beyond noise, and where",
        _compare,
        "rcv compare BEFORE AFTER --fail-on regression",
    ),
    Command(
        "flame",
        "tell what costs how much inside of what",
        _flame,
        "rcv flame FOLDER --metric stall --folded > stacks.txt",
    ),
)
