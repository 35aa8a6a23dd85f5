"""Dispatches, hardware events, markers and shader data in a table by time; texts of hardware events."""

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import partial
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.events.marker_spans import CLOSES, OPENS, MarkerRecords, MarkerSpans, missing_words
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, distinct
from rcv_py.base.text import Message, count, join_texts, plural, short_kernel
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.device import Dispatch, HardwareEvents
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import MARKER_TEXT, EventKind, MarkerKind
from rcv_py.model.trace import Trace


class EventGroup(Value):
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

# Not relevant among the instructions of a compute unit.
NOT_ON_UNITS = (
    EventKind.SPM_SAMPLE,
    EventKind.CODE_OBJECT_LOAD,
    EventKind.CODE_OBJECT_UNLOAD,
    EventKind.CS_PARTIAL_FLUSH,
)

EVENT_TEXT = {int(kind): kind.text for kind in EventKind}
_ENDS = {
    EventKind.TT_STALL_BEGIN: EventKind.TT_STALL_END,
    EventKind.DIDT_STALL_BEGIN: EventKind.DIDT_STALL_END,
}


def lasting(events: HardwareEvents) -> np.ndarray:
    """Return the duration in cycles of each event that begins something, else -1; int64.

    It lasts to the first end of its kind on the same shader engine; without an end it is a moment.
    """
    length = np.full(len(events.time), -1, dtype=np.int64)
    for begin, end in _ENDS.items():
        for se in ascending(events.se[events.kind == begin]).tolist():
            opens = np.flatnonzero((events.kind == begin) & (events.se == se))
            closes = events.time[(events.kind == end) & (events.se == se)]
            at = np.searchsorted(closes, events.time[opens])
            known = at < len(closes)
            length[opens[known]] = closes[at[known]] - events.time[opens[known]]
    return length


def group_of(kind: int) -> str:
    """The id of the group of an event type; unknown types are `other`."""
    return GROUP_OF.get(kind, OTHER)


def event_text(kind: int) -> str:
    """A short text for an event type."""
    return EVENT_TEXT.get(kind) or Message("event of type {0}", kind)


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

    It launched the wave, if the pipe starts its dispatches in order.
    """
    mine = [one for one in dispatches if one.time <= time and (one.se, one.me, one.pipe) == (se, me, pipe)]
    return mine[-1] if mine else None


def dispatch_names(trace: Trace) -> list[str]:
    """Return the kernel of each dispatch, without arguments, as in other views."""
    names = {kernel.name: kernel.demangled for kernel in trace.code.kernels}
    return [short_kernel(names.get(one.name, one.name)) for one in trace.dispatches]


NO_DURATION = -1
MAX_WORDS = 4  # of payload, that a text lists
_FLAGS = ("", "immediate", "privileged", "immediate, privileged")


EntryKind = IntEnum("EntryKind", "DISPATCH EVENT MARKER SHADER", start=0)  # the type of a row
ENTRY_TEXT = {kind: kind.name.lower() for kind in EntryKind}


class EventTable(ColumnTable):
    """One row an entry, sorted by (time, kind).  Texts are indices into `texts`, which is sorted."""

    time: np.ndarray  # int64, cycles, aligned
    duration: np.ndarray  # int64, cycles; NO_DURATION if it has none
    kind: np.ndarray  # uint8, EntryKind
    name: np.ndarray  # int32
    place: np.ndarray  # int32
    detail: np.ndarray  # int32
    source: np.ndarray  # int64, row of the dispatches, events, spans or records
    wave: np.ndarray  # int32, row of the wave index, -1 if none
    texts: tuple[str, ...]

    def cells(self, row: int) -> tuple[int, int | None, str, str, str, str]:
        """Time, duration, kind, name, place and detail as plain values."""
        length = int(self.duration[row])
        name, place, detail = (
            self.texts[int(column[row])] for column in (self.name, self.place, self.detail)
        )
        kind = ENTRY_TEXT[EntryKind(int(self.kind[row]))]
        return int(self.time[row]), None if length < 0 else length, kind, name, place, detail


class _Part(NamedTuple):
    """Events of one kind, a row each."""

    kind: EntryKind
    time: np.ndarray
    duration: np.ndarray
    wave: np.ndarray
    words: tuple[tuple[Sequence[str], np.ndarray], ...]  # name, place, detail: texts, and an index a row


def event_table(trace: Trace, spans: MarkerSpans | None) -> EventTable:
    """Return the table of all events of a trace; `spans` None leaves out markers."""
    parts = [_dispatches(trace), *(() if trace.events is None else (_events(trace.events),))]
    if spans is not None:
        parts += [_markers(trace, spans), _values(trace, spans)]
    texts = tuple(sorted({text for part in parts for column, _ in part.words for text in column}))
    number = {text: at for at, text in enumerate(texts)}

    def table(part: _Part) -> EventTable:
        n = len(part.time)
        kind, wave = np.full(n, part.kind, dtype=np.uint8), part.wave.astype(np.int32)
        words = (np.array([number[text] for text in column], np.int32)[row] for column, row in part.words)
        columns = dict(zip(("name", "place", "detail"), words, strict=True))
        columns |= {"source": np.arange(n), "wave": wave}
        return EventTable(part.time, part.duration, kind, **columns, texts=texts)

    entries = joined([table(part) for part in parts])
    return entries.at(np.lexsort((-entries.duration, entries.kind, entries.time)))


def _dispatches(trace: Trace) -> _Part:
    dispatches, each = trace.dispatches, np.arange(len(trace.dispatches))
    time = np.array([one.time for one in dispatches], dtype=np.int64)
    words = (
        (dispatch_names(trace), each),
        ([_queue(one.se, one.me, one.pipe) for one in dispatches], each),
        ([dispatch_facts(one) for one in dispatches], each),
    )
    return _Part(EntryKind.DISPATCH, time, np.full_like(time, NO_DURATION), np.full_like(time, -1), words)


def _events(events: HardwareEvents) -> _Part:
    details = _words(
        lambda flags, payload: join_texts(
            ", ",
            [*["bottom of pipe"] * (flags >> 1 & 1), *[Message("payload {0:#x}", payload)] * bool(payload)],
        ),
        events.flags,
        events.payload,
    )
    words = (_words(event_text, events.kind), _words(_queue, events.se, events.me, events.pipe), details)
    return _Part(EntryKind.EVENT, events.time, lasting(events), np.full_like(events.time, -1), words)


def _queue(se: int, me: int, pipe: int) -> str:
    return Message("{0} ME{1} pipe {2}", place_name(se), me, pipe)


def _markers(trace: Trace, spans: MarkerSpans) -> _Part:
    def text(kind: int, depth: int, is_open: bool, name: int) -> str:
        facts = (
            MARKER_TEXT[MarkerKind(kind)],
            Message("depth {0}", depth),
            "still open" * is_open,
            spans.sources[name],
        )
        return join_texts(", ", filter(None, facts))

    details = _words(text, spans.kind, spans.depth, spans.is_open, spans.name_id)
    details = _with_payload(spans, *details)
    length = np.where(spans.is_point, NO_DURATION, spans.end - spans.begin)
    words = ((spans.names, spans.name_id), _slots(trace, spans), details)
    return _Part(EntryKind.MARKER, spans.begin, length, spans.wave, words)


def _with_payload(spans: MarkerSpans, texts: list[str], row: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The details of markers, with the data words that follow some of them."""
    records = spans.records
    heads = np.flatnonzero(records.words > 0)
    row, more = row.copy(), list(texts)
    there = (records.words - missing_words(records))[heads]
    for head, words in zip(heads.tolist(), there.tolist(), strict=True):
        span = int(spans.span_of_record[head])
        if span < 0:
            continue
        values = records.value[head + 1 : head + 1 + min(words, MAX_WORDS)].tolist()
        shown = ", ".join(map(str, values)) if words <= MAX_WORDS else plural(words, "word")
        detail = Message("{0}, payload {1}", texts[int(row[span])], shown or "missing")
        row[span] = len(more)
        more.append(detail)
    return more, row


