"""`rcv line`: how long the hits of one instruction took, and which were the slowest."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import numpy as np

from rcv_py.analysis.cost.distribution import MEASURE_TEXT, MEASURES, NEVER, LineHits, Spread, line_hits
from rcv_py.analysis.cost.distribution_view import DistributionView, Wanted, distribution_view
from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.cost.stall_reasons import reason_name, stall_reasons
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.options.cost_options import LineOptions
from rcv_py.cli.places import source_of
from rcv_py.cli.report import Column, csv_text, json_text, plain, print_facts, print_table
from rcv_py.cli.wave_choice import ChosenWaves, choose_waves, print_heading, refuse
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace

_BARS = 16
_BAR_CHARS = 40
_HEAD = ("wave", "hit", "token", "start", *MEASURES)


def run(arguments: LineOptions) -> int:
    """Print the distribution of a line as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
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
        sys.stdout.write(csv_text(_HEAD, [_values(trace, hits, int(row)) for row in rows]))
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


def _values(trace: Trace, hits: LineHits, row: int) -> list[Any]:
    numbers = [getattr(hits, name)[row].item() for name in ("hit", "token", "start")]
    measures = [hits.measure(name)[row].item() for name in MEASURES]
    name = str(trace.waves.id(int(hits.wave[row])))
    return [name, *numbers, *(None if value == NEVER else value for value in measures)]


def _spreads(hits: LineHits) -> dict[str, Spread | None]:
    return {name: distribution_view(hits, Wanted(name, 2)).spread for name in MEASURES}


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
        "measures": {
            name: None if spread is None else asdict(spread) for name, spread in _spreads(view.hits).items()
        },
        "bins": {
            "edges": view.histogram.edges.tolist(),
            "counts": view.histogram.totals.tolist(),
        },
        "slowest": [dict(zip(_HEAD, _values(trace, view.hits, int(row)), strict=True)) for row in rows],
    }


def _print(arguments: LineOptions, chosen: ChosenWaves, view: DistributionView, rows: np.ndarray) -> None:
    trace = chosen.trace
    print(plain(f"{arguments.line}  {trace.code.text[arguments.line]}{beside(trace, arguments.line)}"))
    if not len(view.hits):
        print(_why_none(chosen, arguments.line))
        return
    head = ("measure", "hits", "min", "median", "p95", "max", "mean", "sum")
    cells = [(name, *_cells(spread)) for name, spread in _spreads(view.hits).items()]
    print_table((Column(head[0]), *(Column(name, True) for name in head[1:])), cells)
    print(f"\n{arguments.by}: {MEASURE_TEXT[arguments.by]}, in cycles")
    if view.spread is None:
        print("No wave ran it twice.")
        return
    _print_bars(view)
    print(f"\nThe slowest {plural(len(rows), 'hit')} by {arguments.by}")
    listed = [_values(trace, view.hits, int(row)) for row in rows]
    cells = [(row[0], *("" if value is None else count(value) for value in row[1:])) for row in listed]
    print_table((Column("wave"), *(Column(name, True) for name in _HEAD[1:])), cells)


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


def _cells(spread: Spread | None) -> tuple[str, ...]:
    if spread is None:
        return ("0", *[""] * 6)
    whole = (spread.count, spread.least, spread.median, spread.p95, spread.most)
    return (*map(count, whole), f"{spread.mean:,.1f}", count(spread.total))


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
    named = {reason_name(reason): samples for reason, samples in found.ranked()}
    if arguments.csv:
        sys.stdout.write(csv_text(("reason", "samples"), [("issued", found.issued), *named.items()]))
    elif arguments.json:
        document = {
            "capture": trace.name,
            "line": arguments.line,
            "instruction": trace.code.text[arguments.line],
            "source": source_of(trace, arguments.line),
            "samples": {"issued": found.issued, "stalled": found.stalled, "reasons": named},
        }
        print(json_text("rcv.line/1", document, about(arguments, trace)))
    else:
        print(plain(f"{arguments.line}  {trace.code.text[arguments.line]}{beside(trace, arguments.line)}"))
        facts = [("issued", found.issued), ("stalled", found.stalled), *named.items()]
        print_facts([(name, f"{count(value)}  {percent(value, found.samples)}") for name, value in facts])
        print("PC samples have no times, so there is no distribution.")
    return 0
