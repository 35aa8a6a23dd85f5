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
from rcv_py.analysis.core.saturated import sums, total
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves, token_columns
from rcv_py.model.kinds import TokenKind
from rcv_py.model.waves import WaveBatch

# Name and meaning of each pipe, and the kinds of tokens that it executes, the first for its colour.
# fmt: off
_TABLE = (
    ("Matrix", "matrix arithmetic", (TokenKind.MATRIX,)),
    ("VALU", "vector arithmetic", (TokenKind.VALU,)),
    ("LDS", "local data share", (TokenKind.LDS,)),
    ("VMEM", "vector memory: buffer, image, global, flat and scratch", (TokenKind.VMEM, TokenKind.FLAT)),
    ("Ray", "ray tracing", (TokenKind.BVH,)),
    ("Scalar", "scalar arithmetic and scalar memory", (TokenKind.SALU, TokenKind.SMEM)),
    ("Other", "branches, waits, barriers, messages, and s_endpgm until its wave is gone",
        (TokenKind.IMMED,)),
)
# fmt: on
PIPES = tuple(name for name, _, _ in _TABLE)
PIPE_TEXT = {name: text for name, text, _ in _TABLE}
PIPE_KIND = {name: kinds[0] for name, _, kinds in _TABLE}
_PIPE_OF_KIND = np.full(256, PIPES.index("Other"), dtype=np.int64)
for _at, (_, _, _kinds) in enumerate(_TABLE):
    _PIPE_OF_KIND[list(_kinds)] = _at
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
    parts = [_columns(tokens) for tokens in (of_waves([]), *token_columns(batches))]
    place, begin, end, counts, start, stop, pipe = (np.concatenate(part) for part in zip(*parts, strict=True))
    places, row = np.unique(place, return_inverse=True)
    n = len(places)
    owner = np.repeat(row, counts)
    kinds, works = len(PIPES), pipe != PIPES.index("Other")
    pipes = covered(owner * kinds + pipe, start, stop, n * kinds).reshape(n, kinds)
    return PipeUse(
        se=places >> 32,
        cu=(places >> 16 & 0xFFFF) - 1,
        simd=places & 0xFFFF,
        resident=covered(row, begin, end, n),
        busy=covered(owner, start, stop, n),
        working=covered(owner[works], start[works], stop[works], n),
        pipes=pipes,
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
    cycles = np.zeros(n, dtype=np.int64)
    order = np.lexsort((start, group))
    borders = np.searchsorted(group[order], np.arange(n + 1)).tolist()
    for one, (low, high) in enumerate(pairwise(borders)):
        rows = order[low:high]
        merged = IntervalSet.of(start[rows], stop[rows])
        cycles[one] = total(merged.end - merged.begin)
    return cycles


def _columns(piece: TokenColumns) -> tuple[np.ndarray, ...]:
    """Place, begin, end and number of tokens of each wave; start, stop and pipe of each token; int64."""
    waves = piece.waves
    place = np.array([(w.id.se << 32) | ((w.cu + 1) << 16) | w.id.simd for w in waves], dtype=np.int64)
    begin = np.array([wave.begin for wave in waves], dtype=np.int64)
    end = np.array([wave.end for wave in waves], dtype=np.int64)
    return place, begin, end, np.diff(piece.first), piece.issue, piece.end, _PIPE_OF_KIND[piece.kind]
