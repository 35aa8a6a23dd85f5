"""`rcv loops`: iterations of loops, phases of waves, and what costs cycles in and around them."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from rcv_py.analysis.iterations.loop_summary import loop_summary
from rcv_py.analysis.iterations.loop_tables import loop_facts
from rcv_py.analysis.iterations.phases import PHASES
from rcv_py.base.errors import UsageError
from rcv_py.base.paths import short_place
from rcv_py.base.text import count, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import in_order, nothing
from rcv_py.cli.places import short_sources, wave_row
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.cli.views.loop_rounds import Rounds, rounds
from rcv_py.cli.views.loop_tables import SHOWN, Asked, Rows, Shown, names
from rcv_py.cli.wave_choice import choose_waves, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace

SCHEMA = "rcv.loops/1"
PARTS = 4  # kinds that a split names
_PLACES = ("source", "branch_source", "wait_source", "last_source")
_ROWS = {"loops": "loop", "iterations": "iteration", "phases": "wave", "first": "instruction"}
_ROWS |= {"distance": "operation", "chains": "chain", "barriers": "barrier"}
_WORDS = ("wave", "last", "text", *_PLACES, "split", "outlier")
_ELASTIC = {**dict.fromkeys(_PLACES, "left"), "text": "right", "split": "right"}


def run(arguments: Namespace) -> int:
    """Print one of the tables as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    chosen = (
        None if arguments.wave is not None and arguments.waves is None else choose_waves(trace, arguments)
    )
    rows = {wave_row(trace, arguments.wave)} if chosen is None else chosen.rows
    read = [trace.reader.read(sorted(rows))] if chosen is None else list(chosen.batches)
    asked = Asked(trace, read, rows, loop_summary(trace, read, rows))
    shown = SHOWN[arguments.show]
    found = rounds(asked, _choice(trace, arguments)) if arguments.loop else shown.rows(asked)
    part = in_order(found, arguments)[: arguments.top or None]
    if arguments.csv:
        head = names(found)
        sys.stdout.write(csv_text(head, [[row[name] for name in head] for row in part]))
    elif arguments.json:
        document = _document(asked, arguments) | {"of": len(found), "rows": part}
        waves = None if chosen is None else chosen.about()
        print(json_text(SCHEMA, document, about(arguments, trace, waves=waves, alarm=alarm)))
    else:
        if chosen is not None and asked.loops.waves:
            print_heading(chosen)
        _print(asked, shown, found, part, arguments)
    return 0


def _choice(trace: Trace, arguments: Namespace) -> Rounds:
    """Which rounds are asked for."""
    if arguments.show != "iterations":
        raise UsageError("--loop belongs to --show iterations.", hint="Add --show iterations.")
    of = arguments.rounds_of
    return Rounds(*arguments.loop, None if of is None else wave_row(trace, of), arguments.outliers)


def _document(asked: Asked, arguments: Namespace) -> dict[str, Any]:
    head = {"capture": asked.trace.name, "wave": arguments.wave, "show": arguments.show}
    return head | loop_facts(asked)


def _print(asked: Asked, shown: Shown, found: Rows, part: Rows, arguments: Namespace) -> None:
    trace, loops = asked.trace, asked.loops
    if not loops.waves:
        print(_why_none(trace))
        return
    if not found:
        print(nothing(_ROWS.get(arguments.show, "row"), arguments, shown.nothing))
    else:
        columns = [Column(_title(name), name not in _WORDS, _ELASTIC.get(name, "")) for name in shown.columns]
        short = short_sources(trace)
        part = [
            row | {name: short_place(row[name], short) for name in _PLACES if name in row} for row in part
        ]
        print_table(columns, [[_cell(row, name) for name in shown.columns] for row in part])
        print(
            f"\n{len(part):,} of {plural(len(found), 'row')} in {plural(loops.waves, 'wave')}. {shown.note}"
        )
    if shown is SHOWN["loops"] and found:
        print("\n".join(_sentences(asked)))


def _title(name: str) -> str:
    return name.replace("_", " ")


def _cell(row: dict[str, Any], name: str) -> str:
    if name == "split":
        whole = max(1, sum(row["kinds"].values()) + row["idle"])
        parts = [(kind, cycles) for kind, cycles in row["kinds"].items()][:PARTS]
        return ", ".join(f"{kind} {100 * cycles / whole:.0f} %" for kind, cycles in parts)
    value = row[name]
    if value is None:
        return ""
    if isinstance(value, bool):
        return "outlier" if value else ""
    if name == "first_share":
        return f"{100 * value:.1f} %"
    if isinstance(value, float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    # Numbers of lines are names: they are not grouped.
    return (
        str(value)
        if name in ("line", "branch", "head", "first", "wait") or isinstance(value, str)
        else count(value)
    )


def _sentences(asked: Asked) -> list[str]:
    loops = asked.loops
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
