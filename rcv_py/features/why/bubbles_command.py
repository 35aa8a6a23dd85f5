"""`rcv bubbles`: which instructions waves waited in while nothing happened on their SIMD."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.latency.bubbles import BUBBLES, Bubbles
from rcv_py.analysis.program.matrix_forms import MATRIX
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.answer import CommandAnswer, listing
from rcv_py.cli.opening import choose_waves
from rcv_py.features.why.bubbles_result import SCHEMA, bubble_table, facts
from rcv_py.features.why.options import BubblesOptions
from rcv_py.model.modes import ReferenceRule
from rcv_py.results.table import ResultTable


def run(options: BubblesOptions) -> CommandAnswer:
    """Rank the instructions of a capture."""
    rule = ReferenceRule(options.rule)
    waves = choose_waves(options, (BUBBLES[rule],), (MATRIX,))
    trace, found = waves.trace, waves.of(BUBBLES[rule])
    table = bubble_table(trace, found)
    if options.line is not None:
        table = table[np.flatnonzero(found.line == options.line)]
    return listing(
        options,
        waves,
        table,
        SCHEMA,
        lambda: facts(trace, found, waves.of_all(MATRIX), rule),
        footer=lambda table: _footer(found, table, rule),
        why_none=waves.why_none("bubbles"),
    )


def _footer(found: Bubbles, table: ResultTable, rule: ReferenceRule) -> Iterator[str]:
    part, resident = sum(table.plain("bubbles")), found.resident
    is_ours = rule is ReferenceRule.OURS
    empty = "nothing happened" if is_ours else "no wave issued"
    yield (
        f"\n{len(table):,} of {plural(len(found), 'instruction')}: {percent(round(part), found.bubble)} of "
        f"{count(found.bubble)} cycles in which a SIMD held a traced wave and {empty}."
    )
    yield (
        f"Of {count(resident)} SIMD cycles with a traced wave {percent(found.issuing, resident)} issued"
        + (f", in {percent(found.matrix, resident)} the MFMA unit worked" if found.matrix else "")
        + f", {percent(found.no_issue, resident)} are no-issue cycles"
        + (f", and in {percent(found.bubble, resident)} nothing happened." if is_ours else ".")
    )
    yield f"Removing every bubble would save at most {percent(found.bubble, resident)} of these."
    yield (
        "A bubble is split equally among the waves that were there; cycles in which another wave issued"
        + (" or the MFMA unit worked do not count." if is_ours else " do not count.")
    )
    if found.assumption:
        yield found.assumption
