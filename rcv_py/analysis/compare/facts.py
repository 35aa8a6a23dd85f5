"""The plain numbers of a comparison, as names and values for people."""

from __future__ import annotations

from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.launch import Launch
from rcv_py.analysis.compare.verdict import KernelDelta, Ratio, Work, why_not_per_wave
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
        *launches(found),
        ("instructions", code),
        ("hits per wave", f"{hits[0]:,.0f} and {hits[1]:,.0f}"),
        ("cycles per wave", f"{waves[0]:,.0f} and {waves[1]:,.0f}, {_per_wave(kernel)}"),
        (
            "cycles per hit",
            f"{each[0]:,.2f} and {each[1]:,.2f}, {_ratio(kernel.at_equal_hits)} at equal executions",
        ),
    ]


def launches(found: Comparison) -> Facts:
    """Return what the launches took on the traced shader engines; none if a capture does not say."""
    launch = None if found.kernel is None else found.kernel.launch
    if launch is None:
        return []
    a, b = launch.a, launch.b
    facts = [
        ("launch duration", f"{a.duration:,} and {b.duration:,} cycles, {_ratio(launch.duration)}"),
        ("launched waves", f"{a.waves:,} and {b.waves:,} on {_engines(a, b)}"),
        ("mean life of a wave", f"{a.per_wave:,.0f} and {b.per_wave:,.0f} cycles"),
    ]
    if launch.wave_work is not None:
        one, other = launch.wave_work
        facts.append(("work of a wave", f"{_amount(one)} and {_amount(other)}, {one.unit}"))
    return facts


def _per_wave(kernel: KernelDelta) -> str:
    why = "" if kernel.launch is None else why_not_per_wave(kernel.launch)
    return "not comparable" if why else _ratio(kernel.a_wave)


def _engines(a: Launch, b: Launch) -> str:
    text = plural(len(a.engines), "traced shader engine")
    return text if a.engines == b.engines else f"{text} and {len(b.engines):,}"


def _amount(work: Work) -> str:
    return f"{work.low:,.0f}" if work.low == work.high else f"{work.low:,.0f} to {work.high:,.0f}"


def _side(costs: CaptureCosts) -> str:
    groups = plural(costs.workgroups, "workgroup")
    kernel = costs.kernel or "no kernel name"
    return f"{costs.name}: {kernel}, {plural(costs.wave_count, 'wave')} of {groups}"


def _ratio(ratio: Ratio) -> str:
    return f"{100 * (ratio.value - 1):+.1f} % (±{100 * ratio.noise:.1f} %)"
