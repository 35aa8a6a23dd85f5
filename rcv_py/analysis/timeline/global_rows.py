"""The rows of the timeline of the whole device: one a slot that ever held a wave."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.occupancy import Residencies, place
from rcv_py.model.ids import SlotId


def global_rows(residencies: Residencies) -> tuple[tuple[SlotId, ...], np.ndarray]:
    """Return the slots, sorted, and for each residency the row of its slot, int32."""
    _, first, row = np.unique(place(residencies), return_index=True, return_inverse=True)
    columns = (residencies.se, residencies.sa, residencies.cu, residencies.simd, residencies.slot)
    names = zip(*(column[first].tolist() for column in columns), strict=True)
    return tuple(SlotId(*name) for name in names), row.reshape(-1).astype(np.int32)
