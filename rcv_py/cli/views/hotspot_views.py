"""`rcv hotspot --bins` and `--charge`: the histogram of the program, and what its places cost."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES
from rcv_py.analysis.cost.hotspot import Bins, hotspot, static_bins
from rcv_py.analysis.cost.place_trees import Place, label_tree, source_tree
from rcv_py.analysis.cost.source_costs import source_costs
from rcv_py.base.errors import UsageError
from rcv_py.base.paths import short_place
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import (
    asked_costs,
    charged,
    check_engine,
    counted,
    counted_batches,
    filters,
    in_order,
    window_of,
)
from rcv_py.cli.options.cost_options import HotspotOptions
from rcv_py.cli.places import short_sources, source_of
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.cli.wave_choice import ChosenWaves
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace

BINS_SCHEMA = "rcv.hotspot.bins/1"
PLACES_SCHEMA = "rcv.hotspot.places/1"
TOP = 20
_HEAD = ("name", "path", "line", "depth", "cost", "share", "text", "source")
_ELASTIC = {"place": "left", "text": "right", "kinds": "right"}


def show_bins(trace: Trace, arguments: HotspotOptions, chosen: ChosenWaves | None = None) -> int:
    """Print the histogram: one row a range of code rows, cycles by kind."""
    found = _bins(trace, arguments, chosen)
    rows = list(_bin_rows(trace, found))
    if arguments.csv:
        kinds = list(dict.fromkeys(kind for row in rows for kind in row["kinds"]))
        cells = [
            [row["first"], row["last"], row["total"], *(row["kinds"].get(k, 0) for k in kinds)]
            for row in rows
        ]
        sys.stdout.write(csv_text(("first", "last", "total", *kinds), cells))
    elif arguments.json:
        document = {"capture": trace.name, "se": arguments.se, "clock": arguments.clock, "step": found.step}
        document |= {"total": int(found.totals.sum()), "rows": rows}
        print(json_text(BINS_SCHEMA, document, about(arguments, trace)))
    else:
        columns = (Column("first", True), Column("last", True), Column("cycles", True), Column("kinds"))
        cells = [[str(row["first"]), str(row["last"]), count(row["total"]), _kinds(row)] for row in rows]
        print_table(columns, cells)
        print(f"\n{count(int(found.totals.sum()))} cycles in ranges of {plural(found.step, 'code row')}.")
    return 0


def _bins(trace: Trace, arguments: HotspotOptions, chosen: ChosenWaves | None) -> Bins:
    if not arguments.bins:
        raise UsageError("A histogram needs a range of the program.", hint="Use --bins 32, or any number.")
    asked = filters(arguments)
    if not len(trace.waves) and asked:
        raise UsageError(
            f"{trace.name} has no traced waves.", hint=f"Leave out {asked}: PC samples tell no wave."
        )
    if not len(trace.waves):
        return static_bins(trace.code, arguments.bins)
    check_engine(trace, arguments.se, "traced")
    rows = counted(trace, arguments.clock, arguments.se)
    if chosen is not None and chosen.rows is not None:
        rows = set(chosen.rows) if rows is None else rows & chosen.rows
    read = counted_batches(trace, rows)
    return hotspot(read, len(trace.code), rows, arguments.bins, window=window_of(arguments.clock))


def _bin_rows(trace: Trace, found: Bins) -> Iterator[dict[str, Any]]:
    for first, stop, cycles in zip(
        found.first.tolist(), found.stop.tolist(), found.cycles.tolist(), strict=True
    ):
        kinds = {TokenKind(kind).name: value for kind, value in enumerate(cycles) if value}
        yield {"first": first, "last": stop - 1, "total": sum(cycles), "kinds": kinds}


def _kinds(row: dict[str, Any]) -> str:
    ranked = sorted(row["kinds"].items(), key=lambda item: -item[1])
    return ", ".join(f"{kind} {percent(value, row['total'])}" for kind, value in ranked)


def show_places(trace: Trace, arguments: HotspotOptions, chosen: ChosenWaves | None = None) -> int:
    """Print source lines, code lines, or the tree of places with what they are charged."""
    costs = asked_costs(trace, arguments.clock, rows=None if chosen is None else chosen.rows)
    cost, how = charged(costs, arguments), SourceCost(arguments.charge)
    if arguments.by not in _MAKERS:
        ways = ", ".join(_MAKERS)
        raise UsageError(f"--charge does not know --by {arguments.by}.", hint=f"Use one of {ways}.")
    rows = list(_MAKERS[arguments.by](trace, cost, how, arguments.file))
    whole = int(cost.sum())
    named = [dict(zip(_HEAD, row, strict=True)) for row in rows]
    for row in named:
        row["share"] = round(row["cost"] / max(1, whole), 6)
    if arguments.by != "tree":
        named = _sorted(named, arguments)
    top = TOP if arguments.top is None else arguments.top
    shown = named[:top] if top else named
    unit = "samples" if costs.label == SAMPLES else "cycles"
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, [list(row.values()) for row in shown]))
    elif arguments.json:
        document = {
            "capture": trace.name,
            "by": arguments.by,
            "charge": arguments.charge,
            "idle": not arguments.no_idle,
            "clock": arguments.clock,
            "unit": unit,
            "total": whole,
            "of": len(named),
            "rows": shown,
        }
        waves = None if chosen is None else chosen.about()
        print(json_text(PLACES_SCHEMA, document, about(arguments, trace, waves=waves)))
    else:
        _print(trace, shown, unit, whole, len(named))
    return 0


def _sorted(rows: list[dict[str, Any]], arguments: HotspotOptions) -> list[dict[str, Any]]:
    """By what `--sort` says; its default here is the cost, of one file its program order."""
    names = {"latency": None if arguments.file else "cost", "place": "line" if arguments.file else "path"}
    key = names.get(arguments.sort, arguments.sort)
    return in_order(rows, replace(arguments, sort=key or ""))


def _print(trace: Trace, rows: list[dict[str, Any]], unit: str, whole: int, of: int) -> None:
    columns = (
        Column(unit, True),
        Column("share", True),
        Column("place", elastic="right"),
        Column("text"),
        Column("source", elastic="left"),
    )
    short = short_sources(trace)
    cells = [
        [
            count(row["cost"]),
            percent(row["share"], 1),
            "  " * row["depth"] + row["name"],
            row["text"],
            "" if row["source"] == row["name"] else short_place(row["source"], short),
        ]
        for row in rows
    ]
    print_table(columns, cells)
    print(f"\n{len(rows):,} of {plural(of, 'place')}; the whole program takes {count(whole)} {unit}.")


Row = tuple[str, str, int, int, int, float, str, str]


def _source_lines(trace: Trace, cost: np.ndarray, how: SourceCost, file: str | None) -> Iterator[Row]:
    """Source lines that cost anything, the costliest first; of one file all that code came from, in order."""
    table = source_costs(trace.code, cost, how, len(trace.sources))
    if file is None:
        rows = np.argsort(-table.cost, kind="stable")
        rows = rows[table.cost[rows] > 0]
    else:
        rows = np.arange(len(table))[table.lines_of(_file(trace, file))]
    for row in rows.tolist():
        source, line = trace.sources[int(table.file[row])], int(table.line[row])
        text = source.lines[line - 1] if source.lines is not None and 1 <= line <= len(source.lines) else ""
        place = f"{source.path}:{line}"
        yield place, source.path, line, 0, int(table.cost[row]), 0.0, text.strip(), place


def _file(trace: Trace, path: str) -> int:
    found = next((at for at, source in enumerate(trace.sources) if source.path == path), None)
    if found is None:
        raise UsageError(f"No code came from {path}.", hint="Name a file as `rcv hotspot --by source` does.")
    return found


def _code_lines(trace: Trace, cost: np.ndarray, how: SourceCost, file: str | None) -> Iterator[Row]:
    for row in np.argsort(-cost, kind="stable")[: int(np.count_nonzero(cost))].tolist():
        yield f"line {row}", "", row, 0, int(cost[row]), 0.0, trace.code.text[row], source_of(trace, row)


def _tree(trace: Trace, cost: np.ndarray, how: SourceCost, file: str | None) -> Iterator[Row]:
    has_sources = len(trace.code.chain_file) > 0
    root = source_tree(trace, cost, how) if has_sources else label_tree(trace, cost)
    return _walk(root, -1)


def _walk(place: Place, depth: int) -> Iterator[Row]:
    if depth >= 0:
        yield place.name, place.tip, place.line, depth, place.cost, 0.0, "", ""
    for child in place.children:
        yield from _walk(child, depth + 1)


_MAKERS = {"source": _source_lines, "line": _code_lines, "tree": _tree}
