"""`rcv isa`: the listing with costs, its basic blocks, or its branches."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from rcv_py.analysis.core.cost_columns import SAMPLES
from rcv_py.analysis.cost.listing import listing
from rcv_py.base.paths import short_place
from rcv_py.base.text import DASH, count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import MODES, asked_costs, nothing, tuples_in_order
from rcv_py.cli.options.cost_options import IsaOptions
from rcv_py.cli.places import short_sources
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.cli.views.isa_views import show_labels, with_bars, with_matches
from rcv_py.cli.wave_choice import counted_trace, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.work.load import load_all

_UNSAMPLED = {True: ("hits", "idle"), False: ()}  # columns that say nothing where costs are samples
_NAMES = ("row", "block", "first", "last", "target")  # numbers that name something are not grouped
_WORDS = {"block", "instruction", "name", "source"}
_UNITS = {
    "lines": ("instruction", "instructions"),
    "blocks": ("block", "blocks"),
    "branches": ("branch", "branches"),
}


def run(arguments: IsaOptions) -> int:
    """Print the listing, the blocks or the branches of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    alarm = warn(trace)
    kind = "branches" if arguments.branches else "blocks" if arguments.blocks else "lines"
    trace, chosen = counted_trace(trace, arguments)
    own = None if chosen is None else chosen.rows
    costs = asked_costs(
        trace, arguments.clock, MODES[arguments.mode], arguments.wave, arguments.hit, rows=own
    )
    if arguments.labels:
        return show_labels(trace, costs, arguments)
    read = chosen.counted if chosen is not None else ()
    found = listing(trace, kind, lambda: read or load_all(trace), costs, show_idle=not arguments.no_idle)
    found = with_matches(with_bars(trace, found, costs, arguments), arguments)
    # A column that is asked for decides which rows are the first; else it is what they cost.
    rows = found.rows if arguments.sort else found.top(arguments.top)
    shown = tuples_in_order(found.names, rows, arguments)[: arguments.top or None]
    if arguments.csv:
        sys.stdout.write(csv_text(found.names, shown))
    elif arguments.json:
        document = {
            "capture": trace.name,
            "kind": kind,
            "measure": found.measure,
            "of": len(found.rows),
            "rows": [dict(zip(found.names, row, strict=True)) for row in shown],
        }
        waves = None if chosen is None else chosen.about()
        print(json_text("rcv.isa/1", document, about(arguments, trace, waves=waves, alarm=alarm)))
    elif not found.rows:
        print(_why_none(trace, kind, arguments))
    else:
        if chosen is not None:
            print_heading(chosen)
        is_sampled, columns = found.measure == SAMPLES, _columns(kind, found.names)
        kept = [i for i, column in enumerate(columns) if column.title not in _UNSAMPLED[is_sampled]]
        short = short_sources(trace)
        rows = [_cells(columns, (*row[:-1], short_place(row[-1], short))) for row in shown]
        shown_columns = [_shown(columns[i], is_sampled) for i in kept]
        print_table(shown_columns, [[row[i] for i in kept] for row in rows])
        print(f"\n{count(len(shown))} of {plural(len(found.rows), *_UNITS[kind])}.", end="")
        print(_share_note(arguments, kind, is_sampled))
    return 0


def _share_note(arguments: IsaOptions, kind: str, is_sampled: bool) -> str:
    """What the shares are taken of; of branches they are of how often each was met."""
    if kind == "branches":
        return ""
    if is_sampled:
        return " Shares are of all samples."
    idle = "" if arguments.no_idle else " and idle time"
    return f" Shares are of the latency{idle} of all instructions."


def _why_none(trace: Trace, kind: str, arguments: IsaOptions) -> str:
    if not len(trace.code):
        return "The capture has no instructions."
    return nothing(_UNITS[kind][0], arguments, f"The program has no {_UNITS[kind][1]}.")


def _columns(kind: str, names: tuple[str, ...]) -> tuple[Column, ...]:
    """Numbers to the right; text and source give way.  A block is a number in its own table."""
    words = _WORDS - {"block"} if kind == "blocks" else _WORDS
    elastic = {names[-2]: "right", names[-1]: "left"}
    return tuple(Column(name, name not in words, elastic.get(name, "")) for name in names)


def _shown(column: Column, is_sampled: bool) -> Column:
    """The heading as people read it; of PC samples there are no executions and no cycles."""
    sampled = {"latency": "samples", "stall": "stalled"} if is_sampled else {}
    return replace(column, title=sampled.get(column.title, column.title.replace("_", " ")))


def _cells(columns: tuple[Column, ...], row: tuple[Any, ...]) -> list[str]:
    cells = []
    for column, value in zip(columns, row, strict=True):
        if column.title == "taken_share":
            cells.append(DASH if value is None else percent(value, 1))
        elif value is None:
            cells.append(DASH)
        elif isinstance(value, float):
            cells.append(percent(value, 1) if value else "")
        elif column.title in _NAMES and isinstance(value, int):
            cells.append(str(value) if value >= 0 else "unknown")
        else:
            cells.append(count(value) if isinstance(value, int) else value)
    return cells
