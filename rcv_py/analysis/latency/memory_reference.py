"""Memory latency from level counters as the reference viewer computes it.

All operations of a kind on a shader engine are one queue: what is done at a sample is what was issued less
the level, and the oldest are done first.
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.latency.memory_levels import COLUMNS, LevelCounter, MemoryOps, with_silence
from rcv_py.model.device import CounterSamples

INTERVAL = 40  # cycles between samples, whatever the data say

ASSUMPTION = (
    "The reference viewer's rule: operations of all waves come back in the order in which they were issued, "
    "loads and stores alike; samples are 40 cycles apart; what never came back is left out."
)


def reference_values(
    ops: MemoryOps, samples: CounterSamples, at: int, counter: LevelCounter
) -> tuple[np.ndarray, np.ndarray]:
    """Return code line and latency of the operations of one shader engine that came back, oldest first.

    int64 and float64, cycles.  `at` is the counter's place; only the first bank is looked at, and a counter
    of the second one is taken to be zero.
    """
    here = ops.rows(ops.se == samples.se)
    mine = here.of(counter)
    time, level = _samples(samples, at, int(here.cu[-1]) if len(here) else -1)
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
    return line[rows], np.where(passed > INTERVAL, passed - INTERVAL / 2, passed / 2)


def _samples(samples: CounterSamples, at: int, cu: int) -> tuple[np.ndarray, np.ndarray]:
    chosen = (samples.bank == 0) & (samples.cu == cu)
    time = samples.time[chosen]
    level = samples.value[chosen, at % COLUMNS].astype(np.int64)
    if at >= COLUMNS:
        level = np.zeros_like(level)
    order = np.argsort(time, kind="stable")
    time, level = with_silence(time[order], level[order], INTERVAL, INTERVAL)
    return np.append(time, time[-1:] + INTERVAL), np.append(level, np.zeros_like(level[-1:]))
