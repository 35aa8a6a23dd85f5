"""Dispatches, hardware events, markers and shader data in one table, by time; what hardware events mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from rcv_py.analysis.events.marker_spans import CLOSES, OPENS, MarkerRecords, MarkerSpans
from rcv_py.base.text import count, short_kernel
from rcv_py.model.columns import of_rows
from rcv_py.model.device import Dispatch, HardwareEvents
from rcv_py.model.kinds import MARKER_TEXT, EventKind, MarkerKind
from rcv_py.model.trace import Trace


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Events that are shown or hidden together."""

    id: str
    title: str
    tip: str
    kinds: tuple[EventKind, ...] = ()
    is_on: bool = True


# fmt: off
GROUPS = (
    EventGroup("dispatch", "Dispatches", "Kernels being launched.", (EventKind.DISPATCH_END,)),
    EventGroup("flush", "Flushes", "Partial flushes, cache flushes, bottom-of-pipe timestamps.",
        (EventKind.CS_PARTIAL_FLUSH, EventKind.CACHE_FLUSH, EventKind.BOTTOM_OF_PIPE_TS)),
    EventGroup("object", "Code objects", "Code objects being loaded and unloaded.",
        (EventKind.CODE_OBJECT_LOAD, EventKind.CODE_OBJECT_UNLOAD)),
    EventGroup("trace", "Trace unit", "Where the trace stalled the shaders, was flushed, or lost packets.",
        (EventKind.TT_STALL_BEGIN, EventKind.TT_STALL_END, EventKind.TT_FLUSH, EventKind.PACKET_LOSS)),
    EventGroup("rinse", "Cache rinses", "The graphics cache being rinsed.", (EventKind.GC_RINSE,), False),
    EventGroup("sample", "Counter samples", "Counters being read.", (EventKind.SPM_SAMPLE,), False),
    EventGroup("other", "Other events", "Power throttling, barriers of clusters, and the rest."),
)
# fmt: on
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


NO_DURATION = -1
_FLAGS = ("", "immediate", "privileged", "immediate, privileged")


class EntryKind(IntEnum):
    """What a row is."""

    DISPATCH = 0
    EVENT = 1
    MARKER = 2
    SHADER = 3


ENTRY_TEXT = {kind: kind.name.lower() for kind in EntryKind}


@dataclass(frozen=True, eq=False)
class EventTable:
    """One row an entry, sorted by (time, kind).  Texts are numbers of `texts`, which is sorted."""

    time: np.ndarray  # int64, cycles, aligned
    duration: np.ndarray  # int64, cycles; NO_DURATION of what has none
    kind: np.ndarray  # uint8, EntryKind
    name: np.ndarray  # int32
    place: np.ndarray  # int32
    detail: np.ndarray  # int32
    source: np.ndarray  # int64, row of the dispatches, events, spans or records
    wave: np.ndarray  # int32, row of the wave index, -1 if none
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.time)

    def cells(self, row: int) -> tuple[int, int | None, str, str, str, str]:
        """Time, duration, kind, name, place and detail as plain values."""
        length = int(self.duration[row])
        name, place, detail = (
            self.texts[int(column[row])] for column in (self.name, self.place, self.detail)
        )
        kind = ENTRY_TEXT[EntryKind(int(self.kind[row]))]
        return int(self.time[row]), None if length < 0 else length, kind, name, place, detail


@dataclass(frozen=True, eq=False)
class _Part:
    kind: EntryKind
    time: np.ndarray
    duration: np.ndarray
    wave: np.ndarray
    words: tuple[tuple[Sequence[str], np.ndarray], ...]  # name, place, detail: texts, and one a row

    def __len__(self) -> int:
        return len(self.time)


def event_table(trace: Trace, spans: MarkerSpans | None) -> EventTable:
    """Return everything that happened at a moment or had a name; markers are left out for None."""
    parts = [_dispatches(trace), _events(trace)]
    if spans is not None:
        parts += [_markers(trace, spans), _values(trace, spans)]
    (name, place, detail), texts = _coded(parts)
    kind = np.repeat([part.kind for part in parts], [len(part) for part in parts]).astype(np.uint8)
    table = EventTable(
        time=np.concatenate([part.time for part in parts]),
        duration=np.concatenate([part.duration for part in parts]),
        kind=kind,
        name=name,
        place=place,
        detail=detail,
        source=np.concatenate([np.arange(len(part), dtype=np.int64) for part in parts]),
        wave=np.concatenate([part.wave for part in parts]),
        texts=texts,
    )
    return of_rows(table, np.lexsort((-table.duration, kind, table.time)))


def _coded(parts: Sequence[_Part]) -> tuple[list[np.ndarray], tuple[str, ...]]:
    """The three columns of words as numbers of one sorted list."""
    words = [word for part in parts for word in part.words]
    every = [text for texts, _ in words for text in texts]
    unique = sorted(set(every))
    number = {text: at for at, text in enumerate(unique)}
    codes = [np.array([number[text] for text in texts], np.int32) for texts, _ in words]
    rows = [
        code[row] if len(code) else np.zeros(0, np.int32) for code, (_, row) in zip(codes, words, strict=True)
    ]
    return [np.concatenate(rows[i::3]) for i in range(3)], tuple(unique)


def _none(n: int) -> np.ndarray:
    return np.full(n, -1, dtype=np.int64)


