"""How far a ratio of sums over waves would come out elsewhere, had other waves been traced.

The unit that varies is a group of waves.  Per row, and for sums of rows, the spread is that of a bootstrap
with endless draws: of group c's residual (its cycles less what its executions cost on average), the sum of
squares.  For the whole kernel the draws are made, from a generator that the caller hands in.  The waves of
one shader engine also vary together; with three engines or more the larger of both spreads counts.

Where both captures have groups at the same places, these are drawn in pairs, and engines likewise: what a
place brings with it, such as the first slot of a SIMD being served before the second, is then no noise.
"""

from __future__ import annotations

import math

import numpy as np

from rcv_py.analysis.compare.costs import CaptureCosts

DRAWS = 400
LEAST_ENGINES = 3
ALMOST_SURE = 0.999  # of a single row: among thousands a few would stand out by chance at 0.95
SURE = 0.95  # of the whole kernel

Sides = tuple[CaptureCosts, CaptureCosts]
Table = tuple[np.ndarray, np.ndarray]

# Two-sided quantiles of Student's t by degrees of freedom, 1 to 10; further ones are interpolated in 1 / df.
_T = {
    SURE: (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 1.960),
    ALMOST_SURE: (636.6, 31.60, 12.92, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587, 3.291),
}


def quantile(groups: int, confidence: float) -> float:
    """Return how many standard errors an interval reaches, with so many groups; infinite below two."""
    table, df = _T[confidence], groups - 1
    if df < 1:
        return float("inf")
    if df <= len(table) - 1:
        return table[df - 1]
    last = len(table) - 1
    return table[-1] + (table[last - 1] - table[-1]) * last / df


def by_engine(costs: CaptureCosts, table: np.ndarray) -> np.ndarray:
    """Return the sums of a table [g, …] over the groups of each engine, [engines, …]."""
    engines, of = np.unique(costs.engine, return_inverse=True)
    sums = np.zeros((len(engines), *table.shape[1:]))
    np.add.at(sums, of.reshape(-1), table)
    return sums


def reach(sides: Sides, residual: tuple[np.ndarray, np.ndarray], confidence: float) -> np.ndarray:
    """Return half the interval of B less A, each a sum of residuals [g, ...]; infinite with one group."""
    if _same_places(sides):
        found = _reach(residual[1] - residual[0], confidence)
    else:
        found = np.hypot(*(_reach(table, confidence) for table in residual))
    if not _has_engines(sides):
        return found
    a, b = (by_engine(costs, table) for costs, table in zip(sides, residual, strict=True))
    if _same_engines(sides):
        return np.maximum(found, _reach(b - a, confidence))
    return np.maximum(found, np.hypot(_reach(a, confidence), _reach(b, confidence)))


def _has_engines(sides: Sides) -> bool:
    return min(len(np.unique(costs.engine)) for costs in sides) >= LEAST_ENGINES


def _same_places(sides: Sides) -> bool:
    """Whether groups can be drawn in pairs."""
    a, b = (costs.places for costs in sides)
    is_alike = a is not None and b is not None and np.array_equal(a, b)
    return is_alike and np.array_equal(sides[0].waves, sides[1].waves)


def _same_engines(sides: Sides) -> bool:
    """Whether engines can be drawn in pairs: what an engine is given to do is then alike on both sides."""
    return np.array_equal(np.unique(sides[0].engine), np.unique(sides[1].engine))


def _reach(residual: np.ndarray, confidence: float) -> np.ndarray:
    groups = len(residual)
    if groups < 2:  # one value has no spread
        return np.full(residual.shape[1:], np.inf)
    spread = np.sqrt((residual**2).sum(axis=0) * groups / (groups - 1))
    return quantile(groups, confidence) * spread


def drawn(sides: Sides, tables: tuple[Table, Table], rng: np.random.Generator) -> float:
    """Return the relative half interval of the value of B over that of A, over drawn groups of waves.

    A table is (counts, cycles), both [g, rows]; its value is the sum over rows of all counts times the
    cycles a count.  A row that a draw never counts keeps its average.  A side with one group adds nothing.
    """
    found = _drawn(tables, _same_places(sides), rng)
    if not _has_engines(sides):
        return found
    engines = [
        (by_engine(costs, table[0]), by_engine(costs, table[1]))
        for costs, table in zip(sides, tables, strict=True)
    ]
    return max(found, _drawn((engines[0], engines[1]), _same_engines(sides), rng))


def _drawn(tables: tuple[Table, Table], in_pairs: bool, rng: np.random.Generator) -> float:
    """Return the relative half interval of B over A, the same groups drawn of both if they are pairs."""
    sizes = [len(table[0]) for table in tables]
    if not in_pairs:
        apart = [_spread(_values(table, _draws(n, rng)), n) for table, n in zip(tables, sizes, strict=True)]
        return math.hypot(*apart)
    often = _draws(sizes[0], rng)
    a, b = (_values(table, often) for table in tables)
    return _spread(b / np.maximum(a, 1e-9), sizes[0])


def _draws(groups: int, rng: np.random.Generator) -> np.ndarray:
    """Return how often each group is drawn, float64 [draws, groups]."""
    return rng.multinomial(groups, np.full(groups, 1 / groups), size=DRAWS).astype(float)


def _values(table: Table, often: np.ndarray) -> np.ndarray:
    counts, cycles = table
    all_counts, some = counts.sum(axis=0), often @ counts
    average = cycles.sum(axis=0) / np.where(all_counts > 0, all_counts, 1)
    return np.where(some > 0, (often @ cycles) / np.where(some > 0, some, 1), average) @ all_counts


def _spread(values: np.ndarray, groups: int) -> float:
    """Return the relative half interval of drawn values, 0 for one group."""
    middle = float(values.mean())
    if groups < 2 or not middle:  # one value has no spread
        return 0.0
    # A draw with replacement from few groups varies too little by this factor.
    return quantile(groups, SURE) * float(values.std()) / middle * float(np.sqrt(groups / (groups - 1)))
