"""Everything that holds a text: instructions, labels, source lines, names of markers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rcv_py.analysis.core.search import find
from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural
from rcv_py.model.trace import Trace

LIMIT = 20_000  # source lines that are listed


@dataclass(frozen=True, slots=True)
class Hits:
    """What was found: code rows first, then source lines, then names of markers."""

    lines: list[int] = field(default_factory=list)  # code row, -1 for a source line
    places: list[tuple[int, int]] = field(default_factory=list)  # (file, line), (-1, -1) for a code row
    where: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    spans: list[int] = field(default_factory=list)  # first marker span of that name, -1 for other hits
    problem: str = ""


def text_hits(
    trace: Trace,
    text: str,
    spans: MarkerSpans | None = None,
    *,
    is_case_sensitive: bool = False,
    is_regex: bool = False,
) -> Hits:
    """Search code, labels, sources and markers of a trace; at most `LIMIT` source lines."""
    how = (text, is_case_sensitive, is_regex)
    try:
        rows = find(trace.code.text, *how).tolist()
    except UsageError as error:
        return Hits(problem=f"{error} {error.hint}")
    labels = trace.code.is_label
    lines, places = list(rows), [(-1, -1)] * len(rows)
    where = [f"label {row}" if labels[row] else f"line {row}" for row in rows]
    words = [trace.code.text[row] for row in rows]
    for number, source in enumerate(trace.sources):
        for row in find(source.lines or (), *how).tolist()[: LIMIT - len(places) + len(rows)]:
            lines.append(-1)
            places.append((number, row + 1))
            where.append(place_text(trace.sources, number, row + 1))
            words.append((source.lines or ())[row].strip())
    of_spans = [-1] * len(lines)
    for name, first, times in _marked(spans, how):
        lines.append(-1)
        places.append((-1, -1))
        where.append("marker")
        words.append(f"{name} ({plural(times, 'time')})")
        of_spans.append(first)
    return Hits(lines, places, where, words, of_spans)


def _marked(spans: MarkerSpans | None, how: tuple[str, bool, bool]) -> list[tuple[str, int, int]]:
    """Names of markers that match, the first span of each in time, and how many there are."""
    if spans is None:
        return []
    found = []
    for number in find(spans.names, *how).tolist():
        rows = np.flatnonzero(spans.name_id == number)
        if len(rows):
            found.append((spans.names[number], int(rows[np.argmin(spans.begin[rows])]), len(rows)))
    return found
