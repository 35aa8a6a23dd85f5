"""Packets of a Perfetto trace: names, written once and then referenced by number, tracks, and events.

Events come from columns, thousands at a time: slices, moments and values of curves.  Numbers are from
Perfetto's public protocol definitions, where they never change: `TracePacket`, `TrackDescriptor`,
`TrackEvent`, `InternedData`, `DebugAnnotation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum

import numpy as np
from msgspec import field
from msgspec.structs import replace

from rcv_py.base.record import Value
from rcv_py.export.traces.packets import ByteRows, message, number, text
from rcv_py.model.columns import ColumnTable
from rcv_py.model.kinds import TokenKind

PACKET = 1  # of Trace
TIMESTAMP, SEQUENCE, TRACK_EVENT, INTERNED, FLAGS, DESCRIPTOR = 8, 10, 11, 12, 13, 60  # of TracePacket
UUID, NAME, PROCESS, THREAD, PARENT, COUNTER = 1, 2, 3, 4, 5, 8  # of TrackDescriptor
CATEGORY, ANNOTATION, TYPE, NAME_NUMBER, TRACK = 3, 4, 9, 10, 11  # of TrackEvent
COUNT, REAL, FLOW, LAST_FLOW = 30, 44, 47, 48  # of TrackEvent: values of counters, arrows
SLICE_BEGIN, SLICE_END, INSTANT, COUNTER_VALUE = 1, 2, 3, 4  # TrackEvent.Type
CLEARED, NEEDED = 1, 2  # TracePacket.sequence_flags
ONE_SEQUENCE = 1


class DebugAnnotation(IntEnum):
    """The arguments of a slice besides its name; shown as `debug.line` and so on."""

    LINE = 1  # row of the program
    STALL = 2  # cycles it waited to issue
    CYCLE = 3  # when it began, aligned cycles
    CYCLES = 4  # how long it took
    SOURCE = 5  # path:line
    DETAIL = 6


CATEGORIES = (*(kind.name for kind in TokenKind), "state", "event", "kernel", "marker", "counter")


class InternedNames:
    """Texts that many events share; a text's number is the same in all of them."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a text, 1 or more."""
        return self._number.setdefault(name, len(self._number) + 1)

    def numbers(self, names: Iterable[str]) -> list[int]:
        """The numbers of texts."""
        return [self.number(name) for name in names]

    def packet(self) -> bytes:
        """The packet that defines all numbers; it must precede the first event."""
        names = [message(2, number(1, key), text(2, name)) for name, key in self._number.items()]
        # Texts of arguments are another table of the format, with the same numbers.
        names += [message(29, number(1, key), text(2, name)) for name, key in self._number.items()]
        names += [message(1, number(1, key), text(2, name)) for key, name in enumerate(CATEGORIES, 1)]
        names += [message(3, number(1, one.value), text(2, one.name.lower())) for one in DebugAnnotation]
        return packet(number(FLAGS, CLEARED | NEEDED), message(INTERNED, *names))


def packet(*fields: bytes) -> bytes:
    """Return a packet of the trace's only sequence."""
    return message(PACKET, *fields, number(SEQUENCE, ONE_SEQUENCE))


def process(uuid: int, pid: int, name: str) -> bytes:
    """Return the packet that declares a process: here a place of the device."""
    return _announced(uuid, message(PROCESS, number(1, pid), text(6, name)))


def thread(uuid: int, parent: int, pid: int, tid: int, name: str) -> bytes:
    """Return the packet that declares a thread: here a wave."""
    own = message(THREAD, number(1, pid), number(2, tid), text(5, name))
    return _announced(uuid, number(PARENT, parent), own)


def track(uuid: int, parent: int, name: str) -> bytes:
    """Return the packet that declares a track inside a process, a thread or another track."""
    return _announced(uuid, number(PARENT, parent), text(NAME, name))


def counter_track(uuid: int, parent: int, name: str, unit: str) -> bytes:
    """Return the packet that declares a curve."""
    return _announced(uuid, number(PARENT, parent), text(NAME, name), message(COUNTER, text(6, unit)))


