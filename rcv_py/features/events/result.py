"""Events: dispatches, hardware events, markers and values of shader data, by time."""

from __future__ import annotations

from rcv_py.analysis.events.event_table import ENTRY_TEXT, EventTable
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import Field
from rcv_py.results.schema import Schema
from rcv_py.results.table import DictionaryColumn, ResultTable, Spec

EVENTS = Spec.of(
    "events",
    "Entries by time.",
    "event",
    kinds.CYCLE("start", "When it began", key="time"),
    kinds.CYCLES("duration", "Duration; null for an instant", is_unknown=True),
    Field("kind", kinds.choice(*ENTRY_TEXT.values()), "What it is"),
    kinds.NOTE("name", "Its name"),
    kinds.TEXT("place", "Where it happened"),
    kinds.NOTE("detail", "Further details"),
    nothing="There is no event of these kinds.",
)
FACTS = (
    CAPTURE,
    Field("kinds", kinds.texts("dispatch, event, marker or shader."), "Kinds that are listed"),
    Field("problems", kinds.texts("A sentence."), "Inconsistent markers"),
)
SCHEMA = Schema(
    "events", "Dispatches, hardware events, markers and shader data by time.", (*FACTS, EVENTS.field())
)


def events(found: EventTable) -> ResultTable:
    """Return one row per entry; the duration of a moment is below 0."""
    words = {
        "kind": DictionaryColumn(tuple(ENTRY_TEXT.values()), found.kind),
        "name": DictionaryColumn(found.texts, found.name),
        "place": DictionaryColumn(found.texts, found.place),
        "detail": DictionaryColumn(found.texts, found.detail),
    }
    return ResultTable.of(EVENTS, found, words)
