"""The texts of older scripts: `rcv hotspot --like` number by number, `rcv pmc --like` letter by letter."""

from collections.abc import Iterator, Sequence

from rcv_py.base.text import MAX_DIGITS, Message, count, join_texts
from rcv_py.cli.answer import CommandAnswer
from rcv_py.features.compat.result import ROWS, SCHEMA, SOURCES, facts
from rcv_py.features.compat.script_numbers import (
    MAX_WAVES,
    AnalyzerGeneration,
    AnalyzerLaunch,
    LegacyReport,
    OriginalNumbers,
    SourceLine,
    choose_launch,
    legacy_report,
)
from rcv_py.features.hotspot.options import HotspotOptions
from rcv_py.formats.uiout.run_files import launches
from rcv_py.model.code import SourceFile
from rcv_py.model.trace import Trace
from rcv_py.results.table import ResultTable

CELLS = 30  # so a cell is 1 / 0.3 %; the factor below is from the scripts, for the same rounding
TOP = 15
CONTEXT = 3
_DETAILED = 5  # source lines
_LISTED = 6  # instructions of each
_RULE = "─" * 90
_NAMES = {"gfx942": "CDNA3", "gfx950": "CDNA4"}
_GRANULE = 8  # registers
_WAVE = 64  # threads


def like_analyzer(trace: Trace, options: HotspotOptions) -> CommandAnswer:
    """Return the report of a capture by the rules of a generation of hotspot_analyzer.py."""
    generation = AnalyzerGeneration(options.like)
    launch = AnalyzerLaunch()
    if generation is AnalyzerGeneration.NEW:
        known = launches(trace.path, options.run_files or ())
        launch = choose_launch(known, trace.path.name, options.kernel or "")
    report = legacy_report(trace.code, trace.sources, generation, launch)
    top = options.top or len(report.ranked) if "top" in options.given else TOP
    sources = ResultTable.of(SOURCES, [line for line in report.sources[:top] if line.stall])
    rows = ResultTable.of(ROWS, [instruction for instruction in report.ranked[:top] if instruction.stall])
    return CommandAnswer(
        schema=SCHEMA,
        document=lambda: (
            facts(trace, report, generation.value) | {"sources": sources.rows(), "rows": rows.rows()}
        ),
        csv=(sources if options.mode == "src" else rows).csv,
        text=lambda: _lines(trace, report, options, top),
        of=trace,
    )