def _announced(uuid: int, *fields: bytes) -> bytes:
    return packet(message(DESCRIPTOR, number(UUID, uuid), *fields))


AT_ONCE = 1 << 16  # rows that are turned into bytes together; about 25 MB of memory
_USUAL_ARROWS = 4  # on a slice: what AT_ONCE is meant for
_TEXTS = (DebugAnnotation.SOURCE, DebugAnnotation.DETAIL)  # numbers of them; 0 is left out


class TraceClock(Value):
    """From aligned cycles to the nanoseconds of the trace: `(cycle - origin) * ns`, rounded down."""

    origin: int
    ns: float  # of a cycle; exactly 1 writes cycles as if they were nanoseconds

    def __call__(self, cycles: np.ndarray) -> np.ndarray:
        """Return nanoseconds since the trace began, int64, never below 0."""
        since = np.maximum(cycles.astype(np.int64) - self.origin, 0)
        return since if self.ns == 1 else np.floor(since * self.ns).astype(np.int64)


class FlowEnds(Value):
    """Ends of arrows on rows of a table, by row; a row may have any number of them."""

    row: np.ndarray  # int64, ascending
    number: np.ndarray  # int64, of the arrow, from 1

    @classmethod
    def on(cls, row: np.ndarray, number: np.ndarray) -> FlowEnds:
        """Return arrows in order of their rows."""
        order = np.argsort(row, kind="stable")
        return cls(row[order], number[order])

    def at(self, chosen: slice | np.ndarray, rows: int) -> FlowEnds:
        """Return the arrows of some `rows` of the table, renumbered to the new rows."""
        place = np.full(rows, -1, dtype=np.int64)
        place[chosen] = np.arange(len(place[chosen]))
        moved = place[self.row]
        return FlowEnds.on(moved[moved >= 0], self.number[moved >= 0])

    @property
    def max_on_row(self) -> int:
        """The largest number of arrows on a row."""
        return int(np.bincount(self.row).max(initial=0))

    def columns(self, rows: int) -> Iterator[np.ndarray]:
        """Yield the first arrow of each row, then the second, and so on; 0 where there is none."""
        nth = np.arange(len(self.row)) - np.searchsorted(self.row, self.row)
        for at in range(self.max_on_row):
            own = nth == at
            column = np.zeros(rows, dtype=np.int64)
            column[self.row[own]] = self.number[own]
            yield column


