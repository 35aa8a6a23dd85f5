"""Streams of RDNA: gfx10, gfx11, gfx12 and gfx1250."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rcv_py.base.machine.compiled import IS_COMPILED
from rcv_py.base.progress import checkpoint
from rcv_py.base.runs import borders
from rcv_py.formats.sqtt import rdna_notes, rdna_walk
from rcv_py.formats.sqtt.rdna_notes import Notes, WaveStartNotes
from rcv_py.formats.sqtt.rdna_tables import TOKEN_TYPES, Token, layout
from rcv_py.formats.sqtt.rdna_walk import Given, WalkOutput
from rcv_py.formats.sqtt.records import DecodedStream, WaveRecords
from rcv_py.formats.sqtt.registers import dispatches, markers
from rcv_py.formats.sqtt.replays import without_replays

ROOM = 1024  # minimum initial rows of the table of waves
WAVE_BYTES = 64  # of a stream per wave; few waves have less
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


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """The result of walking over a stream."""

    header: Header
    ops: np.ndarray  # int64, see `Layout.instructions`
    state: np.ndarray  # int64, see `rdna_walk`
    waves: np.ndarray  # int64 [waves, WAVE_COLUMNS], as they ended
    columns: WalkOutput  # `waves` of it as they began
    notes: Notes = field(repr=False)

    @property
    def counts(self) -> np.ndarray:
        """int64 [TOKEN_TYPES], how many tokens of each type there are."""
        return self.state[rdna_walk.COUNTS : rdna_walk.COUNTS + TOKEN_TYPES]


def decode_rdna(data: np.ndarray, version: int, threads: int = 1) -> DecodedStream:
    """Return the records of a stream; `data` is uint8, `version` 1…5 as the header has it.

    The result does not depend on the number of threads.
    """
    walked = walk(data, version, threads)
    header, notes, state = walked.header, walked.notes, walked.state
    writes = rdna_notes.register_writes(notes)
    stream_markers = markers(writes)
    began = rdna_notes.starts(notes, writes)
    realtime, lost = rdna_notes.stamps(notes)
    at, is_lost = int(state[rdna_walk.AT]), bool(state[rdna_walk.IS_LOST])
    return DecodedStream(
        gfxip=notes.known.gfxip,
        version=version,
        se=-1,
        cu=header.wgp | header.shader_array << rdna_notes.SA_SHIFT,
        simds=1 << header.simd,
        waves=without_replays(_waves(walked, began)),
        occupancy=rdna_notes.occupancy(notes, began, lost),
        realtime=realtime,
        frequency=stream_markers.frequency,
        dispatches=dispatches(writes, version),
        code_objects=stream_markers.code_objects,
        events=rdna_notes.events(notes, lost),
        shader_data=rdna_notes.shader_data(notes),
        other_simd=rdna_notes.other_simd(notes, walked.ops),
        other_simd_number=header.simd ^ OTHER_SIMD,
        tokens=int(walked.counts.sum() - walked.counts[Token.NOP]),
        excludes_barrier_waits=header.excludes_barrier_waits,
        has_lost_data=len(lost) > 0,
        is_truncated=not is_lost and _is_cut(data, at, layout(version).rules),
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


def walk(data: np.ndarray, version: int, threads: int = 1) -> Walked:
    """Walk a stream: count first, then fill columns of exactly that size."""
    header, rules = header_of(data, version), layout(version)
    words = np.zeros(-(-len(data) // 4) + rdna_walk.PADDING, dtype=np.uint32)
    words.view(np.uint8)[: len(data)] = data
    known = rules.known._replace(place=header.place)
    ops = rules.instructions(header.dp_rate, header.derate, header.trans)
    given = Given(words, 8 * len(data), rules.rules, ops, known)

    room = ROOM + len(data) // WAVE_BYTES
    waves, begun, state = _counted(given, np.zeros((room, rdna_walk.WAVE_COLUMNS), dtype=np.int64))
    count = int(state[rdna_walk.WAVES])
    order = np.empty(count, dtype=np.int64)
    order[waves[:count, rdna_walk.W_ORDER]] = np.arange(count)
    sizes = []
    for counted, first in (
        (rdna_walk.W_TOKENS, rdna_walk.W_TOKEN_FIRST),
        (rdna_walk.W_SEGMENTS, rdna_walk.W_SEGMENT_FIRST),
        (rdna_walk.W_BREAKS, rdna_walk.W_BREAK_FIRST),
    ):
        firsts = borders(waves[order, counted])
        waves[order, first] = firsts[:-1]
        sizes.append(int(firsts[-1]))
    columns = WalkOutput.with_room(
        waves,
        np.int64 if state[rdna_walk.IS_WIDE] else np.int32,
        (sizes[0], sizes[1], sizes[2]),
        int(state[rdna_walk.NOTES]),
    )
    _fill(given, begun, columns, threads)
    token, time, place = columns.notes.reshape(3, -1)
    notes = Notes(token=token, time=time, place=place, words=words, known=known)
    return Walked(header=header, ops=ops, state=state, waves=waves[order], columns=columns, notes=notes)


def _counted(given: Given, waves: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Walk over all; return the waves, the state in which each stretch begins, and the last state."""
    state, columns, begun = rdna_walk.beginning(), WalkOutput.with_room(waves, np.int32), []
    while not state[rdna_walk.IS_DONE]:
        checkpoint()
        begun.append(state.copy())
        until = min(int(state[rdna_walk.AT]) + 8 * STRETCH, given.end)
        rdna_walk.walk(given, until, state, columns)
        # A row must stay free: the walk stops where the table is full.
        if state[rdna_walk.WAVES] == len(columns.waves):
            waves = columns.waves
            columns = columns._replace(waves=np.concatenate([waves, np.zeros_like(waves)]))
    return columns.waves, np.stack(begun), state


