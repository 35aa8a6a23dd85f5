"""Sections about the program: what costs most, with the lines around it, and source lines."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.distribution import line_hits, slowest, spread
from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.cost.ranking import ranking
from rcv_py.base.text import count
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import (
    Bar,
    Bars,
    Cell,
    Heading,
    Note,
    Part,
    Section,
    Share,
    Table,
    code,
    number,
    share,
)
from rcv_py.export.report.places import cycle_anchor, line_anchor, place_text, short_places, wave_anchor

TOP = 15
AROUND = 3  # lines of context on either side
UNFOLDED = 2  # listings of context that are open at once

_END = (
    "s_endpgm lasts until the last stores of its wave are done: its latency is time at the end of waves, not "
    "a cost of the instruction."
)
_COSTS = ("hits", "latency", "stall", "idle")


def top_lines(inputs: ReportInputs) -> Section | None:
    """The most expensive instructions: per hit, the slowest hit, and the code around them."""
    trace = inputs.trace
    rows = ranking(trace.code, trace.sources, inputs.costs)[:TOP]
    if not rows:
        return None
    whole = int(inputs.costs.latency.sum())
    lines = [row.line for row in rows]
    heads = [Heading("line", True), Heading("instruction"), *(Heading(name, True) for name in _COSTS)]
    heads += [
        Heading("share", True, "Of the latency of all lines."),
        Heading("cause of most of it"),
        Heading("source"),
    ]
    main = Table(
        tuple(heads),
        tuple(
            (
                number(row.line, line_anchor(row.line)),
                code(row.text),
                *(number(getattr(row, name)) for name in _COSTS),
                share(row.latency, whole),
                Cell(_cause(inputs, row.line)),
                source_cell(inputs, row.line),
            )
            for row in rows
        ),
    )
    bars = Bars(
        "PC samples" if inputs.is_sampled else "Latency: stall and issue",
        tuple(
            Bar(
                f"{row.line} {row.text}{beside(inputs.trace, row.line)}",
                (Share("stall", row.stall, "stall"), Share("issue", row.latency - row.stall, "issue")),
                line_anchor(row.line),
            )
            for row in rows
        ),
        "samples" if inputs.is_sampled else "cycles",
    )
    parts: list[Part] = [bars, main]
    if inputs.waves:
        parts.append(_per_hit(inputs, lines))
    if any(row.text.startswith("s_endpgm") for row in rows):
        parts.append(Note(_END))
    parts += _context(inputs, lines)
    return Section("top", "Most expensive instructions", tuple(parts))


def source_cell(inputs: ReportInputs, line: int) -> Cell:
    """Where a code line came from: short, with the whole path as its tip."""
    return code(inputs.short_sources[line], tip=inputs.sources[line])


def _cause(inputs: ReportInputs, line: int) -> str:
    found = inputs.causes
    if found is None:
        return ""
    own = np.flatnonzero(found.line == line)
    if not len(own):
        return ""
    return CAUSE_TEXT[Cause(int(found.cause[own[int(found.cycles[own].argmax())]]))].name


def _per_hit(inputs: ReportInputs, lines: list[int]) -> Table:
    rows = []
    for line in lines:
        hits = line_hits(inputs.batches, line)
        numbers = spread(hits.latency)
        if numbers is None:
            continue
        worst = int(slowest(hits, "latency", 1)[0])
        wave, start = inputs.trace.waves.id(int(hits.wave[worst])), int(hits.start[worst])
        rows.append(
            (
                number(line, line_anchor(line)),
                *map(number, (numbers.least, numbers.median, numbers.p95, numbers.most)),
                number(start, anchor=cycle_anchor(start, wave)),
                code(place_text(wave, line, int(hits.hit[worst]), start), wave_anchor(wave)),
            )
        )
    names = ("line", "least", "median", "p95", "most", "slowest hit at cycle")
    heads = (
        *(Heading(name, True) for name in names),
        Heading("place of the slowest hit", tip="--goto of `rcv view` and Go to place (Ctrl+G) accept it."),
    )
    return Table(
        heads,
        tuple(rows),
        "Latency of one hit, in cycles; Go to place in the window accepts the texts at the right",
    )


def _context(inputs: ReportInputs, lines: list[int]) -> list[Part]:
    """Listings of the lines around the expensive ones; those that touch are one listing."""
    size = len(inputs.trace.code)
    spans: list[list[int]] = []
    for line in sorted(lines):
        first, stop = max(0, line - AROUND), min(size, line + AROUND + 1)
        if spans and first <= spans[-1][1]:
            spans[-1][1] = stop
        else:
            spans.append([first, stop])
    hot = set(lines)
    return [
        _listing(inputs, range(first, stop), hot, is_folded=at >= UNFOLDED)
        for at, (first, stop) in enumerate(spans)
    ]


def _listing(inputs: ReportInputs, rows: range, hot: set[int], *, is_folded: bool) -> Table:
    whole = int(inputs.costs.latency.sum())
    heads = (
        *(Heading(name, True) for name in ("line", *_COSTS, "share")),
        Heading("instruction"),
        Heading("source"),
    )
    cells = tuple(_line(inputs, line, whole, line in hot) for line in rows)
    named = ", ".join(str(line) for line in rows if line in hot)
    caption = f"Lines {rows[0]} to {rows[-1]}, around {named}"
    return Table(heads, cells, caption, is_folded=is_folded)


def _line(inputs: ReportInputs, line: int, whole: int, is_hot: bool) -> tuple[Cell, ...]:
    costs = inputs.costs
    numbers = [int(getattr(costs, name)[line]) for name in _COSTS]
    return (
        number(line, anchor=line_anchor(line)),
        *(number(value) for value in numbers),
        share(numbers[1], whole),
        Cell(inputs.trace.code.text[line], is_code=True, is_strong=is_hot),
        source_cell(inputs, line),
    )


def source_lines(inputs: ReportInputs) -> Section | None:
    """The most expensive source lines; a code line is charged to its innermost place."""
    trace = inputs.trace
    if not len(trace.code.chain_file):
        return None
    rows = ranking(trace.code, trace.sources, inputs.costs, "source")
    whole = int(inputs.costs.latency.sum())
    heads = (
        Heading("source"),
        Heading("text"),
        Heading("lines", True),
        *(Heading(name, True) for name in _COSTS),
        Heading("share", True),
    )
    table = Table(
        heads,
        tuple(
            (
                code(short_places([row.name])[0], tip=row.name),
                code(row.text),
                number(row.rows),
                *(number(getattr(row, name)) for name in _COSTS),
                share(row.latency, whole),
            )
            for row in rows[:TOP]
        ),
        f"The first {min(TOP, len(rows))} of {count(len(rows))} source lines that cost anything",
    )
    return Section(
        "sources", "Source lines", (table,), "A code line is charged to its innermost source place."
    )
