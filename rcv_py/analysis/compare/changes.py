"""Ranking of the differences of a comparison, beyond noise first, and its numbers as texts."""

import numpy as np

from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.deltas import Deltas
from rcv_py.analysis.compare.verdict import Ratio, WorkPerWave, why_not_per_wave
from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.base.text import Message, plural

BY = ("instruction", "source", "block", "class")


def side_places(side: CaptureCosts) -> tuple[str, ...]:
    """Return the innermost source place of each code row as `path:line`, plus a last entry for row -1."""
    return (*leaf_texts(side.code, side.sources), "")


def ranked(table: Deltas) -> np.ndarray:
    """Return the rows that ran: beyond noise first, then by the size of the change, then by cost; int64."""
    ran = np.flatnonzero((table.hits_a > 0) | (table.hits_b > 0))
    cost = np.maximum(table.cost_a, table.cost_b)[ran]
    return ran[np.lexsort((ran, -cost, -np.abs(table.delta[ran]), ~table.is_real[ran]))]


def most_changed(comparison: Comparison, group: np.ndarray, n: int) -> np.ndarray:
    """Return the row of B in each group with the largest change in cycles, -1 if B has none; int64."""
    line, change = comparison.listing[1], np.abs(comparison.rows.delta)
    rows = np.flatnonzero((group >= 0) & (line >= 0))
    rows = rows[np.argsort(change[rows], kind="stable")]
    lines = np.full(n, -1, dtype=np.int64)
    lines[group[rows]] = line[rows]
    return lines


Facts = list[tuple[str, str]]


def sides(comparison: Comparison) -> Facts:
    """Return facts that identify A and B."""
    return [("A", _side(comparison.a)), ("B", _side(comparison.b))]


def numbers(comparison: Comparison) -> Facts:
    """Return the kernel's numbers in both captures; empty if they cannot be compared."""
    kernel, align = comparison.kernel, comparison.align
    if kernel is None:
        return []
    gone, new = int((align.to_b < 0).sum()), int((align.to_a < 0).sum())
    code = "the same in both" if align.is_same else Message("{0:,} removed, {1:,} inserted", gone, new)
    hits, waves, each = kernel.hits_per_wave, kernel.per_wave, kernel.per_hit
    is_comparable = kernel.launch is None or not why_not_per_wave(kernel.launch)
    per_wave = _ratio(kernel.a_wave) if is_comparable else "not comparable"
    per_hit = Message("{0} at equal executions", _ratio(kernel.at_equal_hits))
    return [
        *launches(comparison),
        ("instructions", code),
        ("hits per wave", Message("{0:,.0f} and {1:,.0f}", hits[0], hits[1])),
        ("cycles per wave", Message("{0:,.0f} and {1:,.0f}, {2}", waves[0], waves[1], per_wave)),
        ("cycles per hit", Message("{0:,.2f} and {1:,.2f}, {2}", each[0], each[1], per_hit)),
    ]


def launches(comparison: Comparison) -> Facts:
    """Return the costs of the launches on the traced shader engines; empty if a capture has no launch."""
    launch = None if comparison.kernel is None else comparison.kernel.launch
    if launch is None:
        return []
    a, b = launch.a, launch.b
    engines = plural(len(a.engines), "traced shader engine")
    engines += "" if a.engines == b.engines else Message(" and {0:,}", len(b.engines))
    duration = Message("{0:,} and {1:,} cycles, {2}", a.duration, b.duration, _ratio(launch.duration))
    facts: Facts = [
        ("launch duration", duration),
        ("launched waves", Message("{0:,} and {1:,} on {2}", a.waves, b.waves, engines)),
        ("mean life of a wave", Message("{0:,.0f} and {1:,.0f} cycles", a.per_wave, b.per_wave)),
    ]
    if launch.wave_work is not None:
        work_a, work_b = launch.wave_work
        work = Message("{0} and {1}, {2}", _amount(work_a), _amount(work_b), work_a.unit)
        facts.append(("work of a wave", work))
    return facts


def _amount(work: WorkPerWave) -> str:
    is_one = work.low == work.high
    return f"{work.low:,.0f}" if is_one else Message("{0:,.0f} to {1:,.0f}", work.low, work.high)


def _side(costs: CaptureCosts) -> str:
    groups = plural(costs.workgroups, "workgroup")
    kernel = costs.kernel or "no kernel name"
    return Message("{0}: {1}, {2} of {3}", costs.name, kernel, plural(costs.wave_count, "wave"), groups)


def _ratio(ratio: Ratio) -> str:
    return f"{100 * (ratio.value - 1):+.1f} % (±{100 * ratio.noise:.1f} %)"
