"""The options of the commands about what costs cycles, where and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    ENTRY_KINDS,
    MAX_BINS,
    Need,
    at_most,
    beside,
    count,
    cycles,
    element,
    flag,
    has,
    is_none,
    is_one,
    kinds,
    lacks,
    line_or_place,
    number,
    option,
    pair,
    path,
    percent,
    positional,
    positive,
    positive_count,
    range_of,
    slower,
    text,
    without,
)
from rcv_py.cli.options.shared import ALL, REFERENCE, WAVE_ID, WORKING
from rcv_py.model.modes import MEASURES

MODES = ("sum", "mean", "hit", "wave-sum", "wave-mean", "wave-max")
BARS = ("nonhidden", "kinds", "causes", "reasons", "latency_stall", "memory", "memory_waits")
FLAME_METRICS = ("total", "nonhidden", "stall", "hits")
OCCUPIED_BY = ("se", "all", "cu", "simd", "kernel", "state")
CAUSES_BY = ("cause", "instruction", "producer")
LOOPS_BY = ("loops", "iterations", "phases", "first", "distance", "chains", "barriers", "segments")


class IsaOptions(
    shared.OfAllWaves, shared.Matched, shared.Rows, example="rcv isa FOLDER --by block --top 10"
):
    """List instructions, basic blocks, branches or labels."""

    chosen_by = ("se", "clock")  # the wave of a mode
    needs = (
        Need("wave", is_none("mode", "sum", "mean"), "--mode hit, wave-sum, wave-mean or wave-max"),
        Need("hit", is_one("mode", "hit"), "--mode hit"),
        Need("clock se", is_one("mode", "sum", "mean"), "--mode sum or mean"),
        Need(
            "mode wave hit clock se",
            is_none("by", "branch"),
            "costs",
            "Branches are counted in all waves: leave it out.",
        ),
        beside("help_of", "isa_xml"),
        without(
            "help_of",
            "the listing",
            "by top sort ascending match regex case mode wave hit waves se clock bars no_idle",
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
        choices=("instruction", "block", "branch", "label"),
        old={"--blocks": "block", "--branches": "branch", "--labels": "label"},
    )
    top: int = number("only the N that cost most (default 0: all)", 0)
    mode: str = option("of all waves or of one (default sum)", "sum", choices=MODES)
    wave: str | None = shared.wave("the wave that the modes of one wave show")
    hit: int = number("for --mode hit: which, from 1", 1, positive_count)
    bars: str | None = option("add a column: the length of the bars of the window", choices=BARS)
    no_idle: bool = shared.no_idle()
    sort: str | None = shared.sort("program order")
    help_of: str | None = text(
        "instead: what an instruction does, which unit executes it, how long it takes, and "
        "what waits for it; by its number or the start of its mnemonic",
        "NAME",
    )
    isa_xml: Path | None = path(
        "with --help-of: a machine-readable ISA file from AMD, for its descriptions", "FILE"
    )


class SourceOptions(shared.OfAllWaves, shared.Rows, example="rcv source FOLDER kernel.py:62 --context 5"):
    """Show what source files, lines and their instructions cost."""

    needs = (
        Need("context", has("place"), "FILE or FILE:LINE", "Name a source file, or leave it out."),
        Need(
            "sort", lambda options: options.place is None, "the ranking of files", "Leave FILE out, or this."
        ),
        Need("edit", has("place"), "FILE or FILE:LINE", "Name a source file, or leave it out."),
        Need("editor", has("edit"), "--edit"),
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
    inlined: bool = flag("also charge callers for code inlined into them")
    no_causes: bool = flag("do not read the waves, which the top cause needs")
    edit: bool = shared.form("print nothing: open the place in an editor")
    editor: str | None = text(
        "editor to use: code, clion, vim, or a command such as 'code --goto {file}:{line}' "
        "(default $RCV_EDITOR, $VISUAL, $EDITOR, or the first that is found)",
        "WORDS",
    )


class LineOptions(shared.OfWaves, example="rcv line FOLDER 62 --metric stall --top 5"):
    """Show how long executions took, or the details of one of them."""

    needs = (
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
        f"e.g. {shared.WAVE_ID}:instruction 62 hit 1",
        line_or_place,
    )
    more: list[str] = positional("PLACE", "more executions or waves", None, "*")
    metric: str = option(
        "what is measured of an execution (default latency)", "latency", choices=MEASURES, old={"--by": None}
    )
    top: int = shared.top(10, "hits")
    log: bool = flag("bars whose width grows by a constant factor")
    bars: int | None = number("of the histogram (default 16)", read=at_most(MAX_BINS, 1))
    bar: int | None = number("list the hits of a bar, counted from 0, instead of the slowest")
    csv: bool = shared.as_csv("the slowest hits, or one row per fact")


class WaitsOptions(shared.OfWaves, shared.Rows, example="rcv waits FOLDER --top 5"):
    """Show what waits waited for, and how long memory took."""

    latency: bool = flag("the memory latency of each instruction instead", one_of="instead")
    inverted: bool = flag(
        "waits for a load that was issued after loads that are needed later, where it "
        "should stand, and the predicted gain",
        one_of="instead",
    )
    line: int | None = number("only waits at this instruction, and those that waited for it")
    sort: str | None = shared.sort("stall")


class CausesOptions(shared.OfWaves, shared.Rows, example="rcv causes FOLDER --by producer --top 5"):
    """Show why waves stalled and idled, and what is to blame."""

    by: str = option(
        "what a row is; producer: the instruction to blame (default cause)", "cause", choices=CAUSES_BY
    )
    top: int = shared.top(12)
    line: int | None = number("only where this instruction is late or to blame")
    sort: str | None = shared.sort("stall and idle")
    csv: bool = shared.as_csv("a row for every instruction, cause and producer")


class LoopsOptions(shared.OfWaves, shared.Rows, example="rcv loops FOLDER --by iterations --top 5"):
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


class _Ruled(shared.OfWaves, shared.Rows):
    """Options of results by our rules or the reference viewer's, which counts all waves."""

    rule: str = shared.rule("our estimate or the reference viewer's (default ours)")

    @property
    def usual_waves(self) -> str:
        """The default population of waves without `--waves`."""
        return ALL if self.rule == REFERENCE else WORKING


