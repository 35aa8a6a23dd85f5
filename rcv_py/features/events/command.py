"""`rcv events`: dispatches, hardware events, markers and shader data, by time."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.events.event_table import ENTRY_TEXT, EntryKind, EventTable, event_table
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.events.scope_costs import scope_costs
from rcv_py.base.text import Message, count, join_texts, plural
from rcv_py.cli.answer import CommandAnswer, listing, matched
from rcv_py.cli.opening import markers, opened
from rcv_py.features.events.options import EventsOptions
from rcv_py.features.events.result import SCHEMA, SCOPE_SCHEMA, UNIT_SCHEMA, events, scope_rows, unit_rows
from rcv_py.model.trace import Trace
from rcv_py.results.table import ResultTable

_NOUNS = {
    "dispatch": ("dispatch", "dispatches"),
    "event": ("event",),
    "marker": ("marker",),
    "shader": ("shader value",),
}
_NOTHING = (
    "The capture has no events, dispatches or shader data. Events and dispatches come with format 3.1, "
    "markers with an instrumented kernel."
)


def run(options: EventsOptions) -> CommandAnswer:
    """List the events of a capture."""
    trace = opened(options)
    spans = markers(trace)
    if options.by != "entry":
        return _scopes(trace, spans, options)
    entries = event_table(trace, spans)
    has_markers = bool((entries.kind == EntryKind.MARKER).any())  # which explain the plain values
    usual = (text for kind, text in ENTRY_TEXT.items() if kind != EntryKind.SHADER or not has_markers)
    kinds = options.kind or tuple(usual)
    return listing(
        options,
        trace,
        events(entries)[_rows(entries, kinds, options)],
        SCHEMA,
        lambda: {"kinds": list(kinds), "problems": [problem.text for problem in spans.problems]},
        footer=lambda shown: _footer(spans, shown, len(entries)),
        why_none="" if len(entries) else _NOTHING,
    )


def _scopes(trace: Trace, spans: MarkerSpans, options: EventsOptions) -> CommandAnswer:
    make, schema = (scope_rows, SCOPE_SCHEMA) if options.by == "scope" else (unit_rows, UNIT_SCHEMA)
    table = make(trace, spans, scope_costs(spans))
    texts = matched(spans.names, options)
    if texts is not None:
        names = [spans.names[at] for at in sorted(texts)]
        table = table[np.isin(np.array(table.plain("name"), dtype=object), names)]
    return listing(
        options,
        trace,
        table,
        schema,
        lambda: {"problems": [problem.text for problem in spans.problems]},
        footer=lambda _: (f"note: {problem}" for problem in spans.problems),
    )


def _rows(table: EventTable, kinds: tuple[str, ...], options: EventsOptions) -> np.ndarray:
    """The rows of the kinds that begin in the range and hold the text."""
    kept = np.isin(table.kind, [kind for kind in EntryKind if ENTRY_TEXT[kind] in kinds])
    if options.within is not None:
        kept &= (table.time >= options.within[0]) & (table.time < options.within[1])
    texts = matched(table.texts, options)
    if texts is not None:
        columns = (table.name, table.place, table.detail)
        kept &= np.any([np.isin(column, sorted(texts)) for column in columns], 0)
    return np.flatnonzero(kept)


def _footer(spans: MarkerSpans, shown: ResultTable, of: int) -> Iterator[str]:
    numbers = Counter(shown.plain("kind"))
    parts = [plural(numbers[text], *words) for text, words in _NOUNS.items() if numbers[text]]
    yield Message("\n{0}; {1} entries in all.", join_texts(", ", parts), count(of))
    yield from (f"note: {problem}" for problem in spans.problems)
