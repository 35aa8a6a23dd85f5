"""`rcv hotspot`: the instructions, source lines, kinds or classes that cost most."""

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns, cost_columns
from rcv_py.analysis.cost.hotspot import binned, hotspot_bins, static_bins
from rcv_py.analysis.cost.pc_samples import stall_reasons
from rcv_py.analysis.device.occupancy_limits import OccupancyLimit, OccupancyLimits
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, count, percent, plural, short_kernel
from rcv_py.cli import opening
from rcv_py.cli.answer import CommandAnswer, Facts, listing
from rcv_py.cli.opening import ChosenWaves, counted_waves, refuse_unrun, selection
from rcv_py.features.hotspot import result
from rcv_py.features.hotspot.options import HotspotOptions
from rcv_py.features.occupancy.result import limits_in_short
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.results.common import LATENCY_AND_IDLE, NO_INSTRUCTIONS, SUMS
from rcv_py.results.table import ResultTable
from rcv_py.work.occupancy import limits_of

_OF = {"hits": "executions", "idle": "cycles of idle time"}  # what a column counts, where it is not the name


def run(options: HotspotOptions) -> CommandAnswer:
    """Return the ranking of a capture, its histogram, its places, or the tables of the older script."""
    if options.like:
        trace = opening.opened(options)
        opening.warn(trace)
        refuse_unrun(trace, "costs")
        from rcv_py.features.compat.command import like_analyzer  # noqa: PLC0415 - rarely asked for

        return like_analyzer(trace, options)
    if options.bins is not None:
        return _histogram(options)
    waves = counted_waves(options)
    refuse_unrun(waves.trace, "costs")
    return (_ranking if options.charge is None else _places)(waves, options)


def _ranking(waves: ChosenWaves, options: HotspotOptions) -> CommandAnswer:
    only_charged = [Message("--by {0}", options.by)] if options.by == "tree" else []
    only_charged += [Message("--sort {0}", options.sort)] if options.sort not in SUMS else []
    if only_charged:
        hint = "Add --charge self or --charge inclusive."
        raise UsageError(Message("{0} belongs to --charge.", only_charged[0]), hint=hint)
    trace = waves.trace
    costs = cost_columns(trace.code)
    table, _ = result.ranking_table(trace, costs, options.by, options.sort)
    shown = (table[::-1] if options.ascending else table).head(options.top)
    facts = opening.facts_of(trace, options)
    limits = limits_of(trace, facts)
    return listing(
        options,
        waves,
        shown,
        result.SCHEMA,
        lambda: {
            "by": options.by,
            "sort": options.sort,
            "measure": costs.label,
            "share_base": _base(options.sort, costs),
            "totals": result.totals(costs),
            "total_rows": len(table),
            "occupancy": limits_in_short(limits),
        },
        above=[Facts(_header(trace, costs, limits, waves.whose)), ""],
        footer=lambda rows: _footer(options, costs, rows, len(table), waves.whose),
        why_none="" if len(trace.code) else NO_INSTRUCTIONS,
        is_shown_empty=True,
        about={"files": facts.files},
    )


def _base(column: str, costs: CostColumns) -> str:
    """Return the name of what shares of a column are parts of."""
    return SAMPLES if costs.label == SAMPLES else {"cost": LATENCY_AND_IDLE}.get(column, column)


def _footer(options: HotspotOptions, costs: CostColumns, table: ResultTable, of: int, whose: str) -> str:
    total, noun = result.totals(costs)[options.sort], table.spec.noun
    if not total:
        return Message("No {0} has any {1}.", noun, options.sort)
    unit = plural(of, noun, "classes" if options.by == "class" else "")
    what: str = Message("{0} of {1}", _OF.get(options.sort, Message("cycles of {0}", options.sort)), whose)
    what = "samples" if costs.label == SAMPLES else what
    share = percent(sum(table.plain(options.sort)), total)
    return Message("\n{0:,} of {1}: {2} of {3} {4}.", len(table), unit, share, count(total), what)