class BubblesOptions(_Ruled, example="rcv bubbles FOLDER --top 10"):
    """Rank instructions by the no-issue cycles of SIMDs they hold up."""

    rule: str = shared.rule(
        "ours (default): time under s_endpgm is drain, and cycles in which the MFMA unit works are no "
        "bubbles; reference: time under s_endpgm is issue, and MFMA passes do not count as work"
    )
    line: int | None = number("only this instruction")
    sort: str | None = shared.sort("cycles")


class LatencyOptions(_Ruled, example="rcv latency FOLDER --by memory"):
    """Show hidden latency, memory latency, and what delays accesses."""

    needs = (
        Need("waves wave se clock", is_none("by", "memory"), "--by hidden, access or fetch"),
        Need("no_idle", is_one("by", "hidden"), "--by hidden"),
        Need("rule", is_none("by", "access", "fetch"), "--by hidden or memory"),
        Need("waits", is_one("by", "memory"), "--by memory"),
    )

    by: str = option(
        "what a row has: what other waves hide, how long memory takes by counters, how long accesses hold "
        "LDS and vector memory (bank conflicts, lanes apart), or code that was not in the cache "
        "(default hidden)",
        "hidden",
        choices=("hidden", "memory", "access", "fetch"),
        old={"--kind": None},
    )
    waits: bool = flag(
        "with --by memory: also latencies that waits show, and instructions that only waits measure"
    )
    no_idle: bool = shared.no_idle()
    sort: str | None = shared.sort("cycles not hidden, or the mean")


