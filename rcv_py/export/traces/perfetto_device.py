"""Device activity for a Perfetto trace: kernels, dispatches, events, markers and curves."""

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.counters.counters import counters, raw_curve
from rcv_py.analysis.device.occupancy_curves import dispatch_curves, occupancy_curves
from rcv_py.analysis.events.event_table import EntryKind, EventTable, event_table
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base.text import Message, short_kernel
from rcv_py.export.traces import perfetto_rows as packets
from rcv_py.export.traces.perfetto_rows import DebugAnnotation, InternedNames, Slices, TraceClock, track
from rcv_py.model.ids import place_name
from rcv_py.model.trace import Trace

DEVICE = 1  # uuid and process of the device; places follow
_FIRST_TRACK = 1 << 18  # uuids of the device's own tracks
Places = Mapping[tuple[int, ...], int]  # the track of a place
_TITLES = {EntryKind.DISPATCH: "Dispatches", EntryKind.EVENT: "Events"}


class Device:
    """Everything that belongs to no single wave; computed on first use."""

    def __init__(self, trace: Trace, spans: MarkerSpans | None) -> None:
        self.trace, self.spans = trace, spans
        self._next = _FIRST_TRACK

    @cached_property
    def entries(self) -> EventTable:
        """Dispatches and hardware events."""
        return event_table(self.trace, None)

    @cached_property
    def kernels(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Name, starts and ends of the times in which a kernel had waves."""
        found = []
        for curve in dispatch_curves(self.trace.occupancy, self.trace.dispatches):
            some = (curve.steps.value > 0).astype(np.int8)
            change = np.diff(some, prepend=0, append=0)
            time = np.append(curve.steps.time, curve.steps.time[-1:])
            begin, end = time[np.flatnonzero(change == 1)], time[np.flatnonzero(change == -1)]
            found.append((short_kernel(curve.name) or Message("kernel {0}", curve.ids[0]), begin, end))
        return found

    @cached_property
    def curves(self) -> list[tuple[str, str, StepCurve]]:
        """Name, unit and values of each curve: resident waves, then the hardware's counters."""
        found: list[tuple[str, str, StepCurve]] = [
            (Message("resident waves, {0}", curve.name), "waves", curve.steps)
            for by in ("all", "se")
            for curve in occupancy_curves(self.trace, by)
        ]
        for counter in counters(self.trace).raw:
            for engine in np.unique(counter.samples.se).tolist():
                curve = raw_curve(counter, [engine])
                if len(curve.time):
                    found.append((f"{counter.name}, SE{engine}", counter.unit, curve))
        return found

    @property
    def begin(self) -> int:
        """The first time of anything, cycles."""
        times = [self.trace.span.begin] if self.trace.has_times else []
        times += [int(values.time.min()) for _, _, values in self.curves if len(values.time)]
        times += [int(self.entries.time.min())] if len(self.entries) else []
        return min(times, default=0)

    def packets(self, texts: InternedNames, scale: TraceClock, places: Places) -> Iterator[bytes]:
        """Yield everything, each track announced before its events."""
        for name, begin, end in self.kernels:
            uuid, announced = self._track(DEVICE, Message("kernel {0}", name))
            yield announced
            slices = Slices.on(uuid, texts.number(name), begin, end, category="kernel")
            yield from packets.slice_bytes(slices, scale)
        for kind, title in _TITLES.items():
            yield from self._lanes(texts, scale, kind, title)
        if self.spans is not None and len(self.spans):
            yield from self._markers(texts, scale, places, self.spans)
        for name, unit, values in self.curves:
            uuid = self._number()
            yield packets.counter_track(uuid, DEVICE, name, unit)
            yield packets.value_bytes(uuid, values.time, values.value, scale)

    def _lanes(self, texts: InternedNames, scale: TraceClock, kind: EntryKind, title: str) -> Iterator[bytes]:
        """Dispatches or events: instants on one track, intervals on as many tracks as overlaps need."""
        table = self.entries
        rows = np.flatnonzero(table.kind == kind)
        lasts = table.duration[rows] > 0
        for group, chosen in (("", rows[~lasts]), (" that last", rows[lasts])):
            if not len(chosen):
                continue
            begin = table.time[chosen]
            end = begin + np.maximum(table.duration[chosen], 0)
            lane = lanes(begin, end) if group else None
            lane = np.zeros(len(chosen), np.uint8) if lane is None else lane
            for one in range(int(lane.max()) + 1):
                uuid, announced = self._track(DEVICE, f"{title}{group}{f' {one + 1}' if one else ''}")
                yield announced
                own = np.flatnonzero(lane == one)
                slices = self._named(texts, uuid, chosen[own], begin[own], end[own])
                yield from (
                    packets.slice_bytes(slices, scale) if group else [packets.moment_bytes(slices, scale)]
                )

    def _named(
        self, texts: InternedNames, uuid: int, rows: np.ndarray, begin: np.ndarray, end: np.ndarray
    ) -> Slices:
        table = self.entries
        number = np.array([texts.number(text) if text else 0 for text in table.texts], dtype=np.int64)
        names = np.where(number[table.name[rows]] > 0, number[table.name[rows]], texts.number("event"))
        details = {DebugAnnotation.DETAIL: number[table.detail[rows]]}
        return Slices.on(uuid, names, begin, end, category="event", arguments=details)

    def _markers(
        self, texts: InternedNames, scale: TraceClock, places: Places, spans: MarkerSpans
    ) -> Iterator[bytes]:
        number = np.array(texts.numbers(spans.names) or [0], dtype=np.int64)
        slots = np.stack([spans.se, spans.sa, spans.cu, spans.simd, spans.slot]).astype(np.int64)
        unique, group = np.unique(slots, axis=1, return_inverse=True)
        for at, slot in enumerate(unique.T.tolist()):
            parent = places.get(tuple(slot[:4]), DEVICE)
            place = Message("slot {0}", slot[4]) if parent != DEVICE else place_name(*slot)
            uuid, announced = self._track(parent, Message("markers, {0}", place))
            yield announced
            rows = np.flatnonzero(group.reshape(-1) == at)
            names, begin, end = number[spans.name_id[rows]], spans.begin[rows], spans.end[rows]
            slices, is_point = Slices.on(uuid, names, begin, end, category="marker"), end <= begin
            if is_point.any():
                yield packets.moment_bytes(slices.at(is_point), scale)
            yield packets.nested_bytes(slices.at(~is_point), spans.depth[rows][~is_point], scale)

    def _track(self, parent: int, name: str) -> tuple[int, bytes]:
        uuid = self._number()
        return uuid, track(uuid, parent, name)

    def _number(self) -> int:
        self._next += 1
        return self._next


def device_names(device: Device, texts: InternedNames) -> None:
    """Number all names that `Device.packets` uses: they are defined before the first event."""
    texts.numbers(text for text in ("event", *device.entries.texts) if text)
    texts.numbers(name for name, _, _ in device.kernels)
    if device.spans is not None:
        texts.numbers(device.spans.names)
