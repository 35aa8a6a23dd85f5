"""`rcv events`: dispatches, hardware events, markers and shader data, by time."""

from __future__ import annotations

from collections import Counter

import numpy as np

from rcv_py.analysis.events.event_table import ENTRY_TEXT, EntryKind, EventTable, event_table
from rcv_py.analysis.events.marker_spans import MarkerSpans, marker_spans
from rcv_py.base.text import count, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import matched, nothing
from rcv_py.cli.options.device_options import EventsOptions
from rcv_py.cli.report import json_text
from rcv_py.cli.results import ordered, print_csv, print_result
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.events import events
from rcv_py.results.table import Table

_PLURALS = {
    "dispatch": ("dispatch", "dispatches"),
    "event": ("event",),
    "marker": ("marker",),
    "shader": ("shader value",),
}
_NOTHING = (
    "The capture has no events, dispatches or shader data. Events and dispatches come with format 3.1, "
    "markers with an instrumented kernel."
)


def run(arguments: EventsOptions) -> int:
    """Print the events of a capture as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    spans = _spans(trace)
    table = event_table(trace, spans)
    kinds = arguments.kind or default_kinds(table)
    rows = np.flatnonzero(np.isin(table.kind, [kind for kind in EntryKind if ENTRY_TEXT[kind] in kinds]))
    kept = matched(table.texts, arguments)
    if kept is not None:
        columns = (table.name, table.place, table.detail)
        rows = rows[np.any([np.isin(column[rows], sorted(kept)) for column in columns], axis=0)]
    shown = ordered(events(table)[rows], arguments)
    if arguments.csv:
        print_csv(shown)
    elif arguments.json:
        document = {
            "capture": trace.name,
            "kinds": list(kinds),
            "problems": [problem.text for problem in spans.problems],
            "rows": shown.rows(),
        }
        print(json_text("rcv.events/1", document, about(arguments, trace)))
    elif not len(table):
        print(_NOTHING)
    elif not len(shown):
        print(nothing(shown.spec.noun, arguments, shown.spec.nothing))
    else:
        _print(trace, spans, shown, len(table))
    return 0


def default_kinds(table: EventTable) -> tuple[str, ...]:
    """All kinds; plain values only where no marker explains them."""
    has_markers = bool((table.kind == EntryKind.MARKER).any())
    return tuple(text for kind, text in ENTRY_TEXT.items() if kind != EntryKind.SHADER or not has_markers)


def _spans(trace: Trace) -> MarkerSpans:
    """The markers; waves are read only if there is shader data, for the code objects that ran."""
    has_data = any(len(data.time) for data in trace.shader_data)
    batches = [trace.reader.read(list(range(len(trace.waves))))] if has_data and len(trace.waves) else []
    return marker_spans(trace, batches)


def _print(trace: Trace, spans: MarkerSpans, shown: Table, of: int) -> None:
    print_result(shown, trace)
    numbers = Counter(shown.plain("kind"))
    parts = [plural(numbers[text], *words) for text, words in _PLURALS.items() if numbers[text]]
    print(f"\n{', '.join(parts)}; {count(of)} entries in all.")
    for problem in spans.problems:
        print(f"note: {problem}")
