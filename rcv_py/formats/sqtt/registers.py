"""Interpret register writes in a stream: launches, loads and unloads of code, and the constant clock.

Each family collects the writes of its stream as columns; their meaning is the same for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from rcv_py.base.record import Value
from rcv_py.formats.sqtt.records import CodeObjectRecord, DispatchRecord
from rcv_py.model.columns import ColumnTable

# places in the space of compute registers
INITIATOR = 0x0
THREADS = (0x7, 0x8, 0x9)
ENTRY_LOW, ENTRY_HIGH = 0xC, 0xD
PACKET_LOW, PACKET_HIGH = 0xE, 0xF
RESOURCES_1, RESOURCES_2 = 0x12, 0x13
NOWHERE = 0x7F  # gfx9 writes events there

USER_DATA_2, USER_DATA_3 = 0xC342, 0xC343  # where tools write user data, in any space
MAGIC = 0x434F5200  # "\0ROC": AMD's tools write the words after it
CODE_OBJECT, CLOCK, AGENT_INFO, CLOCK_LOW = 4, 5, 6, 7  # kinds of a header
TAIL, SIZE_LOW, ADDRESS_LOW, ADDRESS_HIGH, SIZE_HIGH, ID_LOW, ID_HIGH = range(7)
PARTS = {  # part of a code object's facts → which fact, which half of its 64 bits
    SIZE_LOW: ("size", 0), ADDRESS_LOW: ("address", 0), ID_LOW: ("id", 0),
    SIZE_HIGH: ("size", 32), ADDRESS_HIGH: ("address", 32), ID_HIGH: ("id", 32),
}  # fmt: skip
ENTRY_MASK = (1 << 48) - 1
HALF = (1 << 32) - 1


class RegisterWrites(ColumnTable):
    """Writes to registers, in the order of the stream.  A launch of RDNA is a write of 1 to INITIATOR."""

    time: np.ndarray  # int64, cycles
    address: np.ndarray  # uint16, of the compute space or of the other
    value: np.ndarray  # uint32
    me: np.ndarray  # uint8
    pipe: np.ndarray  # uint8, 0…3
    is_compute: np.ndarray  # bool: the address counts in the space of compute registers


@dataclass(frozen=True, slots=True, eq=False)
class Dispatches(Sequence[DispatchRecord]):
    """Launches as columns; records are made on access: a damaged stream may hold millions."""

    columns: dict[str, np.ndarray]  # field of a record → whole numbers [n]
    threads: np.ndarray  # int64 [n, 3]

    def __len__(self) -> int:
        return len(self.threads)

    @overload
    def __getitem__(self, at: int) -> DispatchRecord: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[DispatchRecord]: ...
    def __getitem__(self, at: int | slice) -> DispatchRecord | Sequence[DispatchRecord]:
        if isinstance(at, slice):
            return [self[row] for row in range(*at.indices(len(self)))]
        facts = {name: int(column[at]) for name, column in self.columns.items()}
        x, y, z = map(int, self.threads[at])
        return DispatchRecord(**facts, workgroup_size=(x, y, z))


class Markers(Value):
    """The data that the recording tool wrote into the stream."""

    code_objects: tuple[CodeObjectRecord, ...]
    realtime: np.ndarray  # int64 [n, 2]: cycles, ticks of the constant clock
    frequency: int  # Hz of the constant clock, 0 if unknown
    interval: int  # cycles between two counter samples of gfx9, 0 if unknown


def dispatches(writes: RegisterWrites, version: int) -> Sequence[DispatchRecord]:
    """Return the launches; `version` is the version of the stream's layout, 0 for gfx9.

    Sizes are from the registers of the launching ME and pipe: registers in the smallest allocation granule,
    LDS in bytes, work-items in each direction.
    """
    rows = np.flatnonzero(writes.is_compute & (writes.address == INITIATOR) & (writes.value & 1 == 1))
    if not len(rows):
        return ()
    first, second = _latest(writes, RESOURCES_1, rows), _latest(writes, RESOURCES_2, rows)
    scale = 2 if version >= 5 else 1
    lds = (second >> 15 & 0x1FF) * 512
    columns = {
        "time": writes.time[rows],
        "me": writes.me[rows],
        "pipe": writes.pipe[rows],
        "entry": _wide(writes, (ENTRY_LOW, ENTRY_HIGH), rows) << np.uint64(8) & np.uint64(ENTRY_MASK),
        "vgprs": ((first & 0x3F) * 8 + 8) * scale,
        "sgprs": (first >> 7 & 7) * 16 + 16 if version <= 1 else np.full(len(rows), 128),
        "user_sgprs": second >> 1 & 0x1F,
        "lds_size": lds * 10 // 4 if version == 1 else lds * scale,
        "packet": _wide(writes, (PACKET_LOW, PACKET_HIGH), rows),
        "flags": first >> 10 & 3 | (first >> 14 & 1) << 2 | (second & 1) << 3,
    }
    return Dispatches(columns, np.stack([_latest(writes, place, rows) for place in THREADS], axis=1))


def _latest(writes: RegisterWrites, address: int, rows: np.ndarray) -> np.ndarray:
    """The value of a register before some writes, by any ME and pipe; 0 before any."""
    return _held(writes, np.flatnonzero(writes.is_compute & (writes.address == address)), rows)


def _held(writes: RegisterWrites, wrote: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The last value that writes `wrote` gave before some writes, int64, 0 before any."""
    values = np.append(writes.value[wrote].astype(np.int64), 0)
    return values[np.searchsorted(wrote, rows) - 1]


