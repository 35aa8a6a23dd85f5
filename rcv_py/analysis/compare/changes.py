"""The differences of a comparison as ranked rows, those beyond noise first, and its numbers as texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.compare.align import FATE_TEXT, Fate
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.deltas import Deltas
from rcv_py.analysis.compare.verdict import Ratio, Work, why_not_per_wave
from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.base.text import plural

MANY_TIMES = 4
BY = ("instruction", "source", "block", "class")


@dataclass(frozen=True, slots=True)
class Change:
    """An instruction, source line, block or class; cycles are those a wave, at A's executions."""

    name: str
    text: str
    line_a: int  # code row, -1 if it is no single instruction or A has none
    line_b: int  # of a group the row that changed most
    fate: str  # of an instruction, "" otherwise
    hits_a: int
    hits_b: int
    cost_a: float
    cost_b: float
    share_a: float  # of all compared cycles of A, 0 to 1
    share_b: float
    delta: float
    noise: float
    is_real: bool
    source_a: str = ""  # innermost place of `line_a` as path:line, "" if there is none
    source_b: str = ""

    @property
    def is_noise_known(self) -> bool:
        """Whether noise is not many times what there is, as it is with one or two groups of waves."""
        return self.noise <= MANY_TIMES * max(self.cost_a, self.cost_b)

    @property
    def ratio(self) -> float | None:
        """Delta over the cycles of A, None if A takes none."""
        return self.delta / self.cost_a if self.cost_a else None


def changes(found: Comparison, by: str = "instruction") -> tuple[Change, ...]:
    """Return all rows that were executed in a capture: beyond noise first, then by the size of the change."""
    if by == "instruction":
        table, names = found.rows, _lines(found)
    else:
        groups, table = found.grouped(by)
        pairs = zip(groups.names, groups.texts, strict=True)
        lines = _most_changed(found, groups.of, len(groups.names)).tolist()
        names = [(*pair, -1, line, "") for pair, line in zip(pairs, lines, strict=True)]
    order = ranked(table)
    whole_a, whole_b = (max(float(column.sum()), 1e-9) for column in (table.cost_a, table.cost_b))
    places_a, places_b = (side_places(side) for side in (found.a, found.b))

    def row(at: int) -> Change:
        name, text, line_a, line_b, fate = names[at]
        return Change(
            name=name,
            text=text,
            line_a=line_a,
            line_b=line_b,
            fate=fate,
            hits_a=int(table.hits_a[at]),
            hits_b=int(table.hits_b[at]),
            cost_a=float(table.cost_a[at]),
            cost_b=float(table.cost_b[at]),
            share_a=float(table.cost_a[at]) / whole_a,
            share_b=float(table.cost_b[at]) / whole_b,
            delta=float(table.delta[at]),
            noise=float(table.noise[at]),
            is_real=bool(table.is_real[at]),
            source_a=places_a[line_a],
            source_b=places_b[line_b],
        )

    return tuple(map(row, order.tolist()))


def side_places(side: CaptureCosts) -> tuple[str, ...]:
    """Return the innermost source place of each code row as `path:line`; one more at the end, for row -1."""
    return (*leaf_texts(side.code, side.sources), "")


def ranked(table: Deltas) -> np.ndarray:
    """Return the rows that ran: beyond noise first, then by the size of the change, then by cost; int64."""
    ran = np.flatnonzero((table.hits_a > 0) | (table.hits_b > 0))
    cost = np.maximum(table.cost_a, table.cost_b)[ran]
    return ran[np.lexsort((ran, -cost, -np.abs(table.delta[ran]), ~table.is_real[ran]))]


def _most_changed(found: Comparison, group: np.ndarray, n: int) -> np.ndarray:
    """Return the row of B in each group whose cycles changed most, -1 if B has none of it; int64."""
    line, change = found.listing[1], np.abs(found.rows.delta)
    rows = np.flatnonzero((group >= 0) & (line >= 0))
    rows = rows[np.argsort(change[rows], kind="stable")]
    most = np.full(n, -1, dtype=np.int64)
    most[group[rows]] = line[rows]
    return most


def _lines(found: Comparison) -> list[tuple[str, str, int, int, str]]:
    a, b = found.a.code.text, found.b.code.text
    rows = zip(*(column.tolist() for column in found.listing), found.fate.tolist(), strict=True)
    return [
        (
            f"line {line_b}" if line_b >= 0 else f"line {line_a} of A",
            b[line_b] if line_b >= 0 else a[line_a],
            line_a,
            line_b,
            FATE_TEXT[Fate(fate)],
        )
        for line_a, line_b, fate in rows
    ]


Facts = list[tuple[str, str]]


def sides(found: Comparison) -> Facts:
    """Return what A and B are."""
    return [("A", _side(found.a)), ("B", _side(found.b))]


def numbers(found: Comparison) -> Facts:
    """Return the kernel's numbers in both captures; none if they cannot be compared."""
    kernel, align = found.kernel, found.align
    if kernel is None:
        return []
    gone, new = int((align.to_b < 0).sum()), int((align.to_a < 0).sum())
    code = "the same in both" if align.is_same else f"{gone:,} removed, {new:,} inserted"
    hits, waves, each = kernel.hits_per_wave, kernel.per_wave, kernel.per_hit
    is_comparable = kernel.launch is None or not why_not_per_wave(kernel.launch)
    per_wave = _ratio(kernel.a_wave) if is_comparable else "not comparable"
    per_hit = f"{_ratio(kernel.at_equal_hits)} at equal executions"
    return [
        *launches(found),
        ("instructions", code),
        ("hits per wave", f"{hits[0]:,.0f} and {hits[1]:,.0f}"),
        ("cycles per wave", f"{waves[0]:,.0f} and {waves[1]:,.0f}, {per_wave}"),
        ("cycles per hit", f"{each[0]:,.2f} and {each[1]:,.2f}, {per_hit}"),
    ]


def launches(found: Comparison) -> Facts:
    """Return what the launches took on the traced shader engines; none if a capture does not say."""
    launch = None if found.kernel is None else found.kernel.launch
    if launch is None:
        return []
    a, b = launch.a, launch.b
    engines = plural(len(a.engines), "traced shader engine")
    engines += "" if a.engines == b.engines else f" and {len(b.engines):,}"
    facts = [
        ("launch duration", f"{a.duration:,} and {b.duration:,} cycles, {_ratio(launch.duration)}"),
        ("launched waves", f"{a.waves:,} and {b.waves:,} on {engines}"),
        ("mean life of a wave", f"{a.per_wave:,.0f} and {b.per_wave:,.0f} cycles"),
    ]
    if launch.wave_work is not None:
        one, other = launch.wave_work
        facts.append(("work of a wave", f"{_amount(one)} and {_amount(other)}, {one.unit}"))
    return facts


def _amount(work: Work) -> str:
    return f"{work.low:,.0f}" if work.low == work.high else f"{work.low:,.0f} to {work.high:,.0f}"


def _side(costs: CaptureCosts) -> str:
    groups = plural(costs.workgroups, "workgroup")
    kernel = costs.kernel or "no kernel name"
    return f"{costs.name}: {kernel}, {plural(costs.wave_count, 'wave')} of {groups}"


def _ratio(ratio: Ratio) -> str:
    return f"{100 * (ratio.value - 1):+.1f} % (±{100 * ratio.noise:.1f} %)"
