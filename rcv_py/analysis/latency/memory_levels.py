"""Memory instructions, the counters of how many are in flight, and the latencies inferred from these.

Let N(t, a) be how many operations of a queue were issued less than `a` cycles before the sample at t.  If a
share p of them takes `a` cycles, then the level is the sum of p N(t, a) over queues and lengths.  Least
squares finds the shares that fit the samples best; they divide each level among the queues.  Inside a queue
the oldest operation is done first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.base.runs import ascending
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.device import CounterSamples
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace

COLUMNS = 4  # values of a counter sample; bank b holds counters 4 b to 4 b + 3


class LevelCounter(NamedTuple):
    """A counter of operations in flight, and the instructions it counts."""

    name: str
    unit: str  # display name
    kinds: tuple[TokenKind, ...]
    has_stores: bool  # whether stores return independently, not after the loads


LEVEL_COUNTERS = (
    LevelCounter("SQ_INST_LEVEL_VMEM", "VMEM", (TokenKind.VMEM, TokenKind.FLAT), True),
    LevelCounter("SQ_INST_LEVEL_LDS", "LDS", (TokenKind.LDS,), False),
    LevelCounter("SQ_INST_LEVEL_SMEM", "SMEM", (TokenKind.SMEM,), False),
)


@dataclass(frozen=True, eq=False)
class MemoryOps(ColumnTable):
    """Executed memory instructions by wave, in order of execution."""

    wave: np.ndarray  # int64 [n], row of the wave index
    se: np.ndarray  # int64 [n]
    cu: np.ndarray  # int64 [n], -1 if unknown
    simd: np.ndarray  # int64 [n]
    issue: np.ndarray  # int64 [n], cycles, aligned
    stall: np.ndarray  # int64 [n], cycles
    busy: np.ndarray  # int64 [n], cycles
    kind: np.ndarray  # uint8 [n]
    line: np.ndarray  # int64 [n], row of the code table

    def of(self, counter: LevelCounter) -> MemoryOps:
        """Return the operations that a counter counts."""
        return self.at(np.isin(self.kind, counter.kinds))


class Levels(NamedTuple):
    """How many operations of a compute unit were in flight at sampled times, sorted by time."""

    time: np.ndarray  # int64, cycles, aligned
    level: np.ndarray  # int64
    interval: int  # cycles between two samples


_KINDS = [kind for counter in LEVEL_COUNTERS for kind in counter.kinds]


def memory_ops(tokens: TokenColumns, lines: int) -> MemoryOps:
    """Return the memory instructions of some waves that match one of `lines` code lines."""
    rows = np.flatnonzero(np.isin(tokens.kind, _KINDS) & (tokens.line >= 0) & (tokens.line < lines))
    places = [(wave.row, wave.id.se, wave.cu, wave.id.simd) for wave in tokens.waves]
    wave, se, cu, simd = np.array(places, dtype=np.int64).reshape(-1, 4)[tokens.owner[rows]].T
    stall, busy = (column[rows].astype(np.int64) for column in (tokens.stall, tokens.busy))
    return MemoryOps(
        wave=wave,
        se=se,
        cu=cu,
        simd=simd,
        issue=tokens.start[rows] + stall,
        stall=stall,
        busy=busy,
        kind=tokens.kind[rows],
        line=tokens.line[rows].astype(np.int64),
    )


def all_ops(parts: Sequence[MemoryOps]) -> MemoryOps:
    """Return the memory instructions of several disjoint sets of waves."""
    ops = joined([memory_ops(of_waves(()), 0), *parts])
    return ops.at(np.argsort(ops.wave, kind="stable"))


def position(names: Iterable[str], counter: LevelCounter) -> int:
    """Return the index of a counter among the recorded ones, -1 if it was not recorded."""
    names = [name.removeprefix("SQ_") for name in names]
    wanted = counter.name.removeprefix("SQ_")
    return names.index(wanted) if wanted in names else -1


def levels(samples: CounterSamples, at: int, cu: int) -> Levels:
    """Return the samples of one compute unit for the counter at index `at`, in any bank.

    The interval is the most frequent distance between two samples.  If the counters recorded nothing for
    longer, nothing was in flight: a zero sample represents that.  After the last sample nothing is known.
    """
    chosen = samples.bank == at // COLUMNS
    if cu >= 0:
        chosen &= samples.cu == cu
    time = samples.time[chosen]
    level = samples.value[chosen, at % COLUMNS].astype(np.int64)
    order = np.argsort(time, kind="stable")
    time, level = time[order], level[order]
    steps = np.diff(time)
    steps = steps[steps > 0]
    if not len(steps):
        return Levels(time, level, 1)
    lengths, counts = np.unique(steps, return_counts=True)
    interval = int(lengths[np.argmax(counts)])
    return Levels(*with_silence(time, level, interval, interval * 3 // 2), interval)


def with_silence(
    time: np.ndarray, level: np.ndarray, interval: int, longest: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return samples with a zero one interval after each whose successor is further away than `longest`."""
    gaps = np.flatnonzero(np.diff(time) > longest)
    at = np.concatenate([time, time[gaps] + interval])
    order = np.argsort(at, kind="stable")
    return at[order], np.concatenate([level, np.zeros(len(gaps), dtype=level.dtype)])[order]


