"""Selection of waves in the occupancy record: on traced compute units, and of the traced kernel."""

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, residencies
from rcv_py.base.runs import ascending, is_in
from rcv_py.base.text import Message, plural, short_kernel
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex

ENGINES = 32  # bits of att_shader_engine_mask
MAX_TARGET = 15  # att_target_cu takes 0 to 15
CU_BITS = 0x7F  # of the file's number; bit 7 names the shader array


def unit_key(se: np.ndarray, cu: np.ndarray, simd: np.ndarray | None = None) -> np.ndarray:
    """Return a key of a compute unit, or of one of its SIMDs, int64."""
    key = se.astype(np.int64) << 24 | (cu.astype(np.int64) & CU_BITS) << 8
    return key if simd is None else key | simd.astype(np.int64)


def traced_lives(trace: Trace, lives: Residencies) -> np.ndarray:
    """Return which lives were on a SIMD with traced waves, bool [lives]."""
    index = trace.waves
    known = index.cu >= 0
    seen = unit_key(index.se[known], index.cu[known], index.simd[known])
    return is_in(unit_key(lives.se, lives.cu, lives.simd), seen)


def main_kernel(trace: Trace, lives: Residencies) -> int:
    """Return the id of the kernel with most traced waves, or most waves if none is traced; -1 if none."""
    kernels = trace.waves.kernel[trace.waves.kernel >= 0]
    kernels = kernels if len(kernels) else lives.kernel
    if not len(kernels):
        return -1
    names, number = np.unique(kernels, return_counts=True)
    return int(names[np.argmax(number)])


def of_kernel(trace: Trace, lives: Residencies) -> np.ndarray:
    """Return the rows of the lives of the capture's kernel, int64; all rows if no name matches."""
    same = [kernel for kernel in trace.code.kernels if kernel.demangled == trace.kernel_name]
    said = {name for kernel in same for name in (kernel.name, kernel.demangled)}
    ids = [number for number, name in trace.occupancy.names.items() if name and name in said]
    own = np.flatnonzero(np.isin(lives.kernel, ids))
    return own if len(own) else np.arange(len(lives))


CUT = "not all waves began and ended in the trace"
APART = "the shader engines have no common clock"


def doubt(trace: Trace, lives: Residencies | None = None) -> str:
    """Return why a launch of these waves took at least as long as they show; "" if it took as long."""
    lives = residencies(trace.occupancy) if lives is None else lives
    if (lives.is_open_start | lives.is_open_end).any():
        return CUT
    engines = ascending(lives.se)
    return APART if len(engines) > 1 and np.isin(engines, trace.clock.apart).any() else ""


def lasted(cycles: int, why: str) -> str:
    """Return the duration of a launch as text, `at least` that long if there is a doubt."""
    text = plural(cycles, "cycle")
    return Message("at least {0}", text) if why else text


def alone(trace: Trace, span: int) -> str:
    """Return how long the capture's kernel ran, as text, beside the `span` of all kernels in cycles.

    "" if they are the same, or the span is of something else.
    """
    lives = residencies(trace.occupancy)
    if not len(lives) or span != int(lives.end.max() - lives.begin.min()):
        return ""
    own = of_kernel(trace, lives)
    cycles = int(lives.end[own].max() - lives.begin[own].min())
    name = short_kernel(trace.kernel_name)
    return Message("{0} alone {1}", name, plural(cycles, "cycle")) if cycles != span else ""


def engine_mask(engines: np.ndarray) -> str:
    """Return the value of att_shader_engine_mask that records these shader engines."""
    bits = sum(1 << int(se) for se in ascending(engines) if 0 <= se < ENGINES)
    return hex(bits or 1)


def missing_lives(lives: Residencies, rows: np.ndarray, waves: WaveIndex) -> int:
    """Return how many lives, bool [lives], have no wave of the index in the same slot at their middle.

    Times need not be equal: the oldest layout of occupancy.json counts in steps of eight cycles.
    """
    slot, begin, end = (column[rows] for column in _lives(lives))
    theirs, starts, stops = _lives(waves)
    order = np.lexsort((starts, theirs))
    middle, missing = (begin + end) // 2, len(slot)
    for name in ascending(slot).tolist():
        own, other = middle[slot == name], order[theirs[order] == name]
        before = np.searchsorted(starts[other], own, side="right")
        reach = np.maximum.accumulate(np.append(np.iinfo(np.int64).min, stops[other]))
        missing -= int(np.count_nonzero(reach[before] >= own))
    return missing


def _lives(table: WaveIndex | Residencies) -> tuple[np.ndarray, ...]:
    """Slot of the device, begin and end of lives, int64."""
    se, simd, slot = (column.astype(np.int64) for column in (table.se, table.simd, table.slot))
    return se << 32 | simd << 16 | slot, table.begin.astype(np.int64), table.end.astype(np.int64)
