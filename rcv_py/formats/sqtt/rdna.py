"""Streams of RDNA: gfx10, gfx11, gfx12 and gfx1250.

A wave of gfx1250 issues memory instructions again after a fault of address translation (XNACK):

```
tokens    … load   wait   REPLAYED   load   …
records   … ────────────────────────load   …     the load is taken once, with a stall since the first try
```
"""

from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy import ndarray

from rcv_py.base.machine.compiled import IS_COMPILED, kernel, part
from rcv_py.base.progress import checkpoint
from rcv_py.base.runs import borders, is_in
from rcv_py.formats.sqtt import rdna_walk
from rcv_py.formats.sqtt.rdna_tables import (
    OP_ACT,
    OP_CYCLES,
    REJOINING,
    SA_SHIFT,
    TOKEN_TYPES,
    Act,
    Known,
    Token,
    layout,
)
from rcv_py.formats.sqtt.rdna_walk import Given
from rcv_py.formats.sqtt.records import (
    OF_BORDERS,
    REPLAYED,
    DecodedStream,
    Give,
    WaveRecords,
    joined,
    with_state,
)
from rcv_py.formats.sqtt.registers import INITIATOR, RegisterWrites, dispatches, markers
from rcv_py.formats.sqtt.walked import IS_FULL, Walked
from rcv_py.model.kinds import EventKind, TokenKind, WaveState

STRETCH = 1 << (20 if IS_COMPILED else 14)  # bytes between two checks for cancellation
UNIT = 32  # bytes that the hardware writes at once
OTHER_SIMD = 2  # the number of the other SIMD of the WGP differs from the traced one's by this bit
PRIVILEGED, IMMEDIATE = 2, 1
PER_PIPE, BOTTOM_OF_PIPE = 1, 2
LAUNCH = 2  # kind of the tokens that set up a queue: a launch begins

EVENTS = {
    **dict.fromkeys((0x04, 0x06, 0x14, 0x16), EventKind.CACHE_FLUSH),
    0x07: EventKind.CS_PARTIAL_FLUSH, 0x28: EventKind.BOTTOM_OF_PIPE_TS, 0x36: EventKind.TT_FLUSH,
}  # fmt: skip
FLAGS = {  # bits of a miscellaneous token; the lowest one is a loss on gfx10
    0: EventKind.SPM_SAMPLE, 1: EventKind.GC_RINSE, 3: EventKind.SAVE_CONTEXT,
    4: EventKind.TT_STALL_BEGIN, 5: EventKind.TT_STALL_END,
    6: EventKind.DIDT_STALL_BEGIN, 7: EventKind.DIDT_STALL_END,
}  # fmt: skip


class Notes:
    """Tokens that the walk noted, in the order of the stream."""

    def __init__(self, rows: np.ndarray, known: Known) -> None:
        """`rows`: int64 [notes, 4], type of token, time in cycles, and its lowest 64 bits in two halves."""
        self.token, self.time = rows[:, 0], rows[:, 1]
        self.known = known
        self._bits = rows[:, 2].view(np.uint64) | rows[:, 3].view(np.uint64) << np.uint64(32)

    def of(self, *tokens: Token) -> np.ndarray:
        """Return the numbers of the notes of some types."""
        return np.flatnonzero(is_in(self.token, np.array(tokens)))

    def bits(self, rows: np.ndarray, first: int, width: int) -> np.ndarray:
        """Return int64, up to 63 bits of each of the notes."""
        return (self._bits[rows] >> np.uint64(first) & np.uint64((1 << width) - 1)).astype(np.int64)


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


def shader_data(notes: Notes) -> np.ndarray:
    """Return int64 [n, 6]: time, value, place, SIMD, slot, flags of data that programs wrote to the trace."""
    rows = notes.of(Token.SHADER_DATA, Token.SHADER_DATA_SHORT)
    if notes.known.gfxip == 11:
        rows = rows[notes.bits(rows, 14, 1) == 0]
    spot = notes.bits(rows, notes.known.data_place, 8) & notes.known.place_mask
    is_short = notes.token[rows] == Token.SHADER_DATA_SHORT
    first = notes.known.data_value
    value = np.where(is_short, notes.bits(rows, first, 8), notes.bits(rows, first, 32))
    flags = np.where(is_short, IMMEDIATE, 0)
    if notes.known.gfxip == 12:
        rank = np.where(is_short, notes.bits(rows, first + 8, 2), notes.bits(rows, first + 32, 2))
        flags |= np.where(rank != 0, PRIVILEGED, 0)
    slot, simd = notes.bits(rows, notes.known.data_slot, 5), spot >> 1 & 3
    unit = spot >> 3 | (spot & 1) << SA_SHIFT  # WGP + 128 * shader array
    return np.stack([notes.time[rows], value, unit, simd, slot, flags], axis=1)


