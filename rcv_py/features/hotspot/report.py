"""Sections about costs: kinds, the most expensive instructions, and source lines."""

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.cost.ranking import Ranked
from rcv_py.base.text import Message, count
from rcv_py.export.report import cells
from rcv_py.export.report import model as report
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import Part, ReportSection, ReportTable, Series
from rcv_py.features.hotspot.result import ranking_table
from rcv_py.model.kinds import kind_name
from rcv_py.results.common import COSTS

TOP = 15
CONTEXT = 3  # instructions on either side of an expensive one
MAX_UNFOLDED = 2  # listings of context that are open at once
_END = (
    "s_endpgm lasts until the last stores of its wave are done: its latency is time at the end of waves, not "
    "a cost of the instruction."
)
_CLASSES = "Classes: finer than kinds, by mnemonic; waits by what they wait for"
_OF = "Of the latency of all instructions."
_GOTO = "--goto of `rcv view` and Go to place (Ctrl+G) accept it."


def kinds(inputs: ReportInputs) -> ReportSection | None:
    """Costs by class of instruction, which distinguishes waits, and by the kind that timelines colour."""
    trace, unit = inputs.trace, inputs.unit
    classes, by_class = ranking_table(trace, inputs.costs, "class", "latency")
    kinds, by_kind = ranking_table(trace, inputs.costs, "kind", "latency")
    if not by_kind:
        return None
    names = [kind_name(row.name) for row in by_class]
    parts = tuple(report.ReportShare(kind_name(row.name), row.latency, f"kind-{row.name}") for row in by_kind)
    shown = (
        report.Stacked("Latency by kind of instruction", parts, unit),
        cells.report_table(kinds, trace),
        report.ReportBars("Latency by class of instruction", names, _latency(by_class), unit),
        cells.report_table(classes, trace, _CLASSES),
    )
    return ReportSection("kinds", "Kinds and classes of instruction", shown)


def _latency(rows: Sequence[Ranked]) -> tuple[Series, ...]:
    """Latency of each row in its two parts."""
    issue = [row.latency - row.stall for row in rows]
    return Series("stall", [row.stall for row in rows]), Series("issue", issue)


def top_lines(inputs: ReportInputs) -> ReportSection | None:
    """The most expensive instructions: cost per hit, the slowest hit, and the code around them."""
    trace, rows, causes = inputs.trace, inputs.top_lines, dict[int, str]()
    if not rows:
        return None
    lines = [row.line for row in rows]
    if inputs.causes is not None:
        by_line = inputs.causes.by_line()
        names = (CAUSE_TEXT[Cause(cause)].name for cause in by_line.cause.tolist())
        causes = dict(zip(by_line.line.tolist(), names, strict=True))
    bars = report.ReportBars(
        "PC samples" if inputs.is_sampled else "Latency: stall and issue",
        [f"{row.line} {row.text}{beside(trace, row.line)}" for row in rows],
        _latency(rows),
        inputs.unit,
        [*map(cells.line_anchor, lines)],
    )
    main = cells.table(
        cells.links(inputs, lines),
        cells.column("instruction", (cells.code(row.text) for row in rows)),
        *(cells.declared(field, [getattr(row, field.name) for row in rows]) for field in COSTS),
        cells.shares("share", (row.latency for row in rows), int(inputs.costs.latency.sum()), _OF),
        cells.texts("main cause", (causes.get(line, "") for line in lines)),
        cells.sources(inputs, lines),
    )
    parts: list[Part] = [bars, main]
    if inputs.waves:
        parts.append(_hits(inputs))
    if any(row.text.startswith("s_endpgm") for row in rows):
        parts.append(report.ReportNote(_END))
    parts += _context(inputs, lines)
    return ReportSection("top", "Most expensive instructions", parts)


def _hits(inputs: ReportInputs) -> ReportTable:
    """Durations of the executions of each of these, and the place of the slowest."""
    starts, places = [], []
    found = inputs.spreads
    for line, one in found.items():
        slowest = one.slowest
        wave = inputs.trace.waves.id(slowest.wave)
        place = cells.place_text(wave, line, slowest.hit, slowest.start)
        starts.append(cells.number(slowest.start, anchor=cells.cycle_anchor(slowest.start, wave)))
        places.append(cells.code(place, cells.wave_anchor(wave)))
    spreads = [one.spread for one in found.values()]
    return cells.table(
        cells.links(inputs, list(found)),
        cells.numbers("min", [one.min for one in spreads]),
        cells.numbers("median", [one.median for one in spreads]),
        cells.numbers("p95", [one.p95 for one in spreads]),
        cells.numbers("max", [one.max for one in spreads]),
        cells.column("slowest hit at cycle", starts, is_number=True),
        cells.column("place of the slowest hit", places, _GOTO),
        caption="Latency of one hit, in cycles; Go to place in the window accepts the texts at the right",
    )


def _context(inputs: ReportInputs, lines: list[int]) -> list[Part]:
    """Listings of the instructions around the expensive ones; adjacent listings are merged."""
    shown = np.zeros(len(inputs.trace.code), dtype=bool)
    for line in lines:
        shown[max(0, line - CONTEXT) : line + CONTEXT + 1] = True
    borders = np.flatnonzero(np.diff(shown, prepend=False, append=False)).reshape(-1, 2).tolist()
    hot, costs, text = set(lines), inputs.costs, inputs.trace.code.text

    def listing(number: int, first: int, stop: int) -> ReportTable:
        rows, own = range(first, stop), slice(first, stop)
        named = ", ".join(str(line) for line in rows if line in hot)
        instructions = (report.ReportCell(text[line], is_code=True, is_strong=line in hot) for line in rows)
        return cells.table(
            cells.places(rows),
            *(cells.numbers(field.title, getattr(costs, field.name)[own]) for field in COSTS),
            cells.shares("share", costs.latency[own], int(costs.latency.sum())),
            cells.column("instruction", instructions),
            cells.sources(inputs, rows),
            caption=Message("Instructions {0} to {1}, around {2}", first, stop - 1, named),
            is_folded=number >= MAX_UNFOLDED,
        )

    return [listing(number, *border) for number, border in enumerate(borders)]


def source_lines(inputs: ReportInputs) -> ReportSection | None:
    """The most expensive source lines; an instruction is charged to its innermost place."""
    trace = inputs.trace
    if not len(trace.code.chain_file):
        return None
    rows, _ = ranking_table(trace, inputs.costs, "source", "latency")
    first = min(TOP, len(rows))
    caption = Message("The first {0} of {1} source lines that cost anything", first, count(len(rows)))
    intro = "An instruction is charged to its innermost source place."
    table = cells.report_table(rows.head(TOP), trace, caption)
    return ReportSection("sources", "Source lines", (table,), intro)