def _dispatches(trace: Trace) -> _Part:
    found, n = trace.dispatches, len(trace.dispatches)
    each = np.arange(n)
    names = dispatch_names(trace)
    places = [_queue(one.se, one.me, one.pipe) for one in found]
    details = [dispatch_facts(one) for one in found]
    time = np.array([one.time for one in found], dtype=np.int64)
    words = ((names, each), (places, each), (details, each))
    return _Part(EntryKind.DISPATCH, time, _none(n), _none(n).astype(np.int32), words)


def _events(trace: Trace) -> _Part:
    events = trace.events
    if events is None:
        nothing = np.zeros(0, dtype=np.int64)
        return _Part(EntryKind.EVENT, nothing, nothing, nothing.astype(np.int32), (((), nothing),) * 3)
    kinds, kind = _unique(events.kind)
    places, place = _unique(events.se, events.me, events.pipe)
    details, detail = _unique(events.flags)
    payload, own = np.unique(events.payload, return_inverse=True)
    both, row = _unique(detail, own.reshape(-1))
    facts = [("bottom of pipe" if details[d][0] & 2 else "", int(payload[p])) for d, p in both]
    texts = [", ".join(filter(None, (flag, f"payload {load:#x}" if load else ""))) for flag, load in facts]
    n = len(events.time)
    words = (
        ([event_text(one) for (one,) in kinds], kind),
        ([_queue(*one) for one in places], place),
        (texts, row),
    )
    return _Part(EntryKind.EVENT, events.time, lasting(events), _none(n).astype(np.int32), words)


def _queue(se: int, me: int, pipe: int) -> str:
    return f"SE {se} · ME {me} · pipe {pipe}"


def _markers(trace: Trace, spans: MarkerSpans) -> _Part:
    places, place = _slots(trace, spans)
    details, detail = _unique(spans.kind, spans.depth, spans.is_open, spans.name_id)
    texts = [
        marker_facts(MarkerKind(kind), depth, bool(is_open), spans.sources[name])
        for kind, depth, is_open, name in details
    ]
    length = np.where(spans.is_point, NO_DURATION, spans.end - spans.begin)
    words = ((spans.names, spans.name_id), (places, place), (texts, detail))
    return _Part(EntryKind.MARKER, spans.begin, length, spans.wave, words)


def marker_facts(kind: MarkerKind, depth: int, is_open: bool, source: str) -> str:
    """Return `function, depth 1, still open, a.py:3`."""
    facts = [MARKER_TEXT[kind], f"depth {depth}"]
    if is_open:
        facts.append("still open")
    return ", ".join([*facts, source] if source else facts)


def _values(trace: Trace, spans: MarkerSpans) -> _Part:
    records = spans.records
    places, place = _slots(trace, records)
    action = actions(spans)
    target = np.where(spans.span_of_record >= 0, spans.span_of_record, 0)
    name_id = spans.name_id[target] if len(spans) else np.zeros(len(records), dtype=np.int32)
    name_id = np.where(spans.span_of_record >= 0, name_id, -1)
    names, name = _unique(action, name_id)
    values, value = _unique(records.value, records.flags & 3)
    words = (
        ([f"{ACTIONS[a]} {spans.names[n] if n >= 0 else ''}".rstrip() for a, n in names], name),
        (places, place),
        ([", ".join(filter(None, (f"{one:#010x}", _FLAGS[flags]))) for one, flags in values], value),
    )
    return _Part(EntryKind.SHADER, records.time, _none(len(records)), records.wave, words)


ACTIONS = ("value", "data word", "closes nothing", "leave", "enter", "change to", "at")


def actions(spans: MarkerSpans, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """What each value does, a place in ACTIONS, int64; of some rows of the records."""
    records = spans.records
    bits = records.value[rows] & (CLOSES | OPENS)
    means = np.array([6, 3, 4, 5])[bits]  # at, leave, enter, change to
    alone = np.where(spans.is_orphan[rows], 2, 0)
    return np.where(records.is_data[rows], 1, np.where(spans.span_of_record[rows] >= 0, means, alone))


def record_text(spans: MarkerSpans, row: int) -> str:
    """Return `enter load: 0x0000000a` for a value, with its flags."""
    records, span = spans.records, int(spans.span_of_record[row])
    what = ACTIONS[int(actions(spans, np.array([row]))[0])]
    name = f" {spans.names[int(spans.name_id[span])]}" if span >= 0 else ""
    flags = _FLAGS[int(records.flags[row]) & 3]
    return f"{what}{name}: {int(records.value[row]):#010x}" + (f" ({flags})" if flags else "")


def _slots(trace: Trace, table: MarkerSpans | MarkerRecords) -> tuple[list[str], np.ndarray]:
    unique, row = _unique(table.se, table.sa, table.cu, table.simd, table.slot)
    texts = [
        f"SE {se}{f' · SA {sa}' if sa else ''} · {trace.unit_name} {cu} · SIMD {simd} · slot {slot}"
        for se, sa, cu, simd, slot in unique
    ]
    return texts, row


def _unique(*columns: np.ndarray) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """The different rows of some columns, and which one each row is."""
    if not len(columns[0]):
        return [], np.zeros(0, dtype=np.int64)
    place = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:  # one at a time: numbers of rows never overflow
        _, code = np.unique(column, return_inverse=True)
        _, place = np.unique(place * (int(code.max()) + 1) + code.reshape(-1), return_inverse=True)
        place = place.reshape(-1)
    _, first = np.unique(place, return_index=True)
    return list(zip(*(column[first].tolist() for column in columns), strict=True)), place


def has_entries(trace: Trace) -> bool:
    """Whether there is anything to list."""
    has_events = trace.events is not None and len(trace.events.time) > 0
    return has_events or bool(trace.dispatches) or any(len(data.time) for data in trace.shader_data)
