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

from dataclasses import dataclass, replace

import numpy as np

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.counters.counters import Family, RawCounter, counters, raw_curve
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


def counter_shares(trace: Trace) -> CounterShares | None:
    """Return the summary of the counters of the thread trace, None if there are none.

    What has no busy time has no bar.
    """
    raw = counters(trace).of(Family.SQ)
    if not raw:
        return None
    names = tuple(counter.name for counter in raw)
    se, cu, total = _totals(raw)
    curves = [raw_curve(counter) for counter in raw]
    peak = np.array([curve.value.max(initial=0.0) for curve in curves])
    shares = CounterShares(names, se, cu, total, peak, _busy_then(names, curves), ())
    return replace(shares, bars=tuple(_bars(shares))) if BUSY in names else shares


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


def _busy_then(names: tuple[str, ...], curves: list[StepCurve]) -> np.ndarray:
    if BUSY not in names:
        return np.zeros(len(names))
    busy = curves[names.index(BUSY)]
    moments = [int(curve.time[np.argmax(curve.value)]) if len(curve) else 0 for curve in curves]
    return np.array([busy.at(moment) or 0.0 for moment in moments])


def _bars(found: CounterShares) -> list[CounterBar]:
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
            if whole:
                bars.append(CounterBar(title, 100 * scale(name) * part / whole, kind))
    return bars
