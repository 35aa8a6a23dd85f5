"""The raw waves of one job put together as columns: line numbers resolved, odd numbers tamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rcv_py.formats.columns import LIMIT, bounds, fit, frozen, tight
from rcv_py.formats.uiout.wave_json import RawWaits, RawWave
from rcv_py.model.kinds import TokenKind
from rcv_py.model.wave_columns import borders, joined

GROUP_TOKENS = 1 << 16
NEGATIVE = "has negative durations; they count as 0"


@dataclass(frozen=True, eq=False)
class LineNumbers:
    """The file's LineNumbers as rows of the code table."""

    row: np.ndarray  # int16 or int32 by LineNumber; the last one, -1, is for all others
    is_matrix: np.ndarray  # bool by LineNumber

    @classmethod
    def of(cls, row_of_number: np.ndarray, matrix: np.ndarray, labels: np.ndarray) -> LineNumbers:
        """Take over `CodeTable.row_of_number`; labels, and rows the code table lacks, are unresolved."""
        rows = row_of_number.astype(np.int64)
        rows[(rows < 0) | (rows >= len(labels))] = -1
        rows[rows >= 0] = np.where(labels[rows[rows >= 0]], -1, rows[rows >= 0])
        rows = np.append(rows, -1)
        is_matrix = (rows >= 0) & np.append(matrix, False)[rows]
        return cls(fit(rows, np.int16 if len(labels) < 1 << 15 else np.int32), is_matrix)

    def index(self, numbers: np.ndarray) -> np.ndarray:
        """Positions in `row` and `is_matrix` of any int64 numbers."""
        last = np.uint64(len(self.row) - 1)
        return np.minimum(numbers.view(np.uint64), last).view(np.int64)  # a negative one is huge unsigned


@dataclass(frozen=True, slots=True, eq=False)
class TokenColumns:
    """Token columns of several waves, each sorted by time."""

    first: np.ndarray  # int64 [waves + 1]
    base: list[int]  # of each wave, on the file's clock: its first start
    offset: np.ndarray
    stall: np.ndarray
    busy: np.ndarray
    kind: np.ndarray
    line: np.ndarray
    negative: list[int]  # waves with negative stalls or durations


def token_columns(raws: list[RawWave], numbers: LineNumbers) -> TokenColumns:
    """Join the instructions of waves."""
    groups = [_token_columns(group, numbers) for group in _groups(raws)]
    if len(groups) == 1:
        return groups[0]
    waves_before = np.cumsum([0] + [len(group.base) for group in groups]).tolist()
    return TokenColumns(
        borders([len(raw.tokens) for raw in raws]),
        [base for group in groups for base in group.base],
        *(
            frozen(joined([getattr(group, name) for group in groups], np.int32))
            for name in ("offset", "stall", "busy", "kind", "line")
        ),
        [
            before + wave
            for before, group in zip(waves_before, groups, strict=False)
            for wave in group.negative
        ],
    )


def _groups(raws: list[RawWave]) -> Iterator[list[RawWave]]:
    """Runs of waves whose int64 temporaries, 40 bytes a token, stay in the processor's cache."""
    group: list[RawWave] = []
    room = GROUP_TOKENS
    for raw in raws:
        if group and room < len(raw.tokens):
            yield group
            group, room = [], GROUP_TOKENS
        group.append(raw)
        room -= len(raw.tokens)
    yield group


def _token_columns(raws: list[RawWave], numbers: LineNumbers) -> TokenColumns:
    first = borders([len(raw.tokens) for raw in raws])
    table = np.empty((5, int(first[-1])), dtype=np.int64)
    base = [_place(table, raw, *ends) for raw, ends in zip(raws, _pairs(first), strict=True)]
    offset, kind, stall, duration, number = table
    _sort(table, first)
    negative = sorted({*_clamp(stall, first), *_clamp(duration, first)})
    short_stall, short_duration = tight(stall), tight(duration)
    busy = np.maximum(short_duration, short_stall)
    busy -= short_stall
    index = numbers.index(number)
    kinds = _bytes(kind)
    if numbers.is_matrix.any():
        kinds[(kinds == TokenKind.VALU) & numbers.is_matrix[index]] = TokenKind.MATRIX
    line = frozen(numbers.row[index])
    return TokenColumns(first, base, tight(offset), short_stall, frozen(busy), frozen(kinds), line, negative)


