"""`rcv hotspot`: the instructions, source lines, kinds or classes that cost most."""

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns, cost_columns
from rcv_py.analysis.cost.hotspot import binned, hotspot_bins, static_bins
from rcv_py.analysis.cost.pc_samples import stall_reasons
from rcv_py.analysis.device.occupancy_limits import OccupancyLimit, OccupancyLimits
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, count, percent, plural, short_kernel
from rcv_py.cli.answer import CommandAnswer, Facts, listing
from rcv_py.cli.opening import (
    ChosenWaves,
    counted_waves,
    facts_of,
    opened,
    refuse,
    refuse_unrun,
    warn,
    window_of,
)
from rcv_py.features.compat.command import like_analyzer
from rcv_py.features.hotspot.options import HotspotOptions
from rcv_py.features.hotspot.result import (
    BINS_SCHEMA,
    PLACES_BY,
    PLACES_SCHEMA,
    SCHEMA,
    bins_table,
    places_table,
    ranking_table,
    totals,
)
from rcv_py.features.occupancy.result import limits_in_short
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.results.common import LATENCY_AND_IDLE, SUMS
from rcv_py.results.table import ResultTable
from rcv_py.work.occupancy import limits_of

_OF = {"hits": "executions", "idle": "cycles of idle time"}  # what a column counts, where it is not the name


def run(options: HotspotOptions) -> CommandAnswer:
    """Return the ranking of a capture, its histogram, its places, or the tables of the older script."""
    if options.like:
        trace = opened(options)
        warn(trace)
        refuse_unrun(trace, "costs")
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
    table, _ = ranking_table(trace, costs, options.by, options.sort)
    shown = (table[::-1] if options.ascending else table).head(options.top)
    facts = facts_of(trace, options)
    limits = limits_of(trace, facts)
    return listing(
        options,
        waves,
        shown,
        SCHEMA,
        lambda: {
            "by": options.by,
            "sort": options.sort,
            "measure": costs.label,
            "share_base": _base(options.sort, costs),
            "totals": totals(costs),
            "total_rows": len(table),
            "occupancy": limits_in_short(limits),
        },
        above=[Facts(_header(trace, costs, limits, waves.whose)), ""],
        footer=lambda rows: _footer(options, costs, rows, len(table), waves.whose),
        why_none="" if len(trace.code) else "The capture has no instructions.",
        is_shown_empty=True,
        about={"files": facts.files},
    )


def _base(column: str, costs: CostColumns) -> str:
    """Return the name of what shares of a column are parts of."""
    return SAMPLES if costs.label == SAMPLES else {"cost": LATENCY_AND_IDLE}.get(column, column)


def _footer(options: HotspotOptions, costs: CostColumns, table: ResultTable, of: int, whose: str) -> str:
    total = int({name: getattr(costs, name) for name in SUMS}[options.sort].sum())
    noun = table.spec.noun
    if not total:
        return Message("No {0} has any {1}.", noun, options.sort)
    unit = plural(of, noun, "classes" if options.by == "class" else "")
    what: str = Message("{0} of {1}", _OF.get(options.sort, Message("cycles of {0}", options.sort)), whose)
    what = "samples" if costs.label == SAMPLES else what
    part = sum(table.plain(options.sort))
    return Message(
        "\n{0:,} of {1}: {2} of {3} {4}.", len(table), unit, percent(part, total), count(total), what
    )


# -- above the ranking ----------------------------------------------------------------------------------


def _header(trace: Trace, costs: CostColumns, limits: OccupancyLimits, whose: str) -> list[tuple[str, str]]:
    """Names and values; each number of registers says where it comes from."""
    code = trace.code
    instructions = int(np.count_nonzero(~code.is_label))
    executed = int(np.count_nonzero(costs.hits[~code.is_label] > 0))
    verb = "sampled" if costs.label == SAMPLES else "executed"
    facts = [
        ("kernel", short_kernel(trace.kernel_name) or "unknown"),
        ("instructions", Message("{0}, {1} of them {2}", count(instructions), count(executed), verb)),
        _sums(code, costs, whose),
    ]
    bound = (
        Message("bound by {0}", limits.binding.name)
        if limits.binding is not None
        else "all that it has room for"
    )
    resident = limits.resident
    seen = Message("; at most {0} were traced at a time", count(resident.peak)) if resident.simds else ""
    occupancy = Message("{0} fit on a SIMD, {1}{2}", plural(limits.waves, "wave"), bound, seen)
    return [*facts, *((limit.name, _limit(limit)) for limit in limits.limits), ("occupancy", occupancy)]