def recorded_events(notes: Notes) -> np.ndarray:
    """Return int64 [n, 5]: number of the note, the hardware's number of the event, ME, pipe, flags."""
    rows = notes.of(Token.EVENT)
    flags = PER_PIPE | notes.bits(rows, 11, 1) * BOTTOM_OF_PIPE
    fields = (notes.bits(rows, first, width) for first, width in ((18, 6), (16, 2), (14, 2)))
    return np.stack([rows, *fields, flags], axis=1)


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


class Header(NamedTuple):
    """The contents of the first token."""

    shader_array: int
    wgp: int
    simd: int
    dp_rate: int  # cycles of a double precision instruction
    derate: int  # their factor for some
    excludes_barrier_waits: bool
    trans: int  # factor of the cycles of transcendental instructions, of gfx1250: 1 with two units for them

    @property
    def cu(self) -> int:
        """WGP + 128 * shader array."""
        return self.wgp | self.shader_array << SA_SHIFT


def decode_rdna(data: np.ndarray, version: int, give: Give) -> DecodedStream:
    """Return the records of a stream but its waves, which are given away as soon as they are over.

    `data` is uint8, `version` 1…5 as the header has it.
    """
    header, rules = header_of(data, version), layout(version).rules
    ops = layout(version).instructions(header.dp_rate, header.derate, header.trans)
    walked, notes, at = walk(data, version, give)
    writes = register_writes(notes)
    stream_markers = markers(writes)
    realtime, lost = stamps(notes)
    counts = walked.state[rdna_walk.COUNTS : rdna_walk.COUNTS + TOKEN_TYPES]
    is_lost = bool(walked.state[rdna_walk.IS_LOST])
    return DecodedStream(
        gfxip=notes.known.gfxip,
        version=version,
        se=-1,
        cu=header.cu,
        simds=1 << header.simd,
        waves=joined(()),
        occupancy=walked.occupancy(1),
        realtime=realtime,
        frequency=stream_markers.frequency,
        dispatches=dispatches(writes, version),
        code_objects=stream_markers.code_objects,
        events=events(notes, lost),
        shader_data=shader_data(notes),
        other_simd=other_simd(notes, ops),
        other_simd_number=header.simd ^ OTHER_SIMD,
        tokens=int(counts.sum() - counts[Token.NOP]),
        excludes_barrier_waits=header.excludes_barrier_waits,
        has_lost_data=len(lost) > 0,
        is_truncated=not is_lost and _is_cut(data, at, rules),
        lost_at=at // 8 if is_lost else -1,
    )


def header_of(data: np.ndarray, version: int) -> Header:
    """Return the contents of the first eight bytes of a stream."""
    bits = int.from_bytes(bytes(data[:8]), "little")
    rate = bits >> 28 & (7 if version >= 3 else 15)
    return Header(
        shader_array=bits >> 19 & 1,
        wgp=bits >> 15 & (15 if version >= 5 else 7),
        simd=bits >> 13 & 3,
        dp_rate=1 << max(rate - 1, 0),
        derate=1 << (bits >> 33 & 7) if version < 5 else 1,
        excludes_barrier_waits=version == 4 and bool(bits >> 59 & 1),
        trans=2 - (bits >> 60 & 1),
    )


