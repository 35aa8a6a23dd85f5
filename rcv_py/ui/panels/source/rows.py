"""A source file with its costs, as the source view draws it."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.cost.source_costs import SourceCosts
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.trace import Trace
from rcv_py.ui.core.costs import unit_of
from rcv_py.ui.panels.source.highlight import expanded
from rcv_py.ui.panels.source.view import SourceRows

NO_TEXT = "(no copy of this line)"


def source_rows(trace: Trace, costs: SourceCosts, file: int, text: tuple[str, ...] | None) -> SourceRows:
    """Return the lines of a file: all of them, or, without a copy (`text` None), those that code came from.

    Code that names a line beyond the end of the copy gets a row of its own behind it.
    """
    own = costs.lines_of(file)
    line, cost, by_kind = costs.line[own].astype(np.int64), costs.cost[own], costs.by_kind[own]
    shown = np.arange(1, (0 if text is None else len(text)) + 1)
    number = np.union1d(shown, line[line > 0])
    all_cost = np.zeros(len(number), dtype=np.int64)
    all_kinds = np.zeros((len(number), KIND_COUNT), dtype=np.int64)
    has_code = np.zeros(len(number), dtype=bool)
    at = np.searchsorted(number, line[line > 0])
    all_cost[at], all_kinds[at], has_code[at] = cost[line > 0], by_kind[line > 0], True
    words = text or ()
    texts = tuple(words[n - 1] if n <= len(words) else NO_TEXT for n in number.tolist())
    return SourceRows(
        number, texts, all_cost, all_kinds, has_code, costs.total, unit_of(trace), text is not None
    )


def expanded_lines(trace: Trace, file: int) -> tuple[str, ...] | None:
    """Return the lines of a file as they are shown, None if there is no copy."""
    lines = trace.sources[file].lines
    return None if lines is None else tuple(map(expanded, lines))
