"""Events of a Perfetto trace from columns: slices, moments and values of curves, thousands at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rcv_py.export.traces import perfetto_names as names
from rcv_py.export.traces.packets import ByteRows, number
from rcv_py.export.traces.perfetto_names import DebugAnnotation
from rcv_py.model.columns import of_rows

AT_ONCE = 1 << 16  # rows that are turned into bytes together; about 25 MB of memory
_USUAL_ARROWS = 4  # on a slice: what AT_ONCE is meant for
_TEXTS = (DebugAnnotation.SOURCE, DebugAnnotation.DETAIL)  # numbers of them; 0 is left out


@dataclass(frozen=True, slots=True)
class TraceClock:
    """From aligned cycles to the nanoseconds of the trace: `(cycle - origin) * ns`, rounded down."""

    origin: int
    ns: float  # of a cycle; exactly 1 writes cycles as if they were nanoseconds

    def __call__(self, cycles: np.ndarray) -> np.ndarray:
        """Return nanoseconds since the trace began, int64, never below 0."""
        since = np.maximum(cycles.astype(np.int64) - self.origin, 0)
        return since if self.ns == 1 else np.floor(since * self.ns).astype(np.int64)


class FlowEnds(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class Slices:
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
        group = np.full(len(begin), names.CATEGORIES.index(category) + 1)
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

    def __len__(self) -> int:
        return len(self.begin)

    def at(self, chosen: slice | np.ndarray) -> Slices:
        """Return some of the rows."""
        return replace(
            of_rows(self, chosen),
            arguments={name: values[chosen] for name, values in self.arguments.items()},
            leaves=self.leaves.at(chosen, len(self)),
            arrives=self.arrives.at(chosen, len(self)),
        )


def slice_bytes(slices: Slices, scale: TraceClock) -> Iterator[bytes]:
    """Yield the packets of all slices in batches: each slice begins and ends before the next begins."""
    ends = slices.leaves.max_on_row + slices.arrives.max_on_row
    step = max(1, AT_ONCE * _USUAL_ARROWS // max(_USUAL_ARROWS, ends))  # every arrow of a row widens all rows
    for first in range(0, len(slices), step):
        part = slices.at(slice(first, first + step))
        rows = ByteRows(len(part))
        _event(rows, _opening(part, names.SLICE_BEGIN), scale(part.begin), is_named=True)
        _event(rows, _closing(part.track), scale(part.end), is_named=False)
        yield rows.tobytes()


def moment_bytes(slices: Slices, scale: TraceClock) -> bytes:
    """Return the packets of rows that have no duration."""
    rows = ByteRows(len(slices))
    _event(rows, _opening(slices, names.INSTANT), scale(slices.begin), is_named=True)
    return rows.tobytes()


def nested_bytes(slices: Slices, depth: np.ndarray, scale: TraceClock) -> bytes:
    """Return the packets of nested slices; `depth` counts the enclosing slices of each."""
    opening, closing = ByteRows(len(slices)), ByteRows(len(slices))
    _event(opening, _opening(slices, names.SLICE_BEGIN), scale(slices.begin), is_named=True)
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
    event.put(number(names.TYPE, names.COUNTER_VALUE) + number(names.TRACK, track))
    if value.dtype.kind == "f":
        event.fixed64(names.REAL, value.astype(np.float64))
    else:
        event.number(names.COUNT, value)
    _event(rows, event, scale(time), is_named=False)
    return rows.tobytes()


def _event(rows: ByteRows, event: ByteRows, ns: np.ndarray, *, is_named: bool) -> None:
    """Append a packet with an event; packets that reference names by number are flagged."""
    inner = ByteRows(rows.n)
    inner.number(names.TIMESTAMP, ns)
    flags = number(names.FLAGS, names.NEEDED) if is_named else b""
    inner.put(number(names.SEQUENCE, names.ONE_SEQUENCE) + flags)
    inner.nested(names.TRACK_EVENT, event)
    rows.nested(names.PACKET, inner)


def _opening(slices: Slices, kind: int) -> ByteRows:
    event = ByteRows(len(slices))
    event.put(number(names.TYPE, kind))
    event.number(names.TRACK, slices.track)
    event.number(names.NAME_NUMBER, slices.name)
    event.number(names.CATEGORY, slices.category)
    for argument, values in slices.arguments.items():
        is_text = argument in _TEXTS
        inner = ByteRows(len(slices))
        inner.put(number(1, argument))
        inner.number(17 if is_text else 4, values)
        event.nested(names.ANNOTATION, inner, values > 0 if is_text else None)
    for field_, arrows in ((names.FLOW, slices.leaves), (names.LAST_FLOW, slices.arrives)):
        for numbers in arrows.columns(len(slices)):
            event.fixed64(field_, numbers, numbers > 0)
    return event


def _closing(track: np.ndarray) -> ByteRows:
    event = ByteRows(len(track))
    event.put(number(names.TYPE, names.SLICE_END))
    event.number(names.TRACK, track)
    return event


def _cut(rows: ByteRows) -> list[bytes]:
    data, stops = rows.tobytes(), np.cumsum(rows.length).tolist()
    return [data[first:stop] for first, stop in zip([0, *stops], stops, strict=False)]