def _header(trace: Trace, costs: CostColumns, limits: OccupancyLimits, whose: str) -> list[tuple[str, str]]:
    """Names and values; each number of registers says where it comes from."""
    hits = costs.hits[~trace.code.is_label]
    instructions, executed = count(len(hits)), count(int(np.count_nonzero(hits > 0)))
    if costs.label == SAMPLES:
        verb, sums = "sampled", ("samples", stall_reasons(trace.code).sentence)
    else:
        latency, stall, idle = (int(column.sum()) for column in (costs.latency, costs.stall, costs.idle))
        share = f" ({percent(stall, latency)})" if latency else ""
        text = "{0} of latency, {1} of them stall{2}; {3} of idle time; summed over {4}"
        spent = Message(text, count(latency), count(stall), share, count(idle), whose)
        verb, sums = "executed", ("cycles", spent)
    bound: str = "all that it has room for"
    if limits.binding is not None:
        bound = Message("bound by {0}", limits.binding.name)
    resident = limits.resident
    seen = Message("; at most {0} were traced at a time", count(resident.peak)) if resident.simds else ""
    occupancy = Message("{0} fit on a SIMD, {1}{2}", plural(limits.waves, "wave"), bound, seen)
    return [
        ("kernel", short_kernel(trace.kernel_name) or "unknown"),
        ("instructions", Message("{0}, {1} of them {2}", instructions, executed, verb)),
        sums,
        *((limit.name, _limit(limit)) for limit in limits.limits),
        ("occupancy", occupancy),
    ]


def _limit(limit: OccupancyLimit) -> str:
    if limit.name == "workgroup":
        return Message("{0} ({1})", plural(limit.used, "wave"), limit.source)
    rounded = Message(", {0} allocated", count(limit.allocated)) if limit.allocated != limit.used else ""
    return Message("{0}{1}, of {2} ({3})", count(limit.used), rounded, count(limit.available), limit.source)


def _histogram(options: HotspotOptions) -> CommandAnswer:
    """One row per range of instructions, cycles by kind."""
    wanted = hotspot_bins(None if options.clock is None else TimeWindow(*options.clock))
    waves = counted_waves(options, (wanted,))
    trace = waves.trace
    refuse_unrun(trace, "costs")
    opening.refuse(trace, options, "PC samples do not name waves.")
    found = waves.of(wanted) if len(trace.waves) else static_bins(trace.code)
    if not (found.totals.any() or options.clock or selection(options)):  # no wave could be read
        found = static_bins(trace.code)
    bins = binned(found, (options.bins or 1) if len(trace.code) else 0)
    ends = opening.ends_of(trace.within(options.clock))
    total = int(bins.totals.sum()) if len(bins.totals) else None
    said = Message("\n{0} cycles in ranges of {1}.", count(total or 0), plural(bins.step, "instruction"))
    return listing(
        options,
        trace,
        result.bins_table(bins),
        result.BINS_SCHEMA,
        lambda: {"se": options.se, "range": ends, "step": bins.step, "total": total},
        footer=lambda _: said,
        why_none="" if len(bins.totals) else NO_INSTRUCTIONS,
        is_shown_empty=True,
    )


def _places(waves: ChosenWaves, options: HotspotOptions) -> CommandAnswer:
    """Source lines, instructions, or the tree of places, with the cost charged to each."""
    if options.by not in result.PLACES_BY:
        hint = Message("Use one of {0}.", ", ".join(result.PLACES_BY))
        raise UsageError(Message("--charge does not know --by {0}.", options.by), hint=hint)
    costs = cost_columns(waves.trace.code)
    cost = costs.latency if options.no_idle else costs.cost
    unit, total = "samples" if costs.label == SAMPLES else "cycles", int(cost.sum())
    how = SourceCost(options.charge)
    table = result.places_table(waves.trace, cost, options.by, how, unit=unit, file=options.file)
    if options.by != "tree":  # the default is the cost, of one file its program order
        in_file, of_all = {"latency": None, "place": "source_line"}, {"latency": "cost", "place": "path"}
        by = (in_file if options.file else of_all).get(options.sort, options.sort)
        table = table.sorted(by, descending=not options.ascending)

    def footer(shown: ResultTable) -> str:
        text = "\n{0:,} of {1}; the program takes {2} {3} in total."
        return Message(text, len(shown), plural(len(table), "place"), count(total), unit)

    return listing(
        options,
        waves,
        table.head(options.top),
        result.PLACES_SCHEMA,
        lambda: {
            "by": options.by,
            "charge": options.charge,
            "is_idle_charged": not options.no_idle,
            "range": opening.ends_of(waves.trace.within(options.clock)),
            "unit": unit,
            "total": total if len(cost) else None,
            "share_base": _base("latency" if options.no_idle else "cost", costs),
            "total_rows": len(table),
        },
        footer=footer,
        is_shown_empty=True,
    )
