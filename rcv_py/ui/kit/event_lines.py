"""Dispatches and hardware events as lines through a timeline, and what they are called."""

from __future__ import annotations

from rcv_py.base.text import count, short_kernel
from rcv_py.model.kinds import EventKind
from rcv_py.model.trace import Trace
from rcv_py.ui.kit.overlay import Line

MOST = 4000  # lines a trace
EVENT_TEXT = {
    EventKind.CS_PARTIAL_FLUSH: "compute flush",
    EventKind.BOTTOM_OF_PIPE_TS: "bottom-of-pipe timestamp",
    EventKind.SAVE_CONTEXT: "context saved",
    EventKind.DISPATCH_END: "dispatch ended",
    EventKind.CACHE_FLUSH: "cache flush",
    EventKind.PACKET_LOSS: "packets were lost: what follows is incomplete",
    EventKind.CODE_OBJECT_LOAD: "code object loaded",
    EventKind.CODE_OBJECT_UNLOAD: "code object unloaded",
    EventKind.TT_STALL_BEGIN: "the trace began to stall the shaders",
    EventKind.TT_STALL_END: "the trace stopped stalling the shaders",
    EventKind.TT_FLUSH: "trace buffer flushed",
    EventKind.DIDT_STALL_BEGIN: "power throttling began",
    EventKind.DIDT_STALL_END: "power throttling ended",
    EventKind.CLUSTER_BARRIER: "cluster barrier",
}
ROLES = {
    EventKind.PACKET_LOSS: "error",
    EventKind.TT_STALL_BEGIN: "warning",
    EventKind.TT_STALL_END: "warning",
    EventKind.DIDT_STALL_BEGIN: "warning",
    EventKind.DIDT_STALL_END: "warning",
    EventKind.DISPATCH_END: "accent",
}


def event_lines(trace: Trace) -> tuple[Line, ...]:
    """Return the lines of a trace in order of time; events we have no words for are left out."""
    lines = [
        Line(one.time, "accent", f"SE {one.se}: {short_kernel(one.name)} dispatched at {count(one.time)}")
        for one in trace.dispatches
    ]
    events = trace.events
    if events is not None:
        rows = zip(events.time.tolist(), events.se.tolist(), events.kind.tolist(), strict=True)
        lines += [
            Line(
                time,
                ROLES.get(EventKind(kind), "muted"),
                f"SE {se}: {EVENT_TEXT[EventKind(kind)]} at {count(time)}",
            )
            for time, se, kind in rows
            if kind in EVENT_TEXT
        ]
    return tuple(sorted(lines, key=lambda line: line.time)[:MOST])