def is_store(code: CodeTable, rows: np.ndarray) -> np.ndarray:
    """Return which instructions only write: stores, and atomics without a result; bool."""
    table = np.zeros(len(code), dtype=bool)
    for row in ascending(rows).tolist():
        text = code.text[row]
        name = text.lstrip().split(" ", 1)[0]
        returns = any(word in text.split() for word in ("glc", "sc0")) or "ATOMIC_RETURN" in text
        table[row] = "_store" in name or ("_atomic" in name and not returns)
    return table[rows]


def has_levels(trace: Trace) -> bool:
    """Whether the capture has samples of any counter of operations in flight."""
    names = trace.counter_names
    return bool(trace.counters) and any(position(names, counter) >= 0 for counter in LEVEL_COUNTERS)


LENGTHS = 24  # candidate latencies of a queue
MAX_SAMPLES = 16_384  # samples that shares are fitted to
_WEIGHT = 100.0  # of the constraint that the shares of a queue sum to one


class QueueSamples(NamedTuple):
    """Samples of one compute unit and what its queues issued."""

    levels: Levels
    issue: tuple[np.ndarray, ...]  # of each queue: int64, sorted


def split_levels(units: Sequence[QueueSamples]) -> list[list[np.ndarray]]:
    """Return for each compute unit and queue how many operations were in flight at each sample, float64."""
    queues = len(units[0].issue) if units else 0
    if queues <= 1:
        return [[unit.levels.level.astype(np.float64)] for unit in units]
    lengths = _lengths(units)
    shares = _shares(units, lengths, queues)
    return [_split(unit, lengths, shares) for unit in units]


def returns(time: np.ndarray, level: np.ndarray, issue: np.ndarray, interval: int) -> np.ndarray:
    """Return when each operation of a queue was done, float64 cycles; NaN if that was after the last sample.

    `issue` is sorted.  The time is interpolated between the two samples around the completion.
    """
    if not len(time):
        return np.full(len(issue), np.nan)
    done = np.clip(np.searchsorted(issue, time, side="right") - level, 0, None)
    # The number of completed operations never decreases; noise is averaged from above and from below.
    done = (np.maximum.accumulate(done) + np.minimum.accumulate(done[::-1])[::-1]) / 2
    time = np.append(time[0] - interval, time).astype(np.float64)
    done = np.append(0.0, done)
    wanted = np.arange(len(issue)) + 0.5
    after = np.searchsorted(done, wanted, side="left")
    known = after < len(done)
    after = np.minimum(after, len(done) - 1)
    before = np.maximum(after - 1, 0)
    step = np.maximum(done[after] - done[before], 1e-12)
    moment = time[before] + (time[after] - time[before]) * np.clip((wanted - done[before]) / step, 0, 1)
    return np.where(known, np.maximum(moment, issue), np.nan)


