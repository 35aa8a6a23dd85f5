"""Decode streams of gfx9 (MI100 to MI350): turn the kernel's columns and noted tokens into records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rcv_py.base.machine.compiled import IS_COMPILED
from rcv_py.base.progress import checkpoint
from rcv_py.formats.input.columns import frozen
from rcv_py.formats.sqtt import gfx9_walk as kernel
from rcv_py.formats.sqtt.records import DecodedStream, OccupancyRecords, WaveRecords
from rcv_py.formats.sqtt.registers import NOWHERE, RegisterWrites, dispatches, entries, markers
from rcv_py.model.kinds import EventKind

HEADER = 8  # bytes that the recording tool puts in front
STRETCH = 1 << (18 if IS_COMPILED else 14)  # bytes between two checks for cancellation
MOVED_ROWS = 1 << 16  # at once
SHORTEST = 4  # bytes of the tokens of a wave: a kind, once data are lost, and an end
FLUSH = 7  # written to NOWHERE
USER_DATA = 3  # type of a token for registers that is no write
LOSES = 2
EVENT = {  # values of a token of type MISC
    LOSES: EventKind.PACKET_LOSS,
    4: EventKind.TT_STALL_BEGIN,
    5: EventKind.TT_STALL_END,
    6: EventKind.SAVE_CONTEXT,
}


def decode_gfx9(data: np.ndarray) -> DecodedStream:
    """Return the records of a stream; `data` is uint8, the file with its header of 8 bytes."""
    head = int.from_bytes(data[:HEADER].tobytes(), "little")
    cu = head >> 20 & 31
    walk = _Walk(data.view(np.int8), cu)
    walk.count()
    walk.fill()
    tokens = _Tokens(data, walk.others[:, 0], walk.others[:, 1])
    writes = tokens.writes()
    said = markers(writes)
    starts = tokens.starts(writes)
    return DecodedStream(
        gfxip=9,
        version=head >> 13 & 7,
        se=head >> 26 & 63,
        cu=cu,
        simds=head >> 16 & 15,
        waves=walk.waves(cu, starts),
        occupancy=tokens.occupancy(starts),
        realtime=frozen(said.realtime),
        frequency=said.frequency,
        dispatches=dispatches(writes, 0),
        code_objects=said.code_objects,
        events=frozen(tokens.events()),
        counters=frozen(_with_silence(tokens.counters(), said.interval)),
        shader_data=frozen(tokens.shader_data()),
        tokens=int(walk.state[:16].sum()),
        has_lost_data=bool(walk.state[kernel.HAS_LOST]),
        is_truncated=bool(walk.state[kernel.IS_TRUNCATED]),
    )


class _Walk:
    """Two walks over a stream: their input and the columns that they fill."""

    def __init__(self, data: np.ndarray, cu: int) -> None:
        self._data = data
        self._cu = cu
        self._begin(False, np.zeros(0, dtype=np.int64), [0, 0, 0, 0], 0, np.int32)

    def _begin(
        self, fills: bool, facts: np.ndarray, sizes: Sequence[int], others: int, cycles: type[np.integer[Any]]
    ) -> None:
        records, segments, breaks, stalls = sizes
        self._rows = kernel.Rows(
            fills=fills,
            facts=facts,
            time=np.empty(records, np.int64),
            kind=np.empty(records, np.int8),
            stall=np.empty(records, cycles),
            duration=np.empty(records, cycles),
            did=np.full(segments, kernel.UNUSED, np.int8),
            lasted=np.empty(segments, cycles),
            breaks=np.full(2 * breaks, kernel.UNUSED_BREAK),
            stalls=np.empty(stalls, np.int64),
            others=np.empty(2 * others, np.int64),
        )
        self.state = np.zeros(kernel.SIZE, dtype=np.int64)
        self.state[kernel.WAVE : kernel.WAVE + kernel.SLOTS] = kernel.NEVER
        self.state[[kernel.POSITION, kernel.CONSUMED, kernel.PHASE, kernel.CU]] = HEADER, -1, 15, self._cu

    def _go(self) -> None:
        """Process the tokens, a stretch at a time."""
        is_cut = len(self._data) <= HEADER
        while not is_cut and self.state[kernel.POSITION] < len(self._data):
            checkpoint()
            begin = int(self.state[kernel.POSITION])
            stop = min(begin + STRETCH, len(self._data))
            facts = self._rows.facts
            most = int(self.state[kernel.WAVES]) + (stop - begin) // SHORTEST + kernel.SLOTS
            if not self._rows.fills and kernel.FACTS * most > len(facts):
                grown = np.zeros(kernel.FACTS * most * 3 // 2, dtype=np.int64)
                grown[: len(facts)] = facts
                self._rows = self._rows._replace(facts=grown)
            kernel.walk(self._data, stop, self.state, self._rows)
            is_cut = bool(self.state[kernel.IS_TRUNCATED])

    def count(self) -> None:
        """Count the rows of each wave and allocate the columns."""
        self._go()
        state, count = self.state, int(self.state[kernel.WAVES])
        facts = self._rows.facts[: count * kernel.FACTS]
        rows = facts.reshape(count, kernel.FACTS)
        for slot in range(kernel.SLOTS):  # waves without an end come last
            wave = state[kernel.WAVE + slot]
            if wave >= 0:
                needs = [
                    state[field + slot] for field in (kernel.COUNT, kernel.DID, kernel.BREAK, kernel.STALL_AT)
                ]
                rows[wave, : kernel.F_RANK + 1] = *needs, state[kernel.ENDED]
                state[kernel.ENDED] += 1
        self._order = np.argsort(rows[:, kernel.F_RANK], kind="stable")
        ends = np.cumsum(rows[self._order, : kernel.F_RANK], axis=0)
        totals = ends[-1].tolist() if count else [0, 0, 0, 0]
        rows[self._order, : kernel.F_RANK] = ends - rows[self._order, : kernel.F_RANK]
        rows[:, kernel.F_SLOT :] = 0
        rows[:, kernel.F_END] = kernel.NEVER
        cycles: type[np.integer[Any]] = (
            np.int32 if state[kernel.LATEST] < np.iinfo(np.int32).max >> 1 else np.int64
        )
        self._begin(True, facts, totals, int(state[kernel.OTHERS]), cycles)

    def fill(self) -> None:
        """Fill the columns."""
        self._go()
        self._rows = self._rows._replace(stalls=np.empty(0, np.int64))  # no other use

    @property
    def others(self) -> np.ndarray:
        """Time and byte of the tokens that waves do not need, int64 [n, 2]."""
        return self._rows.others[: 2 * int(self.state[kernel.OTHERS])].reshape(-1, 2)

    def waves(self, cu: int, starts: _Starts) -> WaveRecords:
        """Return the waves of the traced compute unit, by end, that have a start or a record."""
        rows = self._rows
        facts = rows.facts.reshape(-1, kernel.FACTS)[self._order]
        first = np.concatenate(
            [facts[:, : kernel.F_BREAKS + 1], [[len(rows.kind), len(rows.did), len(rows.breaks) // 2]]]
        )
        last_before, address = rows.breaks[::2], rows.breaks[1::2]
        records, start = _Kept(rows.kind >= 0), facts[:, kernel.F_START]
        token_first = records.place(first[:, kernel.F_RECORDS])
        is_wave = (start >= 0) | (np.diff(token_first) > 0)
        for row in np.flatnonzero(~is_wave):
            rows.did[first[row, kernel.F_DID] : first[row + 1, kernel.F_DID]] = kernel.UNUSED
            last_before[first[row, kernel.F_BREAKS] : first[row + 1, kernel.F_BREAKS]] = kernel.UNUSED_BREAK
        segments, breaks = _Kept(rows.did >= 0), _Kept(last_before > kernel.UNUSED_BREAK)
        break_first = breaks.place(first[:, kernel.F_BREAKS])
        owner = np.repeat(first[:-1, kernel.F_RECORDS], np.diff(break_first))
        last_before = records.place(owner + breaks.of(last_before) + 1) - records.place(owner) - 1
        time, duration = records.of(rows.time), records.of(rows.duration)
        end = facts[:, kernel.F_END].copy()
        for row in np.flatnonzero(end < 0):  # at most one a slot
            own = slice(token_first[row], token_first[row + 1])
            last = (time[own] + duration[own]).max(initial=facts[row, kernel.F_BEGIN] - kernel.ISSUES)
            end[row] = last + kernel.ISSUES
        facts, ends = facts[is_wave], np.append(is_wave, True)
        known = np.flatnonzero(facts[:, kernel.F_START] >= 0)
        started = starts.waves(known, facts[known, kernel.F_START], len(facts))
        slot = facts[:, kernel.F_SLOT].astype(np.int16)
        return WaveRecords(
            simd=frozen(slot // 16),
            slot=frozen(slot % 16),
            cu=frozen(np.full(len(facts), cu, dtype=np.int16)),
            begin=frozen(facts[:, kernel.F_BEGIN].copy()),
            end=frozen(end[is_wave]),
            is_complete=frozen(facts[:, kernel.F_END] >= 0),
            entry=frozen(started.entry),
            workgroup=frozen(started.workgroup),
            cluster=frozen(np.full(len(facts), -1, dtype=np.int16)),
            me=frozen(started.me),
            pipe=frozen(started.pipe),
            contexts=frozen(np.minimum(facts[:, kernel.F_CONTEXTS], 255).astype(np.int16)),
            token_first=frozen(token_first[ends]),
            state_first=frozen(segments.place(first[:, kernel.F_DID])[ends]),
            break_first=frozen(break_first[ends]),
            time=frozen(time),
            kind=frozen(records.of(rows.kind).view(np.uint8)),
            stall=frozen(records.of(rows.stall)),
            duration=frozen(duration),
            flags=frozen(np.zeros(len(time), dtype=np.uint8)),
            state=frozen(segments.of(rows.did).view(np.uint8)),
            state_duration=frozen(segments.of(rows.lasted)),
            break_token=frozen(last_before),
            break_address=frozen(breaks.of(address).astype(np.uint64)),
        )


class _Kept:
    """A selection of rows of columns, compacted in place."""

    def __init__(self, is_kept: np.ndarray) -> None:
        self._is_kept = is_kept
        self._gone = np.flatnonzero(~is_kept)

    def of(self, column: np.ndarray) -> np.ndarray:
        """Return the kept rows of a column, moved to its beginning: a copy of a full buffer takes 100 MB."""
        end = int(self._gone[0]) if len(self._gone) else len(column)
        for first in range(end, len(column), MOVED_ROWS):
            rows = slice(first, first + MOVED_ROWS)
            moved = column[rows][self._is_kept[rows]]
            column[end : end + len(moved)] = moved
            end += len(moved)
        return column[:end]

    def place(self, rows: np.ndarray) -> np.ndarray:
        """Return the number of kept rows before each of these."""
        return rows - np.searchsorted(self._gone, rows)


class _Starts(NamedTuple):
    """The contents of wave-start tokens."""

    row: np.ndarray  # int64 [n], among the noted tokens, ascending
    me: np.ndarray  # int16, -1 unknown
    pipe: np.ndarray  # int16, -1 unknown
    workgroup: np.ndarray  # int16, -1 unknown
    entry: np.ndarray  # uint64

    def waves(self, places: np.ndarray, rows: np.ndarray, count: int) -> _Starts:
        """Spread the starts at `rows` to `places` of `count` waves; the other waves have unknown values."""
        at = np.searchsorted(self.row, rows)

        def spread(column: np.ndarray, unknown: int) -> np.ndarray:
            wide = np.full(count, unknown, dtype=column.dtype)
            wide[places] = column[at]
            return wide

        return _Starts(
            places,
            spread(self.me, -1),
            spread(self.pipe, -1),
            spread(self.workgroup, -1),
            spread(self.entry, 0),
        )


class _Tokens:
    """The tokens that the kernel noted, read a type at a time."""

    def __init__(self, data: np.ndarray, time: np.ndarray, byte: np.ndarray) -> None:
        self._data = data
        self._time = time
        self._byte = byte
        self._type = data[byte] & 15
        self._is_compute = self._type % 10 == kernel.COMPUTE
        high = data[np.minimum(byte + 1, len(data) - 1)]
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

    def starts(self, writes: RegisterWrites) -> _Starts:
        """Return the contents of wave-start tokens; both tokens of a start that is reported twice."""
        rows = np.flatnonzero(self._type == kernel.START)
        head = self._number(rows, 0, 4)
        me, pipe = (head >> 18 & 3).astype(np.int16), (head >> 16 & 3).astype(np.int16)
        entry = entries(writes, np.searchsorted(self._wrote, rows), me, pipe)
        return _Starts(rows, me, pipe, (head >> 29).astype(np.int16), entry)

    def occupancy(self, starts: _Starts) -> OccupancyRecords:
        """Return the waves that began and ended on the whole shader engine.

        A start where a wave runs is a repeated report.  An end without a start belongs to a wave that began
        before the trace: its start is added at time 0.  Once data are lost, such an end is ignored.
        """
        rows = np.flatnonzero((self._type == kernel.START) | (self._type == kernel.END))
        head, is_start = self._number(rows, 0, 2), self._type[rows] == kernel.START
        place = head >> 6
        order = np.argsort(place, kind="stable")
        before = np.full(len(rows), -1)  # the previous event at the same place
        before[order[1:]] = np.where(place[order[1:]] == place[order[:-1]], order[:-1], -1)
        runs = (before >= 0) & is_start[before]
        losses = np.flatnonzero((self._type == kernel.MISC) & (self._number_of_misc() == LOSES))
        is_missing = ~is_start & ~runs & (rows < (losses[0] if len(losses) else len(self._type)))
        started = np.flatnonzero((is_start & ~runs) | (~is_start & runs) | is_missing)
        chosen = np.concatenate([np.flatnonzero(is_missing)[::-1], started])
        is_front = np.arange(len(chosen)) < len(chosen) - len(started)
        source = np.where(is_start, np.arange(len(rows)), np.where(runs, before, -1))[chosen]
        known = np.flatnonzero(source >= 0)
        said = starts.waves(known, rows[source[known]], len(chosen))
        who = head[chosen]
        return OccupancyRecords(
            time=frozen(np.where(is_front, 0, self._time[rows[chosen]])),
            is_start=frozen(is_start[chosen] | is_front),
            cu=frozen((who >> 6 & 15).astype(np.int16)),
            simd=frozen((who >> 14).astype(np.int16)),
            slot=frozen((who >> 10 & 15).astype(np.int16)),
            me=frozen(said.me),
            pipe=frozen(said.pipe),
            entry=frozen(said.entry),
            workgroup=frozen(said.workgroup),
            cluster=frozen(np.full(len(chosen), -1, dtype=np.int16)),
        )

    def _number_of_misc(self) -> np.ndarray:
        return self._data[np.minimum(self._byte + 1, len(self._data) - 1)] >> 5

    def events(self) -> np.ndarray:
        """Return events of the trace and of caches, int64 [n, 5] as in `DecodedStream`."""
        what = np.zeros(len(self._type), dtype=np.int64)
        said, is_misc = self._number_of_misc(), self._type == kernel.MISC
        for number, event in EVENT.items():
            what[is_misc & (said == number)] = event
        compute = np.flatnonzero(self._is_compute)
        is_flush = (self._number(compute, 0, 2) >> 9 == NOWHERE) & (self._number(compute, 2, 4) == FLUSH)
        what[compute[is_flush]] = EventKind.CS_PARTIAL_FLUSH
        rows = np.flatnonzero(what)
        head = np.where(is_misc[rows], 1 << 7, self._number(rows, 0, 2))  # ME 0, pipe 0
        return np.stack(
            [self._time[rows], what[rows], head >> 7 & 1 ^ 1, head >> 5 & 3, np.zeros(len(rows), np.int64)],
            axis=1,
        )

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
