"""Memory instructions of a compute unit, and the counters that tell how many of them are in flight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.token_columns import pieces
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import of_rows
from rcv_py.model.device import CounterSamples
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

COLUMNS = 4  # values of a counter sample; bank b holds counters 4 b to 4 b + 3


@dataclass(frozen=True, slots=True)
class LevelCounter:
    """A counter of operations in flight, and which instructions it counts."""

    name: str
    unit: str  # for people
    kinds: tuple[TokenKind, ...]
    has_stores: bool  # whether stores come back by themselves, not behind the loads


LEVEL_COUNTERS = (
    LevelCounter("SQ_INST_LEVEL_VMEM", "VMEM", (TokenKind.VMEM, TokenKind.FLAT), True),
    LevelCounter("SQ_INST_LEVEL_LDS", "LDS", (TokenKind.LDS,), False),
    LevelCounter("SQ_INST_LEVEL_SMEM", "SMEM", (TokenKind.SMEM,), False),
)


@dataclass(frozen=True, eq=False)
class MemoryOps:
    """Executed memory instructions, in no order."""

    se: np.ndarray  # int64 [n]
    cu: np.ndarray  # int64 [n], -1 if unknown
    simd: np.ndarray  # int64 [n]
    issue: np.ndarray  # int64 [n], cycles, aligned
    stall: np.ndarray  # int64 [n], cycles
    busy: np.ndarray  # int64 [n], cycles
    kind: np.ndarray  # uint8 [n]
    line: np.ndarray  # int64 [n], row of the code table

    def __len__(self) -> int:
        return len(self.line)

    def rows(self, chosen: np.ndarray) -> MemoryOps:
        """Return some of them: a mask or row numbers."""
        return of_rows(self, chosen)

    def of(self, counter: LevelCounter) -> MemoryOps:
        """Return those that a counter counts."""
        return self.rows(np.isin(self.kind, counter.kinds))


@dataclass(frozen=True, eq=False)
class Levels:
    """How many operations of a compute unit were in flight at some moments, sorted by time."""

    time: np.ndarray  # int64, cycles, aligned
    level: np.ndarray  # int64
    interval: int  # cycles between two samples


def memory_ops(batches: Iterable[WaveBatch], lines: int) -> MemoryOps:
    """Return the memory instructions of all waves that match one of `lines` code lines."""
    kinds = [kind for counter in LEVEL_COUNTERS for kind in counter.kinds]
    columns: list[list[np.ndarray]] = [[] for _ in range(8)]
    for piece in pieces(batches):
        rows = np.flatnonzero(np.isin(piece.kind, kinds) & (piece.line >= 0) & (piece.line < lines))
        places = np.array([(wave.id.se, wave.cu, wave.id.simd) for wave in piece.waves]).reshape(-1, 3)
        owner = np.searchsorted(piece.first, rows, side="right") - 1
        stall = piece.stall[rows].astype(np.int64)
        parts = (
            *places[owner].T,
            piece.start[rows] + stall,
            stall,
            piece.busy[rows].astype(np.int64),
            piece.kind[rows],
            piece.line[rows].astype(np.int64),
        )
        for column, part in zip(columns, parts, strict=True):
            column.append(part)
    none = np.zeros(0, dtype=np.int64)
    return MemoryOps(*(np.concatenate(column) if column else none for column in columns))


def position(names: Iterable[str], counter: LevelCounter) -> int:
    """Return the place of a counter among the recorded ones, -1 if it was not recorded."""
    bare = [name.removeprefix("SQ_") for name in names]
    wanted = counter.name.removeprefix("SQ_")
    return bare.index(wanted) if wanted in bare else -1


def levels(samples: CounterSamples, at: int, cu: int) -> Levels:
    """Return the samples of one compute unit of the counter at place `at`, whichever bank that is in.

    The interval is the most frequent distance of two samples.  Where the counters were silent for longer,
    nothing was in flight: one sample of zero tells so.  Behind the last sample nothing is known.
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
    """Return samples with a zero one interval behind each whose successor is further away than `longest`."""
    gaps = np.flatnonzero(np.diff(time) > longest)
    at = np.concatenate([time, time[gaps] + interval])
    order = np.argsort(at, kind="stable")
    return at[order], np.concatenate([level, np.zeros(len(gaps), dtype=level.dtype)])[order]


def is_store(code: CodeTable, rows: np.ndarray) -> np.ndarray:
    """Return which instructions only write: stores, and atomics that return nothing; bool."""
    table = np.zeros(len(code), dtype=bool)
    for row in np.unique(rows).tolist():
        text = code.text[row]
        name = text.lstrip().split(" ", 1)[0]
        returns = any(word in text.split() for word in ("glc", "sc0")) or "ATOMIC_RETURN" in text
        table[row] = "_store" in name or ("_atomic" in name and not returns)
    return table[rows]


def has_levels(trace: Trace) -> bool:
    """Whether the capture has samples of any counter of operations in flight."""
    names = trace.counter_names
    return bool(trace.counters) and any(position(names, counter) >= 0 for counter in LEVEL_COUNTERS)
