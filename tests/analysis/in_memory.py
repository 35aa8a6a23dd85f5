"""Results of reductions for waves in memory, where a test has no trace or no parcel of its own."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from rcv_py.analysis.compare.costs import CaptureCosts, costs_from
from rcv_py.analysis.core.cost_columns import LINES, LineStats
from rcv_py.analysis.core.parcels import parcel_of
from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.cost.distribution import LineHits, hits_of
from rcv_py.analysis.cost.hotspot import HotspotBins, hotspot_bins
from rcv_py.analysis.device.simd_work import ASTRAY, SimdWork, work_of
from rcv_py.analysis.program.branches import BRANCHES, Branches
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.model.window import TimeWindow
from tests.analysis import build

Batches = Iterable[WaveBatch]
Rows = Collection[int] | None


def of_rows(rows: int) -> Trace:
    """A trace with this number of code rows."""
    return build.trace(build.code(["s_nop 0"] * rows), [])


def all_lines(batches: Batches, code_rows: int, rows: Rows = None) -> LineStats:
    return LINES.of(of_rows(code_rows), batches, rows)


def hotspot(
    batches: Batches, code_rows: int, rows: Rows, bins: int | None = 32, window: TimeWindow | None = None
) -> HotspotBins:
    """Bins over the whole program, as the reference viewer has them; None: a bin is a code row."""
    found = hotspot_bins(window).of(of_rows(code_rows), batches, rows)
    if bins is None:
        return found
    step = max(1, -(-code_rows // bins))
    first = step * np.arange(bins)
    cycles = np.stack([found.cycles[at : at + step].sum(0) for at in first])
    return HotspotBins(first, first + step, cycles, step)


def kind_latency(batches: Batches, code_rows: int) -> HotspotBins:
    return hotspot(batches, code_rows, None, None)


def line_hits(batches: Batches, line: int) -> LineHits:
    return build.of(hits_of(line), batches)


def jumps(batches: Batches, code: CodeTable, rows: Rows = None) -> Branches:
    return BRANCHES.of(build.trace(code, []), batches, rows)


def capture_costs(trace: Trace, batches: Batches, rows: Rows = None) -> CaptureCosts:
    return costs_from(InMemory(trace, batches), None if rows is None else frozenset(rows))


def simd_work(
    trace: Trace, batches: Sequence[WaveBatch], rows: Rows = None, rule: ReferenceRule = ReferenceRule.OURS
) -> SimdWork:
    parcel = parcel_of((wave for batch in batches for wave in batch.waves), rows)
    return work_of(trace, parcel, ASTRAY.of(trace, batches), rule)
