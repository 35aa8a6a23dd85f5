"""`rcv events`: dispatches, hardware events, markers and shader data, by time."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from rcv_py.analysis.events.event_table import ENTRY_TEXT, EntryKind, EventTable, event_table
from rcv_py.analysis.events.marker_spans import MarkerSpans, marker_spans
from rcv_py.base.text import count, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import matched, nothing, tuples_in_order
from rcv_py.cli.options.device_options import EventsOptions
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace

_HEAD = ("time", "duration", "kind", "name", "place", "detail")
_COLUMNS = (
    Column("time", True),
    Column("duration", True),
    Column("kind"),
    Column("name", elastic="right"),
    Column("place"),
    Column("detail", elastic="right"),
)
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
    trace = open_trace(arguments.folder)
    spans = _spans(trace)
    table = event_table(trace, spans)
    kinds = arguments.kind or default_kinds(table)
    rows = np.flatnonzero(np.isin(table.kind, [kind for kind in EntryKind if ENTRY_TEXT[kind] in kinds]))
    kept = matched(table.texts, arguments)
    if kept is not None:
        columns = (table.name, table.place, table.detail)
        rows = rows[np.any([np.isin(column[rows], sorted(kept)) for column in columns], axis=0)]
    cells = tuples_in_order(_HEAD, [table.cells(row) for row in rows.tolist()], arguments)
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, [["" if cell is None else cell for cell in row] for row in cells]))
    elif arguments.json:
        print(json_text("rcv.events/1", _document(trace, spans, kinds, cells), about(arguments, trace)))
    else:
        _print(arguments, spans, table, cells)
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


def _document(
    trace: Trace, spans: MarkerSpans, kinds: Sequence[str], cells: list[tuple[Any, ...]]
) -> dict[str, Any]:
    return {
        "capture": trace.name,
        "kinds": list(kinds),
        "problems": [problem.text for problem in spans.problems],
        "rows": [dict(zip(_HEAD, row, strict=True)) for row in cells],
    }


def _print(
    arguments: EventsOptions, spans: MarkerSpans, table: EventTable, cells: list[tuple[Any, ...]]
) -> None:
    if not len(table):
        print(_NOTHING)
        return
    if not cells:
        print(nothing("event", arguments, "No event of these kinds is there."))
        return
    shown = [(count(time), "" if length is None else count(length), *words) for time, length, *words in cells]
    print_table(_COLUMNS, shown)
    numbers = Counter(row[2] for row in cells)
    parts = [plural(numbers[text], *words) for text, words in _PLURALS.items() if numbers[text]]
    print(f"\n{', '.join(parts) or 'Nothing of that kind'}; {count(len(table))} entries in all.")
    for problem in spans.problems:
        print(f"note: {problem}")
