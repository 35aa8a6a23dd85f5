"""`rcv hotspot`: the instructions, source lines, kinds or classes that cost most."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns
from rcv_py.analysis.cost.ranking import Ranked, ranking
from rcv_py.analysis.waves.populations import ALL
from rcv_py.base.errors import UsageError
from rcv_py.base.paths import short_place
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import asked_costs
from rcv_py.cli.opening import facts_of
from rcv_py.cli.options.cost_options import HotspotOptions
from rcv_py.cli.places import short_sources
from rcv_py.cli.report import Column, csv_text, json_text, print_facts, print_table
from rcv_py.cli.views.hotspot_header import header_document, header_facts
from rcv_py.cli.views.hotspot_views import show_bins, show_places
from rcv_py.cli.views.legacy_text import show_legacy
from rcv_py.cli.wave_choice import counted_trace, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.work.limits import limits_of

_NUMBERS = tuple(Column(name, True) for name in ("hits", "latency", "stall", "idle", "share"))
_COLUMNS = {
    "line": (
        Column("line", True),
        *_NUMBERS,
        Column("instruction", elastic="right"),
        Column("source", elastic="left"),
    ),
    "source": (
        Column("source", elastic="left"),
        *_NUMBERS,
        Column("lines", True),
        Column("text", elastic="right"),
    ),
    "kind": (Column("kind"), *_NUMBERS, Column("lines", True), Column("meaning", elastic="right")),
    "class": (Column("class"), *_NUMBERS, Column("lines", True), Column("meaning", elastic="right")),
}
TOP = 20
_SAMPLES = tuple(Column(name, True) for name in ("samples", "issued", "stalled", "share"))
_SUMS = ("hits", "latency", "stall", "idle")
_HEAD = ("name", "text", "line", "rows", *_SUMS, "share", "source")
_UNITS = {"line": "instruction", "source": "source line", "kind": "kind", "class": "class"}
_OF = {
    "hits": "executions",
    "latency": "cycles of latency",
    "stall": "cycles of stall",
    "idle": "cycles of idle time",
}


def run(arguments: HotspotOptions) -> int:
    """Print the ranking of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    alarm = warn(trace)
    if arguments.like:
        return show_legacy(trace, arguments)
    trace, chosen = counted_trace(trace, arguments)
    if arguments.bins is not None:
        return show_bins(trace, arguments, chosen)
    if arguments.charge is not None:
        return show_places(trace, arguments, chosen)
    _check_unlike_panels(arguments)
    costs = asked_costs(trace, arguments.clock, rows=None if chosen is None else chosen.rows)
    rows = ranking(trace.code, trace.sources, costs, arguments.by, arguments.sort)
    rows = rows[::-1] if arguments.ascending else rows
    top = TOP if arguments.top is None else arguments.top
    shown = rows[:top] if top else rows
    facts = facts_of(trace, arguments)
    limits = limits_of(trace, facts)
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, [_values(row) for row in shown]))
    elif arguments.json:
        waves = None if chosen is None else chosen.about()
        described = about(arguments, trace, files=facts.files, waves=waves, alarm=alarm)
        document = _document(arguments, trace, costs, rows, shown)
        document |= {"occupancy": header_document(limits)}
        print(json_text("rcv.hotspot/1", document, described))
    else:
        is_sampled = costs.label == SAMPLES
        columns = _COLUMNS[arguments.by]
        columns = (columns[0], *_SAMPLES, *columns[1 + len(_NUMBERS) :]) if is_sampled else columns
        if chosen is not None:
            print_heading(chosen)
        print_facts(header_facts(trace, costs, limits, _whose(arguments)))
        print()
        short = short_sources(trace)
        print_table(columns, [_cells(arguments.by, row, is_sampled, short) for row in shown])
        print(_footer(arguments, costs, rows, shown))
    return 0


def _check_unlike_panels(arguments: HotspotOptions) -> None:
    """Raise UsageError for values that only places with a charge have."""
    words = [f"--by {arguments.by}"] if arguments.by == "tree" else []
    words += [f"--sort {arguments.sort}"] if arguments.sort not in _SUMS else []
    if words:
        raise UsageError(f"{words[0]} belongs to --charge.", hint="Add --charge self or --charge inclusive.")


def _values(row: Ranked) -> list[Any]:
    numbers = [getattr(row, name) for name in _SUMS]
    return [row.name, row.text, row.line, row.rows, *numbers, round(row.share, 6), row.source]


def _cells(by: str, row: Ranked, is_sampled: bool, short: dict[str, str]) -> list[str]:
    columns = (row.hits, row.latency, row.stall, row.idle)
    if is_sampled:
        columns = (row.latency, row.latency - row.stall, row.stall)
    numbers = [*map(count, columns), percent(row.share, 1)]
    if by == "line":
        return [str(row.line), *numbers, row.text, short_place(row.source, short)]
    return [short_place(row.name, short) if by == "source" else row.name, *numbers, count(row.rows), row.text]


def _document(
    arguments: HotspotOptions,
    trace: Trace,
    costs: CostColumns,
    rows: Sequence[Ranked],
    shown: Sequence[Ranked],
) -> dict[str, Any]:
    return {
        "capture": trace.name,
        "by": arguments.by,
        "sort": arguments.sort,
        "measure": costs.label,
        "totals": {column: int(getattr(costs, column).sum()) for column in _SUMS},
        "of": len(rows),
        "rows": [dict(zip(_HEAD, _values(row), strict=True)) for row in shown],
    }


def _whose(arguments: HotspotOptions) -> str:
    return "all waves" if arguments.waves in (None, ALL) else "these waves"


def _footer(
    arguments: HotspotOptions, costs: CostColumns, rows: Sequence[Ranked], shown: Sequence[Ranked]
) -> str:
    whole = int(getattr(costs, arguments.sort).sum())
    part = sum(getattr(row, arguments.sort) for row in shown)
    many = "classes" if arguments.by == "class" else ""
    unit = plural(len(rows), _UNITS[arguments.by], many)
    if not whole:
        return f"No {_UNITS[arguments.by]} has any {arguments.sort}."
    what = "samples" if costs.label == SAMPLES else f"{_OF[arguments.sort]} of {_whose(arguments)}"
    return f"\n{len(shown):,} of {unit}: {percent(part, whole)} of {count(whole)} {what}."
