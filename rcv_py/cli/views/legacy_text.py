"""`rcv hotspot --like`: the tables of the hotspot scripts, number by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rcv_py.analysis.compat.legacy_analyzer import (
    MOST_WAVES,
    Generation,
    Launch,
    LegacyReport,
    SourceLine,
    choose_launch,
    legacy_report,
)
from rcv_py.base.numbers import MAX_DIGITS
from rcv_py.base.text import count
from rcv_py.cli.about import about
from rcv_py.cli.options.cost_options import HotspotOptions
from rcv_py.cli.report import json_text, plain
from rcv_py.cli.results import print_csv
from rcv_py.formats.run_files import launches
from rcv_py.model.code import SourceFile
from rcv_py.model.trace import Trace
from rcv_py.results.hotspot_like import facts, row_table, source_table

SCHEMA = "rcv.hotspot_like/1"
CELLS = 30  # so a cell is 1 / 0.3 %; the factor below is that of the scripts, for the same rounding
TOP = 15
CONTEXT = 3
_DETAILED = 5  # source lines
_LISTED = 6  # instructions of each
_RULE = "─" * 90
_NAMES = {"gfx942": "CDNA3", "gfx950": "CDNA4"}
_GRANULE = 8  # registers
_WAVE = 64  # threads


def show_legacy(trace: Trace, arguments: HotspotOptions) -> int:
    """Print the report of a capture by the rules of a generation."""
    generation = Generation(arguments.like)
    launch = Launch()
    if generation is Generation.NEW:
        launch = choose_launch(
            launches(trace.path, arguments.run_files or ()), trace.path.name, arguments.kernel or ""
        )
    report = legacy_report(trace.code, trace.sources, generation, launch)
    top = TOP if arguments.top is None else arguments.top or len(report.ranked)
    if arguments.csv:
        print_csv(source_table(report, top) if arguments.mode == "src" else row_table(report, top))
    elif arguments.json:
        document = facts(trace, report, generation.value) | {
            "sources": source_table(report, top).rows(),
            "rows": row_table(report, top).rows(),
        }
        print(json_text(SCHEMA, document, about(arguments, trace)))
    else:
        for line in _lines(trace, report, arguments, top):
            print(plain(line))
    return 0


def short(value: int) -> str:
    """Return a number as the scripts write it: `812`, `12.3K`, `4.01M`."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:.2f}M"
    return f"{value / 1_000:.1f}K" if value >= 1_000 else str(value)


def bar(share: float) -> str:
    """Return 30 cells, as many filled as whole ones fit into a share of 0 to 100, and the share."""
    filled = int(share * 0.3)
    return f"[{'█' * filled}{'░' * (CELLS - filled)}]  {share:>5.1f}%"


def _lines(trace: Trace, report: LegacyReport, arguments: HotspotOptions, top: int) -> Iterator[str]:
    yield from _header(trace, report)
    if not report.total:
        yield "No instruction has any cycles."
        return
    yield from _occupancy(report, Generation(arguments.like), bool(arguments.kernel), trace.target)
    yield from _classes(report)
    mode = arguments.mode or "both"
    if mode in ("src", "both"):
        yield from _source_table(report, top)
        if arguments.detail:
            context = CONTEXT if arguments.context is None else arguments.context
            for line in report.sources[: min(_DETAILED, top)]:
                if line.stall:
                    yield from _detail(trace.sources, line, context)
    if mode in ("asm", "both"):
        yield from _instruction_table(report, top)


def _title(text: str) -> list[str]:
    return ["", f"  {text}", f"  {_RULE}"]


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _header(trace: Trace, report: LegacyReport) -> list[str]:
    return [
        f"  Kernel:        {trace.path.name}",
        f"  Instructions:  {count(len(report.instructions))}",
        f"  Total cycles:  {short(report.total)}",
        f"  Total stalls:  {short(report.stall)}  ({_share(report.stall, report.total):.1f}% of all)",
    ]


