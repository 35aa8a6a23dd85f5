"""Many waves as a few long arrays: how a reader builds a batch, and how a batch crosses a process border."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rcv_py.model.ids import WaveId
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
    wait_first: np.ndarray  # int32, `Waits.first` of all waves that have waits, one behind the other
    depends_on: np.ndarray  # int32
    lane: np.ndarray | None = None  # uint8, of the waves with `has_lanes`
    has_lanes: np.ndarray | None = None  # bool [waves]
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
            notes=self.notes,
        )

    def _arrays(self) -> list[np.ndarray]:
        values = (getattr(self, field.name) for field in fields(self))
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
            borders = self.wait_first[first : first + count + 1]
            producers = int(borders[-1])
            depends_on = self.depends_on[producer : producer + producers]
            waits.append(Waits(self.wait_line[line : line + count], borders, depends_on))
            line, first, producer = line + count, first + count + 1, producer + producers
        return waits

    def _lanes(self) -> list[np.ndarray | None]:
        if self.lane is None or self.has_lanes is None:
            return [None] * len(self.facts)
        counts = np.where(self.has_lanes, np.diff(self.token_first), 0)
        parts = _slices(np.concatenate([[0], np.cumsum(counts)]))
        return [self.lane[part] if has else None for part, has in zip(parts, self.has_lanes, strict=True)]


def columns_of(batch: WaveBatch) -> WaveColumns:
    """The columns of a batch whose waves may have got lanes since they were read."""
    waves = batch.waves
    waits = [wave.waits for wave in waves if wave.waits is not None]
    lanes = [wave.tokens.lane for wave in waves if wave.tokens.lane is not None]
    facts = np.array([_facts(wave) for wave in waves], dtype=np.int64)
    return WaveColumns(
        facts.reshape(len(waves), len(WaveFacts._fields)),
        batch.first,
        joined([wave.tokens.offset for wave in waves], np.int32),
        batch.stall,
        batch.busy,
        batch.kind,
        batch.line,
        borders([len(wave.states) for wave in waves]),
        joined([wave.states.offset for wave in waves], np.int32),
        joined([wave.states.state for wave in waves], np.uint8),
        joined([wait.line for wait in waits], np.int32),
        joined([wait.first for wait in waits], np.int32),
        joined([wait.depends_on for wait in waits], np.int32),
        joined(lanes, np.uint8) if lanes else None,
        np.array([wave.tokens.lane is not None for wave in waves]) if lanes else None,
        batch.missing,
        batch.notes,
    )


def borders(counts: list[int]) -> np.ndarray:
    """Where each of several runs begins, and where the last one ends; int64 [n + 1]."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    """Arrays behind each other, of their own dtype; an empty one of `dtype` if there are none."""
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)


def _facts(wave: Wave) -> WaveFacts:
    return WaveFacts(
        wave.row,
        wave.id.se,
        wave.id.simd,
        wave.id.slot,
        wave.id.wid,
        wave.cu,
        wave.begin,
        wave.end,
        wave.workgroup,
        wave.cluster,
        wave.me,
        wave.pipe,
        wave.tokens.base,
        wave.states.base,
        wave.states.length,
        -1 if wave.waits is None else len(wave.waits),
    )


def _slices(first: np.ndarray) -> list[slice]:
    return [slice(begin, end) for begin, end in pairwise(first.tolist())]
