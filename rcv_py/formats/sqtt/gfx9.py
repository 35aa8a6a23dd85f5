"""Decode streams of gfx9 (MI100 to MI350): turn the kernel's columns and noted tokens into records."""

import numpy as np

from rcv_py.base.machine.compiled import IS_COMPILED
from rcv_py.base.progress import checkpoint
from rcv_py.formats.input.columns import frozen
from rcv_py.formats.sqtt import gfx9_walk as kernel
from rcv_py.formats.sqtt.records import DecodedStream, Give, joined
from rcv_py.formats.sqtt.registers import NOWHERE, RegisterWrites, dispatches, markers
from rcv_py.formats.sqtt.walked import IS_FULL, Walked
from rcv_py.model.kinds import EventKind

HEADER = 8  # bytes that the recording tool puts in front
STRETCH = 1 << (18 if IS_COMPILED else 14)  # bytes between two checks for cancellation
FLUSH = 7  # written to NOWHERE
USER_DATA = 3  # type of a token for registers that is not a write
LOSES = 2
EVENT = {  # values of a token of type MISC
    LOSES: EventKind.PACKET_LOSS,
    4: EventKind.TT_STALL_BEGIN,
    5: EventKind.TT_STALL_END,
    6: EventKind.SAVE_CONTEXT,
}


def decode_gfx9(data: np.ndarray, give: Give) -> DecodedStream:
    """Return the records of a stream but its waves, which are given away as soon as they are over.

    `data` is uint8, the file with its header of 8 bytes.
    """
    head = int.from_bytes(data[:HEADER].tobytes(), "little")
    cu = head >> 20 & 31
    walked = Walked(kernel.SIZE, cu, -1, give)
    _walk(data.view(np.int8), walked, cu)
    notes, state = walked.notes(), walked.state
    tokens = _Tokens(data, notes[:, 1], notes[:, 2])
    writes = tokens.writes()
    said = markers(writes)
    return DecodedStream(
        gfxip=9,
        version=head >> 13 & 7,
        se=head >> 26 & 63,
        cu=cu,
        simds=head >> 16 & 15,
        waves=joined(()),
        occupancy=walked.occupancy(-1),
        realtime=frozen(said.realtime),
        frequency=said.frequency,
        dispatches=dispatches(writes, 0),
        code_objects=said.code_objects,
        events=frozen(tokens.events()),
        counters=frozen(_with_silence(tokens.counters(), said.interval)),
        shader_data=frozen(tokens.shader_data()),
        tokens=int(state[kernel.TOKENS]),
        has_lost_data=bool(state[kernel.HAS_LOST]),
        is_truncated=bool(state[kernel.IS_TRUNCATED]),
    )


def _walk(data: np.ndarray, walked: Walked, cu: int) -> None:
    state = walked.state
    state[[kernel.POSITION, kernel.CONSUMED, kernel.PHASE, kernel.CU]] = HEADER, -1, 15, cu
    stop = HEADER
    while state[kernel.POSITION] < len(data) and not state[kernel.IS_TRUNCATED]:
        if state[IS_FULL]:
            walked.empty()
        else:
            checkpoint()
            stop = min(int(state[kernel.POSITION]) + STRETCH, len(data))
        kernel.walk(data, stop, state, walked.columns)
    walked.empty()
    kernel.walk(data, stop, state, walked.columns)  # ends what the stream does not end
    walked.empty()


