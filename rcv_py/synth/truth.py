"""What really happened in a simulated capture: causes, producers and sums that the files do not tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np


class Cause(IntEnum):
    """Why a token stalled, or why there was a gap before it."""

    NONE = 0
    FETCH = 1  # instruction not in the cache, or the way there after a branch
    DEPENDENCY = 2  # a result of the matrix unit was not there yet
    COUNTER = 3  # s_waitcnt: memory had not answered
    SLEEP = 4  # s_nop and its like: the program asked for it
    BARRIER = 5  # other waves of the workgroup were not there yet
    ARBITER = 6  # another wave had the unit in this cycle
    PIPE = 7  # the unit, or the queue before it, was full
    DRAIN = 8  # s_endpgm: stores were on their way
    LAUNCH = 9  # before the first instruction
    OWN_UNIT = 10  # the wave's own instruction before still had the unit
    UNTOLD = 11  # held back for a reason that no file tells


@dataclass(frozen=True, slots=True, eq=False)
class WaveTruth:
    """What the simulator knows of one wave; one row a token unless said otherwise."""

    instruction: np.ndarray  # int32, instruction of the kernel
    cause: np.ndarray  # uint8, Cause of the stall
    gap_cause: np.ndarray  # uint8, Cause of the gap before the token
    producer: np.ndarray  # int32, token it waited for, -1 if none
    returned: np.ndarray  # int64, cycle at which its memory operation was done, -1 if it is none
    releases: tuple[tuple[int, tuple[int, ...]], ...]  # (wait token, tokens it released), as in the file
    iterations: Mapping[str, tuple[int, ...]]  # of loops by label, of each visit
    kernel: int  # index of the launch's kernel
    workgroup: int
    blamed: (
        np.ndarray
    )  # int32, instruction of any wave that made it stall, or -1: producer, holder of the unit
    blamed_wave: np.ndarray  # int64 [n, 3], simd, slot and wid of the wave that made it stall; -1 if none
    held: np.ndarray  # int64 [n, causes], cycles of the stall that each cause alone explains: they overlap
    holder: np.ndarray  # int32 [n, causes], instruction of any wave to blame for each of these, -1 if none


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The truth about a capture.  Times are raw cycles of the wave's shader engine, as in the files."""

    waves: Mapping[tuple[int, int, int, int], WaveTruth]  # (se, simd, slot, wid)
    lines: np.ndarray  # int64 [rows, 4]: hits, latency, stall, idle of each code row, as simulated
    residencies: np.ndarray  # int64 [n, 8]: se, cu, simd, slot, begin, end, kernel, workgroup
    offset_of_se: Mapping[int, int]  # cycles to add to put all shader engines on one clock
    scopes: np.ndarray  # int64 [n, 8]: se, simd, slot, begin, end, depth, marker, 1 for a point; of all SIMDs
