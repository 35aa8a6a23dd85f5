"""Costs of each pair of rows in A and in B, per wave at equal executions, and their uncertainty.

A pair that ran in both costs its mean execution times the executions of a wave of A, so that other numbers of
loop iterations or of waves change nothing.  A row that only one build has costs its cycles a wave; a row of B
is scaled by the ratio in which A's and B's waves execute the rows around it.  A pair that ran in only one of
the captures does not count, because its cost in the other is unknown.

Noise is the spread that a ratio of sums would have if other waves had been traced.  The unit of variation is
a group of waves.  For rows and sums of rows the spread is the limit of a bootstrap with infinitely many
draws: the sum of squares of the groups' residuals (a group's cycles less the average cost of its executions).
For the kernel, groups are drawn with a generator that the caller passes in.  The waves of a shader engine
also vary together; with three or more engines the larger of both spreads counts.
If both captures have groups at the same places, the groups are drawn in pairs, and engines likewise: effects
of a place, such as the first slot of a SIMD being served before the second, are then not noise.
"""

import math
from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.compare.align import Alignment
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.program.blocks import Blocks
from rcv_py.base.record import Record
from rcv_py.model.columns import ColumnTable

DRAWS = 400
MIN_ENGINES = 3
ALMOST_SURE = 0.999  # confidence for a single row: at 0.95 many of a thousand rows stand out by chance
SURE = 0.95  # confidence for the whole kernel

Sides = tuple[CaptureCosts, CaptureCosts]
Table = tuple[np.ndarray, ...]

# Two-sided quantiles of Student's t for 1 to 10 degrees of freedom; beyond, interpolated in 1 / df.
_T = {
    SURE: (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 1.960),
    ALMOST_SURE: (636.6, 31.60, 12.92, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587, 3.291),
}


def quantile(groups: int, confidence: float) -> float:
    """Return half an interval in standard errors, for a number of groups; infinite below two groups."""
    *table, endless = _T[confidence]
    df, last = groups - 1, len(table)
    if df < 1:
        return float("inf")
    return table[df - 1] if df <= last else endless + (table[-1] - endless) * last / df


def reach(sides: Sides, residual: tuple[np.ndarray, np.ndarray], confidence: float) -> np.ndarray:
    """Return half the interval of B minus A, each a sum of residuals [g, ...]; infinite with one group."""
    halves = []
    for ((a,), (b,)), is_paired in _levels(sides, ((residual[0],), (residual[1],))):
        apart = (b - a,) if is_paired else (a, b)
        halves.append(np.hypot.reduce([_reach(one, confidence) for one in apart]))
    return np.max(halves, axis=0)


def _levels(sides: Sides, tables: tuple[Table, Table]) -> Iterator[tuple[tuple[Table, Table], bool]]:
    """Yield tables [g, …] by group and, with enough engines, by engine; and whether sides are paired.

    Groups are paired if they are at the same places; engines if they have the same numbers, because an engine
    then gets similar work on both sides.
    """
    a, b = sides
    is_alike = a.places is not None and b.places is not None and np.array_equal(a.places, b.places)
    yield tables, is_alike and np.array_equal(a.waves, b.waves)
    engines, of = zip(*(np.unique(side.engine, return_inverse=True) for side in sides), strict=True)
    if min(map(len, engines)) >= MIN_ENGINES:
        sums_a, sums_b = (
            tuple(_summed(table.T, rows.reshape(-1), len(names)).T for table in columns)
            for names, rows, columns in zip(engines, of, tables, strict=True)
        )
        yield (sums_a, sums_b), np.array_equal(*engines)


def _reach(residual: np.ndarray, confidence: float) -> np.ndarray:
    groups = len(residual)
    if groups < 2:  # one value has no spread
        return np.full(residual.shape[1:], np.inf)
    spread = np.sqrt((residual**2).sum(axis=0) * groups / (groups - 1))
    return quantile(groups, confidence) * spread


