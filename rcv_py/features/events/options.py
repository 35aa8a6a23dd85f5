"""The options of `rcv events`."""

from __future__ import annotations

from rcv_py.cli.options import shared
from rcv_py.cli.options.option import (
    ENTRY_KINDS,
    kinds,
    option,
    range_of,
)


class EventsOptions(shared.Matched, shared.RowOptions, example="rcv events FOLDER --kind dispatch,marker"):
    """List dispatches, events and markers by time."""

    kind: tuple[str, ...] | None = option(
        f"of {', '.join(ENTRY_KINDS)}, joined by commas (default: all that mean something)",
        read=kinds,
        metavar="KINDS",
    )
    match: str | None = option("only rows whose name, place or detail holds this text", metavar="TEXT")
    within: tuple[int, int] | None = range_of("only rows that begin in a range of cycles")
    top: int = shared.top(0)
    sort: str | None = shared.sort("time, smallest first")
