"""Hardware counters in a few numbers: how busy each kind of pipe was, over all and by compute unit.

All shares are taken of BUSY_CU_CYCLES, which counts steps of four cycles in which a compute unit had work.

```
share of X          100 · Σ X / Σ BUSY          over all units and samples
peak of X           100 · X / BUSY              at the moment of the largest X, summed over units
```

Half-rate pipes (flat, LDS and vector memory) occupy two steps an instruction, so they count twice; the busy
counter of matrix pipes counts cycles, so it counts a quarter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.counters.counter_curve import StepValues, raw_curve
from rcv_py.analysis.counters.counters import Family, RawCounter, counters
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace

BUSY = "BUSY_CU_CYCLES"
ACTIVE = "ACTIVE_INST_"
MATRIX = "VALU_MFMA_BUSY_CYCLES"
_DOUBLED = frozenset(ACTIVE + name for name in ("FLAT", "LDS", "VMEM"))
_WITH_PEAK = ("VALU", "MFMA")
_KIND = {"SCA": "SMEM", "MFMA": "MATRIX", "MISC": "IMMED"}  # whose colour a bar has, if not of its own name


@dataclass(frozen=True, slots=True)
class CounterBar:
    """A share of the busy time in percent; it can exceed 100 where a unit issues twice a step."""

    name: str  # "VALU", "VALU Peak"
    value: float
    kind: str  # name of a TokenKind


@dataclass(frozen=True, eq=False)
class CounterShares:
    """Sums of every counter of the thread trace at every unit that counted anything."""

    names: tuple[str, ...]  # without SQ_, in the order of the capture
    se: np.ndarray  # int64 [rows]
    cu: np.ndarray  # int64 [rows]
    total: np.ndarray  # float64 [rows, names], as counted
    peak: np.ndarray  # float64 [names], largest sum over units at a time, as counted
    busy_then: np.ndarray  # float64 [names], BUSY at that time
    bars: tuple[CounterBar, ...]

    def __len__(self) -> int:
        return len(self.se)

    @property
    def utilized(self) -> tuple[str, ...]:
        """Counters that tell of a pipe, by the name of the pipe."""
        if BUSY not in self.names:
            return ()
        return tuple(sorted(_pipe(name) for name in self.names if _pipe(name)))

    def share(self, pipe: str) -> np.ndarray:
        """Busy share of a pipe at every unit in percent, float64 [rows]; NaN where it was never busy."""
        name = MATRIX if pipe == "MFMA" else ACTIVE + pipe
        at, busy = self.names.index(name), self.total[:, self.names.index(BUSY)]
        part = 100 * scale(name) * self.total[:, at]
        return np.divide(part, busy, out=np.full(len(busy), np.nan), where=busy > 0)


def counter_shares(trace: Trace, rule: ReferenceRule = ReferenceRule.OURS) -> CounterShares | None:
    """Return the summary of the counters of the thread trace, None if there are none.

    The reference folds compute units modulo 16, and divides the largest value of a counter by the largest
    value of BUSY, whenever that was; it leaves a division by zero to the arithmetic.  Ours leaves out what
    has no busy time.
    """
    raw = counters(trace, rule).of(Family.SQ)
    if not raw:
        return None
    names = tuple(counter.name for counter in raw)
    se, cu, total = _totals(raw)
    curves = [raw_curve(counter, rule=rule) for counter in raw]
    peak = np.array([curve.value.max(initial=0.0) for curve in curves])
    busy_then = _busy_then(names, curves, rule)
    found = CounterShares(names, se, cu, total, peak, busy_then, ())
    bars = tuple(_bars(found, rule)) if BUSY in names else ()
    return CounterShares(names, se, cu, total, peak, busy_then, bars)


def scale(name: str) -> float:
    """Return how many busy steps one count of a counter stands for."""
    return 2.0 if name in _DOUBLED else 0.25 if name == MATRIX else 1.0


def _pipe(name: str) -> str:
    return "MFMA" if name == MATRIX else name.removeprefix(ACTIVE) if name.startswith(ACTIVE) else ""


def _totals(raw: tuple[RawCounter, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    keys = [counter.samples.se.astype(np.int64) << 32 | counter.samples.cu for counter in raw]
    places, row = np.unique(np.concatenate(keys), return_inverse=True)
    column = np.repeat(np.arange(len(raw)), [len(key) for key in keys])
    value = np.concatenate([counter.samples.value for counter in raw])
    cell = row.reshape(-1) * len(raw) + column
    total = np.bincount(cell, value, len(places) * len(raw)).reshape(len(places), len(raw))
    some = total.any(axis=1)
    return places[some] >> 32, places[some] & 0xFFFFFFFF, total[some]


def _busy_then(names: tuple[str, ...], curves: list[StepValues], rule: ReferenceRule) -> np.ndarray:
    if BUSY not in names:
        return np.zeros(len(names))
    busy = curves[names.index(BUSY)]
    if rule is ReferenceRule.REFERENCE:
        return np.full(len(names), busy.value.max(initial=0.0))
    moments = np.array([curve.time[np.argmax(curve.value)] if len(curve.time) else 0 for curve in curves])
    at = np.searchsorted(busy.time, moments, side="right") - 1
    return np.where(at >= 0, busy.value[np.maximum(at, 0)], 0.0)


def _bars(found: CounterShares, rule: ReferenceRule) -> list[CounterBar]:
    bars = []
    busy = float(found.total[:, found.names.index(BUSY)].sum())
    for at, name in enumerate(found.names):
        pipe = _pipe(name)
        if not pipe:
            continue
        kind = _KIND.get(pipe, pipe)
        parts = [(pipe, float(found.total[:, at].sum()), busy)]
        if pipe in _WITH_PEAK:
            parts.append((f"{pipe} Peak", float(found.peak[at]), float(found.busy_then[at])))
        for title, part, whole in parts:
            if whole or rule is ReferenceRule.REFERENCE:
                with np.errstate(divide="ignore", invalid="ignore"):
                    share = float(np.float64(100 * scale(name) * part) / np.float64(whole))
                bars.append(CounterBar(title, share, kind))
    return bars
