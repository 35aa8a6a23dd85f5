"""The wave files of a capture: read on request, in any process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rcv_py.base.errors import BrokenFile, TraceError
from rcv_py.formats.input.columns import whole_number
from rcv_py.formats.input.files import read_bytes
from rcv_py.formats.uiout.wave_json import RawWave, parse
from rcv_py.formats.uiout.wave_table import (
    NEGATIVE,
    LineNumbers,
    is_too_long,
    state_columns,
    token_columns,
    wait_columns,
)
from rcv_py.model.wave_columns import WaveColumns, WaveFacts
from rcv_py.model.waves import WaveBatch, WaveIndex

_ABSENT = -(1 << 62)  # no number of a file is that small
Notes = list[tuple[int, str]]


@dataclass(frozen=True, eq=False)
class WaveFiles:
    """Reads waves of one capture.  Picklable, and nothing changes but caches."""

    folder: Path
    index: WaveIndex  # aligned
    offset_of_se: Mapping[int, int]  # cycles added to the times of a shader engine; absent means 0
    row_of_number: np.ndarray  # int32, CodeTable.row_of_number
    matrix: np.ndarray  # bool per code row: VALU tokens of these rows become MATRIX
    labels: np.ndarray  # bool per code row: no token can be there
    base_clock: int = 4  # smallest step of time; tokens may overlap by so much and still share a lane

    def read(self, rows: list[int]) -> WaveBatch:
        """Read the waves at these rows of the index; what cannot be read is listed in the batch."""
        return self.columns(rows).batch()

    def columns(self, rows: list[int]) -> WaveColumns:
        """The same as arrays alone."""
        raws: list[RawWave] = []
        found: list[int] = []
        missing: Notes = []
        for row in rows:
            try:
                raws.append(self._raw(row))
                found.append(row)
            except TraceError as error:
                missing.append((row, str(error)))
        return self._joined(found, raws, missing)

    @cached_property
    def numbers(self) -> LineNumbers:
        """LineNumbers as rows of the code table."""
        return LineNumbers.of(self.row_of_number, self.matrix, self.labels)

    def _raw(self, row: int) -> RawWave:
        name = self.index.file[row]
        try:
            raw = parse(read_bytes(self.folder, name))
        except ValueError as error:
            raise BrokenFile(name, str(error)) from error
        if is_too_long(raw):
            raise BrokenFile(name, "its timeline is longer than any trace")
        return raw

    def _joined(self, rows: list[int], raws: list[RawWave], missing: Notes) -> WaveColumns:
        tokens, states = token_columns(raws, self.numbers), state_columns(raws)
        waits = wait_columns([raw.waits for raw in raws if raw.waits is not None], self.numbers)
        facts, notes = [], []
        for i, (row, raw) in enumerate(zip(rows, raws, strict=True)):
            shift = int(self.offset_of_se.get(int(self.index.se[row]), 0))
            life, note = self._life(row, raw.facts, shift)
            notes += [(row, note)] if note else []
            notes += [(row, f"{self.index.file[row]} is damaged: {doubt}.") for doubt in raw.doubts]
            base = tokens.base[i] + shift if len(raw.tokens) else life[0]
            waited = -1 if raw.waits is None else len(raw.waits.line)
            facts.append((*self._place(row, raw.facts, life), base, life[0], states.length[i], waited))
        for i in sorted({*tokens.negative, *states.negative}):
            notes.append((rows[i], f"{self.index.file[rows[i]]} {NEGATIVE}."))
        return WaveColumns(
            np.array(facts, dtype=np.int64).reshape(len(rows), len(WaveFacts._fields)),
            tokens.first,
            tokens.offset,
            tokens.stall,
            tokens.busy,
            tokens.kind,
            tokens.line,
            states.first,
            states.offset,
            states.state,
            *waits,
            missing=tuple(missing),
            notes=tuple(notes),
        )

    def _life(self, row: int, said: dict[str, Any], shift: int) -> tuple[tuple[int, int], str]:
        """Aligned begin and end of a wave, and a sentence if the index says otherwise."""
        listed = int(self.index.begin[row]), int(self.index.end[row])
        begin = _number(said, "begin", listed[0] - shift) + shift
        end = max(begin, _number(said, "end", listed[1] - shift) + shift)
        if (begin, end) == listed:
            return listed, ""
        name, (first, last) = self.index.file[row], (time - shift for time in listed)
        note = (
            f"{name} holds a wave that ran from cycle {begin - shift:,} to {end - shift:,}, "
            f"but filenames.json lists {first:,} to {last:,}; the wave file is right."
        )
        return (begin, end), note

    def _place(self, row: int, said: dict[str, Any], life: tuple[int, int]) -> tuple[int, ...]:
        """The fields of WaveFacts up to `pipe`."""
        index = self.index
        cu, dispatcher = _number(said, "cu", -1), _number(said, "dispatcher", -1)
        return (
            row,
            int(index.se[row]),
            int(index.simd[row]),
            int(index.slot[row]),
            int(index.wid[row]),
            cu & 0x7F if cu >= 0 else int(index.cu[row]),
            *life,
            _number(said, "workgroup_id", -1),
            _number(said, "cluster_id", -1),
            (dispatcher >> 4) & 7 if dispatcher >= 0 else _number(said, "me_id", -1),
            dispatcher & 15 if dispatcher >= 0 else _number(said, "pipe_id", -1),
        )


def _number(facts: dict[str, Any], name: str, default: int) -> int:
    value = whole_number(facts.get(name), _ABSENT)
    return default if value == _ABSENT else value
