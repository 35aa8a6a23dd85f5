"""Did other kernels run at the same time?  Then costs are those of a shared machine."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.health.note import HealthNote, Measured
from rcv_py.analysis.health.traced_units import main_kernel
from rcv_py.base.problems import Severity
from rcv_py.base.text import count, percent, plural
from rcv_py.model.trace import Trace

NOTABLE = 0.01  # of the wave-cycles while the traced kernel ran


def concurrent_kernels(trace: Trace) -> HealthNote | None:
    """Say so if waves of other kernels lived beside those of the traced one."""
    lives = residencies(trace.occupancy)
    if not len(lives) or not len(trace.waves):
        return None
    own = lives.kernel == main_kernel(trace, lives)
    if own.all() or not own.any():
        return None
    begin, end = int(lives.begin[own].min()), int(lives.end[own].max())
    beside = np.maximum(0, np.minimum(lives.end, end) - np.maximum(lives.begin, begin))
    theirs, whole = int(beside[~own].sum()), int(beside.sum())
    if theirs <= NOTABLE * whole:
        return None
    kernels = len(np.unique(lives.kernel[~own & (beside > 0)]))
    waves = int(np.count_nonzero(beside[~own]))
    return HealthNote(
        name="sharing",
        severity=Severity.WARNING,
        title="Other kernels ran at the same time",
        evidence=(
            Measured("their waves", waves, f"{count(waves)} of {plural(kernels, 'kernel')}"),
            Measured("share of the wave-cycles", theirs / whole, percent(theirs, whole)),
        ),
        consequence="Latency contains the wait for units and memory that others used.",
        remedy="Let the profiler run kernels one after the other, also those it does not trace.",
        settings={"att_serialize_all": True},
    )