def _sums(code: CodeTable, costs: CostColumns, whose: str) -> tuple[str, str]:
    latency, stall, idle = (int(column.sum()) for column in (costs.latency, costs.stall, costs.idle))
    share = f" ({percent(stall, latency)})" if latency else ""
    if costs.label == SAMPLES:
        return "samples", stall_reasons(code).sentence
    return "cycles", (
        Message(
            "{0} of latency, {1} of them stall{2}; {3} of idle time; summed over {4}",
            count(latency),
            count(stall),
            share,
            count(idle),
            whose,
        )
    )


def _limit(limit: OccupancyLimit) -> str:
    if limit.name == "workgroup":
        return Message("{0} ({1})", plural(limit.used, "wave"), limit.source)
    rounded = Message(", {0} allocated", count(limit.allocated)) if limit.allocated != limit.used else ""
    return Message("{0}{1}, of {2} ({3})", count(limit.used), rounded, count(limit.available), limit.source)


# -- other views ----------------------------------------------------------------------------------------


def _histogram(options: HotspotOptions) -> CommandAnswer:
    """One row per range of instructions, cycles by kind."""
    number = options.bins or 1
    wanted = hotspot_bins(window_of(options.clock))
    waves = counted_waves(options, (wanted,))
    trace = waves.trace
    refuse_unrun(trace, "costs")
    refuse(trace, options, "PC samples do not name waves.")
    rows = waves.of(wanted) if len(trace.waves) else static_bins(trace.code)
    bins = binned(rows, number)
    total = int(bins.totals.sum())
    return listing(
        options,
        trace,
        bins_table(bins),
        BINS_SCHEMA,
        lambda: {"se": options.se, "range": options.clock, "step": bins.step, "total": total},
        footer=lambda _: Message(
            "\n{0} cycles in ranges of {1}.", count(total), plural(bins.step, "instruction")
        ),
        is_shown_empty=True,
    )


def _places(waves: ChosenWaves, options: HotspotOptions) -> CommandAnswer:
    """Source lines, instructions, or the tree of places, with the cost charged to each."""
    if options.by not in PLACES_BY:
        ways = ", ".join(PLACES_BY)
        raise UsageError(
            Message("--charge does not know --by {0}.", options.by), hint=Message("Use one of {0}.", ways)
        )
    costs = cost_columns(waves.trace.code)
    cost = costs.latency if options.no_idle else costs.cost
    unit, total = "samples" if costs.label == SAMPLES else "cycles", int(cost.sum())
    how = SourceCost(options.charge)
    table = places_table(waves.trace, cost, options.by, how, unit=unit, file=options.file)
    if options.by != "tree":  # the default is the cost, of one file its program order
        names = {
            "latency": None if options.file else "cost",
            "place": "source_line" if options.file else "path",
        }
        table = table.sorted(names.get(options.sort, options.sort), descending=not options.ascending)
    return listing(
        options,
        waves,
        table.head(options.top),
        PLACES_SCHEMA,
        lambda: {
            "by": options.by,
            "charge": options.charge,
            "is_idle_charged": not options.no_idle,
            "range": options.clock,
            "unit": unit,
            "total": total,
            "share_base": _base("latency" if options.no_idle else "cost", costs),
            "total_rows": len(table),
        },
        footer=lambda shown: Message(
            "\n{0:,} of {1}; the program takes {2} {3} in total.",
            len(shown),
            plural(len(table), "place"),
            count(total),
            unit,
        ),
        is_shown_empty=True,
    )
