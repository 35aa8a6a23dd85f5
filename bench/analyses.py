"""All analyses of a capture together: short enough for the real one with most waves, and linear in tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.folders import large_folder, recorded
from bench.table import Options, Row, measure
from rcv_py.analysis.attribution.wait_costs import LOAD_TO_USE, WAITS
from rcv_py.analysis.core.cost_columns import LINES, cost_columns
from rcv_py.analysis.cost.distribution import hits_of, spread
from rcv_py.analysis.cost.hotspot import KINDS, counted_rows, hotspot_bins
from rcv_py.analysis.counters.counters import counters
from rcv_py.analysis.device.occupancy_curves import dispatch_curves
from rcv_py.analysis.device.utilization import utilization
from rcv_py.analysis.device.wave_states import state_curves
from rcv_py.analysis.events.marker_spans import marker_spans
from rcv_py.analysis.flame.flame import code_costs, code_flame
from rcv_py.analysis.iterations.loop_summary import LOOPS
from rcv_py.analysis.latency.barrier_skew import BARRIER_SKEW
from rcv_py.analysis.latency.bubbles import BUBBLES
from rcv_py.analysis.latency.cross_lane import CROSS_LANE
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.analysis.latency.memory_latency import MEMORY
from rcv_py.analysis.overview.device_summary import summary_by
from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.program.branches import BRANCHES
from rcv_py.analysis.program.loops import loops
from rcv_py.formats.open import open_trace
from rcv_py.model.modes import LatencyMode, ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.support.opened import load_all

ALL_S = 2.0  # seconds, all analyses of the capture with 4,112 waves
# Times as long a token with ten times the tokens.  They no longer fit the processor's caches: even adding up
# the costs of lines, one pass over the columns, takes 1.3 times as long.
LINEAR = 1.6
MEGABYTES = (32, 320)  # 1 M and 10 M tokens
WORTH_A_ROW_S = 0.05
MANY_WAVES = "moe_reduce"

Batches = tuple[WaveBatch, ...]


def _hotspot(trace: Trace, batches: Batches) -> object:
    return hotspot_bins().of(trace, batches, counted_rows(trace.waves, None, None))


def _flame(trace: Trace, batches: Batches) -> object:
    costs = cost_columns(trace.code, LatencyMode.SUM_ALL, None, None)
    return code_flame(trace.code, code_costs(costs, True))


def _blocks(trace: Trace, batches: Batches) -> object:
    found = BRANCHES.of(trace, batches)
    return loops(blocks(trace.code, found), found)


def _utilization(trace: Trace, batches: Batches) -> object:
    return utilization([wave for batch in batches for wave in batch.waves], trace)


def _distribution(trace: Trace, batches: Batches) -> object:
    hits = hits_of(int(trace.code.hits.argmax())).of(trace, batches)
    return spread(hits.latency)


ANALYSES: dict[str, Callable[[Trace, Batches], Any]] = {
    "costs by line": LINES.of,
    "hotspot": _hotspot,
    "waits, their causes, and latency": WAITS.of,
    "hidden latency": HIDDEN[ReferenceRule.OURS].of,
    "memory latency": MEMORY[ReferenceRule.OURS].of,
    "branches, blocks, loops": _blocks,
    "kinds of a line": KINDS.of,
    "wave states": state_curves().of,
    "utilization": _utilization,
    "distribution of a line": _distribution,
    "flamegraph": _flame,
    "markers": marker_spans,
    "summary": summary_by(None).of,
    "counters": lambda trace, batches: counters(trace),
    "kernels": lambda trace, batches: dispatch_curves(trace.occupancy, trace.dispatches),
    "bubbles": BUBBLES[ReferenceRule.OURS].of,
    "iterations and phases of loops": LOOPS.of,
    "loads to their waits": LOAD_TO_USE.of,
    "chains of cross-lane operations": CROSS_LANE.of,
    "skew of barriers": BARRIER_SKEW.of,
}


@measure("analyses")
def analyses(options: Options) -> Iterator[Row]:
    """The capture with most waves, then how time grows with tokens."""
    for folder in recorded(MANY_WAVES):
        times = timed(folder)
        for name, seconds in times[0].items():
            yield Row(f"  {name}, {MANY_WAVES}", seconds * 1e3, None, "ms", 0)
        yield Row(
            f"all analyses, {MANY_WAVES}, {times[1] / 1e3:,.0f} k tokens", sum(times[0].values()), ALL_S, "s"
        )
    small, large = (large_times(megabytes) for megabytes in MEGABYTES)
    for name, seconds in large[0].items():
        if seconds > WORTH_A_ROW_S:
            yield Row(f"  {name}, 10 M tokens", seconds * 1e3, None, "ms", 0)
    ratio = (sum(large[0].values()) / large[1]) / (sum(small[0].values()) / small[1])
    yield Row("all analyses, 10 M / 1 M tokens, a token", ratio, LINEAR, "×")


def large_times(megabytes: int) -> tuple[dict[str, float], int]:
    with large_folder(megabytes) as folder:
        return timed(folder)


def timed(folder: Path) -> tuple[dict[str, float], int]:
    """Seconds of each analysis, the better of two runs, and how many tokens there were."""
    trace = open_trace(folder)
    batches = load_all(trace, lod=False)
    found = {}
    for name, analysis in ANALYSES.items():
        runs = []
        for _ in range(2):
            began = time.perf_counter()
            analysis(trace, batches)
            runs.append(time.perf_counter() - began)
        found[name] = min(runs)
    return found, sum(len(batch.stall) for batch in batches)
