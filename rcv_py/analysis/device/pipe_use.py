"""How busy each SIMD and each of its pipes was while any traced wave was resident on it.

```
resident   |--------------------------------|      union of the lives of the SIMD's waves
wave 0      vvVV  bbBB      vV  MM                 a token is busy from start + stall to its end
wave 1        lL  VV   iiI      VV
busy          ####  ##   #   #  ##                 union over all tokens
VALU          ##  ##         #  ##                 union over the tokens of a pipe
```

On gfx9 a token's busy part is the cycles of its issue; what a pipe does afterwards is not recorded.  Later
generations record execution.  Only traced waves are known, which are those of one compute unit an engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.saturated import later, sums, total
from rcv_py.analysis.core.token_columns import Piece, pieces
from rcv_py.model.kinds import TokenKind
from rcv_py.model.waves import WaveBatch

PIPES = ("Matrix", "VALU", "LDS", "VMEM", "Ray", "Scalar", "Other")
PIPE_TEXT = {
    "Matrix": "matrix arithmetic",
    "VALU": "vector arithmetic",
    "LDS": "local data share",
    "VMEM": "vector memory: buffer, image, global, flat and scratch",
    "Ray": "ray tracing",
    "Scalar": "scalar arithmetic and scalar memory",
    "Other": "branches, waits, barriers, messages, and s_endpgm until its wave is gone",
}
PIPE_KIND = {  # whose colour a pipe has
    "Matrix": TokenKind.MATRIX,
    "VALU": TokenKind.VALU,
    "LDS": TokenKind.LDS,
    "VMEM": TokenKind.VMEM,
    "Ray": TokenKind.BVH,
    "Scalar": TokenKind.SALU,
    "Other": TokenKind.IMMED,
}
_PIPE_OF = {
    TokenKind.MATRIX: "Matrix",
    TokenKind.VALU: "VALU",
    TokenKind.LDS: "LDS",
    TokenKind.VMEM: "VMEM",
    TokenKind.FLAT: "VMEM",
    TokenKind.BVH: "Ray",
    TokenKind.SMEM: "Scalar",
    TokenKind.SALU: "Scalar",
}
_FARTHEST = 1 << 62  # cycles: the length of the axis that all groups share


@dataclass(frozen=True, eq=False)
class PipeUse:
    """One row a SIMD with traced waves, sorted by (se, cu, simd).  No cycle counts twice."""

    se: np.ndarray  # int64
    cu: np.ndarray  # int64, -1 if unknown
    simd: np.ndarray  # int64
    resident: np.ndarray  # int64, cycles with at least one traced wave
    busy: np.ndarray  # int64, cycles in which at least one wave issued or executed
    working: np.ndarray  # int64, the same without the tokens of "Other": waits, s_endpgm and the like
    pipes: np.ndarray  # int64 [rows, PIPES], the same for the tokens of each pipe

    def __len__(self) -> int:
        return len(self.se)

    def column(self, pipe: str = "") -> np.ndarray:
        """Busy cycles of each SIMD, of one pipe if it is named; int64."""
        return self.pipes[:, PIPES.index(pipe)] if pipe else self.busy

    def share(self, pipe: str = "") -> float:
        """Busy share of resident cycles over all SIMDs, 0 to 1; of one pipe if it is named."""
        return self.share_of(self.column(pipe))

    def share_of(self, cycles: np.ndarray) -> float:
        """Share of resident cycles over all SIMDs that a column is, 0 to 1."""
        return int(cycles.sum()) / max(int(self.resident.sum()), 1)

    @property
    def used(self) -> tuple[str, ...]:
        """Pipes that were busy at all."""
        return tuple(name for i, name in enumerate(PIPES) if self.pipes[:, i].any())


def pipe_use(batches: Iterable[WaveBatch]) -> PipeUse:
    """Return the use of every SIMD by the waves of the batches."""
    parts = [_Columns.of(piece) for piece in pieces(batches)]
    place = np.concatenate([part.place for part in parts]) if parts else np.zeros(0, np.int64)
    if not len(place):
        none = np.zeros(0, dtype=np.int64)
        return PipeUse(none, none, none, none, none, none, np.zeros((0, len(PIPES)), dtype=np.int64))
    places, row = np.unique(place, return_inverse=True)
    begin, end, start, stop, pipe = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("begin", "end", "start", "stop", "pipe")
    )
    counts = np.concatenate([part.counts for part in parts])
    row, n = row.reshape(-1), len(places)
    owner = np.repeat(row, counts)
    kinds, works = len(PIPES), pipe != PIPES.index("Other")
    pipes = covered(owner * kinds + pipe, start, stop, n * kinds).reshape(n, kinds)
    return PipeUse(
        places >> 32,
        (places >> 16 & 0xFFFF) - 1,
        places & 0xFFFF,
        covered(row, begin, end, n),
        covered(owner, start, stop, n),
        covered(owner[works], start[works], stop[works], n),
        pipes,
    )


def covered(group: np.ndarray, start: np.ndarray, stop: np.ndarray, n: int) -> np.ndarray:
    """Return the cycles that the spans of each group (0 to n - 1) cover, overlaps once; int64 [n]."""
    if not len(start):
        return np.zeros(n, dtype=np.int64)
    origin = int(start.min())
    reach = int(stop.max()) - origin + 1  # every group gets a stretch of time of its own
    if reach > _FARTHEST // max(1, n):
        return _covered_by_each(group, start, stop, n)
    shift = group.astype(np.int64) * reach - origin
    first, last = start + shift, stop + shift
    order = np.argsort(first, kind="stable")
    merged = IntervalSet.of(first[order], last[order])
    length = merged.end - merged.begin
    return sums(merged.begin // reach, length, n)


def _covered_by_each(group: np.ndarray, start: np.ndarray, stop: np.ndarray, n: int) -> np.ndarray:
    """The same one group after the other: times of a damaged file are too wide for one axis."""
    found = np.zeros(n, dtype=np.int64)
    order = np.lexsort((start, group))
    borders = np.searchsorted(group[order], np.arange(n + 1)).tolist()
    for one, (low, high) in enumerate(pairwise(borders)):
        rows = order[low:high]
        merged = IntervalSet.of(start[rows], stop[rows])
        found[one] = total(merged.end - merged.begin)
    return found


@dataclass(frozen=True, eq=False)
class _Columns:
    """A piece as flat columns: one entry a wave, and one a token."""

    place: np.ndarray  # int64 [waves]
    begin: np.ndarray
    end: np.ndarray
    counts: np.ndarray  # tokens of each wave
    start: np.ndarray  # int64 [tokens], start + stall
    stop: np.ndarray
    pipe: np.ndarray

    @classmethod
    def of(cls, piece: Piece) -> _Columns:
        waves = piece.waves
        place = np.array([(w.id.se << 32) | ((w.cu + 1) << 16) | w.id.simd for w in waves], dtype=np.int64)
        begin, end = (
            np.array([getattr(w, name) for w in waves], dtype=np.int64) for name in ("begin", "end")
        )
        start = later(piece.start, piece.stall)
        pipe = _pipe_table()[piece.kind]
        return cls(place, begin, end, np.diff(piece.first), start, later(start, piece.busy), pipe)


def _pipe_table() -> np.ndarray:
    table = np.full(256, PIPES.index("Other"), dtype=np.int64)
    for kind, name in _PIPE_OF.items():
        table[kind] = PIPES.index(name)
    return table