def short(value: int) -> str:
    """Return a number as the scripts write it: `812`, `12.3K`, `4.01M`."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:.2f}M"
    return f"{value / 1_000:.1f}K" if value >= 1_000 else str(value)


def bar(share: float) -> str:
    """Return a bar of 30 cells for a share of 0 to 100, rounded down, and the share."""
    filled = int(share * 0.3)
    return f"[{'█' * filled}{'░' * (CELLS - filled)}]  {share:>5.1f}%"


def _lines(trace: Trace, report: LegacyReport, options: HotspotOptions, top: int) -> Iterator[str]:
    yield Message("  Kernel:        {0}", trace.path.name)
    yield Message("  Instructions:  {0}", count(len(report.instructions)))
    yield Message("  Total cycles:  {0}", short(report.total))
    share = _share(report.stall, report.total)
    yield Message("  Total stalls:  {0}  ({1:.1f}% of all)", short(report.stall), share)
    if not report.total:
        yield "No instruction has any cycles."
        return
    yield from _occupancy(report, AnalyzerGeneration(options.like), bool(options.kernel), trace.target)
    yield from _title("Stall by class")
    yield Message("  {0:<14}  {1:>8}  share of all stall", "class", "stall")
    for name, stall in report.classes:
        yield Message("  {0:<14}  {1:>8}  {2}", name, short(stall), bar(_share(stall, report.stall)))
    mode = options.mode or "both"
    if mode in ("src", "both"):
        yield from _source_table(report, top)
    if mode in ("src", "both") and options.detail:
        context = CONTEXT if options.context is None else options.context
        for line in report.sources[: min(_DETAILED, top)]:
            if line.stall:
                yield from _detail(trace.sources, line, context)
    if mode in ("asm", "both"):
        yield from _instruction_table(report, top)


def _title(text: str, rule: str = _RULE) -> tuple[str, str, str]:
    return "", Message("  {0}", text), f"  {rule}"


def _share(part: int, total: int) -> float:
    return 100 * part / total if total else 0.0


def _occupancy(
    report: LegacyReport, generation: AnalyzerGeneration, is_named: bool, target: str
) -> Iterator[str]:
    yield from _title(Message("Registers and waves, as the {0} generation counts them", generation.value))
    found = report.occupancy
    name = _NAMES[report.target]
    yield Message("  Architecture:   {0} ({1}, by the forms of matrix instructions)", report.target, name)
    if target.startswith("gfx9") and len(target) > len("gfx9") and target != report.target:
        yield Message("  Note: the capture is of {0}; the scripts would not know.", target)
    if report.launch.warning:
        yield Message("  Note: {0}", report.launch.warning)
    launch = report.launch.resources
    if generation is AnalyzerGeneration.NEW and launch is None:
        hint = "no launch in the kernel trace fits" if is_named else "--kernel NAME looks for the launch"
        yield Message("  Note: from the instructions alone; {0}.", hint)
    yield Message("  arch_vgpr:      {0}{1}", found.arch, _allocated(found.arch))
    yield Message("  accum_vgpr:     {0}{1}", found.accum, _allocated(found.accum))
    yield f"  VGPR:           {found.given} / {found.pool}  -> {found.limits[0][2]} waves/SIMD"
    group = 1 if launch is None else -(-launch.threads // _WAVE) or 1
    for name, used, waves in found.limits[1:]:
        of = Message(" bytes ({0} waves per workgroup)", group) if name == "LDS" else ""
        yield f"  {name + ':':<15} {used}{of}  -> {waves} waves/SIMD"
    yield Message("  occupancy:      {0} waves/SIMD  (bound by {1})", found.waves, found.bound)
    if found.next_registers >= 0 and found.waves < MAX_WAVES:
        yield Message("  -> {0} waves take VGPR <= {1}", found.waves + 1, found.next_registers)
    yield ""
    mix = (Message("{0}: {1}", name, number) for name, number in report.mix)
    yield "  In the program: " + join_texts(", ", mix)


def _allocated(registers: int) -> str:
    rounded = -(-registers // _GRANULE) * _GRANULE
    return Message(" ({0} as given out)", rounded) if registers else " (not used)"


def _source_table(report: LegacyReport, top: int) -> Iterator[str]:
    yield from _title("Source lines by stall; the bar is the line's own stall rate")
    head = ("#", "stall", "of all", "own stall rate", "class")
    yield Message("  {0:>3}  {1:>8}  {2:>7}  {3:<40}  {4:<13}  source", *head)
    for rank, line in enumerate(report.sources[:top], 1):
        if not line.stall:
            return
        of_all, source = _share(line.stall, report.stall), line.source[-48:]
        cells = (rank, short(line.stall), of_all, bar(line.rate), line.dominant, source)
        yield Message("  {0:>3}  {1:>8}  {2:>6.2f}%  {3}  {4:<13}  {5}", *cells)


def _detail(sources: Sequence[SourceFile], line: SourceLine, context: int) -> Iterator[str]:
    yield ""
    yield Message("  {0}  (stall={1}, {2:.0f}% of its cycles)", line.source, short(line.stall), line.rate)
    place = line.source.partition(" -> ")[0]
    for number, text in _excerpt(sources, place, context):
        mark = ">>>" if place.endswith(f":{number}") else "   "
        yield f"    {mark} {number:>5} │ {text}"
    for row in line.instructions[:_LISTED]:
        yield Message("      stall={0:>8}  type={1:<13} {2}", short(row.stall), row.name, row.text)


def _excerpt(sources: Sequence[SourceFile], place: str, context: int) -> list[tuple[int, str]]:
    path, _, text = place.rpartition(":")
    lines = next((source.lines for source in sources if source.path == path), None)
    number = int(text) if text.isdigit() and len(text) <= MAX_DIGITS else 0
    if not lines or not 1 <= number <= len(lines):
        return []
    first, last = max(1, number - context), min(len(lines), number + context)
    return [(row, lines[row - 1]) for row in range(first, last + 1)]


def _instruction_table(report: LegacyReport, top: int) -> Iterator[str]:
    yield from _title("Instructions by stall")
    head = ("#", "stall", "of all", "class", "instruction")
    yield Message("  {0:>3}  {1:>8}  {2:>7}  {3:<13}  {4:<48}  source", *head)
    for rank, row in enumerate(report.ranked[:top], 1):
        if not row.stall:
            return
        text = row.text if len(row.text) <= 48 else f"{row.text[:47]}…"
        of_all, source = _share(row.stall, report.stall), row.source[-38:]
        cells = (rank, short(row.stall), of_all, row.name, text, source)
        yield Message("  {0:>3}  {1:>8}  {2:>6.2f}%  {3:<13}  {4:<48}  {5}", *cells)


_LOW = 0.05
_STREAM = (
    "  L2 hit rate is near-zero => pure streaming, no reuse to exploit.",
    "  Improving 'L2 hit rate' is a non-goal here; only real KV reuse",
    "  (shared-prefix serving) would change it. ",
)
_FULL = "  Line utilization is full (>=95% 64B) => no spatial-locality waste."


def like_pmc(found: OriginalNumbers) -> Iterator[str]:
    """Yield the lines of a report; the last lines are blank if no verdict fits."""
    yield f"  Dispatches matched: {found.dispatches}"
    if found.hits is not None or found.misses is not None:
        yield from _title("L2 cache", "-" * 8)
        yield f"  TCC_HIT_sum  = {found.hits or 0:,.0f}"
        yield f"  TCC_MISS_sum = {found.misses or 0:,.0f}"
        yield f"  L2 hit rate  = {100 * found.hit_rate:.1f}%   (streaming decode: ~1-3% expected)"
        if found.l1_reads:
            yield f"  TCP->TCC read req (L1->L2) = {found.l1_reads:,.0f}"
    if found.reads:
        yield from _title("HBM read efficiency", "-" * 19)
        yield f"  TCC_EA0_RDREQ (L2->HBM) = {found.reads:,.0f}"
        yield f"  32B partial fraction    = {100 * found.partial:.1f}%   (~0% = full 64B lines, no waste)"
        yield f"  DRAM reads              = {found.dram_reads:,.0f}"
        yield f"  est HBM read bytes      = {found.read / 1e9:.1f} GB  (EA0 x{found.channels} channels)"
        if found.ideal:
            each, times = found.ideal / 1e9, found.dispatches
            yield f"  ideal bytes             = {each * times:.1f} GB  ({each:g} GB x {times} disp)"
            yield f"  over-fetch ratio        = {found.over_fetch:.2f}x   (~1.0 = no redundant fetch)"
    yield from _title("Verdict", "-" * 7)
    if found.hits is not None and found.hit_rate < _LOW:
        yield from _STREAM
    if found.reads and found.partial < _LOW:
        yield _FULL