class WhatifOptions(shared.OfCapture, example="rcv whatif FOLDER --latency vmem=0.5 --move 319:283"):
    """Predict what a change would gain, by replaying the recording."""

    needs = (beside("path", "top"),)

    latency: list[tuple[str, float]] | None = option(
        "latency of vmem, lds, smem, memory, or of an instruction, times a factor; may be repeated",
        repeated=True,
        read=slower,
        metavar="WHAT=FACTOR",
    )
    move: list[tuple[int, int]] | None = option(
        "move an instruction to right before another one; may be repeated",
        repeated=True,
        read=pair,
        metavar="LINE:BEFORE",
    )
    relax: list[tuple[int, int]] | None = option(
        "let a wait leave that many more operations outstanding; may be repeated",
        repeated=True,
        read=pair,
        metavar="LINE:MORE",
    )
    only: list[tuple[int, int]] | None = option(
        "let a wait wait for this load alone; may be repeated, also for more loads of one wait",
        repeated=True,
        read=pair,
        metavar="LINE:LOAD",
    )
    dpp: list[int] | None = option(
        "turn a move across lanes into an operand of arithmetic (DPP); may be repeated",
        repeated=True,
        read=count,
        metavar="LINE",
    )
    merge: list[tuple[int, int]] | None = option(
        "merge an access into another one, which becomes wider by as much; may be repeated",
        repeated=True,
        read=pair,
        metavar="LINE:OTHER",
    )
    free: list[int] | None = option(
        "let an instruction take no time of its own; may be repeated",
        repeated=True,
        read=count,
        metavar="LINE",
    )
    no_barriers: bool = flag("no wave waits at barriers")
    more_waves: int | None = number("that many more waves on each SIMD", read=at_most(32, 1))
    path: bool = flag("instead: the critical path, which makes up the span, with the changes if any")
    top: int = shared.top(20, "instructions of the critical path")
    all: bool = flag("replay all waves, even of a capture with more than 2 million executed instructions")