def _place(table: np.ndarray, raw: RawWave, begin: int, end: int) -> int:
    """Copy a wave's instructions into its columns, times counted from the first one, which is returned."""
    if begin == end:
        return 0
    part = table[:, begin:end]
    part[...] = raw.tokens.T
    base = int(part[0].min())
    part[0] -= base
    return base


def _sort(table: np.ndarray, first: np.ndarray) -> None:
    is_back = table[0, 1:] < table[0, :-1]
    if not is_back.any():
        return
    wave = np.searchsorted(first, np.flatnonzero(is_back), side="right") - 1
    for begin, end in zip(first[wave].tolist(), first[wave + 1].tolist(), strict=True):
        part = table[:, begin:end]
        if (part[0, 1:] < part[0, :-1]).any():
            part[...] = part[:, np.argsort(part[0], kind="stable")]


def _clamp(column: np.ndarray, first: np.ndarray) -> list[int]:
    """Make negative numbers 0; return the waves that had some."""
    if bounds(column)[0] >= 0:
        return []
    rows = np.flatnonzero(column < 0)
    column[rows] = 0
    return np.unique(np.searchsorted(first, rows, side="right") - 1).tolist()


def _bytes(column: np.ndarray) -> np.ndarray:
    """Numbers as uint8; 0 for those outside 0…255."""
    low, high = bounds(column)
    if low < 0 or high > 255:
        column = np.where((column < 0) | (column > 255), 0, column)
    return column.astype(np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class StateColumns:
    """State columns of several waves."""

    first: np.ndarray  # int64 [waves + 1]
    offset: np.ndarray
    state: np.ndarray
    length: list[int]  # cycles, of each wave
    negative: list[int]


def state_columns(raws: list[RawWave]) -> StateColumns:
    """Join the timelines of waves; a segment begins where the durations before it end."""
    first = borders([len(raw.timeline) for raw in raws])
    table = np.empty((2, int(first[-1])), dtype=np.int64)
    for raw, (begin, end) in zip(raws, _pairs(first), strict=True):
        table[:, begin:end] = raw.timeline.T
    negative = _clamp(table[1], first)
    offset = np.empty_like(table[1])
    length = []
    for begin, end in _pairs(first):
        ends = np.cumsum(table[1, begin:end])
        offset[begin:end] = ends - table[1, begin:end]
        length.append(int(ends[-1]) if begin < end else 0)
    return StateColumns(first, tight(offset), frozen(_bytes(table[0])), length, negative)


def wait_columns(waits: list[RawWaits], numbers: LineNumbers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join the waits of waves: lines, borders of each wave one behind the other, producers; all int32."""
    lines, producers = (
        joined(column, np.int64) for column in ([w.line for w in waits], [w.depends_on for w in waits])
    )
    firsts = [borders(wait.count.tolist()) for wait in waits]
    return (
        frozen(numbers.row[numbers.index(lines)].astype(np.int32)),
        fit(joined(firsts, np.int64), np.int32),
        frozen(numbers.row[numbers.index(producers)].astype(np.int32)),
    )


def is_too_long(raw: RawWave) -> bool:
    """Whether the sum of the timeline might not fit into 64 bits."""
    return float(np.abs(raw.timeline[:, 1]).sum(dtype=np.float64)) >= LIMIT


def _pairs(first: np.ndarray) -> list[tuple[int, int]]:
    return list(pairwise(first.tolist()))
