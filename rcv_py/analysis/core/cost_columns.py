"""Hits, latency, stall and idle of each code line, in each of the ways the viewer shows them.

```
mode        hits              latency, stall            idle
SUM_ALL     all waves         sum                       sum
MEAN_ALL    all waves         sum / hits, half up       sum / hits, half up
ITERATION   of the wave       of its n-th execution     in front of it
SUM_WAVE    of the wave       sum                       sum
MEAN_WAVE   of the wave       sum / hits, half up       sum / hits, half up
MAX_WAVE    of the wave       of its longest execution  in front of it
```

"All waves" are all traced waves, as the code table counts them, or those of a clock range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.chosen import Piece, of_waves
from rcv_py.analysis.core.line_stats import LineStats, wave_lines
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import LatencyMode, ReferenceRule
from rcv_py.model.waves import Wave

SAMPLES = "PC samples"  # the label where a trace has samples and no cycles

_OF_ONE_WAVE = (
    LatencyMode.ITERATION,
    LatencyMode.SUM_WAVE,
    LatencyMode.MEAN_WAVE,
    LatencyMode.MAX_WAVE,
)


@dataclass(frozen=True, eq=False)
class CostColumns:
    """One row a code line; `total` is the sum of latency and idle over all lines."""

    hits: np.ndarray  # int64
    latency: np.ndarray  # int64, cycles (PC samples if the trace has nothing else)
    stall: np.ndarray  # int64, the part of the latency in which the instruction waited to issue
    idle: np.ndarray  # int64, cycles in front of it
    total: int
    label: str  # what is shown, for a heading

    @property
    def cost(self) -> np.ndarray:
        """Latency plus idle, int64: what a line is charged with."""
        return self.latency + self.idle


def cost_columns(
    code: CodeTable,
    mode: LatencyMode,
    wave: Wave | None,
    hit: int | None,
    counted: LineStats | None = None,
    *,
    rule: ReferenceRule = ReferenceRule.OURS,
) -> CostColumns:
    """Return the columns of a mode.

    `wave` and `hit` (0-based) matter to the modes of one wave; without a wave those are all zero.
    `counted` are totals over the waves of a clock range, None stands for all traced waves.  The reference
    viewer divides the mean idle of a wave by the executions that had any.
    """
    if mode in _OF_ONE_WAVE:
        return _of_one_wave(code, mode, wave, hit or 0, rule)
    if counted is not None:
        columns = (counted.hits, counted.latency, counted.stall, counted.idle)
        return _averaged(columns, mode, f"{mode.value}, range")
    if code.samples_issued is not None and not code.latency.any():
        return _samples(code)
    return _averaged((code.hits, code.latency, code.stall, code.idle), mode, mode.value)


def mean(value: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return value / count rounded half up, 0 where count is 0; int64."""
    count = count.astype(np.int64)
    return np.where(count > 0, (value + count // 2) // np.maximum(count, 1), 0)


def _averaged(columns: tuple[np.ndarray, ...], mode: LatencyMode, label: str) -> CostColumns:
    hits, latency, stall, idle = columns
    if mode is LatencyMode.MEAN_ALL:
        latency, stall, idle = mean(latency, hits), mean(stall, hits), mean(idle, hits)
    return _columns(hits, latency, stall, idle, label)


def _of_one_wave(
    code: CodeTable, mode: LatencyMode, wave: Wave | None, hit: int, rule: ReferenceRule
) -> CostColumns:
    n = len(code)
    if wave is None:
        none = np.zeros(n, dtype=np.int64)
        return _columns(none, none, none, none, f"{mode.value}: no wave")
    stats, label = wave_lines(wave, n), f"{mode.value} of {wave.id}"
    if mode is LatencyMode.SUM_WAVE:
        return _columns(stats.hits, stats.latency, stats.stall, stats.idle, label)
    if mode is LatencyMode.MEAN_WAVE:
        gaps = stats.idle_gaps if rule is ReferenceRule.REFERENCE else stats.hits
        columns = (mean(stats.latency, stats.hits), mean(stats.stall, stats.hits), mean(stats.idle, gaps))
        return _columns(stats.hits, *columns, label)
    piece = of_waves([wave])
    if mode is LatencyMode.ITERATION:
        chosen, label = executions(piece.line, hit), f"Hit {hit} of {wave.id}"
    else:
        chosen = _longest(piece)
    return _columns(stats.hits, *_at(piece, chosen, n), label)


def executions(line: np.ndarray, hit: int) -> np.ndarray:
    """Return the token rows that are the `hit`-th execution (from 0) of their code line, int64."""
    order = np.argsort(line, kind="stable")
    first = np.searchsorted(line[order], line[order], side="left")
    return np.sort(order[np.arange(len(line)) - first == hit])


def _longest(piece: Piece) -> np.ndarray:
    """Return the token row of the longest execution of each line, the first one of equals."""
    order = np.lexsort((-piece.duration, piece.line))
    line = piece.line[order]
    return order[np.append(True, line[1:] != line[:-1])[: len(line)]]


def _at(piece: Piece, chosen: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    chosen = chosen[(piece.line[chosen] >= 0) & (piece.line[chosen] < n)]
    columns = []
    for values in (piece.duration, piece.stall, piece.idle):
        column = np.zeros(n, dtype=np.int64)
        column[piece.line[chosen]] = values[chosen]
        columns.append(column)
    return columns[0], columns[1], columns[2]


def _samples(code: CodeTable) -> CostColumns:
    assert code.samples_issued is not None
    issued = code.samples_issued.astype(np.int64)
    stalled = np.zeros_like(issued) if code.samples_stalled is None else code.samples_stalled.astype(np.int64)
    return _columns(issued + stalled, issued + stalled, stalled, np.zeros_like(issued), SAMPLES)


def _columns(
    hits: np.ndarray, latency: np.ndarray, stall: np.ndarray, idle: np.ndarray, label: str
) -> CostColumns:
    return CostColumns(hits, latency, stall, idle, int(latency.sum() + idle.sum()), label)
