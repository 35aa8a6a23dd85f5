"""From cycles at stake to a share of the kernel's duration, so that findings of any kind stand in one list.

```
finding                     cycles at stake are …                         gain =
a wait, drain, prologue     of SIMDs that held a traced wave              cycles / resident SIMD cycles × w
tail, ramp-up, imbalance    of the device, from first start to last end   cycles / duration
grid under-fills            –                                             SIMDs that never held a wave / SIMDs
```
w is the part of the launch in which traced waves were resident: outside of it nothing is known of what SIMDs
do.  A gain is what the duration could fall by at most, if the traced SIMDs are like the others and nothing
else takes the place of what is removed.
"""

from __future__ import annotations

from rcv_py.analysis.findings.finding import (
    CAPTURE_CYCLES,
    DEVICE_CYCLES,
    RANKED,
    SIMD_CYCLES,
    SIMDS,
    WORK_CYCLES,
    Finding,
)
from rcv_py.analysis.findings.launch_shape import LaunchShape


def gain_of(one: Finding, shape: LaunchShape) -> float:
    """Return the part of the kernel's duration that a finding can win at most; 0 if it ranks nothing."""
    if one.rank != RANKED:
        return 0.0
    factor = {
        SIMD_CYCLES: shape.working_share,
        WORK_CYCLES: shape.working_share,
        DEVICE_CYCLES: 1.0,
        CAPTURE_CYCLES: 1.0,
        SIMDS: 1.0,
    }.get(one.unit, 0.0)
    return min(1.0, max(0.0, one.share * factor))
