"""`rcv line`: how long the hits of one instruction took, and which were the slowest."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcv_py.analysis.cost.distribution import (
    MEASURE_TEXT,
    DistributionView,
    Wanted,
    distribution_view,
    line_hits,
)
from rcv_py.analysis.cost.place_text import beside, source_of
from rcv_py.analysis.cost.stall_reasons import stall_reasons
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.options.cost_options import LineOptions
from rcv_py.cli.report import Column, json_text, plain, print_facts, print_table
from rcv_py.cli.results import print_csv, print_shown
from rcv_py.cli.wave_choice import ChosenWaves, choose_waves, print_heading, refuse
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.line import hit_table, sample_facts, sample_table, spread_facts, spread_table, spreads

_BARS = 16
_BAR_CHARS = 40


def run(arguments: LineOptions) -> int:
    """Print the distribution of a line as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    line = arguments.line
    if line >= len(trace.code):
        last = f"The last one is {len(trace.code) - 1}." if len(trace.code) else "It has no instructions."
        raise UsageError(f"The capture has no line {line}.", hint=last)
    if trace.has_pc_samples and not len(trace.waves):
        refuse(arguments, "PC samples do not tell waves apart.")
        return _samples(arguments, trace)
    chosen = choose_waves(trace, arguments)
    hits = line_hits(chosen.counted, line)
    wanted = Wanted(arguments.by, arguments.bars or _BARS, arguments.log)
    view = distribution_view(hits, wanted, trace.base_clock)
    rows = _listed(view, arguments)
    if arguments.csv:
        print_csv(hit_table(trace, hits, rows))
    elif arguments.json:
        document = _document(arguments, chosen, view, rows)
        print(json_text("rcv.line/1", document, about(arguments, trace, waves=chosen.about(), alarm=alarm)))
    else:
        print_heading(chosen)
        _print(arguments, chosen, view, rows)
    return 0


def _listed(view: DistributionView, arguments: LineOptions) -> np.ndarray:
    """The slowest hits, or those of a bar, the slowest first."""
    if arguments.bar is None:
        return view.slowest(arguments.top or len(view.order))
    if arguments.bar >= len(view.histogram.totals):
        last = len(view.histogram.totals) - 1
        raise UsageError(f"There is no bar {arguments.bar}.", hint=f"The last one is {last}.")
    return view.in_bin(arguments.bar)[: arguments.top or None]


def _document(
    arguments: LineOptions, chosen: ChosenWaves, view: DistributionView, rows: np.ndarray
) -> dict[str, Any]:
    trace = chosen.trace
    return {
        "capture": trace.name,
        "line": arguments.line,
        "instruction": trace.code.text[arguments.line],
        "source": source_of(trace, arguments.line),
        "by": arguments.by,
        "hits": len(view.hits) if len(view.hits) or not chosen.missing else None,
        "missing": chosen.missing,
        "measures": spread_facts(spreads(view.hits)),
        "bins": {
            "edges": view.histogram.edges.tolist(),
            "counts": view.histogram.totals.tolist(),
        },
        "slowest": hit_table(trace, view.hits, rows).rows(),
    }


def _print(arguments: LineOptions, chosen: ChosenWaves, view: DistributionView, rows: np.ndarray) -> None:
    trace = chosen.trace
    print(plain(f"{arguments.line}  {trace.code.text[arguments.line]}{beside(trace, arguments.line)}"))
    if not len(view.hits):
        print(_why_none(chosen, arguments.line))
        return
    print_shown(spread_table(spreads(view.hits)))
    print(f"\n{arguments.by}: {MEASURE_TEXT[arguments.by]}, in cycles")
    if view.spread is None:
        print("No wave ran it twice.")
        return
    _print_bars(view)
    print(f"\nThe slowest {plural(len(rows), 'hit')} by {arguments.by}")
    print_shown(hit_table(trace, view.hits, rows))


def _why_none(chosen: ChosenWaves, line: int) -> str:
    """Why there is no execution to show; of waves that are not there nothing is concluded."""
    counted = int(chosen.trace.code.hits[line])
    if chosen.missing and counted:
        what = "None of the waves that were read" if chosen.found.read else "No wave"
        lost = f"code.json counts {plural(counted, 'execution')}, but {what[:1].lower()}{what[1:]}"
        return f"{lost} {'ran this instruction' if chosen.found.read else 'could be read'}."
    if counted and chosen.rows is not None:
        return f"None of these waves ran this instruction; --waves all has {plural(counted, 'execution')}."
    return "No traced wave ran this instruction."


def _print_bars(view: DistributionView) -> None:
    totals, edges = view.histogram.totals.tolist(), view.histogram.edges.tolist()
    largest, whole = max(totals), sum(totals)
    rows = [
        (
            count(low),
            count(high - 1),
            count(hits),
            percent(hits, whole),
            "█" * -(-hits * _BAR_CHARS // largest),
        )
        for low, high, hits in zip(edges, edges[1:], totals, strict=False)
    ]
    columns = (*(Column(name, True) for name in ("from", "to", "hits", "share")), Column("", elastic="right"))
    print_table(columns, rows)


def _samples(arguments: LineOptions, trace: Trace) -> int:
    """Say what PC samples tell of a line: how often, and why it stalled; they have no times."""
    asked = [name for name in ("by", "top", "log", "bars", "bar") if name in arguments.given]
    if asked:
        raise UsageError(
            f"--{asked[0]} is about times, and PC samples have none.", hint=f"Leave --{asked[0]} out."
        )
    found = stall_reasons(trace.code, slice(arguments.line, arguments.line + 1))
    samples = sample_facts(found)
    if arguments.csv:
        print_csv(sample_table(found))
    elif arguments.json:
        document = {
            "capture": trace.name,
            "line": arguments.line,
            "instruction": trace.code.text[arguments.line],
            "source": source_of(trace, arguments.line),
            "samples": samples,
        }
        print(json_text("rcv.line/1", document, about(arguments, trace)))
    else:
        print(plain(f"{arguments.line}  {trace.code.text[arguments.line]}{beside(trace, arguments.line)}"))
        facts = [("issued", found.issued), ("stalled", found.stalled), *samples["reasons"].items()]
        print_facts([(name, f"{count(value)}  {percent(value, found.samples)}") for name, value in facts])
        print("PC samples have no times, so there is no distribution.")
    return 0
