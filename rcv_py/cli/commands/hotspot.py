"""`rcv hotspot`: the instructions, source lines, kinds or classes that cost most."""

from __future__ import annotations

from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns
from rcv_py.analysis.waves.populations import ALL
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import asked_costs
from rcv_py.cli.opening import facts_of
from rcv_py.cli.options.cost_options import HotspotOptions
from rcv_py.cli.report import json_text, print_facts
from rcv_py.cli.results import print_csv, print_result
from rcv_py.cli.views.hotspot_header import header_facts
from rcv_py.cli.views.hotspot_views import show_bins, show_places
from rcv_py.cli.views.legacy_text import show_legacy
from rcv_py.cli.wave_choice import ChosenWaves, counted_trace, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.common import SUMS
from rcv_py.results.hotspot import occupancy_facts, ranking_table, totals
from rcv_py.results.table import Table
from rcv_py.work.limits import limits_of

TOP = 20
_OF = {
    "hits": "executions",
    "latency": "cycles of latency",
    "stall": "cycles of stall",
    "idle": "cycles of idle time",
}


def run(arguments: HotspotOptions) -> int:
    """Print the ranking of a capture, its histogram, its places, or the tables of the older script."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    if arguments.like:
        return show_legacy(trace, arguments)
    trace, chosen = counted_trace(trace, arguments)
    if arguments.bins is not None:
        return show_bins(trace, arguments, chosen)
    if arguments.charge is not None:
        return show_places(trace, arguments, chosen)
    return _show_ranking(trace, arguments, chosen, alarm)


def _show_ranking(trace: Trace, arguments: HotspotOptions, chosen: ChosenWaves | None, alarm: str) -> int:
    _check_unlike_panels(arguments)
    costs = asked_costs(trace, arguments.clock, rows=None if chosen is None else chosen.rows)
    whole, _ = ranking_table(trace, costs, arguments.by, arguments.sort)
    table = (whole[::-1] if arguments.ascending else whole).head(
        TOP if arguments.top is None else arguments.top
    )
    facts = facts_of(trace, arguments)
    limits = limits_of(trace, facts)
    if arguments.csv:
        print_csv(table)
    elif arguments.json:
        waves = None if chosen is None else chosen.about()
        described = about(arguments, trace, files=facts.files, waves=waves, alarm=alarm)
        document = {
            "capture": trace.name,
            "by": arguments.by,
            "sort": arguments.sort,
            "measure": costs.label,
            "totals": totals(costs),
            "of": len(whole),
            "rows": table.rows(),
            "occupancy": occupancy_facts(limits),
        }
        print(json_text("rcv.hotspot/1", document, described))
    else:
        if chosen is not None:
            print_heading(chosen)
        print_facts(header_facts(trace, costs, limits, _whose(arguments)))
        print()
        print_result(table, trace)
        print(_footer(arguments, costs, table, len(whole)))
    return 0


def _check_unlike_panels(arguments: HotspotOptions) -> None:
    """Raise UsageError for values that only places with a charge have."""
    words = [f"--by {arguments.by}"] if arguments.by == "tree" else []
    words += [f"--sort {arguments.sort}"] if arguments.sort not in SUMS else []
    if words:
        raise UsageError(f"{words[0]} belongs to --charge.", hint="Add --charge self or --charge inclusive.")


def _whose(arguments: HotspotOptions) -> str:
    return "all waves" if arguments.waves in (None, ALL) else "these waves"


def _footer(arguments: HotspotOptions, costs: CostColumns, table: Table, of: int) -> str:
    whole = int(getattr(costs, arguments.sort).sum())
    noun = table.spec.noun
    if not whole:
        return f"No {noun} has any {arguments.sort}."
    unit = plural(of, noun, "classes" if arguments.by == "class" else "")
    what = "samples" if costs.label == SAMPLES else f"{_OF[arguments.sort]} of {_whose(arguments)}"
    part = sum(table.plain(arguments.sort))
    return f"\n{len(table):,} of {unit}: {percent(part, whole)} of {count(whole)} {what}."