class _Tokens:
    """The tokens that the kernel noted, read a type at a time."""

    def __init__(self, data: np.ndarray, time: np.ndarray, byte: np.ndarray) -> None:
        self._data, self._time, self._byte = data, time, byte
        self._type = data[byte] & 15
        self._is_compute = self._type % 10 == kernel.COMPUTE
        high = self._high = data[np.minimum(byte + 1, len(data) - 1)]  # the second byte
        is_write = (high >> 7 == 1) | (high >> 2 & 7 == USER_DATA)  # of a token for registers
        self._wrote = np.flatnonzero((self._type == kernel.REGISTER) & is_write | self._is_compute)

    def _number(self, rows: np.ndarray, first: int, count: int) -> np.ndarray:
        """Return bytes of tokens as a number, int64; bytes after the end of the stream repeat its last."""
        byte = self._byte[rows] + first
        number = np.zeros(len(rows), dtype=np.int64)
        for at in range(count):
            number |= self._data[np.minimum(byte + at, len(self._data) - 1)].astype(np.int64) << 8 * at
        return number

    def writes(self) -> RegisterWrites:
        """Return the writes to registers."""
        rows = self._wrote
        head, is_compute = self._number(rows, 0, 2), self._is_compute[rows]
        address = np.where(is_compute, head >> 9, self._number(rows, 2, 2))
        value = np.where(is_compute, self._number(rows, 2, 4), self._number(rows, 4, 4))
        return RegisterWrites(
            time=self._time[rows],
            address=address.astype(np.uint16),
            value=value.astype(np.uint32),
            me=(head >> 7 & 1 ^ 1).astype(np.uint8),
            pipe=(head >> 5 & 3).astype(np.uint8),
            is_compute=is_compute,
        )

    def events(self) -> np.ndarray:
        """Return events of the trace and of caches, int64 [n, 5] as in `DecodedStream`."""
        what = np.zeros(len(self._type), dtype=np.int64)
        said, is_misc = self._high >> 5, self._type == kernel.MISC
        for number, event in EVENT.items():
            what[is_misc & (said == number)] = event
        compute = np.flatnonzero(self._is_compute)
        is_flush = (self._number(compute, 0, 2) >> 9 == NOWHERE) & (self._number(compute, 2, 4) == FLUSH)
        what[compute[is_flush]] = EventKind.CS_PARTIAL_FLUSH
        rows = np.flatnonzero(what)
        head = np.where(is_misc[rows], 1 << 7, self._number(rows, 0, 2))  # ME 0, pipe 0
        queue, flags = (head >> 7 & 1 ^ 1, head >> 5 & 3), np.zeros(len(rows), np.int64)
        return np.stack([self._time[rows], what[rows], *queue, flags], axis=1)

    def counters(self) -> np.ndarray:
        """Return samples of counters, int64 [n, 7] as in `DecodedStream`."""
        rows = np.flatnonzero(self._type == kernel.COUNTS)
        low, high = self._number(rows, 0, 4), self._number(rows, 4, 4)
        cu = low >> 6 & 15
        counts = (low >> 12 & 0x1FFF, low >> 25 | (high & 0x3F) << 7, high >> 6 & 0x1FFF, high >> 19)
        both = np.stack([self._time[rows] - 4 * cu, *counts, cu, low >> 10 & 3], axis=1)
        return both[low >> 5 & 1 == 0]

    def shader_data(self) -> np.ndarray:
        """Return the data that programs wrote, int64 [n, 6] as in `DecodedStream`."""
        rows = np.flatnonzero(self._type == kernel.DATA)
        head, value = self._number(rows, 0, 2), self._number(rows, 2, 4)
        none = np.zeros(len(rows), dtype=np.int64)
        return np.stack([self._time[rows], value, head >> 6 & 15, head >> 14, head >> 10 & 15, none], axis=1)


def _with_silence(counters: np.ndarray, interval: int) -> np.ndarray:
    """Return samples, with a sample of zeros in each gap longer than the interval and after the last.

    The hardware sends no sample while nothing is counted; without an announced interval such gaps are
    unknown.
    """
    if not interval or not len(counters):
        return counters
    place = counters[:, 5] << 2 | counters[:, 6]
    order = np.argsort(place, kind="stable")
    time, is_last = counters[order, 0], np.append(np.diff(place[order]) != 0, True)
    is_silent = is_last | np.append(np.diff(time) > interval, True)
    rows = order[is_silent]
    silent = np.zeros((len(rows), 7), dtype=np.int64)
    silent[:, 0] = counters[rows, 0] + interval
    silent[:, 5:] = counters[rows, 5:]
    both = np.concatenate([counters, silent])
    return both[np.argsort(both[:, 0], kind="stable")]
