"""Roofline of a kernel and its loops: compute and memory rates against the peaks of a compute unit.

```
operations a cycle
      │        ┌──────────── peak of the type
      │      ╱ :
      │    ╱ x :             x  the kernel: operations a cycle and compute unit at its intensity
      │  ╱     :
      └────────┴──────────── operations a byte that is requested
             ridge = peak / bytes that memory delivers a compute unit and cycle
```
Operations come from `matrix_forms` (exact) and `operations` (all lanes active: at most), bytes from the
requests of vector memory instructions (all lanes active: at most; caches may serve them).  Cycles count while
a compute unit held a wave, or a wave in the loop.  If not all SIMDs of a compute unit were traced, the work
of the others is unknown: rates are per compute unit's worth of traced SIMDs.  Williams, Waterman, Patterson:
"Roofline: an insightful visual performance model" (2009).
"""

import numpy as np

from rcv_py.analysis.core.intervals import occupied_cycles
from rcv_py.analysis.device.memory_roof import memory_roof
from rcv_py.analysis.iterations.loop_summary import LoopSummary
from rcv_py.analysis.latency.access_widths import AccessWidths
from rcv_py.analysis.program.matrix_forms import flops_of, passes_of
from rcv_py.analysis.program.operations import MATRIX, kinds_of, lane_flops_of
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import distinct
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace

MAX_LOOPS = 8
_NO_WORK = ("s_", "ds_", "flat_", "global_", "scratch_", "buffer_", "tbuffer_", "image_", "exp")
_LEAST = 0.01  # of the operations of the kernel: loops that compute or request less are left out


class Computed(Value):
    """Operations of a unit with a data type."""

    unit: str  # MATRIX or VECTOR
    type: str
    flop: float
    rate: float  # a compute unit and cycle
    peak: float  # a compute unit and cycle; nan: unknown

    @property
    def share(self) -> float:
        """The rate as a part of the peak; nan if the peak is unknown."""
        return self.rate / self.peak


NOTHING = Computed(unit="", type="", flop=0.0, rate=np.nan, peak=np.nan)


class Scope(Value):
    """The kernel or a loop."""

    first: int  # code row
    last: int  # code row; for a loop, its branch
    is_loop: bool
    cycles: float  # of compute units
    computed: tuple[Computed, ...]  # most operations first
    bytes: float  # requested by vector memory instructions; nan: unknown
    local_bytes: float  # requested of LDS; nan: unknown
    roof: float  # bytes that memory delivers a compute unit and cycle; nan: unknown
    matrix_busy: float  # of `cycles` on all SIMDs of a unit: the matrix unit works; nan: unknown
    is_read: bool = True  # all of its operations are known

    def flop(self, unit: str = "") -> float:
        """Operations of a unit, or of all; nan: unknown."""
        if not self.is_read:
            return np.nan
        return sum(one.flop for one in self.computed if not unit or one.unit == unit)

    def share_of_peak(self, unit: str) -> float:
        """The part of the cycles that a unit needs at its peaks; nan if a peak is unknown."""
        return sum(one.share for one in self.computed if one.unit == unit)

    @property
    def intensity(self) -> float:
        """Operations a byte, inf without bytes."""
        return self.flop() / self.bytes if self.bytes else np.inf if self.flop() else np.nan

    @property
    def byte_rate(self) -> float:
        """Bytes a compute unit and cycle."""
        return self.bytes / self.cycles if self.cycles else np.nan

    @property
    def ridge(self) -> float:
        """The intensity at which memory and the peak of the main operations meet; nan: unknown."""
        return self.computed[0].peak / self.roof if self.computed else np.nan


class Roofline(Record):
    """The kernel, then its loops, most operations and bytes first."""

    scopes: tuple[Scope, ...]  # empty without instructions or waves
    waves: int
    waves_per_simd: float  # of these waves on average, while there is any; nan without instructions


