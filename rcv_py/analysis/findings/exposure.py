"""What there is to win at all on the SIMDs of a capture, and what their waves spend ending.

Time under s_endpgm is no issue: a wave waits there for its last operations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.token_columns import Piece, pieces
from rcv_py.analysis.device.simd_work import SimdWork, simd_work, without_rows
from rcv_py.analysis.findings.bounds import Bound, bound
from rcv_py.analysis.program.program_ends import ends_of, under_end
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


@dataclass(frozen=True, slots=True)
class Exposure:
    """Cycles of SIMDs and of waves; what they are made of is defined in `simd_work`."""

    resident: int  # cycles in which a SIMD held a wave, summed over SIMDs
    no_issue: int  # of them, cycles in which none of its waves issued
    nothing: int  # of those, cycles in which no unit of the SIMD worked either: no change can win more
    matrix: int  # of the resident ones, cycles in which the matrix unit worked
    lives: int  # cycles that waves lived, summed over waves
    waves: int
    ending: int = 0  # cycles under s_endpgm, summed over waves
    exposed_ending: int = 0  # of them, cycles in which nothing happened on the SIMD
    nothing_ending: int = 0  # cycles of SIMDs in which a wave was under s_endpgm and nothing happened

    @property
    def issuing(self) -> int:
        """Cycles in which a SIMD with a wave issued, summed over SIMDs."""
        return self.resident - self.no_issue

    @property
    def working(self) -> int:
        """Cycles in which a SIMD with a wave issued or a unit of it worked, summed over SIMDs."""
        return self.resident - self.nothing


def exposure(
    trace: Trace,
    batches: Iterable[WaveBatch],
    work: SimdWork | None = None,
    rows: Collection[int] | None = None,
) -> Exposure:
    """Return what there is to win for the waves whose index row is in `rows` (None: all).

    `work` is that of the same waves, if it is known.
    """
    batches = tuple(batches)
    work = simd_work(trace, batches, rows) if work is None else work
    found = without_rows([piece for piece in pieces(batches, rows) if len(piece.waves)], work.left_out)
    ends = ends_of(trace.code)
    parts = [_ending(piece, under_end(piece, ends), work) for piece in found]
    none = np.zeros(0, dtype=np.int64)
    first, last = (np.concatenate([none, *(part[i] for part in parts)]) for i in (1, 2))
    return Exposure(
        work.resident_cycles,
        work.no_issue_cycles,
        work.nothing_cycles,
        work.matrix_cycles,
        sum(max(0, wave.end - wave.begin) for piece in found for wave in piece.waves),
        work.waves,
        sum(part[0] for part in parts),
        int((last - first).sum()),
        IntervalSet.of(first, last).total,
    )


def _ending(piece: Piece, rest: np.ndarray, work: SimdWork) -> tuple[int, np.ndarray, np.ndarray]:
    """Cycles under s_endpgm, and the cycles before begin and end of each in which nothing happened."""
    at = np.flatnonzero(rest)
    shift = np.repeat(work.axis.shift(piece.waves), np.diff(piece.first))
    end = (piece.start + shift + piece.duration)[at]
    return int(rest.sum()), work.nothing.covered_before(end - rest[at]), work.nothing.covered_before(end)


def waiting_inside(
    batches: Iterable[WaveBatch], work: SimdWork, waves: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> Bound:
    """Return what all stalls and gaps of some waves inside of a range of each can cost at most.

    `waves` are rows of the wave index, int64 [n], each once; `begin` and `end` the range of each, aligned
    cycles, int64 [n].
    """
    range_of = dict(zip(waves.tolist(), zip(begin.tolist(), end.tolist(), strict=True), strict=True))
    parts = [_inside(piece, work, range_of) for piece in _near(batches, range_of, work)]
    none = np.zeros(0, dtype=np.int64)
    first, last = (np.concatenate([none, *(part[i] for part in parts)]) for i in (0, 1))
    return bound(first, last, work)


def _near(batches: Iterable[WaveBatch], rows: Collection[int], work: SimdWork) -> list[Piece]:
    return without_rows(list(pieces(batches, rows)), work.left_out)


def _inside(
    piece: Piece, work: SimdWork, range_of: Mapping[int, tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """The quiet cycles before begin and end of each wait, cut to the range of its wave."""
    counts = np.diff(piece.first)
    ranges = np.array([range_of[wave.row] for wave in piece.waves], dtype=np.int64).reshape(-1, 2)
    low, high = (np.repeat(column, counts) for column in ranges.T)
    shift, start = np.repeat(work.axis.shift(piece.waves), counts), piece.start
    spans = [np.clip(time, low, np.maximum(low, high)) for time in (start - piece.idle, start + piece.stall)]
    first, last = (work.nothing.covered_before(time + shift) for time in spans)
    some = np.flatnonzero(last > first)
    return first[some], last[some]
