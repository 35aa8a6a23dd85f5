"""Names of a Perfetto trace, written once and then referenced by number, and the trace's tracks.

Numbers are from Perfetto's public protocol definitions: `TracePacket`, `TrackDescriptor`, `TrackEvent`,
`InternedData`, `DebugAnnotation`.  Field numbers never change there.
"""

from collections.abc import Iterable
from enum import IntEnum

from rcv_py.export.traces.packets import message, number, text
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
    own = message(COUNTER, text(6, unit))
    return _announced(uuid, number(PARENT, parent), text(NAME, name), own)


def _announced(uuid: int, *fields: bytes) -> bytes:
    return packet(message(DESCRIPTOR, number(UUID, uuid), *fields))