def _fill(given: Given, begun: np.ndarray, columns: WalkOutput, threads: int) -> None:
    """Fill columns, stretch by stretch from the states in which they begin."""
    for first, column in (
        (rdna_walk.TOKEN_FIRST, rdna_walk.W_TOKEN_FIRST),
        (rdna_walk.SEGMENT_FIRST, rdna_walk.W_SEGMENT_FIRST),
        (rdna_walk.BREAK_FIRST, rdna_walk.W_BREAK_FIRST),
    ):  # of running waves, unknown until the count ended
        wave = begun[:, rdna_walk.WAVE : rdna_walk.WAVE + rdna_walk.SLOTS]
        firsts = np.where(wave >= 0, columns.waves[wave, column], 0)
        begun[:, first : first + rdna_walk.SLOTS] = firsts
    stretches = zip(begun, [*begun[1:, rdna_walk.AT].tolist(), given.end], strict=True)

    def fill(stretch: tuple[np.ndarray, int]) -> None:
        state, until = stretch
        rdna_walk.walk(given, until, state, columns)

    if threads < 2 or len(begun) < 2:
        for stretch in stretches:
            checkpoint()
            fill(stretch)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            for _ in pool.map(fill, stretches):
                checkpoint()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _is_cut(data: np.ndarray, at: int, rules: np.ndarray) -> bool:
    """Whether the last token is incomplete; half a time stamp at the end of a unit is usual."""
    if at >= 8 * len(data):
        return False
    low = int.from_bytes(bytes(data[at // 8 : at // 8 + 2]), "little") >> (at & 4) & 0xFF
    return bool(len(data) % UNIT != 0 or rules[low] & 0xFF != Token.TIMESTAMP)


def _waves(walked: Walked, began: WaveStartNotes) -> WaveRecords:
    """The waves, in the order of their ends."""
    table = walked.waves
    column = table.T
    start = np.searchsorted(began.rows, column[rdna_walk.W_NOTE])
    is_new = began.meaning[start] == rdna_notes.STARTED
    columns = walked.columns
    stall, duration = columns.cycles.reshape(2, -1)
    kind, flags = columns.marks.reshape(2, -1)
    break_token, break_address = columns.breaks.reshape(2, -1)
    header = walked.header

    def small(values: np.ndarray | int) -> np.ndarray:
        return np.full(len(table), values, dtype=np.int16)

    def firsts(counted: int) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(column[counted])])

    return WaveRecords(
        simd=small(header.simd),
        slot=small(column[rdna_walk.W_SLOT]),
        cu=small(header.wgp | header.shader_array << rdna_notes.SA_SHIFT),
        begin=column[rdna_walk.W_BEGIN].copy(),
        end=column[rdna_walk.W_END].copy(),
        is_complete=column[rdna_walk.W_IS_COMPLETE] == 1,
        entry=np.where(is_new, began.entry[start], 0).astype(np.uint64),
        workgroup=small(began.workgroup[start]),
        cluster=small(np.where(is_new, began.cluster[start], -1)),
        me=small(began.me[start]),
        pipe=small(began.pipe[start]),
        contexts=small(np.minimum(column[rdna_walk.W_CONTEXTS], np.iinfo(np.int16).max)),
        token_first=firsts(rdna_walk.W_TOKENS),
        state_first=firsts(rdna_walk.W_SEGMENTS),
        break_first=firsts(rdna_walk.W_BREAKS),
        time=columns.times,
        kind=kind,
        stall=stall,
        duration=duration,
        flags=flags,
        state=columns.states,
        state_duration=columns.lasting,
        break_token=break_token,
        break_address=break_address.view(np.uint64),
    )
