"""`rcv bubbles`: which instructions waves waited in while nothing happened on their SIMD."""

from __future__ import annotations

from rcv_py.analysis.latency.bubbles import Bubbles, bubbles
from rcv_py.analysis.program.matrix_forms import matrix_use
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.options.wait_options import BubblesOptions
from rcv_py.cli.report import json_text
from rcv_py.cli.results import ordered, print_csv, print_result
from rcv_py.cli.wave_choice import choose_waves, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.results.bubbles import BUBBLES, bubble_table, facts
from rcv_py.results.table import Table

SCHEMA = "rcv.bubbles/1"


def run(arguments: BubblesOptions) -> int:
    """Print the ranking of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    chosen = choose_waves(trace, arguments)
    read = list(chosen.batches)
    rule = ReferenceRule(arguments.rule)
    found = bubbles(trace, read, chosen.rows, rule)
    table = ordered(bubble_table(trace, found), arguments).head(arguments.top)
    if arguments.csv:
        print_csv(table)
    elif arguments.json:
        document = facts(trace, found, matrix_use(trace, read), rule) | {"rows": table.rows()}
        print(json_text(SCHEMA, document, about(arguments, trace, waves=chosen.about(), alarm=alarm)))
    elif not len(table):
        print(_why_none(trace, found))
    else:
        print_heading(chosen)
        print_result(table, trace)
        print(_footer(found, table, rule))
    return 0


def _footer(found: Bubbles, table: Table, rule: ReferenceRule) -> str:
    part, whole = sum(table.plain("cycles")), found.resident
    is_ours = rule is ReferenceRule.OURS
    empty = "nothing happened" if is_ours else "no wave issued"
    lines = [
        f"\n{len(table):,} of {plural(len(found), 'instruction')}: {percent(round(part), found.bubble)} of "
        f"{count(found.bubble)} cycles in which a SIMD held a traced wave and {empty}.",
        f"Of {count(whole)} SIMD cycles with a traced wave {percent(found.issuing, whole)} issued"
        + (f", in {percent(found.matrix, whole)} the matrix unit worked" if found.matrix else "")
        + f", {percent(found.no_issue, whole)} are no-issue cycles"
        + (f", and in {percent(found.bubble, whole)} nothing happened." if is_ours else "."),
        f"Removing every bubble would save at most {percent(found.bubble, whole)} of these.",
        "A bubble is split equally among the waves that were there; cycles in which another wave issued"
        + (" or the matrix unit worked do not count." if is_ours else " do not count."),
    ]
    if found.assumption:
        lines.append(found.assumption)
    return "\n".join(lines)


def _why_none(trace: Trace, found: Bubbles) -> str:
    if not len(trace.waves):
        return "The capture has no traced waves, so nothing is known about bubbles."
    if not found.waves:
        return "No wave could be read; `rcv info --check` says why."
    return BUBBLES.nothing
