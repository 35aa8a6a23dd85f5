"""Dispatches and hardware events as lines through a timeline, and what they are called."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from rcv_py.analysis.events.event_table import (
    GROUPS,
    dispatch_facts,
    dispatch_names,
    event_text,
    group_of,
    lasting,
)
from rcv_py.base.text import count
from rcv_py.model.kinds import EventKind
from rcv_py.model.trace import Trace
from rcv_py.ui.table.filter_menu import Choice
from rcv_py.ui.timeline.overlay import Line

MOST = 4000  # lines a trace
PREFIX = "event:"  # of the ids of groups in a menu
ROLES = {
    EventKind.PACKET_LOSS: "error",
    EventKind.TT_STALL_BEGIN: "warning",
    EventKind.TT_STALL_END: "warning",
    EventKind.DIDT_STALL_BEGIN: "warning",
    EventKind.DIDT_STALL_END: "warning",
    EventKind.DISPATCH_END: "accent",
}


def event_lines(
    trace: Trace,
    hidden: Collection[str] | None = None,
    skip: Collection[EventKind] = (),
    without: Collection[int] = (),
) -> tuple[Line, ...]:
    """Return the lines of a trace in order of time.

    `hidden` holds ids of groups (with PREFIX) that are left out, by default those that are off by default;
    `skip` leaves out single types, `without` shader engines.
    """
    if hidden is None:
        hidden = {PREFIX + group.id for group in GROUPS if not group.is_on}
    lines = [] if f"{PREFIX}dispatch" in hidden else _dispatch_lines(trace, without)
    events = trace.events
    if events is not None:
        types = np.unique(events.kind).tolist()
        shown = [kind for kind in types if kind not in skip and PREFIX + group_of(kind) not in hidden]
        chosen = np.flatnonzero(np.isin(events.kind, shown))[: 8 * MOST]
        columns = (events.time[chosen], events.se[chosen], events.kind[chosen], lasting(events)[chosen])
        lines += [
            Line(time, ROLES.get(kind, "muted"), _text(time, se, kind, length), length)
            for time, se, kind, length in zip(*(column.tolist() for column in columns), strict=True)
            if se not in without
        ]
    return tuple(sorted(lines, key=lambda line: line.time)[:MOST])


def _text(time: int, se: int, kind: int, length: int) -> str:
    lasted = f", for {count(length)} cycles" if length > 0 else ""
    return f"SE {se}: {event_text(kind)} at {count(time)}{lasted}"


def _dispatch_lines(trace: Trace, without: Collection[int]) -> list[Line]:
    found = []
    for one, name in zip(trace.dispatches, dispatch_names(trace), strict=True):
        if one.se not in without:
            facts = dispatch_facts(one)
            text = f"SE {one.se}: {name} dispatched at {count(one.time)}" + (f" ({facts})" if facts else "")
            found.append(Line(one.time, "accent", text))
    return found


def event_choices(trace: Trace | None, skip: Collection[EventKind] = ()) -> list[Choice]:
    """Return the groups that occur in a trace, for a menu."""
    if trace is None:
        return []
    kinds = [] if trace.events is None else np.unique(trace.events.kind).tolist()
    there = {group_of(kind) for kind in kinds if kind not in skip}
    if trace.dispatches:
        there.add("dispatch")
    return [
        Choice(PREFIX + group.id, group.title, group.is_on, group.tip)
        for group in GROUPS
        if group.id in there
    ]
