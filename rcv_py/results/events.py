"""Events: dispatches, hardware events, markers and values of shader data, by time."""

from __future__ import annotations

from rcv_py.analysis.events.event_table import ENTRY_TEXT, EventTable
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import Field
from rcv_py.results.table import Spec, Table, Words
from rcv_py.results.unit import CYCLE, CYCLES, NOTE, TEXT, choice, texts

EVENTS = Spec(
    "events",
    "Entries by time.",
    "event",
    (
        Field("start", CYCLE, "When it began"),
        Field("duration", CYCLES, "How long it took; null if it is a moment", is_unknown=True),
        Field("kind", choice(*ENTRY_TEXT.values()), "What it is"),
        Field("name", NOTE, "Its name"),
        Field("place", TEXT, "Where it happened"),
        Field("detail", NOTE, "What else is known"),
    ),
    nothing="No event of these kinds is there.",
)
FACTS = (
    CAPTURE,
    Field("kinds", texts("dispatch, event, marker or shader."), "Kinds that are listed"),
    Field("problems", texts("A sentence."), "What does not fit among markers"),
)


def events(found: EventTable) -> Table:
    """Return one row an entry; the duration of a moment is below 0."""
    words = {name: Words(found.texts, getattr(found, name)) for name in ("name", "place", "detail")}
    kind = Words(tuple(ENTRY_TEXT.values()), found.kind)
    return Table(EVENTS, {"start": found.time, "duration": found.duration, "kind": kind, **words})
