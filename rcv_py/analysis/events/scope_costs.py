"""What each scope of markers cost, over all waves, and how that differs between compute units.

```
scope   SE0 CU0        SE0 CU1        all
tile    200 200 200    200 800        entries 5, mean 320, shortest 200, longest 800
mean    200            500            slowest CU1, 2.5 times the fastest
```
The own cycles of a scope are those outside of inner scopes.  Units differ by the mean of an entry, so that a
unit with more waves is not slower for that.
"""

import numpy as np

from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base.runs import distinct, starts_run
from rcv_py.model.columns import ColumnTable
from rcv_py.model.kinds import MarkerKind

MAX_DEPTH = 64  # deeper scopes are left out: only damaged data has them


class UnitCosts(ColumnTable):
    """One row a scope and compute unit, by scope as in `ScopeCosts`, then by place."""

    name_id: np.ndarray  # int32, row of `MarkerSpans.names`
    se: np.ndarray  # int16
    sa: np.ndarray  # int16
    cu: np.ndarray  # int16
    entries: np.ndarray  # int64
    cycles: np.ndarray  # int64, with inner scopes
    own: np.ndarray  # int64, without them
    shortest: np.ndarray  # int64, cycles of an entry
    longest: np.ndarray  # int64, cycles of an entry

    @property
    def mean(self) -> np.ndarray:
        """Cycles of an entry, float64."""
        return self.cycles / np.maximum(self.entries, 1)


class ScopeCosts(ColumnTable):
    """One row a scope or point, most own cycles first."""

    name_id: np.ndarray  # int32, row of `MarkerSpans.names`
    kind: np.ndarray  # uint8, MarkerKind
    entries: np.ndarray  # int64
    cycles: np.ndarray  # int64, with inner scopes; 0 for points
    own: np.ndarray  # int64, without them
    shortest: np.ndarray  # int64, cycles of an entry
    longest: np.ndarray  # int64, cycles of an entry
    units: np.ndarray  # int64, compute units on which it was entered
    fastest: np.ndarray  # int64, row of `by_unit` with the least mean
    slowest: np.ndarray  # int64, row of `by_unit` with the greatest mean
    fast_engine: np.ndarray  # int16, shader engine with the least mean
    slow_engine: np.ndarray  # int16, shader engine with the greatest mean
    fast_engine_mean: np.ndarray  # float64, cycles of an entry
    slow_engine_mean: np.ndarray  # float64
    by_unit: UnitCosts

    @property
    def mean(self) -> np.ndarray:
        """Cycles of an entry, float64."""
        return self.cycles / np.maximum(self.entries, 1)

    @property
    def spread(self) -> np.ndarray:
        """Mean of the slowest compute unit divided by that of the fastest, float64; 1 if they are equal."""
        low, high = self.by_unit.mean[self.fastest], self.by_unit.mean[self.slowest]
        return np.divide(high, low, out=np.ones(len(self)), where=low > 0)


def scope_costs(spans: MarkerSpans) -> ScopeCosts:
    """Return the costs of the scopes of all waves."""
    units = _costs(spans, spans.name_id, spans.se, spans.sa, spans.cu)
    _, engine = distinct(units.name_id, units.se)
    first, scope = distinct(units.name_id)
    entries, cycles = (sums(engine, column, len(units)) for column in (units.entries, units.cycles))
    engine_mean = (cycles / np.maximum(entries, 1))[engine]
    by_mean, by_engine = np.lexsort((units.mean, scope)), np.lexsort((engine_mean, scope))
    n = len(first)
    last = np.append(first[1:], len(units))[:n] - 1
    fast, slow = by_engine[first], by_engine[last]

    def summed(column: np.ndarray) -> np.ndarray:
        return sums(scope, column, n)

    names = units.name_id[first]
    kinds = np.full(len(spans.names), MarkerKind.UNKNOWN, dtype=np.uint8)
    kinds[spans.name_id] = spans.kind
    found = ScopeCosts(
        name_id=names,
        kind=kinds[names],
        entries=summed(units.entries),
        cycles=summed(units.cycles),
        own=summed(units.own),
        shortest=np.minimum.reduceat(units.shortest, first) if n else units.shortest,
        longest=np.maximum.reduceat(units.longest, first) if n else units.longest,
        units=last - first + 1,
        fastest=by_mean[first],
        slowest=by_mean[last],
        fast_engine=units.se[fast],
        slow_engine=units.se[slow],
        fast_engine_mean=engine_mean[fast],
        slow_engine_mean=engine_mean[slow],
        by_unit=units,
    )
    return found.at(np.lexsort((names, -found.own)))


def _costs(spans: MarkerSpans, *key: np.ndarray) -> UnitCosts:
    """The costs of the spans with equal name and place."""
    life, own = spans.end - spans.begin, own_cycles(spans)
    first, row = distinct(*key)
    n = len(first)
    shortest = np.full(n, np.iinfo(np.int64).max)
    longest = np.zeros(n, dtype=np.int64)
    np.minimum.at(shortest, row, life)
    np.maximum.at(longest, row, life)
    return UnitCosts(
        **{name: getattr(spans, name)[first] for name in ("name_id", "se", "sa", "cu")},
        entries=np.bincount(row, minlength=n),
        cycles=sums(row, life, n),
        own=sums(row, own, n),
        shortest=shortest,
        longest=longest,
    )


def own_cycles(spans: MarkerSpans) -> np.ndarray:
    """Return the cycles of each span outside of inner scopes, int64."""
    life = spans.end - spans.begin
    return np.maximum(life - sums(enclosing(spans) + 1, life, len(life) + 1)[1:], 0)


def enclosing(spans: MarkerSpans) -> np.ndarray:
    """Return the row of the scope around each scope, int64, -1 for outermost scopes and for points."""
    row = np.flatnonzero(~spans.is_point & (spans.depth < MAX_DEPTH))
    wave = np.cumsum(starts_run(spans.se, spans.sa, spans.cu, spans.simd, spans.slot, spans.wave))
    outer = np.full(len(spans), -1, dtype=np.int64)
    above = np.empty(0, dtype=np.int64)
    for level in range(int(spans.depth[row].max(initial=-1)) + 1):
        here = row[spans.depth[row] == level]
        if len(above) and len(here):
            near = above[np.maximum(np.searchsorted(above, here) - 1, 0)]
            outer[here] = np.where((near < here) & (wave[near] == wave[here]), near, -1)
        above = here
    return outer
