"""`rcv hotspot --bins` and `--charge`: the histogram of the program, and what its places cost."""

from __future__ import annotations

from rcv_py.analysis.core.cost_columns import SAMPLES
from rcv_py.analysis.cost.hotspot import Bins, hotspot, static_bins
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import (
    asked_costs,
    charged,
    check_engine,
    counted,
    counted_batches,
    filters,
    window_of,
)
from rcv_py.cli.options.cost_options import HotspotOptions
from rcv_py.cli.report import json_text
from rcv_py.cli.results import print_csv, print_result
from rcv_py.cli.wave_choice import ChosenWaves
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.results.hotspot import PLACES_BY, bins_table, places_table

BINS_SCHEMA = "rcv.hotspot.bins/1"
PLACES_SCHEMA = "rcv.hotspot.places/1"
TOP = 20


def show_bins(trace: Trace, arguments: HotspotOptions, chosen: ChosenWaves | None = None) -> int:
    """Print the histogram: one row a range of code rows, cycles by kind."""
    found = _bins(trace, arguments, chosen)
    table, total = bins_table(found), int(found.totals.sum())
    if arguments.csv:
        print_csv(table)
    elif arguments.json:
        document = {
            "capture": trace.name,
            "se": arguments.se,
            "clock": arguments.clock,
            "step": found.step,
            "total": total,
            "rows": table.rows(),
        }
        print(json_text(BINS_SCHEMA, document, about(arguments, trace)))
    else:
        print_result(table, trace)
        print(f"\n{count(total)} cycles in ranges of {plural(found.step, 'code row')}.")
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


def show_places(trace: Trace, arguments: HotspotOptions, chosen: ChosenWaves | None = None) -> int:
    """Print source lines, code lines, or the tree of places with what they are charged."""
    if arguments.by not in PLACES_BY:
        ways = ", ".join(PLACES_BY)
        raise UsageError(f"--charge does not know --by {arguments.by}.", hint=f"Use one of {ways}.")
    costs = asked_costs(trace, arguments.clock, rows=None if chosen is None else chosen.rows)
    cost, how = charged(costs, arguments), SourceCost(arguments.charge)
    unit = "samples" if costs.label == SAMPLES else "cycles"
    whole = places_table(trace, cost, arguments.by, how, unit=unit, file=arguments.file)
    if arguments.by != "tree":
        whole = whole.sorted(_order(arguments), descending=not arguments.ascending)
    table, total = whole.head(TOP if arguments.top is None else arguments.top), int(cost.sum())
    if arguments.csv:
        print_csv(table)
    elif arguments.json:
        document = {
            "capture": trace.name,
            "by": arguments.by,
            "charge": arguments.charge,
            "idle": not arguments.no_idle,
            "clock": arguments.clock,
            "unit": unit,
            "total": total,
            "of": len(whole),
            "rows": table.rows(),
        }
        waves = None if chosen is None else chosen.about()
        print(json_text(PLACES_SCHEMA, document, about(arguments, trace, waves=waves)))
    else:
        print_result(table, trace)
        print(
            f"\n{len(table):,} of {plural(len(whole), 'place')}; "
            f"the whole program takes {count(total)} {unit}."
        )
    return 0


def _order(arguments: HotspotOptions) -> str | None:
    """The field that `--sort` means; its default here is the cost, of one file its program order."""
    names = {"latency": None if arguments.file else "cost", "place": "line" if arguments.file else "path"}
    return names.get(arguments.sort, arguments.sort)