def drawn(sides: Sides, tables: tuple[Table, Table], rng: np.random.Generator) -> float:
    """Return the relative half interval of the ratio of B's value to A's, over drawn groups of waves.

    A table is (counts, cycles), both [g, rows]; its value is the sum over rows of all counts times the cycles
    a count.  A row without counts in a draw keeps its average.  A side with one group adds no spread.
    """
    found = []
    for level, is_paired in _levels(sides, tables):
        sizes = [len(table[0]) for table in level]
        if is_paired:  # groups are drawn together
            often = _draws(sizes[0], rng)
            a, b = (_values(table, often) for table in level)
            found.append(_spread(b / np.maximum(a, 1e-9), sizes[0]))
        else:
            values = [_values(table, _draws(n, rng)) for table, n in zip(level, sizes, strict=True)]
            found.append(math.hypot(*map(_spread, values, sizes)))
    return max(found)


def _draws(groups: int, rng: np.random.Generator) -> np.ndarray:
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


# Changes below these shares of the cost may be noise.  Single loads took up to 27 % fewer cycles in another
# run of the same build; sums of rows differ less, and a replicate shows by how much.
MIN_ALONE = 0.30  # of a row without a replicate, and of a sum where there is one workgroup
MIN_OF_SUM = 0.10
MIN_REPLICATE = 0.10
STEPS, STEPS_ASSUMED = 2, 4  # clock steps an execution: smaller changes are not reported either


class Rates(Record):
    """One side over the listing: value = weight * sum(cycles) / sum(count), of each row."""

    cycles: np.ndarray  # float64 [g, rows]
    count: np.ndarray  # float64 [g, rows], executions, or waves where only one side has the row
    weight: np.ndarray  # float64 [rows], counts a wave of A; 0 where the row does not count

    @property
    def value(self) -> np.ndarray:
        """Cycles a wave of A, float64 [rows]."""
        return self.weight * self.rate

    @property
    def rate(self) -> np.ndarray:
        """Cycles a count, float64 [rows]."""
        return self.cycles.sum(axis=0) / np.maximum(self.count.sum(axis=0), 1)

    @property
    def residual(self) -> np.ndarray:
        """Residual of each group: its part of the value beyond its share, float64 [g, rows]."""
        scale = self.weight / np.maximum(self.count.sum(axis=0), 1)
        return (self.cycles - self.rate * self.count) * scale


class Deltas(ColumnTable):
    """One row a pair of instructions, a source line, a block or a class."""

    hits_a: np.ndarray  # int64, executions in all waves
    hits_b: np.ndarray  # int64
    cost_a: np.ndarray  # float64, cycles a wave of A
    cost_b: np.ndarray  # float64, cycles a wave at A's executions
    noise: np.ndarray  # float64, cycles a wave that the difference may be by chance
    is_real: np.ndarray  # bool, the difference is beyond noise

    @property
    def delta(self) -> np.ndarray:
        """Additional cycles a wave of B, float64."""
        return self.cost_b - self.cost_a

    @property
    def ratio(self) -> np.ndarray:
        """Delta over the cost in A, float64; nan where A costs nothing."""
        return np.where(self.cost_a > 0, self.delta / np.where(self.cost_a > 0, self.cost_a, 1), np.nan)


