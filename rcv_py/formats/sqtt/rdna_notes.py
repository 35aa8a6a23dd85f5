"""What rare tokens of RDNA tell: waves anywhere on the shader engine, registers, events, clocks, messages.

The walk noted them with time and position; here their bits become columns, all at once.
"""

from __future__ import annotations

import numpy as np

from rcv_py.base.records import dataclass
from rcv_py.formats.sqtt.rdna_tables import OP_ACT, OP_CYCLES, Act, Known, Token
from rcv_py.formats.sqtt.records import OccupancyRecords
from rcv_py.formats.sqtt.registers import ENTRY_HIGH, ENTRY_LOW, ENTRY_MASK, INITIATOR, RegisterWrites
from rcv_py.model.kinds import EventKind

SA_SHIFT = 7  # a WGP is told with its shader array above its own number
PRIVILEGED, IMMEDIATE = 2, 1
PER_PIPE, BOTTOM_OF_PIPE = 1, 2
LAUNCH = 2  # kind of the tokens that set up a queue: a launch begins

STARTED, ENDED, SAVED, RESTORED, NEITHER = range(5)  # what a start or an end of a wave tells
CONTEXT = {count: SAVED for count in (66, 67, 70, 71)} | {
    count: RESTORED for count in (68, 69, 72, 73, 74, 75)
}
MEANING = np.array([CONTEXT.get(count, NEITHER if 66 <= count < 90 else STARTED) for count in range(128)])

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
    """Tokens that the walk left, in the order of the stream, and the stream they stand in."""

    token: np.ndarray  # int64, Token
    time: np.ndarray  # int64, cycles
    place: np.ndarray  # int64, bit at which it begins
    words: np.ndarray  # uint32, the stream
    known: np.ndarray  # int64, by Known

    def __len__(self) -> int:
        return len(self.token)

    def of(self, *tokens: Token) -> np.ndarray:
        """Return the numbers of the notes of some types."""
        return np.flatnonzero(np.isin(self.token, tokens))

    def bits(self, rows: np.ndarray, first: int, width: int) -> np.ndarray:
        """Return int64, up to 63 bits of each of the notes."""
        at = self.place[rows] + first
        if width > 32:
            return self.bits(rows, first, 32) | self.bits(rows, first + 32, width - 32) << 32
        word = at >> 5
        wide = self.words[word].astype(np.uint64) | self.words[word + 1].astype(np.uint64) << np.uint64(32)
        return (wide >> (at & 31).astype(np.uint64) & np.uint64((1 << width) - 1)).astype(np.int64)

    def field(self, rows: np.ndarray, known: Known, width: int) -> np.ndarray:
        """Return bits that the generation moved."""
        return self.bits(rows, int(self.known[known]), width)

    def version(self) -> int:
        """Return the major version of the graphics IP."""
        return int(self.known[Known.GFXIP])


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where waves are."""

    cu: np.ndarray  # int64, WGP + 128 * shader array
    simd: np.ndarray  # int64
    slot: np.ndarray  # int64


def places(notes: Notes, rows: np.ndarray, first: int, slot: int) -> Place:
    """Return where waves are whose place begins at a bit, and their slot at another."""
    wgps = int(notes.known[Known.PLACE_MASK]).bit_length() - 3
    shader_array = notes.bits(rows, first, 1)
    return Place(
        cu=notes.bits(rows, first + 3, wgps) | shader_array << SA_SHIFT,
        simd=notes.bits(rows, first + 1, 2),
        slot=notes.bits(rows, slot, 5),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Starts:
    """Starts of waves, and contexts of theirs that were saved or restored."""

    rows: np.ndarray  # int64, numbers of the notes
    where: Place
    meaning: np.ndarray  # int64, STARTED…
    me: np.ndarray  # int64
    pipe: np.ndarray  # int64
    workgroup: np.ndarray  # int64, -1 unknown
    entry: np.ndarray  # int64, what the queue's register had then


def starts(notes: Notes, writes: RegisterWrites) -> Starts:
    """Return all starts of waves; `writes` are those of the same stream, by `register_writes`."""
    rows = notes.of(Token.WAVE_START, Token.WAVE_START_EXT)
    me, pipe = notes.field(rows, Known.START_ME, 1), notes.field(rows, Known.START_PIPE, 2)
    is_told = (
        (notes.token[rows] == Token.WAVE_START_EXT) & (notes.bits(rows, 32, 1) == 0) & (notes.version() == 12)
    )
    return Starts(
        rows=rows,
        where=places(notes, rows, 7, int(notes.known[Known.START_SLOT])),
        meaning=MEANING[notes.bits(rows, 25, 7)],
        me=me,
        pipe=pipe,
        workgroup=np.where(is_told, notes.bits(rows, 33, 5), -1),
        entry=_entries(notes, writes, rows, me << 2 | pipe),
    )


def _entries(notes: Notes, writes: RegisterWrites, rows: np.ndarray, queue: np.ndarray) -> np.ndarray:
    """The program address that the register pair of a queue had at each of some notes."""
    entry = np.zeros(len(rows), dtype=np.int64)
    wrote_at = notes.of(Token.REG, Token.REG_INIT)  # one for one with `writes`
    wrote_by = (writes.me.astype(np.int64) & 1) << 2 | writes.pipe
    for address, shift in ((ENTRY_LOW, 0), (ENTRY_HIGH, 32)):
        is_it = writes.is_compute & (writes.address == address)
        for one in np.unique(queue):
            mine = np.flatnonzero(is_it & (wrote_by == one))
            own = np.flatnonzero(queue == one)
            last = np.searchsorted(wrote_at[mine], rows[own]) - 1
            values = np.append(writes.value[mine].astype(np.int64), 0)  # number -1: not written yet
            entry[own] |= values[last] << shift
    return entry << 8 & ENTRY_MASK


def register_writes(notes: Notes) -> RegisterWrites:
    """Return what REG and REG_INIT tell, a row each; a launch is a write of 1 to the initiator."""
    rows = notes.of(Token.REG, Token.REG_INIT)
    is_write = notes.token[rows] == Token.REG
    is_launch = ~is_write & (notes.bits(rows, 18, 2) == LAUNCH) & (notes.bits(rows, 20, 1) == 1)
    address, value = notes.bits(rows, 16, 16), notes.bits(rows, 32, 32)
    is_compute = notes.bits(rows, 15, 1) == 1
    # a launch is what the set-up of a queue tells, not what a program writes into that register
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
    """Return [n, 2] shader and constant clock, and the numbers of the notes that tell of lost data."""
    rows = notes.of(Token.TIMESTAMP)
    if notes.version() == 10:
        is_clock, value = notes.bits(rows, 14, 2) == 2, notes.bits(rows, 16, 48)
        misc = notes.of(Token.MISC)
        lost = misc[notes.bits(misc, 16, 1) == 1]
    else:
        is_clock = notes.bits(rows, 9 if notes.version() == 11 else 7, 1) == 1
        value = notes.bits(rows, 12, 36 if notes.version() == 11 else 52)
        is_lost = notes.bits(rows, 8, 1) == 1
        lost = rows[is_lost & ~is_clock]
        is_clock &= ~is_lost
    is_clock &= value != 0
    return np.stack([notes.time[rows[is_clock]], value[is_clock]], axis=1), lost


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """Starts, ends, and contexts that came and went, of one place after the other."""

    row: np.ndarray  # int64, numbers of the notes
    place: np.ndarray  # int64, one number for shader array, WGP, SIMD and slot
    meaning: np.ndarray  # int64, STARTED…
    me: np.ndarray  # int64
    pipe: np.ndarray  # int64
    entry: np.ndarray  # int64, of the start of a wave
    workgroup: np.ndarray  # int64

    def latest(self, *meanings: int) -> np.ndarray:
        """Return, for each, the number of the last one before it at the same place; -1 if there is none."""
        numbers = np.arange(len(self.row))
        is_first = np.ones(len(self.row), dtype=bool)
        np.not_equal(self.place[1:], self.place[:-1], out=is_first[1:])
        first = np.maximum.accumulate(np.where(is_first, numbers, 0))
        last = np.maximum.accumulate(np.where(np.isin(self.meaning, meanings), numbers, -1))
        before = np.concatenate([[-1], last])[:-1]
        return np.where(before >= first, before, -1)


def _turns(notes: Notes, began: Starts) -> Turns:
    ends = notes.of(Token.WAVE_END)
    where = places(notes, ends, int(notes.known[Known.END_PLACE]), int(notes.known[Known.END_SLOT]))
    none = np.zeros(len(ends), dtype=np.int64)
    place, ended = ((one.cu << 2 | one.simd) << 5 | one.slot for one in (began.where, where))
    meaning = np.concatenate([began.meaning, none + ENDED])
    row = np.concatenate([began.rows, ends])
    by_row = np.argsort(row, kind="stable")
    by_row = by_row[meaning[by_row] != NEITHER]
    small = np.concatenate([place, ended])[by_row].astype(np.uint16)  # 15 bits, which are sorted in no time
    order = by_row[np.argsort(small, kind="stable")]
    return Turns(
        row=row[order],
        place=np.concatenate([place, ended])[order],
        meaning=meaning[order],
        me=np.concatenate([began.me, none])[order],
        pipe=np.concatenate([began.pipe, none])[order],
        entry=np.concatenate([np.where(began.meaning == STARTED, began.entry, 0), none])[order],
        workgroup=np.concatenate([began.workgroup, none - 1])[order],
    )


def occupancy(notes: Notes, began: Starts, lost: np.ndarray) -> OccupancyRecords:
    """Return where waves began and ended; `lost` are the notes behind which data is missing.

    An end without a start had it before the stream, if nothing was lost; a start where a wave runs had an end
    that was lost.
    """
    turns = _turns(notes, began)
    start, save = turns.latest(STARTED, RESTORED), turns.latest(SAVED)
    original = turns.latest(STARTED)
    is_running = start > turns.latest(ENDED)
    is_end, is_save = turns.meaning == ENDED, turns.meaning == SAVED
    is_restored = turns.meaning == RESTORED
    entry = np.append(turns.entry, 0)  # number -1: unknown
    entry[:-1][is_restored] = np.where(save > original, entry[original], 0)[is_restored]
    entry[:-1][is_end | is_save] = np.where(is_running, entry[start], 0)[is_end | is_save]

    losses = np.searchsorted(np.sort(lost), turns.row)  # before each
    is_earlier = is_end & ~is_running & (losses == 0)
    is_cut = (turns.meaning == STARTED) & is_running & (losses > np.append(losses, 0)[start])
    told = np.flatnonzero(~is_save | is_running)
    earlier, cut = np.flatnonzero(is_earlier), np.flatnonzero(is_cut)

    one = np.concatenate([earlier, cut, told])
    is_told = np.arange(len(one)) >= len(earlier) + len(cut)
    is_start = np.where(
        is_told, np.isin(turns.meaning[one], (STARTED, RESTORED)), np.arange(len(one)) < len(earlier)
    )
    time = np.concatenate([0 * earlier, notes.time[turns.row[cut]] - 1, notes.time[turns.row[told]]])
    known = np.concatenate([0 * earlier, entry[start[cut]], entry[told]])
    rank = np.concatenate([turns.row[earlier] - len(notes), 2 * turns.row[cut] - 1, 2 * turns.row[told]])
    order = np.argsort(rank, kind="stable")
    one, is_told = one[order], is_told[order]

    def small(column: np.ndarray, otherwise: int | None = None) -> np.ndarray:
        values = column[one] if otherwise is None else np.where(is_told, column[one], otherwise)
        return values.astype(np.int16)

    return OccupancyRecords(
        time=time[order],
        is_start=is_start[order],
        cu=small(turns.place >> 7),
        simd=small(turns.place >> 5 & 3),
        slot=small(turns.place & 31),
        me=small(turns.me, 0),
        pipe=small(turns.pipe, 0),
        entry=known[order].astype(np.uint64),
        workgroup=small(turns.workgroup, -1),
        cluster=np.full(len(order), -1, dtype=np.int16),
    )


def shader_data(notes: Notes) -> np.ndarray:
    """Return int64 [n, 6]: time, value, place, SIMD, slot, flags of what programs wrote into the trace."""
    rows = notes.of(Token.SHADER_DATA, Token.SHADER_DATA_SHORT)
    if notes.version() == 11:
        rows = rows[notes.bits(rows, 14, 1) == 0]
    where = places(notes, rows, int(notes.known[Known.DATA_PLACE]), int(notes.known[Known.DATA_SLOT]))
    is_short = notes.token[rows] == Token.SHADER_DATA_SHORT
    first = int(notes.known[Known.DATA_VALUE])
    value = np.where(is_short, notes.bits(rows, first, 8), notes.bits(rows, first, 32))
    flags = np.where(is_short, IMMEDIATE, 0)
    if notes.version() == 12:
        rank = np.where(is_short, notes.bits(rows, first + 8, 2), notes.bits(rows, first + 32, 2))
        flags |= np.where(rank != 0, PRIVILEGED, 0)
    return np.stack([notes.time[rows], value, where.cu, where.simd, where.slot, flags], axis=1)


def told_events(notes: Notes) -> np.ndarray:
    """Return int64 [n, 5]: number of the note, the hardware's number of the event, ME, pipe, flags."""
    rows = notes.of(Token.EVENT)
    flags = PER_PIPE | notes.bits(rows, 11, 1) * BOTTOM_OF_PIPE
    return np.stack(
        [rows, notes.bits(rows, 18, 6), notes.bits(rows, 16, 2), notes.bits(rows, 14, 2), flags], axis=1
    )


