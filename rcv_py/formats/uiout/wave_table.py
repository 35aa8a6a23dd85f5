"""The raw waves of one job put together as columns: line numbers resolved, odd numbers tamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rcv_py.base.runs import borders
from rcv_py.formats.input.columns import LIMIT, bounds, fit, frozen, tight
from rcv_py.formats.uiout.wave_json import RawWaits, RawWave
from rcv_py.model.columns import joined as joined_tables
from rcv_py.model.kinds import TokenKind
from rcv_py.model.wave_columns import joined

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
        """Positions in `row` and `is_matrix` of any int32 or int64 numbers."""
        unsigned = np.uint32 if numbers.dtype == np.int32 else np.uint64
        last = unsigned(len(self.row) - 1)
        return np.minimum(numbers.view(unsigned), last).view(numbers.dtype)  # a negative one is huge unsigned


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
    return replace(
        joined_tables(groups),
        first=borders([len(raw.tokens) for raw in raws]),
        base=[base for group in groups for base in group.base],
        negative=[
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
    columns = tuple(_column([raw.tokens for raw in raws], place) for place in range(5))
    base = [_rebase(columns[0][begin:end]) for begin, end in _pairs(first)]
    _sort(columns, first)
    offset, kind, stall, duration, number = columns
    negative = sorted({*_clamp(stall, first), *_clamp(duration, first)})
    stall, duration = tight(stall), tight(duration)
    busy = np.maximum(duration, stall)
    busy -= stall
    index = numbers.index(number)
    kinds = _bytes(kind)
    if numbers.is_matrix.any():
        kinds[(kinds == TokenKind.VALU) & numbers.is_matrix[index]] = TokenKind.MATRIX
    line = frozen(numbers.row[index])
    return TokenColumns(first, base, tight(offset), stall, frozen(busy), frozen(kinds), line, negative)


def _column(tables: list[np.ndarray], place: int) -> np.ndarray:
    """One column of several tables as a new array of its own: a view would keep all the others alive."""
    return joined([table[:, place] for table in tables], np.int32)


def _rebase(times: np.ndarray) -> int:
    """Count times from the first one, in place, and return that one."""
    if not len(times):
        return 0
    base = int(times.min())
    times -= base
    return base


def _sort(columns: tuple[np.ndarray, ...], first: np.ndarray) -> None:
    time = columns[0]
    is_back = time[1:] < time[:-1]
    if not is_back.any():
        return
    wave = np.searchsorted(first, np.flatnonzero(is_back), side="right") - 1
    for begin, end in zip(first[wave].tolist(), first[wave + 1].tolist(), strict=True):
        if (time[begin + 1 : end] < time[begin : end - 1]).any():
            order = np.argsort(time[begin:end], kind="stable")
            for column in columns:
                column[begin:end] = column[begin:end][order]


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
    state, duration = (_column([raw.timeline for raw in raws], place) for place in range(2))
    negative = _clamp(duration, first)
    length = [int(duration[begin:end].sum(dtype=np.int64)) for begin, end in _pairs(first)]
    offset = np.zeros(len(duration), np.int32 if max(length, default=0) < 1 << 31 else np.int64)
    for begin, end in _pairs(first):
        if end > begin:
            np.cumsum(duration[begin : end - 1], out=offset[begin + 1 : end])
    return StateColumns(first, frozen(offset), frozen(_bytes(state)), length, negative)


def wait_columns(waits: list[RawWaits], numbers: LineNumbers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join the waits of waves: lines, borders of each wave one after the other, producers; all int32."""
    lines, producers = (
        joined(column, np.int64) for column in ([w.line for w in waits], [w.depends_on for w in waits])
    )
    firsts = [borders(wait.count) for wait in waits]
    return (
        frozen(numbers.row[numbers.index(lines)].astype(np.int32)),
        fit(joined(firsts, np.int64), np.int32),
        frozen(numbers.row[numbers.index(producers)].astype(np.int32)),
    )


def is_too_long(raw: RawWave) -> bool:
    """Whether the sum of the timeline might not fit into 64 bits."""
    if raw.timeline.dtype == np.int32:
        return False
    return float(np.abs(raw.timeline[:, 1]).sum(dtype=np.float64)) >= LIMIT


def _pairs(first: np.ndarray) -> list[tuple[int, int]]:
    return list(pairwise(first.tolist()))
