"""Decode rare tokens of RDNA: waves anywhere on the shader engine, registers, events, clocks, messages.

The walk noted them with time and position; this module extracts their bits as columns, all at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rcv_py.base.runs import starts_run
from rcv_py.formats.sqtt.rdna_tables import (
    OP_ACT,
    OP_CYCLES,
    START_COUNT,
    START_PLACE,
    TOKEN_TYPES,
    Act,
    Known,
    Token,
)
from rcv_py.formats.sqtt.records import OccupancyRecords
from rcv_py.formats.sqtt.registers import INITIATOR, RegisterWrites, entries
from rcv_py.model.kinds import EventKind

SA_SHIFT = 7  # the bits of the shader array are above the number of the WGP
PRIVILEGED, IMMEDIATE = 2, 1
PER_PIPE, BOTTOM_OF_PIPE = 1, 2
LAUNCH = 2  # kind of the tokens that set up a queue: a launch begins

STARTED, ENDED, SAVED, RESTORED, NEITHER = range(5)  # meanings of a start or an end of a wave
CONTEXT = {count: SAVED for count in (66, 67, 70, 71)} | {
    count: RESTORED for count in (68, 69, 72, 73, 74, 75)
}
MEANING = np.array(
    [CONTEXT.get(count, NEITHER if 66 <= count < 90 else STARTED) for count in range(128)], dtype=np.uint8
)
CLUSTER_FIRST, CLUSTER_LAST, CLUSTER_NUMBER = 17, 18, 19  # bits of a miscellaneous token of gfx1250

EVENTS = {
    0x04: EventKind.CACHE_FLUSH,
    0x06: EventKind.CACHE_FLUSH,
    0x07: EventKind.CS_PARTIAL_FLUSH,
    0x14: EventKind.CACHE_FLUSH,
    0x16: EventKind.CACHE_FLUSH,
    0x28: EventKind.BOTTOM_OF_PIPE_TS,
    0x36: EventKind.TT_FLUSH,
}
FLAGS = {  # bits of a miscellaneous token; the lowest one is a loss on gfx10
    0: EventKind.SPM_SAMPLE,
    1: EventKind.GC_RINSE,
    3: EventKind.SAVE_CONTEXT,
    4: EventKind.TT_STALL_BEGIN,
    5: EventKind.TT_STALL_END,
    6: EventKind.DIDT_STALL_BEGIN,
    7: EventKind.DIDT_STALL_END,
}


@dataclass(frozen=True, slots=True, eq=False)
class Notes:
    """Tokens that the walk noted, in the order of the stream, and the stream."""

    token: np.ndarray  # int64, Token
    time: np.ndarray  # int64, cycles
    place: np.ndarray  # int64, bit at which it begins
    words: np.ndarray  # uint32, the stream
    known: Known

    def __len__(self) -> int:
        return len(self.token)

    def of(self, *tokens: Token) -> np.ndarray:
        """Return the numbers of the notes of some types."""
        is_wanted = np.zeros(TOKEN_TYPES, dtype=bool)
        is_wanted[list(tokens)] = True
        return np.flatnonzero(is_wanted[self.token])

    def low(self, rows: np.ndarray) -> np.ndarray:
        """Return uint32, the lowest 32 bits of each of the notes."""
        at = self.place[rows]
        word, shift = at >> 5, (at & 31).astype(np.uint32)
        rest = self.words[word + 1] << (np.uint32(32) - shift & np.uint32(31))
        return self.words[word] >> shift | np.where(shift, rest, np.uint32(0))

    def bits(self, rows: np.ndarray, first: int, width: int) -> np.ndarray:
        """Return int64, up to 63 bits of each of the notes."""
        at = self.place[rows] + first
        if width > 32:
            return self.bits(rows, first, 32) | self.bits(rows, first + 32, width - 32) << 32
        word = at >> 5
        wide = self.words[word].astype(np.uint64) | self.words[word + 1].astype(np.uint64) << np.uint64(32)
        return (wide >> (at & 31).astype(np.uint64) & np.uint64((1 << width) - 1)).astype(np.int64)


def _unit_and_simd(spot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """WGP + 128 * shader array, and SIMD, of places in the encoding of tokens."""
    return spot >> 3 | (spot & 1) << SA_SHIFT, spot >> 1 & 3


class WaveStartNotes(NamedTuple):
    """Starts of waves, and saves and restores of their contexts."""

    rows: np.ndarray  # int64, numbers of the notes
    meaning: np.ndarray  # uint8, STARTED…
    me: np.ndarray  # int16
    pipe: np.ndarray  # int16
    workgroup: np.ndarray  # int16, -1 unknown
    cluster: np.ndarray  # int16, -1 unknown
    entry: np.ndarray  # int64, value of the queue's register at that time


def starts(notes: Notes, writes: RegisterWrites) -> WaveStartNotes:
    """Return all starts of waves; `writes` are the `register_writes` of the same stream."""
    rows = notes.of(Token.WAVE_START, Token.WAVE_START_EXT)
    low = notes.low(rows)
    me, pipe = low >> notes.known.start_me & 1, low >> notes.known.start_pipe & 3
    meaning = MEANING[low >> START_COUNT & 127]
    writes_before = np.searchsorted(notes.of(Token.REG, Token.REG_INIT), rows)  # each is a row of `writes`
    return WaveStartNotes(
        rows=rows,
        meaning=meaning,
        me=me.astype(np.int16),
        pipe=pipe.astype(np.int16),
        workgroup=_workgroups(notes, rows),
        cluster=_clusters(notes, rows, meaning),
        entry=entries(writes, writes_before, me, pipe).astype(np.int64),
    )


def _workgroups(notes: Notes, rows: np.ndarray) -> np.ndarray:
    """Numbers of workgroups, which long start tokens of gfx12 contain; int16, -1 unknown."""
    numbers = np.full(len(rows), -1, dtype=np.int16)
    if notes.known.gfxip == 12:
        longer = np.flatnonzero(notes.token[rows] == Token.WAVE_START_EXT)
        more = notes.bits(rows[longer], 32, 6)
        numbers[longer] = np.where(more & 1, -1, more >> 1)
    return numbers


def _clusters(notes: Notes, rows: np.ndarray, meaning: np.ndarray) -> np.ndarray:
    """Numbers of clusters, which gfx1250 reports before waves start; int16, -1 none.

    The begin of a cluster applies to all starts after it, its end to one more start.
    """
    numbers = np.full(len(rows), -1, dtype=np.int16)
    if not notes.known.is_byte_aligned:
        return numbers
    misc = notes.of(Token.MISC)
    low = notes.low(misc)
    recorded = np.flatnonzero(low >> CLUSTER_FIRST & 3)
    new = np.flatnonzero(meaning == STARTED)
    at = np.searchsorted(misc[recorded], rows[new]) - 1
    is_next = np.diff(at, prepend=-1) > 0  # the first start after it
    low = low[recorded][at] if len(recorded) else np.zeros(len(new), dtype=np.uint32)
    holds = (at >= 0) & (is_next | (low >> CLUSTER_LAST & 1 == 0))
    numbers[new[holds]] = (low >> CLUSTER_NUMBER & 15)[holds]
    return numbers


def register_writes(notes: Notes) -> RegisterWrites:
    """Return the writes of REG and REG_INIT, a row each; a launch is a write of 1 to the initiator."""
    rows = notes.of(Token.REG, Token.REG_INIT)
    is_write = notes.token[rows] == Token.REG
    is_launch = ~is_write & (notes.bits(rows, 18, 2) == LAUNCH) & (notes.bits(rows, 20, 1) == 1)
    address, value = notes.bits(rows, 16, 16), notes.bits(rows, 32, 32)
    is_compute = notes.bits(rows, 15, 1) == 1
    # the set-up of a queue reports a launch; a program's write into that register is none
    is_own = is_write & ~(is_compute & (address == INITIATOR))
    return RegisterWrites(
        time=notes.time[rows],
        address=np.where(is_own, address, INITIATOR).astype(np.uint16),
        value=np.where(is_own, value, is_launch).astype(np.uint32),
        me=np.where(is_write, notes.bits(rows, 9, 2), notes.bits(rows, 16, 2)).astype(np.uint8),
        pipe=np.where(is_write, notes.bits(rows, 7, 2), notes.bits(rows, 14, 2)).astype(np.uint8),
        is_compute=is_compute | ~is_own,
    )


def stamps(notes: Notes) -> tuple[np.ndarray, np.ndarray]:
    """Return [n, 2] shader and constant clock, and the numbers of the notes that report lost data."""
    rows = notes.of(Token.TIMESTAMP)
    if notes.known.gfxip == 10:
        is_clock, value = notes.bits(rows, 14, 2) == 2, notes.bits(rows, 16, 48)
        misc = notes.of(Token.MISC)
        lost = misc[notes.bits(misc, 16, 1) == 1]
    else:
        is_clock = notes.bits(rows, 9 if notes.known.gfxip == 11 else 7, 1) == 1
        value = notes.bits(rows, 12, 36 if notes.known.gfxip == 11 else 52)
        is_lost = notes.bits(rows, 8, 1) == 1
        lost = rows[is_lost & ~is_clock]
        is_clock &= ~is_lost
    is_clock &= value != 0
    return np.stack([notes.time[rows[is_clock]], value[is_clock]], axis=1), lost


class ContextChanges(NamedTuple):
    """Starts and ends of waves, and saves and restores of contexts, in the order of the stream."""

    row: np.ndarray  # int64, numbers of the notes
    spot: np.ndarray  # uint32, shader array, SIMD and WGP in the encoding of tokens
    slot: np.ndarray  # uint32
    meaning: np.ndarray  # uint8, STARTED…
    start: np.ndarray  # int64, of the starts, -1 for an end

    def latest(self, is_it: np.ndarray) -> np.ndarray:
        """Return for each row the last earlier row at the same place with `is_it`, -1 if there is none."""
        place = (self.spot << 5 | self.slot).astype(np.uint16)
        order = np.argsort(place, kind="stable")
        numbers = np.arange(len(order))
        first = np.where(starts_run(place[order]), numbers, 0)
        last = np.where(is_it[order], numbers, -1)
        last[1:] = np.maximum.accumulate(last)[:-1]
        last[:1] = -1
        found = np.full(len(order), -1)
        found[order] = np.where(last >= np.maximum.accumulate(first), order[last], -1)
        return found


def _turns(notes: Notes, began: WaveStartNotes) -> ContextChanges:
    rows = notes.of(Token.WAVE_START, Token.WAVE_START_EXT, Token.WAVE_END)
    is_end = notes.token[rows] == Token.WAVE_END
    start = np.full(len(rows), -1)
    start[~is_end] = np.arange(len(began.rows))
    meaning = np.append(began.meaning, np.uint8(ENDED))[start]
    if (meaning == NEITHER).any():
        recorded = meaning != NEITHER
        rows, is_end, start, meaning = rows[recorded], is_end[recorded], start[recorded], meaning[recorded]
    low = notes.low(rows)
    spot = low >> np.where(is_end, notes.known.end_place, START_PLACE).astype(np.uint32)
    slot = low >> np.where(is_end, notes.known.end_slot, notes.known.start_slot).astype(np.uint32)
    return ContextChanges(rows, spot & notes.known.place_mask, slot & 31, meaning, start)


def occupancy(notes: Notes, began: WaveStartNotes, lost: np.ndarray) -> OccupancyRecords:
    """Return where waves began and ended; `lost` are the notes after which data is missing.

    The start of an end without a start was before the stream, if nothing was lost; a start where a wave runs
    follows a lost end.
    """
    turns = _turns(notes, began)
    is_start, is_end = turns.meaning == STARTED, turns.meaning == ENDED
    is_save, is_restored = turns.meaning == SAVED, turns.meaning == RESTORED
    before = turns.latest(~is_save)  # whose wave goes on while its context is saved
    is_running = (before >= 0) & ~np.append(is_end, False)[before]
    entry = np.where(is_start, np.append(began.entry, 0)[turns.start], 0)
    entry = np.append(entry, 0)  # number -1: unknown
    if is_restored.any():
        original = turns.latest(is_start)
        known = turns.latest(is_save) > original
        entry[:-1][is_restored] = np.where(known, entry[original], 0)[is_restored]
    goes = np.flatnonzero((is_end | is_save) & is_running)
    entry[goes] = entry[before[goes]]

    losses = np.searchsorted(np.sort(lost), turns.row)  # before each
    earlier = np.flatnonzero(is_end & ~is_running & (losses == 0))
    cut = np.flatnonzero(is_start & is_running & (losses > np.append(losses, 0)[before]))
    recorded = np.flatnonzero(~is_save | is_running)

    one = np.concatenate([earlier, recorded])
    is_recorded = np.arange(len(one)) >= len(earlier)
    is_begin = ~is_recorded | (is_start | is_restored)[one]
    time = np.where(is_recorded, notes.time[turns.row[one]], 0)
    known = np.where(is_recorded, entry[one], 0)
    if len(cut):
        at = len(earlier) + np.searchsorted(recorded, cut)
        one, is_recorded = np.insert(one, at, cut), np.insert(is_recorded, at, False)
        is_begin = np.insert(is_begin, at, False)
        time = np.insert(time, at, notes.time[turns.row[cut]] - 1)
        known = np.insert(known, at, entry[before[cut]])

    start = np.where(is_recorded, turns.start[one], -1)

    def said(column: np.ndarray, unknown: int) -> np.ndarray:
        return np.append(column, column.dtype.type(unknown))[start]

    unit, simd = _unit_and_simd(turns.spot[one])
    return OccupancyRecords(
        time=time,
        is_start=is_begin,
        cu=unit.astype(np.int16),
        simd=simd.astype(np.int16),
        slot=turns.slot[one].astype(np.int16),
        me=said(began.me, 0),
        pipe=said(began.pipe, 0),
        entry=known.astype(np.uint64),
        workgroup=said(began.workgroup, -1),
        cluster=said(began.cluster, -1),
    )


def shader_data(notes: Notes) -> np.ndarray:
    """Return int64 [n, 6]: time, value, place, SIMD, slot, flags of data that programs wrote to the trace."""
    rows = notes.of(Token.SHADER_DATA, Token.SHADER_DATA_SHORT)
    if notes.known.gfxip == 11:
        rows = rows[notes.bits(rows, 14, 1) == 0]
    low = notes.low(rows)
    spot = low >> notes.known.data_place & notes.known.place_mask
    is_short = notes.token[rows] == Token.SHADER_DATA_SHORT
    first = notes.known.data_value
    value = np.where(is_short, notes.bits(rows, first, 8), notes.bits(rows, first, 32))
    flags = np.where(is_short, IMMEDIATE, 0)
    if notes.known.gfxip == 12:
        rank = np.where(is_short, notes.bits(rows, first + 8, 2), notes.bits(rows, first + 32, 2))
        flags |= np.where(rank != 0, PRIVILEGED, 0)
    slot = low >> notes.known.data_slot & 31
    return np.stack([notes.time[rows], value, *_unit_and_simd(spot), slot, flags], axis=1)


def recorded_events(notes: Notes) -> np.ndarray:
    """Return int64 [n, 5]: number of the note, the hardware's number of the event, ME, pipe, flags."""
    rows = notes.of(Token.EVENT)
    flags = PER_PIPE | notes.bits(rows, 11, 1) * BOTTOM_OF_PIPE
    return np.stack(
        [rows, notes.bits(rows, 18, 6), notes.bits(rows, 16, 2), notes.bits(rows, 14, 2), flags], axis=1
    )