def least_squares(normal: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return x >= 0 with the least |A x - y|, from A'A and A'y, by the active sets of Lawson and Hanson."""
    size = len(right)
    x, free = np.zeros(size), np.zeros(size, dtype=bool)
    least = 1e-9 * float(np.abs(right).max(initial=0.0))
    for _ in range(3 * size):
        gain = np.where(free, -np.inf, right - normal @ x)
        if free.all() or gain.max() <= least:
            break
        free[int(np.argmax(gain))] = True
        x = _feasible(normal, right, x, free)
    return x


def _feasible(normal: np.ndarray, right: np.ndarray, x: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Solve for the free entries, releasing entries that would become negative; modifies `free`."""
    while free.any():
        wish = np.zeros_like(x)
        wish[free] = np.linalg.lstsq(normal[np.ix_(free, free)], right[free], rcond=1e-12)[0]
        bad = free & (wish <= 0)
        if not bad.any():
            return wish
        way = np.min(x[bad] / np.maximum(x[bad] - wish[bad], 1e-300))
        x = x + way * (wish - x)
        free &= x > 1e-12
        x = np.where(free, x, 0.0)
    return x


def _lengths(units: Sequence[QueueSamples]) -> np.ndarray:
    """The latencies to consider: up to somewhat more than a single queue would need."""
    longest = 0.0
    for unit in units:
        issue = np.sort(np.concatenate(unit.issue))
        done = returns(unit.levels.time, unit.levels.level, issue, unit.levels.interval)
        took = (done - issue)[~np.isnan(done)]
        longest = max(longest, float(np.quantile(took, 0.99)) if len(took) else 0.0)
    interval = max((unit.levels.interval for unit in units), default=1)
    step = max(1.6 * longest / LENGTHS, interval / 4)
    return (np.arange(LENGTHS) + 0.5) * step


def _young(issue: np.ndarray, time: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """How many operations were issued less than each length before each time, float64 [times, lengths]."""
    now = np.searchsorted(issue, time, side="right")
    before = [np.searchsorted(issue, time - length, side="right") for length in lengths.tolist()]
    return (now[:, None] - np.stack(before, axis=1)).astype(np.float64)


def _shares(units: Sequence[QueueSamples], lengths: np.ndarray, queues: int) -> np.ndarray:
    """The share of each queue's operations that take each length, float64 [queues, lengths]."""
    size = queues * len(lengths)
    normal, right = np.zeros((size, size)), np.zeros(size)
    stride = -(-sum(len(unit.levels.time) for unit in units) // MAX_SAMPLES)
    for unit in units:
        time, level = unit.levels.time[:: max(1, stride)], unit.levels.level[:: max(1, stride)]
        young = np.concatenate([_young(issue, time, lengths) for issue in unit.issue], axis=1)
        normal += young.T @ young
        right += young.T @ level
    weight = _WEIGHT * max(float(np.diagonal(normal).mean()), 1.0)
    normal += np.kron(np.eye(queues), np.full((len(lengths), len(lengths)), weight))
    return least_squares(normal, right + weight).reshape(queues, len(lengths))


def _split(unit: QueueSamples, lengths: np.ndarray, shares: np.ndarray) -> list[np.ndarray]:
    """The level of each queue: its expected level, and its part of the difference to the count."""
    time = unit.levels.time
    expected = np.stack(
        [
            _young(issue, time, lengths[share > 0]) @ share[share > 0] if share.any() else 0.0 * time
            for issue, share in zip(unit.issue, shares, strict=True)
        ]
    )
    whole = expected.sum(axis=0)
    part = np.divide(expected, whole, out=np.full_like(expected, 1.0 / len(expected)), where=whole > 0)
    return list(np.clip(expected + part * (unit.levels.level - whole), 0, None))