class FlameOptions(shared.OfAllWaves, example="rcv flame FOLDER --metric stall --folded > stacks.txt"):
    """Show costs as a tree of nested frames."""

    needs = (
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
    order: str = option("order of siblings (default heavy)", "heavy", choices=("heavy", "execution", "name"))
    content: str = option(
        "what frames are; both: scopes of markers with sources and instructions (default source)",
        "source",
        choices=("source", "kernel", "markers", "both", "sandwich"),
    )
    least: float = option(
        "omit frames below this percentage of the total (default 1)",
        1.0,
        read=percent,
        metavar="PERCENT",
    )
    around: tuple[str, int] | None = option(
        "the middle of --content sandwich: an instruction N, or a source line FILE:N",
        read=element,
        metavar="PLACE",
    )
    no_idle: bool = shared.no_idle()
    clock: tuple[int, int] | None = range_of(
        "only waves that touch a range of cycles; hidden cycles are then unknown", old="--clock"
    )
    folded: bool = shared.form("stack lines for flamegraph.pl and speedscope")
    csv: bool = shared.as_csv("one row per frame")


class ScheduleOptions(shared.OfWaves, example="rcv schedule FOLDER"):
    """Show what a better order of instructions in hot blocks would gain."""

    mca: bool = flag("also show the estimate of llvm-mca, which must be installed")


class RooflineOptions(shared.OfWaves, shared.WithRunFiles, example="rcv roofline FOLDER"):
    """Show how near the kernel and its loops come to their roofs."""


class RegistersOptions(
    shared.Rows, shared.WithRunFiles, example="rcv registers FOLDER --by instruction --sort vgprs"
):
    """Show how many registers are held, the peak, and which are free."""

    needs = (
        without("line", "the list", "by run_files top sort ascending"),
        Need("run_files", is_one("by", "file"), "register files", "Leave --by out, or this."),
    )

    by: str = option("what a row is (default file: a register file)", "file", choices=("file", "instruction"))
    line: int | None = number("instead: which registers are held and which are free at this instruction")
    top: int = shared.top(20)
    sort: str | None = shared.sort("program order")


class OccupancyOptions(shared.OfCapture, shared.WithRunFiles, example="rcv occupancy FOLDER --by kernel"):
    """Show how many waves were resident, and what limits them."""

    needs = (
        without("limits", "the curves", "by se only"),
        beside("limits", "run_files"),
    )

    by: str = option("what a row is (default se)", "se", choices=OCCUPIED_BY)
    limits: bool = flag("instead: what limits the waves of a SIMD, and the next step")
    se: int | None = shared.engine()
    only: list[str] | None = shared.only("only this row")
    run_files: list[Path] | None = shared.run_files("with --limits: ")
    csv: bool = shared.as_csv("the curves: a row for every change")


class WavesOptions(shared.Rows, example="rcv waves FOLDER --sort stall --top 5"):
    """List waves, or show what one of them did."""

    needs = (
        without(
            "populations", "the list of waves", "resident waves unit_of without_kernel without_se se within"
        ),
        without("resident", "traced waves", "waves"),
        Need("tokens touching", has("wave"), "one wave", "Name a wave, or leave it out."),
        Need(
            "resident populations waves unit_of without_kernel without_se se sort top",
            lacks("wave"),
            "the list of waves",
            "Leave out the wave, or this.",
        ),
    )

    wave: str | None = positional("ID", f"what one wave did, e.g. {WAVE_ID}", None, "?")
    tokens: bool = flag("with a wave: also its instructions in execution order")
    resident: bool = flag("every wave that was on the device, also those whose instructions were not traced")
    populations: bool = flag(
        "instead: one row per path that waves took through the code: which work, which left early"
    )
    waves: str | None = shared.waves("all")
    se: int | None = shared.engine()
    unit_of: str | None = text("only the compute unit of this wave", "ID")
    without_kernel: list[str] = option("leave out a kernel, by symbol", [], repeated=True, metavar="NAME")
    without_se: list[int] = option("leave out an engine", [], read=count, repeated=True, metavar="N")
    within: tuple[int, int] | None = range_of("count only a range of cycles", old="--within")
    touching: tuple[int, int] | None = option(
        "with a wave: also how many waves touch the cycles A to B",
        read=cycles,
        metavar="A:B",
        old={"--clock": None},
    )
    top: int = shared.top(0, "waves")
    sort: str | None = shared.sort("place and start")


class SearchOptions(shared.Matched, shared.Rows, example="rcv search FOLDER --match buffer_load"):
    """Find a text in instructions, labels, sources and markers."""

    match: str | None = text("what to look for: instructions, labels, sources, names of markers", "TEXT")
    top: int = shared.top(0, "hits")


class CountersOptions(
    shared.OfCapture,
    example="rcv counters FOLDER --formula 'busy := sum[BUSY_CU_CYCLES, axis=[XCC, SE, CU]]'",
):
    """Summarise hardware counters and formulas over them."""

    needs = (
        without("list", "the values", "raw formula file se cu simd only"),
        without("raw", "formulas", "formula file"),
    )

    list: bool = flag("names only, with where and how often recorded")
    raw: bool = flag("counters of the hardware only, no formulas")
    formula: Sequence[str] = option(
        "add a formula such as 'total := sum[BUSY_CU_CYCLES]'; may be repeated",
        [],
        repeated=True,
        metavar="TEXT",
    )
    file: Sequence[Path] = path("add formulas from a file", "DEFS", [], repeated=True)
    se: Sequence[int] | None = option("only this shader engine", read=count, repeated=True, metavar="N")
    cu: Sequence[int] | None = option("only this compute unit", read=count, repeated=True, metavar="N")
    simd: int | None = number("only raw counters that count this SIMD")
    only: Sequence[str] | None = shared.only("only this counter")
    csv: bool = shared.as_csv("the curves: name, time, value")


class PmcOptions(shared.Forms, example="rcv pmc FOLDER --kernel attn --ideal-mb 8590"):
    """Show how L2 and memory were used, from rocprofv3 --pmc files."""

    needs = (Need("by top", lacks("like"), "our own table", "Leave out --like, which adds up everything."),)

    paths: list[Path] = positional(
        "PATH",
        "CSV files of rocprofv3 --pmc, folders with such files, or a capture next to such files",
        nargs="+",
    )
    kernel: str = option("only kernels with this in their name (default: all)", "", metavar="NAME")
    by: str = option("what a row is (default kernel)", "kernel", choices=("kernel", "dispatch"))
    ideal_mb: float | None = option(
        "minimum of megabytes (10^6) that a dispatch has to read: shows the excess",
        read=positive,
        metavar="MB",
    )
    channels: int | None = number(
        "factor for bytes, for counters that cover part of the channels (default 1, with --like 2)",
        read=positive_count,
    )
    top: int = shared.top(10)
    like: bool = flag(
        "the text of pmc_l2_analyzer.py, which adds up everything and counts each read as 64 bytes"
    )


class EventsOptions(shared.Matched, shared.Rows, example="rcv events FOLDER --kind dispatch,marker"):
    """List dispatches, events and markers by time."""

    kind: tuple[str, ...] | None = option(
        f"of {', '.join(ENTRY_KINDS)}, joined by commas (default: all that mean something)",
        read=kinds,
        metavar="KINDS",
    )
    match: str | None = option("only rows whose name, place or detail holds this text", metavar="TEXT")
    within: tuple[int, int] | None = range_of("only rows that begin in a range of cycles")
    top: int = shared.top(0)
    sort: str | None = shared.sort("time, smallest first")
