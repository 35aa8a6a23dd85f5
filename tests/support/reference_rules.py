"""What the reference viewer counts otherwise than we do, so that its numbers can be compared with ours."""

import numpy as np

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.model.device import WaveEvents


def reference_curves(events: WaveEvents, by: str) -> dict[int, StepCurve]:
    """Resident waves: 1 more or less at every event, each a point; an engine is at zero a cycle before."""
    group = getattr(events, by)
    curves = {}
    for name in np.unique(group).tolist():
        own = np.flatnonzero(group == name)
        own = own[np.lexsort((events.is_start[own], events.time[own]))]
        time, waves = events.time[own], np.cumsum(np.where(events.is_start[own], 1, -1))
        if by == "se":
            time, waves = np.append(time[0] - 1, time), np.append(0, waves)
        curves[name] = StepCurve(time, waves)
    return curves