def walk(data: np.ndarray, version: int, give: Give) -> tuple[Walked, Notes, int]:
    """Walk a stream, a window at a time; return what it leaves, and the bit where it ended."""
    header, rules = header_of(data, version), layout(version)
    place = header.shader_array | header.simd << 1 | header.wgp << 3  # as tokens have it
    known = rules.known._replace(place=place)
    ops = rules.instructions(header.dp_rate, header.derate, header.trans)
    walked = Walked(
        rdna_walk.STATES, header.cu, header.simd, lambda waves, rank: give(without_replays(waves), rank)
    )
    state = walked.state
    state[rdna_walk.LATELY : rdna_walk.LATELY + REJOINING] = -1
    begin, size = 0, STRETCH
    while not state[rdna_walk.IS_DONE]:
        checkpoint()
        window = data[begin : begin + size]
        words = np.zeros(-(-len(window) // 4) + rdna_walk.PADDING, dtype=np.uint32)
        words.view(np.uint8)[: len(window)] = window
        end = until = 8 * len(window)
        if begin + size < len(data):
            until -= rdna_walk.MAX_BITS
        given = Given(words, until, end, rules.rules, ops, known)
        before = int(state[rdna_walk.AT])
        rdna_walk.walk(given, state, walked.columns)
        while state[IS_FULL]:
            walked.empty()
            rdna_walk.walk(given, state, walked.columns)
        gone = int(state[rdna_walk.AT]) // 32 * 4  # whole words
        size = size if state[rdna_walk.AT] > before else 2 * size  # a cycle has more tokens than the window
        begin += gone
        state[[rdna_walk.AT, rdna_walk.SCANNED]] -= 8 * gone
    walked.empty()
    return walked, Notes(walked.notes(), known), 8 * begin + int(state[rdna_walk.AT])


def _is_cut(data: np.ndarray, at: int, rules: np.ndarray) -> bool:
    """Whether the last token is incomplete; half a time stamp at the end of a unit is usual."""
    if at >= 8 * len(data):
        return False
    low = int.from_bytes(bytes(data[at // 8 : at // 8 + 2]), "little") >> (at & 4) & 0xFF
    return bool(len(data) % UNIT != 0 or rules[low] & 0xFF != Token.TIMESTAMP)


KINDS = (TokenKind.IMMED, TokenKind.SMEM, TokenKind.VMEM, TokenKind.LDS)
IMMED, SMEM, VMEM, LDS = map(int, KINDS)


def without_replays(waves: WaveRecords) -> WaveRecords:
    """Return the waves without tokens REPLAYED and what each takes back.

    It takes back the waits before it and the memory instruction before these; the wave stalls from one cycle
    before that instruction on, until the next one is issued.
    """
    replays = np.flatnonzero(waves.kind == REPLAYED)
    if not len(replays):
        return waves
    first, size = waves.token_first, len(waves.kind)
    time, stall, duration = (column.astype(np.int64) for column in (waves.time, waves.stall, waves.duration))
    keep, since = np.zeros(size, dtype=bool), np.zeros(size, dtype=np.int64)
    before = np.full(size, -1, dtype=np.int64)
    _rewind(first, waves.begin, waves.kind, time, stall, duration, keep, before, since)
    columns = {"time": time, "kind": waves.kind, "stall": stall, "duration": duration, "flags": waves.flags}
    assert set(columns) == set(OF_BORDERS["token_first"])
    kept, wave = borders(keep), np.searchsorted(first, replays, side="right") - 1
    owner, since = np.repeat(first[:-1], np.diff(waves.break_first)), since[replays]
    lasts = waves.time[replays] - since
    return replace(
        waves,
        **{name: column[keep] for name, column in columns.items()},
        token_first=kept[first],
        break_token=kept[owner + waves.break_token + 1] - kept[owner] - 1,
        **with_state(waves, wave, since - waves.begin[wave], lasts, WaveState.STALL),
    )


@part
def taken_back(kind: ndarray, keep: ndarray, before: ndarray, last: int) -> int:
    """Take back the waits from the last kept token on; return the one before them, -1 if there is none."""
    while last >= 0 and kind[last] == IMMED:
        keep[last] = False
        last = before[last]
    return last


@part
def is_memory(kind: int) -> bool:
    """Whether an instruction of this kind is taken back as well."""
    return kind == VMEM or kind == LDS or kind == SMEM  # noqa: PLR1714 - no sets in kernels


@kernel
def _rewind(
    first: ndarray,
    begin: ndarray,
    kind: ndarray,
    time: ndarray,
    stall: ndarray,
    duration: ndarray,
    keep: ndarray,
    before: ndarray,
    since: ndarray,
) -> None:
    """Fill `keep`, `before` (the kept token before each) and `since` (of a replay); correct what follows one.

    `first` is int64 [waves + 1], the first token of each, and `begin` int64 [waves].  Of tokens, `kind` is
    uint8, `keep` bool, at first False, and the others are int64; `time`, `stall` and `duration` change.
    """
    for wave in range(len(begin)):
        last, stalls = -1, -1  # the last kept token; since when the wave stalls, -1: it does not
        for row in range(first[wave], first[wave + 1]):
            if kind[row] == REPLAYED:
                last = taken_back(kind, keep, before, last)
                stalls = time[row] if stalls < 0 else stalls
                if last >= 0:
                    stalls = max(min(time[last] - 1, stalls), begin[wave])
                    if is_memory(kind[last]):
                        keep[last] = False
                        last = before[last]
                since[row] = stalls
                continue
            if stalls >= 0:
                from_then = stalls
                if kind[row] == IMMED and last >= 0:
                    from_then = time[last] + duration[last]
                moved = max(time[row] - from_then, 0)
                time[row] -= moved
                stall[row] += moved
                duration[row] += moved
                stalls = -1
            keep[row] = True
            before[row] = last
            last = row
