"""Events of a Perfetto trace from columns: slices, moments and values of curves, thousands at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from rcv_py.export import perfetto_names as names
from rcv_py.export.packets import FIXED64, VARINT, Rows, number, tag
from rcv_py.export.perfetto_names import Argument

AT_ONCE = 1 << 16  # rows that are turned into bytes together; about 25 MB of memory
_TEXTS = (Argument.SOURCE, Argument.DETAIL)


@dataclass(frozen=True, slots=True)
class Scale:
    """From aligned cycles to the nanoseconds of the trace: `(cycle - origin) * ns`, rounded down."""

    origin: int
    ns: float  # of a cycle; exactly 1 writes cycles as if they were nanoseconds

    def __call__(self, cycles: np.ndarray) -> np.ndarray:
        """Return nanoseconds since the trace began, int64, never below 0."""
        since = np.maximum(cycles.astype(np.int64) - self.origin, 0)
        return since if self.ns == 1 else np.floor(since * self.ns).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Slices:
    """Spans, one row each; those of a track are in order and do not overlap.  Cycles are aligned."""

    track: np.ndarray  # int64, uuid
    name: np.ndarray  # int64, number of its text
    category: np.ndarray  # int64, 1-based place in CATEGORIES
    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles
    arguments: Mapping[Argument, np.ndarray] = field(default_factory=dict)  # numbers; of texts, 0: none
    starts: np.ndarray | None = None  # int64, number of the arrow that leaves it, 0: none
    arrives: tuple[np.ndarray, ...] = ()  # int64, numbers of arrows that end here, 0: none

    def __len__(self) -> int:
        return len(self.begin)

    def at(self, chosen: slice | np.ndarray) -> Slices:
        """Return some of the rows."""
        return Slices(
            *(column[chosen] for column in (self.track, self.name, self.category, self.begin, self.end)),
            {name: values[chosen] for name, values in self.arguments.items()},
            None if self.starts is None else self.starts[chosen],
            tuple(column[chosen] for column in self.arrives),
        )


def slice_bytes(slices: Slices, scale: Scale) -> Iterator[bytes]:
    """Yield the packets of all slices, some at a time: each begins and ends before the next one begins."""
    for first in range(0, len(slices), AT_ONCE):
        yield _slices(slices.at(slice(first, first + AT_ONCE)), scale)


def moment_bytes(slices: Slices, scale: Scale) -> bytes:
    """Return the packets of rows that have no duration."""
    rows = Rows(len(slices))
    _event(rows, _opening(slices, names.INSTANT), scale(slices.begin), is_named=True)
    return rows.tobytes()


def nested_bytes(slices: Slices, depth: np.ndarray, scale: Scale) -> bytes:
    """Return the packets of slices that lie inside of each other; `depth` counts what is around each."""
    opening, closing = Rows(len(slices)), Rows(len(slices))
    _event(opening, _opening(slices, names.SLICE_BEGIN), scale(slices.begin), is_named=True)
    _event(closing, _closing(slices.track), scale(slices.end), is_named=False)
    packets = _cut(opening) + _cut(closing)
    time = np.concatenate([slices.begin, slices.end])
    is_begin = np.repeat([True, False], len(slices))
    inner = np.concatenate([depth, -depth.astype(np.int64)])
    order = np.lexsort((inner, is_begin, time))  # at one time: first what ends, the innermost first
    return b"".join(packets[row] for row in order.tolist())


def value_bytes(track: int, time: np.ndarray, value: np.ndarray, scale: Scale) -> bytes:
    """Return the packets of a curve: `value[i]` holds from `time[i]` on."""
    rows, event = Rows(len(time)), Rows(len(time))
    event.put(number(names.TYPE, names.COUNTER_VALUE) + number(names.TRACK, track))
    if value.dtype.kind == "f":
        event.put(tag(names.REAL, FIXED64))
        event.fixed64(value.astype(np.float64))
    else:
        event.put(tag(names.COUNT, VARINT))
        event.varint(value)
    _event(rows, event, scale(time), is_named=False)
    return rows.tobytes()


def _slices(slices: Slices, scale: Scale) -> bytes:
    rows = Rows(len(slices))
    _event(rows, _opening(slices, names.SLICE_BEGIN), scale(slices.begin), is_named=True)
    _event(rows, _closing(slices.track), scale(slices.end), is_named=False)
    return rows.tobytes()


def _event(rows: Rows, event: Rows, ns: np.ndarray, *, is_named: bool) -> None:
    """Append a packet with an event; those that call names by number say so."""
    inner = Rows(rows.n)
    inner.put(tag(names.TIMESTAMP, VARINT))
    inner.varint(ns)
    flags = number(names.FLAGS, names.NEEDED) if is_named else b""
    inner.put(number(names.SEQUENCE, names.ONE_SEQUENCE) + flags)
    inner.nested(names.TRACK_EVENT, event)
    rows.nested(names.PACKET, inner)


def _opening(slices: Slices, kind: int) -> Rows:
    event = Rows(len(slices))
    event.put(number(names.TYPE, kind) + tag(names.TRACK, VARINT))
    event.varint(slices.track)
    event.put(tag(names.NAME_NUMBER, VARINT))
    event.varint(slices.name)
    event.put(tag(names.CATEGORY, VARINT))
    event.varint(slices.category)
    for argument, values in slices.arguments.items():
        _annotation(event, argument, values)
    if slices.starts is not None:
        _arrow(event, names.FLOW, slices.starts)
    for numbers in slices.arrives:
        _arrow(event, names.LAST_FLOW, numbers)
    return event


def _closing(track: np.ndarray) -> Rows:
    event = Rows(len(track))
    event.put(number(names.TYPE, names.SLICE_END) + tag(names.TRACK, VARINT))
    event.varint(track)
    return event


def _annotation(event: Rows, argument: Argument, values: np.ndarray) -> None:
    """An argument: a number, or the number of a text, which is left out where it is 0."""
    inner = Rows(event.n)
    inner.put(number(1, argument) + tag(17 if argument in _TEXTS else 4, VARINT))
    inner.varint(values)
    event.nested(names.ANNOTATION, inner, values > 0 if argument in _TEXTS else None)


def _arrow(event: Rows, field_: int, numbers: np.ndarray) -> None:
    has = numbers > 0
    if has.any():
        event.put(tag(field_, FIXED64), has)
        event.fixed64(numbers.astype(np.int64), has)


def _cut(rows: Rows) -> list[bytes]:
    data, stops = rows.tobytes(), np.cumsum(rows.length).tolist()
    return [data[first:stop] for first, stop in zip([0, *stops], stops, strict=False)]
