"""What stands above the ranking of `rcv hotspot`: the program, its totals, registers and occupancy."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns
from rcv_py.analysis.device.occupancy_limits import OccupancyLimits
from rcv_py.base.text import count, percent, plural, short_kernel
from rcv_py.model.trace import Trace


def header_facts(
    trace: Trace, costs: CostColumns, found: OccupancyLimits, whose: str = "all waves"
) -> list[tuple[str, str]]:
    """Return names and values; each number of registers says where it comes from.

    `whose` are the waves that the costs are of.
    """
    code = trace.code
    instructions = int(np.count_nonzero(~code.is_label))
    executed = int(np.count_nonzero(costs.hits[~code.is_label] > 0))
    verb = "sampled" if costs.label == SAMPLES else "executed"
    facts = [
        ("kernel", short_kernel(trace.kernel_name) or "unknown"),
        ("instructions", f"{count(instructions)}, {count(executed)} of them {verb}"),
        _totals(costs, whose),
    ]
    if not len(code):
        return facts
    return [
        *facts,
        *((one.name, _limit(one)) for one in found.limits),
        ("occupancy", _occupancy(found)),
    ]


def _totals(costs: CostColumns, whose: str) -> tuple[str, str]:
    latency, stall, idle = (int(column.sum()) for column in (costs.latency, costs.stall, costs.idle))
    share = f" ({percent(stall, latency)})" if latency else ""
    if costs.label == SAMPLES:
        return "samples", f"{count(latency)}, {count(stall)} of them stalled{share}"
    return "cycles", (
        f"{count(latency)} of latency, {count(stall)} of them stall{share}; "
        f"{count(idle)} of idle time; summed over {whose}"
    )


def _limit(one: Any) -> str:
    if one.name == "workgroup":
        return f"{plural(one.used, 'wave')} ({one.source})"
    rounded = f", {count(one.given)} allocated" if one.given != one.used else ""
    return f"{count(one.used)}{rounded}, of {count(one.of)} ({one.source})"


def _occupancy(found: OccupancyLimits) -> str:
    bound = f"bound by {found.binding.name}" if found.binding is not None else "all that it has room for"
    text = f"{plural(found.waves, 'wave')} fit on a SIMD, {bound}"
    seen = found.resident
    return f"{text}; at most {count(seen.peak)} were traced at a time" if seen.simds else text
