"""`rcv isa --bars`, `--match`, `--labels`: what the listing of the window shows besides costs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rcv_py.analysis.attribution.attribute import attribution
from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.cost.annotations import Annotation, Ingredients, annotation, why_not
from rcv_py.analysis.cost.kind_latency import kind_latency
from rcv_py.analysis.cost.listing import Listing
from rcv_py.analysis.latency.hidden_latency import hidden_latency
from rcv_py.analysis.latency.memory_latency import memory_latency
from rcv_py.analysis.program.labels import labels
from rcv_py.analysis.waits.wait_summary import wait_summary
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import matched, nothing, tuples_in_order
from rcv_py.cli.options.cost_options import IsaOptions
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.cli.wave_choice import told_batches
from rcv_py.model.trace import Trace

# Which ingredient a mode is drawn from, and what makes it.
_NEEDS: dict[Annotation, tuple[str, Callable[[Trace, Any], Any]]] = {
    Annotation.NONHIDDEN: ("hidden", lambda trace, read: hidden_latency(trace, tuple(read))),
    Annotation.KINDS: ("kinds", lambda trace, read: kind_latency(read, len(trace.code))),
    Annotation.CAUSES: ("causes", attribution),
    Annotation.MEMORY: ("memory", memory_latency),
    Annotation.MEMORY_WAITS: ("waits", lambda trace, read: wait_summary(trace, read).latency),
}


def bar_lengths(trace: Trace, costs: CostColumns, arguments: IsaOptions) -> list[Any]:
    """Return one length a code row, in cycles, samples, or cycles a time; raise UsageError if not known."""
    mode = Annotation[arguments.bars.upper()]
    known = {}
    if mode in _NEEDS:
        name, make = _NEEDS[mode]
        known[name] = make(trace, told_batches(trace, arguments))
    has = Ingredients(trace.code, costs, not arguments.no_idle, **known)
    reason = why_not(mode, has)
    if reason:
        raise UsageError(f"There are no bars of {arguments.bars}: {reason[:1].lower()}{reason[1:]}")
    return [round(value, 3) for value in annotation(mode, has).total.tolist()]


def with_bars(trace: Trace, found: Listing, costs: CostColumns, arguments: IsaOptions) -> Listing:
    """Return the listing with the column that `--bars` asks for."""
    if arguments.bars is None or found.kind != "lines":
        return found
    return found.with_column("bar", bar_lengths(trace, costs, arguments))


def with_matches(found: Listing, arguments: IsaOptions) -> Listing:
    """Keep the rows whose instruction matches `--match`; of blocks their names are looked at."""
    kept = matched(found.texts(), arguments)
    if kept is None:
        return found
    chosen = [at for at in range(len(found.rows)) if at in kept]
    rows, weight = [found.rows[at] for at in chosen], [found.weight[at] for at in chosen]
    return replace(found, rows=rows, weight=weight)


_LABEL_HEAD = ("row", "latency", "share", "codeobj", "address", "name")


def show_labels(trace: Trace, costs: CostColumns, arguments: IsaOptions) -> int:
    """Print the labels with what the code behind each costs."""
    found = labels(trace.code, costs.latency)
    rows = [(one.row, one.cost, round(one.share, 6), one.codeobj, one.address, one.name) for one in found]
    kept = matched([one.name for one in found], arguments)
    rows = [row for at, row in enumerate(rows) if kept is None or at in kept]
    if arguments.top and not arguments.sort:
        rows.sort(key=lambda row: -row[1])
    shown = tuples_in_order(_LABEL_HEAD, rows, arguments)[: arguments.top or None]
    if arguments.csv:
        sys.stdout.write(csv_text(_LABEL_HEAD, shown))
    elif arguments.json:
        document = {
            "capture": trace.name,
            "kind": "labels",
            "measure": costs.label,
            "of": len(rows),
            "rows": [dict(zip(_LABEL_HEAD, row, strict=True)) for row in shown],
        }
        print(json_text("rcv.isa/1", document, about(arguments, trace)))
    elif not rows:
        print(nothing("label", arguments, "The program has no labels."))
    else:
        columns = (*(Column(name, True) for name in _LABEL_HEAD[:-1]), Column("name", elastic="right"))
        cells = [
            [str(row), count(cost), percent(share, 1), str(of), f"{address:#x}", name]
            for row, cost, share, of, address, name in shown
        ]
        print_table(columns, cells)
        print(f"\n{count(len(shown))} of {plural(len(rows), 'label')}.")
    return 0