def _occupancy(report: LegacyReport, generation: Generation, is_named: bool, target: str) -> Iterator[str]:
    yield from _title(f"Registers and waves, as the {generation.value} generation counts them")
    found = report.occupancy
    yield f"  Architecture:   {report.target} ({_NAMES[report.target]}, by the forms of matrix instructions)"
    if target.startswith("gfx9") and len(target) > len("gfx9") and target != report.target:
        yield f"  Note: the capture is of {target}; the scripts would not know."
    if report.launch.warning:
        yield f"  Note: {report.launch.warning}"
    if generation is Generation.NEW and report.launch.resources is None:
        hint = "no launch in the kernel trace fits" if is_named else "--kernel NAME looks for the launch"
        yield f"  Note: from the instructions alone; {hint}."
    yield f"  arch_vgpr:      {found.arch}{_given(found.arch)}"
    yield f"  accum_vgpr:     {found.accum}{_given(found.accum)}"
    yield f"  VGPR:           {found.given} / {found.pool}  -> {found.limits[0][2]} waves/SIMD"
    for name, used, waves in found.limits[1:]:
        of = f" bytes ({_group(report)} waves a workgroup)" if name == "LDS" else ""
        yield f"  {name + ':':<15} {used}{of}  -> {waves} waves/SIMD"
    yield f"  occupancy:      {found.waves} waves/SIMD  (bound by {found.bound})"
    if found.next_registers >= 0 and found.waves < MOST_WAVES:
        yield f"  -> {found.waves + 1} waves take VGPR <= {found.next_registers}"
    yield ""
    yield "  In the program: " + ", ".join(f"{name}: {number}" for name, number in report.mix)


def _given(registers: int) -> str:
    return f" ({-(-registers // _GRANULE) * _GRANULE} as given out)" if registers else " (not used)"


def _group(report: LegacyReport) -> int:
    launch = report.launch.resources
    return -(-launch.threads // _WAVE) or 1 if launch is not None else 1


def _classes(report: LegacyReport) -> Iterator[str]:
    yield from _title("Stall by class")
    yield f"  {'class':<14}  {'stall':>8}  share of all stall"
    for name, stall in report.classes:
        yield f"  {name:<14}  {short(stall):>8}  {bar(_share(stall, report.stall))}"


def _source_table(report: LegacyReport, top: int) -> Iterator[str]:
    yield from _title("Source lines by stall; the bar is the line's own stall rate")
    yield f"  {'#':>3}  {'stall':>8}  {'of all':>7}  {'own stall rate':<40}  {'class':<13}  source"
    for rank, line in enumerate(report.sources[:top], 1):
        if not line.stall:
            return
        yield (
            f"  {rank:>3}  {short(line.stall):>8}  {_share(line.stall, report.stall):>6.2f}%"
            f"  {bar(line.rate)}  {line.dominant:<13}  {line.source[-48:]}"
        )


def _detail(sources: Sequence[SourceFile], line: SourceLine, context: int) -> Iterator[str]:
    yield ""
    yield f"  {line.source}  (stall={short(line.stall)}, {line.rate:.0f}% of its cycles)"
    for number, text in _excerpt(sources, line.source, context):
        mark = ">>>" if line.source.partition(" -> ")[0].endswith(f":{number}") else "   "
        yield f"    {mark} {number:>5} │ {text}"
    for one in line.instructions[:_LISTED]:
        yield f"      stall={short(one.stall):>8}  type={one.name:<13} {one.text}"


def _excerpt(sources: Sequence[SourceFile], place: str, context: int) -> list[tuple[int, str]]:
    path, _, number = place.partition(" -> ")[0].rpartition(":")
    lines = next((one.lines for one in sources if one.path == path), None)
    if (
        not lines
        or not (number.isdigit() and len(number) <= MAX_DIGITS)
        or not 1 <= int(number) <= len(lines)
    ):
        return []
    first, last = max(1, int(number) - context), min(len(lines), int(number) + context)
    return [(row, lines[row - 1]) for row in range(first, last + 1)]


def _instruction_table(report: LegacyReport, top: int) -> Iterator[str]:
    yield from _title("Instructions by stall")
    yield f"  {'#':>3}  {'stall':>8}  {'of all':>7}  {'class':<13}  {'instruction':<48}  source"
    for rank, one in enumerate(report.ranked[:top], 1):
        if not one.stall:
            return
        yield (
            f"  {rank:>3}  {short(one.stall):>8}  {_share(one.stall, report.stall):>6.2f}%"
            f"  {one.name:<13}  {_cut(one.text):<48}  {one.source[-38:]}"
        )


def _cut(text: str, width: int = 48) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
