"""The contents of one raw stream: the records of one shader engine, in cycles of its own clock.

Records do not name instructions: a token has a time and a unit; `stitch` matches it to the disassembly later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import field

from rcv_py.base.record import Record, Value
from rcv_py.base.runs import borders, ranges
from rcv_py.formats.input.columns import frozen
from rcv_py.model.kinds import WaveState


class RecordedWaves(Record):
    """Waves of the traced compute unit, and where their rows are.

    Wave i owns tokens `token_first[i]:token_first[i + 1]`, and segments and breaks likewise.  A break is the
    address where the program goes on after an indirect jump.
    """

    simd: np.ndarray  # int16 [waves]
    slot: np.ndarray  # int16
    cu: np.ndarray  # int16: compute unit, of RDNA the WGP + 128 * shader array
    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles
    is_complete: np.ndarray  # bool: its end is in the stream
    entry: np.ndarray  # uint64, byte address of the first instruction in the stream's terms
    workgroup: np.ndarray  # int16, -1 unknown
    cluster: np.ndarray  # int16, -1 unknown
    me: np.ndarray  # int16, -1 unknown
    pipe: np.ndarray  # int16, -1 unknown
    contexts: np.ndarray  # int16, how often it was saved and restored
    token_first: np.ndarray  # int64 [waves + 1]
    state_first: np.ndarray  # int64 [waves + 1]
    break_first: np.ndarray  # int64 [waves + 1]
    break_token: np.ndarray  # int64, token of its wave after which the program jumps, -1: at its begin
    break_address: np.ndarray  # uint64, byte address where it goes on; 0 if unknown

    def __len__(self) -> int:
        return len(self.simd)

    def at(self, waves: np.ndarray) -> WaveRecords:
        """Return some of the waves, in the given order, with copies of all their columns."""
        raise NotImplementedError

    def facts_at(self, waves: np.ndarray) -> dict[str, np.ndarray]:
        """Return columns of facts, borders and breaks of some of the waves, in the given order."""
        columns = {name: getattr(self, name)[waves] for name in OF_WAVES}
        columns |= {border: borders(np.diff(getattr(self, border))[waves]) for border in OF_BORDERS}
        places = ranges(self.break_first[:-1][waves], np.diff(columns["break_first"]))
        return columns | {name: getattr(self, name)[places] for name in OF_BORDERS["break_first"]}


class WaveRecords(RecordedWaves):
    """Waves with their tokens and segments."""

    # tokens, in the order in which the wave issued them
    time: np.ndarray  # int64, cycles, start of the stall
    kind: np.ndarray  # uint8, TokenKind of the stream (no MATRIX)
    stall: np.ndarray  # int32, or int64 if it must be; cycles
    duration: np.ndarray  # int32, or int64 if it must be; cycles, stall included
    flags: np.ndarray  # uint8, FLAG_…
    # segments: the states of the waves
    state: np.ndarray  # uint8, WaveState
    state_duration: np.ndarray  # int32, or int64 if it must be; cycles

    def at(self, waves: np.ndarray) -> WaveRecords:
        columns = self.facts_at(waves)
        for border in ROWS:
            places = ranges(getattr(self, border)[:-1][waves], np.diff(columns[border]))
            columns |= {name: getattr(self, name)[places] for name in OF_BORDERS[border]}
        return WaveRecords(**{name: frozen(column) for name, column in columns.items()})


OF_WAVES: dict[str, type[np.generic]] = {
    "simd": np.int16, "slot": np.int16, "cu": np.int16, "begin": np.int64, "end": np.int64,
    "is_complete": np.bool_, "entry": np.uint64, "workgroup": np.int16, "cluster": np.int16,
    "me": np.int16, "pipe": np.int16, "contexts": np.int16,
}  # fmt: skip
OF_BORDERS: dict[str, dict[str, type[np.generic]]] = {  # and the narrowest types of rows
    "token_first": {
        "time": np.int64, "kind": np.uint8, "stall": np.int32, "duration": np.int32, "flags": np.uint8
    },
    "state_first": {"state": np.uint8, "state_duration": np.int32},
    "break_first": {"break_token": np.int64, "break_address": np.uint64},
}  # fmt: skip
ROWS = ("token_first", "state_first")  # borders of what there is much of
# takes waves, by slot and end, and the place (int64) of each in the order in which waves end
Give = Callable[[WaveRecords, np.ndarray], None]


def joined(parts: Sequence[WaveRecords]) -> WaveRecords:
    """Return the waves of all parts, one part after the other."""
    columns, dtypes = {}, dict(OF_WAVES)
    for border, of_rows in OF_BORDERS.items():
        counts = [np.diff(getattr(one, border)) for one in parts]
        columns[border] = borders(np.concatenate([np.zeros(0, np.int64), *counts]))
        dtypes |= of_rows
    for name, dtype in dtypes.items():
        columns[name] = np.concatenate([np.zeros(0, dtype), *(getattr(one, name) for one in parts)])
    return WaveRecords(**columns)


FLAG_BARRIER = 2  # the stream reports a barrier
REPLAYED = 14  # kind of a token that is not an instruction: the one before it is issued again


def with_state(
    waves: WaveRecords, wave: np.ndarray, begin: np.ndarray, lasts: np.ndarray, state: WaveState
) -> dict[str, np.ndarray]:
    """Return the columns of segments, with waves in a state from `begin` (cycles of the wave) on."""
    total = borders(np.maximum(waves.state_duration, 0))  # cycles of all waves, one after the other
    starts = total[waves.state_first]
    begins = np.minimum(starts[wave] + np.maximum(begin, 0), starts[wave + 1])
    ends = np.minimum(begins + lasts, starts[wave + 1])
    edges = np.sort(np.concatenate((total[:-1], begins, ends)), kind="stable")  # fast: they are sorted runs
    edges = edges[(edges < total[-1]) & (np.diff(edges, prepend=-1) > 0)]
    states = waves.state[np.searchsorted(total[:-1], edges, side="right") - 1]
    turns = np.zeros(len(edges) + 1, dtype=np.int64)
    np.add.at(turns, np.searchsorted(edges, begins), 1)
    np.add.at(turns, np.searchsorted(edges, ends), -1)
    states = np.where(np.cumsum(turns[:-1]) > 0, np.uint8(state), states)
    changes = np.diff(states, prepend=np.uint8(0)) != 0
    changes[np.searchsorted(edges, starts[starts < total[-1]])] = True
    edges = edges[changes]
    lasts = np.diff(np.append(edges, total[-1]))
    return {"state_first": np.searchsorted(edges, starts), "state": states[changes], "state_duration": lasts}


class OccupancyRecords(Record):
    """A wave began or ended anywhere on the shader engine; in the order of the stream."""

    time: np.ndarray  # int64, cycles
    is_start: np.ndarray  # bool
    cu: np.ndarray  # int16: compute unit, of RDNA the WGP + 128 * shader array
    simd: np.ndarray  # int16
    slot: np.ndarray  # int16
    me: np.ndarray  # int16
    pipe: np.ndarray  # int16
    entry: np.ndarray  # uint64, byte address of the kernel; ends repeat the value of their start
    workgroup: np.ndarray  # int16, -1 unknown
    cluster: np.ndarray  # int16, -1 unknown


class DispatchRecord(Value):
    """A launch in the stream."""

    time: int  # cycles
    me: int
    pipe: int
    entry: int  # byte address
    vgprs: int = 0
    sgprs: int = 0
    user_sgprs: int = 0
    lds_size: int = 0  # bytes
    workgroup_size: tuple[int, int, int] = (0, 0, 0)
    packet: int = 0  # address of the dispatch packet
    flags: int = 0


class CodeObjectRecord(Value):
    """Code that was loaded at or unloaded from an address, as the recording tool states."""

    time: int  # cycles
    id: int
    address: int  # bytes
    size: int  # bytes
    is_unload: bool = False
    is_from_start: bool = False  # loaded before the trace began


class DecodedStream(Record):
    """One decoded `.att` file."""

    gfxip: int  # 9, 10, 11, 12: major version of the graphics IP; gfx1250 is 12
    version: int  # of the stream's layout: gfx9 the kind in its header (4…6), later 1…5
    se: int  # shader engine in the header, -1 if it has none
    cu: int  # traced compute unit, of RDNA the WGP + 128 * shader array; -1 unknown
    simds: int  # mask of the traced SIMDs
    waves: RecordedWaves
    occupancy: OccupancyRecords
    realtime: np.ndarray  # int64 [n, 2]: cycles of the shader clock, ticks of the constant clock
    frequency: int = 0  # Hz of the constant clock; 0: unknown
    dispatches: Sequence[DispatchRecord] = ()
    code_objects: tuple[CodeObjectRecord, ...] = ()
    events: np.ndarray = field(default_factory=lambda: np.zeros((0, 5), dtype=np.int64))
    """int64 [n, 5]: time, EventKind, ME, pipe, flags."""
    counters: np.ndarray = field(default_factory=lambda: np.zeros((0, 7), dtype=np.int64))
    """int64 [n, 7]: time, four counts since the sample before, compute unit, bank."""
    shader_data: np.ndarray = field(default_factory=lambda: np.zeros((0, 6), dtype=np.int64))
    """int64 [n, 6]: time, value below 2^32, compute unit, SIMD, slot, flags (1 immediate, 2 privileged)."""
    other_simd: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    """int64 [n, 3]: time, cycles, TokenKind."""
    other_simd_number: int = -1  # the SIMD that issued them
    tokens: int = 0  # of the stream, of every type
    excludes_barrier_waits: bool = False  # gfx12: s_barrier_wait leaves no token
    has_lost_data: bool = False  # the hardware reports that data was lost
    is_truncated: bool = False  # ends within a token
    lost_at: int = -1  # byte at which decoding stopped because no token fits; -1: it did not
