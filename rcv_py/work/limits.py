"""What limits the waves of a SIMD, with waves read where no table tells the size of workgroups."""

from __future__ import annotations

from rcv_py.analysis.device.occupancy_limits import (
    OccupancyLimits,
    is_size_known,
    occupancy_limits,
    waves_on_simd,
)
from rcv_py.analysis.timeline.wave_places import waves_of_unit
from rcv_py.analysis.waves.workgroups import workgroups
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace

MAX_BYTES = 8 << 20  # of wave files that are read for it


def limits_of(trace: Trace, facts: RunFacts) -> OccupancyLimits:
    """Return the limits; `facts` are what the tables of the run tell.

    Without the size of workgroups in them, waves of the first compute unit are read: their barriers tell it.
    """
    if is_size_known(trace, facts) or not len(trace.waves):
        return occupancy_limits(trace, facts)
    rows = waves_of_unit(trace, 0)
    few = rows[trace.waves.size[rows].cumsum() <= MAX_BYTES].tolist()
    batches = [trace.reader.read(few)] if few else []
    return occupancy_limits(trace, facts, waves_on_simd(trace, workgroups(trace, batches)))
