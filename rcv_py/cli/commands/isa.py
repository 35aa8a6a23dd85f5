"""`rcv isa`: the listing with costs, its basic blocks, its branches, or its labels."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES
from rcv_py.base.text import DASH, count, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import MODES, asked_costs, matched, nothing
from rcv_py.cli.options.cost_options import IsaOptions
from rcv_py.cli.pooled import pooled
from rcv_py.cli.report import json_text
from rcv_py.cli.results import ordered, print_csv, print_result
from rcv_py.cli.views.isa_bars import bar_lengths
from rcv_py.cli.wave_choice import counted_trace, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.isa import Listing, label_table, listing

_PLURAL = {"branch": "branches"}


def run(arguments: IsaOptions) -> int:
    """Print the listing, the blocks, the branches or the labels of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    trace, chosen = counted_trace(trace, arguments)
    own = None if chosen is None else chosen.rows
    costs = asked_costs(
        trace, arguments.clock, MODES[arguments.mode], arguments.wave, arguments.hit, rows=own
    )
    kind = _kind(arguments)
    if kind == "labels":
        labels = label_table(trace, costs)
        found = Listing(labels, np.asarray(labels.columns["latency"]), costs.label)
    else:
        read = chosen.counted if chosen is not None else ()
        show_idle = not arguments.no_idle
        found = listing(trace, kind, lambda: read or tuple(pooled(trace)), costs, show_idle=show_idle)
    if arguments.bars is not None and kind == "lines":
        found = found.with_bars(bar_lengths(trace, costs, arguments))
    found = _matching(found, arguments)
    # A column that is asked for decides which rows are the first; else it is what they cost.
    rows = found.table if arguments.sort else found.top(arguments.top)
    table = ordered(rows, arguments).head(arguments.top)
    if arguments.csv:
        print_csv(table)
    elif arguments.json:
        document = {
            "capture": trace.name,
            "kind": kind,
            "measure": found.measure,
            "of": len(found.table),
            "rows": table.rows(),
        }
        waves = None if chosen is None else chosen.about()
        print(json_text("rcv.isa/1", document, about(arguments, trace, waves=waves, alarm=alarm)))
    elif not len(found.table):
        print(_why_none(trace, found, arguments))
    else:
        if chosen is not None:
            print_heading(chosen)
        print_result(table, trace, DASH)
        noun = table.spec.noun
        print(f"\n{count(len(table))} of {plural(len(found.table), noun, _PLURAL.get(noun, ''))}.", end="")
        print(_share_note(arguments, kind, found.measure == SAMPLES))
    return 0


def _kind(arguments: IsaOptions) -> str:
    chosen = (name for name in ("labels", "branches", "blocks") if getattr(arguments, name))
    return next(chosen, "lines")


def _matching(found: Listing, arguments: IsaOptions) -> Listing:
    """Keep the rows whose instruction matches `--match`; of blocks and labels their names are looked at."""
    spec = found.table.spec
    kept = matched(found.table.plain("instruction" if "instruction" in spec else "name"), arguments)
    return found if kept is None else found.at(np.array(sorted(kept), dtype=np.int64))


def _share_note(arguments: IsaOptions, kind: str, is_sampled: bool) -> str:
    """What the shares are taken of; of branches they are of how often each was met."""
    if kind in ("branches", "labels"):
        return ""
    if is_sampled:
        return " Shares are of all samples."
    idle = "" if arguments.no_idle else " and idle time"
    return f" Shares are of the latency{idle} of all instructions."


def _why_none(trace: Trace, found: Listing, arguments: IsaOptions) -> str:
    noun = found.table.spec.noun
    if not len(trace.code) and noun != "label":
        return "The capture has no instructions."
    return nothing(noun, arguments, f"The program has no {_PLURAL.get(noun, f'{noun}s')}.")
