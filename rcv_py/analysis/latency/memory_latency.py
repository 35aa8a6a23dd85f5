"""Memory latency of code lines, from counters of operations in flight that were sampled with the trace."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from msgspec.structs import replace
from numpy import ndarray

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, by_field
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.analysis.latency.memory_levels import Levels, QueueSamples, returns, split_levels
from rcv_py.analysis.waits.wait_latency import WaitLatency
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.device import CounterSamples
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace

COLUMNS = 4  # values of a counter sample; bank b holds counters 4 b to 4 b + 3


class LevelCounter(Value):
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


class MemoryOps(ColumnTable):
    """Executed memory instructions by wave, in order of execution."""

    wave: ndarray  # int64 [n], row of the wave index
    se: ndarray  # int64 [n]
    cu: ndarray  # int64 [n], -1 if unknown
    simd: ndarray  # int64 [n]
    issue: ndarray  # int64 [n], cycles, aligned
    stall: ndarray  # int64 [n], cycles
    busy: ndarray  # int64 [n], cycles
    kind: ndarray  # uint8 [n]
    line: ndarray  # int64 [n], row of the code table

    def of(self, counter: LevelCounter) -> Self:
        """Return the operations that a counter counts."""
        return self.at(np.isin(self.kind, counter.kinds))


_KINDS = [kind for counter in LEVEL_COUNTERS for kind in counter.kinds]


def memory_ops(tokens: TokenColumns, lines: int) -> MemoryOps:
    """Return the memory instructions of some waves that match one of `lines` code lines."""
    rows = np.flatnonzero(np.isin(tokens.kind, _KINDS) & (tokens.line >= 0) & (tokens.line < lines))
    owner = tokens.owner[rows]
    stall, busy = (column[rows].astype(np.int64) for column in (tokens.stall, tokens.busy))
    return MemoryOps(
        wave=tokens.rows[owner],
        se=tokens.engines[owner],
        cu=tokens.cus[owner],
        simd=tokens.simds[owner],
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


def with_silence(time: ndarray, level: ndarray, interval: int, longest: int) -> tuple[ndarray, ndarray]:
    """Return samples with a zero one interval after each whose successor is further away than `longest`."""
    gaps = np.flatnonzero(np.diff(time) > longest)
    at = np.concatenate([time, time[gaps] + interval])
    order = np.argsort(at, kind="stable")
    return at[order], np.concatenate([level, np.zeros(len(gaps), dtype=level.dtype)])[order]


def is_store(code: CodeTable, rows: ndarray) -> ndarray:
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


ASSUMPTION = (
    "Estimate: loads and stores are separate queues, distinguished by the latencies that explain the counted "
    "levels best; inside a queue of the compute unit the oldest operation comes back first; no sample means "
    "nothing in flight."
)
REFERENCE_INTERVAL = 40  # cycles between samples by the reference's rule, whatever the data contain
REFERENCE_ASSUMPTION = (
    "The reference viewer's rule: operations of all waves come back in the order in which they were issued, "
    "loads and stores alike; samples are 40 cycles apart; what never came back is left out."
)
HOW = (
    "Record them with rocprofv3: --att --att-perfcounters "
    '"SQ_INST_LEVEL_VMEM SQ_INST_LEVEL_LDS" --att-perfcounter-ctrl 1.'
)
SAMPLED = (
    "This capture has PC samples instead of a thread trace, so nothing shows when an operation was issued."
)
NO_LEVELS = Message(
    "Memory latency needs counters of operations in flight (SQ_INST_LEVEL_VMEM, "
    "SQ_INST_LEVEL_LDS), and this capture has none. {0}",
    HOW,
)
NO_COUNTERS = (
    "Memory latency needs counters of operations in flight, and the hardware streams counters into a trace "
    "on gfx9 only."
)
NO_WAVES = "Counters of operations in flight were recorded, but no wave with memory instructions is loaded."


class MemoryLatency(ColumnTable):
    """One row per counter and code line; the longest mean of a counter first."""

    unit: ndarray  # str, what the counter counts, e.g. "LDS"
    line: ndarray  # int32, row of the code table
    mean: ndarray  # float64, cycles from issue to return
    std: ndarray  # float64, cycles, 0 for a single sample
    error: ndarray  # float64, cycles: uncertainty of the mean
    samples: ndarray  # int64, executions whose return is known
    censored: ndarray  # int64, executions that were in flight at the last sample
    issue: ndarray  # float64, cycles an execution was issuing, on average
    stall: ndarray  # float64, cycles an execution stalled, on average
    interval: int  # cycles between samples; 0 without samples
    assumption: str
    reason: str = ""  # why there are no rows, and what to do


class _Part(NamedTuple):
    ops: MemoryOps  # empty if the capture has no level counter
    waves: int


def _map(trace: Trace, parcel: Parcel) -> _Part:
    tokens = parcel.own if has_levels(trace) else of_waves(())
    return _Part(memory_ops(tokens, len(trace.code)), len(parcel.own.waves))


def _finish(trace: Trace, part: _Part, *, rule: ReferenceRule) -> MemoryLatency:
    is_reference = rule is ReferenceRule.REFERENCE
    assumption = REFERENCE_ASSUMPTION if is_reference else ASSUMPTION
    if not has_levels(trace):
        missing = NO_LEVELS if trace.architecture.has_trace_counters else NO_COUNTERS
        return _nothing(assumption, missing if trace.has_thread_trace else SAMPLED)
    if part.waves < len(trace.waves):
        of = Message("{0:,} of {1:,}", part.waves, len(trace.waves))
        assumption += Message(" Only {0} waves are read: far too low until all are.", of)
    ops = part.ops
    tables = [_nothing(assumption, "")]
    for counter in LEVEL_COUNTERS:
        at = position(trace.counter_names, counter)
        if at >= 0:
            values = (_reference if is_reference else _estimate)(trace, ops, at, counter)
            tables.append(_table(counter, ops.of(counter), values, is_reference))
    table = joined(tables)
    if not len(table):
        return _nothing(assumption, NO_WAVES)
    return replace(table, interval=max(one.interval for one in tables))


# Our rule: `split_levels`.  The reference's: all operations of a kind are one queue, and mean issue and stall
# are sums over all executions divided by the number of samples; ours divide by executions.
_MERGE = by_field(_Part, ops=all_ops, waves=sum)
MEMORY = {rule: Reduction(_map, _MERGE, partial(_finish, rule=rule)) for rule in ReferenceRule}


class _Values(Value):
    """Line and latency of operations; NaN while in flight."""

    line: ndarray  # int64
    latency: ndarray  # float64, cycles
    interval: int  # cycles between samples


def _reference(trace: Trace, ops: MemoryOps, at: int, counter: LevelCounter) -> _Values:
    parts = [reference_values(ops, samples, at, counter) for samples in trace.counters]
    line, latency = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return _Values(line, latency, REFERENCE_INTERVAL)


def reference_values(
    ops: MemoryOps, samples: CounterSamples, at: int, counter: LevelCounter
) -> tuple[ndarray, ndarray]:
    """Return code line and latency of the completed operations of one shader engine, oldest first.

    All operations of a kind on a shader engine are one queue: the number completed at a sample is the number
    issued less the level, and the oldest complete first.  Columns are int64 and float64, cycles.  `at` is the
    index of the counter; only the first bank is read, and a counter of the second bank is taken to be zero.
    """
    here = ops.at(ops.se == samples.se)
    mine = here.of(counter)
    chosen = (samples.bank == 0) & (samples.cu == (here.cu[-1] if len(here) else -1))
    time, level = samples.time[chosen], samples.value[chosen, at % COLUMNS].astype(np.int64)
    order = np.argsort(time, kind="stable")
    level = level[order] * (at < COLUMNS)
    time, level = with_silence(time[order], level, REFERENCE_INTERVAL, REFERENCE_INTERVAL)
    time, level = np.append(time, time[-1:] + REFERENCE_INTERVAL), np.append(level, 0 * level[-1:])
    issue = mine.issue + mine.simd
    order = np.argsort(issue, kind="stable")
    issue, line = issue[order], mine.line[order]
    if not len(issue):
        return line, issue.astype(np.float64)
    seen = time < issue[-1]
    time, level = time[seen], level[seen]
    done = np.searchsorted(issue, time, side="right") - level
    first = np.searchsorted(np.maximum.accumulate(done), np.arange(len(issue)), side="right")
    rows = np.flatnonzero(first < len(time))
    passed = (time[first[rows]] - issue[rows]).astype(np.float64)
    return line[rows], np.where(passed > REFERENCE_INTERVAL, passed - REFERENCE_INTERVAL / 2, passed / 2)


def _estimate(trace: Trace, ops: MemoryOps, at: int, counter: LevelCounter) -> _Values:
    mine = ops.of(counter)
    order = np.argsort(mine.issue, kind="stable")
    mine = mine.at(order)
    queue = is_store(trace.code, mine.line).astype(np.int64) * counter.has_stores
    queues = ascending(queue)
    units, parts = [], []
    for samples in trace.counters:
        for cu in ascending(mine.cu[mine.se == samples.se]).tolist():
            here = (mine.se == samples.se) & (mine.cu == cu)
            own = [np.flatnonzero(here & (queue == number)) for number in queues]
            sampled = levels(samples, at, cu)
            if len(sampled.time):
                units.append(QueueSamples(sampled, tuple(mine.issue[part] for part in own)))
                parts.append(own)
    latency = np.full(len(mine), np.nan)
    for unit, own, split in zip(units, parts, split_levels(units), strict=True):
        for part, level in zip(own, split, strict=True):
            done = returns(unit.levels.time, level, mine.issue[part], unit.levels.interval)
            latency[part] = done - mine.issue[part]
    covered = np.concatenate([np.zeros(0, dtype=np.int64), *(part for own in parts for part in own)])
    interval = max((unit.levels.interval for unit in units), default=0)
    return _Values(mine.line[covered], latency[covered], interval)


def _table(counter: LevelCounter, ops: MemoryOps, values: _Values, is_reference: bool) -> MemoryLatency:
    """Statistics of the latencies by line; lines without a known return are left out."""
    line, latency, interval = values.line, values.latency, values.interval
    size = int(max(ops.line.max(initial=-1), line.max(initial=-1))) + 1
    known = ~np.isnan(latency)
    count = np.bincount(line[known], minlength=size)
    executed = np.bincount(ops.line, minlength=size)
    censored = np.bincount(line[~known], minlength=size)
    if is_reference:
        censored = executed - count
    mean = _mean(np.bincount(line[known], latency[known], size), count)
    square = np.bincount(line[known], (latency[known] - mean[line[known]]) ** 2, size)
    std = np.sqrt(np.where(count > 1, square / np.maximum(count - 1, 1), 0.0))
    # The uncertainty of a mean: the spread, and that a return is only known to be between two samples.
    divisor = np.maximum(count, 1)
    if is_reference:
        divisor = np.where(count == 1, 0.01, np.maximum(count - 1.5, 0.01))
    error = np.sqrt(std**2 + interval**2 / (3 if is_reference else 12)) / np.sqrt(divisor)
    by = count if is_reference else executed
    issue, stall = (_mean(sums(ops.line, column, size), by) for column in (ops.busy, ops.stall))
    rows = np.flatnonzero(count)
    rows = rows[np.argsort(-mean[rows], kind="stable")]
    columns: dict[str, Any] = {
        "mean": mean,
        "std": std,
        "error": error,
        "samples": count,
        "censored": censored,
    }
    columns |= {"issue": issue, "stall": stall}
    chosen = {name: column[rows] for name, column in columns.items()}
    unit = np.full(len(rows), counter.unit)
    return MemoryLatency(unit=unit, line=rows.astype(np.int32), **chosen, interval=interval, assumption="")


def _mean(sums: ndarray, count: ndarray) -> ndarray:
    return np.divide(sums, count, out=np.zeros(len(count), dtype=np.float64), where=count > 0)


def _nothing(assumption: str, reason: str) -> MemoryLatency:
    types = {
        "unit": str,
        "line": np.int32,
        **dict.fromkeys(("mean", "std", "error", "issue", "stall"), float),
    }
    return MemoryLatency.empty(**types, interval=0, assumption=assumption, reason=reason)


def matched_lines(table: MemoryLatency, waits: WaitLatency | None) -> tuple[ndarray, ndarray, ndarray]:
    """Return the code line of each row, and its row in either table or -1; counter rows first.

    Lines for which waits give only upper bounds are left out; `waits` is None until they are computed.
    """
    line, counter = table.line.astype(np.int64), np.arange(len(table))
    if waits is None:
        return line, counter, np.full(len(line), -1)
    rest = np.flatnonzero(~np.isin(waits.line, line) & (waits.exact > 0))
    rest = rest[np.argsort(-waits.median[rest], kind="stable")]
    lines = np.concatenate([line, waits.line[rest]])
    row_of = {line: row for row, line in enumerate(waits.line.tolist())}
    by_wait = np.array([row_of.get(line, -1) for line in lines.tolist()], dtype=np.int64)
    return lines, np.concatenate([counter, np.full(len(rest), -1)]), by_wait


def entries(column: ndarray, rows: ndarray) -> ndarray:
    """Return the entries of a column as float64, NaN where the row is -1."""
    return np.append(column.astype(np.float64), np.nan)[rows]
