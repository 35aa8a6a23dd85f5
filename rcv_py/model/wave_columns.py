"""Many waves as a few long arrays: how waves are read and prepared, and how they cross a process border."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rcv_py.base.runs import borders
from rcv_py.model.ids import WaveId
from rcv_py.model.lod import WaveLod
from rcv_py.model.tokens import States, Tokens, Waits
from rcv_py.model.waves import Wave, WaveBatch


class WaveFacts(NamedTuple):
    """What is known of one wave besides its columns, all whole numbers."""

    row: int
    se: int
    simd: int
    slot: int
    wid: int
    cu: int
    begin: int
    end: int
    workgroup: int
    cluster: int
    me: int
    pipe: int
    token_base: int
    state_base: int
    state_length: int
    waits: int  # how many; -1: the file says nothing


@dataclass(frozen=True, slots=True, eq=False)
class LodColumns:
    """The level-of-detail tables of many waves as four arrays."""

    facts: np.ndarray  # int64 [waves, 3]: base, shift, levels
    sizes: np.ndarray  # int64, buckets of every level of every wave
    kind: np.ndarray  # uint8
    state: np.ndarray  # uint8 [buckets, 4]

    @classmethod
    def of(cls, lods: list[WaveLod]) -> LodColumns:
        """Put the levels of all waves one after the other."""
        facts = np.array([(lod.base, lod.shift, len(lod.kind)) for lod in lods], dtype=np.int64)
        kinds = [level for lod in lods for level in lod.kind]
        states = [level for lod in lods for level in lod.state]
        return cls(
            facts.reshape(len(lods), 3),
            np.array([len(level) for level in kinds], dtype=np.int64),
            joined(kinds, np.uint8),
            joined(states, np.uint8).reshape(-1, 4),
        )

    def tables(self) -> tuple[WaveLod, ...]:
        """The tables again; their arrays are views."""
        levels = _slices(borders(self.sizes))
        kinds, states = [self.kind[part] for part in levels], [self.state[part] for part in levels]
        waves = _slices(borders(self.facts[:, 2]))
        return tuple(
            WaveLod(base, shift, tuple(kinds[mine]), tuple(states[mine]))
            for (base, shift, _), mine in zip(self.facts.tolist(), waves, strict=True)
        )


@dataclass(frozen=True, slots=True, eq=False)
class WaveColumns:
    """A WaveBatch without its objects: wave i owns `token_first[i]:token_first[i + 1]`, and so on."""

    facts: np.ndarray  # int64 [waves, 16], WaveFacts
    token_first: np.ndarray  # int64 [waves + 1]
    offset: np.ndarray  # int32 or int64, and so are `stall` and `busy`
    stall: np.ndarray
    busy: np.ndarray
    kind: np.ndarray  # uint8
    line: np.ndarray  # int16 or int32
    state_first: np.ndarray  # int64 [waves + 1]
    state_offset: np.ndarray  # int32 or int64
    state: np.ndarray  # uint8
    wait_line: np.ndarray  # int32, all waits of all waves
    wait_first: np.ndarray  # int32, `Waits.first` of all waves that have waits, one after the other
    depends_on: np.ndarray  # int32
    lane: np.ndarray | None = None  # uint8, of the waves with `has_lanes`
    has_lanes: np.ndarray | None = None  # bool [waves]
    lod: LodColumns | None = None  # None: not built
    missing: tuple[tuple[int, str], ...] = ()
    notes: tuple[tuple[int, str], ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return sum(array.nbytes for array in self._arrays())

    def batch(self) -> WaveBatch:
        """The waves as objects; all their arrays are read-only views of the columns."""
        for array in self._arrays():
            array.flags.writeable = False
        return WaveBatch(
            tuple(self._waves()),
            self.token_first,
            self.stall,
            self.busy,
            self.kind,
            self.line,
            self.missing,
            self.nbytes,
            () if self.lod is None else self.lod.tables(),
            self.notes,
        )

    def _arrays(self) -> list[np.ndarray]:
        parts = (self,) if self.lod is None else (self, self.lod)
        values = (getattr(part, field.name) for part in parts for field in fields(part))
        return [value for value in values if isinstance(value, np.ndarray)]

    def _waves(self) -> list[Wave]:
        tokens, states = _slices(self.token_first), _slices(self.state_first)
        waits, lanes = self._waits(), self._lanes()
        waves = []
        for i, numbers in enumerate(self.facts.tolist()):
            fact, mine = WaveFacts(*numbers), tokens[i]
            waves.append(
                Wave(
                    fact.row,
                    WaveId(fact.se, fact.simd, fact.slot, fact.wid),
                    fact.cu,
                    fact.begin,
                    fact.end,
                    Tokens(
                        fact.token_base,
                        self.offset[mine],
                        self.stall[mine],
                        self.busy[mine],
                        self.kind[mine],
                        self.line[mine],
                        lanes[i],
                    ),
                    States(
                        fact.state_base,
                        self.state_offset[states[i]],
                        self.state[states[i]],
                        fact.state_length,
                    ),
                    waits[i],
                    fact.workgroup,
                    fact.cluster,
                    fact.me,
                    fact.pipe,
                )
            )
        return waves

    def _waits(self) -> list[Waits | None]:
        waits: list[Waits | None] = []
        line = first = producer = 0
        for count in self.facts[:, -1].tolist():
            if count < 0:
                waits.append(None)
                continue
            mine = self.wait_first[first : first + count + 1]
            producers = int(mine[-1])
            depends_on = self.depends_on[producer : producer + producers]
            waits.append(Waits(self.wait_line[line : line + count], mine, depends_on))
            line, first, producer = line + count, first + count + 1, producer + producers
        return waits

    def _lanes(self) -> list[np.ndarray | None]:
        if self.lane is None or self.has_lanes is None:
            return [None] * len(self.facts)
        counts = np.where(self.has_lanes, np.diff(self.token_first), 0)
        parts = _slices(borders(counts))
        return [self.lane[part] if has else None for part, has in zip(parts, self.has_lanes, strict=True)]


def joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    """Arrays one after the other, of their own dtype; an empty one of `dtype` if there are none."""
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)


def _slices(first: np.ndarray) -> list[slice]:
    return [slice(begin, end) for begin, end in pairwise(first.tolist())]