def events(notes: Notes, lost: np.ndarray) -> np.ndarray:
    """Return int64 [n, 5]: time, EventKind, ME, pipe, flags; of numbers that have no name, nothing."""
    told = told_events(notes)
    names = np.zeros(64, dtype=np.int64)
    names[list(EVENTS)] = list(EVENTS.values())
    told[:, 1] = names[told[:, 1]]
    misc = notes.of(Token.MISC)
    flags = notes.field(misc, Known.MISC_FLAGS, 8)
    if notes.known[Known.IS_BYTE_ALIGNED]:
        flags = flags & 3 | (flags & 0x7C) << 1  # one bit that nobody used is gone
    parts = [told[told[:, 1] != EventKind.NONE], _alike(lost, EventKind.PACKET_LOSS)]
    for bit, kind in FLAGS.items():
        if kind != EventKind.SPM_SAMPLE or notes.version() > 10:
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
    """Return int64 [n, 3]: time, cycles, TokenKind of what the other SIMD of the WGP issued."""
    rows = notes.of(Token.INST)
    width = int(notes.known[Known.OP_MASK]).bit_length()
    op = ops[notes.field(rows, Known.OP, width)]
    assert np.all(op >> OP_ACT & 0xFF == Act.ELSEWHERE)
    return np.stack([notes.time[rows], op >> OP_CYCLES, op & 0xFF], axis=1)