def events(notes: Notes, lost: np.ndarray) -> np.ndarray:
    """Return int64 [n, 5]: time, EventKind, ME, pipe, flags; events of unknown numbers are left out."""
    recorded = recorded_events(notes)
    names = np.zeros(64, dtype=np.int64)
    names[list(EVENTS)] = list(EVENTS.values())
    recorded[:, 1] = names[recorded[:, 1]]
    misc = notes.of(Token.MISC)
    flags = notes.bits(misc, notes.known.misc_flags, 8)
    if notes.known.is_byte_aligned:
        flags = flags & 3 | (flags & 0x7C) << 1  # an unused bit is gone
    parts = [recorded[recorded[:, 1] != EventKind.NONE], _alike(lost, EventKind.PACKET_LOSS)]
    for bit, kind in FLAGS.items():
        if kind != EventKind.SPM_SAMPLE or notes.known.gfxip > 10:
            parts.append(_alike(misc[flags >> bit & 1 == 1], kind))
    rows = np.concatenate(parts)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    rows[:, 0] = notes.time[rows[:, 0]]
    return rows


def _alike(rows: np.ndarray, kind: EventKind) -> np.ndarray:
    made = np.zeros((len(rows), 5), dtype=np.int64)
    made[:, 0], made[:, 1] = rows, kind
    return made


def other_simd(notes: Notes, ops: np.ndarray) -> np.ndarray:
    """Return int64 [n, 3]: time, cycles, TokenKind of the instructions that the WGP's other SIMD issued."""
    rows = notes.of(Token.INST)
    width = notes.known.op_mask.bit_length()
    op = ops[notes.bits(rows, notes.known.op, width)]
    assert np.all(op >> OP_ACT & 0xFF == Act.ELSEWHERE)
    return np.stack([notes.time[rows], op >> OP_CYCLES, op & 0xFF], axis=1)
