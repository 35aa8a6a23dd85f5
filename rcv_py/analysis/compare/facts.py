"""The plain numbers of a comparison, as names and values for people."""

from __future__ import annotations

from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.verdict import Ratio
from rcv_py.base.text import plural

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
    return [
        ("instructions", code),
        ("hits per wave", f"{hits[0]:,.0f} and {hits[1]:,.0f}"),
        ("cycles per wave", f"{waves[0]:,.0f} and {waves[1]:,.0f}, {_ratio(kernel.a_wave)}"),
        (
            "cycles per hit",
            f"{each[0]:,.2f} and {each[1]:,.2f}, {_ratio(kernel.at_equal_hits)} at equal executions",
        ),
    ]


def _side(costs: CaptureCosts) -> str:
    groups = plural(costs.workgroups, "workgroup")
    kernel = costs.kernel or "no kernel name"
    return f"{costs.name}: {kernel}, {plural(costs.wave_count, 'wave')} of {groups}"


def _ratio(ratio: Ratio) -> str:
    return f"{100 * (ratio.value - 1):+.1f} % (±{100 * ratio.noise:.1f} %)"
