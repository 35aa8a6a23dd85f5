"""What hardware events mean, how they are grouped, and which dispatch a wave belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.base.text import count, short_kernel
from rcv_py.model.device import Dispatch, HardwareEvents
from rcv_py.model.kinds import EventKind
from rcv_py.model.trace import Trace


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Events that are shown or hidden together."""

    id: str
    title: str
    tip: str
    kinds: tuple[EventKind, ...] = ()
    is_on: bool = True


GROUPS = (
    EventGroup("dispatch", "Dispatches", "Kernels being launched.", (EventKind.DISPATCH_END,)),
    EventGroup(
        "flush",
        "Flushes",
        "Partial flushes, cache flushes, bottom-of-pipe timestamps.",
        (EventKind.CS_PARTIAL_FLUSH, EventKind.CACHE_FLUSH, EventKind.BOTTOM_OF_PIPE_TS),
    ),
    EventGroup(
        "object",
        "Code objects",
        "Code objects being loaded and unloaded.",
        (EventKind.CODE_OBJECT_LOAD, EventKind.CODE_OBJECT_UNLOAD),
    ),
    EventGroup(
        "trace",
        "Trace unit",
        "Where the trace stalled the shaders, was flushed, or lost packets.",
        (EventKind.TT_STALL_BEGIN, EventKind.TT_STALL_END, EventKind.TT_FLUSH, EventKind.PACKET_LOSS),
    ),
    EventGroup("rinse", "Cache rinses", "The graphics cache being rinsed.", (EventKind.GC_RINSE,), False),
    EventGroup("sample", "Counter samples", "Counters being read.", (EventKind.SPM_SAMPLE,), False),
    EventGroup("other", "Other events", "Power throttling, barriers of clusters, and the rest."),
)
GROUP_OF: dict[int, str] = {kind: group.id for group in GROUPS for kind in group.kinds}
OTHER = "other"

# Of no interest among the instructions of a compute unit.
NOT_ON_UNITS = (
    EventKind.SPM_SAMPLE,
    EventKind.CODE_OBJECT_LOAD,
    EventKind.CODE_OBJECT_UNLOAD,
    EventKind.CS_PARTIAL_FLUSH,
)

EVENT_TEXT: dict[int, str] = {
    EventKind.NONE: "event without type",
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
    EventKind.RESERVED: "reserved event",
    EventKind.GC_RINSE: "cache rinse",
    EventKind.SPM_SAMPLE: "counter sample",
}


_ENDS = {
    EventKind.TT_STALL_BEGIN: EventKind.TT_STALL_END,
    EventKind.DIDT_STALL_BEGIN: EventKind.DIDT_STALL_END,
}


def lasting(events: HardwareEvents) -> np.ndarray:
    """Return for each event that begins something how many cycles it lasted, else -1; int64.

    What begins lasts to the first end of its kind on the same shader engine; without one it is a moment.
    """
    length = np.full(len(events.time), -1, dtype=np.int64)
    for begin, end in _ENDS.items():
        for se in np.unique(events.se[events.kind == begin]).tolist():
            opens = np.flatnonzero((events.kind == begin) & (events.se == se))
            closes = events.time[(events.kind == end) & (events.se == se)]
            at = np.searchsorted(closes, events.time[opens])
            known = at < len(closes)
            length[opens[known]] = closes[at[known]] - events.time[opens[known]]
    return length


def group_of(kind: int) -> str:
    """The id of the group of an event type; types we do not know are `other`."""
    return GROUP_OF.get(kind, OTHER)


def event_text(kind: int) -> str:
    """What happened, in a few words."""
    return EVENT_TEXT.get(kind) or f"event of type {kind}"


def dispatch_facts(one: Dispatch) -> str:
    """Return registers, local memory and workgroup size, as far as they are known."""
    facts = [
        f"{count(number)} {name}"
        for number, name in ((one.vgprs, "VGPRs"), (one.sgprs, "SGPRs"), (one.lds_size, "bytes of LDS"))
        if number
    ]
    if any(one.workgroup_size):
        facts.append("workgroup " + "×".join(map(str, one.workgroup_size)))
    return ", ".join(facts)


def dispatch_of(dispatches: Iterable[Dispatch], se: int, me: int, pipe: int, time: int) -> Dispatch | None:
    """Return the latest dispatch of an engine at or before a time on a micro engine's pipe.

    That is the one a wave was launched by, if the pipe starts its dispatches in their order.
    """
    found = None
    for one in dispatches:  # sorted by time
        if one.time > time:
            break
        if (one.se, one.me, one.pipe) == (se, me, pipe):
            found = one
    return found


def dispatch_names(trace: Trace) -> list[str]:
    """Return the kernel of each dispatch, without arguments, as other views spell it."""
    names = {kernel.name: kernel.demangled for kernel in trace.code.kernels}
    return [short_kernel(names.get(one.name, one.name)) for one in trace.dispatches]