def _values(trace: Trace, spans: MarkerSpans) -> _Part:
    records = spans.records
    name_id = np.append(spans.name_id, -1)[spans.span_of_record]
    words = (
        _words(lambda action, name: _record_name(spans, action, name), actions(spans), name_id),
        _slots(trace, records),
        _words(
            lambda value, flags: ", ".join(filter(None, (f"{value:#010x}", _FLAGS[flags]))),
            records.value,
            records.flags & 3,
        ),
    )
    nothing = np.full_like(records.time, NO_DURATION)
    return _Part(EntryKind.SHADER, records.time, nothing, records.wave, words)


def _record_name(spans: MarkerSpans, action: int, name: int) -> str:
    return Message("{0} {1}", ACTIONS[action], spans.names[name]) if name >= 0 else ACTIONS[action]


ACTIONS = ("value", "data word", "closes nothing", "leave", "enter", "change to", "at")


def actions(spans: MarkerSpans, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """The action of each value, an index into ACTIONS, int64; for some rows of the records."""
    records = spans.records
    bits = records.value[rows] & (CLOSES | OPENS)
    means = np.array([6, 3, 4, 5])[bits]  # at, leave, enter, change to
    alone = np.where(spans.is_orphan[rows], 2, 0)
    return np.where(records.is_data[rows], 1, np.where(spans.span_of_record[rows] >= 0, means, alone))


def record_text(spans: MarkerSpans, row: int) -> str:
    """Return `enter load: 0x0000000a` for a value, with its flags."""
    records, span = spans.records, int(spans.span_of_record[row])
    action = int(actions(spans, np.array([row]))[0])
    name = _record_name(spans, action, int(spans.name_id[span]) if span >= 0 else -1)
    flags = _FLAGS[int(records.flags[row]) & 3]
    return f"{name}: {int(records.value[row]):#010x}" + (f" ({flags})" if flags else "")


def _slots(trace: Trace, table: MarkerSpans | MarkerRecords) -> tuple[list[str], np.ndarray]:
    text = partial(place_name, unit=trace.architecture.unit_name)
    return _words(text, table.se, table.sa, table.cu, table.simd, table.slot)


def _words(text: Callable[..., str], *columns: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The texts of the distinct rows of some columns, and the index of each row's text."""
    first, row = distinct(*columns)
    return list(map(text, *(column[first].tolist() for column in columns))), row
