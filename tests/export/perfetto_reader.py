"""Reads a Perfetto trace as its trace_processor does: official message definitions, our own replay of tracks.

Strict where that is lenient: an unknown field, an end without a begin, a name without an explanation or an
arrow without two ends fails.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb


@dataclass
class Slice:
    track: int
    name: str
    category: str
    begin: int
    args: dict[str, Any]
    depth: int
    end: int = -1
    leaves: list[int] = field(default_factory=list)
    arrives: list[int] = field(default_factory=list)


@dataclass
class Read:
    tracks: dict[int, Any]
    slices: list[Slice]
    moments: list[Slice]
    values: dict[str, list[tuple[int, float]]]

    def parent(self, track: int) -> int:
        return int(self.tracks[track].parent_uuid)

    def title(self, track: int) -> str:
        one = self.tracks[track]
        return one.thread.thread_name or one.process.process_name or one.name

    @cached_property
    def _by_title(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for uuid in self.tracks:
            found[self.title(uuid)].append(uuid)
        return found

    def on(self, track: int) -> list[Slice]:
        return [one for one in self.slices if one.track == track]

    def track(self, title: str, parent: int | None = None) -> int:
        named = self._by_title.get(title, ())
        found = [uuid for uuid in named if parent is None or self.parent(uuid) == parent]
        assert len(found) == 1, (title, found)
        return found[0]


def read(data: bytes) -> Read:
    trace = pb.Trace.FromString(data)
    assert not len(UnknownFieldSet(trace))
    interned: dict[str, dict[int, str]] = {}
    tracks: dict[int, Any] = {}
    events = []
    for packet in trace.packet:
        for part in (packet, packet.track_event, packet.track_descriptor):
            assert not len(UnknownFieldSet(part))
        assert packet.trusted_packet_sequence_id == 1
        if packet.HasField("interned_data"):
            assert not interned, "explained once"
            assert packet.sequence_flags == 3
            for name in ("event_names", "event_categories", "debug_annotation_names"):
                interned[name] = {one.iid: one.name for one in getattr(packet.interned_data, name)}
            texts = packet.interned_data.debug_annotation_string_values
            interned["texts"] = {one.iid: one.str.decode() for one in texts}
        elif packet.HasField("track_descriptor"):
            own = packet.track_descriptor
            assert own.uuid not in tracks, "announced once"
            assert not own.parent_uuid or own.parent_uuid in tracks, "parents come first"
            tracks[own.uuid] = own
        else:
            assert packet.track_event.track_uuid in tracks, "tracks are announced before their events"
            events.append(packet)
    events.sort(key=lambda packet: packet.timestamp)  # stable, like trace_processor's
    return _replayed(events, tracks, interned)


def _replayed(events: list[Any], tracks: dict[int, Any], interned: dict[str, dict[int, str]]) -> Read:
    found = Read(tracks, [], [], defaultdict(list))
    stacks: dict[int, list[Slice]] = defaultdict(list)
    for packet in events:
        event = packet.track_event
        uuid, kind = event.track_uuid, event.type
        stack = stacks[uuid]
        if kind == pb.TrackEvent.TYPE_SLICE_END:
            stack.pop().end = packet.timestamp
        elif kind == pb.TrackEvent.TYPE_COUNTER:
            assert tracks[uuid].HasField("counter")
            value = (
                event.double_counter_value if event.HasField("double_counter_value") else event.counter_value
            )
            found.values[tracks[uuid].name].append((packet.timestamp, value))
        else:
            assert packet.sequence_flags & 2
            one = Slice(
                uuid,
                interned["event_names"][event.name_iid],
                interned["event_categories"][event.category_iids[0]],
                packet.timestamp,
                {_name(note, interned): _value(note, interned) for note in event.debug_annotations},
                len(stack),
                leaves=list(event.flow_ids),
                arrives=list(event.terminating_flow_ids),
            )
            if kind == pb.TrackEvent.TYPE_SLICE_BEGIN:
                stack.append(one)
                found.slices.append(one)
            else:
                assert kind == pb.TrackEvent.TYPE_INSTANT
                found.moments.append(one)
    assert not any(stacks.values()), "everything ends"
    return found


def _name(note: Any, interned: dict[str, dict[int, str]]) -> str:
    return interned["debug_annotation_names"][note.name_iid]


def _value(note: Any, interned: dict[str, dict[int, str]]) -> Any:
    return interned["texts"][note.string_value_iid] if note.HasField("string_value_iid") else note.int_value
