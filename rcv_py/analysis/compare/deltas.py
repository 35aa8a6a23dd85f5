"""What each pair of rows costs in A and in B, a wave and at equal executions, and how sure that is.

A pair that ran in both is charged what one execution costs, times the executions of a wave of A: waves that
go round a loop less often, or captures with more waves, then change nothing.  A row that only one build has
is charged what it costs a wave; one of B in the proportion in which B's waves execute the rows around it.
A pair that ran in only one of the captures counts nowhere: nothing is known of it in the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.compare.align import Alignment
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.noise import ALMOST_SURE, reach
from rcv_py.analysis.program.blocks import Blocks

# Changes below these shares of the cost are not told from noise.  Single loads were seen to take 27 % fewer
# cycles in another run of the same build; sums of rows differ less, and with a twin the twin tells.
LEAST_ALONE = 0.30  # of a row without a twin, and of a sum where there is one workgroup
LEAST_OF_SUM = 0.10
LEAST_TWIN = 0.10
STEPS, STEPS_ASSUMED = 2, 4  # steps of the clock an execution, below which nothing is told either


@dataclass(frozen=True, eq=False)
class Rates:
    """One side over the listing: value = weight * sum(cycles) / sum(count), of each row."""

    cycles: np.ndarray  # float64 [g, rows]
    count: np.ndarray  # float64 [g, rows], executions, or waves where only one side has the row
    weight: np.ndarray  # float64 [rows], counts a wave of A; 0 where the row counts nowhere

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
        """What each group adds to the value beyond its share, float64 [g, rows]."""
        scale = self.weight / np.maximum(self.count.sum(axis=0), 1)
        return (self.cycles - self.rate * self.count) * scale


@dataclass(frozen=True, eq=False)
class Deltas:
    """One row a pair of instructions, a source line, a block or a class."""

    hits_a: np.ndarray  # int64, executions in all waves
    hits_b: np.ndarray  # int64
    cost_a: np.ndarray  # float64, cycles a wave of A
    cost_b: np.ndarray  # float64, cycles a wave at A's executions
    noise: np.ndarray  # float64, cycles a wave that the difference may be by chance
    is_real: np.ndarray  # bool, the difference is beyond noise

    def __len__(self) -> int:
        return len(self.hits_a)

    @property
    def delta(self) -> np.ndarray:
        """Cycles a wave that B takes more, float64."""
        return self.cost_b - self.cost_a

    @property
    def ratio(self) -> np.ndarray:
        """Delta over what A takes; nan where A takes nothing; float64."""
        return np.where(self.cost_a > 0, self.delta / np.where(self.cost_a > 0, self.cost_a, 1), np.nan)


def rates(
    a: CaptureCosts, b: CaptureCosts, found: Alignment, measure: str, blocks_b: Blocks
) -> tuple[Rates, Rates]:
    """Return both sides over the rows of the listing of the alignment."""
    row_a, row_b = found.listing
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
    return (
        Rates(_taken(a.column(measure), row_a), count_a, weight_a),
        Rates(_taken(b.column(measure), row_b), count_b, weight_b),
    )


def deltas(
    sides: tuple[CaptureCosts, CaptureCosts],
    both: tuple[Rates, Rates],
    hits: tuple[np.ndarray, np.ndarray],
    group: np.ndarray | None = None,
    twin: np.ndarray | None = None,
) -> Deltas:
    """Return the differences of rows, or of their sums by `group` (0 to n - 1; -1 counts nowhere).

    `hits` are the executions over the listing; `twin` is what a second capture of A differs by, a result row.
    """
    n = len(hits[0]) if group is None else int(group.max(initial=-1)) + 1
    of_rows = np.arange(len(hits[0])) if group is None else group
    values = [_summed(side.value[None, :], of_rows, n)[0] for side in both]
    a, b = (_summed(side.residual, of_rows, n) for side in both)
    chance = reach(sides, (a, b), ALMOST_SURE)
    is_assumed = twin is None and any(costs.is_by_wave for costs in sides)
    steps = STEPS_ASSUMED if is_assumed else STEPS
    floor = _least(is_assumed, group is None, twin is not None) * np.maximum(*values)
    step = np.maximum(both[0].weight, both[1].weight) * steps * sides[0].step if group is None else 0.0
    # What only one build has is no chance, however little it costs.
    floor = np.where(np.minimum(*values) > 0, np.maximum(floor, step), floor)
    noise = np.maximum(chance, floor)
    noise = noise if twin is None else np.maximum(noise, np.abs(twin))
    hits_a, hits_b = (_summed(column[None, :].astype(float), of_rows, n)[0] for column in hits)
    cost_a, cost_b = values
    return Deltas(
        hits_a=np.rint(hits_a).astype(np.int64),
        hits_b=np.rint(hits_b).astype(np.int64),
        cost_a=cost_a,
        cost_b=cost_b,
        noise=noise,
        is_real=np.abs(cost_b - cost_a) > noise,
    )


def _least(is_assumed: bool, is_row: bool, has_twin: bool) -> float:
    if has_twin:
        return LEAST_TWIN
    return LEAST_ALONE if is_row or is_assumed else LEAST_OF_SUM


def _taken(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the columns of a table at these rows, 0 where there is none (-1)."""
    padded = np.concatenate([table, np.zeros((len(table), 1))], axis=1)
    return padded[:, rows]


def _work(each_a: np.ndarray, each_b: np.ndarray, row_b: np.ndarray, table: Blocks) -> np.ndarray:
    """Return how much more often a wave of A executes the block of each row of B; 1 if that is unknown."""
    block = np.where(row_b >= 0, np.append(table.of_row, 0)[row_b], len(table))
    sums = [np.bincount(block, weights=each, minlength=len(table) + 1) for each in (each_a, each_b)]
    whole = each_a.sum() / each_b.sum() if each_b.sum() else 1.0
    return np.where(sums[1] > 0, sums[0] / np.where(sums[1] > 0, sums[1], 1), whole)[block]


def _summed(table: np.ndarray, group: np.ndarray, n: int) -> np.ndarray:
    """Return the sums of the columns of a table by group, [g, n]."""
    chosen = np.flatnonzero(group >= 0)
    order = chosen[np.argsort(group[chosen], kind="stable")]
    sums = np.zeros((len(table), n))
    if len(order):
        groups, first = np.unique(group[order], return_index=True)
        sums[:, groups] = np.add.reduceat(table[:, order], first, axis=1)
    return sums