def rates(
    a: CaptureCosts, b: CaptureCosts, alignment: Alignment, measure: str, blocks_b: Blocks
) -> tuple[Rates, Rates]:
    """Return both sides over the rows of the listing of the alignment."""
    row_a, row_b = alignment.listing
    hits_a, hits_b = _taken(a.hits, row_a), _taken(b.hits, row_b)
    sum_a, sum_b = hits_a.sum(axis=0), hits_b.sum(axis=0)
    paired = (row_a >= 0) & (row_b >= 0)
    both = paired & (sum_a > 0) & (sum_b > 0)
    each_a, each_b = sum_a / max(a.wave_count, 1), sum_b / max(b.wave_count, 1)
    scale = _work(np.where(both, each_a, 0), np.where(both, each_b, 0), row_b, blocks_b)
    alone_a, alone_b = (row_b < 0) & (sum_a > 0), (row_a < 0) & (sum_b > 0)
    count_a = np.where(alone_a, a.waves[:, None], hits_a)
    count_b = np.where(alone_b, b.waves[:, None], hits_b)
    weight_a = np.where(both, each_a, np.where(alone_a, 1.0, 0.0))
    weight_b = np.where(both, each_a, np.where(alone_b, scale, 0.0))
    cycles_a, cycles_b = _taken(a.column(measure), row_a), _taken(b.column(measure), row_b)
    return Rates(cycles_a, count_a, weight_a), Rates(cycles_b, count_b, weight_b)


def deltas(
    sides: tuple[CaptureCosts, CaptureCosts],
    both: tuple[Rates, Rates],
    hits: tuple[np.ndarray, np.ndarray],
    group: np.ndarray | None = None,
    replicate: np.ndarray | None = None,
) -> Deltas:
    """Return the differences of rows, or of their sums by `group` (0 to n - 1; -1 does not count).

    `hits` are the executions over the listing; `replicate` is the difference of another capture from A.
    """
    n = len(hits[0]) if group is None else int(group.max(initial=-1)) + 1
    of_rows = np.arange(len(hits[0])) if group is None else group
    values = [_summed(side.value[None, :], of_rows, n)[0] for side in both]
    a, b = (_summed(side.residual, of_rows, n) for side in both)
    chance = reach(sides, (a, b), ALMOST_SURE)
    is_assumed = replicate is None and any(costs.is_by_wave for costs in sides)
    steps = STEPS_ASSUMED if is_assumed else STEPS
    share = MIN_ALONE if group is None or is_assumed else MIN_OF_SUM
    floor = (share if replicate is None else MIN_REPLICATE) * np.maximum(*values)
    step = np.maximum(both[0].weight, both[1].weight) * steps * sides[0].step if group is None else 0.0
    # A row that only one build has is a real difference, at any cost.
    floor = np.where(np.minimum(*values) > 0, np.maximum(floor, step), floor)
    noise = np.maximum(chance, floor)
    noise = noise if replicate is None else np.maximum(noise, np.abs(replicate))
    times = (_summed(column[None, :].astype(float), of_rows, n)[0] for column in hits)
    hits_a, hits_b = (np.rint(column).astype(np.int64) for column in times)
    cost_a, cost_b = values
    return Deltas(hits_a, hits_b, cost_a, cost_b, noise, is_real=np.abs(cost_b - cost_a) > noise)


def _taken(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the columns of a table at these rows, 0 for row -1."""
    padded = np.concatenate([table, np.zeros((len(table), 1))], axis=1)
    return padded[:, rows]


def _work(each_a: np.ndarray, each_b: np.ndarray, row_b: np.ndarray, table: Blocks) -> np.ndarray:
    """Return how much more often a wave of A executes the block of each row of B; 1 if unknown."""
    block = np.where(row_b >= 0, np.append(table.of_row, 0)[row_b], len(table))
    sums = [np.bincount(block, weights=each, minlength=len(table) + 1) for each in (each_a, each_b)]
    overall = each_a.sum() / each_b.sum() if each_b.sum() else 1.0
    return np.where(sums[1] > 0, sums[0] / np.where(sums[1] > 0, sums[1], 1), overall)[block]


def _summed(table: np.ndarray, group: np.ndarray, n: int) -> np.ndarray:
    """Return the sums of the columns of a table by group, [g, n]."""
    chosen = np.flatnonzero(group >= 0)
    order = chosen[np.argsort(group[chosen], kind="stable")]
    sums = np.zeros((len(table), n))
    if len(order):
        groups, first = np.unique(group[order], return_index=True)
        sums[:, groups] = np.add.reduceat(table[:, order], first, axis=1)
    return sums
