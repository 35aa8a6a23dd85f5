"""The token columns of chosen waves, one wave after the other: the input of every sum over tokens."""

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.saturated import later, narrow, sums, sums_of_runs
from rcv_py.base.record import Record
from rcv_py.base.runs import ascending, borders, run_starts
from rcv_py.model.columns import field_names
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.waves import TracedWave, WaveBatch

_MAX_CYCLE = 1 << 62  # cycles: every shifted time is earlier
_NAMED = np.where(np.arange(256) < KIND_COUNT, np.arange(256), int(TokenKind.NONE))  # of each kind


class TokenColumns(Record):
    """Columns of some waves, one wave after the other; wave i owns rows `first[i]:first[i + 1]`."""

    waves: tuple[TracedWave, ...]
    first: np.ndarray  # int64 [waves + 1]
    stall: np.ndarray  # int32 or int64, cycles
    busy: np.ndarray  # int32 or int64, cycles
    kind: np.ndarray  # uint8
    line: np.ndarray  # int16 or int32, -1 if no code line matched

    def __len__(self) -> int:
        return len(self.line)

    @cached_property
    def _code_rows(self) -> dict[int, np.ndarray]:
        return {}

    def code_rows(self, count: int) -> np.ndarray:
        """The code row of each token, int64; `count`, the number of code rows, if no row matched."""
        if count not in self._code_rows:
            line = self.line.astype(np.int64).view(np.uint64)  # -1 becomes the largest number
            self._code_rows[count] = np.minimum(line, np.uint64(count)).view(np.int64)
        return self._code_rows[count]

    def by_kind(self, count: int) -> np.ndarray:
        """Number of tokens by code row and kind, int64 [count, KIND_COUNT].

        Kinds without a name count as the last kind.
        """
        key = self.code_rows(count) * KIND_COUNT
        key += np.minimum(self.kind, KIND_COUNT - 1)
        found = np.bincount(key, minlength=(count + 1) * KIND_COUNT)
        return found[: count * KIND_COUNT].reshape(count, KIND_COUNT)

    def executions(self, count: int) -> np.ndarray:
        """Number of tokens of each code row, int64 [count]."""
        return np.bincount(self.code_rows(count), minlength=count + 1)[:count]

    @property
    def duration(self) -> np.ndarray:
        """Stall plus busy of each token, int64."""
        return self.stall.astype(np.int64) + self.busy

    @cached_property
    def start(self) -> np.ndarray:
        """Start of each token in aligned cycles, int64."""
        start = np.repeat(_numbers(wave.tokens.base for wave in self.waves), np.diff(self.first))
        start += _joined([wave.tokens.offset for wave in self.waves], np.int64)
        return start

    def starts_at(self, rows: np.ndarray, owner: np.ndarray) -> np.ndarray:
        """Starts of a few tokens, int64, given their ascending rows and the waves that own them."""
        parts = np.split(rows, run_starts(owner)[1:]) if len(rows) else []
        starts = []
        for part, at in zip(parts, ascending(owner).tolist(), strict=True):
            tokens = self.waves[at].tokens
            starts.append(tokens.offset[part - self.first[at]].astype(np.int64) + tokens.base)
        return _joined(starts, np.int64)

    @cached_property
    def lives(self) -> tuple[np.ndarray, np.ndarray]:
        """Begin and end of each wave in aligned cycles, int64 [waves]; in damaged waves out of order."""
        return _numbers([wave.begin for wave in self.waves]), _numbers([wave.end for wave in self.waves])

    @cached_property
    def rows(self) -> np.ndarray:
        """Row of each wave in the wave index, int64 [waves]."""
        return _numbers([wave.row for wave in self.waves])

    @cached_property
    def engines(self) -> np.ndarray:
        """Shader engine of each wave, int64 [waves]."""
        return _numbers([wave.id.se for wave in self.waves])

    @cached_property
    def cus(self) -> np.ndarray:
        """Compute unit of each wave, int64 [waves], -1 if unknown."""
        return _numbers([wave.cu for wave in self.waves])

    @cached_property
    def simds(self) -> np.ndarray:
        """SIMD of each wave, int64 [waves]."""
        return _numbers([wave.id.simd for wave in self.waves])

    @property
    def places(self) -> np.ndarray:
        """A number of the SIMD of each wave in the trace, int64 [waves]: engine * 256 + SIMD."""
        return self.engines * 256 + self.simds

    @cached_property
    def units(self) -> np.ndarray:
        """A number of the compute unit of each wave, int64 [waves]: engine * 4096 + unit, 0 if unknown."""
        return self.engines * 4096 + np.maximum(0, self.cus)

    @cached_property
    def issue(self) -> np.ndarray:
        """Issue time of each token (its stall is over) in aligned cycles, int64; at most MAX_CYCLES."""
        return later(self.start, self.stall)

    @property
    def end(self) -> np.ndarray:
        """End of each token in aligned cycles, int64; at most MAX_CYCLES.  Not cached: few are needed."""
        return later(self.issue, self.busy)

    @cached_property
    def last_end(self) -> int:
        """The latest end of all tokens in aligned cycles, the smallest int64 without tokens."""
        return int(self.end.max(initial=np.iinfo(np.int64).min))

    def ends_at(self, rows: np.ndarray) -> np.ndarray:
        """Ends of some tokens."""
        return later(self.issue.take(rows), self.busy.take(rows))

    @cached_property
    def owner(self) -> np.ndarray:
        """Position in `waves` of the wave of each token, int64."""
        return np.repeat(np.arange(len(self.waves)), np.diff(self.first))

    @cached_property
    def is_last(self) -> np.ndarray:
        """Whether a token is the last of its wave, bool."""
        last = np.zeros(len(self), dtype=bool)
        last[self.first[1:][np.diff(self.first) > 0] - 1] = True
        return last

    @cached_property
    def idle(self) -> np.ndarray:
        """Cycles between the latest end so far in the wave (at first: its begin) and each start.

        int32, or int64 if values do not fit.
        """
        begin = self.lives[0][self.owner]
        start = self.start - begin
        end = np.maximum(later(start, later(self.stall, self.busy)), 0)
        reach = int(max(end.max(initial=0), start.max(initial=0))) + 1
        if reach > _MAX_CYCLE // max(1, len(self.waves)):
            return narrow(self._idle_of_each(start, end))
        # With each wave shifted beyond all ends of the wave before, one running maximum serves them all.
        shift = self.owner * reach
        end += shift
        latest = np.maximum.accumulate(np.concatenate([[0], end]))[:-1]
        start += shift
        return narrow(np.maximum(0, start - np.maximum(latest, shift)))

    def _idle_of_each(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The same wave by wave: times of a damaged file are too far apart to be shifted."""
        idle = np.zeros(len(self), dtype=np.int64)
        for low, high in pairwise(self.first.tolist()):
            latest = np.maximum.accumulate(np.concatenate([[0], end[low:high]]))[:-1]
            idle[low:high] = np.maximum(0, start[low:high] - latest)
        return idle


def batch_of(waves: Iterable[TracedWave], missing: tuple[tuple[int, str], ...] = ()) -> WaveBatch:
    """Return a batch of these waves."""
    tokens = of_waves(waves)
    return WaveBatch(**{name: getattr(tokens, name) for name in field_names(TokenColumns)}, missing=missing)


def columns_of(batch: WaveBatch) -> TokenColumns:
    """Return the columns of all waves of a batch."""
    return TokenColumns(batch.waves, batch.first, batch.stall, batch.busy, batch.kind, batch.line)


def of_waves(waves: Iterable[TracedWave]) -> TokenColumns:
    """Return the columns of these waves."""
    waves = tuple(waves)
    tokens = [wave.tokens for wave in waves]
    first = borders([len(table) for table in tokens])
    stall, busy, line = (
        _joined([getattr(table, name) for table in tokens], np.int32) for name in ("stall", "busy", "line")
    )
    kind = _joined([table.kind for table in tokens], np.uint8)
    return TokenColumns(waves, first, stall, busy, kind, line)


def _numbers(values: Iterable[int]) -> np.ndarray:
    return np.array([*values], dtype=np.int64)


def _joined(columns: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate(columns) if columns else np.zeros(0, dtype=dtype)


class StateColumns(NamedTuple):
    """The recorded states of some waves, one wave after the other."""

    owner: np.ndarray  # int64, position of the wave
    state: np.ndarray  # uint8, WaveState, or a number that is none
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned; in a damaged wave the last may be before its begin


def states_of(waves: Iterable[TracedWave]) -> StateColumns:
    """Return the states of these waves."""
    tables = [wave.states for wave in waves]
    first = borders([len(table) for table in tables])
    base = _numbers(table.base for table in tables)
    begin = np.repeat(base, np.diff(first)) + _joined([table.offset for table in tables], np.int64)
    end = np.append(begin[1:], 0)[: len(begin)]
    some = np.flatnonzero(np.diff(first))
    end[first[some + 1] - 1] = (base + _numbers(table.length for table in tables))[some]
    owner = np.repeat(np.arange(len(tables)), np.diff(first))
    return StateColumns(owner, _joined([table.state for table in tables], np.uint8), begin, end)


class SpanSums:
    """Sums of token columns over spans whose ends are among the given cuts (tokens)."""

    def __init__(self, tokens: TokenColumns, cuts: np.ndarray) -> None:
        self._tokens = tokens
        self._cut = ascending(np.concatenate([[0, len(tokens)], cuts]).astype(np.int64))
        self._before: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # by id: the column and its sums

    @cached_property
    def _kinds(self) -> np.ndarray:
        """Cycles of each kind before each cut, int64 [cuts, kinds]."""
        count = len(self._cut) - 1
        segment = np.repeat(np.arange(count), np.diff(self._cut))
        by_kind = sums_by_kind(segment, self._tokens.kind, self._tokens.duration, count)
        return np.pad(np.cumsum(by_kind, axis=0), ((1, 0), (0, 0)))

    def sums(self, column: np.ndarray, first: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return the sum of a column over the tokens of each span, int64."""
        if id(column) not in self._before:
            self._before[id(column)] = column, borders(sums_of_runs(column, self._cut[:-1]))
        before = self._before[id(column)][1]
        return before[np.searchsorted(self._cut, stop)] - before[np.searchsorted(self._cut, first)]

    def kinds(self, first: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return the cycles (stall and busy) of each kind of token in each span, int64 [spans, kinds]."""
        low, high = (np.searchsorted(self._cut, rows) for rows in (first, stop))
        return self._kinds[high] - self._kinds[low]


def sums_by_kind(group: np.ndarray, kind: np.ndarray, value: np.ndarray, n: int) -> np.ndarray:
    """Return the sum of `value` by `group` (0 to n - 1) and TokenKind, int64 [n, KIND_COUNT].

    Kinds without a name count as NONE.
    """
    key = group * KIND_COUNT
    key += kind if int(kind.max(initial=0)) < KIND_COUNT else _NAMED.take(kind)  # slow, but rare
    return sums(key, value, n * KIND_COUNT).reshape(n, KIND_COUNT)