NO_ARROWS = FlowEnds(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


class Slices(ColumnTable):
    """Spans, one row each; spans of a track are in order and do not overlap.  Cycles are aligned."""

    track: np.ndarray  # int64, uuid
    name: np.ndarray  # int64, number of its text
    category: np.ndarray  # int64, 1-based place in CATEGORIES
    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles
    arguments: Mapping[DebugAnnotation, np.ndarray] = field(default_factory=dict)  # of texts numbers, 0: none
    leaves: FlowEnds = NO_ARROWS  # that begin at a slice
    arrives: FlowEnds = NO_ARROWS  # that end at one

    @classmethod
    def on(
        cls,
        track: int | np.ndarray,
        name: int | np.ndarray,
        begin: np.ndarray,
        end: np.ndarray,
        *,
        category: str,
        arguments: Mapping[DebugAnnotation, np.ndarray] | None = None,
    ) -> Slices:
        """Return slices of one category, with their cycle and, unless there are other arguments, cycles."""
        group = np.full(len(begin), CATEGORIES.index(category) + 1)
        arguments = {DebugAnnotation.CYCLE: begin, **(arguments or {DebugAnnotation.CYCLES: end - begin})}
        shape = begin.shape
        return cls(
            track=np.broadcast_to(track, shape),
            name=np.broadcast_to(name, shape),
            category=group,
            begin=begin,
            end=end,
            arguments=arguments,
        )

    def at(self, rows: np.ndarray | slice) -> Slices:
        return replace(
            super().at(rows),
            arguments={name: values[rows] for name, values in self.arguments.items()},
            leaves=self.leaves.at(rows, len(self)),
            arrives=self.arrives.at(rows, len(self)),
        )


def slice_bytes(slices: Slices, scale: TraceClock) -> Iterator[bytes]:
    """Yield the packets of all slices in batches: each slice begins and ends before the next begins."""
    ends = slices.leaves.max_on_row + slices.arrives.max_on_row
    step = max(1, AT_ONCE * _USUAL_ARROWS // max(_USUAL_ARROWS, ends))  # every arrow of a row widens all rows
    for first in range(0, len(slices), step):
        part = slices.at(slice(first, first + step))
        rows = ByteRows(len(part))
        _event(rows, _opening(part, SLICE_BEGIN), scale(part.begin), is_named=True)
        _event(rows, _closing(part.track), scale(part.end), is_named=False)
        yield rows.tobytes()


def moment_bytes(slices: Slices, scale: TraceClock) -> bytes:
    """Return the packets of rows that have no duration."""
    rows = ByteRows(len(slices))
    _event(rows, _opening(slices, INSTANT), scale(slices.begin), is_named=True)
    return rows.tobytes()


def nested_bytes(slices: Slices, depth: np.ndarray, scale: TraceClock) -> bytes:
    """Return the packets of nested slices; `depth` counts the enclosing slices of each."""
    opening, closing = ByteRows(len(slices)), ByteRows(len(slices))
    _event(opening, _opening(slices, SLICE_BEGIN), scale(slices.begin), is_named=True)
    _event(closing, _closing(slices.track), scale(slices.end), is_named=False)
    packets = _cut(opening) + _cut(closing)
    time = np.concatenate([slices.begin, slices.end])
    is_begin = np.repeat([True, False], len(slices))
    inner = np.concatenate([depth, -depth.astype(np.int64)])
    order = np.lexsort((inner, is_begin, time))  # at one time: first what ends, the innermost first
    return b"".join(packets[row] for row in order.tolist())


def value_bytes(track: int, time: np.ndarray, value: np.ndarray, scale: TraceClock) -> bytes:
    """Return the packets of a curve: `value[i]` holds from `time[i]` on."""
    rows, event = ByteRows(len(time)), ByteRows(len(time))
    event.put(number(TYPE, COUNTER_VALUE) + number(TRACK, track))
    if value.dtype.kind == "f":
        event.fixed64(REAL, value.astype(np.float64))
    else:
        event.number(COUNT, value)
    _event(rows, event, scale(time), is_named=False)
    return rows.tobytes()


def _event(rows: ByteRows, event: ByteRows, ns: np.ndarray, *, is_named: bool) -> None:
    """Append a packet with an event; packets that reference names by number are flagged."""
    inner = ByteRows(rows.n)
    inner.number(TIMESTAMP, ns)
    flags = number(FLAGS, NEEDED) if is_named else b""
    inner.put(number(SEQUENCE, ONE_SEQUENCE) + flags)
    inner.nested(TRACK_EVENT, event)
    rows.nested(PACKET, inner)


def _opening(slices: Slices, kind: int) -> ByteRows:
    event = ByteRows(len(slices))
    event.put(number(TYPE, kind))
    event.number(TRACK, slices.track)
    event.number(NAME_NUMBER, slices.name)
    event.number(CATEGORY, slices.category)
    for argument, values in slices.arguments.items():
        is_text = argument in _TEXTS
        inner = ByteRows(len(slices))
        inner.put(number(1, argument))
        inner.number(17 if is_text else 4, values)
        event.nested(ANNOTATION, inner, values > 0 if is_text else None)
    for field_, arrows in ((FLOW, slices.leaves), (LAST_FLOW, slices.arrives)):
        for numbers in arrows.columns(len(slices)):
            event.fixed64(field_, numbers, numbers > 0)
    return event


def _closing(track: np.ndarray) -> ByteRows:
    event = ByteRows(len(track))
    event.put(number(TYPE, SLICE_END))
    event.number(TRACK, track)
    return event


def _cut(rows: ByteRows) -> list[bytes]:
    data, stops = rows.tobytes(), np.cumsum(rows.length).tolist()
    return [data[first:stop] for first, stop in zip([0, *stops], stops, strict=False)]
