"""Summary of hardware counters: how busy each kind of pipe was, in total and by compute unit.

All shares are of BUSY_CU_CYCLES, which counts steps of four cycles in which a compute unit had work.

```
share of X          100 · Σ X / Σ BUSY          over all units and samples
peak of X           100 · X / BUSY              at the moment of the largest X, summed over units
```

Half-rate pipes (flat, LDS and vector memory) occupy two steps an instruction, so they count twice; the busy
counter of matrix pipes counts cycles, so it counts a quarter.
"""

from functools import cached_property

import numpy as np

from rcv_py.analysis.counters.counters import CounterFamily, counters, raw_curve
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message
from rcv_py.model.trace import Trace

BUSY = "BUSY_CU_CYCLES"
ACTIVE = "ACTIVE_INST_"
MATRIX = "VALU_MFMA_BUSY_CYCLES"
_DOUBLED = frozenset(ACTIVE + name for name in ("FLAT", "LDS", "VMEM"))
_WITH_PEAK = ("VALU", "MFMA")
_KIND = {"SCA": "SMEM", "MFMA": "MATRIX", "MISC": "IMMED"}  # kind of a bar, if not its own name


class CounterBar(Value):
    """A share of the busy time in percent; it can exceed 100 where a unit issues twice a step."""

    name: str  # "VALU", "VALU Peak"
    value: float
    kind: str  # name of a TokenKind


class CounterShares(Record):
    """Sums of each counter of the thread trace at each unit that counted anything."""

    names: tuple[str, ...]  # without SQ_, in the order of the capture
    se: np.ndarray  # int64 [rows]
    cu: np.ndarray  # int64 [rows]
    total: np.ndarray  # float64 [rows, names], as counted
    peak: np.ndarray  # float64 [names], largest sum over units at a time, as counted
    busy_then: np.ndarray  # float64 [names], BUSY at that time

    def __len__(self) -> int:
        return len(self.se)

    @property
    def utilized(self) -> tuple[str, ...]:
        """Counters of how busy a pipe was, by the name of the pipe."""
        return tuple(sorted(pipe for pipe in map(_pipe, self.names) if pipe)) if BUSY in self.names else ()

    @cached_property
    def bars(self) -> tuple[CounterBar, ...]:
        """The share of each pipe over all units, and for some at the peak; no bar without busy time."""
        bars = []
        whole = self.total.sum(axis=0)
        for at, name in enumerate(self.names if BUSY in self.names else ()):
            pipe, busy = _pipe(name), whole[self.names.index(BUSY)]
            parts = [(pipe, whole[at], busy)] if pipe else []
            if pipe in _WITH_PEAK:
                parts.append((Message("{0} Peak", pipe), self.peak[at], self.busy_then[at]))
            for title, part, of in parts:
                if of:
                    share = 100 * scale(name) * float(part / of)
                    bars.append(CounterBar(title, share, _KIND.get(pipe, pipe)))
        return tuple(bars)

    def share(self, pipe: str) -> np.ndarray:
        """Busy share of a pipe at every unit in percent, float64 [rows]; NaN where it was never busy."""
        name = MATRIX if pipe == "MFMA" else ACTIVE + pipe
        at, busy = self.names.index(name), self.total[:, self.names.index(BUSY)]
        part = 100 * scale(name) * self.total[:, at]
        return np.divide(part, busy, out=np.full(len(busy), np.nan), where=busy > 0)


def counter_shares(trace: Trace) -> CounterShares | None:
    """Return the summary of the counters of the thread trace, None if there are none."""
    raw = counters(trace).of(CounterFamily.SQ)
    if not raw:
        return None
    names = tuple(counter.name for counter in raw)
    keys = [counter.samples.se.astype(np.int64) << 32 | counter.samples.cu for counter in raw]
    places, row = np.unique(np.concatenate(keys), return_inverse=True)
    cell = row.reshape(-1) * len(raw) + np.repeat(np.arange(len(raw)), [len(key) for key in keys])
    value = np.concatenate([counter.samples.value for counter in raw])
    total = np.bincount(cell, value, len(places) * len(raw)).reshape(len(places), len(raw))
    places, total = places[total.any(axis=1)], total[total.any(axis=1)]
    curves = [raw_curve(counter) for counter in raw]
    peak = np.array([curve.value.max(initial=0.0) for curve in curves])
    busy_then = np.zeros(len(names))
    if BUSY in names:
        busy = curves[names.index(BUSY)]
        moments = [int(curve.time[np.argmax(curve.value)]) if len(curve) else 0 for curve in curves]
        busy_then[:] = [busy.at(moment) or 0.0 for moment in moments]
    return CounterShares(names, places >> 32, places & 0xFFFFFFFF, total, peak, busy_then)


def scale(name: str) -> float:
    """Return how many busy steps one count of a counter stands for."""
    return 2.0 if name in _DOUBLED else 0.25 if name == MATRIX else 1.0


def _pipe(name: str) -> str:
    return "MFMA" if name == MATRIX else name.removeprefix(ACTIVE) if name.startswith(ACTIVE) else ""
