"""Were hardware counters streamed with the trace, and are they complete?  Only gfx9 can stream them."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.median import median
from rcv_py.analysis.health.note import HealthNote, Measured
from rcv_py.base.problems import Severity
from rcv_py.base.text import count, percent
from rcv_py.model.trace import Trace

PERIOD = 8  # of att_activity: what rocprofv3 recommends; it takes 1 to 16
GAP = 1.5  # times the usual distance of samples: at least one is missing in between
FEWEST = 16  # samples below which a usual distance says little
NOTABLE = 0.01  # of the samples missing


def counters(trace: Trace) -> HealthNote | None:
    """Say so if a capture that could have counters has none, or lost samples of them."""
    if not trace.has_thread_trace or not len(trace.waves):
        return None
    if not trace.counters and not trace.spm:
        return _missing(trace)
    return _lost(trace)


def _missing(trace: Trace) -> HealthNote | None:
    if trace.gfxip > 9:
        return None
    return HealthNote(
        name="counters",
        severity=Severity.INFO,
        title="No hardware counters were recorded",
        evidence=(Measured("streamed counters", 0, "0"),),
        consequence="Busy shares of the whole compute unit, and memory latency by counters, cannot be shown.",
        remedy="Stream the activity counters of gfx9 with the trace; they need room in the buffer.",
        settings={"att_activity": PERIOD},
    )


def _lost(trace: Trace) -> HealthNote | None:
    lost = there = 0
    for table in trace.counters:
        for cu, bank in np.unique(np.stack([table.cu, table.bank]), axis=1).T.tolist():
            time = np.sort(table.time[(table.cu == cu) & (table.bank == bank)])
            step = np.diff(np.unique(time))
            there += len(time)
            if len(step) >= FEWEST:
                usual = float(median(step))
                wide = step[step > GAP * usual]
                lost += int(np.round(wide / usual - 1).sum())
    if lost <= NOTABLE * (lost + there):
        return None
    return HealthNote(
        name="counters",
        severity=Severity.WARNING,
        title="Samples of hardware counters are missing",
        evidence=(
            Measured(
                "samples missing",
                lost,
                f"about {count(lost)} beside {count(there)} ({percent(lost, lost + there)})",
            ),
        ),
        consequence="Curves have holes, and sums over time are too low.",
        remedy="Sample less often, or stream fewer counters: they compete with instructions for the buffer.",
        settings={"att_activity": 2 * PERIOD},
    )