def _wide(writes: RegisterWrites, addresses: tuple[int, int], rows: np.ndarray) -> np.ndarray:
    """The 64 bits, as uint64, of a register pair before some writes, by the ME and pipe of each.

    Of an ME only the lowest bit counts.
    """
    queue = (writes.me.astype(np.int16) & 1) << 8 | writes.pipe.astype(np.int16)
    held = np.zeros(len(rows), dtype=np.int64)
    for address, shift in zip(addresses, (0, 32), strict=True):
        is_it = writes.is_compute & (writes.address == address)
        for one in np.unique(queue[rows]):
            asks = queue[rows] == one
            held[asks] |= _held(writes, np.flatnonzero(is_it & (queue == one)), rows[asks]) << shift
    return held.view(np.uint64)


def markers(writes: RegisterWrites) -> Markers:
    """Return the user data of AMD's tools; nothing without their mark: other programs write there too."""
    tool, clock = writes.address == USER_DATA_2, writes.address == USER_DATA_3
    begin = int(np.argmax(tool & (writes.value == MAGIC))) if len(writes) else 0
    if not len(writes) or not tool[begin] or writes.value[begin] != MAGIC:
        return Markers((), np.zeros((0, 2), dtype=np.int64), 0, 0)
    reader = _Reader()
    rows = begin + 1 + np.flatnonzero(tool[begin + 1 :] | clock[begin + 1 :])
    columns = writes.address, writes.time, writes.value, writes.me, writes.pipe
    for address, time, value, me, pipe in zip(*(column[rows].tolist() for column in columns), strict=True):
        reader.take(address, time, value, (me & 1, pipe))
    realtime = np.array(reader.realtime, dtype=np.int64).reshape(-1, 2)
    return Markers(tuple(reader.code_objects), realtime, reader.frequency, reader.interval)


class _Reader:
    """Parses two word protocols: of code objects and agents, and of the constant clock."""

    def __init__(self) -> None:
        self.code_objects: list[CodeObjectRecord] = []
        self.realtime: list[tuple[int, int]] = []
        self.frequency = 0
        self.interval = 0
        self._part = -1  # of a code object, whose word comes next
        self._facts: dict[tuple[str, tuple[int, int]], int] = {}  # fact, ME and pipe → 64 bits
        self._loaded: set[int] = set()
        self._words = 0  # of the clock, words still to read
        self._is_clock = False
        self._clock = [0, 0, 0]  # low half now, high half, low half when both were read

    def take(self, address: int, time: int, value: int, queue: tuple[int, int]) -> None:
        """Parse the next word."""
        if address == USER_DATA_3:
            self._take_clock(time, value)
        elif self._part < 0:
            self._take_header(value)
        else:
            part, self._part = self._part, -1
            if part == TAIL:
                self._take_tail(time, value, queue)
            elif part in PARTS:
                name, shift = PARTS[part]
                kept = self._facts.get((name, queue), 0) & ~(HALF << shift)
                self._facts[name, queue] = kept | value << shift

    def _take_header(self, value: int) -> None:
        opcode, kind, data = value & 0xFF, value >> 8 & 0xF, value >> 12
        if opcode == CODE_OBJECT and data == 0 and kind <= ID_HIGH:
            self._part = kind
        elif opcode == AGENT_INFO and kind == 0:
            self.frequency = data * 1000
        elif opcode == AGENT_INFO and kind == 1:
            self.interval = data

    def _take_tail(self, time: int, value: int, queue: tuple[int, int]) -> None:
        size, address, known = (self._facts.get((name, queue), 0) for name in ("size", "address", "id"))
        is_unload, number = bool(value & 1), value >> 2 or known
        if is_unload != (number in self._loaded):
            return  # reported twice
        (self._loaded.discard if is_unload else self._loaded.add)(number)
        record = CodeObjectRecord(time, number, address, size, is_unload, is_from_start=bool(value & 2))
        self.code_objects.append(record)

    def _take_clock(self, time: int, value: int) -> None:
        if self._words == 0:
            opcode, data = value & 0xFF, value >> 12
            self._is_clock = opcode in (CLOCK, CLOCK_LOW)
            self._words = data or {CLOCK: 3, CLOCK_LOW: 1}.get(opcode, 0)
            if opcode == CLOCK_LOW:
                self._clock[2] = self._clock[0]
            return
        self._words -= 1
        if self._words < len(self._clock):
            self._clock[self._words] = value if self._is_clock else self._clock[self._words]
        if self._words == 0 and self._is_clock:
            now, high, before = self._clock
            self._clock[1] = high + (now < before)
            self.realtime.append((time, now | (self._clock[1] & (HALF >> 1)) << 32))
