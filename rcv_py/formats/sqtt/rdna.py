"""Streams of RDNA: gfx10, gfx11, gfx12 and gfx1250."""

from typing import NamedTuple

import numpy as np

from rcv_py.base.machine.compiled import IS_COMPILED
from rcv_py.base.progress import checkpoint
from rcv_py.formats.sqtt import rdna_notes, rdna_walk
from rcv_py.formats.sqtt.rdna_notes import Notes
from rcv_py.formats.sqtt.rdna_tables import REJOINING, SA_SHIFT, TOKEN_TYPES, Token, layout
from rcv_py.formats.sqtt.rdna_walk import Given
from rcv_py.formats.sqtt.records import DecodedStream, Give, joined
from rcv_py.formats.sqtt.registers import dispatches, markers
from rcv_py.formats.sqtt.replays import without_replays
from rcv_py.formats.sqtt.walked import IS_FULL, Walked

STRETCH = 1 << (20 if IS_COMPILED else 14)  # bytes between two checks for cancellation
UNIT = 32  # bytes that the hardware writes at once
OTHER_SIMD = 2  # the number of the other SIMD of the WGP differs from the traced one's by this bit


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
    def place(self) -> int:
        """Shader array, SIMD and WGP as tokens have them."""
        return self.shader_array | self.simd << 1 | self.wgp << 3

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
    writes = rdna_notes.register_writes(notes)
    stream_markers = markers(writes)
    realtime, lost = rdna_notes.stamps(notes)
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
        events=rdna_notes.events(notes, lost),
        shader_data=rdna_notes.shader_data(notes),
        other_simd=rdna_notes.other_simd(notes, ops),
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
    known = rules.known._replace(place=header.place)
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
