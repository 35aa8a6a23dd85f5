"""The token columns of chosen waves, one wave after the other: the input of every sum over tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rcv_py.analysis.core.saturated import later, narrow, sums, sums_of_runs
from rcv_py.base.runs import ascending, borders, ranges, repeated, run_starts
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.waves import TracedWave, WaveBatch

_MAX_CYCLE = 1 << 62  # cycles: every shifted time is earlier
_NAMED = np.where(np.arange(256) < KIND_COUNT, np.arange(256), int(TokenKind.NONE))  # of each kind


@dataclass(frozen=True, eq=False)
class TokenColumns:
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

    @cached_property
    def _by_kind(self) -> dict[int, np.ndarray]:
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
        if count not in self._by_kind:
            key = self.code_rows(count) * KIND_COUNT
            key += np.minimum(self.kind, KIND_COUNT - 1)
            found = np.bincount(key, minlength=(count + 1) * KIND_COUNT)
            self._by_kind[count] = found[: count * KIND_COUNT].reshape(count, KIND_COUNT)
        return self._by_kind[count]

    def executions(self, count: int) -> np.ndarray:
        """Number of tokens of each code row, int64 [count]."""
        executed: np.ndarray = self.by_kind(count).sum(axis=1)
        return executed

    @property
    def duration(self) -> np.ndarray:
        """Stall plus busy of each token, int64."""
        return self.stall.astype(np.int64) + self.busy

    @cached_property
    def start(self) -> np.ndarray:
        """Start of each token in aligned cycles, int64."""
        start = repeated(_numbers(wave.tokens.base for wave in self.waves), np.diff(self.first))
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
        return repeated(np.arange(len(self.waves)), np.diff(self.first))

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
        return narrow(self._idle)

    @property
    def _idle(self) -> np.ndarray:
        begin, _ = self.lives
        quick = self._idle_in_order(begin)
        if quick is None:
            return self._idle_by_ends(begin)
        overlap = np.flatnonzero(quick < 0)
        if len(overlap):
            some = ascending(self.owner[overlap])
            part = of_waves([self.waves[at] for at in some.tolist()])
            idle = part._idle_by_ends(begin[some])
            quick[ranges(self.first[some], np.diff(self.first)[some])] = idle
        return quick

    def _idle_by_ends(self, begin: np.ndarray) -> np.ndarray:
        """The same for tokens that may overlap."""
        start = self.start - begin[self.owner]
        end = np.maximum(later(start, later(self.stall, self.busy)), 0)
        reach = int(max(end.max(initial=0), start.max(initial=0))) + 1
        if reach > _MAX_CYCLE // max(1, len(self.waves)):
            return self._idle_of_each(start, end)
        # With each wave shifted beyond all ends of the wave before, one running maximum serves them all.
        shift = self.owner * reach
        latest = np.maximum.accumulate(np.concatenate([[0], end + shift]))[:-1]
        return np.maximum(0, start + shift - np.maximum(latest, shift))

    def _idle_in_order(self, begin: np.ndarray) -> np.ndarray | None:
        """The same for the usual case that no token of a wave starts before the previous token ended.

        A wave with such a token has a negative number there and needs another pass; None: all waves do.
        """
        some = np.flatnonzero(np.diff(self.first))
        first = self.first[some]
        idle = np.zeros(len(self), dtype=np.int64)
        if not len(self):
            return None
        if self.last_end > _MAX_CYCLE or int(self.start.min()) < -_MAX_CYCLE:
            return None
        np.subtract(self.start[1:], self.issue[:-1], out=idle[1:])
        idle[1:] -= self.busy[:-1]
        idle[first] = self.start[first] - np.clip(begin[some], -_MAX_CYCLE, _MAX_CYCLE)
        return idle

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
    return WaveBatch(
        waves=tokens.waves,
        first=tokens.first,
        stall=tokens.stall,
        busy=tokens.busy,
        kind=tokens.kind,
        line=tokens.line,
        missing=missing,
    )


def columns_of(batch: WaveBatch) -> TokenColumns:
    """Return the columns of all waves of a batch."""
    return TokenColumns(batch.waves, batch.first, batch.stall, batch.busy, batch.kind, batch.line)


def of_waves(waves: Iterable[TracedWave]) -> TokenColumns:
    """Return the columns of these waves."""
    waves = tuple(waves)
    tokens = [wave.tokens for wave in waves]
    return TokenColumns(
        waves,
        borders([len(table) for table in tokens]),
        _joined([table.stall for table in tokens], np.int32),
        _joined([table.busy for table in tokens], np.int32),
        _joined([table.kind for table in tokens], np.uint8),
        _joined([table.line for table in tokens], np.int32),
    )


def _numbers(values: Iterable[int]) -> np.ndarray:
    return np.array([*values], dtype=np.int64)


def _joined(columns: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate(columns) if columns else np.zeros(0, dtype=dtype)


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
        segment = repeated(np.arange(count), np.diff(self._cut))
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
