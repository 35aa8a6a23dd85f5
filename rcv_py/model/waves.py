"""Waves: the index of all of them, and one of them with its tokens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.model.ids import WaveId
from rcv_py.model.lod import WaveLod
from rcv_py.model.tokens import States, Tokens, Waits
from rcv_py.model.window import TimeWindow


@dataclass(frozen=True, eq=False)
class WaveIndex:
    """One row a traced wave, known before any wave file is opened; sorted by (se, simd, slot, wid)."""

    se: np.ndarray  # int16
    simd: np.ndarray  # int16
    slot: np.ndarray  # int16
    wid: np.ndarray  # int32, ordinal in its slot
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned
    cu: np.ndarray  # int16, compute unit (bits 0-6); -1 until known
    sa: np.ndarray  # int16, shader array
    kernel: np.ndarray  # int32, kernel id of the occupancy record; -1 if none matched
    size: np.ndarray  # int64, bytes of its file; 0 if it is missing
    file: tuple[str, ...]  # name inside the folder

    def __len__(self) -> int:
        return len(self.se)

    def id(self, row: int) -> WaveId:
        """The name of a wave."""
        return WaveId(int(self.se[row]), int(self.simd[row]), int(self.slot[row]), int(self.wid[row]))

    @cached_property
    def _row_of(self) -> dict[tuple[int, int, int, int], int]:
        keys = zip(self.se.tolist(), self.simd.tolist(), self.slot.tolist(), self.wid.tolist(), strict=True)
        return {key: row for row, key in enumerate(keys)}

    def row(self, wave: WaveId) -> int | None:
        """The row of a wave, or None if there is no such wave."""
        return self._row_of.get((wave.se, wave.simd, wave.slot, wave.wid))

    def span(self, row: int) -> TimeWindow:
        """The life of a wave."""
        return TimeWindow(int(self.begin[row]), int(self.end[row]))


@dataclass(frozen=True, slots=True, eq=False)
class Wave:
    """One traced wave with everything its file says."""

    row: int  # of the index
    id: WaveId
    cu: int
    begin: int  # cycles, aligned
    end: int  # cycles, aligned
    tokens: Tokens
    states: States
    waits: Waits | None  # None: the file says nothing (as opposed to: it never waited)
    workgroup: int = -1
    cluster: int = -1
    me: int = -1
    pipe: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class WaveBatch:
    """The waves that one loader job read.

    `columns` are the token columns of all of them, one after the other, so that analyses run over a
    few hundred batches instead of thousands of waves; wave i owns rows `first[i]:first[i + 1]` and its
    own tables are views into them.  `missing` lists (index row, sentence) of waves that could not be read,
    `notes` of waves that were read but are doubtful.
    """

    waves: tuple[Wave, ...]
    first: np.ndarray  # int64 [waves + 1]
    stall: np.ndarray  # int32 or int64
    busy: np.ndarray  # int32 or int64
    kind: np.ndarray  # uint8
    line: np.ndarray  # int16 or int32
    missing: tuple[tuple[int, str], ...] = ()
    nbytes: int = 0  # resident bytes of all columns
    lod: tuple[WaveLod, ...] = ()  # of each wave, once they are built
    notes: tuple[tuple[int, str], ...] = ()

    @classmethod
    def empty(cls, missing: tuple[tuple[int, str], ...] = ()) -> WaveBatch:
        """A batch without waves, that may say which could not be read."""
        column = np.zeros(0, dtype=np.int32)
        return cls(
            waves=(),
            first=np.zeros(1, dtype=np.int64),
            stall=column,
            busy=column,
            kind=np.zeros(0, dtype=np.uint8),
            line=column,
            missing=missing,
        )

    @property
    def rows(self) -> np.ndarray:
        """Index rows of the waves, int64."""
        return np.array([wave.row for wave in self.waves], dtype=np.int64)
