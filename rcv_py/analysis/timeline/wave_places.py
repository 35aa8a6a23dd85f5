"""Places of waves, and groups of waves by unit and kernel."""

from collections.abc import Collection

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, place
from rcv_py.model.ids import SlotId
from rcv_py.model.trace import Trace


def waves_of_unit(trace: Trace, row: int | None) -> np.ndarray:
    """Index rows of the waves on the compute unit of the wave at `row`; all waves for None."""
    index = trace.waves
    if row is None:
        return np.arange(len(index))
    same = (index.se == index.se[row]) & (index.cu == index.cu[row]) & (index.sa == index.sa[row])
    return np.flatnonzero(same)


def waves_of_kernels(trace: Trace, rows: np.ndarray, hidden: Collection[str]) -> np.ndarray:
    """Index rows without the waves of hidden kernels, given by symbol."""
    if not hidden:
        return rows
    ids = [number for number, name in trace.occupancy.names.items() if name in hidden]
    return rows[~np.isin(trace.waves.kernel[rows], ids)]


def traced_waves(trace: Trace, lives: Residencies) -> np.ndarray:
    """Return the index row of each life, int64; -1 if its instructions were not traced."""
    index = trace.waves
    columns = (index.se, index.simd, index.slot, index.begin, index.end)
    row_of = {key: row for row, key in enumerate(zip(*(column.tolist() for column in columns), strict=True))}
    places = (lives.se, lives.simd, lives.slot, lives.begin, lives.end)
    rows = [row_of.get(key, -1) for key in zip(*(column.tolist() for column in places), strict=True)]
    wave = np.array(rows, np.int64)
    if not len(index):
        return wave
    known = (wave >= 0) & (index.cu[wave] >= 0)
    wave[known & (index.cu[wave] != lives.cu)] = -1
    return wave


def global_rows(residencies: Residencies) -> tuple[tuple[SlotId, ...], np.ndarray]:
    """Return the slots, sorted, and for each residency the row of its slot, int32."""
    _, first, row = np.unique(place(residencies), return_index=True, return_inverse=True)
    columns = (residencies.se, residencies.sa, residencies.cu, residencies.simd, residencies.slot)
    names = zip(*(column[first].tolist() for column in columns), strict=True)
    return tuple(SlotId(*name) for name in names), row.reshape(-1).astype(np.int32)
