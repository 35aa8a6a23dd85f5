"""Hits, latency, stall and idle of each code line, in each mode of the viewer.

```
mode        hits              latency, stall            idle
SUM_ALL     all waves         sum                       sum
MEAN_ALL    all waves         sum / hits, half up       sum / hits, half up
ITERATION   of the wave       of its n-th execution     before it
SUM_WAVE    of the wave       sum                       sum
MEAN_WAVE   of the wave       sum / hits, half up       sum / hits, half up
MAX_WAVE    of the wave       of its longest execution  before it
```

"All waves" are all traced waves, as the code table counts them, or the waves of a clock range.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.core.saturated import Sums, dense, joined_sums, no_sums, sums
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.base.record import Value
from rcv_py.base.runs import starts_run
from rcv_py.base.text import Message
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave


class LineStats(ColumnTable):
    """One row a code line.  Tokens without a code line are not counted, but their time is not idle."""

    hits: np.ndarray  # int64, executions
    latency: np.ndarray  # int64, cycles: stall + busy
    stall: np.ndarray  # int64, cycles
    longest: np.ndarray  # int64, latency of the longest execution
    idle: np.ndarray  # int64, cycles between the latest end so far in the wave and the start

    def on(self, code: CodeTable) -> CodeTable:
        """Return the code table with these totals instead of its own."""
        return replace(code, hits=self.hits, latency=self.latency, stall=self.stall, idle=self.idle)


def wave_lines(wave: TracedWave, n: int) -> LineStats:
    """Return the totals of one wave over the `n` rows of the code table."""
    return _line_stats(of_waves([wave]), n)


class _RunLines(Value):
    """Totals of some waves over the lines that they ran."""

    sums: Sums  # code row, and hits, latency, stall and idle
    longest: np.ndarray  # int64, cycles, one row a code row of `sums`


def _merge(parts: Sequence[_RunLines]) -> _RunLines:
    added = joined_sums([no_sums(4), *(part.sums for part in parts)])
    longest = np.zeros(len(added[0]), dtype=np.int64)
    for part in parts:
        at = np.searchsorted(added[0], part.sums[0])
        longest[at] = np.maximum(longest[at], part.longest)
    return _RunLines(added, longest)


def _map(trace: Trace, parcel: Parcel) -> _RunLines:
    stats = _line_stats(parcel.own, len(trace.code))
    line = np.flatnonzero(stats.hits)
    columns = (stats.hits, stats.latency, stats.stall, stats.idle)
    return _RunLines((line, *(column[line] for column in columns)), stats.longest[line])


def _finish(trace: Trace, part: _RunLines) -> LineStats:
    n = len(trace.code)
    hits, latency, stall, idle = dense(part.sums, n)
    (longest,) = dense((part.sums[0], part.longest), n)
    return LineStats(hits=hits, latency=latency, stall=stall, longest=longest, idle=idle)


LINES = Reduction(_map, _merge, _finish)


def _line_stats(tokens: TokenColumns, n: int) -> LineStats:
    known = (tokens.line >= 0) & (tokens.line < n)
    line = tokens.line[known].astype(np.int64)
    duration = tokens.duration[known]
    longest = np.zeros(n, dtype=np.int64)
    np.maximum.at(longest, line, duration)
    columns = (duration, tokens.stall[known], tokens.idle[known])
    latency, stall, idle = (sums(line, column, n) for column in columns)
    return LineStats(np.bincount(line, minlength=n), latency, stall, longest, idle)


SAMPLES = "PC samples"  # the label where a trace has samples and no cycles

_OF_ONE_WAVE = (LatencyMode.ITERATION, LatencyMode.SUM_WAVE, LatencyMode.MEAN_WAVE, LatencyMode.MAX_WAVE)


class CostColumns(ColumnTable):
    """One row a code line."""

    hits: np.ndarray  # int64
    latency: np.ndarray  # int64, cycles (PC samples if the trace has nothing else)
    stall: np.ndarray  # int64, the part of the latency in which the instruction waited to issue
    idle: np.ndarray  # int64, cycles before it
    label: str  # what is shown, for a heading
    least: int = 0  # hits without which the costs of a line are not known

    @cached_property
    def total(self) -> int:
        """The sum of latency and idle over all lines."""
        return int(self.cost.sum())

    @property
    def cost(self) -> np.ndarray:
        """Latency plus idle, int64: the cost of a line."""
        return self.latency + self.idle


def cost_columns(
    code: CodeTable,
    mode: LatencyMode = LatencyMode.SUM_ALL,
    wave: TracedWave | None = None,
    hit: int | None = None,
    counted: LineStats | None = None,
) -> CostColumns:
    """Return the columns of a mode.

    `wave` and `hit` (0-based) apply to the modes of one wave; without a wave these modes are all zero.
    `counted` are totals over the waves of a clock range, None for all traced waves.  Means are per hit, where
    the reference viewer divides the idle of a wave by the executions that had any.
    """
    label = mode.value if counted is None else Message("{0}, range", mode.value)
    if mode in _OF_ONE_WAVE:
        if wave is None:
            none = np.zeros(len(code), dtype=np.int64)
            return CostColumns(none, none, none, none, Message("{0}: no wave", mode.value))
        tokens, label = of_waves([wave]), Message("{0} of {1}", mode.value, wave.id)
        code = _line_stats(tokens, len(code)).on(code)
        if mode in (LatencyMode.ITERATION, LatencyMode.MAX_WAVE):
            return _of_executions(code, tokens, hit or 0 if mode is LatencyMode.ITERATION else None, label)
    elif counted is not None:
        code = counted.on(code)
    elif code.samples is not None and code.is_sampled:
        nothing = np.zeros_like(code.samples)
        stalled = nothing if code.samples_stalled is None else code.samples_stalled.astype(np.int64)
        return CostColumns(code.samples, code.samples, stalled, nothing, SAMPLES)
    hits, latency, stall, idle = code.hits, code.latency, code.stall, code.idle
    if is_mean := mode in (LatencyMode.MEAN_ALL, LatencyMode.MEAN_WAVE):
        latency, stall, idle = mean(latency, hits), mean(stall, hits), mean(idle, hits)
    return CostColumns(hits, latency, stall, idle, label, least=int(is_mean))


def mean(value: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return value / count rounded half up, 0 where count is 0; int64."""
    count = count.astype(np.int64)
    return np.where(count > 0, (value + count // 2) // np.maximum(count, 1), 0)


def _of_executions(code: CodeTable, tokens: TokenColumns, hit: int | None, label: str) -> CostColumns:
    """The costs of the `hit`-th execution of each line by a wave; None: the longest, the first of equals."""
    if hit is not None:
        chosen, label = executions(tokens.line, hit), Message("Hit {0} of {1}", hit + 1, tokens.waves[0].id)
    else:
        order = np.lexsort((-tokens.duration, tokens.line))
        chosen = order[starts_run(tokens.line[order])]
    chosen = chosen[(tokens.line[chosen] >= 0) & (tokens.line[chosen] < len(code))]
    latency, stall, idle = np.zeros((3, len(code)), dtype=np.int64)
    for column, values in ((latency, tokens.duration), (stall, tokens.stall), (idle, tokens.idle)):
        column[tokens.line[chosen]] = values[chosen]
    return CostColumns(code.hits, latency, stall, idle, label, least=1 + (hit or 0))


def split_cycles(
    latency: np.ndarray, stall: np.ndarray, idle: np.ndarray, show_idle: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (idle, stall, issue) of each line, int64, none negative; idle is 0 if it is not shown."""
    active = np.maximum(0, latency)
    stalled = np.clip(stall, 0, active)
    return np.maximum(0, idle) if show_idle else np.zeros_like(active), stalled, active - stalled


def executions(line: np.ndarray, hit: int) -> np.ndarray:
    """Return the token rows that are the `hit`-th execution (from 0) of their code line, int64."""
    order = np.argsort(line, kind="stable")
    first = np.searchsorted(line[order], line[order], side="left")
    return np.sort(order[np.arange(len(line)) - first == hit])