def roofline(
    trace: Trace, widths: AccessWidths, loops: LoopSummary, facts: RunFacts | None = None
) -> Roofline:
    """Return the roofline of the waves that `widths` and `loops` describe; `facts` name the device."""
    roof = memory_roof(trace, facts)
    index, lanes, code = trace.waves, widths.lanes, trace.code
    simds = len(distinct(index.se, index.cu, index.simd)[0]) if len(index) else 0
    units = len(distinct(index.se, index.cu)[0]) if len(index) else 0
    gpu = trace.architecture
    kinds = kinds_of(code)
    flop = flops_of(code) * widths.executions + lane_flops_of(code) * lanes * widths.executions
    moved = np.maximum(0, widths.width) * widths.executions * lanes
    is_computing = np.array([not text.strip().startswith(_NO_WORK) for text in code.text], dtype=bool)
    is_hidden = code.is_unreadable & is_computing & (widths.executions > 0)
    busy = passes_of(trace).cycles * widths.executions

    def requested(accesses: np.ndarray, rows: slice) -> float:
        return np.nan if widths.hides_bytes(accesses, rows) else float((moved * accesses)[rows].sum())

    def scope(first: int, last: int, cycles: int, *, is_loop: bool) -> Scope:
        rows, scaled = slice(first, last + 1), cycles * widths.part
        worked = scaled * gpu.simds_per_cu
        is_read = not is_hidden[rows].any()
        sums: dict[tuple[str, str], float] = {}
        for kind, done in zip(kinds[rows], flop[rows].tolist(), strict=True):
            if done and is_read:
                sums[kind] = sums.get(kind, 0.0) + done
        computed = [
            Computed(
                unit=unit,
                type=type_,
                flop=done,
                rate=done / scaled if scaled else np.nan,
                peak=float((gpu.matrix_peaks if unit == MATRIX else gpu.vector_peaks).get(type_, np.nan)),
            )
            for (unit, type_), done in sums.items()
        ]
        return Scope(
            first=first,
            last=last,
            is_loop=is_loop,
            cycles=scaled,
            computed=tuple(sorted(computed, key=lambda one: (-one.flop, one.unit, one.type))),
            bytes=requested(widths.is_vector, rows),
            local_bytes=requested(widths.is_local, rows),
            roof=np.nan if roof is None else roof,
            matrix_busy=float(busy[rows].sum()) / worked if worked and is_read else np.nan,
            is_read=is_read,
        )

    if not (len(code) and loops.waves):
        return Roofline((), loops.waves, np.nan)
    kernel = code.main_kernel
    first, stop = (0, len(code)) if kernel is None else (kernel.first, kernel.stop)
    whole = scope(first, stop - 1, widths.unit_cycles, is_loop=False)
    inner = [scope(head, branch, cycles, is_loop=True) for head, branch, cycles in _loops(trace, loops)]
    least = _LEAST * whole.flop(), _LEAST * whole.bytes
    inner = [one for one in inner if not (one.flop() <= least[0] and one.bytes <= least[1])]
    inner.sort(key=lambda one: (*-np.nan_to_num([one.flop(), one.bytes]), one.first))
    resident = max(1, widths.unit_cycles * max(1, simds) // max(1, units))
    return Roofline((whole, *inner[:MAX_LOOPS]), loops.waves, widths.wave_cycles / resident)


def _loops(trace: Trace, loops: LoopSummary) -> list[tuple[int, int, int]]:
    """Return first and last row of each loop, and the cycles in which a compute unit held a wave inside it.

    Several jumps back to the same head are one loop.
    """
    table, iterations, index = loops.loops.table, loops.loops.iterations, trace.waves
    place = index.se.astype(np.int64) << 20 | index.cu.astype(np.int64) + 1
    found = []
    for head in np.unique(table.head[: loops.loops.iterations.loop.max(initial=-1) + 1]).tolist():
        same = np.flatnonzero(table.head == head)
        own = np.isin(iterations.loop, same)
        lives = np.stack([place[iterations.wave[own]], iterations.begin[own], iterations.end[own]], axis=1)
        if cycles := occupied_cycles(lives):
            found.append((head, int(table.branch[same].max()), cycles))
    return found
