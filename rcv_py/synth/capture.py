"""A synthetic capture in memory: its content, and the truth about it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np
from msgspec import field

from rcv_py.base.record import Record, Value
from rcv_py.base.runs import run_starts
from rcv_py.model.kinds import TokenKind, WaveState
from rcv_py.synth.program import SOURCES, Source, SyntheticKernel


class WaveRun(Value):
    """A traced wave as in its file.  Times are raw cycles of its shader engine."""

    se: int
    simd: int
    slot: int
    wid: int
    cu: int
    begin: int
    end: int
    kernel: int  # index into `SyntheticCapture.kernels`
    workgroup: int
    tokens: np.ndarray  # int64 [n, 5]: time, category, stall, duration, code row
    timeline: np.ndarray  # int64 [m, 2]: state, duration
    waits: tuple[tuple[int, tuple[int, ...]], ...]  # (code row of the wait, code rows it released)

    @property
    def key(self) -> tuple[int, int, int, int]:
        """Key of the wave: shader engine, SIMD, slot, ordinal in the slot."""
        return (self.se, self.simd, self.slot, self.wid)

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"se{self.se}_sm{self.simd}_sl{self.slot}_wv{self.wid}.json"


class SyntheticCapture(Record):
    """Everything that goes into a folder."""

    generation: int
    kernels: tuple[SyntheticKernel, ...]
    waves: tuple[WaveRun, ...]
    truth: Truth
    realtime: Mapping[int, list[tuple[int, int]]] = field(default_factory=dict)  # se: (cycle, 100 MHz tick)
    counter_names: tuple[str, ...] = ()
    counters: Mapping[int, np.ndarray] = field(default_factory=dict)  # se: int64 [n, 7]
    shaderdata: Mapping[int, np.ndarray] = field(default_factory=dict)  # se: int64 [n, 6]
    other_simd: Mapping[int, np.ndarray] = field(default_factory=dict)  # se: int64 [n, 3]
    events: Mapping[int, list[dict[str, Any]]] = field(default_factory=dict)  # se: records of version 3.1
    spm: Mapping[str, Any] = field(default_factory=dict)
    pc_samples: tuple[np.ndarray, np.ndarray] | None = None  # samplers.pc_samples; then there are no waves
    code_extras: Mapping[str, Any] = field(default_factory=dict)  # further keys of code.json
    sources: Mapping[str, Source] = field(default_factory=lambda: SOURCES)

    @property
    def has_code(self) -> bool:
        """Whether anything with recorded code ran."""
        return bool(self.waves) or self.pc_samples is not None


def timeline(tokens: np.ndarray, begin: int, end: int) -> np.ndarray:
    """Return the wave states between begin and end, int64 [m, 2]: state, duration.

    Stalls of waits and the whole last instruction are WAIT, other stalls STALL, the rest EXEC; IDLE before
    the first token and after the last.
    """
    time, kind, stall, duration, _ = tokens.T
    is_end = kind == TokenKind.MSG
    is_end[:-1] = False
    stop = time + np.where(is_end, duration, stall)
    state = np.where((kind == TokenKind.IMMED) | is_end, WaveState.WAIT, WaveState.STALL)
    edges = np.column_stack([time, stop]).ravel()
    states = np.column_stack([state, np.full_like(state, WaveState.EXEC)]).ravel()
    last = int((time + duration).max())
    edges = np.concatenate([[begin], [time[0]], edges, [last], [max(end, last)]])
    states = np.concatenate([[WaveState.IDLE], [WaveState.EXEC], states, [WaveState.IDLE]])
    length = np.diff(edges)
    states, length = states[length > 0], length[length > 0]
    starts = run_starts(states)
    return np.column_stack([states[starts], np.add.reduceat(length, starts)])


class SimulatedCause(IntEnum):
    """Why a token stalled, or why there was a gap before it."""

    NONE = 0
    FETCH = 1  # instruction not in the cache, or fetch after a branch
    DEPENDENCY = 2  # a result of the matrix unit was not ready
    COUNTER = 3  # s_waitcnt: memory had not returned
    SLEEP = 4  # s_nop and similar: delays in the program
    BARRIER = 5  # other waves of the workgroup had not arrived
    ARBITER = 6  # another wave had the unit in this cycle
    PIPE = 7  # the unit, or the queue before it, was full
    DRAIN = 8  # s_endpgm: stores were in flight
    LAUNCH = 9  # before the first instruction
    OWN_UNIT = 10  # the wave's own previous instruction still held the unit
    UNTOLD = 11  # held for a reason that no file records


class WaveTruth(Value):
    """Ground truth of a wave; one row a token unless stated otherwise."""

    instruction: np.ndarray  # int32, instruction of the kernel
    cause: np.ndarray  # uint8, Cause of the stall
    gap_cause: np.ndarray  # uint8, Cause of the gap before the token
    producer: np.ndarray  # int32, token it waited for, -1 if none
    returned: np.ndarray  # int64, cycle at which its memory operation was done, -1 if not a memory operation
    releases: tuple[tuple[int, tuple[int, ...]], ...]  # (wait token, tokens it released), as in the file
    iterations: Mapping[str, tuple[int, ...]]  # of loops by label, of each visit
    kernel: int  # index of the launch's kernel
    workgroup: int
    blamed: np.ndarray  # int32, instruction of any wave that made it stall (producer, holder of unit), or -1
    blamed_wave: np.ndarray  # int64 [n, 3], simd, slot and wid of the wave that made it stall; -1 if none
    held: np.ndarray  # int64 [n, causes], cycles of the stall that each cause alone explains; they overlap
    holder: np.ndarray  # int32 [n, causes], instruction of any wave to blame for each of these, -1 if none


class Truth(Value):
    """The truth about a capture.  Times are raw cycles of the wave's shader engine, as in the files."""

    waves: Mapping[tuple[int, int, int, int], WaveTruth]  # (se, simd, slot, wid)
    lines: np.ndarray  # int64 [rows, 4]: hits, latency, stall, idle of each code row, as simulated
    residencies: np.ndarray  # int64 [n, 8]: se, cu, simd, slot, begin, end, kernel, workgroup
    offset_of_se: Mapping[int, int]  # cycles to add to put all shader engines on one clock
    scopes: np.ndarray  # int64 [n, 8]: se, simd, slot, begin, end, depth, marker, 1 for a point; of all SIMDs
