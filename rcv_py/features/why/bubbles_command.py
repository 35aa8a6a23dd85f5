"""`rcv bubbles`: which instructions waves waited in while nothing happened on their SIMD."""

from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.latency.bubbles import BUBBLES, Bubbles
from rcv_py.analysis.program.matrix_forms import MATRIX
from rcv_py.base.text import Message, count, percent, plural
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
    empty, issuing = "nothing happened" if is_ours else "no wave issued", percent(found.issuing, resident)
    rows, share = plural(len(found), "instruction"), percent(round(part), found.bubble)
    text = "\n{0:,} of {1}: {2} of {3} cycles in which a SIMD held a traced wave and {4}."
    yield Message(text, len(table), rows, share, count(found.bubble), empty)
    yield (
        Message("Of {0} SIMD cycles with a traced wave {1} issued", count(resident), issuing)
        + (Message(", in {0} the MFMA unit worked", percent(found.matrix, resident)) if found.matrix else "")
        + Message(", {0} are no-issue cycles", percent(found.no_issue, resident))
        + (Message(", and in {0} nothing happened.", percent(found.bubble, resident)) if is_ours else ".")
    )
    yield Message("Removing every bubble would save at most {0} of these.", percent(found.bubble, resident))
    yield (
        "A bubble is split equally among the resident waves; cycles in which another wave issued "
        "or the MFMA unit worked do not count."
        if is_ours
        else "A bubble is split equally among the resident waves; cycles in which another wave issued "
        "do not count."
    )
    if found.assumption:
        yield found.assumption
