"""Which lives of the occupancy record belong to the traced places, and to the traced kernel."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies
from rcv_py.model.trace import Trace

ENGINES = 32  # bits of att_shader_engine_mask
LARGEST_TARGET = 15  # att_target_cu takes 0 to 15
CU_BITS = 0x7F  # of the file's number; bit 7 names the shader array


def unit_key(se: np.ndarray, cu: np.ndarray, simd: np.ndarray | None = None) -> np.ndarray:
    """Return an int64 that names a compute unit, or one of its SIMDs."""
    key = se.astype(np.int64) << 24 | (cu.astype(np.int64) & CU_BITS) << 8
    return key if simd is None else key | simd.astype(np.int64)


def traced_lives(trace: Trace, lives: Residencies) -> np.ndarray:
    """Return which lives were spent on a SIMD that has traced waves, bool [lives]."""
    index = trace.waves
    known = index.cu >= 0
    seen = unit_key(index.se[known], index.cu[known], index.simd[known])
    return np.isin(unit_key(lives.se, lives.cu, lives.simd), seen)


def main_kernel(trace: Trace, lives: Residencies) -> int:
    """Return the id of the kernel with most traced waves, of all waves if none is traced; -1 if none."""
    kernels = trace.waves.kernel[trace.waves.kernel >= 0]
    kernels = kernels if len(kernels) else lives.kernel
    if not len(kernels):
        return -1
    names, number = np.unique(kernels, return_counts=True)
    return int(names[np.argmax(number)])


def engine_mask(engines: np.ndarray) -> str:
    """Return the value of att_shader_engine_mask that records these shader engines."""
    bits = sum(1 << int(se) for se in np.unique(engines) if 0 <= se < ENGINES)
    return hex(bits or 1)
