"""All loaded tokens in one table, by SIMD and unit, for questions about waves that share a SIMD."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.token_columns import Piece, pieces
from rcv_py.model.kinds import TokenKind
from rcv_py.model.waves import WaveBatch

MATRIX, VALU, VMEM, SCALAR, OTHER = range(5)  # units, the more important first

_UNITS = {
    TokenKind.MATRIX: MATRIX,
    TokenKind.VALU: VALU,
    TokenKind.VMEM: VMEM,
    TokenKind.FLAT: VMEM,
    TokenKind.LDS: VMEM,
    TokenKind.SALU: SCALAR,
    TokenKind.SMEM: SCALAR,
}


@dataclass(frozen=True, eq=False)
class SimdTokens:
    """Tokens of all waves, one wave after the other.  Times are int64 cycles since `base`."""

    places: tuple[tuple[int, int], ...]  # (se, simd) of each lane
    lane: np.ndarray  # int64 [waves], the SIMD a wave ran on: place in `places`
    begin: np.ndarray  # int64 [waves]
    wave: np.ndarray  # int64 [n], place of the token's wave
    is_first: np.ndarray  # bool [n], of its wave
    start: np.ndarray  # int64 [n]
    issue: np.ndarray  # int64 [n]
    end: np.ndarray  # int64 [n]
    unit: np.ndarray  # uint8 [n], MATRIX to OTHER
    line: np.ndarray  # int64 [n], -1 if no code line matched
    base: int
    row: np.ndarray  # int64 [waves], row of the wave index

    def __len__(self) -> int:
        return len(self.line)

    @property
    def span(self) -> int:
        """No time is as late as this."""
        return int(max(self.end.max(initial=0), self.start.max(initial=0), self.begin.max(initial=0))) + 1

    @property
    def before(self) -> np.ndarray:
        """The end of the token in front, at first the begin of the wave; int64."""
        last = np.concatenate([[0], self.end[:-1]]) if len(self) else self.end
        return np.where(self.is_first, self.begin[self.wave], last)

    @property
    def latest(self) -> np.ndarray:
        """The latest end of all tokens in front, at first the begin of the wave; int64."""
        shift = self.wave * self.span
        return np.maximum.accumulate(self.before + shift) - shift if len(self) else self.end


def tokens_by_engine(batches: Iterable[WaveBatch]) -> Iterator[SimdTokens]:
    """Yield the tokens of one shader engine after the other, so that memory is needed for one at a time."""
    batches = tuple(batches)
    rows: dict[int, set[int]] = {}
    for batch in batches:
        for wave in batch.waves:
            rows.setdefault(wave.id.se, set()).add(wave.row)
    for se in sorted(rows):
        yield simd_tokens(batches, rows[se])


def simd_tokens(batches: Iterable[WaveBatch], rows: Collection[int] | None = None) -> SimdTokens:
    """Return the tokens of the waves whose index row is in `rows` (None: all), each wave once."""
    parts = list(pieces(batches, rows))
    waves = [wave for part in parts for wave in part.waves]
    where = [(wave.id.se, wave.id.simd) for wave in waves]
    places = tuple(sorted(set(where)))
    number = {place: i for i, place in enumerate(places)}
    begin = np.array([wave.begin for wave in waves], dtype=np.int64)
    sizes = np.array([len(wave.tokens) for wave in waves], dtype=np.int64)
    start = _joined([part.start for part in parts])
    base = int(min(start.min(initial=np.iinfo(np.int64).max), begin.min(initial=np.iinfo(np.int64).max)))
    start -= base
    issue = start + _column(parts, "stall")
    is_first = np.zeros(len(start), dtype=bool)
    is_first[(np.cumsum(sizes) - sizes)[sizes > 0]] = True
    table = np.full(256, OTHER, dtype=np.uint8)
    table[list(_UNITS)] = list(_UNITS.values())
    return SimdTokens(
        places,
        np.array([number[place] for place in where], dtype=np.int64),
        begin - base,
        np.repeat(np.arange(len(waves)), sizes),
        is_first,
        start,
        issue,
        issue + _column(parts, "busy"),
        table[_column(parts, "kind")],
        _column(parts, "line"),
        base,
        np.array([wave.row for wave in waves], dtype=np.int64),
    )


def _column(parts: list[Piece], name: str) -> np.ndarray:
    return _joined([getattr(part, name) for part in parts])


def _joined(columns: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(columns).astype(np.int64) if columns else np.zeros(0, dtype=np.int64)
