"""Text search in instructions, labels, source lines and names of markers."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from msgspec import field

from rcv_py.analysis.core.search import find
from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base.errors import UsageError
from rcv_py.base.record import Value
from rcv_py.base.text import Message, plural
from rcv_py.model.trace import Trace

LIMIT = 20_000  # source lines that are listed
_Hit = tuple[int, tuple[int, int], str, str, int]  # the columns of Hits
_How = tuple[str, bool, bool]  # text, is_case_sensitive, is_regex


class Hits(Value):
    """Results of a search: code rows first, then source lines, then names of markers."""

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
    names = ["label" if is_label else "instruction" for is_label in trace.code.is_label.tolist()]
    hits: list[_Hit] = [(row, (-1, -1), f"{names[row]} {row}", trace.code.text[row], -1) for row in rows]
    hits += islice(_in_sources(trace, how), LIMIT)
    hits += [] if spans is None else _in_markers(spans, how)
    texts, of_spans = [hit[3] for hit in hits], [hit[4] for hit in hits]
    return Hits([hit[0] for hit in hits], [hit[1] for hit in hits], [hit[2] for hit in hits], texts, of_spans)


def _in_sources(trace: Trace, how: _How) -> Iterator[_Hit]:
    for number, source in enumerate(trace.sources):
        lines = source.lines or ()
        for row in find(lines, *how).tolist():
            yield -1, (number, row + 1), place_text(trace.sources, number, row + 1), lines[row].strip(), -1


def _in_markers(spans: MarkerSpans, how: _How) -> Iterator[_Hit]:
    """Names of markers, with the first span of each in time, and the number of spans."""
    for number in find(spans.names, *how).tolist():
        rows = np.flatnonzero(spans.name_id == number)
        if len(rows):
            name = Message("{0} ({1})", spans.names[number], plural(len(rows), "time"))
            yield -1, (-1, -1), "marker", name, int(rows[np.argmin(spans.begin[rows])])
