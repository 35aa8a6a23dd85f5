"""Rich text with links about a range and two instructions."""

from __future__ import annotations

from collections.abc import Sequence

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.iterations.between import PairDistance as Distances
from rcv_py.analysis.overview.range_costs import RangeCosts
from rcv_py.base.text import count, elide_left, elide_right, percent
from rcv_py.features.range.result import TITLES, UNIT, RangeRow, flop_facts, range_rows
from rcv_py.model.trace import Trace
from rcv_py.state.selection import MeasuredPair
from rcv_py.ui.core.plain_text import Rich, joined, rich
from rcv_py.ui.core.times import Times
from rcv_py.ui.widgets.links import line_link, source_link

WAITING = "Click the instruction at which to end."
COMPUTING = "computing …"
NAME_LETTERS = 24


def head_html(trace: Trace, times: Times, costs: RangeCosts) -> Rich:
    """Return the range in numbers."""
    window = costs.window
    ends = f"{times.at(window.begin)} … {times.at(window.end)}"
    facts = [("range", ends), ("length", times.both(window.width))]
    facts += [("waves", count(costs.waves)), ("their cycles", count(costs.wave_cycles))]
    facts += [("executions", count(int(costs.hits.sum())))]
    for name, amount, speed in flop_facts(trace, costs):
        facts += [(name, amount), *([("", speed)] if speed else [])]
    return _facts(facts)


def pair_html(trace: Trace, times: Times, asked: MeasuredPair, steps: Distances | None) -> Rich:
    """Return the two instructions, and the time between them over all iterations."""

    def name(line: int) -> Rich:
        return line_link(line, f"{line}  {elide_right(trace.code.text[line], NAME_LETTERS)}")

    if asked.last is None:
        return rich("<h4>Measure from</h4>{}<p>{}</p>", name(asked.first), WAITING)
    head = rich("<h4>From the start of</h4>{}<h4>to the end of</h4>{}", name(asked.first), name(asked.last))
    if steps is None:
        return head + rich("<p class='q'>{}</p>", COMPUTING)
    if not steps.count:
        return head + rich("<p>{}</p>", "The second never follows the first in a wave.")
    rows = [("iterations", count(steps.count)), ("median", times.both(steps.median))]
    rows += [("shortest", times.both(steps.least)), ("longest", times.both(steps.most))]
    return head + _facts([*rows, ("mean", times.both(steps.total / steps.count))])


def tables_html(trace: Trace, costs: RangeCosts) -> list[Rich]:
    """Return one small table per part, with links in its rows."""
    rows, made = range_rows(trace, costs), []
    for part, title in TITLES.items():
        cells = [_cells(trace, one) for one in rows if one.part == part]
        if cells:
            of = "busy cycles, share of their time" if part == UNIT else "cycles, share of those of waves"
            head = rich("<h4>{}</h4><span class='q'>{}</span>", title, of)
            made.append(head + rich("<table cellspacing='0'>{}</table>", joined("", cells)))
    return made


def _facts(rows: Sequence[tuple[str, str]]) -> Rich:
    cells = [rich('<tr><td class="q">{}</td><td>{}</td></tr>', name, value) for name, value in rows]
    return rich("<table cellspacing='0'>{}</table>", joined("", cells))


def _cells(trace: Trace, one: RangeRow) -> Rich:
    name: str = one.name
    if one.instruction >= 0:
        name = line_link(one.instruction, f"{one.instruction}  {elide_right(name, NAME_LETTERS)}")
    elif one.place is not None:
        name = source_link(*one.place, elide_left(place_text(trace.sources, *one.place), NAME_LETTERS))
    return rich(
        "<tr><td align='right'>{}</td><td align='right'>{}</td><td>{}</td></tr>",
        count(one.cycles),
        percent(one.share, 1),
        name,
    )
