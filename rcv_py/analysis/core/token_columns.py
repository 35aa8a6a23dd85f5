"""The token columns of chosen waves, batch by batch, each wave once.

Analyses that sum over tokens walk over these: they are those of a whole batch where that is possible, so
thousands of short waves cost a few hundred numpy calls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rcv_py.analysis.core.saturated import later
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.waves import Wave, WaveBatch

_FARTHEST = 1 << 62  # cycles: no shifted time is as late


@dataclass(frozen=True, eq=False)
class TokenColumns:
    """Columns of some waves, one wave after the other; wave i owns rows `first[i]:first[i + 1]`."""

    waves: tuple[Wave, ...]
    first: np.ndarray  # int64 [waves + 1]
    stall: np.ndarray  # int32 or int64, cycles
    busy: np.ndarray  # int32 or int64, cycles
    kind: np.ndarray  # uint8
    line: np.ndarray  # int16 or int32, -1 if no code line matched

    def __len__(self) -> int:
        return len(self.line)

    @property
    def duration(self) -> np.ndarray:
        """Stall plus busy of each token, int64."""
        return self.stall.astype(np.int64) + self.busy

    @cached_property
    def start(self) -> np.ndarray:
        """Start of each token in aligned cycles, int64."""
        return _joined([wave.tokens.start for wave in self.waves], np.int64)

    @cached_property
    def issue(self) -> np.ndarray:
        """When each token issued, its stall over, in aligned cycles, int64; at most MAX_CYCLES."""
        return later(self.start, self.stall)

    @cached_property
    def end(self) -> np.ndarray:
        """End of each token in aligned cycles, int64; at most MAX_CYCLES."""
        return later(self.issue, self.busy)

    @cached_property
    def owner(self) -> np.ndarray:
        """The place in `waves` of the wave of each token, int64."""
        return np.repeat(np.arange(len(self.waves)), np.diff(self.first))

    @cached_property
    def is_last(self) -> np.ndarray:
        """Whether a token is the last of its wave, bool."""
        last = np.zeros(len(self), dtype=bool)
        last[self.first[1:][np.diff(self.first) > 0] - 1] = True
        return last

    @cached_property
    def idle(self) -> np.ndarray:
        """Cycles between the latest end so far in the wave (at first: its begin) and each start, int64."""
        begin = np.array([wave.begin for wave in self.waves], dtype=np.int64)
        start = self.start - begin[self.owner]
        end = np.maximum(later(start, later(self.stall, self.busy)), 0)
        reach = int(max(end.max(initial=0), start.max(initial=0))) + 1
        if reach > _FARTHEST // max(1, len(self.waves)):
            return self._idle_of_each(start, end)
        # Shifting every wave beyond all ends of the one before lets one running maximum serve them all.
        shift = self.owner * reach
        latest = np.maximum.accumulate(np.concatenate([[0], end + shift]))[:-1]
        return np.maximum(0, start + shift - np.maximum(latest, shift))

    def _idle_of_each(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The same one wave after the other: times of a damaged file are too wide to be shifted."""
        idle = np.zeros(len(self), dtype=np.int64)
        for low, high in pairwise(self.first.tolist()):
            latest = np.maximum.accumulate(np.concatenate([[0], end[low:high]]))[:-1]
            idle[low:high] = np.maximum(0, start[low:high] - latest)
        return idle


def token_columns(
    batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> Iterator[TokenColumns]:
    """Yield the columns of all waves whose index row is in `rows` (None: all), each wave once."""
    seen: set[int] = set()
    for batch in batches:
        keep = [
            i
            for i, wave in enumerate(batch.waves)
            if wave.row not in seen and (rows is None or wave.row in rows)
        ]
        seen.update(batch.waves[i].row for i in keep)
        if len(keep) == len(batch.waves) and keep:
            yield columns_of(batch)
        elif keep:
            yield of_waves([batch.waves[i] for i in keep])


def waves_by_engine(batches: Iterable[WaveBatch]) -> list[list[Wave]]:
    """Return the waves of each shader engine, each once, so that memory is needed for one at a time."""
    found: dict[int, dict[int, Wave]] = {}
    for batch in batches:
        for wave in batch.waves:
            found.setdefault(wave.id.se, {}).setdefault(wave.row, wave)
    return [list(found[se].values()) for se in sorted(found)]


def batch_of(waves: Iterable[Wave], missing: tuple[tuple[int, str], ...] = ()) -> WaveBatch:
    """Return a batch of these waves."""
    one = of_waves(waves)
    return WaveBatch(one.waves, one.first, one.stall, one.busy, one.kind, one.line, missing)


def columns_of(batch: WaveBatch) -> TokenColumns:
    """Return the columns of all waves of a batch."""
    return TokenColumns(batch.waves, batch.first, batch.stall, batch.busy, batch.kind, batch.line)


def of_waves(waves: Iterable[Wave]) -> TokenColumns:
    """Return the columns of these waves."""
    waves = tuple(waves)
    tokens = [wave.tokens for wave in waves]
    first = np.concatenate([[0], np.cumsum([len(table) for table in tokens])]).astype(np.int64)
    return TokenColumns(
        waves,
        first,
        _joined([table.stall for table in tokens], np.int32),
        _joined([table.busy for table in tokens], np.int32),
        _joined([table.kind for table in tokens], np.uint8),
        _joined([table.line for table in tokens], np.int32),
    )


def _joined(columns: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate(columns) if columns else np.zeros(0, dtype=dtype)


class SpanSums:
    """Sums of token columns over spans whose ends are among the given cuts (rows of the piece)."""

    def __init__(self, piece: TokenColumns, cuts: np.ndarray) -> None:
        cut = np.sort(np.concatenate([[0, len(piece)], cuts]).astype(np.int64), kind="stable")
        self._cut = cut[np.append(True, cut[1:] != cut[:-1])]
        self._segment = np.repeat(np.arange(len(self._cut) - 1), np.diff(self._cut))
        kind = np.where(piece.kind < KIND_COUNT, piece.kind, TokenKind.NONE)
        size = (len(self._cut) - 1) * KIND_COUNT
        by_kind = np.bincount(self._segment * KIND_COUNT + kind, piece.duration, size)
        self._kinds = _before(by_kind.astype(np.int64).reshape(-1, KIND_COUNT))

    def sums(self, column: np.ndarray, first: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return the sum of a column over the tokens of each span, int64."""
        whole = _before(np.bincount(self._segment, column, len(self._cut) - 1).astype(np.int64))
        return whole[np.searchsorted(self._cut, stop)] - whole[np.searchsorted(self._cut, first)]

    def kinds(self, first: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return the cycles (stall and busy) of each kind of token in each span, int64 [spans, kinds]."""
        low, high = (np.searchsorted(self._cut, rows) for rows in (first, stop))
        return self._kinds[high] - self._kinds[low]


def _before(sums: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros((1, *sums.shape[1:]), dtype=np.int64), np.cumsum(sums, axis=0)])
