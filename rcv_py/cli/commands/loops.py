"""`rcv loops`: iterations of loops, phases of waves, and what costs cycles in and around them."""

from __future__ import annotations

from rcv_py.analysis.iterations.loop_summary import PHASES, loop_summary
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import nothing
from rcv_py.cli.options.wait_options import LoopsOptions
from rcv_py.cli.report import json_text
from rcv_py.cli.results import ordered, print_csv, print_result
from rcv_py.cli.wave_choice import choose_waves, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.loops import TABLES, Inputs, facts, one_loop
from rcv_py.results.table import Table

SCHEMA = "rcv.loops/1"


def run(arguments: LoopsOptions) -> int:
    """Print one of the tables as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    chosen, rows = None, None
    if arguments.wave is None or arguments.waves is not None:
        chosen = choose_waves(trace, arguments)
        rows, read = chosen.rows, list(chosen.batches)
    else:
        row = trace.wave_row(arguments.wave)
        rows, read = frozenset((row,)), [trace.reader.read([row])]
    inputs = Inputs(trace, read, rows, loop_summary(trace, read, rows))
    whole = _table(inputs, arguments)
    table = ordered(whole, arguments).head(arguments.top)
    if arguments.csv:
        print_csv(table)
    elif arguments.json:
        head = {"capture": trace.name, "wave": arguments.wave, "show": arguments.show}
        document = head | facts(inputs) | {"of": len(whole), "rows": table.rows()}
        waves = None if chosen is None else chosen.about()
        print(json_text(SCHEMA, document, about(arguments, trace, waves=waves, alarm=alarm)))
    else:
        if chosen is not None and inputs.loops.waves:
            print_heading(chosen)
        _print(inputs, table, len(whole), arguments)
    return 0


def _table(inputs: Inputs, arguments: LoopsOptions) -> Table:
    if not arguments.loop:
        return TABLES[arguments.show][1](inputs)
    if arguments.show != "iterations":
        raise UsageError("--loop belongs to --show iterations.", hint="Add --show iterations.")
    of = None if arguments.rounds_of is None else inputs.trace.wave_row(arguments.rounds_of)
    return one_loop(inputs, *arguments.loop, of, only_outliers=arguments.outliers)


def _print(inputs: Inputs, table: Table, of: int, arguments: LoopsOptions) -> None:
    trace, loops, spec = inputs.trace, inputs.loops, table.spec
    if not loops.waves:
        print(_why_none(trace))
        return
    if not of:
        print(nothing(spec.noun, arguments, spec.nothing))
        return
    print_result(table, trace)
    print(f"\n{len(table):,} of {plural(of, 'row')} in {plural(loops.waves, 'wave')}. {spec.note}")
    if arguments.show == "loops":
        print("\n".join(_sentences(inputs)))


def _sentences(inputs: Inputs) -> list[str]:
    loops = inputs.loops
    lines = []
    table, found = loops.found.table, loops.phases
    if len(found):
        head, branch = int(table.head[found.loop]), int(table.branch[found.loop])
        lines.append(f"Loop {head} to {branch}, {plural(len(found), 'wave')}:")
        for name, share, stall in zip(PHASES, found.shares, found.stall_shares, strict=True):
            lines.append(f"  {name:<9} {100 * share:5.1f} % of their time, {100 * stall:.1f} % of it stalled")
    if found.without:
        lines.append(f"{plural(found.without, 'wave')} did not run this loop twice.")
    outliers = len(loops.found.outliers)
    if outliers:
        lines.append(f"{plural(outliers, 'iteration')} took much longer than others: see --show iterations.")
    return lines


def _why_none(trace: Trace) -> str:
    if not len(trace.waves):
        return "The capture has no traced waves, so nothing is known about loops."
    return "No wave could be read; `rcv info --check` says why."
